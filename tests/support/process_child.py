"""Processes that use one store at the same time, or end without closing it."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

from journeygraph import SessionExistsError, StateError
from journeygraph.graphs.storage.store import open_store
from tests.support.crash_child import diary

ROUNDS = 10


def live(url: str, log: str, gate: Any) -> None:
    """Wait for the others; then talk in a shared session, and in one of one's own."""
    gate.wait()
    told = asyncio.run(_live(url, f"p{os.getpid()}"))
    Path(log).write_text(json.dumps(told))


async def _live(url: str, name: str) -> dict[str, Any]:
    shared, own = diary(url, "shared"), diary(url, name)
    told: dict[str, Any] = {"name": name, "began": True, "counted": [], "retryable": True}
    try:
        await shared.start()
    except SessionExistsError:
        told["began"] = False
    await own.start()
    for number in range(ROUNDS):
        await own.process_message("mine")
        text = f"{name} {number}"
        try:
            await shared.process_message(text)
            told["counted"].append(text)
        except StateError as error:
            told["retryable"] = told["retryable"] and error.retryable
    await shared.close()
    await own.close()
    return told


def leave_open(url: str, log: str) -> None:
    """Fail while the connections of an open store are being made; tell that the loop has ended."""
    try:
        asyncio.run(_left_open(url))
    except ZeroDivisionError:
        Path(log).write_text("ended")


async def _left_open(url: str) -> None:
    store = await open_store(url, None)
    asked = [asyncio.ensure_future(store.head("s-1")) for _ in range(4)]
    await asked[0]
    raise ZeroDivisionError
