"""A process that takes one turn, and is stopped in the middle of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from journeygraph import JourneyError
from journeygraph.graphs.storage import leases
from tests.support.post_office import AGENTS, opened

LEASE = 0.3


def live(url: str, log: str) -> None:
    """Say once that the agent is at work; then how the turn ended."""
    leases.LEASE = LEASE
    Path(log).write_text(asyncio.run(_live(url, Path(log).write_text)))


async def _live(url: str, say: Callable[[str], Any]) -> str:
    async def works(payload: dict[str, Any]) -> dict[str, Any]:
        say("works")
        await asyncio.sleep(0.2)
        return {"response": "late", "street": "Late"}

    async with opened(url, agents={**AGENTS, "address": works}) as parcel:
        try:
            reply = await parcel.process_message("street=Late")
            return f"version {reply.metadata['version']}"
        except JourneyError as error:
            return f"{type(error).__name__} {getattr(error, 'retryable', '')} {error}"
