"""Agents: what may be registered, what it is given, what it may give back, and how it may fail."""

from __future__ import annotations

import asyncio
import copy
import functools
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import date
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, HumanMessage
from langchain_core.output_parsers import JsonOutputParser, StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from pydantic import BaseModel
from typing_extensions import TypedDict

from journeygraph import (
    NEVER,
    Agent,
    AgentCard,
    ConfigurationError,
    InputField,
    Journey,
    OutputField,
    Pathway,
    Pipeline,
    Signature,
    Skill,
)
from journeygraph.graphs.a2a import to_a2a
from tests.support.solo import Payload, function, reason

HEARD = {"response": "heard hello", "mood": "good"}


# Everything that can be called.


async def coroutine(payload: Payload) -> Payload:
    await asyncio.sleep(0)
    return function(payload)


async def stream(payload: Payload) -> AsyncIterator[Any]:
    yield "heard "
    yield None
    yield {"mood": "good"}
    yield AIMessageChunk(content=payload["message"])


class Callable1:
    def __call__(self, payload: Payload) -> Payload:
        return function(payload)


class Callable2:
    async def __call__(self, payload: Payload) -> Payload:
        return function(payload)


class Callable3:
    def __call__(self, payload: Payload) -> AsyncIterator[Any]:
        return stream(payload)


class Runs:
    def run(self, payload: Payload) -> Payload:
        return function(payload)


class RunsLater:
    async def arun(self, payload: Payload) -> Payload:
        return function(payload)

    def run(self, payload: Payload) -> Payload:
        raise AssertionError("arun comes first")


class ByNames:
    """As pipelines elsewhere call their agents: `agent.run(message=..., context=...)`."""

    def run(self, message: str, context: Payload) -> Payload:
        return function({"message": message, "context": context})


class ByName(ByNames):
    def run(self, message: str) -> Payload:  # type: ignore[override]
        return function({"message": message})


class ByAnyName:
    async def run(self, **inputs: Any) -> Payload:
        return function(inputs)


class ByNameAndMore:
    async def run(self, *, message: str, mood: str = "good", **inputs: Any) -> Payload:
        assert {"context", "history"} <= inputs.keys()
        return {**function({"message": message}), "mood": mood}


class WithOptions:
    def run(self, payload: Payload, verbose: bool = False) -> Payload:
        assert not verbose
        return function(payload)


def logged(step: Any) -> Any:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return step(*args, **kwargs)

    return wrapper


def known(step: Any) -> Any:
    return functools.wraps(step)(logged(step))


class Decorated:
    @known
    def run(self, message: str, **inputs: Any) -> Payload:
        return function({"message": message})


class DecoratedUnknown:
    @logged
    def run(self, payload: Payload) -> Payload:
        return function(payload)


def chained(*steps: Callable[[Any], Any], state: Any = MessagesState) -> StateGraph[Any]:
    """A graph of these steps, one after the other."""
    graph = StateGraph(state)
    named: list[Any] = [(f"step_{n}", step) for n, step in enumerate(steps)]
    graph.add_sequence(named)
    graph.add_edge(START, "step_0")
    graph.add_edge(f"step_{len(steps) - 1}", END)
    return graph


class Own(TypedDict):
    message: str
    response: str
    mood: str


class Mixed(MessagesState):
    response: str
    mood: str


def answer_in_messages(state: Any) -> Payload:
    said = state["messages"][-1].content
    return {"messages": [AIMessage(f"heard {said}")], "mood": "good"}


class Moody(MessagesState):
    mood: str


PROMPT = ChatPromptTemplate.from_messages([("system", "Be kind."), ("human", "{message}")])
AS_JSON = '{"response": "heard hello", "mood": "good"}'

