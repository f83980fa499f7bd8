"""Hand a conversation to a person, and take it back: a status of the session, not a move.

Stack and pathway stay as they are while a person has the conversation.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from journeygraph.journeys import Escalation, JourneySpec
from journeygraph.journeys.phrases import said
from journeygraph.nodes.json_data import copied
from journeygraph.nodes.state.dialogue_state import DialogueState, Takeover
from journeygraph.nodes.state.session import Position, Turn
from journeygraph.nodes.state.stack import note

WITH_PERSON = "with_person"
"""Flag of a turn in which the assistant was silent, since a person has the conversation."""
CALLING = ("human", "unclaimed")
"""Kinds of questions that are about the call for a person itself."""


def escalation_of(
    spec: JourneySpec, position: Position, takeover: Takeover | None
) -> Escalation | None:
    """Return the policies for a session; None: a call for a person is not possible.

    While a person has the conversation they are those by which that came about, also where the
    journey of a concierge that called is over.
    """
    called = spec.parts.get(takeover.get("journey", "")) if takeover else None
    at = position["pathway"]
    active = called or (spec.part_of(at) if at in spec.pathways else spec)
    return active.escalation or spec.escalation


def takeover_of(position: Position) -> Takeover | None:
    """Return who has the conversation; None if that is the assistant."""
    talk = position.get("talk")
    return talk.get("takeover") if talk else None


def escalate(
    spec: JourneySpec, position: Position, dialogue: DialogueState, reason: str, turn: Turn
) -> list[dict[str, Any]]:
    """Call a person, for a reason as of `policy_met`; return the audit events.

    Nothing changes if no call is possible, or a person already has the conversation.
    """
    completed = turn.get("completed")
    policy = escalation_of(spec, position, dialogue.takeover) or completed
    if policy is None or dialogue.takeover is not None:
        return []
    called = Takeover(id=str(uuid.uuid4()), reason=reason, since=turn["at"], by=None)
    if completed:
        called["journey"] = completed["journey"]
    dialogue.takeover = called
    _close_question(dialogue)
    return [note("escalated", position, reason=reason)]


def release(position: Position, dialogue: DialogueState, reason: str) -> list[dict[str, Any]]:
    """Give the conversation back to the assistant, which has another try at everything."""
    dialogue.takeover = None
    dialogue.try_again()
    _close_question(dialogue)
    return [note("released", position, reason=reason)]


def _close_question(dialogue: DialogueState) -> None:
    if dialogue.asked and dialogue.asked["kind"] in CALLING:
        dialogue.asked = None


COLLECTED, CONDITION, TIMEOUT = "collected", "condition", "timeout"
"""Policies that hold from turn to turn: each calls a person once, until it is seen false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFacts:
    """Input of a journey's escalation policies at the end of a turn.

    Attributes:
        asked: Reason of a request for a person: asked or sentiment; empty: none.
        exhausted: Names of fields with `max_attempts` refused values in a row.
        failures: Turns in a row that failed or were not understood.
        seconds: The age of the conversation.
        collected: True if all fields of the live branches are collected.
        called: Standing policies that called a person before and have held ever since.
    """

    asked: str = ""
    message: str = ""
    exhausted: Sequence[str] = ()
    failures: int = 0
    context: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    collected: bool = False
    called: Collection[str] = ()


def policy_met(policy: Escalation, facts: PolicyFacts) -> str | None:
    """Return why a person is called now; None if no person is called.

    The reason is one of asked, sentiment, keyword, `max_attempts:FIELD`, `failures:N`, condition,
    timeout and collected, tried in this order. What raises in `when` is raised.

    Example:
        >>> policy_met(Escalation(keywords=["lawyer"]), PolicyFacts(message="My LAWYER says no"))
        'keyword'
    """
    if accepts_request(policy, facts.asked):
        return facts.asked
    if any(said(word, facts.message) for word in policy.keywords):
        return "keyword"
    if policy.attempts_exhausted and facts.exhausted:
        return f"max_attempts:{facts.exhausted[0]}"
    if policy.failures is not None and facts.failures >= policy.failures:
        return f"failures:{facts.failures}"
    held = active_policies(policy, facts)
    return next((name for name in held if name not in facts.called), None)


def accepts_request(policy: Escalation, asked: str) -> bool:
    """Return whether this journey accepts a request for a person, asked or by sentiment."""
    return (asked == "asked" and policy.on_request) or (
        asked == "sentiment" and bool(policy.sentiment)
    )


def active_policies(policy: Escalation, facts: PolicyFacts) -> list[str]:
    """Return the policies that hold now and may hold on, whether or not they called before."""
    lasts = policy.after_seconds
    held = {
        CONDITION: policy.when is not None and bool(policy.when(copied(dict(facts.context)))),
        TIMEOUT: lasts is not None and facts.seconds >= lasts,
        COLLECTED: policy.when_collected and facts.collected,
    }
    return [name for name, holds in held.items() if holds]
