"""Guidelines in a conversation: which hold, what they change, and what it costs to find out."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    Guideline,
    InputField,
    IntentTrigger,
    Journey,
    JourneyDefinitionError,
    ModelAgent,
    OutputField,
    Pathway,
    ReturnToPrevious,
    Signature,
    Transition,
)
from journeygraph.nodes.llm.scripted import Fault, ScriptedModel, leads_nowhere, rules_hold


class Serve(Signature):
    """Serve the guest."""

    message: str = InputField(description="What the guest says")
    response: str = OutputField(description="What to say back")


class Inn(Journey):
    """Look after the guests of an inn."""

    class DeskPath(Pathway):
        """Answer at the desk."""

        __signature__ = Serve
        __agents__ = ["clerk"]
        __complete_when__ = NEVER
        __action__ = "Say the guest's name once."
        __guidelines__ = [
            Guideline(
                id="late",
                condition="the guest arrives late",
                action="offer the night porter",
                keywords=["late", "midnight"],
                tools=["call_porter"],
            ),
        ]

    class BarPath(Pathway):
        """Serve drinks."""

        __signature__ = Serve
        __agents__ = ["clerk"]
        __return_behavior__ = ReturnToPrevious()
        __guidelines__ = [
            Guideline(id="tired", condition="the guest is tired", action="close", always=True),
        ]

    __guidelines__ = [
        Guideline(
            id="angry", condition="the guest is angry", action="apologise first", always=True
        ),
        Guideline(
            id="noise",
            condition="the guest complains of noise",
            action="offer another room",
            keywords=["noise", "loud music"],
            priority=5,
            excludes=["late"],
        ),
        Guideline(id="house", action="be brief", always=True, scope="global", priority=99),
        Guideline(
            id="vip", action="offer tea", when=lambda said, context: context.get("vip") is True
        ),
        Guideline(id="off", action="never", always=True, enabled=False),
        Guideline(
            id="needy", condition="it rains", action="lend", keywords=["rain"], depends_on=["vip"]
        ),
    ]
    __transitions__ = [
        Transition(IntentTrigger(["a drink"], description="wants a drink"), to_pathway="bar"),
    ]


def call_porter(name: str) -> str:
    """Call the night porter."""
    return f"{name} is coming"


def ring_bell() -> str:
    """Ring the bell."""
    return "ding"


TOOLS = {"call_porter": call_porter, "ring_bell": ring_bell}


@pytest.fixture
def inn(talk, memory_url):
    """Open a conversation at the inn: `await inn(model)`."""

    async def begin(model: Any, clerk: Any = None, **options: Any):
        given = {"model": model, "tools": TOOLS}
        agents = {"clerk": clerk or ModelAgent()}
        return await talk(Inn, agents, memory_url, options=given, **options)

    return begin


def held(chat: Any) -> list[str]:
    return list(chat.last.metadata["guidelines"])


async def test_one_call_judges_the_way_and_the_rules_and_the_agents_follow_them(inn):
    with ScriptedModel(rules_hold("angry", "late"), {"response": "Sorry!"}) as model:
        chat = await inn(model)

        assert await chat.says("I come late, and I am furious") == "Sorry!"

        understanding, agent = model.calls
        assert understanding.schema_name == "understanding"
        assert held(chat) == ["late", "angry", "house"]
        system = agent.messages[0]["content"]
        assert "Say the guest's name once." in system
        rules = [system.index(said) for said in ("night porter", "apologise first", "be brief")]
        assert rules == sorted(rules)
        assert "offer tea" not in system
        assert "call_porter" in agent.tools
        assert chat.last.metadata["usage"]["model_calls"] == 2


async def test_matched_actions_and_tools_reach_the_agents_of_this_turn_only(inn):
    answers: list[Any] = [
        rules_hold("late"),
        {"response": "Come!"},
        leads_nowhere,
        {"response": "Yes."},
    ]
    with ScriptedModel(*answers) as model:
        chat = await inn(model)
        await chat.says("We come late")
        await chat.says("Thanks")

        assert "night porter" not in model.calls[3].text.split("Come!")[0]
        assert model.calls[3].tools == ["ring_bell"]
        assert held(chat) == ["house"]


async def test_few_rules_are_all_asked_about_but_none_of_another_state_and_none_of_code(inn):
    with ScriptedModel(leads_nowhere, {"response": "Hello."}) as model:
        chat = await inn(model)
        await chat.says("Good evening")

        asked = {rule["rule"] for rule in json.loads(model.calls[0].message)["rules"]}
        # `tired` is of the bar, to which the message could still lead.
        assert asked == {"late", "noise", "needy", "angry", "tired"}


async def test_of_many_rules_words_choose(inn):
    with ScriptedModel(leads_nowhere, {"response": "Hello."}) as model:
        chat = await inn(model, guideline_candidates=3)
        await chat.says("We come late")

        asked = {rule["rule"] for rule in json.loads(model.calls[0].message)["rules"]}
        assert asked == {"late", "angry", "tired"}


async def test_a_free_trigger_settles_the_way_and_the_rules_of_where_it_leads_are_asked(inn):
    with ScriptedModel(rules_hold("tired"), {"response": "Cheers."}) as model:
        chat = await inn(model)
        await chat.says("a drink, please")

        assert chat.path == ["bar"]
        assert held(chat) == ["tired", "house"]
        assert json.loads(model.calls[0].message)["give"] == ["rules_that_hold"]


async def test_relations_are_settled_without_a_model_and_audited(inn):
    answers: list[Any] = [rules_hold("late", "noise", "needy"), {"response": "Moved."}]
    with ScriptedModel(*answers) as model:
        chat = await inn(model)
        await chat.says("Late, and loud music, in the rain")

        assert held(chat) == ["noise", "house"]
        dropped = [e for e in await chat.journey.audit() if e.kind == "guideline_dropped"]
        assert {e.trigger: e.reason for e in dropped} == {
            "late": "excluded by 'noise'",
            "needy": "depends on 'vip', which does not hold",
        }
        kept = [e for e in await chat.journey.audit() if e.kind == "guideline"]
        assert [(e.trigger, e.confidence) for e in kept][:2] == [("noise", 0.95), ("house", 1.0)]


@pytest.mark.parametrize(("confidence", "holds"), [(0.6, False), (0.6000001, True), (1.01, False)])
async def test_a_rule_needs_more_than_the_threshold(inn, confidence, holds):
    answers: list[Any] = [rules_hold("angry", confidence=confidence), {"response": "Hm."}]
    with ScriptedModel(*answers) as model:
        chat = await inn(model)
        await chat.says("Hmpf")

        assert ("angry" in held(chat)) is holds


async def test_what_the_model_was_not_asked_is_dropped(inn):
    said = {
        "verdicts": [],
        "commands": [],
        "rules_that_hold": [{"rule": "off", "confidence": 1, "reason": "x"}],
    }
    with ScriptedModel(said, {"response": "Hm."}) as model:
        chat = await inn(model)
        await chat.says("Hello")

        assert held(chat) == ["house"]
        assert "dropped" in await chat.audited()


async def test_of_what_a_model_makes_up_the_audit_names_a_few(inn):
    made_up = [{"rule": f"r{n}", "confidence": 1, "reason": "x"} for n in range(20)]
    said = {"verdicts": [], "commands": [], "rules_that_hold": made_up}
    with ScriptedModel(said, {"response": "Hm."}) as model:
        chat = await inn(model)
        await chat.says("Hello")

        rows = [row.reason for row in await chat.journey.audit() if row.kind == "dropped"]
        assert len(rows) == 9
        assert rows[-1] == "12 more are not open here"


async def test_code_decides_without_a_call(inn):
    clerk = lambda ask: ", ".join(rule["action"] for rule in ask.get("guidelines", ()))  # noqa: E731
    with ScriptedModel(leads_nowhere) as model:
        chat = await inn(model, clerk, context={"vip": True})

        assert await chat.says("Good evening") == "offer tea, be brief"


async def test_without_a_model_an_authors_keywords_decide(inn):
    clerk = lambda ask: ", ".join(rule["id"] for rule in ask.get("guidelines", ()))  # noqa: E731
    chat = await inn(False, clerk)

    assert await chat.says("The noises!") == "noise, angry, house"
    assert chat.last.metadata["usage"]["model_calls"] == 0


@pytest.mark.parametrize(
    "fault", [Fault.status(400), "no json", Fault.hang()], ids=["refused", "no json", "hanging"]
)
async def test_when_the_message_is_not_understood_what_needs_no_model_holds(inn, fault):
    clerk = lambda ask: ", ".join(rule["id"] for rule in ask.get("guidelines", ()))  # noqa: E731
    with ScriptedModel(fault) as model:
        chat = await inn(model, clerk, context={"vip": True}, intent_timeout_seconds=0.2)

        assert await chat.says("Late at midnight, with loud music") == "angry, vip, house"
        assert "guidelines_bypassed" in chat.last.metadata["flags"]


async def test_a_matcher_that_hangs_or_raises_counts_as_false_but_a_critical_rule_holds(solo):
    async def hangs(said, context):
        await asyncio.sleep(60)

    def breaks(said, context):
        raise LookupError("no such table")

    class Desk(Journey):
        class DeskPath(Pathway):
            __agents__ = ["clerk"]
            __complete_when__ = NEVER

        __guidelines__ = [
            Guideline(id="hanging", action="x", when=hangs),
            Guideline(id="broken", action="y", when=breaks, critical=True),
        ]

    ids = lambda ask: ", ".join(rule["id"] for rule in ask.get("guidelines", ()))  # noqa: E731
    chat = await solo(ids, Desk, guideline_timeout_seconds=0.02)

    assert await chat.says("Hello") == "broken"
    assert "guidelines_bypassed" in chat.last.metadata["flags"]
    reasons = [e.reason for e in await chat.journey.audit() if e.kind == "condition_raised"]
    assert reasons == ["TimeoutError", "LookupError: no such table"]


FAULTY: list[tuple[dict[str, Any], str]] = [
    ({"condition": "x", "action": ""}, "it does nothing"),
    ({"condition": ""}, "it never applies"),
    ({"forbids": ["z"]}, "Set critical to true"),
    ({"scope": "sate"}, "Did you mean 'state'?"),
    ({"scope": "state"}, "write it in __guidelines__ of that pathway"),
    ({"keywords": "late"}, "keywords is 'late'; it must be a list"),
    ({"when": lambda: True}, "(message, context)"),
    ({"excludes": ["gone"]}, "which is not a guideline"),
    ({"id": "a", "depends_on": ["a"]}, "contains the guideline"),
    ({"priority": "1"}, "it must be a whole number"),
    ({"always": 1}, "it must be True or False"),
    ({"id": "a" * 201}, "at most 200 characters"),
    ({"id": "a\0b"}, "it must be printable text"),
]


@pytest.mark.parametrize(("given", "fault"), FAULTY, ids=[fault for _, fault in FAULTY])
def test_a_faulty_guideline_is_named_with_its_remedy(given, fault):
    guideline = Guideline(**{"condition": "x", "action": "y", **given})
    path = type("DeskPath", (Pathway,), {"__agents__": ["clerk"]})
    with pytest.raises(JourneyDefinitionError) as raised:
        type("Desk", (Journey,), {"DeskPath": path, "__guidelines__": [guideline]})

    assert fault in str(raised.value)
    assert "Desk.__guidelines__[0]" in str(raised.value)


def test_every_guideline_has_an_id_of_its_own():
    class Office(Journey):
        class DeskPath(Pathway):
            __agents__ = ["clerk"]

        __guidelines__ = [
            Guideline(condition="asks for the invoice", action="a"),
            Guideline(condition="Asks for the invoice", action="b"),
            Guideline(condition="asks for the invoice 2", action="c"),
            Guideline(tools=["send_copy"], always=True),
            Guideline(forbids=["by tomorrow"], critical=True),
        ]

    assert [(rule.id, rule.action) for rule in Office.spec.guidelines] == [
        ("asks_for_the_invoice", "a"),
        ("asks_for_the_invoice_3", "b"),
        ("asks_for_the_invoice_2", "c"),
        ("send_copy", ""),
        ("by_tomorrow", ""),
    ]


def test_so_many_rules_in_every_turn_that_words_choose_none_are_warned_of():
    rules = [Guideline(condition=f"case {n}", action="act", always=True) for n in range(20)]
    path = type("DeskPath", (Pathway,), {"__agents__": ["clerk"]})

    def warnings(given: list[Guideline]) -> str:
        desk: type[Journey] = type("Desk", (Journey,), {"DeskPath": path, "__guidelines__": given})
        return " ".join(desk.spec.warnings)

    assert "20 guidelines are put to a model in every turn" in warnings(rules)
    assert "guidelines" not in warnings(rules[1:])


def test_an_id_that_an_author_gives_twice_is_named_with_both_places():
    rules = [Guideline(id="late", condition=said, action="act") for said in ("one", "two")]
    path = type("DeskPath", (Pathway,), {"__agents__": ["clerk"]})
    with pytest.raises(JourneyDefinitionError) as raised:
        type("Desk", (Journey,), {"DeskPath": path, "__guidelines__": rules})

    assert str(raised.value) == (
        "Desk.__guidelines__[1]: the id 'late' is already used by Desk.__guidelines__[0]."
    )


async def test_what_one_matcher_does_to_the_context_no_other_one_sees(solo):
    def meddles(said: str, known: Any) -> None:
        known["seen"] = 1

    class Desk(Journey):
        class DeskPath(Pathway):
            __agents__ = ["clerk"]
            __complete_when__ = NEVER

        __guidelines__ = [
            Guideline(id="first", action="x", when=meddles),
            Guideline(id="second", action="y", when=lambda said, known: "seen" in known),
        ]

    chat = await solo(lambda ask: "fine", Desk)
    await chat.says("Hello")

    assert held(chat) == []


def test_pathways_may_have_a_rule_from_a_common_base():
    class Polite(Pathway):
        __agents__ = ["clerk"]
        __guidelines__ = [Guideline(id="greet", condition="is new", action="greet")]

    class Desk(Journey):
        class FirstPath(Polite):
            __next__ = "second"

        class SecondPath(Polite):
            pass

    assert [(g.id, g.pathway) for g in Desk.spec.guidelines] == [
        ("greet", "first"),
        ("greet_2", "second"),
    ]
