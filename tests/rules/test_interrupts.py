"""An agent that calls LangGraph's `interrupt()`: the run waits, and goes on exactly there."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from journeygraph import (
    NEVER,
    Agent,
    Call,
    ConfigurationError,
    IntentTrigger,
    InvalidMessageError,
    Journey,
    ModelAgent,
    NotWaitingError,
    Pathway,
    PathwayExecutionError,
    Pipeline,
    ReturnToPrevious,
    Tool,
    Transition,
    Validation,
)
from journeygraph.nodes.llm.scripted import ScriptedModel, UseTool
from tests.rules.test_run_config import dumped
from tests.support import api as helpers
from tests.support import command
from tests.support.api import events_in, one
from tests.support.command import flat, run
from tests.support.ferry import SAID, Ferry, World
from tests.support.house_desk import STAFF, Desk
from tests.support.model_shop import Shop
from tests.support.solo import APOLOGY, Solo, reason

serve = helpers.serve
folder = command.folder

HELLO: Any = {"messages": [{"role": "user", "content": "hello"}]}
THREAD: Any = {"configurable": {"thread_id": "t-1"}}


def ask(payload: Any) -> str:
    return f"answered {interrupt('sure?')}"


async def ask_later(payload: Any) -> str:
    return f"answered {interrupt('sure?')}"


async def ask_in_a_stream(payload: Any) -> Any:
    yield f"answered {interrupt('sure?')}"


def asking_graph(**options: Any) -> Any:
    graph = StateGraph(MessagesState)
    graph.add_node("step", lambda state: {"messages": [("ai", ask(state))]})
    graph.add_edge(START, "step")
    graph.add_edge("step", END)
    return graph.compile(**options)


def answer(payload: Any) -> str:
    return f"fine: {payload['message']}"


KINDS: dict[str, Any] = {
    "sync": ask,
    "async": ask_later,
    "a stream": ask_in_a_stream,
    "a graph": asking_graph(),
    "a graph with a saver": asking_graph(checkpointer=InMemorySaver()),
    "an object": type("Asker", (), {"run": staticmethod(ask)})(),
}

PATTERNS: dict[str, Any] = {
    "sequential": lambda: Pipeline.sequential([answer, ask]),
    "sequential, first": lambda: Pipeline.sequential([ask, answer]),
    "parallel": lambda: Pipeline.parallel([answer, ask]),
    "one at a time": lambda: Pipeline.parallel([answer, ask], max_workers=1),
    "router": lambda: Pipeline.router([ask, answer], routing_strategy="round-robin"),
    "inner": lambda: Pipeline.sequential([Pipeline.parallel([answer, ask]).to_agent("inner")]),
    "deep": lambda: Pipeline.sequential(
        [Pipeline.sequential([Pipeline.sequential([ask]).to_agent("b")]).to_agent("a")]
    ),
    "with a breaker": lambda: Pipeline.sequential([ask]).with_limits(breaker_failures=1),
    "with retries": lambda: Pipeline.sequential([ask]).with_limits(retries=2, backoff=0.01),
    "with a timeout": lambda: Pipeline.sequential([ask]).with_limits(timeout=30),
    "fail-fast": lambda: Pipeline.sequential([ask]).with_error_handling("fail-fast"),
}


def journey_of(pipeline: Any) -> type[Journey]:
    class Piped(Journey):
        class TalkPath(Pathway):
            __pipeline__ = pipeline
            __complete_when__ = NEVER

    return Piped


# a compiled graph: as LangGraph has it


@pytest.mark.parametrize("kind", KINDS)
async def test_a_compiled_journey_waits_and_goes_on_as_any_graph(kind: str) -> None:
    graph = Solo.compile(agents={"clerk": KINDS[kind]}, checkpointer=InMemorySaver())

    waits = await graph.ainvoke(HELLO, THREAD)
    assert [asked.value for asked in waits["__interrupt__"]] == ["sure?"]

    state = await graph.ainvoke(Command(resume="yes"), THREAD)
    assert state["turn"]["replies"] == ["answered yes"]
    assert state["turn"]["flags"] == []


@pytest.mark.parametrize("pattern", ["parallel", "deep"])
async def test_a_compiled_pipeline_waits_too(pattern: str) -> None:
    graph = PATTERNS[pattern]().compile(checkpointer=InMemorySaver())

    waits = await graph.ainvoke({"inputs": {"message": "hello"}}, THREAD)
    assert [asked.value for asked in waits["__interrupt__"]] == ["sure?"]

    state = await graph.ainvoke(Command(resume="yes"), THREAD)
    assert state["outputs"]["pipeline"]["status"] == "complete"
    assert "answered yes" in str(state["outputs"])


@pytest.mark.parametrize("pattern", ["parallel", "deep"])
async def test_a_pipeline_that_is_run_says_what_it_waits_for(pattern: str) -> None:
    outputs = await PATTERNS[pattern]().run(message="hello")

    assert outputs["pipeline"]["status"] == "waiting"
    (asked,) = outputs["pipeline"]["waiting"]
    assert asked["value"] == "sure?"
    assert asked["agent"].split("/")[-1] in ("ask", "agent_1", "agent_2")
    assert "error" not in outputs

    events = [event async for event in PATTERNS[pattern]().stream(message="hello")]
    assert events[-1]["outputs"]["pipeline"]["status"] == "waiting"
    assert events[-1]["outputs"]["pipeline"]["waiting"][0]["value"] == "sure?"


# a session


def asking(chat: Any) -> list[Any]:
    """What the last turn waits for, without the ids."""
    return [(ask["value"], ask["pathway"], ask["agent"]) for ask in chat.last.metadata["waiting"]]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_turn_in_which_an_agent_asks_is_committed_as_waiting(kind: str, solo: Any) -> None:
    chat = await solo(KINDS[kind], context={"mood": "good"})

    assert await chat.says("hello") == "sure?"
    assert asking(chat) == [("sure?", "talk", "clerk")]
    assert chat.last.metadata["flags"] == ["waiting"]
    assert (chat.last.pathway_id, chat.context) == ("talk", {"mood": "good"})
    assert [row.kind for row in await chat.journey.versions()] == ["start", "waiting"]

    assert await chat.says("yes") == "answered yes"
    assert chat.last.metadata["waiting"] == []
    assert chat.last.metadata["flags"] == []
    assert [row.kind for row in await chat.journey.versions()] == ["start", "waiting", "turn"]
    talk = [(entry.role, entry.content) for entry in await chat.journey.transcript()]
    assert talk == [
        ("user", "hello"),
        ("assistant", "sure?"),
        ("user", "yes"),
        ("assistant", "answered yes"),
    ]
    session = await chat.journey.get_session_state()
    assert [m["content"] for m in session.conversation_history] == [words for _, words in talk]


@pytest.mark.parametrize("pattern", PATTERNS)
async def test_an_agent_of_any_pattern_can_ask_in_a_session(
    pattern: str, talk: Any, memory_url: str
) -> None:
    chat = await talk(journey_of(PATTERNS[pattern]()), {}, memory_url)

    assert await chat.says("hello") == "sure?"
    await chat.says("yes")

    assert chat.last.metadata["flags"] == []
    assert "answered yes" in chat.last.message or pattern == "sequential, first"


async def test_an_answer_can_be_given_as_data(memory_url: str, talk: Any) -> None:
    def clerk(payload: Any) -> Any:
        given = interrupt({"question": "How much?", "unit": "EUR"})
        return {"response": f"booked {given['amount']}"}

    chat = await talk(Solo, {"clerk": clerk}, memory_url)

    assert await chat.says("hello") == '{"question": "How much?", "unit": "EUR"}'
    reply = await chat.journey.resume({"amount": 5})

    assert reply.message == "booked 5"
    assert [entry.role for entry in await chat.journey.transcript()] == [
        "user",
        "assistant",
        "assistant",
    ]


async def test_what_the_audit_tells_of_a_question_and_its_answer(solo: Any) -> None:
    chat = await solo(ask)
    await chat.says("hello")
    await chat.says("yes")

    rows = [(r.kind, r.from_pathway, r.trigger, r.reason) for r in await chat.journey.audit()]
    assert rows == [
        ("waiting", "talk", "clerk", "sure?"),
        ("resumed", "talk", "clerk", "answered by a message"),
    ]


async def plainly(turn: Any, streams: Any, given: Any) -> Any:
    return await turn(given)


async def traced(turn: Any, streams: Any, given: Any) -> Any:
    return await turn(given, callbacks=[AsyncCallbackHandler()])


async def streamed(turn: Any, streams: Any, given: Any) -> Any:
    return [event async for event in streams(given)][-1].data["response"]


@pytest.mark.parametrize("kind", [*KINDS, "a breakpoint"])
@pytest.mark.parametrize(
    ("first", "then"),
    [(plainly, traced), (traced, plainly), (streamed, traced), (traced, streamed)],
    ids=["traced later", "traced before", "streamed, then traced", "traced, then streamed"],
)
async def test_a_turn_goes_on_in_the_form_in_which_it_stopped_whoever_watches(
    kind: str, first: Any, then: Any, talk: Any, memory_url: str
) -> None:
    """Watched, the pathway's subgraph runs; else its agent runs in the node of the pathway."""
    ran: list[int] = []
    graph = StateGraph(MessagesState)

    def step(state: Any) -> Any:
        ran.append(1)
        return {"messages": [("ai", "went on")]}

    graph.add_node("step", step)
    graph.add_edge(START, "step")
    stops = graph.compile(interrupt_before=["step"])
    chat = await talk(Solo, {"clerk": KINDS.get(kind, stops)}, memory_url)

    await first(chat.journey.process_message, chat.journey.stream_message, "hello")
    chat = await chat.restored()
    session = await chat.journey.get_session_state()
    (asked,) = session.waiting

    answer = {asked["id"]: "yes"} if asked["id"] else "yes"
    reply = await then(chat.journey.resume, chat.journey.stream_resume, answer)

    assert reply.message == ("went on" if kind == "a breakpoint" else "answered yes")
    assert reply.metadata["flags"] == []
    assert len(ran) == (kind == "a breakpoint")
    assert [row.kind for row in await chat.journey.versions()] == ["start", "waiting", "turn"]


