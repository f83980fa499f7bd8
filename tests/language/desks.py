"""Desks of seven trades, and readings of the answers to their questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from journeygraph import Field
from journeygraph.nodes.commands import Command
from journeygraph.nodes.language import Expected, Parse, read_message
from journeygraph.nodes.state.dialogue_state import Asked, Option
from journeygraph.nodes.values import Setting

ENGLISH = Setting(datetime(2026, 11, 21, 12, 0, tzinfo=ZoneInfo("UTC")), "GB", "en")
GERMAN = Setting(datetime(2026, 11, 21, 12, 0, tzinfo=ZoneInfo("UTC")), "DE", "de")
SPANISH = Setting(datetime(2026, 11, 21, 12, 0, tzinfo=ZoneInfo("UTC")), "ES", "es")

BANK = (
    Field("recipient", "name", extract=[r"\bto ([A-Z]\w+)"], description="Who gets the money"),
    Field("amount", "money", currency="EUR", description="How much is sent"),
    Field("reference", "text", required=False, label="reference line"),
)
RESTAURANT = (
    Field("party_size", "integer", label="number of guests"),
    Field("date", "date"),
    Field("time", "time"),
    Field("name", "name", description="Under which name the table is kept"),
    Field("seating", "enum", choices={"inside": ["indoors"], "terrace": ["outside"]}),
)
CLAIM = (
    Field("accident_date", "date", label="date of the accident"),
    Field("place", "address", label="place of the accident"),
    Field("damage", "text", description="What happened"),
    Field("injured", "boolean", ask="Was anybody hurt?"),
    Field("policy_number", "text", extract=[r"\b[A-Z]{2}-\d{5}\b"]),
)
CLINIC = (
    Field("full_name", "name"),
    Field("date_of_birth", "date"),
    Field("age", "integer"),
    Field("phone", "phone"),
    Field("allergies", "text", required=False),
    Field("urgency", "enum", choices=["today", "this week", "not urgent"]),
)
PARCEL = (
    Field("pickup_address", "address"),
    Field("delivery_address", "address"),
    Field("weight", "number", description="Weight of the parcel in kg"),
    Field("email", "email"),
    Field("insured", "boolean"),
)
TELECOM = (
    Field("plan", "enum", choices=["Basic 5", "Family", "Unlimited Plus"]),
    Field("phone", "phone"),
    Field("start", "date", label="first day"),
    Field("data", "integer", label="data volume in GB"),
)
HOTEL = (
    Field("check_in", "date"),
    Field("check_out", "date"),
    Field("rooms", "integer"),
    Field("nights", "integer"),
    Field("email", "email", required=False),
    Field("wishes", "text", required=False),
)
DESKS = (BANK, RESTAURANT, CLAIM, CLINIC, PARCEL, TELECOM, HOTEL)


def ear(
    kind: str = "",
    about: str = "",
    *,
    fields: Sequence[Field] = (),
    known: Mapping[str, Any] | None = None,
    options: Sequence[str] = (),
    among: Sequence[Field] = (),
    setting: Setting = ENGLISH,
    tasks: Sequence[str] = (),
) -> Expected:
    """Return an ear; options are given by their labels, and have the ids a, b, c.

    Args:
        kind: The kind of question that was asked; empty: none.
        about: The subject of the question.
        fields: The open fields.
        known: The known values; their fields are among `among`.
        options: The offered options.
        among: The fields of the journey.
        setting: The time, place and language of the message.
        tasks: The names of the open tasks.
    """
    offered = [Option(id="abcdef"[at], label=label) for at, label in enumerate(options)]
    asked = Asked(kind=kind, about=about, options=offered) if kind else None
    known = known or {}
    correctable = [field for field in among if field.name in known]
    return Expected(asked, fields, known, correctable, setting, tasks)


def asking(name: str, among: Sequence[Field], **more: Any) -> Expected:
    """Return an ear that waits for a field, while all fields from there on are open."""
    names = [field.name for field in among]
    return ear("field", name, fields=among[names.index(name) :], among=among, **more)


def wrong(table: str, listening: Expected) -> dict[str, str]:
    """Return the messages of a table with a wrong reading, with that reading.

    A table has lines of "message -> reading"; a line without "->" has the same reading as the
    next one that has it. A reading is commands; "?" follows if it is not certain, "+ words"
    if these are left for the search of intents.
    """
    return {
        message: got
        for message, expected in rows(table)
        if (got := told(read_message(message, listening))) != expected
    }


def told(heard: Parse) -> str:
    """Return a reading as tables write it."""
    said = ", ".join(map(_named, heard.commands)) or "nothing"
    doubt = "" if heard.certain or not heard.commands else "?"
    rest = f" + {' '.join(heard.unread)}" if heard.unread and heard.commands else ""
    return f"{said}{doubt}{rest}"


def rows(table: str) -> Iterator[tuple[str, str]]:
    """Yield the messages of a table, each with its reading."""
    waiting: list[str] = []
    for line in table.strip().splitlines():
        message, arrow, expected = line.partition("->")
        if message.strip():
            waiting.append(message.strip())
        if arrow:
            yield from ((each, expected.strip()) for each in waiting)
            waiting = []
    assert not waiting, f"nothing is expected of {waiting}"


def _named(command: Command) -> str:
    parts = [type(command).__name__]
    for name in ("field", "value", "option", "everything"):
        value = getattr(command, name, None)
        if value:
            parts.append(str(value) if name != "everything" else "everything")
    return " ".join(parts)
