"""A concierge as it is composed, and at every edge: command line, drawings, HTTP, Studio."""

from __future__ import annotations

import json
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    Agent,
    Call,
    Concierge,
    Guideline,
    HandOver,
    InputField,
    IntentTrigger,
    Journey,
    JourneyDefinitionError,
    MergeStrategy,
    OutputField,
    Pathway,
    ReturnToSpecific,
    Signature,
    ToolSpec,
    Transition,
    Validation,
    load_journey,
)
from journeygraph.graphs.drawing.mermaid import mermaid
from journeygraph.graphs.drawing.svg import svg
from journeygraph.graphs.drawing.terminal import text
from journeygraph.journeys.reading.composing import compose
from journeygraph.journeys.reading.declared import OfConcierge
from journeygraph.nodes.llm.scripted import ScriptedModel
from journeygraph.server.discover.journeys import Served
from tests.support.api import serve
from tests.support.clerks import clerk, said, staff
from tests.support.house_desk import ASKED, STAFF, Desk, Moving, Repair
from tests.support.talk import Talk

__all__ = ["serve"]


def faults(**body: Any) -> tuple[str, ...]:
    """The faults of a concierge with this body."""
    with pytest.raises(JourneyDefinitionError) as raised:
        type("Wrong", (Concierge,), body)
    return raised.value.faults


# --- What it is composed to ----------------------------------------------------------------------


def test_pathways_and_moves_stand_under_the_names_of_their_journeys():
    spec = Desk.spec

    assert list(spec.pathways) == [
        "concierge",
        "moving.identify",
        "moving.plan",
        "moving.hours",
        "repair.report",
        "repair.visit",
    ]
    assert spec.reachable == set(spec.pathways)
    assert [move.id for move in spec.transitions] == [
        "start:moving",
        "start:repair",
        "start:repair#2",
        "hand_over:moving->repair",
        "moving.IntentTrigger:*->hours",
        "cancel:moving",
        "cancel:repair",
    ]
    assert spec.pathways["moving.plan"].next == "concierge"
    assert spec.part_of("moving.plan").purpose == Moving.spec.purpose
    assert spec.part_of("concierge") is spec
    assert (spec.warnings, Moving.spec.entry) == ((), "identify")


def test_the_version_changes_with_a_journey_and_with_what_joins_them():
    class Fewer(Concierge):
        __journeys__ = [Moving]

    class Other(Concierge):
        """Look after the houses of our tenants."""

        __journeys__ = [Moving, Repair]
        __cancel__ = Desk.__cancel__
        __hand_over__ = Desk.__hand_over__

    class Changed(Other):
        __otherwise__ = "canned"

    versions = {kind.spec.version for kind in (Desk, Fewer, Other, Changed)}
    assert len(versions) == 4
    again = compose(
        "other",
        "Other",
        Other.spec.purpose,
        [Moving.spec, Repair.spec],
        OfConcierge(cancel=Desk.__cancel__, hand_over=Desk.__hand_over__),
    )
    assert again.version == Other.spec.version


def test_a_concierge_without_journeys_is_abstract():
    class Base(Concierge):
        """Share what all desks say."""

        __cancel__ = said("stop")

    class Real(Base):
        __journeys__ = [Repair]

    assert (Base.spec.entry, Concierge.spec.entry) == ("", "")
    assert "cancel:repair" in [move.id for move in Real.spec.transitions]
    with pytest.raises(JourneyDefinitionError, match="abstract"):
        Base.draw()


def test_its_pathway_classes_are_those_of_its_journeys():
    journey = Desk("s-1", agents=STAFF)

    assert journey.pathways["moving.plan"] is Moving.PlanPath
    assert list(journey.pathways) == list(Desk.spec.pathways)[1:]


# --- Faults --------------------------------------------------------------------------------------