@pytest.mark.parametrize("watched", [True, False])
async def test_asked_again_and_rolled_back_a_turn_keeps_its_form(watched: bool, solo: Any) -> None:
    ways = [traced, plainly] if watched else [plainly, traced]

    def clerk(payload: Any) -> str:
        return f"{interrupt('name?')} of {interrupt('city?')}"

    chat = await solo(clerk)
    journey = chat.journey
    await ways[0](journey.process_message, None, "hello")
    assert (await ways[1](journey.resume, None, "Ann")).message == "city?"
    assert (await ways[0](journey.resume, None, "Bonn")).message == "Ann of Bonn"
    await journey.rollback(2)
    assert (await ways[1](journey.resume, None, "Rome")).message == "Ann of Rome"


async def test_several_questions_of_one_agent_are_asked_one_after_the_other(
    talk: Any, kept_url: str
) -> None:
    tops: list[int] = []

    def clerk(payload: Any) -> str:
        tops.append(1)
        return f"{interrupt('name?')} of {interrupt('city?')}, {interrupt('age?')}"

    chat = await talk(Solo, {"clerk": clerk}, kept_url)

    assert await chat.says("hello") == "name?"
    assert await chat.says("Ann") == "city?"
    chat = await chat.restored()
    assert (await chat.journey.resume("Bonn")).message == "age?"
    assert await chat.says("7") == "Ann of Bonn, 7"
    assert len(tops) == 4
    kinds = [row.kind for row in await chat.journey.versions()]
    assert kinds == ["start", "waiting", "waiting", "waiting", "turn"]
    assert [e.content for e in await chat.journey.transcript() if e.role == "user"] == [
        "hello",
        "Ann",
        "7",
    ]


