"""HTTP models of collected fields."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, Field

from journeys import FieldAttemptEntry, FieldState, FormView


class Fields(BaseModel):
    """What a session has collected, and what it asks for; values of sensitive fields are left out.

    `hidden` marks those.
    """

    session_id: str
    pathway_id: str = Field(description="The pathway that the talk is about.")
    current_field: str | None = Field(description="The field that is asked for; null if none is.")
    asked: dict[str, Any] | None = Field(
        description="What the user was asked last: `kind`, `about` and `options`."
    )
    is_complete: bool = Field(
        description="Whether all that the pathway collects is collected and confirmed."
    )
    fields: dict[str, FieldState] = Field(
        description="Every field of the journey by name, those of that pathway first, each with "
        "its last attempts."
    )

    @classmethod
    def of(cls, view: FormView) -> Self:
        """Return what is collected as it is sent."""
        return cls(
            session_id=view.session_id,
            pathway_id=view.pathway_id,
            current_field=view.current_field,
            asked=None if view.asked is None else dict(view.asked),
            is_complete=view.is_complete,
            fields=view.fields,
        )


class Attempts(BaseModel):
    """A page of the attempts at a field, oldest first, also what a rollback took back."""

    session_id: str
    field: str
    attempts: list[FieldAttemptEntry]
    next_cursor: str | None = Field(description="For the next page; null on the last one.")
