"""Files of the four packages in which anything is called during one turn.

Who reads how a turn goes has to open them. The last message of a conversation is the turn.
"""

from __future__ import annotations

import sys
import threading
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from journeygraph import JourneyConfig
from journeygraph.journeys.examples import table_booking
from journeygraph.journeys.examples.parcel_refund import AGENTS, ParcelRefund
from journeygraph.server.discover.journeys import Served
from tests.benchmarks.measure import Figure, Steps
from tests.support.api import serving, wired

ROOT = Path(__file__).resolve().parents[2]
PLAIN = ["My parcel never came", "It is P-1042"]
COLLECTING = [
    "a table for four please",
    "on 24 December 2030",
    "sorry, five people, and at 7 pm",
]
MOST = {"plain": 37, "plain, HTTP": 46, "collecting": 63}
"""Most files of a turn."""


async def files(steps: Steps) -> list[Figure]:
    """Count the files of a plain turn, in process and over HTTP, and of a collecting one."""
    counts: dict[str, Callable[[], Awaitable[set[str]]]] = {
        "plain": plain,
        "plain, HTTP": plain_over_http,
        "collecting": collecting,
    }
    found = []
    for name, _ in zip(counts, steps("files of a turn", len(counts)), strict=False):
        number, most = len(await counts[name]()), MOST[name]
        ratio = number / most
        shown = (f"{number} files", f"{most} files")
        what = (f"files of a turn, {name}", "most that a reader should open")
        found.append(Figure(*what, *shown, ratio, None, "<= 1x", ratio <= 1))
    return found


async def plain() -> set[str]:
    """Return the files of a turn of `parcel_refund`, from `process_message` on."""
    return await _in_process(PLAIN, ParcelRefund, agents=AGENTS)


async def collecting() -> set[str]:
    """Return the files of a turn of `table_booking`, from `process_message` on."""
    given = {"agents": table_booking.AGENTS, "tools": table_booking.TOOLS}
    return await _in_process(COLLECTING, table_booking.TableBooking, **given)


async def plain_over_http() -> set[str]:
    """Return the files of a turn of `parcel_refund` from the socket on."""
    async with serving(wired(Served(ParcelRefund, AGENTS))) as api:
        session = await api.begin(ParcelRefund.spec.id)
        *before, last = PLAIN
        for message in before:
            await api.says(session, message)
        with _called() as seen:
            await api.says(session, last)
    return seen


async def _in_process(messages: list[str], journey: Any, **given: Any) -> set[str]:
    *before, last = messages
    config = JourneyConfig(persistence=f"memory://{uuid.uuid4()}")
    async with journey("traced", config, **given) as session:
        await session.start()
        for message in before:
            await session.process_message(message)
        with _called() as seen:
            await session.process_message(last)
    return seen


@contextmanager
def _called() -> Iterator[set[str]]:
    """Collect the files of our packages in which a function is called, in any thread."""
    seen: set[str] = set()
    root = f"{ROOT}/journeygraph/"

    def note(frame: Any, event: str, _: Any) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(root):
            seen.add(name.removeprefix(root))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield seen
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
