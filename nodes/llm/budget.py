"""The time that the runtime's own questions to models may take in one turn, all together."""

from __future__ import annotations

import asyncio

from journeys import JourneyConfig
from nodes.state import Turn

_LEAST = 0.1
"""Share of its time with less of which a question is not asked any more: it would only be cut."""


def seconds_for(turn: Turn, config: JourneyConfig, seconds: float) -> float:
    """Return how long one more question of a turn may take; 0 if it is not to be asked.

    Args:
        turn: The record of the turn.
        config: Its budget.
        seconds: The question's own limit.
    """
    left = config.model_budget_seconds - turn.get("model_seconds", 0.0)
    return min(seconds, left) if left > _LEAST * min(seconds, config.model_budget_seconds) else 0.0


def spent(turn: Turn, since: float) -> Turn:
    """Return the turn with the time that a question took, from a time of the event loop's clock."""
    passed = asyncio.get_running_loop().time() - since
    return {**turn, "model_seconds": round(turn.get("model_seconds", 0.0) + passed, 6)}