def test_all_faults_come_at_once():
    class Nothing(Journey):
        """Have no pathways."""

    wrong: Any = 1
    found = faults(
        __journeys__=[Moving, Moving, Nothing, Desk, "repair"],
        __otherwise__="aks",
        __cancel__=IntentTrigger("stop"),
        __hand_over__=[
            HandOver("moving", "repiar", said("x")),
            HandOver("moving", "moving", wrong),
            5,
        ],
        __degrade__="freely",
        __transitions__=[],
        ExtraPath=type("ExtraPath", (Pathway,), {}),
    )

    assert [fault.partition(" Known:")[0] for fault in found] == [
        "Wrong: __transitions__ is unknown.",
        "Wrong: ExtraPath is a pathway, and a concierge contains journeys. Write it in a "
        "Journey, and "
        "name that in __journeys__.",
        "Wrong: __degrade__ is 'freely'; it must be one of canned, freeform, refuse.",
        "Wrong: __journeys__[4] is 'repair'; it must be a subclass of Journey.",
        "Wrong: __otherwise__ is 'aks'; it must be one of ask, canned, freeform. Did you mean "
        "'ask'?",
        "Wrong.__cancel__: patterns is 'stop'; it must be a list.",
        "Wrong.__hand_over__[1]: trigger is 1; it must be a trigger such as IntentTrigger.",
        "Wrong: __hand_over__[2] is 5; it must be HandOver(...).",
        "Wrong: hand_over[0]: 'repiar' is not a journey of this concierge. "
        "Its journeys: moving, moving, nothing, desk.",
        "Wrong: hand_over[1]: it leads from 'moving' to itself.",
        "Wrong: Nothing has no pathways, so it cannot be started.",
        "Wrong: Desk is a concierge. Name its journeys instead.",
        "Wrong: two of its journeys have the id 'moving'. Rename one of them.",
    ]


class Counting(Journey):
    """Count."""

    __activation__ = [said("count")]
    __validation__ = Validation(confidence=0.5)

    class CountPath(Pathway):
        __agents__ = ["counter"]
        __accumulate__ = {"sum": MergeStrategy.SUM}


class Adding(Journey):
    """Add."""

    class AddPath(Pathway):
        __agents__ = ["adder"]
        __accumulate__ = {"sum": MergeStrategy.MAX}


def test_what_two_journeys_contradict_each_other_in_is_a_fault():
    assert faults(__journeys__=[Counting, Adding]) == (
        "Adding.AddPath: 'sum' is merged by 'max' here, and by 'sum' in Counting.CountPath. Use "
        "one strategy for a name.",
    )


def test_a_tool_that_two_journeys_declare_differently_is_a_fault():
    def of(id_: str, description: str) -> Any:
        class Some(Journey):
            class OnePath(Pathway):
                __agents__ = ["one"]

        from dataclasses import replace  # noqa: PLC0415

        return replace(Some.spec, id=id_, tools={"find": ToolSpec("find", description)})

    same, other = [of("a", "finds"), of("b", "finds")], [of("a", "finds"), of("b", "finds it")]
    assert compose("x", "X", "", same, OfConcierge()).tools.keys() == {"find"}
    with pytest.raises(JourneyDefinitionError, match="the tool 'find' is declared differently"):
        compose("x", "X", "", other, OfConcierge())


def test_a_sensitive_journey_keeps_messages_from_a_model_outside_of_it():
    class Secret(Journey):
        """Keep a secret."""

        __sensitive__ = True
        __activation__ = [said("psst")]

        class TellPath(Pathway):
            __agents__ = ["keeper"]

    class Desk(Concierge):
        __journeys__ = [Secret, Repair]

    assert Desk.spec.sensitive
    assert faults(__journeys__=[Secret], __otherwise__="freeform", __degrade__="freeform") == (
        "Wrong: Secret is sensitive, and __otherwise__ is 'freeform', which sends messages to a "
        "model outside of every journey. Choose 'canned'.",
        "Wrong: Secret is sensitive, and __degrade__ is 'freeform', which sends messages to a "
        "model outside of every journey. Choose 'canned'.",
    )


def test_an_id_that_is_too_long_for_a_store_is_a_fault():
    path = type("PathwayOfAPart" + "n" * 150, (Pathway,), {"__agents__": ["one"]})
    long = type("Long" + "g" * 60, (Journey,), {"ThePath": None, f"{path.__name__}Path": path})

    [fault] = faults(__journeys__=[long])
    assert "is longer than 200 characters. Shorten it." in fault


