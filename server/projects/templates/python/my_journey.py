"""The journey and its functions. It hires out bikes: change it into your own."""

from datetime import date
from typing import Any, TypedDict
from zlib import crc32

from journeygraph import (
    Effect,
    Field,
    IntentTrigger,
    Journey,
    Pathway,
    Range,
    ReturnToPrevious,
    Transition,
)


def open_that_day(value: str, context: dict[str, Any]) -> bool | str:
    """Refuse Sundays; the text is the reply."""
    return date.fromisoformat(value).weekday() != 6 or "We are closed on Sundays."


class MyJourney(Journey):
    """Hire a bike for a day."""

    class HirePath(Pathway):
        """Ask for all that the hire needs, then book it."""

        __title__ = "the hire"
        __fields__ = [
            Field(
                "bike",
                "enum",
                "Which bike would you like: a city bike or a cargo bike?",
                choices={"city": ["city bike", "normal"], "cargo": ["cargo bike", "big"]},
            ),
            Field(
                "day",
                "date",
                "For which day?",
                validators=[Range("today", message="That day is over."), open_that_day],
            ),
            Field("name", "name", "In which name?"),
        ]
        __effects__ = [
            Effect("book", done="Booked, {name}: a {bike} bike, on {day}. Your number is {number}.")
        ]

    class PricesPath(Pathway):
        """A detour: say what a bike costs, then return to the hire."""

        __title__ = "the prices"
        __agents__ = ["clerk"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(
            IntentTrigger(["how much", "price", "cost"], description="asks what a bike costs"),
            to_pathway="prices",
        ),
    ]


def clerk(ask: dict[str, Any]) -> str:
    """Say what a bike costs."""
    return "A city bike is 9 euros a day, a cargo bike 19."


class Booked(TypedDict):
    """A booking, as texts about it may name it."""

    number: str


def book(bike: str, day: str, name: str, idempotency_key: str) -> Booked:
    """Book a bike; the same key is the same booking. Call your own system here."""
    return {"number": f"B-{crc32(idempotency_key.encode()) % 10_000:04}"}


AGENTS = {"clerk": clerk}
TOOLS = {"book": book}
DEMO_MESSAGES = (
    "Hello, I need a big bike",
    "How much is that?",
    "Sunday, please",
    "Then next Tuesday",
    "Oh, make it a city bike",
    "Ada",
    "Yes",
)
