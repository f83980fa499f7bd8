"""Flow control, requirement "Journey Engine": activation, state transitions, guidance.

Loading of definitions is in test_definition_loading.py.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from journeygraph import Guideline, IntentTrigger, Transition
from journeygraph.journeys.concierge import Concierge
from journeygraph.nodes.llm.scripted import leads_to, rules_hold
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