def asks(question: str) -> Agent:
    def agent(payload: Any) -> Any:
        return {"response": f"{question} {interrupt(question)}"}

    return Agent(agent, name=question.strip("?"))


def two() -> type[Journey]:
    return journey_of(Pipeline.parallel([asks("left?"), answer, asks("right?")]))


async def test_several_questions_at_once_are_answered_by_their_ids(
    talk: Any, store_url: str
) -> None:
    chat = await talk(two(), {}, store_url)
    await chat.says("hello")

    assert chat.last.message == "left?\n\nright?"
    left, right = (asked["id"] for asked in chat.last.metadata["waiting"])

    with pytest.raises(NotWaitingError, match=left) as refused:
        await chat.journey.resume("yes")
    assert refused.value.waiting == [left, right]
    with pytest.raises(NotWaitingError, match="no id of an open question"):
        await chat.journey.resume({"0" * 32: "yes"})

    reply = await chat.journey.resume({left: "L", right: "R"})
    assert "left? L" in reply.message
    assert "right? R" in reply.message


async def test_of_several_questions_a_message_answers_the_first(talk: Any, kept_url: str) -> None:
    chat = await talk(two(), {}, kept_url)
    await chat.says("hello")

    assert await chat.says("L") == "right?"
    chat = await chat.restored()
    await chat.says("R")
    assert "left? L" in chat.last.message
    assert "right? R" in chat.last.message
    assert chat.last.metadata["waiting"] == []


@pytest.mark.parametrize("words", ["cancel", "stop", "I want to talk to a human, please"])
async def test_who_stops_or_wants_a_person_gives_no_answer(words: str, solo: Any) -> None:
    chat = await solo(ask)
    await chat.says("hello")

    assert await chat.says(words) == "sure?"  # a message like any other, which is asked about again
    assert [row.kind for row in await chat.journey.audit()] == ["waiting", "abandoned", "waiting"]
    assert await chat.says("yes") == "answered yes"


async def test_words_that_only_hold_a_stop_are_an_answer(solo: Any) -> None:
    chat = await solo(ask)
    await chat.says("hello")

    said = "Only if you can cancel it by Friday"
    assert await chat.says(said) == f"answered {said}"


async def test_an_answer_where_nothing_is_asked_is_refused(solo: Any) -> None:
    chat = await solo(answer)
    with pytest.raises(NotWaitingError, match="Send a message"):
        await chat.journey.resume("yes")
    await chat.says("hello")
    with pytest.raises(NotWaitingError):
        await chat.journey.resume("yes")
    assert len(await chat.journey.versions()) == 2


