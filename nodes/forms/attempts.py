"""Attempts at fields, as they are written down."""

from __future__ import annotations

from typing import Any, Literal

from nodes.state import Turn
from nodes.talk import Attempted

MOST_RAW = 1_000
"""Longest words of a user that an attempt keeps, in characters."""

Status = Literal["valid", "invalid", "pending", "cleared"]
Source = Literal["user_provided", "corrected", "inferred", "tool", "operator"]


def attempt(
    turn: Turn,
    name: str,
    status: Status,
    *,
    value: Any = None,
    raw: str = "",
    source: Source = "user_provided",
    confidence: float = 1.0,
    reason: str = "",
) -> Attempted:
    """Return an attempt at a field in this turn."""
    return Attempted(
        field=name,
        value=value,
        raw=raw[:MOST_RAW],
        turn=turn["number"],
        timestamp=turn["at"],
        confidence=confidence,
        validation_status=status,
        source=source,
        reason=reason[:MOST_RAW],
    )


def by_field(attempts: list[Attempted]) -> dict[str, list[Any]]:
    """Return attempts as the state's channel takes them: field -> attempts."""
    channel: dict[str, list[Any]] = {}
    for given in attempts:
        kept = {key: value for key, value in given.items() if key != "field"}
        channel.setdefault(given["field"], []).append(kept)
    return channel
