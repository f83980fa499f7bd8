"""Flow control: how definitions are loaded, and what is kept of them and of sessions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from journeys import JourneyDefinitionError, load_journey
from nodes.llm.scripted import leads_to, rules_hold
from tests.flow_control import line as the_line
from tests.flow_control.line import HAPPY, asked, held, kinds, system

server, scripted, line = the_line.server, the_line.scripted, the_line.line

CLAIM = """\
id: claim
version: "7"
name: Claims
instructions: Settle a claim.
tools:
  - type: function
    function:
      name: find_policy
      description: Look a policy up by its number.
      parameters: {type: object, properties: {number: {type: string}}, required: [number]}
activation_conditions:
  - reports a damage
initial_state: report
states:
  report:
    purpose: Hear what happened.
    action: Ask what happened first.
    complete_when: never
  policy:
    kind: tool
    calls:
      - {tool: find_policy, arguments: {number: policy_number}, save: policy}
    action: Say which policy it is.
    complete_when: never
    guidelines:
      - {id: lapsed, condition: the policy has lapsed, action: offer a renewal, always: true}
transitions:
  - {to: policy, condition: asks about the policy, priority: 5}
guidelines:
  - {id: upset, condition: sounds upset, action: calm them, keywords: [upset, angry]}
  - {id: known, when: "context.policy_number != ''", action: greet by name, scope: global}
"""
SALES = {
    "id": "sales",
    "name": "Sales",
    "instructions": "Sell insurance.",
    "activation_conditions": ["wants to buy"],
    "initial_state": "offer",
    "states": {"offer": {"action": "Name no price.", "complete_when": "never"}},
}
DESK = """\
id: desk
journeys: [claim.yaml, sales.json]
otherwise: ask
"""


def find_policy(number: str) -> dict[str, str]:
    """Look a policy up."""
    return {"number": number, "kind": "household"}


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with a concierge of two journeys: one in YAML, one in JSON."""
    (tmp_path / "claim.yaml").write_text(CLAIM)
    (tmp_path / "sales.json").write_text(json.dumps(SALES))
    (tmp_path / "desk.yaml").write_text(DESK)
    return tmp_path


# Scenario: Journey definition loading


def test_definition_loading_gives_the_same_journey_from_yaml_and_from_json(desk: Path) -> None:
    """Each includes id, name, activation conditions, states, transitions and its first state."""
    (desk / "claim.json").write_text(json.dumps(YAML(typ="safe").load(CLAIM)))
    one, other = (load_journey(desk / name).spec for name in ("claim.yaml", "claim.json"))

    assert (one.id, one.name, one.version) == ("claim", "Claims", "7")
    assert (one.entry, list(one.pathways)) == ("report", ["report", "policy"])
    assert [t.description for t in one.activation] == ["reports a damage"]  # type: ignore[attr-defined]
    assert [(move.target, move.priority) for move in one.transitions] == [("policy", 5)]
    assert [rule.id for rule in one.guidelines] == [rule.id for rule in other.guidelines]
    assert list(one.tools) == list(other.tools) == ["find_policy"]
    assert (one.pathways["policy"].action, one.purpose) == (
        "Say which policy it is.",
        "Settle a claim.",
    )
    assert other.pathways["policy"].calls == one.pathways["policy"].calls


async def test_definition_loading_ends_in_a_conversation_as_any_other(
    line: Callable[..., Any], scripted: Callable[..., Any], desk: Path
) -> None:
    """Activation, guidance, a tool state, guidelines of all scopes; one call to understand each."""
    answers = (
        *(rules_hold("claim.upset", to="claim.report"), HAPPY),
        *(rules_hold("claim.lapsed", to="claim.policy"), HAPPY),
    )
    with scripted(*answers) as script:
        chat = await line(
            load_journey(desk / "desk.yaml"),
            options={"tools": {"find_policy": find_policy}},
            context={"policy_number": "P-17"},
        )
        await chat.says("I am upset, my roof is gone")
        assert chat.last.metadata["journey_id"] == "claim"
        assert held(chat) == ["claim.upset", "claim.known"]
        assert "Ask what happened first." in system(script.calls[1])

        await chat.says("Which policy is it?")
        assert (chat.path[-1], held(chat)) == ("claim.policy", ["claim.lapsed", "claim.known"])
        assert "household" in script.calls[3].text
        assert chat.context["policy"]["kind"] == "household"
        assert kinds(script) == ["understanding", "answer"] * 2
        assert {q["leads_to"] for q in asked(script.calls[0])["questions"]} == {
            "claim.report",
            "sales.offer",
        }


async def test_definition_loading_refuses_every_fault_at_once_with_its_place(desk: Path) -> None:
    faulty = CLAIM.replace("to: policy,", "to: polcy,").replace("kind: tool", "kind: tol")
    (desk / "claim.yaml").write_text(faulty)

    with pytest.raises(JourneyDefinitionError) as raised:
        load_journey(desk / "desk.yaml")

    said = str(raised.value)
    lines = {word: faulty[: faulty.index(word)].count("\n") + 1 for word in ("polcy", "tol\n")}
    for number in lines.values():
        assert f"claim.yaml:{number}:" in said


async def test_definition_loading_of_a_json_journey_is_activated_too(
    line: Callable[..., Any], scripted: Callable[..., Any], desk: Path
) -> None:
    with scripted(leads_to("sales.offer", confidence=0.71), HAPPY) as script:
        chat = await line(
            load_journey(desk / "desk.yaml"), options={"tools": {"find_policy": find_policy}}
        )
        await chat.says("I want to insure a boat")

        assert chat.last.metadata["journey_id"] == "sales"
        assert "Name no price." in system(script.calls[1])
