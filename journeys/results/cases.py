"""Calls for a person, as operators see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from journeys.results.outcomes import TranscriptEntry


@dataclass(frozen=True, slots=True)
class EscalationEntry:
    """One call for a person: a row of the table that operators list.

    Attributes:
        id: Its id, which is also its key where it is sent on.
        session_id: The session.
        journey_id: Its journey.
        turn: Number of the turn in which the person was called.
        reason: Why: asked, sentiment, keyword, `max_attempts:FIELD`, `failures:N`, condition,
            timeout, collected, or what else led to it.
        status: open, claimed, released, or expired: it was not claimed in time, and the assistant
            continued.
        claimed_by: Who took it.
        at: When the person was called, ISO 8601 in UTC.
        updated_at: When its status changed last.
        unclaimed_at: From when on the user is offered to go on with the assistant meanwhile.
        delivered_at: When it was handed to the webhook; None: not yet, or there is none.
    """

    id: str
    session_id: str
    journey_id: str
    turn: int
    reason: str
    status: str
    claimed_by: str | None
    at: str
    updated_at: str
    unclaimed_at: str
    delivered_at: str | None


@dataclass(frozen=True, slots=True)
class EscalationCase:
    """An escalation with its payload.

    Attributes:
        entry: The call itself.
        payload: reason, summary, position (pathway, title, question), stack, fields (value,
            validity, attempts; sensitive ones hidden) and metadata.
        transcript: The messages until then, oldest first; at most the last 200.
        since: What was said from then on, likewise, until the assistant had it again.
    """

    entry: EscalationEntry
    payload: dict[str, Any]
    transcript: list[TranscriptEntry]
    since: list[TranscriptEntry]
