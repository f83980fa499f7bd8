"""Garbage collection in a process that serves: between turns, as far as there is a between.

A full collection looks at every object of the process and stops all sessions for as long. So what
is there when the server has started is left out of all collections, and a full one is made in a
moment without a turn. Where there is never such a moment, Python's own come, seldom.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from server.http.turns import Turns

THRESHOLDS = (5_000, 20, 50)
"""Those of `gc.set_threshold` while a server runs; Python's own are about a tenth and half."""
LOOK_SECONDS = 0.5
"""How often it is looked whether a turn runs."""
MOST_TURNS = 100
"""After so many turns the first moment without one is used; after fewer, one of a whole look."""


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