def test_a_journey_that_nothing_starts_is_warned_of():
    class Quiet(Concierge):
        __journeys__ = [Moving, Repair, Adding]
        __hand_over__ = [HandOver("moving", "adding", said("add"))]

    class Mute(Concierge):
        __journeys__ = [Moving, Adding]

    assert Quiet.spec.warnings == (
        "Adding: it has no __activation__, and only a hand-over leads to it.",
    )
    assert Mute.spec.warnings == (
        "Adding: it has no __activation__, and no hand-over leads to it either.",
        "Adding.AddPath: nothing leads to 'adding.add'.",
    )


def test_the_same_pattern_for_two_journeys_is_warned_of():
    class Second(Journey):
        """Also repair."""

        __activation__ = [said("is broken")]

        class AskPath(Pathway):
            __agents__ = ["asker"]

    class Torn(Concierge):
        __journeys__ = [Repair, Second]

    [warning] = Torn.spec.warnings
    assert "'is broken' already leads to 'repair.report'" in warning


# --- Guidelines and what agents are told ---------------------------------------------------------


class Bill(Signature):
    """Explain the bill."""

    message: str = InputField(description="What the customer says")
    response: str = OutputField(description="What to say")


class Billing(Journey):
    """Explain bills."""

    __activation__ = [said("bill")]
    __guidelines__ = [
        Guideline(id="calm", action="stay calm", always=True),
        Guideline(id="short", action="be short", always=True, excludes=["calm"]),
    ]

    class ExplainPath(Pathway):
        """Say what the bill is made of."""

        __signature__ = Bill
        __agents__ = ["explainer"]
        __complete_when__ = NEVER
        __guidelines__ = [Guideline(id="sum", action="name the sum", always=True)]

    class ThanksPath(Pathway):
        __agents__ = ["thanker"]
        __return_behavior__ = ReturnToSpecific("explain")

    __transitions__ = [Transition(said("thanks"), to_pathway="thanks")]


class Lines(Journey):
    """Repair lines."""

    __activation__ = [said("line")]
    __guidelines__ = [Guideline(id="calm", action="promise nothing", always=True)]

    class LinePath(Pathway):
        __agents__ = ["checker"]


class Telecom(Concierge):
    """Serve customers of a telephone company."""

    __journeys__ = [Billing, Lines]
    __guidelines__ = [
        Guideline(id="polite", action="be polite", always=True, excludes=["lines.calm"])
    ]


async def test_guidelines_hold_in_their_own_journey_and_global_ones_everywhere(talk, memory_url):
    chat = await talk(Telecom, staff(Telecom), memory_url)

    await chat.says("hello")
    assert chat.last.metadata["guidelines"] == ["polite"]
    await chat.says("my bill")
    assert chat.last.metadata["guidelines"] == ["billing.sum", "billing.short", "polite"]
    await chat.says("thanks")
    assert chat.path[-1] == "billing.thanks"
    await chat.says("and?")
    assert chat.ran == ["billing.explain"]


async def test_a_model_is_told_of_the_journey_that_it_serves(talk, memory_url):
    with ScriptedModel({"response": "It is 10 euros."}) as model:
        agents = {name: clerk(name) for name in ("thanker", "checker")}
        chat = await talk(Telecom, agents, memory_url, options={"model": model})

        assert await chat.says("my bill") == "It is 10 euros."

        system = model.calls[0].messages[0]["content"]
        assert "Explain bills." in system
        assert "Serve customers of a telephone company." not in system


class Lookup(Journey):
    """Look things up."""

    __activation__ = [said("look")]

    class LookPath(Pathway):
        __agents__ = ["reader"]
        __calls__ = [Call("find", {"what": "message"}, save="found")]
        __complete_when__ = ["read"]
        __accumulate__ = ["read"]


class Library(Concierge):
    """Look up and move."""

    __journeys__ = [Lookup, Moving]
    __cancel__ = said("stop")


