"""A desk with two journeys, whose clerks say where they are and note every name=value."""

from __future__ import annotations

from typing import Any

from journeygraph import (
    Concierge,
    ConditionTrigger,
    HandOver,
    IntentTrigger,
    Journey,
    Pathway,
    ReturnToPrevious,
    Transition,
)
from journeygraph.journeys.reading.composing import CANCELS
from tests.support.clerks import said, staff


class Moving(Journey):
    """Plan a move to another house. It takes two questions."""

    __activation__ = [IntentTrigger(["moving house"], "wants to move to another address")]
    __shared__ = ["customer"]

    class IdentifyPath(Pathway):
        """Find out who it is."""

        __agents__ = ["identifier"]
        __accumulate__ = ["customer", "date"]
        __complete_when__ = ["customer"]
        __next__ = "plan"

    class PlanPath(Pathway):
        """Find a day."""

        __agents__ = ["planner"]
        __accumulate__ = ["date"]
        __complete_when__ = ["date"]

    class HoursPath(Pathway):
        """Say when the depot is open."""

        __agents__ = ["porter"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(said("opening hours"), to_pathway="hours", priority=9)]


class Repair(Journey):
    """Have something repaired."""

    __activation__ = [
        IntentTrigger(["is broken"], "has something that is broken"),
        ConditionTrigger(lambda context: context.get("alarm") == "on", "the alarm rings"),
    ]

    class ReportPath(Pathway):
        """Note what is broken."""

        __agents__ = ["reporter"]
        __accumulate__ = ["customer", "date", "thing"]
        __complete_when__ = ["thing"]
        __next__ = "visit"

    class VisitPath(Pathway):
        """Agree on a visit."""

        __agents__ = ["fitter"]
        __accumulate__ = ["alarm", "visit"]
        __complete_when__ = ["visit"]


class Desk(Concierge):
    """Look after the houses of our tenants."""

    __journeys__ = [Moving, Repair]
    __cancel__ = IntentTrigger(["never mind"], CANCELS)
    __hand_over__ = [
        HandOver(
            "moving",
            "repair",
            IntentTrigger(["the lift"], "has trouble with the lift"),
            context_update={"due": "copy:date", "urgent": "set:yes"},
        )
    ]


STAFF: dict[str, Any] = staff(Desk)
ASKED = (
    "What can I help you with?\n"
    "- Moving: Plan a move to another house.\n"
    "- Repair: Have something repaired."
)
