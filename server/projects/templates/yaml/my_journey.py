"""The tools of the journey, which is in `my_journey.yaml`."""

from datetime import date
from pathlib import Path
from typing import TypedDict
from zlib import crc32

from journeygraph import load_journey

MyJourney = load_journey(Path(__file__).with_name("my_journey.yaml"))


def open_that_day(day: str) -> bool | str:
    """Refuse Sundays; the text is the reply."""
    return date.fromisoformat(day).weekday() != 6 or "We are closed on Sundays."


class Booked(TypedDict):
    """A booking, as texts about it may name it."""

    number: str


def book(bike: str, day: str, name: str, idempotency_key: str) -> Booked:
    """Book a bike; the same key is the same booking. Call your own system here."""
    return {"number": f"B-{crc32(idempotency_key.encode()) % 10_000:04}"}


TOOLS = {"open_that_day": open_that_day, "book": book}
DEMO_MESSAGES = (
    "Hello, I need a big bike",
    "How much is that?",
    "Sunday, please",
    "Then next Tuesday",
    "Oh, make it a city bike",
    "Ada",
    "Yes",
)
