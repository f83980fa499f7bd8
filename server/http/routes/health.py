"""Routes for liveness and readiness, both without a key."""

from __future__ import annotations

from fastapi import APIRouter

from journeygraph.server.http.deps import AnyonesWiring
from journeygraph.server.http.readiness import not_ready
from journeygraph.server.http.schemas import Health, Ready

router = APIRouter(tags=["health"])


@router.get("/healthz")
async def healthz() -> Health:
    """Report that the process runs."""
    return Health()


@router.get("/readyz")
async def readyz(app_state: AnyonesWiring) -> Ready:
    """Report that the server can take requests: its store, its key and what it serves.

    The store takes a write that is read back, at most once a second. It has the schema of this
    release, and a SQLite file is the one that was opened. The encryption key opens stored sessions.
    All definitions of the start are served. Otherwise 503, with each reason in `faults`.
    """
    if found := await app_state.readiness.faults():
        raise not_ready(found)
    return Ready(
        definitions_refused=sorted(app_state.catalogue.faults if app_state.catalogue else ())
    )
