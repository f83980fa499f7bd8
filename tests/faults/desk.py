"""Journeys that the killed servers serve: a diary, and a sensitive one."""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path
from typing import Any

from tests.support import crash_child

NOTED, HOME = "noted", "tell"
"""The first word of the replies of this version, and its first pathway."""
DEADLY = "deadly"
"""Word of a message at which a server dies, once for each message."""


class Diary(crash_child.Diary):
    """Tell the day."""

    __version__ = "1"
    __stranded__ = "refuse"


class SecretDiary(Diary):
    """Tell the day in secret."""

    __sensitive__ = True


async def listener(payload: dict[str, Any]) -> dict[str, Any]:
    """Listen for a moment in which the process may be killed."""
    await asyncio.sleep(random.uniform(0, 0.02))
    return {"response": "listening"}


def writer(noted: str) -> Any:
    """Return the agent that writes down the messages."""

    async def write(payload: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(random.uniform(0, 0.02))
        text = payload["message"]
        if DEADLY in text:
            _die_once(text)
        return {"response": f"{noted} {text}", "heard": text, "count": 1}

    return write


def _die_once(text: str) -> None:
    died = Path(os.environ["FAULTS_FOLDER"], text.replace(" ", "-"))
    if not died.exists():
        died.touch()
        crash_child.die()


AGENTS = {"listener": listener, "writer": writer(NOTED)}
