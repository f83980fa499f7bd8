"""Agents: what they are given, what they may be, what they may give back (DESIGN.md section 4)."""

from __future__ import annotations

import asyncio
import functools
import threading
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langgraph.graph import END, START, MessagesState, StateGraph
from pydantic import BaseModel

from journeygraph import (
    NEVER,
    AgentNotRegisteredError,
    ConfigurationError,
    InputField,
    Journey,
    JourneyConfig,
    OutputField,
    Pathway,
    SessionNotStartedError,
    Signature,
)
from tests.support.clerks import gives, staff

APOLOGY = "Sorry, something went wrong on our side. Nothing was lost; please try again."


class Order(Signature):
    """Note what a guest wants to eat."""

    words: str = InputField(description="What the guest just said", source="message")
    before: list = InputField(description="The talk so far", source="history")
    known: dict = InputField(description="All that is known", source="context")
    table: str = InputField(description="The table")
    waiter: str = InputField(default="Kim", description="Who serves")
    tags: list = InputField(default=[], description="Remarks")
    dish: str = OutputField(description="What is ordered")
    guests: int = OutputField(description="For how many")
    sides: list[str] = OutputField(description="What goes with it")
    note: str | None = OutputField(description="Anything else")


class Restaurant(Journey):
    """Serve a table."""

    class OrderPath(Pathway):
        __signature__ = Order
        __agents__ = ["waiter"]
        __accumulate__ = ["dish", "guests", "sides", "note", "wine"]
        __complete_when__ = NEVER


def one_agent() -> type[Journey]:
    class Solo(Journey):
        class TalkPath(Pathway):
            __agents__ = ["speaker"]
            __accumulate__ = ["mood"]
            __complete_when__ = NEVER

    return Solo


async def alone(talk: Any, url: str, agent: Any, **options: Any) -> Any:
    return await talk(one_agent(), {"speaker": agent}, url, **options)


# --- Agents not registered ----------------------------------------------------------------------


class Crew(Journey):
    """A trip with several who help."""

    class PackPath(Pathway):
        __agents__ = ["packer", "driver"]
        __next__ = "go"

    class GoPath(Pathway):
        __agents__ = ["driver", "guide"]


async def test_start_names_every_missing_agent_at_once(memory_url):
    """Agents not registered."""
    async with Crew("s-1", JourneyConfig(persistence=memory_url)) as journey:
        journey.register_agent("packer", gives())
        with pytest.raises(AgentNotRegisteredError, match=r"'driver' \(in pack, go\); 'guide'"):
            await journey.start()
        with pytest.raises(SessionNotStartedError):
            await journey.get_session_state() or await journey.process_message("hello")

        journey.manager.register_agent("driver", gives())
        journey.register_agent("guide", gives())
        session = await journey.start()

    assert session.current_pathway_id == "pack"


async def test_a_restored_session_asks_for_its_agents_at_the_first_message(talk, memory_url):
    """Agents not registered: for a restored session its first message."""
    chat = await talk(Crew, staff(Crew), memory_url)
    again = await Crew.restore("s-1", chat.journey.config)
    async with again:
        with pytest.raises(AgentNotRegisteredError, match=r"packer.*driver.*guide"):
            await again.process_message("hello")
        assert len(await again.versions()) == 1

        for name, agent in staff(Crew).items():
            again.register_agent(name, agent)
        assert (await again.process_message("hello")).message == "driver: hello"


async def test_restoring_with_some_agents_only_is_refused(talk, memory_url):
    """Agents not registered: or `restore(agents=)`."""
    chat = await talk(Crew, staff(Crew), memory_url)

    with pytest.raises(AgentNotRegisteredError, match=r"'driver'.*'guide'"):
        await Crew.restore("s-1", chat.journey.config, agents={"packer": gives()})


def test_a_name_that_no_pathway_uses_is_refused_with_a_hint(memory_url):
    """Agents not registered; a name too many is a slip."""
    journey = Crew("s-1", JourneyConfig(persistence=memory_url))

    with pytest.raises(AgentNotRegisteredError, match="Did you mean 'packer'"):
        journey.register_agent("paker", gives())
    with pytest.raises(AgentNotRegisteredError, match="Did you mean 'guide'"):
        Crew("s-2", JourneyConfig(persistence=memory_url), agents={"giude": gives()})


async def test_an_agent_registered_anew_takes_the_place_of_the_first(talk, memory_url):
    chat = await alone(talk, memory_url, lambda payload: "first")
    await chat.says("hello")
    chat.journey.register_agent("speaker", lambda payload: "second")

    assert await chat.says("hello") == "second"


