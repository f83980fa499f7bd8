"""Routes of escalations and their models: list, claim, say, release."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import asdict
from http import HTTPStatus
from typing import Annotated, Any, Literal, NamedTuple, Self

from fastapi import APIRouter, Depends, Path, Response
from pydantic import BaseModel, ConfigDict, Field, field_validator

from journeygraph.graphs.records.listing import cursor_behind, number_of, paged
from journeygraph.graphs.session.manager import PathwayManager
from journeygraph.journeys import EscalationCase, EscalationEntry, JourneySession, TranscriptEntry
from journeygraph.server.http.deps import (
    REPLAYED,
    Cursor,
    IdempotencyKey,
    Limit,
    UpToDate,
    known_journey,
    served_of,
)
from journeygraph.server.http.problems import Problem
from journeygraph.server.http.routing import ApiRoute
from journeygraph.server.http.schemas import EscalationListed, Escalations

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


router = APIRouter(prefix="/v1/escalations", tags=["escalations"], route_class=ApiRoute)

_ID = re.compile(r"[0-9a-f-]{36}")


def _not_found() -> Problem:
    return Problem(
        HTTPStatus.NOT_FOUND,
        "escalation_not_found",
        "There is no escalation with this id. GET /v1/escalations lists them.",
    )


Id = Annotated[str, Path(description="Id of an escalation.", max_length=100)]


class _Called(NamedTuple):
    """An escalation and its session."""

    entry: EscalationEntry
    session: PathwayManager


async def _known(escalation_id: Id) -> str:
    if not _ID.fullmatch(escalation_id):
        raise _not_found()
    return escalation_id


KnownId = Annotated[str, Depends(_known)]


async def _case(escalation_id: KnownId, app_state: UpToDate) -> EscalationCase:
    case = await app_state.directory.escalation(escalation_id)
    # One of a journey that is not served here is none of ours.
    if case is None or case.entry.journey_id not in app_state.journeys:
        raise _not_found()
    return case


async def _called(escalation_id: KnownId, app_state: UpToDate) -> AsyncIterator[_Called]:
    entry = await app_state.directory.escalation_entry(escalation_id)
    if entry is None or entry.journey_id not in app_state.journeys:
        raise _not_found()
    listed = await app_state.directory.find(entry.session_id)
    if listed is None:  # deleted a moment ago
        raise _not_found()
    async with app_state.session(await served_of(listed, app_state), entry.session_id) as session:
        yield _Called(entry, session)


Case = Annotated[EscalationCase, Depends(_case)]
Called = Annotated[_Called, Depends(_called)]


@router.get("")
async def listed(
    app_state: UpToDate,
    journey_id: str | None = None,
    status: EscalationStatus | None = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Escalations:
    """List escalations, newest first; without a status, the open and claimed ones."""
    journeys = list(app_state.journeys)
    if journey_id is not None:
        journeys = [known_journey(app_state, journey_id).id]
    before = None if cursor is None else number_of(cursor)
    # One more than asked for tells whether there is another page.
    found = await app_state.directory.escalations(
        journeys, status=status or "", before=before, limit=limit + 1
    )
    page = paged(found, limit, lambda one: cursor_behind(one.number))
    shown = [EscalationListed(**asdict(one.entry), last_message=one.last_message) for one in page]
    return Escalations(escalations=shown, next_cursor=page.next)


@router.get("/{escalation_id}")
async def shown(case: Case) -> Escalation:
    """Return an escalation with its payload and the messages since."""
    return Escalation.of(case)


@router.post("/{escalation_id}/claim")
async def claim(
    called: Called, act: Act, key: IdempotencyKey, response: Response
) -> EscalationEntry:
    """Claim the conversation for one operator."""
    done = await called.session.claim(act.by, called.entry.id, idempotency_key=key)
    return _after(done, response)


@router.post("/{escalation_id}/messages")
async def say(
    called: Called, words: Words, key: IdempotencyKey, response: Response
) -> EscalationEntry:
    """Send a text to the user; this claims a conversation that is not claimed yet."""
    done = await called.session.operator_says(
        words.message, words.by, called.entry.id, idempotency_key=key
    )
    return _after(done, response)


@router.post("/{escalation_id}/release")
async def release(
    called: Called, act: Act, key: IdempotencyKey, response: Response
) -> EscalationEntry:
    """Give the conversation back to the assistant, which continues where it was paused."""
    done = await called.session.release(act.by, called.entry.id, idempotency_key=key)
    return _after(done, response)


def _after(done: JourneySession, response: Response) -> EscalationEntry:
    if done.replayed:
        response.headers.update(REPLAYED)
    assert done.escalation is not None
    return done.escalation
