"""Book a table: four answers in one message or in four, changed until and after it is booked."""

from datetime import date
from hashlib import sha256
from typing import Any

from journeygraph import (
    NEVER,
    Effect,
    Escalation,
    Field,
    IntentTrigger,
    Journey,
    Pathway,
    Personality,
    Range,
    ReturnToPrevious,
    Transition,
)


def open_that_day(value: str, context: dict[str, Any]) -> bool | str:
    """Refuse Mondays, on which the kitchen rests."""
    return date.fromisoformat(value).weekday() != 0 or "We are closed on Mondays."


class TableBooking(Journey):
    """Book a table at the Old Mill."""

    __personality__ = Personality(
        name="the Old Mill", tone="warm and brief", greeting="The Old Mill, good day!"
    )
    __escalation__ = Escalation(keywords=["complaint"], failures=3)

    class BookPath(Pathway):
        """Take the booking."""

        __title__ = "the booking"
        __fields__ = [
            Field(
                "party_size",
                "integer",
                "For how many people?",
                description="The kitchen plans by it, and parties over 20 have their own room.",
                label="number of guests",
                validators=[Range(1, 20, "Our tables seat 1 to 20 people.")],
                extract=[r"(?:table|party|oh,|make it) (?:for|of) (\w+)", r"for (\w+) people"],
            ),
            Field(
                "date",
                "date",
                "For which day?",
                description="We keep tables from today on; Mondays we are closed.",
                validators=[Range("today", message="That day is gone."), open_that_day],
            ),
            Field(
                "time",
                "time",
                "At what time?",
                description="The kitchen is open from five to ten.",
                validators=[Range("17:00", "22:00", "The kitchen is open from five to ten.")],
            ),
            Field(
                "guest",
                "name",
                "In which name?",
                description="So that we can greet you at the door.",
                label="name",
            ),
            Field(
                "note",
                ask="Is there anything the kitchen should know?",
                description="Allergies, a birthday, a wheelchair.",
                required=False,
            ),
        ]
        __effects__ = [
            Effect(
                "book_table",
                save="booking",
                done="Your table is booked, {guest}. The booking is {number}.",
                change="change_booking",
            )
        ]
        __next__ = "door"

    class ChangeBookingPath(Pathway):
        """Change how many come, once the table is booked."""

        __title__ = "the change of your booking"
        __fields__ = [
            Field(
                "new_party_size",
                "integer",
                "For how many people shall it be?",
                label="number of guests",
                validators=[Range(1, 20, "Our tables seat 1 to 20 people.")],
            )
        ]
        __effects__ = [
            Effect(
                "move_table",
                {"booking": "booking", "party_size": "new_party_size"},
                done="Done: {number} is a table for {new_party_size} now.",
            )
        ]
        __next__ = "door"

    class MenuPath(Pathway):
        """Say what is on the menu."""

        __title__ = "the menu"
        __agents__ = ["waiter"]
        __return_behavior__ = ReturnToPrevious()

    class DoorPath(Pathway):
        """Whatever comes after the booking."""

        __title__ = "anything else"
        __agents__ = ["host"]
        __complete_when__ = NEVER

    __transitions__ = [
        Transition(
            IntentTrigger(["menu", "vegetarian", "vegan"], description="asks what there is to eat"),
            to_pathway="menu",
        ),
        Transition(
            IntentTrigger(["change my booking"], description="wants to change a booking"),
            from_pathway="door",
            to_pathway="change_booking",
        ),
        Transition(
            IntentTrigger(["another table"], description="wants to book another table"),
            from_pathway="door",
            to_pathway="book",
        ),
    ]


def book_table(
    party_size: int,
    date: str,
    time: str,
    guest: str,
    idempotency_key: str,
    note: str = "",
) -> dict[str, Any]:
    """Keep a table; the same key gives the same booking."""
    return {"number": f"M-{sha256(idempotency_key.encode()).hexdigest()[:4].upper()}"}


def move_table(booking: dict[str, Any], party_size: int, idempotency_key: str) -> dict[str, Any]:
    """Change a booking to another number of guests."""
    return {"number": booking["number"]}


def waiter(ask: dict[str, Any]) -> str:
    """Say what is on the menu."""
    return "Trout, dumplings, and three vegetarian dishes; the card changes every week."


def host(ask: dict[str, Any]) -> str:
    """Answer after the booking."""
    return "We look forward to seeing you. I can change your booking or take another one."


AGENTS = {"waiter": waiter, "host": host}
TOOLS = {"book_table": book_table, "move_table": move_table}
DEMO_MESSAGES = (
    "Hello, a table for 400 please",
    "Oh, for four. On Saturday at 7 pm",
    "Do you have vegetarian dishes?",
    "Sorry, the time is half past seven",
    "Lee",
    "no",
    "yes",
    "Please change my booking",
    "six",
)
