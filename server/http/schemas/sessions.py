"""HTTP models; the OpenAPI description is made from these."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from graphs.records.listing import Listed
from graphs.session.session import SessionContext
from journeys import (
    AuditedTurn,
    AuditEntry,
    CheckEntry,
    ConversationPhase,
    FieldVersion,
    JourneyResponse,
    JourneySession,
    TranscriptEntry,
    VersionInfo,
)
from journeys.locale import Locale, locale_of, part_remedy

SessionId = Annotated[
    str,
    Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._~:@+-]{0,199}$",
        description="1 to 200 letters, digits and ._~:@+- that begin with a letter or a digit.",
    ),
]
Status = Literal["active", "complete", "expired"]


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class OwnLocale(_Asked):
    """The locale that a session brings; what is left out is the server's."""

    language: str | None = Field(default=None, description="Of the texts: en, de.")
    region: str | None = Field(default=None, description="Country, as two capitals: DE.")
    timezone: str | None = Field(default=None, description="IANA name: Europe/Berlin.")
    first_day: str | None = Field(default=None, description="First day of the week: monday.")
    date_order: str | None = Field(default=None, description="Of dates in digits: dmy, mdy.")
    decimal_sign: str | None = Field(default=None, description="A point or a comma.")
    clock: str | None = Field(default=None, description="Of times that are shown: 12h, 24h.")

    @field_validator("*")
    @classmethod
    def _known(cls, value: str | None, info: ValidationInfo) -> str | None:
        remedy = part_remedy(str(info.field_name), value) if value is not None else ""
        if remedy:
            raise PydanticCustomError("unknown", "{remedy}", {"remedy": remedy})
        return value


