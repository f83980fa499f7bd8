"""Every pattern inside a pathway of a real journey: replies, accumulation, detours, failures.

In a rival, five of nine patterns could be named in a pathway, and three of these gave no reply and
kept nothing; its tests never sent a message through a real pathway.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    Agent,
    IntentTrigger,
    Journey,
    JourneyDefinitionError,
    Pathway,
    PathwayExecutionError,
    Pipeline,
    ReturnToPrevious,
    Skill,
    Transition,
)
from tests.pipelines.marked import (
    ALL_PATTERNS,
    Controller,
    Marked,
    Supervisor,
    calls_expected,
    fails,
    mark,
)

ROLES: dict[str, tuple[str, type[Marked]]] = {
    "supervisor_worker": ("supervisor", Supervisor),
    "ensemble": ("synthesizer", Marked),
    "blackboard": ("controller", Controller),
    "debate": ("judge", Marked),
    "parallel": ("aggregator", Marked),
}
SETTINGS: dict[str, dict[str, Any]] = {
    "debate": {"rounds": 2},
    "handoff": {"handoff_condition": lambda outputs: True},
}
PEERS = ("walnut", "granite")
_NOTE = re.compile(r"(\w+)=(\w+)")


def noting(name: str, kind: type[Marked] = Marked) -> Marked:
    """An agent that leaves its mark and notes every name=value that it hears."""
    agent = kind(name)

    def answer(payload: dict[str, Any]) -> dict[str, Any]:
        return {**agent.plainly(payload), **dict(_NOTE.findall(payload["message"]))}

    agent.answer = answer
    return agent


def staff_of(pattern: str) -> dict[str, Marked]:
    staff = {name: noting(name) for name in PEERS}
    if pattern in ROLES:
        staff["copper"] = noting("copper", ROLES[pattern][1])
    return staff


def pipeline_of(pattern: str, agents: dict[str, Any], **settings: Any) -> Any:
    """The pipeline of a pattern, of objects or of names."""
    given: dict[str, Any] = {**SETTINGS.get(pattern, {}), **settings}
    if pattern in ROLES:
        given[ROLES[pattern][0]] = agents["copper"]
    called = {"supervisor_worker": "workers", "blackboard": "specialists"}.get(pattern, "agents")
    return getattr(Pipeline, pattern)(**{called: [agents[name] for name in PEERS], **given})


HOW = ["by name", "as an object of names", "as an object"]


def shop(pattern: str, how: str, staff: dict[str, Marked]) -> type[Journey]:
    """A journey whose desk and whose detour work in a pattern."""
    if how == "by name":
        role = {ROLES[pattern][0]: "copper"} if pattern in ROLES else {}
        parts = {
            "__agents__": list(staff),
            "__pipeline__": pattern,
            "__pipeline_config__": {**SETTINGS.get(pattern, {}), **role},
        }
    elif how == "as an object of names":
        parts = {"__pipeline__": pipeline_of(pattern, {name: name for name in staff})}
    else:
        parts = {"__pipeline__": pipeline_of(pattern, staff)}
    desk = {"__accumulate__": ["order", "paid"], "__complete_when__": ["order", "paid"], **parts}
    help_ = {"__return_behavior__": ReturnToPrevious(), **parts}
    asks = IntentTrigger(patterns=["help"], use_llm_fallback=False)
    return type(
        "Shop",
        (Journey,),
        {
            "__doc__": "Take an order.",
            "DeskPath": type("DeskPath", (Pathway,), desk),
            "HelpPath": type("HelpPath", (Pathway,), help_),
            "__transitions__": [Transition(asks, to_pathway="help")],
        },
    )


def registered(how: str, staff: dict[str, Marked]) -> dict[str, Any]:
    return {} if how == "as an object" else dict(staff)


def made(staff: dict[str, Marked]) -> Counter[str]:
    return Counter({name: len(agent.calls) for name, agent in staff.items() if agent.calls})


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("pattern", ALL_PATTERNS)
async def test_a_pattern_replies_accumulates_and_takes_a_detour(talk, memory_url, pattern, how):
    staff = staff_of(pattern)
    chat = await talk(shop(pattern, how, staff), registered(how, staff), memory_url)
    said = ["the granite one, order=7", "help me with walnut", "granite again, paid=yes"]

    for message in said:
        for agent in staff.values():
            agent.calls.clear()
        reply = await chat.says(message)
        assert "<" in reply
        assert chat.last.metadata["error"] is None
        assert made(staff) == calls_expected(pipeline_of(pattern, staff), message)
        for agent in staff.values():
            assert set(agent.messages) <= {message}
        chat = await chat.restored()

    assert chat.path == ["desk", "help", "desk"]
    assert chat.replies[0].accumulated_context == {"order": "7"}
    assert chat.replies[1].accumulated_context == {"order": "7"}
    assert chat.context == {"order": "7", "paid": "yes"}
    assert [reply.is_journey_complete for reply in chat.replies] == [False, False, True]
    assert all(call["context"] == {"order": "7"} for a in staff.values() for call in a.calls)


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
async def test_the_talk_reaches_every_agent(talk, memory_url, pattern):
    staff = staff_of(pattern)
    chat = await talk(shop(pattern, "by name", staff), dict(staff), memory_url)
    first = await chat.says("walnut, hello")
    for agent in staff.values():
        agent.calls.clear()

    await chat.says("walnut, again")

    calls = [call for agent in staff.values() for call in agent.calls]
    assert calls
    if pattern != "handoff":
        told = [[entry["content"] for entry in call["history"]] for call in calls]
        assert told == [["walnut, hello", first]] * len(calls)


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("pattern", ALL_PATTERNS)
def test_the_graph_of_a_journey_shows_every_agent(pattern, how):
    staff = staff_of(pattern)
    graph = shop(pattern, how, staff).compile(agents=registered(how, staff))

    nodes = set(graph.get_graph(xray=True).nodes)

    for pathway in ("desk", "help"):
        assert {f"{pathway}:{name}" for name in staff} <= nodes


# Failures


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
async def test_a_failure_in_a_named_pattern_leaves_the_session_as_it_was(talk, memory_url, pattern):
    staff = staff_of(pattern)
    chat = await talk(shop(pattern, "by name", staff), dict(staff), memory_url)
    await chat.says("walnut, order=7")
    staff["walnut"].answer = fails(LookupError("no walnuts"))

    reply = await chat.says("walnut, paid=yes")

    assert reply == chat.journey.config.texts.apology
    assert "failed" in chat.last.metadata["flags"]
    assert "no walnuts" in str(chat.last.metadata["error"])
    assert "walnut" in str(chat.last.metadata["error"])
    assert (chat.last.pathway_id, chat.context) == ("desk", {"order": "7"})
    assert not chat.last.is_journey_complete

    staff["walnut"].answer = noting("walnut").answer
    await chat.says("granite, paid=yes")
    assert chat.last.is_journey_complete


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
async def test_a_failure_in_a_named_pattern_is_raised_under_fail_fast(talk, memory_url, pattern):
    staff = staff_of(pattern)
    journey = shop(pattern, "by name", staff)
    chat = await talk(journey, dict(staff), memory_url, error_recovery="fail_fast")
    await chat.says("walnut, order=7")
    staff["walnut"].answer = fails(LookupError("no walnuts"))

    with pytest.raises(PathwayExecutionError) as caught:
        await chat.says("walnut, paid=yes")

    assert (caught.value.pathway_id, caught.value.agent) == ("desk", "walnut")
    assert isinstance(caught.value.__cause__, LookupError)
    assert await chat.journey.snapshot() == {"order": "7"}


@pytest.mark.parametrize("pattern", ["parallel", "ensemble", "consensus", "blackboard", "debate"])
async def test_a_graceful_pipeline_answers_and_says_who_failed(talk, memory_url, pattern):
    staff = staff_of(pattern)
    chat = await talk(shop(pattern, "as an object", staff), {}, memory_url)
    staff["walnut"].answer = fails(LookupError("no walnuts"))

    reply = await chat.says("granite, order=7")

    assert "<" in reply
    assert chat.context == {"order": "7"}
    assert "agent_failed:walnut" in chat.last.metadata["flags"]
    assert "failed" not in chat.last.metadata["flags"]


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
async def test_a_pipeline_that_fails_fast_fails_the_turn(talk, memory_url, pattern):
    staff = staff_of(pattern)

    class Hurried(Journey):
        """Take an order."""

        class DeskPath(Pathway):
            __pipeline__ = pipeline_of(pattern, staff, error_handling="fail-fast")
            __accumulate__ = ["order"]

    chat = await talk(Hurried, {}, memory_url)
    staff["walnut"].answer = fails(LookupError("no walnuts"))

    reply = await chat.says("walnut, order=7")

    assert reply == chat.journey.config.texts.apology
    assert chat.context == {}
    assert "failed" in chat.last.metadata["flags"]


async def test_a_graceful_pipeline_that_fails_as_a_whole_fails_the_turn(talk, memory_url):
    class Router(Journey):
        """Ask one."""

        class DeskPath(Pathway):
            __pipeline__ = Pipeline.router([Marked("walnut", fails(LookupError("gone")))])
            __accumulate__ = ["order"]

    chat = await talk(Router, {}, memory_url)

    reply = await chat.says("walnut, order=7")

    assert reply == chat.journey.config.texts.apology
    assert "failed" in chat.last.metadata["flags"]
    assert chat.context == {}


# Faults of a definition


def desk(**attributes: Any) -> None:
    """Define a journey of one pathway."""
    path = type("DeskPath", (Pathway,), attributes)
    type("Faulty", (Journey,), {"__doc__": "Faulty.", "DeskPath": path})


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        pytest.param(
            {"__pipeline__": "ensemble", "__pipeline_config__": {"synthesiser": "c"}},
            ["synthesiser", "Did you mean 'synthesizer'"],
            id="misspelt role",
        ),
        pytest.param(
            {"__pipeline__": "ensemble", "__pipeline_config__": {"synthesizer": "writr"}},
            ["writr", "Did you mean 'writer'"],
            id="role of an agent that is not there",
        ),
        pytest.param({"__pipeline__": "blackboard"}, ["controller"], id="role left out"),
        pytest.param(
            {"__pipeline__": "router", "__pipeline_config__": {"routing_strategy": "semntic"}},
            ["semntic", "Did you mean 'semantic'"],
            id="misspelt choice",
        ),
        pytest.param(
            {"__pipeline__": "debate", "__pipeline_config__": {"round": 3}},
            ["round", "Did you mean 'rounds'"],
            id="misspelt setting",
        ),
        pytest.param({"__pipeline__": "rooter"}, ["rooter", "Did you mean 'router'"], id="pattern"),
        pytest.param(
            {"__pipeline_config__": {"synthesizer": "writer"}},
            ["synthesizer"],
            id="a role in a sequence",
        ),
        pytest.param(
            {"__pipeline__": "debate", "__pipeline_config__": {"rounds": 0}},
            ["rounds"],
            id="a value out of range",
        ),
        pytest.param(
            {"__pipeline__": "router", "__pipeline_config__": ["semantic"]},
            ["__pipeline_config__"],
            id="no mapping",
        ),
        pytest.param({"__pipeline__": 3}, ["__pipeline__"], id="no pipeline"),
    ],
)
def test_what_is_misnamed_is_a_fault_of_the_definition(attributes, words):
    with pytest.raises(JourneyDefinitionError) as caught:
        desk(__agents__=["a", "b", "writer"], **attributes)

    said = str(caught.value)
    assert "DeskPath" in said
    assert all(word in said for word in words), said


def test_all_faults_are_told_at_once():
    with pytest.raises(JourneyDefinitionError) as caught:
        desk(
            __agents__=["a", "writer"],
            __pipeline__="ensemble",
            __pipeline_config__={"synthesizer": "writr", "top_k": 0, "discovery": "a2a"},
        )

    said = str(caught.value)
    assert all(word in said for word in ("writr", "top_k", "discovery"))


# Nests, streams, many at once


async def test_pipelines_inside_pipelines_work_in_a_pathway(talk, memory_url):
    names = {name: noting(name) for name in ("walnut", "granite", "harbour", "velvet", "copper")}
    inner = Pipeline.consensus([names["walnut"], names["granite"]]).to_agent("inner")
    team = Pipeline.supervisor_worker(
        noting("boss", Supervisor), [inner, "harbour", names["velvet"]]
    )

    class Nested(Journey):
        """Take an order."""

        class DeskPath(Pathway):
            __pipeline__ = Pipeline.sequential([team.to_agent("team"), names["copper"]])
            __accumulate__ = ["order"]

    chat = await talk(Nested, {"harbour": names["harbour"]}, memory_url)

    reply = await chat.says("walnut, order=7")

    assert reply == mark("copper")
    assert chat.context == {"order": "7"}
    assert {name: len(agent.calls) for name, agent in names.items()} == {
        "walnut": 2,
        "granite": 2,
        "harbour": 1,
        "velvet": 1,
        "copper": 1,
    }


async def test_the_events_of_a_pipeline_are_those_of_the_turn(talk, memory_url):
    staff = staff_of("ensemble")
    chat = await talk(shop("ensemble", "by name", staff), dict(staff), memory_url)

    events = [event async for event in chat.journey.stream_message("granite, order=7")]

    finished = [event for event in events if event.type == "agent_finished"]
    assert sorted(event.data["agent"] for event in finished) == sorted(staff)
    assert {event.data["pathway"] for event in finished} == {"desk"}
    (chosen,) = [event for event in events if event.type == "selected"]
    assert chosen.data["agents"][0] == "granite"
    assert events[-1].type == "done"
    assert events[-1].data["response"].message == mark("copper")


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
async def test_the_tokens_of_a_pattern_are_its_reply(talk, memory_url, pattern):
    staff = staff_of(pattern)
    chat = await talk(shop(pattern, "by name", staff), dict(staff), memory_url)

    events = [event async for event in chat.journey.stream_message("granite, order=7")]

    tokens = "".join(event.data["text"] for event in events if event.type == "token")
    assert tokens == events[-1].data["response"].message != ""


async def test_the_last_of_a_pattern_is_heard_bit_by_bit(talk, memory_url):
    async def teller(payload: dict[str, Any]) -> Any:
        for word in ("Once ", "upon ", "a ", "time"):
            yield word

    class Telling(Journey):
        """Tell."""

        class DeskPath(Pathway):
            __pipeline__ = Pipeline.ensemble([Marked("walnut")], teller)

    chat = await talk(Telling, {}, memory_url)

    events = [event async for event in chat.journey.stream_message("walnut")]

    assert [e.data["text"] for e in events if e.type == "token"] == ["Once ", "upon ", "a ", "time"]


async def test_an_agent_object_and_a_pathway_with_a_card_choose_as_the_card_says(talk, memory_url):
    bills = Agent(noting("b"), name="bills", skills=[Skill("invoices", synonyms=["bill"])])
    maps = Agent(noting("m"), name="maps", skills=[Skill("directions", synonyms=["route"])])

    class Desk(Journey):
        """Send everybody to the right place."""

        class DeskPath(Pathway):
            __pipeline__ = Pipeline.router([bills, maps])
            __complete_when__ = NEVER

    chat = await talk(Desk, {}, memory_url)

    assert await chat.says("which route do I take?") == mark("m")
    assert await chat.says("your bill is too high") == mark("b")
