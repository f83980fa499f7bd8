"""Stores that each release keeps for the later ones, with a session in each state that matters.

`python -m tests.support.golden 0.1.0` writes those of this release into `tests/storage/golden`: a
SQLite file and a dump of Postgres. Run it once for a release. Later releases serve these stores as
they are; what they need to read them is in this module, so it only grows.
"""

from __future__ import annotations

import asyncio
import gzip
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from langgraph.types import interrupt

from journeygraph import (
    Effect,
    Escalation,
    Field,
    Journey,
    JourneyConfig,
    Pathway,
    ReturnToPrevious,
    Transition,
)
from journeygraph.graphs.records.definitions import Definitions
from journeygraph.graphs.session.manager import PathwayManager
from journeygraph.graphs.storage.migrations.migrate_postgres import migrate_postgres
from journeygraph.server.definitions.loader import spec_of
from journeygraph.server.definitions.stored_journeys import Providers
from journeygraph.server.discover.journeys import Served
from tests.support.clerks import said
from tests.support.postgres import Postgres, connected, end_shared, shared
from tests.support.stored_claims import CLAIM, draft, work

FOLDER = Path(__file__).parents[1] / "storage" / "golden"
KEY = bytes(range(32))
CENTURY = 100 * 365 * 24 * 3600
CLAIM_ANEW = CLAIM.replace("assess:", "review:").replace("next: assess", "next: review")


class Trip(Journey):
    """Book a trip."""

    __version__ = "golden"
    __escalation__ = Escalation(unclaimed_seconds=CENTURY)

    class BookPath(Pathway):
        """Book the places."""

        __title__ = "the booking"
        __fields__ = [
            Field("place", "text", "Where to?"),
            Field("guests", "integer", "How many guests?", confirm=True),
        ]
        __effects__ = [Effect("reserve", {"place": "place"}, save="reserved", done="Reserved.")]
        __next__ = "pay"

    class PayPath(Pathway):
        """Pay for the trip."""

        __agents__ = ["cashier"]
        __runs_on_arrival__ = True
        __accumulate__ = ["paid"]
        __complete_when__ = ["paid"]

    class InsurancePath(Pathway):
        """Insure the trip."""

        __title__ = "the insurance"
        __fields__ = [Field("worth", "integer", "What is your luggage worth?")]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(said("insurance"), to_pathway="insurance")]


class SecretTrip(Trip):
    """Book a trip in secret."""

    __sensitive__ = True


class Agency:
    """Reserve places, and count how often; take payments."""

    def __init__(self) -> None:
        self.reserved: list[str] = []

    def reserve(self, place: str, idempotency_key: str) -> str:
        """Reserve places."""
        self.reserved.append(place)
        return "R-1"

    def cashier(self, ask: dict[str, Any]) -> dict[str, Any]:
        """Ask for a card, and take the payment."""
        card = interrupt("Which card?")
        return {"response": f"Paid with {card}.", "paid": card}

    def serving(self, journey: type[Journey]) -> Served:
        """Return a journey with its agents and tools."""
        return Served(journey, {"cashier": self.cashier}, {"reserve": self.reserve})


class DyingAgency(Agency):
    """An agency whose process dies when it gets a card."""

    def cashier(self, ask: dict[str, Any]) -> dict[str, Any]:
        """Ask for a card, and end the process."""
        interrupt("Which card?")
        os._exit(0)


def given() -> Providers:
    """Return the agents and tools of the stored definition."""
    space = work()
    return Providers(space["AGENTS"], space["TOOLS"], model=False)


LIFE: dict[str, Any] = {
    "session_ttl_seconds": CENTURY,
    "resume_after_seconds": CENTURY,
    "encryption_key": KEY,
}
"""Settings of sessions: the stored ones have the times of their recording, and must not expire."""
TALKS: dict[str, tuple[str, ...]] = {
    "asked": ("hello", "Rome"),
    "paused": ("hello", "Rome", "insurance please"),
    "confirming": ("hello", "Rome", "2"),
    "waiting": ("hello", "Rome", "2", "yes"),
    "done": ("hello", "Rome", "2", "yes", "Visa"),
    "called": ("hello", "Rome", "I want to talk to a human"),
    "claimed": ("hello", "Rome", "I want to talk to a human"),
}
"""Messages of each session."""
SEALED = ("asked", "waiting", "claimed")
"""The sessions that are sealed too."""
RUNNING = "running"
"""The session whose process died in its last turn; on Postgres, plain and sealed."""


