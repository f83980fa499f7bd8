"""A journey as a node of graphs that others wrote: it keeps its place, and its replies last."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command, RetryPolicy, Send, interrupt
from typing_extensions import TypedDict

from journeygraph import (
    NEVER,
    ConfigurationError,
    Escalation,
    Journey,
    JourneyConfig,
    JourneyError,
    Pathway,
    Pipeline,
)

THREAD: Any = {"configurable": {"thread_id": "t"}}


class Order(Journey):
    """Takes an order in three steps."""

    class WhatPath(Pathway):
        __agents__ = ["waiter"]
        __next__ = "size"

    class SizePath(Pathway):
        __agents__ = ["barista"]
        __next__ = "pay"

    class PayPath(Pathway):
        __agents__ = ["cashier"]
        __complete_when__ = NEVER


class Weather(Journey):
    """Counts what was said."""

    class SkyPath(Pathway):
        __agents__ = ["observer"]
        __complete_when__ = NEVER


class Doubling(TypedDict):
    messages: Annotated[list[Any], operator.add]


def seen(payload: dict[str, Any]) -> str:
    return " / ".join([*(f"{m['role'][0]} {m['content']}" for m in payload["history"])])


AGENTS: dict[str, Any] = {
    "waiter": lambda given: f"What size is the {given['message']}?",
    "barista": lambda given: f"{given['message']}, fine. Cash?",
    "cashier": lambda given: "Thank you.",
}


def order(checkpointer: Any = True, **agents: Any) -> Any:
    return Order.compile(agents=AGENTS | agents, checkpointer=checkpointer)


def weather(agent: Any = lambda given: f"Sunny, {given['message']}.", saver: Any = True) -> Any:
    return Weather.compile(agents={"observer": agent}, checkpointer=saver)


def around(saver: Any = None, state: Any = MessagesState, **nodes: Any) -> Any:
    """Return a graph that runs nodes in a row."""
    parent = StateGraph(state)
    parent.add_sequence([*nodes.items()])
    parent.add_edge(START, next(iter(nodes)))
    return parent.compile(checkpointer=saver)


async def say(graph: Any, *words: Any, thread: Any = THREAD) -> list[str]:
    """Say something and return all that the graph's state has of the conversation."""
    for word in words:
        given = word if isinstance(word, list) else [HumanMessage(word)]
        state = await graph.ainvoke({"messages": given}, thread)
    return texts(state)


def texts(state: Any) -> list[str]:
    return [m.content for m in state["messages"] if m.type in ("human", "ai") and m.content]


COFFEE = [
    *("coffee", "What size is the coffee?"),
    *("large", "large, fine. Cash?"),
    *("yes", "Thank you."),
]


async def test_it_keeps_its_place_and_every_reply() -> None:
    graph = around(InMemorySaver(), journey=order())

    assert await say(graph, "coffee", "large", "yes") == COFFEE
    (inner,) = (await graph.aget_state(THREAD, subgraphs=True)).tasks or (None,)
    assert inner is None


async def test_two_journeys_leave_each_others_replies_alone() -> None:
    async def route(state: MessagesState) -> str:
        return "weather" if "weather" in state["messages"][-1].content else "order"

    parent = StateGraph(MessagesState)
    parent.add_node("order", order())
    parent.add_node("weather", weather())
    parent.add_conditional_edges(START, route, ["order", "weather"])
    graph = parent.compile(checkpointer=InMemorySaver())

    heard = await say(graph, "coffee", "the weather?", "large", "weather again", "yes")

    assert heard == [
        *COFFEE[:2],
        *("the weather?", "Sunny, the weather?."),
        *COFFEE[2:4],
        *("weather again", "Sunny, weather again."),
        *COFFEE[4:],
    ]


async def test_two_at_once_both_answer() -> None:
    parent = StateGraph(MessagesState)
    for name, journey in (("order", order()), ("weather", weather()), ("twin", weather())):
        parent.add_node(name, journey)
        parent.add_edge(START, name)
    graph = parent.compile(checkpointer=InMemorySaver())

    heard = await say(graph, "coffee", "large")

    assert sorted(heard) == sorted(
        [*COFFEE[:4], *["Sunny, coffee."] * 2, *["Sunny, large."] * 2],
    )


