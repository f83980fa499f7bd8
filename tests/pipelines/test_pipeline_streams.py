"""Streams and events of a pipeline while it runs, and its graph in LangGraph."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from journeygraph import Agent, Pipeline
from tests.pipelines.marked import (
    ALL_PATTERNS,
    Marked,
    Staff,
    build,
    calls_expected,
    fails,
    mark,
    nested,
)


async def heard(pipeline: Pipeline, **inputs: Any) -> list[Any]:
    return [event async for event in pipeline.stream(**inputs)]


def of(events: list[Any], kind: str) -> list[Any]:
    return [event for event in events if event["type"] == kind]


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
async def test_every_call_is_told_when_it_begins_and_when_it_ends(pattern):
    staff = Staff()
    inner = nested(build(pattern, staff.agents(2), staff), "inner")
    pipeline = build("parallel", [inner, staff.agent()], staff)

    events = await heard(pipeline, message="walnut")

    expected = calls_expected(pipeline, "walnut")
    assert Counter(event["agent"] for event in of(events, "agent_started")) == expected
    assert Counter(event["agent"] for event in of(events, "agent_finished")) == expected
    assert all(event["seconds"] >= 0 for event in of(events, "agent_finished"))
    assert of(events, "agent_failed") == []
    for path in expected:
        order = [event["type"] for event in events if event.get("agent") == path]
        order = [kind for kind in order if kind.startswith("agent_")]
        assert order == ["agent_started", "agent_finished"] * (len(order) // 2)


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
async def test_the_last_event_holds_what_a_run_returns(pattern):
    staff = Staff()
    pipeline = build(pattern, staff.agents(2), staff)

    events = await heard(pipeline, message="walnut")

    assert len(of(events, "outputs")) == 1
    assert events[-1]["type"] == "outputs"
    assert events[-1]["outputs"] == await pipeline.run(message="walnut")


async def test_a_failure_is_told_with_its_kind():
    events = await heard(
        Pipeline.parallel([Marked("a", fails(LookupError("gone"))), Marked("b")]), message="x"
    )

    (told,) = of(events, "agent_failed")
    assert (told["agent"], told["kind"]) == ("a", "LookupError")
    assert "gone" in told["error"]
    assert [event["agent"] for event in of(events, "agent_finished")] == ["b"]


@pytest.mark.parametrize("pattern", ["router", "ensemble"])
async def test_a_choice_is_told_with_its_scores(pattern):
    staff = Staff()
    pipeline = build(pattern, staff.agents(3), staff)

    events = await heard(pipeline, message="granite")

    (told,) = of(events, "selected")
    assert told["agents"][0] == "granite"
    assert told["by"] == "semantic"
    assert list(told["scores"]) == told["agents"]
    assert told["scores"]["granite"] > 0


async def test_votes_are_told():
    agents = [Marked("a"), Marked("b"), Marked("c")]

    events = await heard(Pipeline.consensus(agents), message="hello")

    assert [(event["agent"], event["vote"]) for event in of(events, "voted")] == [
        ("a", "a"),
        ("b", "a"),
        ("c", "a"),
    ]


async def test_tokens_are_heard_as_they_are_said():
    async def teller(payload: dict[str, Any]) -> Any:
        for word in ("Once ", "upon ", "a ", "time"):
            yield word

    events = await heard(Pipeline.sequential([Marked("first"), teller]), message="hello")

    assert [event["text"] for event in of(events, "token")] == ["Once ", "upon ", "a ", "time"]
    assert events[-1]["outputs"]["response"] == "Once upon a time"


async def test_a_stream_of_a_pipeline_of_ones_own_ends_with_its_outputs():
    class Own(Pipeline):
        name = "own"

        async def run(self, **inputs: Any) -> Any:
            return {"response": inputs["message"]}

    events = await heard(Own(), message="hello")

    assert events[-1]["type"] == "outputs"
    assert events[-1]["outputs"]["response"] == "hello"


# LangGraph


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
async def test_a_compiled_pipeline_takes_inputs(pattern):
    staff = Staff()
    pipeline = build(pattern, staff.agents(2), staff)

    state = await pipeline.compile().ainvoke({"inputs": {"message": "walnut"}})

    result = await pipeline.run(message="walnut")
    assert state["outputs"]["response"] == result["response"]
    assert Counter(staff.calls) == Counter(
        {path: 2 * number for path, number in calls_expected(pipeline, "walnut").items()}
    )


async def test_a_compiled_pipeline_takes_messages_and_answers_among_them():
    agent = Marked("a")
    graph = Pipeline.sequential([agent]).compile()

    state = await graph.ainvoke(
        {
            "messages": [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "hello"},
                {"role": "user", "content": "walnut"},
            ]
        }
    )

    assert agent.messages == ["walnut"]
    assert [entry["content"] for entry in agent.calls[0]["history"]] == ["hi", "hello"]
    last = state["messages"][-1]
    assert (getattr(last, "content", None) or last["content"]) == mark("a")


async def test_what_a_kept_thread_was_given_before_is_not_given_again():
    agent = Marked("a")
    graph = Pipeline.sequential([agent]).compile(checkpointer=InMemorySaver())
    thread = {"configurable": {"thread_id": "1"}}

    await graph.ainvoke({"messages": [("user", "walnut")]}, thread)
    await graph.ainvoke({"messages": [("user", "granite")]}, thread)
    await graph.ainvoke({"inputs": {"order": 7}}, thread)

    assert agent.messages == ["walnut", "granite", ""]
    assert [call.get("order") for call in agent.calls] == [None, None, 7]
    told = [{"role": "user", "content": "walnut"}, {"role": "assistant", "content": mark("a")}]
    assert agent.calls[1]["history"] == told


async def test_of_the_messages_of_a_program_only_what_was_said_is_given():
    agent = Marked("a")

    graph = Pipeline.sequential([agent]).compile()
    messages = [
        SystemMessage("Be brief."),
        HumanMessage("hi"),
        AIMessage("hello"),
        HumanMessage("walnut"),
        AIMessage("", tool_calls=[{"name": "look", "args": {}, "id": "1"}]),
        ToolMessage("found", tool_call_id="1"),
    ]

    await graph.ainvoke({"messages": messages})

    assert agent.messages == ["walnut"]
    assert [entry["content"] for entry in agent.calls[0]["history"]] == ["hi", "hello"]


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
def test_the_drawing_shows_every_agent_at_every_level(pattern):
    staff = Staff()
    inner = nested(build(pattern, staff.agents(2), staff), "inner")
    pipeline = build(pattern, [inner, staff.agent()], staff)

    nodes = " ".join(pipeline.compile().get_graph(xray=True).nodes)

    for name in staff.made:
        assert name in nodes


async def test_a_compiled_pipeline_is_a_node_of_any_graph():
    class Talk(TypedDict, total=False):
        inputs: dict[str, Any]
        outputs: dict[str, Any]

    agent = Marked("a")
    graph = StateGraph(Talk)
    graph.add_node("team", Pipeline.sequential([agent]).compile())
    graph.add_edge(START, "team")
    graph.add_edge("team", END)

    state = await graph.compile().ainvoke({"inputs": {"message": "walnut"}})

    assert agent.messages == ["walnut"]
    assert state["outputs"]["response"] == mark("a")


async def test_a_graph_can_be_an_agent():
    class Counted(TypedDict, total=False):
        message: str
        response: str

    def shout(state: Counted) -> Counted:
        return {"response": state["message"].upper()}

    inner = StateGraph(Counted)
    inner.add_node("shout", shout)
    inner.add_edge(START, "shout")
    agent = Agent(inner.compile(), name="shouter")

    result = await Pipeline.sequential([agent, Marked("b")]).run(message="walnut")

    assert result["pipeline"]["results"][0]["outputs"]["response"] == "WALNUT"
