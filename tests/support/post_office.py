"""A small journey that many tests talk to, and a look into the file behind it."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Iterator
from typing import Any

import journeygraph.graphs.session.manager  # noqa: F401  (imported by first use otherwise, which is some test's time)
from journeygraph import (
    ConditionTrigger,
    Journey,
    JourneyConfig,
    MergeStrategy,
    Pathway,
    ReturnToPrevious,
    Transition,
)
from tests.support import postgres
from tests.support.clerks import said, staff
from tests.support.clocks import Clock

TABLES = ("sessions", "turns", "audit", "checkpoints", "checkpoint_blobs", "writes")


class Parcel(Journey):
    """Send a parcel."""

    class AddressPath(Pathway):
        __agents__ = ["address"]
        __accumulate__ = {"street": None, "heard": MergeStrategy.APPEND}
        __complete_when__ = ["street"]
        __next__ = "payment"

    class PaymentPath(Pathway):
        __agents__ = ["payment"]
        __accumulate__ = {"card": None, "heard": MergeStrategy.APPEND}
        __complete_when__ = ["card"]

    class PricesPath(Pathway):
        __agents__ = ["prices"]
        __return_behavior__ = ReturnToPrevious()

    class InsurancePath(Pathway):
        __agents__ = ["insurance"]
        __accumulate__ = ["value"]
        __complete_when__ = ["value"]
        __return_behavior__ = ReturnToPrevious()

    class DeskPath(Pathway):
        __agents__ = ["desk"]
        __complete_when__ = ["never_given"]

    __transitions__ = [
        Transition(said("how much"), to_pathway="prices"),
        Transition(said("insure"), to_pathway="insurance", context_update={"value": "clear:"}),
        Transition(said("a person"), to_pathway="desk"),
        Transition(said("start over"), to_pathway="address", context_update={"street": "clear:"}),
        Transition(ConditionTrigger(lambda context: context["broken"] > 1), to_pathway="desk"),
    ]


class Letter(Journey):
    """Send a letter."""

    class WritePath(Pathway):
        __agents__ = ["writer"]


AGENTS = staff(Parcel)


async def echo(payload: dict[str, Any]) -> dict[str, Any]:
    """Answer with the message, and note it."""
    await asyncio.sleep(0)
    return {"response": f"heard {payload['message']}", "heard": payload["message"]}


def opened(url: str, session_id: str = "s-1", agents: Any = None, **config: Any) -> Parcel:
    """Take a handle on a session of Parcel."""
    options = {
        name: config.pop(name) for name in ("saver", "on_end", "on_expire") if name in config
    }
    settings = JourneyConfig(persistence=url, **config)
    return Parcel(session_id, settings, agents=AGENTS if agents is None else agents, **options)


@contextlib.contextmanager
def database(url: str) -> Iterator[sqlite3.Connection]:
    """Open the file behind a store's URL from outside."""
    connection = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def found(url: str, query: str) -> list[tuple[Any, ...]]:
    """Look into the database behind a store's URL from outside."""
    there = url.startswith("postgresql")
    with postgres.connected(url) if there else database(url) as connection:
        return list(connection.execute(query).fetchall())


def back_at(url: str, clock: Clock) -> str:
    """Go back to the last turn in a store; return its URL.

    A store that a test loads has the times of its recording, also in sealed rows. By
    the calendar they would be too old one day.
    """
    [(at,)] = found(url, "SELECT max(at) FROM turns")
    clock.goes_to(at)
    return url


def rows(url: str) -> dict[str, int]:
    """Count the rows of every table."""
    tables = postgres.TABLES if url.startswith("postgresql") else TABLES
    return {table: found(url, f"SELECT count(*) FROM {table}")[0][0] for table in tables}
