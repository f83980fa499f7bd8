"""Whether the server lives, and whether it can work; both without a key."""

from __future__ import annotations

import asyncio
from http import HTTPStatus

from fastapi import APIRouter

from journeys import StateError
from server.deps import Wired
from server.problems import RETRY_AFTER, Problem
from server.schemas import Health

router = APIRouter(tags=["health"])
READY_SECONDS = 2.0
"""How long the store may take to show that it is there."""


@router.get("/healthz")
async def healthz() -> Health:
    """Say that the process lives."""
    return Health()


@router.get("/readyz")
async def readyz(wiring: Wired) -> Health:
    """Say that the store answers, and has our tables."""
    try:
        async with asyncio.timeout(READY_SECONDS):
            await wiring.directory.ready()
    except (StateError, TimeoutError):
        raise Problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "store_unavailable",
            "The store does not answer.",
            headers={"Retry-After": str(RETRY_AFTER)},
        ) from None
    return Health()
