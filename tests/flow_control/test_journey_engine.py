"""Flow control, requirement "Journey Engine": activation, state transitions, guidance.

Loading of definitions is in test_definition_loading.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from journeygraph import Call, ConditionTrigger, Guideline, IntentTrigger, Texts, Transition
from journeygraph.journeys.concierge import Concierge
from journeygraph.nodes.llm.scripted import leads_nowhere, leads_to, rules_hold
from tests.flow_control import line as the_line
from tests.flow_control.line import (
    HAPPY,
    asked,
    flags,
    held,
    journey,
    kinds,
    moves,
    rules,
    state,
    system,
    word,
)

server, scripted, line = the_line.server, the_line.scripted, the_line.line
UNDERSTAND_AND_REPLY = ["understanding", "answer"]
THEMES = ("Billing", "Outage", "Moving", "Contract", "Devices")


def desk(otherwise: str = "ask", **body: Any) -> type[Concierge]:
    """A concierge of five journeys, each started by what a model judges; ten moves in the first."""
    first = journey(THEMES[0], **moves(10), __activation__=["asks about Billing"])
    others = [journey(name, __activation__=[f"asks about {name}"]) for name in THEMES[1:]]
    listed = {"__journeys__": [first, *others], "__otherwise__": otherwise, **body}
    return type("Desk", (Concierge,), {"__doc__": "Help customers.", **listed})


# Scenario: Journey activation


async def test_journey_activation_judges_five_journeys_and_their_guidelines_in_one_call(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    answers = (rules_hold("rule_5", to="outage.desk"), HAPPY)
    with scripted(*answers) as script:
        chat = await line(desk(__guidelines__=rules(100)))
        assert chat.journey.session_id == "s-1"
        await chat.says(f"The line is dead, it is about {word(5)}")

        assert kinds(script) == UNDERSTAND_AND_REPLY
        assert len(asked(script.calls[0])["questions"]) == 5
        assert (chat.path, held(chat)) == (["outage.desk"], ["rule_5"])


@pytest.mark.parametrize(
    ("confidence", "starts"),
    [(0.6999999, False), (0.7, False), (0.7000001, True), (1.0, True), (1.0000001, False)],
    ids=["below", "at", "over", "sure", "no confidence"],
)
async def test_journey_activation_needs_confidence_over_0_7(
    line: Callable[..., Any], scripted: Callable[..., Any], confidence: float, starts: bool
) -> None:
    answers = [leads_to("moving.desk", confidence=confidence), *([HAPPY] if starts else [])]
    with scripted(*answers):
        chat = await line(desk())
        said = await chat.says("I have news")

        assert chat.last.metadata["journey_id"] == ("moving" if starts else None)
        assert (said == "Certainly.") is starts


async def test_journey_activation_takes_the_surest_of_those_over_the_threshold(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    def two_hold(call: Any) -> dict[str, Any]:
        sure = {"moving.desk": 0.8, "outage.desk": 0.9}
        verdicts = [
            {
                "question": question["question"],
                "holds": question["leads_to"] in sure,
                "confidence": sure.get(question["leads_to"], 0.9),
                "reason": "scripted",
            }
            for question in asked(call)["questions"]
        ]
        return {"verdicts": verdicts, "commands": []}

    with scripted(two_hold, HAPPY):
        chat = await line(desk())
        await chat.says("We move, and the line is dead there")

        assert chat.path == ["outage.desk"]


async def test_journey_activation_creates_the_context_of_the_journey_and_keeps_it(
    line: Callable[..., Any], scripted: Callable[..., Any], talk: Any, tmp_path: Path
) -> None:
    """session_id, journey_id, current_state, variables, activated_at: also in another process."""
    url = f"sqlite:///{tmp_path / 'journeys.db'}"
    with scripted(leads_to("outage.desk"), HAPPY):
        chat = await talk(desk(), {}, url, context={"customer_id": "C-1"})
        await chat.says("The line is dead")

        activated_at = chat.last.metadata["activated_at"]
        assert activated_at == (await chat.journey.versions())[1].begun_at
        await chat.restored()
        kept = await chat.journey.get_session_state()
        assert (kept.session_id, kept.current_pathway_id) == ("s-1", "outage.desk")
        assert kept.accumulated_context == {"customer_id": "C-1"}
        assert (await chat.journey.versions())[1].journey_id == "outage"

    with scripted(HAPPY):
        await chat.says("Well?")
        told = chat.last.metadata
        assert (told["journey_id"], told["activated_at"]) == ("outage", activated_at)


@pytest.mark.parametrize(
    ("otherwise", "calls"),
    [("ask", 1), ("canned", 1), ("freeform", 2)],
)
async def test_journey_activation_below_the_threshold_has_the_configured_outcome(
    line: Callable[..., Any], scripted: Callable[..., Any], otherwise: str, calls: int
) -> None:
    unsure = leads_to("moving.desk", confidence=0.7)
    with scripted(*[unsure, {"response": "Tell me more."}][:calls]) as script:
        chat = await line(desk(otherwise))
        said = await chat.says("Hm")

        assert chat.last.metadata["journey_id"] is None
        assert len(script.calls) == calls
        if otherwise == "ask":  # the one that it may have been comes first
            offered = [row for row in said.splitlines() if row.startswith("- ")]
            assert offered[0].startswith("- Moving")
            assert len(offered) == 5
        else:
            wanted = {"canned": Texts().unsure, "freeform": "Tell me more."}
            assert said == wanted[otherwise]


async def test_journey_activation_by_a_pattern_costs_no_call_to_understand(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    by_word = journey("Parcel", __activation__=[IntentTrigger(patterns=["my parcel"])])
    kind = type("Desk", (Concierge,), {"__journeys__": [by_word]})
    with scripted(HAPPY) as script:
        chat = await line(kind)
        await chat.says("Where is my parcel?")

        assert (chat.path, kinds(script)) == (["parcel.desk"], ["answer"])


# Scenario: State transitions


@pytest.mark.parametrize("number", [20, 100, 1000], ids=str)
async def test_state_transitions_of_an_active_journey_are_one_call_beside_all_guidelines(
    line: Callable[..., Any], scripted: Callable[..., Any], number: int
) -> None:
    answers = (
        *(leads_to("billing.desk"), HAPPY),
        *(rules_hold("rule_9", to="billing.topic7"), HAPPY),
    )
    with scripted(*answers) as script:
        chat = await line(desk(__guidelines__=rules(number)))
        await chat.says("My bill")
        await chat.says(f"Topic seven, and {word(9)}")

        assert kinds(script) == UNDERSTAND_AND_REPLY * 2
        assert len(asked(script.calls[2])["questions"]) >= 10
        assert len(asked(script.calls[2])["rules"]) <= 20
        assert (chat.path[-1], held(chat)) == ("billing.topic7", ["rule_9"])


async def test_state_transitions_take_the_highest_priority_that_is_satisfied(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    def wants(text: str, to: str, priority: int) -> Transition:
        return Transition(IntentTrigger(description=text), to_pathway=to, priority=priority)

    def all_hold(call: Any) -> dict[str, Any]:
        verdicts = [
            {"question": q["question"], "holds": q["leads_to"] != "top", "confidence": sure}
            for q, sure in zip(asked(call)["questions"], (0.99, 0.71, 0.98), strict=True)
        ]
        return {"verdicts": [{**v, "reason": ""} for v in verdicts], "commands": []}

    paths: dict[str, Any] = {f"{name}Path": state() for name in ("Desk", "Top", "High", "Low")}
    listed = [wants("x", "top", 9), wants("y", "high", 5), wants("z", "low", 1)]
    with scripted(all_hold, HAPPY):
        chat = await line(journey(**paths, __transitions__=listed))
        await chat.says("hm")

        assert chat.path == ["high"]


async def test_state_transitions_update_the_state_its_history_and_the_context_for_good(
    scripted: Callable[..., Any], talk: Any, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path / 'journeys.db'}"
    body: dict[str, Any] = {
        "DeskPath": state(),
        "BillPath": state(),
        "__transitions__": [
            Transition(
                IntentTrigger(description="asks about a bill"),
                to_pathway="bill",
                context_update={"theme": "set:bill"},
            ),
            Transition(
                ConditionTrigger(lambda context: context.get("theme") == "bill"),
                from_pathway="bill",
                to_pathway="desk",
            ),
        ],
    }
    with scripted(leads_nowhere, HAPPY, leads_to("bill"), HAPPY, HAPPY):
        chat = await talk(journey(**body), {}, url)
        await chat.says("Hello")
        await chat.says("My bill")
        await chat.restored()
        kept = await chat.journey.get_session_state()
        assert (kept.current_pathway_id, kept.accumulated_context) == ("bill", {"theme": "bill"})
        await chat.says("Thanks")

        assert [version.pathway_id for version in await chat.journey.versions()] == [
            *("desk", "desk", "bill", "desk")
        ]
        moved = [e for e in await chat.journey.audit() if e.kind == "transition"]
        assert [(e.from_pathway, e.to_pathway) for e in moved] == [
            ("desk", "bill"),
            ("bill", "desk"),
        ]


# Scenario: State guidance injection


async def test_state_guidance_injection_puts_the_action_into_the_system_prompt_of_that_state(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    body: dict[str, Any] = {
        "DeskPath": state(__action__="Ask for the policy number first."),
        "BillPath": state(__action__="Never promise a refund."),
        "__transitions__": [
            Transition(IntentTrigger(patterns=["bill"], use_llm_fallback=False), to_pathway="bill")
        ],
    }
    with scripted(HAPPY, HAPPY) as script:
        chat = await line(journey(**body))
        await chat.says("Hello")
        await chat.says("My bill")

        told = [system(call) for call in script.calls]
        assert ["Ask for the policy number" in text for text in told] == [True, False]
        assert ["Never promise a refund" in text for text in told] == [False, True]


async def test_state_guidance_injection_calls_the_tools_of_a_tool_state_before_the_model(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    happened: list[str] = []

    def find_policy(number: str) -> dict[str, str]:
        """Look a policy up."""
        happened.append(f"looked up {number}")
        return {"kind": "household"}

    def reply(call: Any) -> dict[str, str]:
        happened.append("asked the model")
        assert "household" in call.text
        return {"response": "It is a household policy."}

    looking = state(__calls__=[Call("find_policy", {"number": "policy"}, save="found")])
    with scripted(reply) as script:
        chat = await line(
            journey(DeskPath=looking),
            options={"tools": {"find_policy": find_policy}},
            context={"policy": "P-17"},
        )

        assert await chat.says("Which policy is it?") == "It is a household policy."
        assert happened == ["looked up P-17", "asked the model"]
        assert kinds(script) == ["answer"]
        assert chat.context["found"] == {"kind": "household"}


async def test_state_guidance_injection_gives_the_tools_of_a_guideline_in_its_turn_alone(
    line: Callable[..., Any], scripted: Callable[..., Any]
) -> None:
    def send_taxi(where: str) -> str:
        """Send a taxi."""
        return f"on its way to {where}"

    stranded = Guideline(
        id="stranded",
        condition="cannot get home",
        action="offer a taxi",
        always=True,
        tools=["send_taxi"],
    )
    with scripted(rules_hold("stranded"), HAPPY, rules_hold(), HAPPY) as script:
        chat = await line(
            journey(__guidelines__=[stranded]), options={"tools": {"send_taxi": send_taxi}}
        )
        await chat.says("I am stuck on the motorway")
        await chat.says("Thank you")

        assert [call.tools for call in script.calls if call.schema_name == "answer"] == [
            ["send_taxi"],
            [],
        ]
        assert flags(chat) == []
