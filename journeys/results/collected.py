"""The collected fields of a session, with every attempt at each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class FieldAttemptEntry:
    """One attempt at a field, as it was recorded; attempts are appended, never changed.

    Attributes:
        session_id: The session.
        turn: Number of the turn in which it was made.
        field: Name of the field.
        value: The value, as it is kept: plain JSON. None if nothing could be read, or where the
            field was emptied; and of a sensitive field, always.
        raw: What was said; of a sensitive field nothing.
        hidden: True if value and words are not shown, because the field is sensitive.
        timestamp: When it was said, ISO 8601 in UTC.
        confidence: How sure the understanding was, 0 to 1.
        validation_status: valid, invalid, pending (it waits for a yes) or cleared: from there on
            there is no value.
        source: user_provided, corrected, inferred, tool or operator.
        reason: Why it was refused or cleared.

    Source: collecting agent, state model.
    """

    session_id: str
    turn: int
    field: str
    value: Any
    raw: str
    timestamp: str
    confidence: float
    validation_status: str
    source: str
    reason: str
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class FieldState:
    """Current state of one field.

    Attributes:
        field_name: Its name in the context.
        title: Its name for users.
        type: Its type, one of `FIELD_TYPES`.
        value: The last valid value; None if there is none, and of a sensitive field always.
        is_collected: True if there is one.
        required: True if it has to be given.
        live: True if it counts: its `when` holds. A value of a field that is not live is kept, and
            is no part of what is collected.
        skipped: True if the user left it open.
        hidden: True if its value is not shown, because it is sensitive.
        validity: The status of the last attempt; empty if there was none.
        attempts: The last attempts, oldest first; `attempts(name)` gives all.
        pathway_id: The pathway that collects it; of several the first.

    Source: collecting agent, state model.
    """

    field_name: str
    title: str
    type: str
    value: Any
    is_collected: bool
    required: bool
    live: bool
    skipped: bool
    hidden: bool
    validity: str
    attempts: list[FieldAttemptEntry]
    pathway_id: str

    @property
    def name(self) -> str:
        """Its name in the context."""
        return self.field_name

    @property
    def current_value(self) -> Any:
        """The last valid value."""
        return self.value


@dataclass(frozen=True, slots=True)
class FormView:
    """The fields of a session and the open question, as a copy that does not change.

    Attributes:
        session_id: The session.
        pathway_id: The pathway that collects now.
        current_field: The field that is asked for; None if none is.
        asked: What the user was asked last: `kind`, `about` and `options`; None if nothing.
        is_complete: True if all that the pathway collects is collected and confirmed; true of one
            that collects nothing.
        fields: Every field of the journey by name, those of that pathway first.
    """

    session_id: str
    pathway_id: str
    current_field: str | None
    asked: Mapping[str, Any] | None
    is_complete: bool
    fields: dict[str, FieldState] = field(default_factory=dict)

    @property
    def collected(self) -> dict[str, Any]:
        """The values of the fields that count, by name, but for sensitive ones."""
        return {
            name: state.value
            for name, state in self.fields.items()
            if state.live and state.is_collected and not state.hidden
        }
