"""A pathway's only agent, or its open form, needs no run of the subgraph that nobody sees."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config, get_stream_writer
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.types import interrupt

from journeygraph import NEVER, Call, Field, Journey, Pathway, Pipeline
from journeygraph.graphs.pipelines.running_nodes import runs_in_place
from tests.support.solo import APOLOGY, Solo, reason

HELLO: Any = {"messages": [{"role": "user", "content": "hello"}]}
THREAD: Any = {"configurable": {"thread_id": "t-1"}}
INNER, IN_PLACE = "inner", "in place"


class Tracer(AsyncCallbackHandler):
    """Sees which nodes of LangGraph run."""

    def __init__(self) -> None:
        self.nodes: list[str] = []

    async def on_chain_start(self, *args: Any, **kwargs: Any) -> None:
        self.nodes.append(kwargs.get("name", ""))


class Clerk:
    """An agent that notes in which form it ran."""

    def __init__(self) -> None:
        self.forms: list[str] = []

    async def __call__(self, payload: Any) -> str:
        place = get_config()["configurable"]["checkpoint_ns"]
        self.forms.append(INNER if "clerk:" in place else IN_PLACE)
        get_stream_writer()({"from": "the clerk"})
        return f"heard {payload['message']}"


async def drained(stream: Any) -> None:
    async for _ in stream:
        pass


def streamed(mode: Any, **options: Any) -> Callable[[Any], Awaitable[None]]:
    return lambda graph: drained(graph.astream(HELLO, stream_mode=mode, **options))


UNSEEN: dict[str, Callable[[Any], Awaitable[Any]]] = {
    "called": lambda graph: graph.ainvoke(HELLO),
    "with metadata": lambda graph: graph.ainvoke(HELLO, {"metadata": {"user": "u-1"}}),
    "values": streamed("values"),
    "updates": streamed(["updates", "values", "debug"]),
}
SEEN: dict[str, Callable[[Any], Awaitable[Any]]] = {
    "subgraphs": streamed("updates", subgraphs=True),
    "messages": streamed("messages"),
    "custom": streamed("custom"),
    "callbacks": lambda graph: graph.ainvoke(HELLO, {"callbacks": [Tracer()]}),
    "events": lambda graph: drained(graph.astream_events(HELLO, version="v2")),
    "a low limit": lambda graph: graph.ainvoke(HELLO, {"recursion_limit": 50}),
}


@pytest.mark.parametrize("way", UNSEEN)
async def test_where_nobody_sees_the_subgraph_its_agent_runs_in_place(way: str) -> None:
    clerk = Clerk()
    await UNSEEN[way](Solo.compile(agents={"clerk": clerk}))
    assert clerk.forms == [IN_PLACE]


@pytest.mark.parametrize("way", SEEN)
async def test_where_somebody_may_see_it_the_subgraph_runs(way: str) -> None:
    clerk = Clerk()
    await SEEN[way](Solo.compile(agents={"clerk": clerk}))
    assert clerk.forms == [INNER]


async def test_with_a_saver_of_the_user_the_subgraph_runs() -> None:
    clerk = Clerk()
    await Solo.compile(agents={"clerk": clerk}, checkpointer=InMemorySaver()).ainvoke(HELLO, THREAD)
    assert clerk.forms == [INNER]


async def test_within_another_graph_the_subgraph_runs() -> None:
    clerk = Clerk()
    graph: Any = StateGraph(dict)
    graph.add_node("journey", Solo.compile(agents={"clerk": clerk}))
    graph.add_edge(START, "journey")
    graph.add_edge("journey", END)
    await graph.compile().ainvoke(HELLO)
    assert clerk.forms == [INNER]


async def test_what_streams_and_results_show_is_the_same_in_both_forms() -> None:
    graph = Solo.compile(agents={"clerk": Clerk()})

    async def parts(mode: str, **config: Any) -> list[Any]:
        return [part async for part in graph.astream(HELLO, config or None, stream_mode=mode)]

    for mode in ("updates", "values"):
        in_place, inner = await parts(mode), await parts(mode, callbacks=[Tracer()])
        assert len(in_place) == len(inner)
        shapes = [
            [(name, sorted(value)) for name, value in part.items() if isinstance(value, dict)]
            for part in (*in_place, *inner)
        ]
        assert shapes[: len(in_place)] == shapes[len(in_place) :]
    assert (await parts("updates"))[1] == (await parts("updates", callbacks=[Tracer()]))[1]
    assert {"from": "the clerk"} not in await parts("custom")


async def test_a_session_runs_it_in_place_also_where_it_is_streamed(solo: Any) -> None:
    clerk, tracer = Clerk(), Tracer()
    chat = await solo(clerk)

    await chat.says("hello")
    await drained(chat.journey.stream_message("hello"))
    await chat.journey.process_message("hello", metadata={"user": "u-1"})
    assert clerk.forms == [IN_PLACE] * 3

    await chat.journey.process_message("hello", callbacks=[tracer])
    assert clerk.forms[3:] == [INNER]
    assert {"talk", "clerk"} <= set(tracer.nodes)


async def test_the_events_of_a_session_are_the_same_in_both_forms(solo: Any) -> None:
    async def clerk(payload: Any) -> Any:
        yield "One "
        yield "two."

    chat = await solo(clerk)
    plain = [event async for event in chat.journey.stream_message("hello")]
    traced = [e async for e in chat.journey.stream_message("hello", callbacks=[Tracer()])]

    assert [event.type for event in plain] == [event.type for event in traced]
    tokens = [[e.data["text"] for e in listed if e.type == "token"] for listed in (plain, traced)]
    assert tokens == [["One ", "two."]] * 2


class Several(Journey):
    """Pathways of more than one agent."""

    class TalkPath(Pathway):
        __pipeline__ = Pipeline.sequential(["clerk", "second"])
        __complete_when__ = NEVER


class Looking(Journey):
    """A tool is called before the agent."""

    class TalkPath(Pathway):
        __calls__ = [Call("look_up", save="found")]
        __agents__ = ["clerk"]
        __complete_when__ = NEVER


class Retried(Journey):
    """An agent with retries of its own."""

    class TalkPath(Pathway):
        __pipeline__ = Pipeline.sequential(["clerk"]).with_limits(retries=2, backoff=0.01)
        __complete_when__ = NEVER


@pytest.mark.parametrize(
    ("journey", "options"),
    [(Retried, {}), (Solo, {"error_recovery": "retry"})],
    ids=["limits", "config"],
)
async def test_an_agent_with_retries_needs_the_subgraph(
    journey: Any, options: Any, talk: Any, memory_url: str
) -> None:
    clerk = Clerk()
    chat = await talk(journey, {"clerk": clerk}, memory_url, **options)
    await chat.says("hello")
    assert clerk.forms == [INNER]


async def test_several_agents_need_the_subgraph(talk: Any, memory_url: str) -> None:
    clerk = Clerk()
    agents = {"clerk": clerk, "second": lambda payload: "done"}
    chat = await talk(Several, agents, memory_url)
    await chat.says("hello")
    assert clerk.forms == [INNER]


async def test_an_agent_behind_other_steps_needs_the_subgraph(talk: Any, memory_url: str) -> None:
    async def look_up() -> str:
        """Look something up."""
        return "found"

    clerk = Clerk()
    chat = await talk(
        Looking, {"clerk": clerk}, memory_url, options={"tools": {"look_up": look_up}}
    )
    await chat.says("hello")
    assert clerk.forms == [INNER]


CHECKED: list[str] = []


def is_known(value: str, context: Any) -> bool:
    """Return whether a name is known."""
    CHECKED.append(value)
    return True


class Booking(Journey):
    """Two values are asked for, then an agent works."""

    class TablePath(Pathway):
        __fields__ = [
            Field("people", "integer"),
            Field("name", "text", validators=[is_known], verbatim=True),
        ]
        __agents__ = ["clerk"]
        __complete_when__ = NEVER


@pytest.mark.parametrize("callbacks", [None, [Tracer()]], ids=["unseen", "traced"])
async def test_an_open_form_asks_in_place_and_the_subgraph_goes_on_when_it_is_filled(
    talk: Any, memory_url: str, callbacks: Any
) -> None:
    clerk, tracer = Clerk(), Tracer()
    CHECKED.clear()
    chat = await talk(Booking, {"clerk": clerk}, memory_url)
    given = callbacks and [tracer]
    replies = [
        (await chat.journey.process_message(text, callbacks=given)).message
        for text in ("hello", "four", "Ann Lee", "and now?")
    ]

    seen = tracer.nodes.count("collect")
    assert seen == (4 if callbacks else 0)
    assert clerk.forms == [INNER] * 2
    assert replies[2:] == ["heard Ann Lee", "heard and now?"]
    assert CHECKED == ["Ann Lee"]
    kept = [await chat.journey.attempts(name) for name in ("people", "name")]
    assert [[(one.value, one.validation_status) for one in page] for page in kept] == [
        [(4, "valid")],
        [("Ann Lee", "valid")],
    ]


@pytest.mark.parametrize("watched", [False, True])
async def test_an_agent_behind_a_form_that_waits_goes_on_in_its_subgraph(
    talk: Any, memory_url: str, watched: bool
) -> None:
    async def clerk(payload: Any) -> str:
        return f"You said {interrupt('Sure?')}."

    chat = await talk(Booking, {"clerk": clerk}, memory_url)
    for text in ("hello", "four"):
        await chat.says(text)
    waiting = await chat.journey.process_message("Ann Lee")
    CHECKED.clear()
    reply = await chat.journey.resume("yes", callbacks=[Tracer()] if watched else None)

    assert waiting.metadata["waiting"]
    assert reply.message == "You said yes."
    assert CHECKED == []


async def test_what_streams_show_of_an_open_form_is_the_same_in_both_forms() -> None:
    graph = Booking.compile(agents={"clerk": Clerk()})

    async def parts(**config: Any) -> list[Any]:
        listed = [
            part async for part in graph.astream(HELLO, config or None, stream_mode="updates")
        ]
        return listed[1:-1]

    assert await parts() == await parts(callbacks=[Tracer()])


def test_the_subgraph_is_drawn_all_the_same() -> None:
    graph = Solo.compile(agents={"clerk": Clerk()})
    assert [name for name, _ in graph.get_subgraphs()] == ["talk"]
    assert "talk:clerk" in graph.get_graph(xray=True).nodes


async def test_what_langgraph_tells_a_node_is_where_it_is_looked_for() -> None:
    """Fails when LangGraph renames the private keys by which a run is known to be unseen."""
    found: list[bool] = []

    async def look(state: dict[str, Any], runtime: Runtime[Any]) -> dict[str, Any]:
        found.append(runs_in_place(runtime, get_config(), managed=False))
        return {}

    def graph_of(node: Any) -> Any:
        graph: Any = StateGraph(dict)
        graph.add_node("look", node)
        graph.add_edge(START, "look")
        graph.add_edge("look", END)
        return graph

    graph = graph_of(look).compile()
    await graph.ainvoke({})
    assert found == [True]
    await drained(graph.astream({}, stream_mode="updates", subgraphs=True))
    await drained(graph.astream({}, stream_mode="custom"))
    await graph_of(look).compile(checkpointer=InMemorySaver()).ainvoke({}, THREAD)
    await graph_of(graph).compile().ainvoke({})
    assert found[1:] == [False] * 4


# time that is up


async def test_an_agent_that_takes_no_cancellation_holds_up_nobody(solo: Any) -> None:
    ended = asyncio.Event()

    async def stubborn(payload: Any) -> str:
        if payload["message"] != "hello":
            return "fine"
        while not ended.is_set():
            try:
                await ended.wait()
            except asyncio.CancelledError:
                continue
        return "too late"

    chat = await solo(stubborn, pathway_timeout_seconds=0.05)

    assert await chat.says("hello") == APOLOGY
    assert "ran out of time: it took longer than 0.05 s" in reason(chat)
    assert "agent 'clerk'" in reason(chat)
    assert await chat.says("still there?") == "fine"
    ended.set()


async def test_an_agent_that_cancels_itself_fails_alone(solo: Any) -> None:
    async def clerk(payload: Any) -> str:
        task = asyncio.current_task()
        assert task is not None
        if payload["message"] == "hello":
            task.cancel()
            await asyncio.sleep(0)
        return "fine"

    chat = await solo(clerk)

    assert await chat.says("hello") == APOLOGY
    assert "cancelled itself" in reason(chat)
    assert await chat.says("still there?") == "fine"
