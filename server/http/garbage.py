"""Garbage collection of a serving process, between turns if possible.

A full collection visits every object and stops all sessions meanwhile. So the objects that exist
after the start are excluded from all collections, and a full one runs in a moment without a turn.
If there is never such a moment, Python's own thresholds apply, at longer intervals.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from server.http.turns import Turns

THRESHOLDS = (5_000, 20, 50)
"""Arguments of `gc.set_threshold` while a server runs, larger than Python's defaults."""
LOOK_SECONDS = 0.5
"""Seconds between two checks for running turns."""
MOST_TURNS = 100
"""Turns after which the first moment without a turn is used; before, one full interval must be
free.
"""


@asynccontextmanager
async def collected_between(turns: Turns) -> AsyncIterator[None]:
    """Collect garbage between these turns, until the block ends."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    looking = asyncio.get_running_loop().create_task(_look(turns, turns.begun))
    try:
        yield
    finally:
        looking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await looking
        gc.set_threshold(*before)
        gc.unfreeze()


async def _look(turns: Turns, collected: int) -> None:
    seen = collected
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        is_quiet = turns.begun == seen
        seen = turns.begun
        if not turns and seen > collected and (is_quiet or seen - collected >= MOST_TURNS):
            gc.collect()
            collected = seen
