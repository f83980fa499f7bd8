"""Process that takes turns and sends their audit, and is killed."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path

from journeygraph.graphs.records import unsent_audit
from journeygraph.graphs.records.unsent_audit import Send, UnsentAudit
from journeygraph.graphs.storage import leases
from journeygraph.graphs.storage.statements import Row
from tests.support import crash_child

MESSAGES = 3
"""Messages of a process."""


def written_to(file: Path) -> Send:
    """Return what writes each row as a line of a file, and loses none that it has accepted."""

    async def send(rows: Sequence[Row]) -> None:
        with file.open("a") as lines:
            for row in rows:
                lines.write(f"{json.dumps(row)}\n")
                lines.flush()
            os.fsync(lines.fileno())

    return send


def talk_and_die(url: str, file: Path, statement: int) -> None:
    """Take turns and send their audit; die before a statement is executed."""
    leases.LEASE = crash_child.LEASE
    unsent_audit.CLAIM = 0.0  # the next process need not wait for this one
    asyncio.run(_talk_and_die(url, file, statement))


async def _talk_and_die(url: str, file: Path, statement: int) -> None:
    async with crash_child.diary(url, "s-1") as diary:
        begun = await diary.get_session_state()
        store = (await diary.manager._session()).store
        sending = UnsentAudit(store, written_to(file))
        crash_child.dies_before(store, statement)
        if begun is None:
            await diary.start()
        for number in range(MESSAGES):
            await diary.process_message(crash_child.line(number))
            await sending.run()
