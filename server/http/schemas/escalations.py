"""HTTP models of escalations and of actions of operators."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator

from journeys import EscalationCase, EscalationEntry, TranscriptEntry

EscalationStatus = Literal["open", "claimed", "released", "expired"]
Operator = Annotated[
    str,
    Field(
        min_length=1,
        max_length=100,
        description="Name of the operator: 1 to 100 printable characters, the same in all "
        "requests of one person.",
    ),
]


class Act(BaseModel):
    """An act of an operator."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"by": "ann"}]}
    )

    by: Operator

    @field_validator("by")
    @classmethod
    def _printable(cls, value: str) -> str:
        if not value.isprintable():
            raise ValueError("must be printable characters")
        return value


class Words(Act):
    """A text of an operator to the user."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"by": "ann", "message": "Hello, this is Ann."}]}
    )

    message: str = Field(
        description="Not empty, and up to 16 kB.",
        json_schema_extra={"pattern": r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"},
    )


class Escalations(BaseModel):
    """A page of escalations, newest first."""

    escalations: list[EscalationEntry]
    next_cursor: str | None = Field(description="Cursor for the next page; null on the last page.")


class Escalation(BaseModel):
    """An escalation with its payload."""

    escalation: EscalationEntry
    payload: dict[str, Any] = Field(
        description="reason, summary, position, stack, fields (sensitive ones hidden), metadata."
    )
    transcript: list[TranscriptEntry] = Field(
        description="The messages until then, oldest first; at most the last 200."
    )
    since: list[TranscriptEntry] = Field(
        description="The messages from then on, until the release."
    )

    @classmethod
    def of(cls, case: EscalationCase) -> Self:
        """Return the model of an escalation."""
        return cls(
            escalation=case.entry,
            payload=case.payload,
            transcript=case.transcript,
            since=case.since,
        )