KINDS: dict[str, Any] = {
    "function": function,
    "lambda": lambda payload: function(payload),
    "coroutine function": coroutine,
    "function that returns a coroutine": lambda payload: coroutine(payload),
    "async generator": stream,
    "function that returns an async generator": lambda payload: stream(payload),
    "partial": functools.partial(lambda word, payload: {**function(payload), "word": word}, "x"),
    "partial of a coroutine function": functools.partial(coroutine),
    "partial of an async generator": functools.partial(stream),
    "bound method": Runs().run,
    "callable object": Callable1(),
    "callable object, async": Callable2(),
    "callable object, streaming": Callable3(),
    "object with run": Runs(),
    "object with run by names": ByNames(),
    "object with run by one name": ByName(),
    "object with run by any name": ByAnyName(),
    "object with run by a name and more": ByNameAndMore(),
    "object with run and options": WithOptions(),
    "object with a decorated run": Decorated(),
    "object with a run that a wrapper hides": DecoratedUnknown(),
    "function of any names": lambda **inputs: function(inputs),
    "function of names alone": lambda *, message, context: function({"message": message}),
    "function with a default": lambda payload, word="x": function(payload),
    "function of any arguments": logged(function),
    "decorated function": known(function),
    "decorated coroutine function": known(coroutine),
    "partial of a callable object": functools.partial(Callable2()),
    "object with arun and run": RunsLater(),
    "runnable": RunnableLambda(function),
    "runnable, async": RunnableLambda(coroutine),
    "prompt and model": PROMPT | FakeListChatModel(responses=[AS_JSON]) | JsonOutputParser(),
    "model and parser": FakeListChatModel(responses=[AS_JSON]) | JsonOutputParser(),
    "graph over messages": chained(answer_in_messages, state=Moody).compile(),
    "graph over a state of its own": chained(function, state=Own).compile(),
    "graph over both": chained(
        lambda state: {"messages": [AIMessage("thinking")]},
        lambda state: {**HEARD},
        state=Mixed,
    ).compile(),
    "graph with a saver": chained(function, state=Own).compile(checkpointer=InMemorySaver()),
}


@pytest.mark.parametrize("kind", KINDS)
async def test_an_agent_may_be_a(kind: str, solo: Any) -> None:
    chat = await solo(KINDS[kind])

    assert await chat.says("hello") == "heard hello"
    assert chat.context == {"mood": "good"}
    assert chat.last.metadata["flags"] == []


@pytest.mark.parametrize(
    "agent",
    [
        PROMPT | FakeListChatModel(responses=["one", "two"]),
        PROMPT | FakeListChatModel(responses=["one", "two"]) | StrOutputParser(),
        FakeListChatModel(responses=["one", "two"]),
        FakeListChatModel(responses=["one", "two"]).with_retry(),
        FakeListChatModel(responses=["one", "two"]).bind(stop=["x"]),
        FakeListChatModel(responses=["one", "two"]) | StrOutputParser(),
    ],
)
async def test_a_model_is_asked_with_the_talk_so_far(agent: Any, solo: Any) -> None:
    chat = await solo(agent)

    assert [await chat.says("a"), await chat.says("b")] == ["one", "two"]


async def test_a_graph_over_messages_is_given_the_talk_so_far(solo: Any) -> None:
    def count(state: dict[str, list[AnyMessage]]) -> Payload:
        said = [f"{message.type}: {message.content}" for message in state["messages"]]
        return {"messages": [AIMessage(" | ".join(said))]}

    chat = await solo(chained(count).compile())

    await chat.says("one")
    assert await chat.says("two") == "human: one | ai: human: one | human: two"


async def test_a_graph_that_says_nothing_repeats_nobody(solo: Any) -> None:
    chat = await solo(function)
    await chat.says("one")
    chat.journey.register_agent("clerk", chained(lambda state: {}).compile())

    assert await chat.says("hello") == ""
    assert chat.last.metadata["flags"] == ["no_reply:talk"]


async def test_a_graph_may_take_more_steps_than_a_turn_has(solo: Any) -> None:
    steps = [lambda state: {"messages": [AIMessage("done")]} for _ in range(60)]
    chat = await solo(chained(*steps).compile())

    assert await chat.says("hello") == "done"


async def test_a_graph_keeps_the_limit_that_it_was_given(solo: Any) -> None:
    steps = [lambda state: {"messages": [AIMessage("done")]} for _ in range(20)]
    chat = await solo(chained(*steps).compile().with_config(recursion_limit=10))

    await chat.says("hello")

    assert "Recursion limit of 10 reached" in reason(chat)


@pytest.mark.parametrize(
    "wrong", [None, 3, "clerk", {"run": 1}, object(), Runs, RunnableLambda, chained(function)]
)
async def test_what_cannot_be_called_is_refused_at_the_start(wrong: Any, solo: Any) -> None:
    with pytest.raises(ConfigurationError, match="Agent 'clerk' is"):
        await solo(wrong)


async def test_a_class_is_not_its_instance(solo: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"Agent 'clerk' is the class Runs\. Give an inst"):
        await solo(Runs)


# Threads and the loop.


