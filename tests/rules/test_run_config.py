"""Agents of a journey get the caller's arguments of LangGraph by LangGraph's own means."""

from __future__ import annotations

import contextlib
import sqlite3
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langgraph.cache.memory import InMemoryCache
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config, get_store
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.runtime import Runtime, get_runtime
from langgraph.store.memory import InMemoryStore

from journeygraph import (
    NEVER,
    ConfigurationError,
    IntentTrigger,
    Journey,
    JourneyConfig,
    Pathway,
    Pipeline,
    ReturnToPrevious,
    Transition,
)
from journeygraph.journeys.pipelines import PatternPipeline
from journeygraph.nodes.llm.scripted import Fault, ScriptedModel
from tests.support.model_shop import Say, Shop
from tests.support.solo import Solo

HELLO: Any = {"messages": [{"role": "user", "content": "hello"}]}


@dataclass
class Caller:
    """Who runs the graph."""

    name: str


class Seen:
    """What an agent sees of its run."""

    def __init__(self) -> None:
        self.store: Any = None
        self.config: dict[str, Any] = {}
        self.context: Any = None

    def look(self, payload: Any) -> str:
        self.store, self.config = get_store(), dict(get_config())
        self.context = get_runtime(Caller).context
        return "seen"

    async def look_later(self, payload: Any) -> str:
        return self.look(payload)

    async def stream(self, payload: Any) -> Any:
        yield self.look(payload)


def as_graph(seen: Seen) -> Any:
    def step(state: Any, runtime: Runtime[Caller]) -> Any:
        seen.look(None)
        assert runtime.context is seen.context
        return {"messages": [("ai", "seen")]}

    graph = StateGraph(MessagesState, context_schema=Caller)
    graph.add_node("step", step)
    graph.add_edge(START, "step")
    graph.add_edge("step", END)
    return graph.compile()


def nested(seen: Seen) -> PatternPipeline:
    return Pipeline.sequential([Pipeline.parallel([seen.look_later]).to_agent("inner")])


KINDS: dict[str, Any] = {
    "sync": lambda seen: seen.look,
    "async": lambda seen: seen.look_later,
    "a stream": lambda seen: seen.stream,
    "a graph": as_graph,
    "a pipeline": nested,
}


@pytest.mark.parametrize("kind", KINDS)
async def test_an_agent_sees_the_callers_store_configuration_and_context(kind: str) -> None:
    seen, store = Seen(), InMemoryStore()
    graph = Solo.compile(agents={"clerk": KINDS[kind](seen)}, store=store)

    config: Any = {"configurable": {"customer": "C-7"}, "metadata": {"langfuse_user_id": "u-1"}}
    caller = Caller("desk")
    told = await graph.ainvoke(HELLO, config, context=caller)

    assert len(told["messages"]) == 2
    assert seen.store is store
    assert seen.config["configurable"]["customer"] == "C-7"
    assert seen.config["metadata"]["langfuse_user_id"] == "u-1"
    assert seen.context is caller


async def test_the_agents_of_a_compiled_pipeline_see_them_too() -> None:
    seen, store = Seen(), InMemoryStore()
    graph = nested(seen).compile(store=store, checkpointer=InMemorySaver(), name="desk")

    caller = Caller("desk")
    config: Any = {"configurable": {"thread_id": "t-1", "customer": "C-7"}}
    await graph.ainvoke({"inputs": {"message": "hello"}}, config, context=caller)

    assert graph.name == "desk"
    assert (seen.store, seen.context) == (store, caller)
    assert seen.config["configurable"]["customer"] == "C-7"


async def test_a_context_given_as_a_dict_is_the_agents_too() -> None:
    seen: list[Any] = []

    def clerk(payload: Any) -> str:
        seen.append(get_runtime().context)
        return "seen"

    await Solo.compile(agents={"clerk": clerk}).ainvoke(HELLO, context={"tenant": "t-1"})

    assert seen == [{"tenant": "t-1"}]


async def test_an_agent_of_a_session_sees_no_services_of_ours_as_its_context(solo: Any) -> None:
    seen: list[Any] = []

    async def clerk(payload: Any) -> str:
        seen.append(get_runtime().context)
        return "seen"

    chat = await solo(clerk)

    assert (await chat.says("hello"), seen) == ("seen", [None])


