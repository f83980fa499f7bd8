"""A bicycle workshop that collects what is broken, and people who can be called."""

from __future__ import annotations

from typing import Any

from journeygraph import (
    Escalation,
    Field,
    IntentTrigger,
    Journey,
    JourneyConfig,
    Pathway,
    Personality,
    Range,
    ReturnToPrevious,
    Transition,
)

WEBHOOK_SECRET = "a secret of the workshop"


class Workshop(Journey):
    """Take a bicycle in for repair."""

    __escalation__ = Escalation(keywords=["police"], failures=4, unclaimed_seconds=600)
    __personality__ = Personality(name="Spoke")

    class IntakePath(Pathway):
        """Note what is broken."""

        __title__ = "the repair"
        __fields__ = [
            Field("bike", "enum", "Which bike?", choices=["road", "city", "cargo"]),
            Field(
                "gears",
                "integer",
                "How many gears?",
                validators=[Range(1, 30)],
                max_attempts=2,
            ),
            Field("code", "text", "Which lock code?", sensitive=True, extract=[r"\d{4}"]),
        ]

    class HoursPath(Pathway):
        """Tell the opening hours."""

        __title__ = "opening hours"
        __agents__ = ["clerk"]
        __return_behavior__ = ReturnToPrevious(policy="ask")

    __transitions__ = [Transition(IntentTrigger(patterns=["hours"]), to_pathway="hours")]


async def clerk(given: dict[str, Any]) -> dict[str, str]:
    """Tell the opening hours."""
    return {"response": "We are open from nine to five."}


AGENTS = {"clerk": clerk}


def workshop(session_id: str, store: str = "memory://", **settings: Any) -> Workshop:
    """Return a session of the workshop."""
    config = JourneyConfig(persistence=store, **settings)
    return Workshop(session_id, config, agents=AGENTS, model=False)