async def test_a_sync_agent_runs_in_a_thread_and_others_go_on(solo: Any) -> None:
    begun, gate = threading.Event(), threading.Event()
    ticks: list[int] = []

    def slow(payload: Payload) -> str:
        begun.set()
        assert gate.wait(110), "the loop stood still, so nobody opened the gate"
        return threading.current_thread().name

    async def other() -> None:
        for tick in range(100):
            ticks.append(tick)
            await asyncio.sleep(0)
        await asyncio.to_thread(begun.wait, 110)
        gate.set()

    chat = await solo(slow)
    said, _ = await asyncio.gather(chat.says("hello"), other())

    assert len(ticks) == 100
    assert said == "agent-clerk"


async def test_a_generator_is_heard_while_it_speaks(solo: Any) -> None:
    chat = await solo(stream)

    events = [event async for event in chat.journey.stream_message("hello")]

    assert [event.data["text"] for event in events if event.type == "token"] == ["heard ", "hello"]
    assert events[-1].data["response"].message == "heard hello"


# What it may give back.


class Wish(BaseModel):
    response: str = "heard hello"
    mood: str = "good"
    day: date = date(2026, 5, 1)
    content: str = "a field of that name makes it no message"


@pytest.mark.parametrize(
    "result",
    [
        HEARD,
        Wish(),
        {"messages": [{"role": "assistant", "content": "heard hello"}], "mood": "good"},
        {"messages": [HumanMessage("?"), AIMessage("heard hello")], "mood": "good"},
        {"response": AIMessage("heard hello"), "mood": "good"},
        {"response": {"role": "assistant", "content": "heard hello"}, "mood": "good"},
        {"response": [{"type": "text", "text": "heard "}, "hello"], "mood": "good"},
    ],
)
async def test_a_result_names_its_outputs(result: Any, solo: Any) -> None:
    chat = await solo(lambda payload: result)

    assert await chat.says("hello") == "heard hello"
    assert chat.context == {"mood": "good"}


@pytest.mark.parametrize(
    "result",
    [
        "heard hello",
        AIMessage("heard hello"),
        AIMessage([{"type": "text", "text": "heard "}, {"type": "text", "text": "hello"}]),
        {"role": "assistant", "content": "heard hello"},
    ],
)
async def test_text_and_messages_are_the_response(result: Any, solo: Any) -> None:
    chat = await solo(lambda payload: result)

    assert await chat.says("hello") == "heard hello"


@pytest.mark.parametrize(
    "result", [None, {}, {"response": None, "mood": None}, {"mood": "before"}, ""]
)
async def test_none_is_skipped_and_silence_is_flagged(result: Any, solo: Any) -> None:
    chat = await solo(lambda payload: result, context={"mood": "before"})

    assert await chat.says("hello") == ""
    assert chat.context == {"mood": "before"}
    assert chat.last.metadata["flags"] == ["no_reply:talk"]


@pytest.mark.parametrize("result", [("a", "b"), ["a"], 3, True, b"text", {"a"}, object()])
async def test_anything_else_fails_the_turn_with_its_type(result: Any, solo: Any) -> None:
    chat = await solo(lambda payload: result)
    await chat.says("hello")

    assert reason(chat).startswith("Pathway 'talk', agent 'clerk': TypeError: it returned ")
    assert type(result).__name__ in reason(chat)


def numbers(payload: Payload) -> Iterator[str]:
    yield "one"


async def test_a_plain_generator_is_refused(solo: Any) -> None:
    chat = await solo(numbers)
    await chat.says("hello")

    assert "it returned generator" in reason(chat)


@pytest.mark.parametrize(
    ("outputs", "path"),
    [
        ({"unused": object()}, "outputs.unused is of type object"),
        ({"response": {"a": "dict"}}, "its response is of type dict"),
        ({"messages": [("ai", "text")]}, "its messages contain tuple"),
    ],
)
async def test_what_is_not_plain_is_refused_with_the_path(
    outputs: Payload, path: str, solo: Any
) -> None:
    chat = await solo(lambda payload: {"response": "fine", **outputs})
    if "messages" in outputs:
        chat.journey.register_agent("clerk", lambda payload: outputs)
    await chat.says("hello")

    assert path in reason(chat)
    assert chat.context == {}


class Patient(BaseModel):
    name: str
    born: date