async def test_an_empty_message_leaves_it_waiting(solo: Any) -> None:
    chat = await solo(ask)
    await chat.says("hello")
    await chat.says("  ")
    assert [asked["value"] for asked in chat.last.metadata["waiting"]] == ["sure?"]
    assert await chat.says("yes") == "answered yes"


async def test_a_rollback_goes_back_to_what_was_asked(talk: Any, store_url: str) -> None:
    def clerk(payload: Any) -> str:
        return f"{interrupt('name?')} of {interrupt('city?')}"

    chat = await talk(Solo, {"clerk": clerk}, store_url)
    await chat.says("hello")
    await chat.says("Ann")
    await chat.says("Bonn")
    assert chat.last.message == "Ann of Bonn"

    session = await chat.journey.rollback(1)
    assert [asked["value"] for asked in session.waiting] == ["name?"]
    assert await chat.says("Bob") == "city?"
    assert await chat.says("Rome") == "Bob of Rome"

    await chat.journey.rollback(0)
    assert (await chat.journey.get_session_state()).waiting == []
    assert await chat.says("anew") == "name?"


@pytest.mark.parametrize("recovery", ["graceful", "fail_fast"])
async def test_what_fails_on_an_answer_waits_on(recovery: str, solo: Any) -> None:
    broken = [True]

    def clerk(payload: Any) -> str:
        given = interrupt("sure?")
        if broken:
            raise OSError("no line")
        return f"answered {given}"

    chat = await solo(clerk, error_recovery=recovery)
    assert await chat.says("hello") == "sure?"
    if recovery == "fail_fast":
        with pytest.raises(PathwayExecutionError, match="no line"):
            await chat.says("yes")
    else:
        assert await chat.says("yes") == APOLOGY
        assert chat.last.metadata["flags"] == ["failed", "journey_bypassed", "waiting"]
        assert [asked["value"] for asked in chat.last.metadata["waiting"]] == ["sure?"]

    broken.clear()
    assert await chat.says("yes") == "answered yes"


async def test_what_cannot_be_told_as_json_is_a_clear_failure(solo: Any) -> None:
    chat = await solo(lambda payload: interrupt({"when": object()}))
    await chat.says("hello")

    assert "the value of interrupt() is not JSON" in reason(chat)
    assert "'clerk'" in reason(chat)
    assert chat.last.metadata["waiting"] == []


async def test_an_answer_that_is_no_json_is_refused(solo: Any) -> None:
    chat = await solo(ask)
    await chat.says("hello")
    with pytest.raises(ConfigurationError, match="JSON"):
        await chat.journey.resume(object())
    assert await chat.says("yes") == "answered yes"


class Amount(BaseModel):
    euros: int


async def test_an_answer_that_does_not_fit_is_asked_for_again(solo: Any) -> None:
    def clerk(payload: Any) -> str:
        return f"booked {interrupt('How much?', response_schema=Amount).euros}"

    chat = await solo(clerk)
    await chat.says("hello")
    (asked,) = chat.last.metadata["waiting"]
    assert asked["schema"]["properties"]["euros"]["type"] == "integer"

    with pytest.raises(InvalidMessageError, match="euros"):
        await chat.journey.resume({"euros": "secret"})
    assert await chat.says("lots") == "How much?"
    assert chat.last.metadata["flags"] == ["invalid_answer"]
    assert len(await chat.journey.versions()) == 2

    assert (await chat.journey.resume({"euros": 5})).message == "booked 5"


async def test_a_graph_whose_state_cannot_be_kept_says_so(solo: Any) -> None:
    class Keeps(MessagesState):
        lock: Any

    graph = StateGraph(Keeps)
    graph.add_node("first", lambda state: {"lock": Amount(euros=1)})
    graph.add_node("step", lambda state: {"messages": [("ai", ask(state))]})
    graph.add_edge(START, "first")
    graph.add_edge("first", "step")
    chat = await solo(graph.compile())
    await chat.says("hello")

    assert "cannot be stored" in reason(chat)


# what happened before, and beside it


async def test_what_was_done_before_the_question_is_done_once(
    store_url: str, talk: Any, tmp_path: Path
) -> None:
    """An effect before the agent, and one whose own tool asks, run once."""
    world = World(tmp_path)
    looked: list[str] = []

    def look(port: str) -> str:
        """Look at the weather.

        Args:
            port: The port.
        """
        looked.append(port)
        return "calm"

    async def purser(payload: Any) -> str:
        return f"{interrupt('Window seat?')}: {payload['context']['reserved']}"

    class Crossing(Ferry):
        class CrossingPath(Ferry.CrossingPath):
            __calls__ = [Call("look")]
            __agents__ = ["purser"]

    options = {
        "tools": {"reserve": world.reserve, "charge": world.charge, "look": look},
        "model": False,
    }
    chat = await talk(Crossing, {"purser": purser}, store_url, options=options)
    for message in SAID:
        await chat.says(message)

    assert await chat.says("yes") == "Window seat?"
    assert "reserved" not in chat.context
    assert (len(world.reserved), len(world.asked), looked) == (1, 1, ["Harwich"])

    await chat.says("no")
    assert chat.last.message.endswith("no: 2 from Harwich")
    assert chat.context["reserved"] == "2 from Harwich"
    assert (len(world.reserved), len(world.asked), looked) == (1, 1, ["Harwich"])
    kinds = await chat.audited()
    assert (kinds.count("effect_done"), kinds.count("tool_done")) == (2, 1)
    places = [kinds.index(kind) for kind in ("tool_done", "waiting", "resumed", "effect_done")]
    assert places == sorted(places)


