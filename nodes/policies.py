"""When a conversation is handed to a person; pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from journeys import Escalation
from journeys.patterns import said
from nodes.plain import copied

COLLECTED, CONDITION, TIMEOUT = "collected", "condition", "timeout"
STANDING = (COLLECTED, CONDITION, TIMEOUT)
"""Policies that hold from turn to turn: each calls a person once, until it is seen false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFacts:
    """What the policies of a journey look at, at the end of a turn.

    Attributes:
        asked: Reason of a request for a person that was heard: asked or sentiment; empty: none.
        message: What the user said.
        exhausted: Names of fields of which `max_attempts` values in a row were not taken.
        failures: Turns in a row that failed or were not understood.
        context: What is known.
        seconds: How long the conversation has lasted.
        collected: Whether all fields of the live branches are collected.
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
    """Return why a person is called now; None if nobody is.

    The reason is one of asked, sentiment, keyword, `max_attempts:FIELD`, `failures:N`, condition,
    timeout and collected, tried in this order. What raises in `when` is raised.

    Example:
        >>> policy_met(Escalation(keywords=["lawyer"]), PolicyFacts(message="My LAWYER says no"))
        'keyword'
    """
    if is_heard(policy, facts.asked):
        return facts.asked
    if any(said(word, facts.message) for word in policy.keywords):
        return "keyword"
    if policy.attempts_exhausted and facts.exhausted:
        return f"max_attempts:{facts.exhausted[0]}"
    if policy.failures is not None and facts.failures >= policy.failures:
        return f"failures:{facts.failures}"
    held = standing_policies(policy, facts)
    return next((name for name in held if name not in facts.called), None)


def is_heard(policy: Escalation, asked: str) -> bool:
    """Say whether a request for a person, asked or by sentiment, is one that this journey takes."""
    return (asked == "asked" and policy.on_request) or (
        asked == "sentiment" and bool(policy.sentiment)
    )


def standing_policies(policy: Escalation, facts: PolicyFacts) -> list[str]:
    """Return the policies that hold now and may hold on, whether or not they called before."""
    lasts = policy.after_seconds
    held = {
        CONDITION: policy.when is not None and bool(policy.when(copied(dict(facts.context)))),
        TIMEOUT: lasts is not None and facts.seconds >= lasts,
        COLLECTED: policy.when_collected and facts.collected,
    }
    return [name for name, holds in held.items() if holds]