@pytest.mark.parametrize("agent", [None, 7, "waiter", {"run": 1}])
async def test_what_cannot_be_called_is_refused_at_once(memory_url, agent):
    async with one_agent()("s-1", JourneyConfig(persistence=memory_url)) as journey:
        with pytest.raises(ConfigurationError, match="'speaker'"):
            journey.register_agent("speaker", agent)


# --- Which input gets the message; Function agents: what they are given -------------------------


async def given(talk: Any, url: str, *messages: str, **options: Any) -> dict[str, Any]:
    """What the waiter is given with the last message."""
    seen: list[dict[str, Any]] = []

    def waiter(payload: dict[str, Any]) -> str:
        seen.append(payload)
        return "very well"

    chat = await talk(Restaurant, {"waiter": waiter}, url, **options)
    for words in messages:
        await chat.says(words)
    return seen[-1]


async def test_an_agent_is_given_message_context_history_and_its_inputs(talk, memory_url):
    """Function agents; the others give neither inputs nor defaults."""
    got = await given(talk, memory_url, "a table", "soup, please", context={"table": "window"})

    history = [
        {"role": "user", "content": "a table"},
        {"role": "assistant", "content": "very well"},
    ]
    assert got == {
        "message": "soup, please",
        "context": {"table": "window"},
        "history": history,
        "words": "soup, please",
        "before": history,
        "known": {"table": "window"},
        "table": "window",
        "waiter": "Kim",
        "tags": [],
    }


async def test_an_input_without_source_is_first_of_all_the_context_value(talk, memory_url):
    """Which input gets the message: a context value of that name."""
    got = await given(
        talk, memory_url, "hello", context={"table": "5", "waiter": "Lou", "tags": [1]}
    )

    assert (got["table"], got["waiter"], got["tags"]) == ("5", "Lou", [1])


async def test_the_first_required_text_input_gets_the_message(talk, memory_url):
    """Which input gets the message: else the first required text input."""
    got = await given(talk, memory_url, "hello", context={"waiter": None})

    assert (got["table"], got["waiter"]) == ("hello", "Kim")


async def test_what_an_agent_does_to_a_default_changes_nothing(talk, memory_url):
    def waiter(payload: dict[str, Any]) -> str:
        payload["tags"].append("mine")
        return str(payload["tags"])

    chat = await talk(Restaurant, {"waiter": waiter}, memory_url)

    assert [await chat.says("one"), await chat.says("two")] == ["['mine']", "['mine']"]


class Everything(Signature):
    number_of: int = InputField(description="a number")
    first: str = InputField(description="text")
    second: str = InputField(description="more text")
    ratio: float = InputField(description="a share")
    sure: bool = InputField(description="yes or no")
    items: list[str] = InputField(description="a list")
    facts: dict[str, int] = InputField(description="a dict")
    message: str = InputField(description="named like what everyone is given")
    response: str = OutputField(description="the answer")


async def test_a_required_input_that_nothing_fills_is_empty_and_flagged(talk, memory_url):
    """Which input gets the message; issue, part 5: the type's empty value, flagged."""

    class Form(Journey):
        class FillPath(Pathway):
            __signature__ = Everything
            __agents__ = ["clerk"]

    got: dict[str, Any] = {}
    chat = await talk(Form, {"clerk": lambda payload: got.update(payload) or "ok"}, memory_url)
    await chat.says("hello")

    assert (got["first"], got["message"]) == ("hello", "hello")
    empty = {"number_of": 0, "second": "", "ratio": 0.0, "sure": False, "items": [], "facts": {}}
    assert {name: got[name] for name in empty} == empty
    assert chat.last.metadata["flags"] == [f"empty_input:{name}" for name in empty]


# --- Function agents: what they give back -------------------------------------------------------


async def test_an_agent_may_give_part_of_its_outputs_and_more_than_them(talk, memory_url):
    """Function agents: what is accumulated is kept."""
    agent = gives(dish="soup", note=None, wine="red", gossip="none of it", response="coming")
    chat = await talk(Restaurant, {"waiter": agent}, memory_url)

    assert await chat.says("soup") == "coming"
    assert chat.context == {"dish": "soup", "wine": "red"}


@pytest.mark.parametrize(
    ("output", "name"),
    [
        ({"guests": "many"}, "guests"),
        ({"dish": {"name": "soup"}}, "dish"),
        ({"dish": 3}, "dish"),
        ({"sides": "bread"}, "sides"),
        ({"sides": ["bread", 1]}, "sides"),
    ],
)
async def test_an_output_of_another_type_than_declared_fails_the_turn(
    talk, memory_url, output, name
):
    """Function agents: types are checked where the signature declares them."""
    chat = await talk(Restaurant, {"waiter": gives(**output, wine="red")}, memory_url)

    assert await chat.says("soup") == APOLOGY
    error = chat.last.metadata["error"]
    assert error["type"] == "PathwayExecutionError"
    assert f"'{name}'" in error["message"]
    assert "'order'" in error["message"]
    assert chat.context == {}