async def test_an_effect_is_not_done_again_after_the_question_is_left(
    store_url: str, talk: Any, tmp_path: Path
) -> None:
    world = World(tmp_path)
    asked = [True]

    async def purser(payload: Any) -> str:
        return str(interrupt("Window seat?")) if asked else "Safe trip."

    options = {"tools": {"reserve": world.reserve, "charge": world.charge}, "model": False}
    chat = await talk(Ferry, {"purser": purser}, store_url, options=options)
    for message in (*SAID, "yes"):
        await chat.says(message)
    asked.clear()
    await chat.says("stop")  # leaves the question; the form goes on as if it had not been answered
    await chat.says("yes")
    for message in SAID[1:]:
        if "reserved" not in chat.context:
            await chat.says(message)
            await chat.says("yes")

    assert (len(world.reserved), len(world.asked)) == (1, 1)


async def test_a_tool_of_an_effect_can_ask(memory_url: str, talk: Any, tmp_path: Path) -> None:
    world = World(tmp_path)

    async def charge(amount: int, idempotency_key: str) -> dict[str, str]:
        """Charge a card.

        Args:
            amount: The amount.
            idempotency_key: Of the payment.
        """
        assert interrupt({"approve": amount}) == {"by": "Ann"}
        return await world.charge(amount, idempotency_key)

    options = {"tools": {"reserve": world.reserve, "charge": charge}, "model": False}
    chat = await talk(Ferry, {"purser": world.purser}, memory_url, options=options)
    for message in (*SAID, "yes"):
        await chat.says(message)
    assert asking(chat) == [({"approve": 2}, "crossing", None)]

    reply = await chat.journey.resume({"by": "Ann"})
    assert reply.message.endswith("Safe trip with 2 from Harwich.")
    assert (len(world.reserved), len(world.asked)) == (1, 1)


async def test_a_tool_of_a_model_can_ask(talk: Any, memory_url: str) -> None:
    ran: list[str] = []

    def refund(number: str) -> str:
        """Refund an order.

        Args:
            number: Its number.
        """
        ran.append(interrupt(f"Refund {number}?"))
        return "refunded"

    model = ScriptedModel(
        UseTool("refund", number="7"),
        UseTool("refund", number="7"),
        {"response": "It is refunded."},
    )
    chat = await talk(
        Shop, {"clerk": ModelAgent(tools=[refund])}, memory_url, options={"model": model}
    )

    assert await chat.says("refund 7") == "Refund 7?"
    assert asking(chat) == [("Refund 7?", "talk", "clerk")]
    assert await chat.says("ok") == "It is refunded."
    assert ran == ["ok"]
    kinds = await chat.audited()
    assert kinds == ["tool_not_called", "waiting", "resumed", "tool_done"]


def look_and_ask(ran: list[str]) -> list[Any]:
    """Return a tool that only looks, and one that asks."""

    def look(shelf: str) -> str:
        """Look at a shelf.

        Args:
            shelf: The shelf.
        """
        ran.append(f"looked {shelf}")
        return f"seen {len(ran)}"

    def refund(number: str) -> str:
        """Refund an order.

        Args:
            number: Its number.
        """
        ran.append(interrupt(f"Refund {number}?"))
        return "refunded"

    return [look, refund]


def calls_twice(*before: Any) -> ScriptedModel:
    """Return a model that asks for the same calls when its agent runs again."""
    calls = [*before, UseTool("refund", number="7")]
    return ScriptedModel(*calls, *calls, {"response": "It is refunded."})


async def test_what_a_model_called_before_the_question_is_called_once(
    talk: Any, kept_url: str
) -> None:
    """Also in another process; a call with other arguments, or once more, is another one."""
    ran: list[str] = []
    model = calls_twice(UseTool("look", shelf="a"), UseTool("look", shelf="a"))
    agents = {"clerk": ModelAgent(tools=look_and_ask(ran))}
    chat = await talk(Shop, agents, kept_url, options={"model": model})
    assert await chat.says("refund 7") == "Refund 7?"
    assert ran == ["looked a", "looked a"]
    chat = await chat.restored(model=model)

    assert await chat.says("ok") == "It is refunded."
    assert ran == ["looked a", "looked a", "ok"]
    given = [m["content"] for m in model.calls[-1].messages if m["role"] == "tool"]
    assert given == ["seen 1", "seen 2", "refunded"]
    kinds = await chat.audited()
    assert kinds.count("tool_done") == 3