async def test_what_calls_save_is_forgotten_with_the_journey(talk, memory_url):
    def find(what: str) -> str:
        """Find what is looked for."""
        return what.upper()

    chat = await talk(Library, staff(Library), memory_url, options={"tools": {"find": find}})

    await chat.says("look here")
    assert chat.context == {"found": "LOOK HERE"}
    await chat.says("stop")
    assert chat.context == {}


CHARGES = """
id: charges
tools:
  - {type: function, function: {name: charge, description: Charge a card}}
activation_conditions: [{patterns: [pay]}]
states:
  pay: {tools: [charge], complete_when: never}
"""


async def test_tools_that_a_journey_declares_are_not_for_agents_of_another(
    talk, memory_url, tmp_path
):
    def charge() -> str:
        """Charge a card."""
        return "charged"

    def find(what: str) -> str:
        """Find what is looked for."""
        return what.upper()

    class Asking(Journey):
        """Ask something."""

        __activation__ = [said("ask")]

        class AskPath(Pathway):
            __signature__ = Bill
            __agents__ = ["asker"]

    (tmp_path / "charges.yaml").write_text(CHARGES)

    class Mixed(Concierge):
        __journeys__ = [load_journey(tmp_path / "charges.yaml"), Asking, Lookup]

    with ScriptedModel({"response": "Fine."}, {"response": "Which?"}) as model:
        options = {"tools": {"charge": charge, "find": find}, "model": model}
        agents = {"reader": clerk("reader")}
        chat = await talk(Mixed, agents, memory_url, options=options)
        await chat.says("ask")
        assert await chat.says("pay") == "Which?"

        assert [call.tools for call in model.calls] == [["find"], ["charge"]]


# --- Edges ---------------------------------------------------------------------------------------


def test_a_drawing_groups_the_pathways_of_a_journey():
    drawn = mermaid(Desk.spec)

    assert 'subgraph part1["moving"]' in drawn
    assert 'any1(["any journey"]):::crowd' in drawn
    assert drawn.count("wants to give up") == 1
    assert "all of moving" in text(Desk.spec)
    assert "moving.plan" in svg(Desk.spec)


def test_the_graph_has_a_node_for_the_reception_and_for_every_pathway():
    graph = Desk.compile(agents=STAFF).get_graph(xray=True)

    assert "concierge:answer" in graph.nodes
    assert {"moving.identify:identifier", "repair.visit:fitter"} <= set(graph.nodes)


async def test_studio_talks_to_it_without_a_manager():
    graph = Desk.compile(agents=STAFF)

    state = await graph.ainvoke({"messages": [{"role": "user", "content": "hello"}]})
    assert state["messages"][-1].content == ASKED

    state = await graph.ainvoke({"messages": [{"role": "user", "content": "it is broken"}]})
    assert state["position"]["pathway"] == "repair.report"


async def test_it_is_served_over_http(serve):
    api = await serve(Served(Desk, STAFF))
    session = await api.begin("desk")

    assert (await api.says(session, "hello"))["message"] == ASKED
    reply = await api.says(session, "it is broken")
    assert (reply["pathway_id"], reply["metadata"]["journey_id"]) == ("repair.report", "repair")
    events = await api.hears(session, "thing=door visit=monday")
    assert events[-1][1]["metadata"]["journey_completed"] is None
    await api.says(session, "visit=monday")
    rows = (await api.client.get(f"{session}/versions")).json()["versions"]
    assert [row["journey_id"] for row in rows] == [None, None, "repair", "repair", None]
    known = (await api.client.get("/v1/journeys/desk")).json()
    assert json.dumps(known).count("moving.identify") > 0
    drawn = await api.client.get("/v1/journeys/desk/graph")
    assert "moving.identify" in drawn.text


async def test_an_agent_named_in_two_journeys_is_one(talk, memory_url):
    class Again(Journey):
        """Report once more."""

        __activation__ = [said("again")]

        class AskPath(Pathway):
            __agents__ = ["reporter"]

    class Twice(Concierge):
        __journeys__ = [Repair, Again]

    agents = {**staff(Twice), "reporter": Agent(clerk("the same"), description="Reports")}
    chat: Talk = await talk(Twice, agents, memory_url)

    assert await chat.says("again") == "the same: again"
    assert await chat.says("is broken") == "the same: is broken"
