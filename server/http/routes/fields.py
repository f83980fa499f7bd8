"""Routes of the collected fields of a session, and their models."""

from __future__ import annotations

from typing import Annotated, Any, Self

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from journeygraph.journeys import FieldAttemptEntry, FieldState, FormView
from journeygraph.server.http.deps import Cursor, OpenSession, Turns
from journeygraph.server.http.routing import ApiRoute


class Fields(BaseModel):
    """The fields of a session and the open question.

    Values of sensitive fields are omitted, and `hidden` marks them.
    """

    session_id: str
    pathway_id: str = Field(description="The pathway that collects now.")
    current_field: str | None = Field(
        description="The field that the user is asked for; null if none."
    )
    asked: dict[str, Any] | None = Field(
        description="The last question to the user: `kind`, `about` and `options`."
    )
    is_complete: bool = Field(
        description="True if all fields of the pathway are collected and confirmed."
    )
    fields: dict[str, FieldState] = Field(
        description="Every field of the journey by name, those of that pathway first, each with "
        "its last attempts."
    )

    @classmethod
    def of(cls, view: FormView) -> Self:
        """Return the model of collected fields."""
        return cls(
            session_id=view.session_id,
            pathway_id=view.pathway_id,
            current_field=view.current_field,
            asked=None if view.asked is None else dict(view.asked),
            is_complete=view.is_complete,
            fields=view.fields,
        )


class Attempts(BaseModel):
    """A page of the attempts at a field, oldest first, including those before a rollback."""

    session_id: str
    field: str
    attempts: list[FieldAttemptEntry]
    next_cursor: str | None = Field(description="Cursor for the next page; null on the last page.")


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