async def test_a_call_of_an_answered_agent_is_made_anew_in_the_next_turn(
    talk: Any, memory_url: str
) -> None:
    ran: list[str] = []
    model = calls_twice(UseTool("look", shelf="a"))
    model.will_answer(UseTool("look", shelf="a"), {"response": "Still there."})
    agents = {"clerk": ModelAgent(tools=look_and_ask(ran))}
    chat = await talk(Shop, agents, memory_url, options={"model": model})
    for message in ("refund 7", "ok", "look again"):
        await chat.says(message)

    assert ran == ["looked a", "ok", "looked a"]


async def test_what_the_user_agreed_to_is_not_asked_for_again_after_the_question() -> None:
    ran: list[str] = []
    look, refund = look_and_ask(ran)
    again: list[Any] = [UseTool("look", shelf="a"), UseTool("refund", number="7")]
    model = ScriptedModel(
        *(UseTool("look", shelf="a"), {"response": "Shall I look?"}),
        *(*again, *again, {"response": "It is refunded."}),
    )
    agents = {"clerk": ModelAgent(tools=[Tool(look, confirm=True), refund])}
    graph = Shop.compile(agents=agents, model=model, checkpointer=InMemorySaver())
    await graph.ainvoke(HELLO, THREAD)
    waits = await graph.ainvoke({"messages": [("user", "yes")]}, THREAD)
    assert (ran, waits["__interrupt__"][0].value) == (["looked a"], "Refund 7?")

    await graph.ainvoke(Command(resume="ok"), THREAD)
    assert ran == ["looked a", "ok"]
    given = [m["content"] for m in model.calls[-1].messages if m["role"] == "tool"]
    assert given == ["seen 1", "refunded"]


class Claims(Journey):
    """Take a claim, decide on it, and end."""

    class ReportPath(Pathway):
        __agents__ = ["reporter"]
        __accumulate__ = ["damage"]
        __complete_when__ = ["damage"]
        __next__ = "decide"

    class DecidePath(Pathway):
        __agents__ = ["decider"]
        __accumulate__ = ["decision"]
        __complete_when__ = ["decision"]
        __runs_on_arrival__ = True

    class FaqPath(Pathway):
        __agents__ = ["helper"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(IntentTrigger(patterns=["how much"]), to_pathway="faq")]


def decide(payload: Any) -> Any:
    decision = interrupt("Approve?")
    return {"response": f"Decided: {decision}.", "decision": decision}


CLERKS: dict[str, Any] = {
    "reporter": lambda payload: {"response": "Noted.", "damage": payload["message"]},
    "decider": decide,
    "helper": lambda payload: f"{interrupt('Which country?')}: 5 EUR",
}


async def test_a_waiting_turn_moves_nothing_until_it_is_answered(
    talk: Any, memory_url: str
) -> None:
    ended: list[Any] = []
    chat = await talk(Claims, CLERKS, memory_url, options={"on_end": ended.append})

    assert await chat.says("the roof") == "Noted.\n\nApprove?"
    assert (chat.last.pathway_id, chat.context, chat.ran) == ("report", {}, [])

    assert await chat.says("approved") == "Decided: approved."
    assert chat.ran == ["report", "decide"]
    assert (chat.last.pathway_id, chat.last.is_journey_complete) == ("decide", True)
    assert chat.context == {"damage": "the roof", "decision": "approved"}
    assert len(ended) == 1
    history = await chat.journey.context_history("damage")
    assert [(value.value, value.version) for value in history] == [("the roof", 2)]


async def test_a_detour_that_asks_is_entered_once_it_is_answered(
    talk: Any, memory_url: str
) -> None:
    chat = await talk(Claims, CLERKS, memory_url)

    assert await chat.says("how much is it?") == "Which country?"
    assert (chat.last.pathway_id, chat.stack, chat.last.transition_to) == ("report", [], None)

    assert await chat.says("Italy") == "Italy: 5 EUR"
    assert (chat.last.pathway_id, chat.stack, chat.last.transition_to) == ("faq", ["report"], "faq")

    assert await chat.says("the roof") == "Noted.\n\nApprove?"


async def test_the_stream_says_what_was_said_before_the_question_once(
    talk: Any, memory_url: str
) -> None:
    chat = await talk(Claims, CLERKS, memory_url)
    events = [event async for event in chat.journey.stream_message("the roof")]
    words = "".join(event.data["text"] for event in events if event.type == "token")
    assert words == events[-1].data["response"].message == "Noted.\n\nApprove?"

    events = [event async for event in chat.journey.stream_message("yes")]
    words = "".join(event.data["text"] for event in events if event.type == "token")
    assert words == events[-1].data["response"].message == "Decided: yes."


