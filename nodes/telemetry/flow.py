"""What controls the flow: guidelines that hold, replies that are checked, caches that answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from nodes.telemetry.otel import telemetry

JOURNEY = "journeygraph.journey.id"


def guidelines_settled(
    journey: str, matched: Iterable[Mapping[str, Any]], dropped: Iterable[Mapping[str, Any]]
) -> None:
    """Count which guidelines came to hold in a turn, and which did but gave way to others.

    Which ones is told by the span of the turn: a label for each of thousands would be too many.

    Args:
        journey: Id of the journey.
        matched: Those that hold, as the record of the turn has them: with scope and tier.
        dropped: Those that were dropped, with the same.
    """
    for metric, found in (("matched", matched), ("dropped", dropped)):
        kinds = Counter((one["scope"], one["tier"]) for one in found)
        for (scope, tier), number in kinds.items():
            labels = {
                JOURNEY: journey,
                "journeygraph.guideline.scope": str(scope),
                "journeygraph.guideline.tier": tier,
            }
            _count(f"journeygraph.guideline.{metric}", labels, number)


def reply_checked(journey: str, *, outcome: str, bypassed: bool) -> None:
    """Count a check of a reply.

    Args:
        journey: Id of the journey.
        outcome: What came of it, as the record of the turn has it: sent, masked, rewritten or
            replaced.
        bypassed: Whether no model could check it.
    """
    labels = {JOURNEY: journey, "journeygraph.check.outcome": outcome}
    _count("journeygraph.reply.checked", {**labels, "journeygraph.check.bypassed": bypassed})


def person_called(journey: str, reason: str) -> None:
    """Count a call for a person.

    Args:
        journey: Id of the journey.
        reason: Why; what follows a colon in it, such as the name of a field, is not a label.
    """
    labels = {JOURNEY: journey, "journeygraph.escalation.reason": reason.partition(":")[0]}
    _count("journeygraph.escalation.opened", labels)


def escalation_sent(journey: str, *, taken: bool) -> None:
    """Count a try to send a call for a person on.

    Args:
        journey: Id of the journey.
        taken: Whether the receiver took it.
    """
    result = "taken" if taken else "failed"
    labels = {JOURNEY: journey, "journeygraph.escalation.result": result}
    _count("journeygraph.escalation.sent", labels)


def cache_read(cache: str, *, hit: bool) -> None:
    """Count a look into a cache.

    Args:
        cache: Which one, as one of few words: intent, definition, context.
        hit: Whether it knew the answer.
    """
    result = "hit" if hit else "miss"
    labels = {"journeygraph.cache.name": cache, "journeygraph.cache.result": result}
    _count("journeygraph.cache.read", labels)


def turn_flagged(journey: str, flags: Iterable[str]) -> None:
    """Count a turn once for each of its flags."""
    for flag in dict.fromkeys(flags):
        _count("journeygraph.turn.flagged", {JOURNEY: journey, "journeygraph.turn.flag": flag})


def _count(metric: str, labels: Mapping[str, Any], number: int = 1) -> None:
    if seen := telemetry():
        seen.count(metric, labels, number)
