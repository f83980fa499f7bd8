"""A server in a process of its own, which tests kill."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from pathlib import Path
from typing import Any

import uvicorn

from graphs.session import jobs
from graphs.storage import connections
from journeys import NEVER, Journey, MergeStrategy, Pathway
from server.app import app_of
from server.discover.journeys import Served
from server.http.protocols import PROTOCOLS
from tests.support.api import wired

LEASE = 0.6
"""Seconds that a lease lasts, so that tests do not wait long for a killed server."""
DIE = "die"
"""Message at which the process dies, once for each session."""


class Log(Journey):
    """Write down the messages."""

    class WritePath(Pathway):
        __agents__ = ["writer"]
        __accumulate__ = {"heard": MergeStrategy.APPEND}
        __complete_when__ = NEVER


def serve(url: str, port: int, folder: str) -> None:
    """Serve the journey at a port until the process is killed."""
    connections.LEASE = LEASE
    jobs.LOOK_SECONDS = LEASE / 4

    async def writer(payload: dict[str, Any]) -> dict[str, Any]:
        text = payload["message"]
        await asyncio.sleep(random.uniform(0, 0.02))
        if text.startswith(DIE) and not (once := Path(folder) / text.replace(" ", "-")).exists():
            once.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return {"response": f"noted {text}", "heard": text}

    served = wired(Served(Log, {"writer": writer}), url=url)
    config = uvicorn.Config(app_of(served), http=PROTOCOLS[0], log_config=None, port=port)
    asyncio.run(uvicorn.Server(config).serve())