async def test_what_is_asked_is_sealed_for_a_sensitive_journey(talk: Any, kept_url: str) -> None:
    class Secret(Claims):
        __sensitive__ = True

    chat = await talk(Secret, CLERKS, kept_url, encryption_key=bytes(range(32)))
    await chat.says("the kanarienvogel")
    chat = await chat.restored()
    stored = await dumped(kept_url)
    for word in ("kanarienvogel", "Approve?"):
        assert word not in stored
        assert word.encode().hex() not in stored

    assert await chat.says("yes") == "Decided: yes."


@pytest.mark.parametrize("mode", ["before_send", "after_send"])
async def test_what_is_asked_is_checked_as_any_reply(mode: Any, talk: Any, memory_url: str) -> None:
    class Checked(Solo):
        __validation__ = Validation(mode=mode)

    asker = {"clerk": lambda payload: interrupt("Is 4111 1111 1111 1111 your card?")}
    chat = await talk(Checked, asker, memory_url)

    assert await chat.says("hello") == "Is [card number] your card?"
    await chat.says("stop")
    events = [event async for event in chat.journey.stream_message("cancel")]
    words = "".join(event.data["text"] for event in events if event.type == "token")
    assert words == "Is [card number] your card?"


async def test_it_waits_in_a_saver_of_the_users_as_well(talk: Any, kept_url: str) -> None:
    saver = InMemorySaver()
    chat = await talk(two(), {}, kept_url, options={"saver": saver})
    await chat.says("hello")
    assert await chat.says("L") == "right?"
    await chat.says("R")
    assert "left? L" in chat.last.message

    session = await chat.journey.rollback(1)
    assert len(session.waiting) == 2


async def test_two_answers_at_once_are_taken_one_after_the_other(talk: Any, store_url: str) -> None:
    chat = await talk(Solo, {"clerk": ask}, store_url)
    await chat.says("hello")

    one, two_ = await asyncio.gather(
        chat.journey.process_message("A"), chat.journey.process_message("B")
    )
    assert (one.message, two_.message) == ("answered A", "sure?")


async def test_who_goes_away_while_it_goes_on_leaves_it_waiting(talk: Any, store_url: str) -> None:
    begun = asyncio.Event()

    async def clerk(payload: Any) -> str:
        given = interrupt("sure?")
        if given == "slowly":
            begun.set()
            await asyncio.Event().wait()
        return f"answered {given}"

    chat = await talk(Solo, {"clerk": clerk}, store_url)
    await chat.says("hello")
    going = asyncio.ensure_future(chat.journey.process_message("slowly"))
    await begun.wait()
    going.cancel()
    await asyncio.wait([going])

    session = await chat.journey.get_session_state()
    assert (session.version, len(session.waiting)) == (1, 1)
    assert await chat.says("yes") == "answered yes"


async def test_a_journey_of_a_concierge_can_ask(talk: Any, memory_url: str) -> None:
    agents = {**STAFF, "identifier": ask}
    chat = await talk(Desk, agents, memory_url)

    assert await chat.says("I am moving house") == "sure?"
    assert asking(chat) == [("sure?", "moving.identify", "identifier")]
    assert chat.last.metadata["journey_id"] is None
    chat = await chat.restored()

    assert await chat.says("yes") == "answered yes"
    assert chat.last.pathway_id == "moving.identify"
    assert chat.last.metadata["journey_id"] == "moving"


async def test_of_two_handles_one_goes_on(talk: Any, kept_url: str) -> None:
    chat = await talk(Solo, {"clerk": ask}, kept_url)
    await chat.says("hello")
    other = await Solo.restore("s-1", chat.journey.config, agents={"clerk": ask})

    assert (await other.resume("B")).message == "answered B"
    with pytest.raises(NotWaitingError):
        await chat.journey.resume("A")
    await other.close()


def desk_of(agent: str) -> type[Journey]:
    """A journey whose one agent has another name in another version."""

    class Desk(Journey):
        class OnePath(Pathway):
            __agents__ = [agent]
            __complete_when__ = NEVER

    return Desk


async def test_who_asks_and_is_gone_in_another_version_is_not_waited_for(
    talk: Any, kept_url: str
) -> None:
    chat = await talk(desk_of("clerk"), {"clerk": ask}, kept_url)
    await chat.says("hello")
    config = chat.journey.config
    await chat.journey.close()

    later = await desk_of("robot").restore("s-1", config, agents={"robot": answer})
    with pytest.raises(NotWaitingError, match="has changed"):
        await later.resume("yes")
    assert (await later.process_message("yes")).message == "fine: yes"
    kinds = [entry.kind for entry in await later.audit()]
    assert kinds == ["waiting", "version_changed", "abandoned"]
    await later.close()


