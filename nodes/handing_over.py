"""At the end of a turn: is a person called, and what are they told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from journeys import Escalation, JourneySpec
from nodes.authored import FAILURES
from nodes.briefing import briefing_of
from nodes.escalating import (
    PolicyFacts,
    escalate,
    escalation_of,
    policy_met,
    standing_policies,
    takeover_of,
)
from nodes.forms.sheet import Sheet
from nodes.moves import note
from nodes.plain import words_of
from nodes.services import Services
from nodes.state import PARTING, Position, Turn
from nodes.talk import DialogueState, EscalationChange, with_dialogue
from nodes.telemetry import person_called

_JUDGED = ("turn", "failure")
"""Kinds of turns after which the policies are tried."""


def hand_over(services: Services, state: Mapping[str, Any], turn: Turn) -> tuple[Position, Turn]:
    """Call a person if a policy is met; write down what they are told, whoever called them.

    Args:
        services: What the turn works with.
        state: The state as the turn leaves it.
        turn: Its record.
    """
    position: Position = state["position"]
    dialogue = DialogueState.of(position)
    dialogue.began_at = dialogue.began_at or turn["at"]
    policy = escalation_of(services.spec, position, dialogue.takeover)
    policy = policy or _of_completed(services.spec, turn)
    if policy is None:
        return with_dialogue(position, dialogue), turn
    kinds = {event["kind"] for event in turn["audit"]}
    if dialogue.takeover is None and turn["kind"] in _JUDGED and "released" not in kinds:
        turn = _judged(services, policy, state, dialogue, turn)
    position = with_dialogue(position, dialogue)
    if any(event["kind"] == "escalated" for event in turn["audit"]):
        turn = _written(services, {**state, "position": position}, turn)
    return position, turn


def _of_completed(spec: JourneySpec, turn: Turn) -> Escalation | None:
    """Return the policies of the journey of a concierge that this turn completed."""
    completed = turn.get("completed")
    return spec.parts[completed["journey"]].escalation if completed else None


def _judged(
    services: Services,
    policy: Escalation,
    state: Mapping[str, Any],
    dialogue: DialogueState,
    turn: Turn,
) -> Turn:
    """Try the policies, and call a person where one is met."""
    position: Position = state["position"]
    facts = _facts(services.spec, state, dialogue, turn)
    policy, audit = _working(policy, facts, position)
    reason = policy_met(policy, facts)
    called = standing_policies(policy, facts)
    if sorted(called) != sorted(facts.called):
        dialogue.called = list(called)
    turn = {**turn, "audit": [*turn["audit"], *audit]}
    if reason is None:
        return turn
    events = escalate(services.spec, position, dialogue, reason, turn)
    text = services.texts_in(position["pathway"]).human_called
    # What came before was heard already, checked or not; this is the runtime's own voice.
    services.emit({"type": "token", "text": PARTING + text if turn["replies"] else text})
    return {
        **turn,
        "replies": [*turn["replies"], text],
        "worded": [*turn.get("worded", ()), len(turn["replies"])],
        "audit": [*turn["audit"], *events],
    }


def _working(
    policy: Escalation, facts: PolicyFacts, position: Position
) -> tuple[Escalation, list[dict[str, Any]]]:
    """Return the policies without a condition that raises, which is audited."""
    try:
        standing_policies(policy, facts)
    except FAILURES as error:  # whatever an author's function raises
        reason = f"Escalation(when=) raised {words_of(error)}"
        return replace(policy, when=None), [note("condition_raised", position, reason=reason)]
    return policy, []


def _facts(
    spec: JourneySpec, state: Mapping[str, Any], dialogue: DialogueState, turn: Turn
) -> PolicyFacts:
    began = datetime.fromisoformat(dialogue.began_at or turn["at"])
    return PolicyFacts(
        message=turn["message"] or "",
        exhausted=_exhausted(spec, dialogue.retries),
        failures=max(dialogue.failures, state["position"]["failures"]),
        context=state.get("context", {}),
        seconds=(datetime.fromisoformat(turn["at"]) - began).total_seconds(),
        collected=bool(turn.get("completed")) or _is_collected(spec, state, dialogue),
        called=dialogue.called,
    )


def _exhausted(spec: JourneySpec, retries: Mapping[str, int]) -> list[str]:
    limits = {
        field.name: field.max_attempts
        for pathway in spec.pathways.values()
        if pathway.form
        for field in pathway.form.fields
    }
    return [name for name, times in retries.items() if times >= limits.get(name, times + 1)]


def _is_collected(spec: JourneySpec, state: Mapping[str, Any], dialogue: DialogueState) -> bool:
    """Say whether every form that can be come to is filled in, read back and agreed to."""
    position: Position = state["position"]
    active = spec.active_in(position["pathway"])
    given = (state.get("fields", {}), state.get("context", {}), dialogue)
    forms = [
        Sheet(pathway, *given)
        for pathway in spec.pathways.values()
        if pathway.form and pathway.id in spec.reachable and spec.active_in(pathway.id) == active
    ]
    return bool(forms) and all(sheet.is_closed for sheet in forms)


def _written(services: Services, state: Mapping[str, Any], turn: Turn) -> Turn:
    """Write a new escalation into the record of the turn, from which its row is made."""
    takeover = takeover_of(state["position"])
    if takeover is None:
        return turn
    opened = EscalationChange(
        id=takeover["id"],
        status="open",
        by=None,
        reason=takeover["reason"],
        payload=briefing_of(services, state, turn),
    )
    person_called(services.spec.id, takeover["reason"])
    return {**turn, "escalations": [*turn.get("escalations", ()), opened]}
