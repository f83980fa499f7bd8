"""Routes for liveness and readiness, both without a key."""

from __future__ import annotations

import asyncio
from http import HTTPStatus

from fastapi import APIRouter

from journeys import StateError
from server.http.deps import Wired
from server.http.problems import RETRY_AFTER, Problem
from server.http.schemas import Health, Readiness

router = APIRouter(tags=["health"])
READY_SECONDS = 2.0
"""Seconds within which the store must respond."""


@router.get("/healthz")
async def healthz() -> Health:
    """Report that the process runs."""
    return Health()


@router.get("/readyz")
async def readyz(wiring: Wired) -> Readiness:
    """Report that the store responds and has our tables."""
    # Shielded: to cancel what a database does not answer takes longer than to leave it alone.
    asked = asyncio.shield(asyncio.ensure_future(wiring.directory.ready()))
    try:
        await asyncio.wait_for(asked, READY_SECONDS)
    except (StateError, TimeoutError):
        raise Problem(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "store_unavailable",
            "The store does not respond.",
            headers={"Retry-After": str(RETRY_AFTER)},
        ) from None
    return Readiness(
        definitions_refused=sorted(wiring.catalogue.faults if wiring.catalogue else ())
    )