class NewSession(_Asked):
    """What a session begins with."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"journey_id": "parcel_refund"},
                {
                    "journey_id": "healthcare_referral",
                    "session_id": "patient-12345",
                    "context": {"insurance_id": "INS-123456"},
                },
            ]
        }
    )

    journey_id: str | None = Field(
        default=None, description="May be left out where the server has one journey."
    )
    session_id: SessionId | None = Field(default=None, description="Default: a new UUID.")
    context: dict[str, Any] | None = Field(
        default=None, description="First values of the context; up to 1 MB as JSON."
    )
    locale: OwnLocale | None = Field(
        default=None,
        description="Where the user is at home. A part counts where the journey has none itself.",
    )

    def own_locale(self) -> Locale | None:
        """Return the locale that the session brings."""
        return locale_of(self.locale.model_dump(exclude_none=True)) if self.locale else None


class Message(_Asked):
    """What the user says."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"message": "It is P-1042"}]})

    message: str = Field(
        description="Empty ones and those over 16 kB get a fixed reply, and change nothing.",
        # As graphs/session/input.py reads it, which says what is wrong better than a pattern could.
        json_schema_extra={"pattern": r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"},
    )


class Resumed(_Asked):
    """The answer to what an agent asked."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"value": True}]})

    value: Any = Field(
        description="What `interrupt()` returns to the agent. An object of the ids in "
        "`metadata.waiting` answers several at once."
    )


class Rollback(_Asked):
    """Where to go back to."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"version": 0}]})

    version: int = Field(ge=0, lt=2**31, description="A number from GET .../versions.")

    @field_validator("version", mode="before")
    @classmethod
    def _whole(cls, value: Any) -> Any:
        # To JSON, 1.0 and 1 are the same number.
        return int(value) if isinstance(value, float) and value.is_integer() else value


class AskedOption(BaseModel):
    """One of the options of the open question."""

    label: str = Field(description="What it is called, for a button.")
    payload: str = Field(description="The message that chooses it, and no other option.")


class AskedNow(BaseModel):
    """The question that the next message may answer."""

    field: str | None = Field(description="The field that it is about; null if about none.")
    kind: str = Field(
        description="Type of the field that is asked for; or summary, wrong, correction, return, "
        "paused, clarify, restart, change, human, unclaimed, retry, more."
    )
    label: str = Field(description="What users call what it is about; empty if about nothing.")
    options: list[AskedOption] = Field(description="Empty where it is answered in words.")
    hint: str = Field(description="What a field takes: a range, an example; empty if unknown.")


class Metadata(BaseModel):
    """What is known of a turn besides its reply."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "description": "version, pathway_stack, returning, tier, confidence, ran, flags, "
            "usage, what agents wait for (waiting), ..."
        },
    )

    sources: list[str] = Field(
        description="Where an answer is from that was looked up; empty where none was."
    )
    asked: AskedNow | None = Field(description="What is asked now; null where nothing is.")


class Reply(BaseModel):
    """The outcome of a turn, which is committed."""

    session_id: str
    message: str = Field(description="What to say to the user.")
    pathway_id: str = Field(description="Where the session stands now.")
    pathway_changed: bool
    transition_to: str | None = Field(description="Where a transition led; null if none fired.")
    accumulated_context: dict[str, Any]
    is_journey_complete: bool
    metadata: Metadata

    @classmethod
    def of(cls, session_id: str, response: JourneyResponse) -> Self:
        """Return a response as it is sent: what failed inside is named, and not described."""
        error = response.metadata["error"]
        shown = {"type": error["type"]} if error else None
        return cls(
            session_id=session_id,
            message=response.message,
            pathway_id=response.pathway_id,
            pathway_changed=response.pathway_changed,
            transition_to=response.transition_to,
            accumulated_context=response.accumulated_context,
            is_journey_complete=response.is_journey_complete,
            metadata=Metadata.model_validate({**response.metadata, "error": shown}),
        )


class Session(BaseModel):
    """Where a session stands."""

    session_id: str
    journey_id: str
    pathway_id: str
    pathway_stack: list[str] = Field(description="Pathways that are paused, the last one on top.")
    returning: bool = Field(description="Whether the next message leads back from a detour.")
    phase: ConversationPhase = Field(description="How far along the conversation is.")
    is_journey_complete: bool
    greeting: str = Field(
        description="What the assistant said when the session began; empty if nothing, or long ago."
    )
    waiting: list[dict[str, Any]] = Field(
        description="What agents ask by interrupt(): id, value, pathway and agent of each."
    )
    locale: OwnLocale = Field(description="What the session brought of its locale.")
    version: int
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, session: JourneySession) -> Self:
        """Return a session as it is sent."""
        return cls(
            session_id=session.session_id,
            journey_id=session.journey_id,
            pathway_id=session.current_pathway_id,
            pathway_stack=session.pathway_stack,
            returning=session.returning,
            phase=session.phase,
            is_journey_complete=session.is_journey_complete,
            greeting=session.greeting,
            waiting=session.waiting,
            locale=OwnLocale.model_validate(session.locale.parts),
            version=session.version,
            created_at=session.created_at,
            updated_at=session.updated_at,
        )


class History(BaseModel):
    """A page of what was said, oldest first."""

    session_id: str
    entries: list[TranscriptEntry]
    next_cursor: str | None = Field(description="For the next page; null on the last one.")


class Context(BaseModel):
    """What a session knows, and where it stands."""

    session_id: str
    call_id: str | None = Field(description="The text of that name in the context.")
    customer_id: str | None = Field(description="The text of that name in the context.")
    journey_id: str | None = Field(
        description="The active journey; in a concierge one of several, or null."
    )
    current_state: str = Field(description="The pathway where the session stands.")
    context: dict[str, Any] = Field(description="Its variables.")
    started_at: str
    activated_at: str = Field(description="When the active journey began.")
    version: int
    history: list[FieldVersion] | None = Field(
        default=None, description="With ?name=: every value it has had, oldest first."
    )

    @classmethod
    def of(cls, context: SessionContext) -> Self:
        """Return a context as it is sent."""
        return cls(
            session_id=context.session_id,
            call_id=context.call_id,
            customer_id=context.customer_id,
            journey_id=context.journey_id,
            current_state=context.current_state,
            context=context.variables,
            started_at=context.started_at,
            activated_at=context.activated_at,
            version=context.version,
        )


class Versions(BaseModel):
    """A page of the versions of a session, oldest first."""

    session_id: str
    versions: list[VersionInfo]
    next_cursor: str | None = Field(description="For the next page; null on the last one.")


class Sessions(BaseModel):
    """A page of sessions, newest activity first."""

    sessions: list[Listed]
    next_cursor: str | None = Field(description="For the next page; null on the last one.")


_DESCRIBED = frozenset(
    (
        *("failure", "condition_raised", "callback_failed"),
        *("late_result", "model_failed", "agent_failed", "tool_failed"),
        *("effect_failed", "effect_late", "effect_unsure", "knowledge_failed"),
    )
)
"""Kinds of audit events whose reason is what an error said."""


def _event(event: AuditEntry) -> AuditEntry:
    return replace(event, reason="") if event.kind in _DESCRIBED else event


class Audit(BaseModel):
    """All that is recorded of a session, turn by turn: with it the conversation can be rebuilt."""

    session_id: str
    turns: list[AuditedTurn]
    next_cursor: str | None = Field(description="For the next page; null on the last one.")

    @classmethod
    def of(cls, session_id: str, turns: Iterable[AuditedTurn], more: str | None) -> Self:
        """Return turns as they are sent: what failed inside is named, and not described."""
        shown = [replace(turn, events=[_event(event) for event in turn.events]) for turn in turns]
        return cls(session_id=session_id, turns=shown, next_cursor=more)


class Reviews(BaseModel):
    """A page of checks of replies that somebody should look at, newest first."""

    reviews: list[CheckEntry]
    next_cursor: str | None = Field(description="For the next page; null on the last one.")


class Health(BaseModel):
    """That all is well."""

    status: Literal["ok"] = "ok"


class Readiness(Health):
    """That there is work to be done, and what cannot be."""

    definitions_refused: list[str] = Field(
        description="Definitions that cannot be taken up; what was served before is served on."
    )


class ProblemBody(BaseModel):
    """Why there is no other answer (RFC 9457)."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "about:blank",
                    "title": "Not Found",
                    "status": 404,
                    "detail": "There is no session of this id. POST /v1/sessions begins one.",
                    "code": "session_not_found",
                    "request_id": "6fb1b0a8c1d94ac7a7a0c0a1b5b0f3d2",
                }
            ]
        }
    )

    type: str
    title: str
    status: int
    detail: str
    code: str = Field(description="For programs; does not change between releases.")
    request_id: str
    errors: list[dict[str, str]] | None = None