async def test_the_same_agent_in_another_version_is_answered(talk: Any, kept_url: str) -> None:
    chat = await talk(desk_of("clerk"), {"clerk": ask}, kept_url)
    await chat.says("hello")
    config = chat.journey.config
    await chat.journey.close()

    class Desk(Journey):
        class OnePath(Pathway):
            __agents__ = ["clerk"]
            __complete_when__ = NEVER

        class MorePath(Pathway):
            __agents__ = ["clerk"]
            __return_behavior__ = ReturnToPrevious()

        __transitions__ = [Transition(IntentTrigger(patterns=["more"]), to_pathway="more")]

    later = await Desk.restore("s-1", config, agents={"clerk": ask})
    assert (await later.process_message("yes")).message == "answered yes"
    await later.close()


async def test_every_pattern_of_pipelines_can_wait(talk: Any, memory_url: str) -> None:
    """A role of a pattern asks like any agent."""
    boss = Agent(asks("boss?").call, name="boss")
    pipelines = [
        Pipeline.supervisor_worker(boss, [answer]),
        Pipeline.ensemble([answer, Agent(ask, name="b")], synthesizer=boss),
    ]
    for number, pipeline in enumerate(pipelines):
        chat = await talk(journey_of(pipeline), {}, memory_url, session_id=f"s-{number}")
        seen = []
        await chat.says("hello")
        while chat.last.metadata["waiting"]:
            seen.append([ask_["agent"] for ask_ in chat.last.metadata["waiting"]])
            await chat.says("yes")
        assert seen
        assert len(seen) < 10
        assert chat.last.metadata["error"] is None


# HTTP and the command line


async def test_over_http_a_waiting_session_is_seen_and_answered(serve: Any) -> None:
    api = await serve(one(Solo, clerk=ask))
    session = await api.begin("solo")

    refused = await api.client.post(f"{session}/resume", json={"value": "yes"})
    assert (refused.status_code, refused.json()["code"]) == (409, "not_waiting")
    assert refused.headers["content-type"] == "application/problem+json"

    events = await api.hears(session, "hello")
    assert [name for name, _ in events] == ["pathway", "waiting", "token", "done"]
    (asked,) = events[1][1]["waiting"]
    assert (asked["value"], asked["pathway"], asked["agent"]) == ("sure?", "talk", "clerk")
    assert (await api.client.get(session)).json()["waiting"] == [asked]

    wrong = await api.client.post(f"{session}/resume", json={})
    assert wrong.status_code == 422

    answered = await api.client.post(f"{session}/resume", json={"value": {asked["id"]: "yes"}})
    assert (answered.status_code, answered.json()["message"]) == (200, "answered yes")
    assert answered.json()["metadata"]["waiting"] == []
    assert (await api.client.get(session)).json()["waiting"] == []

    await api.says(session, "again")
    streamed = await api.client.post(
        f"{session}/resume", json={"value": None}, headers={"Accept": "text/event-stream"}
    )
    assert events_in(streamed.text)[-1][1]["message"] == "answered None"
    kinds = [
        row["kind"] for row in (await api.client.get(f"{session}/versions")).json()["versions"]
    ]
    assert kinds == ["start", "waiting", "turn", "waiting", "turn"]


async def test_over_http_an_answer_that_does_not_fit_is_refused(serve: Any) -> None:
    def clerk(payload: Any) -> str:
        return f"booked {interrupt('How much?', response_schema=Amount).euros}"

    api = await serve(one(Solo, clerk=clerk))
    session = await api.begin("solo")
    await api.says(session, "hello")

    refused = await api.client.post(f"{session}/resume", json={"value": "secret"})
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_message")
    assert "secret" not in refused.text


ASKER = '''
from langgraph.types import interrupt

from journeygraph import NEVER, Journey, Pathway


class Desk(Journey):
    """Ask before it acts."""

    class TalkPath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER


def clerk(payload):
    return f"answered {interrupt('Shall I?')}"


AGENTS = {"clerk": clerk}
'''


def test_chat_shows_what_is_asked_and_takes_the_answer(folder: Path) -> None:
    (folder / "desk.py").write_text(ASKER)
    store = f"sqlite:///{folder / 'desk.db'}"

    first = run("chat", "desk.py", "--store", store, "-s", "s-1", typed="hello\n").stdout
    assert "Shall I?" in first
    assert "(clerk in talk waits for your answer)" in first

    typed = 'yes\nhello\n/resume {"by": "Ann"}\n/resume again\n'
    again = run("chat", "desk.py", "--store", store, "-s", "s-1", typed=typed)
    assert "continues in talk. clerk in talk asks: Shall I?" in flat(again.stdout)
    assert "answered yes" in again.stdout
    assert "answered {'by': 'Ann'}" in again.stdout
    assert "No agent of this session waits for an answer" in flat(again.stdout + again.stderr)
