"""A running turn as a stream of its events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from graphs.turns import Tell
from journeys import JourneyEvent, JourneyResponse


async def events_of(
    answer: Callable[[Tell], Coroutine[Any, Any, JourneyResponse]],
) -> AsyncIterator[JourneyEvent]:
    """Run a turn and yield its events, the last of them `done`, or `error` before what it raised.

    Closing the iterator gives the turn up.

    Args:
        answer: Runs the turn; is given what takes its events.
    """
    heard: asyncio.Queue[JourneyEvent | None] = asyncio.Queue()
    task = asyncio.ensure_future(answer(heard.put_nowait))
    task.add_done_callback(lambda _: heard.put_nowait(None))
    try:
        while (event := await heard.get()) is not None:
            yield event
        if error := task.exception():
            yield JourneyEvent("error", {"type": type(error).__name__, "message": str(error)})
            raise error
        yield JourneyEvent("done", {"response": task.result()})
    finally:
        task.cancel()
        await asyncio.wait([task])