async def test_what_an_agent_keeps_in_the_store_is_there_in_the_next_turn() -> None:
    async def clerk(payload: Any) -> str:
        store = get_store()
        known = await store.aget(("notes",), "last")
        await store.aput(("notes",), "last", {"said": payload["message"]})
        return f"before: {known.value['said']}" if known else "first"

    graph = Solo.compile(
        agents={"clerk": clerk}, store=InMemoryStore(), checkpointer=InMemorySaver()
    )
    config: Any = {"configurable": {"thread_id": "t-1"}}
    await graph.ainvoke(HELLO, config)
    state = await graph.ainvoke({"messages": [("user", "again")]}, config)

    assert state["turn"]["replies"] == ["before: hello"]


async def test_the_other_arguments_of_langgraphs_compile_are_honoured() -> None:
    graph = Solo.compile(
        agents={"clerk": lambda payload: "done"},
        checkpointer=InMemorySaver(),
        cache=InMemoryCache(),
        interrupt_before=["talk"],
        name="desk",
        debug=False,
    )
    config: Any = {"configurable": {"thread_id": "t-1"}}
    await graph.ainvoke(HELLO, config)
    assert (graph.name, (await graph.aget_state(config)).next) == ("desk", ("talk",))

    state = await graph.ainvoke(None, config)
    assert state["turn"]["replies"] == ["done"]


def test_an_argument_that_langgraph_does_not_have_is_refused() -> None:
    with pytest.raises(TypeError, match="stroe"):
        Solo.compile(agents={"clerk": lambda payload: "done"}, stroe=InMemoryStore())


@pytest.mark.parametrize("what", ["journey", "pipeline"])
def test_a_blocking_call_says_which_methods_to_use(what: str) -> None:
    agent = lambda payload: "done"  # noqa: E731
    graph = (
        Solo.compile(agents={"clerk": agent})
        if what == "journey"
        else Pipeline.sequential([agent]).compile()
    )
    calls = (
        lambda: graph.invoke(HELLO),
        lambda: list(graph.stream(HELLO)),
        lambda: graph.with_config(tags=["x"]).invoke(HELLO),
        lambda: graph.batch([HELLO]),
    )
    for call in calls:
        with pytest.raises(ConfigurationError, match=r"ainvoke.*astream"):
            call()


def test_a_blocking_call_of_a_graph_around_a_journey_says_it_too() -> None:
    around = StateGraph(MessagesState)
    around.add_node("desk", Solo.compile(agents={"clerk": lambda payload: "done"}))
    around.add_edge(START, "desk")

    with pytest.raises(ConfigurationError, match="ainvoke"):
        around.compile().invoke(HELLO)


# a session


class Tracer(AsyncCallbackHandler):
    """A tracer: takes note of each model call, and for whom it was made."""

    def __init__(self) -> None:
        self.models: list[Any] = []
        self.tags: list[set[str]] = []

    async def on_chat_model_start(
        self, serialized: Any, messages: Any, *, metadata: Any = None, tags: Any = None, **_: Any
    ) -> None:
        self.models.append((metadata or {}).get("langfuse_user_id"))
        self.tags.append(set(tags or ()))


class Clinic(Journey):
    """Understood, answered and checked by a model."""

    class TalkPath(Pathway):
        __signature__ = Say
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

    class HelpPath(Pathway):
        __signature__ = Say
        __agents__ = ["clerk"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(IntentTrigger(description="wants help"), to_pathway="help")]


async def test_every_model_call_of_a_turn_knows_the_callers_metadata(
    talk: Any, memory_url: str
) -> None:
    tracer = Tracer()
    model = ScriptedModel(always={"response": "Hello."})
    chat = await talk(Clinic, {}, memory_url, options={"model": model})

    given = {"metadata": {"langfuse_user_id": "u-1"}, "tags": ["vip"], "callbacks": [tracer]}
    await chat.journey.process_message("hello", **given)

    assert len(model.calls) >= 2  # what it understands, and what it answers
    assert tracer.models == ["u-1"] * len(model.calls)
    assert all("vip" in tags for tags in tracer.tags)

    events = [event async for event in chat.journey.stream_message("and now?", **given)]
    assert events[-1].type == "done"
    assert tracer.models == ["u-1"] * len(model.calls)

    await chat.says("without")
    assert len(tracer.models) < len(model.calls)


async def test_an_answer_without_the_journey_knows_them_too(talk: Any, memory_url: str) -> None:
    class Free(Shop):
        __degrade__ = "freeform"

    tracer = Tracer()
    model = ScriptedModel(Fault.status(400), {"response": "Sorry, what was that?"})
    chat = await talk(Free, {}, memory_url, options={"model": model})

    given = {"metadata": {"langfuse_user_id": "u-1"}, "callbacks": [tracer]}
    reply = await chat.journey.process_message("hello", **given)

    assert "failed" in reply.metadata["flags"]
    assert tracer.models == ["u-1", "u-1"]