def manager_of(served: Served, session_id: str, config: JourneyConfig) -> PathwayManager:
    """Return a handle on a session."""
    agents, tools = served.agents, served.tools
    return PathwayManager(
        served.journey, session_id, config, agents=agents, tools=tools, model=False
    )


async def talked(url: str) -> None:
    """Take the turns of all sessions in a store, and load two versions of a definition."""
    config = JourneyConfig(persistence=url, **LIFE)
    for journey in (Trip, SecretTrip):
        agency = Agency().serving(journey)
        for name in SEALED if journey.spec.sensitive else TALKS:
            session_id = f"{journey.spec.id}-{name}"
            manager = manager_of(agency, session_id, config)
            await manager.start_session({"customer": "C-1"})
            for message in TALKS[name]:
                await manager.process_message(message)
            if name == "claimed":
                await manager.operator_says("Ann here.", "ann")
            if name == "confirming":
                await manager.rollback(2)
                await manager.fork(1, f"{session_id}-fork")
            await manager.close()
    definitions = await Definitions.open(config)
    for number, text in enumerate((CLAIM, CLAIM_ANEW), 1):
        claim = draft("claim.yaml", text)
        spec = spec_of(claim)
        await definitions.load([replace(claim, journey_version=spec.version)])
        served = given().serving(spec)
        manager = manager_of(served, f"claim-{number}", config)
        await manager.start_session()
        await manager.process_message("hello")
        await manager.close()
    await definitions.close()


def left_running(url: str, journey: type[Journey]) -> None:
    """Take the turns of a session, and die in the last one."""
    asyncio.run(_left_running(url, journey))


async def _left_running(url: str, journey: type[Journey]) -> None:
    config = JourneyConfig(persistence=url, **LIFE)
    served = DyingAgency().serving(journey)
    manager = manager_of(served, f"{journey.spec.id}-{RUNNING}", config)
    await manager.start_session({"customer": "C-1"})
    for message in TALKS["done"]:
        await manager.process_message(message, idempotency_key=message)


def secret_trip(url: str, session_id: str, keys: str) -> SecretTrip:
    """Return a handle on a sealed session."""
    agency = Agency()
    config = JourneyConfig(persistence=url, **{**LIFE, "encryption_key": keys})
    agents, tools = {"cashier": agency.cashier}, {"reserve": agency.reserve}
    return SecretTrip(session_id, config, agents=agents, tools=tools, model=False)


def releases() -> list[str]:
    """Return the releases that left stores."""
    return sorted(folder.name for folder in FOLDER.iterdir() if folder.is_dir())


def restored_file(release: str, folder: Path) -> str:
    """Return the URL of a copy of the SQLite file of a release."""
    file = folder / "golden.db"
    file.write_bytes(gzip.decompress((FOLDER / release / "store.db.gz").read_bytes()))
    return f"sqlite:///{file}"


def restored_database(release: str, server: Postgres) -> str:
    """Return the URL of a database with the dump of a release, after `journeygraph migrate`."""
    url = server.made()
    text = gzip.decompress((FOLDER / release / "store.sql.gz").read_bytes()).decode()
    with connected(url) as connection:
        connection.execute(text)
    migrate_postgres(url)
    return url


def write(release: str) -> None:
    """Write the stores of this release."""
    place = FOLDER / release
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "store.db"
        asyncio.run(talked(f"sqlite:///{file}"))
        with sqlite3.connect(file) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
            connection.execute("VACUUM")
        connection.close()
        (place / "store.db.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))
    url = shared().copy()
    asyncio.run(talked(url))
    for journey in (Trip, SecretTrip):
        process = multiprocessing.get_context("spawn").Process(
            target=left_running, args=(url, journey)
        )
        process.start()
        process.join()
    server = shared().server
    program = "pg_dump" if server is None else str(server.programs / "pg_dump")
    dump = (program, "--inserts", "--no-owner", "--no-privileges", url)
    made = subprocess.run(dump, capture_output=True, text=True, check=True).stdout
    # Other versions of Postgres do not know all settings, and only psql knows its own commands.
    left_out = ("--", "\\", "SET ")
    lines = [line for line in made.splitlines() if not line.startswith(left_out)]
    text = "\n".join(lines)  # with empty lines, which replies have too
    (place / "store.sql.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    end_shared()


if __name__ == "__main__":
    write(sys.argv[1])