async def test_what_is_not_declared_may_be_of_any_type(talk, memory_url):
    """Function agents."""
    chat = await talk(Restaurant, {"waiter": gives(wine=["red", 2])}, memory_url)
    await chat.says("wine")

    assert chat.context == {"wine": ["red", 2]}


class Wish(BaseModel):
    response: str
    mood: str | None = None


class Later:
    def __init__(self, method: str) -> None:
        setattr(self, method, self._answer)

    async def _answer(self, payload: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"response": f"heard {payload['message']}", "mood": "good"}


class Now:
    def run(self, payload: dict[str, Any]) -> dict[str, Any]:
        return {"response": f"heard {payload['message']}", "mood": "good"}


class Called:
    def __call__(self, payload: dict[str, Any]) -> dict[str, Any]:
        return Now().run(payload)


class CalledLater:
    async def __call__(self, payload: dict[str, Any]) -> dict[str, Any]:
        return Now().run(payload)


async def coroutine(payload: dict[str, Any]) -> dict[str, Any]:
    return Now().run(payload)


async def generator(payload: dict[str, Any]) -> Any:
    yield "heard "
    yield {"mood": "good"}
    yield payload["message"]


def with_words(words: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"response": f"{words} {payload['message']}", "mood": "good"}


def graph() -> Any:
    class State(MessagesState):
        mood: str

    def answer(state: State) -> dict[str, Any]:
        said = state["messages"][-1].content
        return {"messages": [AIMessage(f"heard {said}")], "mood": "good"}

    built = StateGraph(State)
    built.add_node("answer", answer)
    built.add_edge(START, "answer")
    built.add_edge("answer", END)
    return built.compile()


AGENTS = {
    "function": Now().run,
    "coroutine": coroutine,
    "lambda of a coroutine": lambda payload: coroutine(payload),
    "partial": functools.partial(with_words, "heard"),
    "partial of a coroutine": functools.partial(coroutine),
    "callable object": Called(),
    "callable object, async": CalledLater(),
    "object with run": Now(),
    "object with an async run": Later("run"),
    "object with arun": Later("arun"),
    "async generator": generator,
    "runnable": RunnableLambda(Now().run),
    "graph": graph(),
    "model": lambda payload: Wish(response=f"heard {payload['message']}", mood="good"),
}


@pytest.mark.parametrize("kind", AGENTS)
async def test_an_agent_is_anything_that_maps_inputs_to_outputs(talk, memory_url, kind):
    """Function agents; an async `run` of others is never awaited, and nothing is said."""
    chat = await alone(talk, memory_url, AGENTS[kind])

    assert await chat.says("hello") == "heard hello"
    assert chat.context == {"mood": "good"}
    assert chat.last.metadata["error"] is None


@pytest.mark.parametrize(
    "result",
    [
        "heard it",
        {"response": "heard it"},
        AIMessage("heard it"),
        AIMessage([{"type": "text", "text": "heard "}, {"type": "text", "text": "it"}]),
        {"messages": [HumanMessage("?"), AIMessage("heard it")]},
        {"messages": [{"role": "assistant", "content": "heard it"}]},
        Wish(response="heard it"),
    ],
    ids=lambda result: type(result).__name__,
)
async def test_a_reply_may_be_text_a_dict_or_a_message(talk, memory_url, result):
    """Function agents."""
    chat = await alone(talk, memory_url, lambda payload: result)

    assert await chat.says("hello") == "heard it"
    assert chat.context == {}


async def test_a_chat_model_is_given_the_talk(talk, memory_url):
    model = GenericFakeChatModel(messages=iter(["good morning", "good night"]))
    chat = await alone(talk, memory_url, model)

    assert [await chat.says("hello"), await chat.says("bye")] == ["good morning", "good night"]


@pytest.mark.parametrize(
    "result", [["a", "list"], 7, (1, 2), object()], ids=["list", "number", "tuple", "object"]
)
async def test_what_no_agent_may_give_back_fails_the_turn_and_says_so(talk, memory_url, result):
    """Function agents; a result that is no dict ends others with a TypeError."""
    chat = await alone(talk, memory_url, lambda payload: result)

    assert await chat.says("hello") == APOLOGY
    assert f"returned {type(result).__name__}" in chat.last.metadata["error"]["message"]


@pytest.mark.parametrize("result", [None, {}, {"response": None}, {"mood": "quiet"}, ""])
async def test_an_agent_may_say_nothing_and_that_is_flagged(talk, memory_url, result):
    chat = await alone(talk, memory_url, lambda payload: result)

    assert await chat.says("hello") == ""
    assert chat.last.metadata["flags"] == ["no_reply:talk"]
    assert chat.last.metadata["error"] is None