async def test_a_declared_model_may_be_returned_as_an_object(solo: Any) -> None:
    class Clinic(Journey):
        class IntakePath(Pathway):
            __signature__ = Signature.define(
                "Intake",
                inputs={"said": (str, InputField(desc="message"))},
                outputs={"patient": (Patient, OutputField(desc="who it is"))},
            )
            __agents__ = ["clerk"]
            __accumulate__ = ["patient"]

    chat = await solo(lambda _: {"patient": Patient(name="Ada", born=date(1990, 1, 2))}, Clinic)
    await chat.says("I am Ada")

    assert chat.context == {"patient": {"name": "Ada", "born": "1990-01-02"}}


# What it is given.


class Order(Signature):
    """Take the order."""

    said: str = InputField(desc="first required text: gets the message")
    dish: str = InputField(desc="from the context, or empty")
    guests: int = InputField(desc="nothing fills it")
    notes: str = InputField(desc="a default", default="none")
    table: str | None = InputField(desc="no table is a table, too", default=None)
    words: str = InputField(desc="the message by source", source="message")
    talk: list = InputField(desc="the talk so far", source="history")
    everything: dict = InputField(desc="all that is known", source="context")
    response: str = OutputField(desc="reply")


def recorder(given: list[Payload]) -> Callable[[Payload], str]:
    def record(payload: Payload) -> str:
        given.append(payload)
        return "ok"

    return record


class Restaurant(Journey):
    class OrderPath(Pathway):
        __signature__ = Order
        __agents__ = ["clerk"]
        __accumulate__ = ["dish"]
        __complete_when__ = NEVER


async def test_each_input_is_filled_by_its_source_the_context_the_message_or_nothing(
    solo: Any,
) -> None:
    """DESIGN.md section 4, row Which input gets the message; issue 2, part 5."""
    given: list[Payload] = []
    chat = await solo(recorder(given), Restaurant)

    await chat.says("soup please")
    await chat.says("for two")

    context: Payload = {}
    history = [
        {"role": "user", "content": "soup please"},
        {"role": "assistant", "content": "ok"},
    ]
    assert given[1] == {
        "message": "for two",
        "context": context,
        "history": history,
        "said": "for two",
        "dish": "",
        "guests": 0,
        "notes": "none",
        "table": None,
        "words": "for two",
        "talk": history,
        "everything": context,
    }
    assert chat.last.metadata["flags"] == ["empty_input:dish", "empty_input:guests"]


async def test_a_context_value_comes_before_message_and_default(solo: Any) -> None:
    given: list[Payload] = []
    known = {"said": "from before", "dish": "soup", "guests": 2, "notes": "no salt"}
    chat = await solo(recorder(given), Restaurant, context=known)

    await chat.says("hello")

    assert {name: given[0][name] for name in known} == known
    assert chat.last.metadata["flags"] == []


async def test_what_an_agent_does_to_what_it_is_given_changes_nothing(solo: Any) -> None:
    def vandal(payload: Payload) -> str:
        payload["context"]["mood"]["deep"].append("spoiled")
        payload["history"].clear()
        payload.clear()
        return "done"

    chat = await solo(vandal, context={"mood": {"deep": []}})
    await chat.says("one")
    await chat.says("two")

    assert chat.context == {"mood": {"deep": []}}
    state = await chat.journey.get_session_state()
    assert [entry["content"] for entry in state.conversation_history] == [
        "one",
        "done",
        "two",
        "done",
    ]


async def test_in_a_sequence_each_is_given_what_those_before_found(
    talk: Any, memory_url: str
) -> None:
    class Line(Journey):
        class WorkPath(Pathway):
            __agents__ = ["first", "second", "third"]
            __accumulate__ = ["seen"]

    given: dict[str, Payload] = {}

    def worker(name: str, result: Payload) -> Callable[[Payload], Payload]:
        def work(payload: Payload) -> Payload:
            given[name] = copy.deepcopy(payload)
            payload.get("list", []).append("spoiled")
            return result

        return work

    agents = {
        "first": worker("first", {"list": [1], "a": 1, "response": "draft", "message": "no"}),
        "second": worker("second", {"a": 2, "b": None, "seen": "by second"}),
        "third": worker("third", {"response": "final"}),
    }
    chat = await talk(Line, agents, memory_url)

    assert await chat.says("hello") == "final"
    assert given["second"] | {"context": {}, "history": []} == given["second"]
    assert {name: given["third"].get(name) for name in ("list", "a", "b", "response")} == {
        "list": [1],
        "a": 2,
        "b": None,
        "response": "draft",
    }
    assert [payload["message"] for payload in given.values()] == ["hello"] * 3
    assert chat.context == {"seen": "by second"}


# --- what cannot be called as an agent is ---------------------------------------------------------