async def test_agents_and_their_models_see_the_metadata_of_the_turn(solo: Any) -> None:
    seen: list[Any] = []

    def clerk(payload: Any) -> str:
        seen.append(get_config()["metadata"].get("user"))
        return "seen"

    chat = await solo(clerk)
    await chat.journey.process_message("hello", metadata={"user": "u-1"})
    await chat.says("hello")

    assert seen == ["u-1", None]


async def test_metadata_is_not_stored(kept_url: str, talk: Any) -> None:
    secret = f"secret-{uuid.uuid4().hex}"
    chat = await talk(Solo, {"clerk": lambda payload: "done"}, kept_url)
    await chat.journey.process_message("hello", metadata={"user": secret}, tags=[secret])
    await chat.journey.close()

    assert secret not in await dumped(kept_url)


async def test_metadata_is_not_stored_in_a_saver_of_the_users(solo: Any) -> None:
    saver = InMemorySaver()
    chat = await solo(lambda payload: "done", options={"saver": saver})
    await chat.journey.process_message("hello", metadata={"user": "u-secret"})

    listed = [found async for found in saver.alist(None)]
    assert len(listed) == 2
    assert "u-secret" not in repr(listed)


async def dumped(url: str) -> str:
    """All that a database holds, as text."""
    if url.startswith("sqlite"):
        path = Path(url.removeprefix("sqlite:///"))
        with contextlib.closing(sqlite3.connect(path)) as connection:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
            names = [name for (name,) in tables.fetchall()]
            return repr([connection.execute(f'SELECT * FROM "{n}"').fetchall() for n in names])
    import psycopg  # noqa: PLC0415

    async with await psycopg.AsyncConnection.connect(url) as connection:
        found = await connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
        )
        names = [name for (name,) in await found.fetchall()]
        rows = [
            await (await connection.execute(f'SELECT t.*::text FROM "{name}" t')).fetchall()
            for name in names
        ]
        return repr(rows)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"metadata": "u-1"}, "metadata must be a dict"),
        ({"metadata": {1: "u-1"}}, "metadata must be a dict"),
        ({"tags": "vip"}, "tags must be a list"),
        ({"callbacks": [print]}, "callbacks must be LangChain callback handlers"),
    ],
)
async def test_what_no_tracer_could_be_given_is_refused(
    given: dict[str, Any], said: str, solo: Any
) -> None:
    chat = await solo(lambda payload: "done")

    with pytest.raises(ConfigurationError, match=said):
        await chat.journey.process_message("hello", **given)
    with pytest.raises(ConfigurationError, match=said):
        chat.journey.stream_message("hello", **given)
    assert len(await chat.journey.versions()) == 1


async def test_a_session_within_an_agent_has_its_own_services(memory_url: str) -> None:
    """A journey whose agent talks to a session of another journey."""
    inner = Solo("inner", JourneyConfig(persistence=memory_url), agents={"clerk": lambda p: "in"})
    await inner.start()

    async def clerk(payload: Any) -> str:
        return (await inner.process_message(payload["message"])).message + "side"

    outer = Solo("outer", JourneyConfig(persistence=memory_url), agents={"clerk": clerk})
    await outer.start()
    assert (await outer.process_message("hello")).message == "inside"
    await inner.close()
    await outer.close()


async def test_the_edges_of_a_turn_are_no_runs_of_a_trace() -> None:
    class Tracer(AsyncCallbackHandler):
        def __init__(self) -> None:
            self.begun: list[str] = []

        async def on_chain_start(self, *_: Any, name: str = "", **__: Any) -> None:
            self.begun.append(name)

    tracer = Tracer()
    graph = Solo.compile(agents={"clerk": lambda payload: "fine"})

    config: Any = {"callbacks": [tracer]}
    await graph.ainvoke(HELLO, config)

    assert tracer.begun[:2] == [Solo.spec.id, "understand"]
    assert tracer.begun[-1] == "settle"
    assert not {"route", "onward"} & set(tracer.begun)


async def test_a_fork_behind_the_decision_goes_on_along_the_same_edge() -> None:
    graph = Solo.compile(agents={"clerk": lambda payload: "fine"}, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t-1"}}
    await graph.ainvoke(HELLO, config, interrupt_after=["understand"])
    state = await graph.aget_state(config)

    fork = await graph.aupdate_state(config, {"turn": state.values["turn"]}, as_node="understand")
    assert (await graph.aget_state(fork)).next == (Solo.spec.entry,)

    told = await graph.ainvoke(None, fork)
    assert told["messages"][-1].content == "fine"