async def test_a_pathway_without_agents_says_nothing(talk, memory_url):
    """A pathway without agents is allowed; others crash on the empty list."""

    class Pause(Journey):
        class WaitPath(Pathway):
            __next__ = "talk"

        class TalkPath(Pathway):
            __agents__ = ["speaker"]

    chat = await talk(Pause, staff(Pause), memory_url)

    assert [await chat.says("one"), await chat.says("two")] == ["", "speaker: two"]


# --- Several agents -----------------------------------------------------------------------------


def several(how: str) -> type[Journey]:
    class Team(Journey):
        class WorkPath(Pathway):
            __agents__ = ["first", "second", "third"]
            __pipeline__ = how
            __accumulate__ = ["a", "b", "c"]
            __complete_when__ = NEVER

    return Team


async def test_in_sequence_the_last_reply_counts_and_all_outputs_are_kept(talk, memory_url):
    """Several agents give `response`: sequential: the last; the others keep nothing at all."""
    agents = {
        "first": gives(response="one", a=1),
        "second": gives(response="two", b=2),
        "third": lambda payload: {"c": 3},
    }
    chat = await talk(several("sequential"), agents, memory_url)

    assert await chat.says("go") == "two"
    assert chat.context == {"a": 1, "b": 2, "c": 3}


async def test_in_sequence_each_sees_the_message_and_what_those_before_gave(talk, memory_url):
    """Function agents; in others the message is lost after the first step."""
    seen = []

    def agent(name: str) -> Any:
        def answer(payload: dict[str, Any]) -> dict[str, Any]:
            extra = payload.keys() - {"message", "context", "history"}
            seen.append((payload["message"], {key: payload[key] for key in extra}))
            return {name: [name], "response": name}

        return answer

    agents = {"first": agent("a"), "second": agent("b"), "third": agent("c")}
    chat = await talk(several("sequential"), agents, memory_url)
    await chat.says("go")

    assert seen == [
        ("go", {}),
        ("go", {"a": ["a"], "response": "a"}),
        ("go", {"a": ["a"], "b": ["b"], "response": "b"}),
    ]


async def test_in_parallel_the_replies_are_joined_in_declared_order(talk, memory_url):
    """Several agents give `response`: parallel: joined in declared order."""

    def after(seconds: float, **outputs: Any) -> Any:
        async def answer(payload: dict[str, Any]) -> dict[str, Any]:
            await asyncio.sleep(seconds)
            return outputs

        return answer

    agents = {
        "first": after(0.03, response="one", a=1),
        "second": after(0.0, b=2),
        "third": after(0.01, response="three", c=3),
    }
    chat = await talk(several("parallel"), agents, memory_url)

    assert await chat.says("go") == "one\n\nthree"
    assert chat.context == {"a": 1, "b": 2, "c": 3}


async def test_in_parallel_agents_run_at_the_same_time_on_the_same_inputs(talk, memory_url):
    """Several agents; each gets the pathway's inputs, none the outputs of another."""
    all_there = asyncio.Barrier(3)
    seen = []

    async def agent(payload: dict[str, Any]) -> str:
        await all_there.wait()
        seen.append(payload)
        return payload["message"]

    chat = await talk(
        several("parallel"), dict.fromkeys(several("parallel").spec.agents, agent), memory_url
    )

    assert await chat.says("go") == "go\n\ngo\n\ngo"
    assert seen == [{"message": "go", "context": {}, "history": []}] * 3


# --- Sync agents --------------------------------------------------------------------------------


async def test_a_sync_agent_runs_in_a_thread_and_does_not_block_the_loop(talk, memory_url):
    """Sync agents; in async ones, every other session would wait meanwhile."""
    here = threading.get_ident()
    threads: list[int] = []
    let = threading.Event()

    def slow(payload: dict[str, Any]) -> str:
        threads.append(threading.get_ident())
        let.wait()  # the loop alone lets it go on
        return "done"

    chat = await alone(talk, memory_url, slow)
    turn = asyncio.ensure_future(chat.says("hello"))
    while not threads:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    let.set()

    assert await turn == "done"
    assert threads != [here]


async def test_sync_agents_of_many_sessions_run_at_the_same_time(talk, memory_url):
    """Sync agents: not a pool whose places run out."""
    together = threading.Barrier(20)

    def agent(payload: dict[str, Any]) -> str:
        together.wait(110)
        return "all here"

    chats = [await alone(talk, memory_url, agent, session_id=f"s-{n}") for n in range(20)]

    assert await asyncio.gather(*(chat.says("hello") for chat in chats)) == ["all here"] * 20
