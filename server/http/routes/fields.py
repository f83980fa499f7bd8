"""Routes of the collected fields of a session."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from server.http.deps import Cursor, OpenSession, Turns
from server.http.routing import ApiRoute
from server.http.schemas.fields import Attempts, Fields

router = APIRouter(
    prefix="/v1/sessions/{session_id}/fields", tags=["sessions"], route_class=ApiRoute
)


@router.get("")
async def listed(session: OpenSession) -> Fields:
    """Return every field: its value, its state, and its last attempts.

    Values of sensitive fields are never returned.
    """
    return Fields.of(await session.fields())


@router.get("/{name}")
async def attempts(
    session: OpenSession,
    name: Annotated[str, Path(description="Name of a field.", max_length=200)],
    cursor: Cursor = None,
    limit: Turns = 200,
) -> Attempts:
    """Return the attempts at a field, oldest first, with the reasons of refused ones."""
    page = await session.attempts(name, limit, cursor)
    more = page.next
    return Attempts(session_id=session.session_id, field=name, attempts=page, next_cursor=more)