async def test_a_journey_that_is_sent_several_tasks_answers_each() -> None:
    async def spread(state: Any) -> Any:
        return [Send("weather", {"messages": [HumanMessage(town)]}) for town in ("Oslo", "Rome")]

    parent = StateGraph(MessagesState)
    parent.add_node("weather", weather(saver=None))
    parent.add_conditional_edges(START, spread, ["weather"])

    assert sorted(await say(parent.compile(), "both"))[1:] == [
        *("Rome", "Sunny, Oslo.", "Sunny, Rome."),
        "both",
    ]


async def test_a_graph_without_a_saver_keeps_nothing_and_says_nothing_of_it() -> None:
    for checkpointer in (None, False):
        graph = around(journey=order(checkpointer))
        heard = await say(graph, "coffee")
        state = await graph.ainvoke({"messages": [*heard, HumanMessage("tea")]})

        assert texts(state)[-2:] == ["tea", "What size is the tea?"]


async def test_replies_of_runs_that_keep_nothing_do_not_overwrite_each_other() -> None:
    graph = around(InMemorySaver(), journey=order(False))

    assert await say(graph, "coffee", "tea") == [
        *("coffee", "What size is the coffee?"),
        *("tea", "What size is the tea?"),
    ]


async def test_in_a_loop_of_one_run_it_answers_each_round() -> None:
    async def guest(state: MessagesState) -> dict[str, Any]:
        words = ["coffee", "large", "yes"]
        return {"messages": [HumanMessage(words[len(state["messages"]) // 2])]}

    async def more(state: MessagesState) -> str:
        return "guest" if len(state["messages"]) < len(COFFEE) else END

    parent = StateGraph(MessagesState)
    parent.add_node("guest", guest)
    parent.add_node("journey", order())
    parent.add_edge(START, "guest")
    parent.add_edge("guest", "journey")
    parent.add_conditional_edges("journey", more, ["guest", END])
    graph = parent.compile(checkpointer=InMemorySaver())

    assert texts(await graph.ainvoke({"messages": []}, THREAD)) == COFFEE


async def test_threads_of_one_graph_share_no_id() -> None:
    graph = around(InMemorySaver(), one=order(), two=weather())
    ids: list[str] = []
    for name in "abc":
        thread = {"configurable": {"thread_id": name}}
        await say(graph, "coffee", "large", thread=thread)
        ids += [m.id for m in (await graph.aget_state(thread)).values["messages"]]

    assert len(ids) == len(set(ids)) == 12


async def test_after_a_fork_ids_are_new_and_the_old_turns_stay() -> None:
    graph = around(InMemorySaver(), journey=order())
    await say(graph, "coffee", "large", "yes")
    history = [state async for state in graph.aget_state_history(THREAD)]
    ids = [m.id for m in history[0].values["messages"]]
    (after_one,) = [s for s in history if len(s.values["messages"]) == 2 and not s.next]

    # Of new input on an old checkpoint LangGraph does not tell the graphs within.
    said = {"messages": [HumanMessage("small")]}
    fork = await graph.aupdate_state(after_one.config, said, as_node=START)
    forked = await graph.ainvoke(None, fork)

    assert texts(forked) == [*COFFEE[:2], "small", "small, fine. Cash?"]
    assert [m.id for m in forked["messages"]][:2] == ids[:2]
    assert {m.id for m in forked["messages"][2:]}.isdisjoint(ids)


async def test_played_again_a_turn_gives_its_reply_another_id() -> None:
    graph = order(InMemorySaver())
    await say(graph, "coffee", "large")
    history = [state async for state in graph.aget_state_history(THREAD)]
    begun = next(state for state in history if state.next == ("understand",))

    again = await graph.ainvoke(None, begun.config)

    assert texts(again) == COFFEE[:4]
    assert again["messages"][-1].id != history[0].values["messages"][-1].id
    assert again["messages"][0].id == history[0].values["messages"][0].id


# What others' graphs do with messages.


async def test_what_a_graph_says_itself_comes_back_as_it_was() -> None:
    picture: list[str | dict[str, Any]] = [
        {"type": "text", "text": "coffee"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    call = {"name": "go", "args": {}, "id": "c-1", "type": "tool_call"}
    given = [
        SystemMessage("Be kind.", id="s"),
        HumanMessage(picture, id="h", name="ada", additional_kwargs={"from": "phone"}),
        AIMessage("Let me see.", id="a", tool_calls=[call]),
        ToolMessage("gone", tool_call_id="c-1", id="t"),
        AIMessage("Almost", id="b", response_metadata={"model": "m"}, name="helper"),
        HumanMessage("coffee", id="h2"),
    ]
    for graph in (around(InMemorySaver(), journey=order()), around(journey=order(None))):
        state = await graph.ainvoke({"messages": given}, THREAD)

        assert state["messages"][:-1] == given
        assert state["messages"][-1].content == "What size is the coffee?"


async def test_after_a_handoff_by_a_tool_the_user_is_answered() -> None:
    async def supervisor(state: MessagesState) -> Any:
        call = {"name": "transfer_to_order", "args": {}, "id": "c-1", "type": "tool_call"}
        messages = [
            AIMessage("I hand you over.", tool_calls=[call]),
            ToolMessage("Transferred.", tool_call_id="c-1"),
        ]
        return Command(goto="order", update={"messages": messages})

    parent = StateGraph(MessagesState)
    parent.add_node("supervisor", supervisor, destinations=("order",))
    parent.add_node("order", order())
    parent.add_edge(START, "supervisor")
    graph = parent.compile(checkpointer=InMemorySaver())

    heard = await say(graph, "coffee", "large")

    assert [text for text in heard if text != "I hand you over."] == COFFEE[:4]


async def test_what_the_graph_around_removed_stays_removed() -> None:
    async def shorten(state: MessagesState) -> dict[str, Any]:
        old = state["messages"][:-3]
        return {"messages": [RemoveMessage(m.id or "") for m in old]}

    graph = around(InMemorySaver(), shorten=shorten, journey=order())
    assert await say(graph, "coffee", "large", "yes") == COFFEE[2:]

    async def forget(state: MessagesState) -> dict[str, Any]:
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES), state["messages"][-1]]}

    graph = around(InMemorySaver(), forget=forget, journey=order())
    assert await say(graph, "coffee", "large", "yes") == COFFEE[4:]


async def test_a_journey_called_in_a_function_keeps_its_place_whatever_it_is_given() -> None:
    histories: list[str] = []

    def cashier(payload: dict[str, Any]) -> str:
        histories.append(seen(payload))
        return "Thank you."

    journey = order(cashier=cashier)

    def calling(given: Callable[[Any], Any], taken: Callable[[Any], Any]) -> Any:
        async def node(state: MessagesState) -> dict[str, Any]:
            after = await journey.ainvoke({"messages": given(state["messages"])})
            return {"messages": taken(after["messages"])}

        return around(InMemorySaver(), node=node)

    for given in (lambda all_: all_, lambda all_: all_[-1:], lambda all_: all_[-3:]):
        for taken in (
            lambda all_: all_,
            lambda all_: all_[-1],
            lambda all_: [AIMessage(all_[-1].content)],
        ):
            assert await say(calling(given, taken), "coffee", "large", "yes") == COFFEE

    history = " / ".join(f"{'ua'[n % 2]} {text}" for n, text in enumerate(COFFEE[:4]))
    assert histories == [history] * 9


async def last_values(journey: Any, given: Any, take: Callable[[Any], Any], **options: Any) -> Any:
    """Return the last values in a stream, where `take` finds values in a part."""
    taken = [take(part) async for part in journey.astream(given, **options)]
    return [values for values in taken if values][-1]


WAYS: dict[str, Callable[[Any, Any], Any]] = {
    "ainvoke": lambda journey, given: journey.ainvoke(given),
    "values": lambda journey, given: last_values(
        journey, given, lambda part: part, stream_mode="values"
    ),
    "two modes": lambda journey, given: last_values(
        journey,
        given,
        lambda part: part[0] == "values" and part[1],
        stream_mode=["values", "messages"],
    ),
    "two modes, with subgraphs": lambda journey, given: last_values(
        journey,
        given,
        lambda part: part[1] == "values" and "position" in part[2] and part[2],
        stream_mode=["values", "messages"],
        subgraphs=True,
    ),
    "version 2": lambda journey, given: last_values(
        journey, given, lambda part: part["data"], stream_mode="values", version="v2"
    ),
}


@pytest.mark.parametrize("way", WAYS)
async def test_called_in_any_way_it_hands_back_what_the_function_gave(way: str) -> None:
    journey = order()

    async def node(state: MessagesState) -> dict[str, Any]:
        after = await WAYS[way](journey, {"messages": state["messages"]})
        return {"messages": after["messages"]}

    graph = around(InMemorySaver(), node=node)
    await say(graph, "coffee", "large")
    state = await graph.aget_state(THREAD)
    removed = [RemoveMessage(message.id) for message in state.values["messages"][:2]]

    assert await say(graph, [*removed, HumanMessage("yes")]) == COFFEE[2:]


@pytest.mark.parametrize("last", [100, 3, 2, 1])
async def test_what_a_function_tells_without_ids_is_not_said_twice(last: int) -> None:
    histories: list[str] = []

    def cashier(payload: dict[str, Any]) -> str:
        histories.append(seen(payload))
        return "Thank you."

    journey = order(cashier=cashier)

    async def node(state: dict[str, Any]) -> dict[str, Any]:
        after = await journey.ainvoke({"messages": state["messages"][-last:]})
        return {"messages": [{"role": "assistant", "content": after["messages"][-1].content}]}

    graph = around(InMemorySaver(), Doubling, node=node)
    for word in ("coffee", "large", "yes", "yes"):
        said = [{"role": "user", "content": word}]
        state = await graph.ainvoke({"messages": said}, THREAD)

    assert [m["content"] for m in state["messages"]] == [*COFFEE, *COFFEE[-2:]]
    lines = [f"{'ua'[n % 2]} {text}" for n, text in enumerate(COFFEE)]
    assert histories == [" / ".join(lines[:4]), " / ".join(lines)]


async def test_in_a_pipeline_that_keeps_its_threads_it_keeps_its_place() -> None:
    graph = Pipeline.sequential([order()]).compile(checkpointer=InMemorySaver())

    assert await say(graph, "coffee", "large", "yes") == COFFEE


async def test_more_messages_than_its_window_come_in_their_order() -> None:
    histories: list[list[str]] = []

    def note(payload: dict[str, Any]) -> str:
        histories.append([m["content"] for m in payload["history"]])
        return f"re {payload['message']}"

    graph = around(InMemorySaver(), journey=weather(note))
    said = await say(graph, *map(str, range(30)))

    assert said == [text for n in range(30) for text in (str(n), f"re {n}")]
    assert histories[-1] == said[-41:-2]


async def test_a_list_that_is_only_replaced_has_what_was_given_and_the_reply() -> None:
    class Last(TypedDict):
        messages: list[AnyMessage]

    graph = around(InMemorySaver(), Last, journey=order())

    assert await say(graph, "coffee") == COFFEE[:2]


async def test_tried_again_a_journey_answers_once() -> None:
    tries: list[int] = []

    def waiter(payload: dict[str, Any]) -> str:
        tries.append(1)
        if len(tries) < 3:
            raise OSError("busy")
        return "What size?"

    for saver, checkpointer in ((InMemorySaver(), True), (None, None)):
        tries.clear()
        parent = StateGraph(MessagesState)
        again = RetryPolicy(max_attempts=3, initial_interval=0.01, retry_on=lambda error: True)
        parent.add_node("journey", order(checkpointer, waiter=waiter), retry_policy=again)
        parent.add_edge(START, "journey")
        graph = parent.compile(checkpointer=saver)

        assert await say(graph, "coffee") == ["coffee", "What size?"]


async def test_where_a_person_is_called_the_mark_of_it_is_kept_once() -> None:
    class Help(Weather):
        __escalation__ = Escalation(keywords=["human"])

    agents = {"observer": lambda given: "Sunny."}
    journey = Help.compile(agents=agents, model=False, checkpointer=True)
    graph = around(InMemorySaver(), journey=journey)

    heard = await say(graph, "hi", "a human please", "hello?", "anyone?")

    marks = [text for text in heard if text.startswith("[A person")]
    assert heard[:3] == ["hi", "Sunny.", "a human please"]
    assert heard[-2:] == ["hello?", "anyone?"]
    assert len(marks) == 1


async def test_two_levels_down_it_keeps_its_place() -> None:
    inner = around(True, journey=order())

    assert await say(around(InMemorySaver(), inner=inner), "coffee", "large", "yes") == COFFEE


async def test_it_is_streamed_and_drawn_as_a_part_of_the_graph() -> None:
    graph = around(InMemorySaver(), journey=order())
    heard: list[Any] = []
    async for event in graph.astream_events({"messages": "coffee"}, THREAD, version="v2"):
        heard.append(event["event"])
    await say(graph, "large")

    assert "on_chain_stream" in heard
    assert texts((await graph.aget_state(THREAD)).values) == COFFEE[:4]
    assert {"journey:understand", "journey:what:waiter"} <= set(graph.get_graph(xray=True).nodes)


async def test_an_agent_that_asks_goes_on_where_the_graph_around_is_resumed() -> None:
    def cashier(payload: dict[str, Any]) -> str:
        return f"Paid by {interrupt('How?')}."

    graph = around(InMemorySaver(), journey=order(cashier=cashier))
    await say(graph, "coffee", "large")

    waiting = await graph.ainvoke({"messages": "yes"}, THREAD)
    assert [asked.value for asked in waiting["__interrupt__"]] == ["How?"]
    paid = await graph.ainvoke(Command(resume="card"), THREAD)

    assert texts(paid) == [*COFFEE[:5], "Paid by card."]
    assert await say(graph, "thanks") == [*COFFEE[:5], "Paid by card.", "thanks"]


async def test_its_reply_is_streamed_once_under_the_id_that_it_keeps() -> None:
    graph = around(InMemorySaver(), journey=order())
    for word in ("coffee", "large"):
        streamed = [
            message
            async for message, _ in graph.astream(
                {"messages": word}, THREAD, stream_mode="messages"
            )
        ]
        kept = (await graph.aget_state(THREAD)).values["messages"][-1]
        assert [(m.id, m.content) for m in streamed] == [(kept.id, kept.content)]


# Where it would forget its place.


def called(journey: Any) -> Any:
    async def node(state: MessagesState) -> Any:
        return await journey.ainvoke({"messages": state["messages"]})

    return node


@pytest.mark.parametrize("own", [None, InMemorySaver()], ids=["no saver", "its own saver"])
@pytest.mark.parametrize("put", [lambda journey: journey, called], ids=["node", "called"])
async def test_kept_by_nobody_it_is_refused_in_the_first_turn(own: Any, put: Any) -> None:
    graph = around(InMemorySaver(), journey=put(order(own)))

    with pytest.raises(JourneyError, match="checkpointer=True") as refused:
        await say(graph, "coffee")

    assert isinstance(refused.value, ConfigurationError)
    assert "'Order'" in str(refused.value)


async def test_in_a_deeper_graph_it_is_refused_as_well() -> None:
    inner = around(None, journey=order(None))

    with pytest.raises(JourneyError, match="checkpointer=True"):
        await say(around(InMemorySaver(), inner=inner), "coffee")


async def test_by_itself_it_takes_any_saver() -> None:
    assert await say(order(InMemorySaver()), "coffee", "large", "yes") == COFFEE
    assert await say(order(None), "coffee") == COFFEE[:2]


async def test_as_the_agent_of_a_pipeline_it_answers() -> None:
    answers = await Pipeline.sequential([order(None)]).run(message="coffee")

    assert answers["response"] == COFFEE[1]


async def test_as_the_agent_of_a_session_it_answers(memory_url: str) -> None:
    config = JourneyConfig(persistence=memory_url)
    async with Weather("s", config, agents={"observer": order(None)}) as session:
        await session.start()
        replies = [(await session.process_message(word)).message for word in ("coffee", "tea")]

    assert replies == ["What size is the coffee?", "What size is the tea?"]


async def test_a_session_that_cannot_keep_it_says_so_and_stays_whole(memory_url: str) -> None:
    config = JourneyConfig(persistence=memory_url)
    async with Weather("s", config, agents={"observer": order(True)}) as session:
        await session.start()
        failed = await session.process_message("coffee")

        assert "__journeys__" in failed.metadata["error"]["message"]
        assert [version.kind for version in await session.versions()] == ["start", "failure"]


async def test_a_graph_that_only_adds_has_the_reply() -> None:
    graph = around(InMemorySaver(), Doubling, journey=order())
    state = await graph.ainvoke({"messages": [HumanMessage("coffee", id="1")]}, THREAD)

    assert state["messages"][-1].content == COFFEE[1]
