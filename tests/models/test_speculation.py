"""Agents that are asked while a model still understands the message."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.callbacks import AsyncCallbackHandler
from langgraph.types import interrupt
from pydantic import PrivateAttr

from journeygraph import (
    NEVER,
    ConfigurationError,
    Field,
    Guideline,
    InputField,
    IntentTrigger,
    Journey,
    JourneyConfig,
    ModelAgent,
    OutputField,
    Pathway,
    Pipeline,
    ReturnToPrevious,
    Signature,
    Tool,
    Transition,
)
from journeygraph.nodes.llm.scripted import (
    Call,
    Fault,
    ScriptedModel,
    Slow,
    UseTool,
    leads_nowhere,
    leads_to,
    rules_hold,
)
from journeygraph.server.scripted import ScriptedServer
from tests.support import api as helpers
from tests.support import model_server
from tests.support.api import one
from tests.support.solo import APOLOGY
from tests.support.talk import Talk

serve = helpers.serve


class Say(Signature):
    """Answer the caller."""

    topic: str = InputField(description="The topic, once it is known")
    response: str = OutputField(description="What to say")
    topic_found: str = OutputField(description="The topic of the message")


class Garage(Journey):
    """Mend cars."""

    class DeskPath(Pathway):
        """Answer in general."""

        __signature__ = Say
        __agents__ = ["clerk"]
        __complete_when__ = NEVER
        __accumulate__ = ["topic_found"]

    class BillPath(Pathway):
        """Explain a bill."""

        __signature__ = Say
        __agents__ = ["cashier"]
        __return_behavior__ = ReturnToPrevious()

    class YardPath(Pathway):
        """Look after cars in the yard."""

        __signature__ = Say
        __agents__ = ["mechanic"]
        __complete_when__ = NEVER

    __transitions__ = [
        Transition(IntentTrigger(description="asks about a bill"), to_pathway="bill"),
        Transition(
            IntentTrigger(["to the yard"], description="wants the yard"),
            from_pathway="desk",
            to_pathway="yard",
            context_update={"topic": "set:yard"},
        ),
    ]


class Held(ScriptedModel):
    """A scripted model whose calls of a kind can be held back, and which says how far they are."""

    _seen: list[tuple[str, str]] = PrivateAttr(default_factory=list)
    _gates: dict[str, asyncio.Event] = PrivateAttr(default_factory=dict)
    _news: asyncio.Condition = PrivateAttr(default_factory=asyncio.Condition)

    def __init__(self, *answers: Any, **given: Any) -> None:
        super().__init__(*answers, **given)

    def hold(self, *kinds: str) -> None:
        self._gates |= {kind: asyncio.Event() for kind in kinds}

    def release(self, kind: str) -> None:
        self._gates[kind].set()

    async def saw(self, *events: str, times: int = 1) -> None:
        """Wait for events such as "agent came" and "agent answered"."""
        async with self._news:
            await self._news.wait_for(
                lambda: all(self.seen.count(event) >= times for event in events)
            )

    @property
    def seen(self) -> list[str]:
        return [" ".join(event) for event in self._seen]

    @property
    def asked(self) -> list[str]:
        return [kind for kind, event in self._seen if event == "came"]

    async def _note(self, kind: str, event: str) -> None:
        async with self._news:
            self._seen.append((kind, event))
            self._news.notify_all()

    async def _pass(self, options: Any) -> str:
        wanted = options.get("extra_body", {}).get("response_format", {}).get("json_schema", {})
        kind = {"answer": "agent"}.get(wanted.get("name"), wanted.get("name", "other"))
        await self._note(kind, "came")
        await asyncio.sleep(0)  # as any network does
        try:
            if kind in self._gates:
                await self._gates[kind].wait()
        except asyncio.CancelledError:
            self._seen.append((kind, "stopped"))
            raise
        return kind

    async def _agenerate(self, *given: Any, **options: Any) -> Any:
        kind = await self._pass(options)
        try:
            return await super()._agenerate(*given, **options)
        finally:
            await self._note(kind, "answered")

    async def _astream(self, *given: Any, **options: Any) -> Any:
        kind = await self._pass(options)
        try:
            async for chunk in super()._astream(*given, **options):
                yield chunk
        finally:
            await self._note(kind, "answered")


def says(text: str, **values: Any) -> dict[str, Any]:
    return {"response": text, "topic_found": None, **values}


@pytest.fixture
def garage(talk: Callable[..., Any], memory_url: str) -> Callable[..., Any]:
    async def begin(model: Any, journey: type[Journey] = Garage, **options: Any) -> Talk:
        agents = options.pop("agents", {})
        return await talk(journey, agents, memory_url, options={"model": model}, **options)

    return begin


def left_over() -> list[str]:
    return [task.get_name() for task in asyncio.all_tasks() if task.get_name() == "speculation"]


async def test_the_agent_is_asked_before_the_message_is_understood(garage) -> None:
    async with Held(understanding=[leads_nowhere], agent=[says("At nine.")]) as model:
        chat = await garage(model)
        model.hold("understanding")
        turn = asyncio.create_task(chat.says("When do you open?"))
        await model.saw("understanding came", "agent came")
        assert not turn.done()
        model.release("understanding")

        assert await turn == "At nine."
        usage = chat.last.metadata["usage"]
        assert model.asked == ["understanding", "agent"]
        assert usage["model_calls"] == 2
        assert usage["output_tokens"] > 0
        assert "discarded" not in usage
        assert left_over() == []


async def test_words_are_held_until_the_message_is_understood(garage) -> None:
    async with Held(understanding=[leads_nowhere], agent=[says("We open at nine.")]) as model:
        chat = await garage(model)
        model.hold("understanding")
        events: list[Any] = []

        async def listen() -> None:
            async for event in chat.journey.stream_message("When do you open?"):
                events.append(event)

        listening = asyncio.create_task(listen())
        await model.saw("agent answered")
        assert [event for event in events if event.type == "token"] == []
        model.release("understanding")
        await listening

    tokens = [event.data["text"] for event in events if event.type == "token"]
    assert "".join(tokens) == "We open at nine."
    assert len(tokens) > 1
    assert events[-1].type == "done"


async def test_words_that_come_after_the_verdict_are_heard_as_they_come(garage) -> None:
    async with Held(understanding=[leads_nowhere], agent=[says("We open at nine.")]) as model:
        chat = await garage(model)
        model.hold("agent")
        asked = chat.journey.stream_message("When do you open?")
        events = asyncio.create_task(_all(asked))
        await model.saw("understanding came", "agent came")
        await model.saw("understanding answered")
        model.release("agent")

        tokens = [event.data["text"] for event in await events if event.type == "token"]
    assert "".join(tokens) == "We open at nine."
    assert len(tokens) > 1
    assert model.asked.count("agent") == 1


async def _all(events: Any) -> list[Any]:
    return [event async for event in events]


async def test_a_move_asks_the_agent_of_the_other_pathway(garage) -> None:
    bill = says("It is forty.")
    answers = [says("Never read."), bill]
    async with Held(understanding=[leads_to("bill")], agent=answers) as model:
        chat = await garage(model)
        model.hold("understanding")
        turn = asyncio.create_task(chat.says("What does that cost?"))
        await model.saw("agent answered")
        model.release("understanding")

        assert await turn == "It is forty."
        usage = chat.last.metadata["usage"]
        assert chat.ran == ["bill"]
        assert usage["model_calls"] == 2
        assert usage["discarded"] > 0
        assert left_over() == []
        assert (await chat.journey.versions())[-1].usage["model_calls"] == 2


async def test_a_request_that_is_not_answered_yet_is_stopped(garage) -> None:
    async with Held(understanding=[leads_to("bill")], agent=[says("It is forty.")]) as model:
        chat = await garage(model)
        model.hold("understanding")
        model.hold("agent")
        turn = asyncio.create_task(chat.says("What does that cost?"))
        await model.saw("understanding came", "agent came")
        model.release("understanding")
        await model.saw("agent came", times=2)
        assert "agent stopped" in model.seen
        model.release("agent")

        assert await turn == "It is forty."
        assert chat.last.metadata["usage"]["discarded"] == 0
        assert left_over() == []


async def test_a_free_trigger_that_moves_asks_nobody_ahead(garage) -> None:
    async with Held(agent=[says("In the yard.")]) as model:
        chat = await garage(model)

        assert await chat.says("Take me to the yard") == "In the yard."
        assert model.asked == ["agent"]


async def test_understanding_that_fails_leaves_the_answer_as_it_is(garage) -> None:
    fault = Fault.status(400)
    async with Held(understanding=[fault], agent=[says("At nine.")]) as model:
        chat = await garage(model)

        assert await chat.says("When do you open?") == "At nine."
        flags = chat.last.metadata["flags"]
        assert any(flag.startswith("understanding_failed") for flag in flags)
        assert model.asked.count("agent") == 1


async def test_an_agent_that_fails_ahead_fails_the_turn_once(garage) -> None:
    async with Held(understanding=[leads_nowhere], agent=[Fault.status(400)]) as model:
        chat = await garage(model)

        assert await chat.says("When do you open?") == APOLOGY
        assert model.asked.count("agent") == 1
        assert left_over() == []


async def test_a_failure_of_both_is_one_apology(garage) -> None:
    fault = Fault.status(400)
    async with Held(understanding=[fault], agent=[fault]) as model:
        chat = await garage(model)

        assert await chat.says("When do you open?") == APOLOGY
        assert left_over() == []


async def test_a_failure_that_nobody_reads_leaves_no_trace(garage) -> None:
    agents = [Fault.status(400), says("It is forty.")]
    async with Held(understanding=[leads_to("bill")], agent=agents) as model:
        chat = await garage(model)
        model.hold("understanding")
        turn = asyncio.create_task(chat.says("What does that cost?"))
        await model.saw("agent answered")
        model.release("understanding")

        assert await turn == "It is forty."
        assert chat.last.metadata["error"] is None
        assert await chat.audited() == ["transition", "detour_entered", "completed"]


async def test_a_stream_that_breaks_off_behind_words_is_not_begun_anew(garage) -> None:
    broken = Fault.stall_after(of=says("We open at nine every day."), pieces=6)
    async with Held(understanding=[leads_nowhere], agent=[broken]) as model:
        chat = await garage(model, model_timeout_seconds=0.5)
        model.hold("understanding")
        events = asyncio.create_task(_all(chat.journey.stream_message("When?")))
        await model.saw("agent came", "understanding came")
        model.release("understanding")

        told = [event.data["text"] for event in await events if event.type == "token"]
    assert "".join(told).startswith("We open")
    assert "".join(told).endswith(APOLOGY)
    assert model.asked.count("agent") == 1
    assert left_over() == []


async def test_a_stream_cut_before_the_verdict_is_tried_again_before_anybody_hears_it(
    garage,
) -> None:
    broken = Fault.cut_after(of=says("We open at ten every day."), pieces=6)
    agent = [broken, says("We open at nine.")]
    async with Held(understanding=[leads_nowhere], agent=agent) as model:
        chat = await garage(model)
        model.hold("understanding")
        events = asyncio.create_task(_all(chat.journey.stream_message("When?")))
        await model.saw("agent answered")
        model.release("understanding")

        told = [event.data["text"] for event in await events if event.type == "token"]
    assert "".join(told) == "We open at nine."
    assert model.asked.count("agent") == 2


@pytest.mark.parametrize("kind", ["agent", "understanding", "both"])
async def test_a_turn_that_is_cancelled_leaves_no_request(garage, kind: str) -> None:
    async with Held(understanding=[leads_nowhere], agent=[says("At nine.")]) as model:
        chat = await garage(model)
        for one_ in ("agent", "understanding"):
            if kind in (one_, "both"):
                model.hold(one_)
        before = asyncio.all_tasks()
        turn = asyncio.create_task(chat.journey.process_message("When do you open?"))
        await model.saw("understanding came", "agent came")
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert left_over() == []
        assert asyncio.all_tasks() <= before
        assert (await chat.journey.versions())[-1].version == 0
        model.script._answers.clear()
        for queue in model.script._of_kind.values():
            queue.clear()


async def test_a_turn_whose_time_is_up_leaves_no_request(garage) -> None:
    slow = Slow(says("At nine."), before=30)
    model = ScriptedModel(understanding=[Slow(says(""), before=30)], agent=[slow])
    chat = await garage(model, turn_timeout_seconds=0.2)

    assert await chat.says("When do you open?") == APOLOGY
    assert left_over() == []


def look_up(car: str) -> str:
    """Look a car up."""
    looked_up.append(car)
    return "ready"


looked_up: list[str] = []


async def test_tools_wait_until_the_message_is_understood(garage) -> None:
    looked_up.clear()
    answers = [UseTool("look_up", car="B 12"), says("It is ready.")]
    async with Held(understanding=[leads_nowhere], agent=answers) as model:
        chat = await garage(model, agents={"clerk": ModelAgent(tools=[look_up])})
        model.hold("understanding")
        turn = asyncio.create_task(chat.says("Is my car ready?"))
        await model.saw("agent answered")
        assert looked_up == []
        model.release("understanding")

        assert await turn == "It is ready."
        assert looked_up == ["B 12"]
        assert await chat.audited() == ["tool_done"]


async def test_tools_of_a_discarded_answer_are_not_run(garage) -> None:
    looked_up.clear()
    answers = [UseTool("look_up", car="B 12"), says("It is forty.")]
    async with Held(understanding=[leads_to("bill")], agent=answers) as model:
        chat = await garage(model, agents={"clerk": ModelAgent(tools=[look_up])})
        model.hold("understanding")
        turn = asyncio.create_task(chat.says("What is the bill?"))
        await model.saw("agent answered")
        model.release("understanding")

        assert await turn == "It is forty."
        assert looked_up == []
        assert "tool_done" not in await chat.audited()


async def test_a_judgement_that_is_remembered_costs_nothing_ahead(garage) -> None:
    async with Held(understanding=[leads_to("bill")], agent=[says("a")] * 3) as model:
        chat = await garage(model, speculate=False)
        await chat.says("What does that cost?")
        again = await garage(model, session_id="s-2")
        await again.says("What does that cost?")

        assert model.asked == ["understanding", "agent", "agent"]
        assert "discarded" not in again.last.metadata["usage"]
        model.script._of_kind["agent"].clear()


async def test_what_was_agreed_to_is_never_asked_ahead(garage) -> None:
    done: list[str] = []

    def order(part: str) -> str:
        """Order a part."""
        done.append(part)
        return "ordered"

    answers = [
        UseTool("order", part="wheel"),
        says("Shall I order a wheel?"),
        UseTool("order", part="wheel"),
        says("It is ordered."),
    ]
    async with Held(understanding=[leads_nowhere] * 2, agent=answers) as model:
        chat = await garage(model, agents={"clerk": ModelAgent(tools=[Tool(order, confirm=True)])})

        assert await chat.says("I need a wheel") == "Shall I order a wheel?"
        assert done == []
        model.hold("understanding")
        turn = asyncio.create_task(chat.says("Yes please"))
        await model.saw("understanding came", times=2)
        model.release("understanding")
        assert await turn == "It is ordered."
        assert done == ["wheel"]
        assert model.seen.index("understanding answered", 5) < model.seen.index("agent came", 6)


async def test_a_model_that_rests_is_not_asked_ahead(garage) -> None:
    silent = Fault.status(503, retry_after=0)
    model = Held(agent=[silent] * 3, understanding=[leads_nowhere] * 2, always=says("x"))
    chat = await garage(model, breaker_failures=1, intent_cache_ttl_seconds=0)
    model.hold("agent")
    turn = asyncio.create_task(chat.says("Hello?"))
    await model.saw("understanding answered", "agent came")
    model.release("agent")
    assert await turn == APOLOGY
    asked = len(model.asked)
    await chat.says("Hello again?")

    assert len(model.asked) == asked


class Rules(Journey):
    """Mend cars by rules."""

    class DeskPath(Pathway):
        """Answer in general."""

        __signature__ = Say
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

    class BillPath(Pathway):
        __signature__ = Say
        __agents__ = ["cashier"]
        __complete_when__ = NEVER

    __transitions__ = [Transition(IntentTrigger(description="wants a bill"), to_pathway="bill")]
    __guidelines__ = [
        Guideline(id="polite", action="say good day", always=True),
        Guideline(id="hurry", condition="the caller is in a hurry", action="be brief"),
        Guideline(id="angry", condition="the caller is angry", action="say sorry", critical=True),
        Guideline(id="lookup", condition="names a car", action="look it up", tools=["look_up"]),
        Guideline(id="rude", condition="the caller is rude", action="end it", excludes=["calm"]),
        Guideline(id="calm", condition="the caller is calm", action="chat a little"),
    ]


@pytest.mark.parametrize(
    ("held", "agrees"),
    [
        ([], True),
        (["hurry"], True),
        (["angry"], False),
        (["lookup"], False),
        (["rude"], False),
        (["calm"], False),
        (["hurry", "angry"], False),
    ],
)
async def test_rules_stand_under_their_condition_until_they_are_judged(
    garage, held: list[str], agrees: bool
) -> None:
    agent = [says("Good day.")] * (1 if agrees else 2)
    valid = {"is_valid": True, "violations": [], "suggested_fixes": [], "confidence": 0.9}
    async with Held(understanding=[rules_hold(*held)], agent=agent, always=valid) as model:
        clerk = ModelAgent(tools=[look_up])
        chat = await garage(model, Rules, agents={"clerk": clerk})
        model.hold("understanding")
        turn = asyncio.create_task(chat.says("My car B 12, quickly"))
        await model.saw("agent answered", "understanding came")
        model.release("understanding")

        assert await turn == "Good day."
        asked = [call for call in model.calls if call.schema_name == "answer"]
        ahead = asked[0].text
        assert "- say good day" in ahead
        assert "When the caller is in a hurry: be brief" in ahead
        assert not any(word in ahead for word in ("say sorry", "look it up", "end it", "chat a"))
        assert ("discarded" in chat.last.metadata["usage"]) is not agrees
        assert set(chat.last.metadata["guidelines"]) == {"polite", *held}
        if not agrees:
            assert "When the caller is in a hurry" not in asked[1].text


class Told(Signature):
    """Answer the caller, and know the rules as data."""

    message: str = InputField(description="What the caller said")
    guidelines: list[Any] = InputField(description="The rules of this turn")
    response: str = OutputField(description="What to say")


class Knowing(Rules):
    """Mend cars, and look at the rules."""

    __guidelines__ = [
        Guideline(id="hurry", condition="the caller is in a hurry", action="be brief")
    ]

    class DeskPath(Pathway):
        __signature__ = Told
        __agents__ = ["clerk"]
        __complete_when__ = NEVER


@pytest.mark.parametrize("held", [[], ["hurry"]])
async def test_an_agent_that_is_given_something_else_is_asked_anew(garage, held: list[str]) -> None:
    agent = [{"response": "Ahead."}, {"response": "Anew."}][: 1 + len(held)]
    async with Held(understanding=[rules_hold(*held)], agent=agent) as model:
        chat = await garage(model, Knowing)
        model.hold("understanding")
        turn = asyncio.create_task(chat.says("Quickly"))
        await model.saw("agent answered", "understanding came")
        model.release("understanding")

        assert await turn == ("Anew." if held else "Ahead.")
        assert ("discarded" in chat.last.metadata["usage"]) is bool(held)
        if held:
            assert "When the caller" not in model.calls[-1].text
            assert '"id":"hurry"' in model.calls[-1].message


async def test_too_many_wrong_ones_stop_it_for_a_while(garage) -> None:
    def understood(call: Call) -> Any:
        there = json.loads(call.message)["it_stands_in"]["part"]
        return leads_to("bill" if there == "desk" else "desk")(call)

    async with Held(understanding=[], agent=[], always=lambda call: answer(call)) as model:

        def answer(call: Call) -> Any:
            return understood(call) if call.schema_name == "understanding" else says("Well.")

        chat = await garage(
            model, Back, intent_cache_ttl_seconds=0, speculate_max_wrong=0.1, keep_versions=200
        )
        wrong = []
        for number in range(3 + 100 + 1):
            await chat.says(f"Take me over {number}")
            wrong.append("discarded" in chat.last.metadata["usage"])

    assert wrong == [True] * 3 + [False] * 100 + [True]


class Back(Rules):
    """Go to and fro."""

    __guidelines__ = []
    __transitions__ = [
        *Rules.__transitions__,
        Transition(
            IntentTrigger(description="wants the desk"), from_pathway="bill", to_pathway="desk"
        ),
    ]


@pytest.mark.parametrize("given", [{"speculate": "yes"}, {"speculate_max_wrong": 1.5}])
def test_settings_that_are_wrong_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="speculate"):
        JourneyConfig(**given)


async def test_answers_without_a_kind_come_in_their_order(garage) -> None:
    async with Held(leads_to("bill"), says("It is forty.")) as model:
        chat = await garage(model)

        assert await chat.says("What does that cost?") == "It is forty."
        assert model.asked == ["understanding", "agent"]


@pytest.mark.parametrize("by_kind", [True, False])
async def test_a_scripted_server_says_whether_its_answers_have_kinds(
    garage, monkeypatch: pytest.MonkeyPatch, by_kind: bool
) -> None:
    answers: list[Any] = [leads_to("bill"), says("It is forty.")]
    kinds = {"understanding": answers[:1], "agent": [says("Ahead."), answers[1]]}
    server = ScriptedServer(**kinds) if by_kind else ScriptedServer(*answers)
    async with server:
        model_server.name(monkeypatch, server, "none")
        chat = await garage(None)

        assert await chat.says("What does that cost?") == "It is forty."
        assert ("discarded" in chat.last.metadata["usage"]) is by_kind


async def test_over_http_no_word_of_a_discarded_answer_is_heard(serve: Callable[..., Any]) -> None:
    agents = [says("Nobody hears this."), says("It is forty."), says("At nine.")]
    verdicts = [leads_to("bill"), leads_nowhere]
    async with Held(understanding=verdicts, agent=agents) as model:
        api = await serve(one(Garage), model=model)
        session = await api.begin("garage")
        model.hold("understanding")
        listening = asyncio.create_task(api.hears(session, "What does that cost?"))
        await model.saw("agent answered")
        model.release("understanding")
        moved = await listening
        stayed = await api.hears(session, "Thanks. When do you open?")

    words = ["".join(d["text"] for n, d in told if n == "token") for told in (moved, stayed)]
    assert words == ["It is forty.", "At nine."]
    assert moved[-1][1]["metadata"]["usage"]["discarded"] > 0
    assert stayed[-1][0] == "done"


MESSAGES = {
    "hello": "stay",
    "hello again": "stay",
    "what is the bill": "bill",
    "to the yard": "free",
    "around the yard": "yard",
    "back to the desk": "desk",
    "quickly please": "hurry",
    "this is outrageous": "angry",
    "is my car ready": "tool",
    "order a wheel": "order",
    "mind breaks": "misunderstood",
    "voice breaks": "speechless",
    "all breaks": "both",
    "what is the bill, and quickly": "bill hurry",
    "": "stay",
}


class Whole(Garage):
    """Mend cars, by rules and with tools."""

    __guidelines__ = [
        Guideline(id="hurry", condition="the caller is in a hurry", action="be brief"),
        Guideline(id="angry", condition="the caller is angry", action="say sorry", priority=3),
        Guideline(id="calm", condition="the caller is calm", action="chat", excludes=["hurry"]),
        Guideline(id="polite", action="say good day", always=True),
    ]
    __transitions__ = [
        *Garage.__transitions__,
        Transition(
            IntentTrigger(description="wants the desk"), from_pathway="yard", to_pathway="desk"
        ),
    ]


def reply_to(call: Call) -> Any:
    """Answer as a model that knows nothing but the message, whatever it was asked before."""
    asked = json.loads([m for m in call.messages if m["role"] == "user"][-1]["content"])
    if call.schema_name == "understanding":
        return _verdict(call, MESSAGES[asked["user_message"].strip()].split())
    if call.schema_name != "answer":
        return Fault.status(400)
    message = asked.get("message", asked["topic"])
    meaning = MESSAGES[message].split()
    if {"speechless", "both"} & set(meaning):
        return Fault.status(400)
    if call.messages[-1]["role"] == "user":
        if "tool" in meaning and "look_up" in call.tools:
            return UseTool("look_up", car="B 12")
        if "order" in meaning and "order" in call.tools:
            return UseTool("order", part="wheel")
    talked = sum(m["role"] == "assistant" for m in call.messages)
    text = f"You said {message!r}, after {talked} words of mine, about {asked.get('topic')}."
    return says(text, topic_found=message.split()[-1])


def _verdict(call: Call, meaning: list[str]) -> Any:
    if {"misunderstood", "both"} & set(meaning):
        return Fault.status(400)
    asked = json.loads(call.message)
    open_ = {question["leads_to"] for question in asked.get("questions", [])}
    known = {rule["rule"] for rule in asked.get("rules", [])}
    to = next((word for word in meaning if word in open_), None)
    return rules_hold(*known & set(meaning), to=to)


async def _conversation(messages: list[str], *, speculate: bool) -> dict[str, Any]:
    def order(part: str) -> str:
        """Order a part."""
        return "ordered"

    async with Held(understanding=[], agent=[], always=reply_to) as model:
        config = JourneyConfig(
            persistence=f"memory://{uuid.uuid4()}",
            speculate=speculate,
            speculate_max_wrong=1.0,
            breaker_failures=1_000,
        )
        tools = [look_up, Tool(order, confirm=True)]
        agents = {"clerk": ModelAgent(tools=tools), "mechanic": ModelAgent(tools=tools)}
        async with Whole("s-1", config, agents=agents, model=model) as journey:
            await journey.start()
            heard = [await _heard(journey, text, number) for number, text in enumerate(messages)]
            rows = [vars_of(row) for row in await journey.audit()]
            versions = [vars_of(row) for row in await journey.versions()]
            session, head = await journey.manager._known()
            state = await session.values(head)
            state = {**state, "turn": {**state["turn"], "usage": None, "at": None}}
            for name in ("model_seconds", "asked"):
                state["turn"].pop(name, None)
            state["position"].pop("birth")
            for call in state["position"].get("pending", ()):
                call |= {"at": None, "ticket": None}
        assert left_over() == []
        return {"heard": heard, "audit": rows, "versions": versions, "state": state}


def vars_of(row: Any) -> dict[str, Any]:
    """Return a row without times; a rule that is shown under its condition costs more tokens."""
    known = {n: v for n, v in dataclasses.asdict(row).items() if n not in ("at", "begun_at")}
    if "usage" in known:
        known["usage"] = known["usage"]["model_calls"]
    return known


async def _heard(journey: Any, text: str, number: int) -> Any:
    if number % 2:
        events = [event async for event in journey.stream_message(text)]
        words = "".join(event.data["text"] for event in events if event.type == "token")
        kinds = list(dict.fromkeys(event.type for event in events))
        return words, kinds, _plain(events[-1].data["response"])
    return _plain(await journey.process_message(text))


def _plain(reply: Any) -> Any:
    metadata = {**reply.metadata, "usage": reply.metadata["usage"]["model_calls"]}
    return reply.message, reply.pathway_id, reply.accumulated_context, metadata


@pytest.mark.slow
@given(st.lists(st.sampled_from(list(MESSAGES)), min_size=1, max_size=7))
def test_any_conversation_is_the_same_with_and_without_it(messages: list[str]) -> None:
    async def both() -> list[Any]:
        return [await _conversation(messages, speculate=on) for on in (True, False)]

    ahead, plain = asyncio.run(both())
    assert ahead == plain


class Hint(Signature):
    """Answer the caller, with a hint."""

    response: str = OutputField(description="What to say")
    hint: str = OutputField(description="A hint")


class Shapes(Journey):
    """Pathways of which none is a single model agent."""

    __abstract__ = True
    __transitions__ = [Transition(IntentTrigger(description="asks for more"), to_pathway="more")]

    class MorePath(Pathway):
        __agents__ = ["plain"]


class TwoAgents(Shapes):
    """Ask two."""

    class FirstPath(Pathway):
        __signature__ = Hint
        __pipeline__ = Pipeline.sequential(["one", "two"])
        __complete_when__ = NEVER

    __entry_pathway__ = "first"


class Guarded(Shapes):
    """Ask one that has a breaker of its own."""

    class FirstPath(Pathway):
        __signature__ = Hint
        __pipeline__ = Pipeline.sequential(["one"]).with_limits(breaker_failures=2)
        __complete_when__ = NEVER

    __entry_pathway__ = "first"


class ByHand(Shapes):
    """Ask a function."""

    class FirstPath(Pathway):
        __agents__ = ["plain"]
        __complete_when__ = NEVER

    __entry_pathway__ = "first"


class Collecting(Shapes):
    """Ask for a name first."""

    class FirstPath(Pathway):
        __signature__ = Hint
        __agents__ = ["one"]
        __fields__ = [Field("name", ask="Your name?")]
        __complete_when__ = NEVER

    __entry_pathway__ = "first"


@pytest.mark.parametrize("journey", [TwoAgents, Guarded, ByHand, Collecting])
async def test_only_a_single_model_agent_is_asked_ahead(garage, journey: type[Journey]) -> None:
    def reply(call: Call) -> Any:
        if call.schema_name != "understanding":
            return {"response": "So.", "hint": None}
        answer: dict[str, Any] = {
            "verdicts": [],
            "rules_that_hold": [],
            "commands": [],
            "asks": None,
        }
        wanted = (call.schema or {})["properties"]
        return {name: answer.get(name) for name in wanted}

    async with Held(understanding=[], agent=[], always=reply) as model:
        agents = {"plain": lambda ask: "By hand."}
        chat = await garage(model, journey, agents=agents)
        model.hold("understanding")
        turn = asyncio.create_task(chat.says("When do you open?"))
        await model.saw("understanding came")
        for _ in range(20):
            await asyncio.sleep(0)
        assert model.asked == ["understanding"]
        model.release("understanding")
        await turn


async def test_a_tool_that_asks_has_the_turn_wait_as_ever(garage) -> None:
    async def permit(car: str) -> str:
        """Ask whether a car may leave."""
        return f"{car}: {interrupt('May it leave?')}"

    agent = [UseTool("permit", car="B 12"), UseTool("permit", car="B 12"), says("It may.")]
    async with Held(understanding=[leads_nowhere], agent=agent) as model:
        chat = await garage(model, agents={"clerk": ModelAgent(tools=[permit])})
        model.hold("understanding")
        turn = asyncio.create_task(chat.says("Let it go"))
        await model.saw("agent answered")
        model.release("understanding")
        await turn

        assert chat.last.metadata["waiting"][0]["value"] == "May it leave?"
        response = await chat.journey.resume("yes")
        assert response.message == "It may."


async def test_the_callbacks_of_a_caller_hear_of_what_is_asked_ahead(garage) -> None:
    class Counting(AsyncCallbackHandler):
        begun = ended = 0

        async def on_chat_model_start(self, *given: Any, **more: Any) -> None:
            self.begun += 1

        async def on_llm_end(self, *given: Any, **more: Any) -> None:
            self.ended += 1

    counting = Counting()
    async with Held(understanding=[leads_to("bill")], agent=[says("Forty.")]) as model:
        chat = await garage(model)
        model.hold("understanding", "agent")
        turn = asyncio.create_task(
            chat.journey.process_message("What is it?", callbacks=[counting])
        )
        await model.saw("agent came", "understanding came")
        model.release("understanding")
        await model.saw("agent came", times=2)
        model.release("agent")
        assert (await turn).message == "Forty."
    assert (counting.begun, counting.ended) == (3, 2)