class RunsAlone:
    def run(self) -> str:
        return "done"


class ByPlace:
    def run(self, one: str, two: str, /) -> str:
        return one + two


WRONG: dict[str, tuple[Any, str]] = {
    "no argument": (lambda: "x", r"takes \(\);.*Write agent\(payload\)"),
    "two arguments": (lambda message, context: "x", r"takes \(message, context\);"),
    "a partial with one left over": (functools.partial(lambda a, b, c: "x", 1), r"takes \(b, c\)"),
    "a callable object of two": (
        type("Two", (), {"__call__": lambda self, a, b: "x"})(),
        r"takes \(a, b\)",
    ),
    "a run of nothing": (
        RunsAlone(),
        r"RunsAlone, whose run takes \(\) -> .*run\(self, \*\*inputs\)",
    ),
    "a run by place": (ByPlace(), r"whose run takes \(one: "),
}


@pytest.mark.parametrize("kind", WRONG)
async def test_what_takes_other_arguments_is_refused_where_it_is_registered(
    kind: str, solo: Any
) -> None:
    agent, why = WRONG[kind]
    chat = await solo(function)

    with pytest.raises(ConfigurationError, match=f"Agent 'clerk' is .*{why}"):
        chat.journey.register_agent("clerk", agent)
    with pytest.raises(ConfigurationError, match=why):
        Pipeline.router([agent])


async def test_a_name_that_nothing_gives_fails_the_agent_and_is_named(solo: Any) -> None:
    class Analyst:
        def run(self, message: str, budget: int) -> str:
            raise AssertionError("never called")

    chat = await solo(Analyst())

    await chat.says("hello")
    assert "it takes budget, which have no values here; it was given: message," in reason(chat)


async def test_a_pipeline_gives_its_inputs_by_name() -> None:
    class Analyst:
        agent_id = "analyst"

        async def run(self, task: str, region: str = "north") -> Payload:
            return {"response": f"{task} in the {region}"}

    result = await Pipeline.sequential([Analyst()]).run(task="Count", region="south")

    assert result["response"] == "Count in the south"
    assert result["pipeline"]["results"][0]["agent"] == "analyst"


# --- cards of their own ---------------------------------------------------------------------------


class Capability:
    """As other libraries have them."""

    name = "forecasts"
    description = "Forecasts sales"
    keywords = ("sales",)
    examples = ("How will March be?",)


class OtherCard:
    agent_name = "forecaster"
    description = "Looks ahead."
    primary_capabilities = (Capability(),)


SKILL = Skill("forecasts", "Forecasts sales", ["How will March be?"], ["sales"])
CARDS: dict[str, Any] = {
    "ours": AgentCard("forecaster", "Looks ahead.", [SKILL]),
    "of another library": OtherCard(),
    "plain data": {
        "name": "forecaster",
        "description": "Looks ahead.",
        "skills": [
            {
                "id": "f",
                "name": "forecasts",
                "description": "Forecasts sales",
                "tags": ["sales"],
                "examples": ["How will March be?"],
            }
        ],
        "defaultInputModes": ["text/plain"],
    },
    "of the SDK": to_a2a(AgentCard("forecaster", "Looks ahead.", [SKILL]), "http://one.example"),
}


@pytest.mark.parametrize("kind", CARDS)
async def test_to_a2a_card_of_an_object_is_its_card(kind: str) -> None:
    class Analyst:
        def to_a2a_card(self) -> Any:
            return CARDS[kind]

        def run(self, **inputs: Any) -> str:
            return "It will rain."

    other = Agent(lambda payload: "No.", name="other", skills=[Skill("poems")])

    card = Agent(Analyst()).card
    assert card == AgentCard("forecaster", "Looks ahead.", [SKILL])
    result = await Pipeline.router([other, Analyst()]).run(task="Forecast the sales of March")
    assert result["response"] == "It will rain."
    assert Agent(Analyst(), name="x", description="y").card == AgentCard("x", "y", [SKILL])


@pytest.mark.parametrize("given", [None, 7, {}, {"skills": [{}]}, ValueError("no card today")])
def test_a_card_that_is_none_is_refused(given: Any) -> None:
    class Analyst:
        def to_a2a_card(self) -> Any:
            if isinstance(given, Exception):
                raise given
            return given

        def run(self, **inputs: Any) -> str:
            return "never"

    with pytest.raises(ConfigurationError, match=r"to_a2a_card\(\) gives no card"):
        Agent(Analyst())
