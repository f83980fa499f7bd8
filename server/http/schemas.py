"""HTTP models that several routes share; the OpenAPI description is made from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

from journeygraph.graphs.records.listing import SessionListing
from journeygraph.graphs.session.input import MOST_EVENT, new_id_of
from journeygraph.journeys import (
    AuditedTurn,
    AuditEntry,
    CheckEntry,
    ConfigurationError,
    ConversationPhase,
    EscalationEntry,
    FieldVersion,
    JourneyResponse,
    TranscriptEntry,
    VersionInfo,
    VersionState,
)
from journeygraph.journeys.config import WhenBusy
from journeygraph.journeys.faults import REMEDIES
from journeygraph.journeys.locale import Locale, locale_of, part_remedy

_SESSION_ID = r"^[A-Za-z0-9][A-Za-z0-9._~:@+-]{0,199}$"
SessionId = Annotated[
    str,
    Field(
        pattern=_SESSION_ID,
        description="1 to 200 letters, digits and ._~:@+-, starting with a letter or a digit.",
    ),
]
REMEDIES[_SESSION_ID] = (
    "use 1 to 200 letters, digits and . _ ~ : @ + -, with a letter or a digit first."
)


def _user_id(value: str) -> str:
    try:
        return new_id_of(value, "user")
    except ConfigurationError:
        remedy = "it must be 1 to 200 printable characters, without '.' or '..' between '/'."
        raise PydanticCustomError("wanted", "{wanted}", {"wanted": remedy}) from None


# As keys and signed tokens name users, whose ids come from an identity provider: `auth0|12`.
UserId = Annotated[
    str,
    AfterValidator(_user_id),
    Field(
        json_schema_extra={"minLength": 1, "maxLength": 200},
        description="1 to 200 printable characters, but not `.` or `..`, nor these between `/`.",
    ),
]
Status = Literal["active", "complete", "closed", "expired"]


class _Asked(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class OwnLocale(_Asked):
    """The locale of a session; omitted parts are the server's."""

    language: str | None = Field(default=None, description="Language of the texts: en, de.")
    region: str | None = Field(default=None, description="Country, as two capitals: DE.")
    timezone: str | None = Field(default=None, description="IANA name: Europe/Berlin.")
    first_day: str | None = Field(default=None, description="First day of the week: monday.")
    date_order: str | None = Field(default=None, description="Order of dates in digits: dmy, mdy.")
    decimal_sign: str | None = Field(
        default=None, description="Decimal separator: a point or a comma."
    )
    clock: str | None = Field(default=None, description="Format of displayed times: 12h, 24h.")

    @field_validator("*")
    @classmethod
    def _known(cls, value: str | None, info: ValidationInfo) -> str | None:
        remedy = part_remedy(str(info.field_name), value) if value is not None else ""
        if remedy:
            raise PydanticCustomError("unknown", "{remedy}", {"remedy": remedy})
        return value


class NewSession(_Asked):
    """The start of a session."""

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
        default=None, description="Optional if the server has one journey."
    )
    session_id: SessionId | None = Field(default=None, description="Default: a new UUID.")
    context: dict[str, Any] | None = Field(
        default=None, description="First values of the context; up to 1 MB as JSON."
    )
    locale: OwnLocale | None = Field(
        default=None,
        description="Locale of the user. A part is used if the journey does not set it itself.",
    )

    user: UserId | None = Field(
        default=None,
        description="Id of the user who owns the session. A key of this user reaches it.",
    )

    def own_locale(self) -> Locale | None:
        """Return the locale of the request."""
        return locale_of(self.locale.model_dump(exclude_none=True)) if self.locale else None


# As graphs/session/input.py reads it, which says what is wrong better than a pattern could.
_READABLE: dict[str, Any] = {"pattern": r"^[^\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]*$"}


class Message(_Asked):
    """A message of the user."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"message": "It is P-1042"}]})

    message: str = Field(
        description="An empty message or one over 16 kB gets a fixed reply and changes nothing.",
        json_schema_extra=_READABLE,
    )
    when_busy: WhenBusy | None = Field(
        default=None,
        description="Rule if a turn of the session runs; default: that of the server. `enqueue`: "
        "wait; 429 `too_many_waiting` if 8 requests wait already. `reject`: 409 `session_busy`. "
        "`interrupt`: give up the running turn if it has not begun an effect, which is answered "
        "by 409 `turn_interrupted`; then as `enqueue`.",
    )


class Resumed(_Asked):
    """The answer to a question of an agent."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"value": True}]})

    value: Any = Field(
        description="The value that `interrupt()` returns to the agent. To answer several at "
        "once, send an object with the ids in `metadata.waiting` as keys."
    )
    when_busy: WhenBusy | None = Field(default=None, description="As for a message.")


class Event(_Asked):
    """An event from outside the conversation."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "payment_received", "data": {"amount": 40}}]}
    )

    name: str = Field(
        min_length=1,
        max_length=MOST_EVENT,
        description="Name, as an `EventTrigger` has it.",
        json_schema_extra=_READABLE,
    )
    data: dict[str, Any] = Field(
        default_factory=dict,
        description="Context values by name, which replace those before; null removes a name.",
    )


class Rollback(_Asked):
    """The target of a rollback."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"version": 0}]})

    version: int = Field(ge=0, lt=2**31, description="A number from GET .../versions.")

    @field_validator("version", mode="before")
    @classmethod
    def _whole(cls, value: Any) -> Any:
        # To JSON, 1.0 and 1 are the same number.
        return int(value) if isinstance(value, float) and value.is_integer() else value


class Fork(Rollback):
    """The version of a session from which another session starts."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"version": 0}]})

    session_id: SessionId | None = Field(default=None, description="Default: a new UUID.")


class AskedOption(BaseModel):
    """One of the options of the open question."""

    label: str = Field(description="Label for a button.")
    payload: str = Field(description="The message that chooses this option and no other one.")


class AskedNow(BaseModel):
    """The question that the next message may answer."""

    field: str | None = Field(description="The field of the question; null if it has none.")
    kind: str = Field(
        description="Type of the field; or summary, wrong, correction, return, "
        "paused, clarify, restart, change, human, unclaimed, retry, more."
    )
    label: str = Field(description="The users' name for its subject; empty if it has none.")
    options: list[AskedOption] = Field(description="Empty if the answer is free text.")
    hint: str = Field(
        description="Valid values of the field: a range, an example; empty if unknown."
    )


class Metadata(BaseModel):
    """Data of a turn other than its reply."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "description": "version, pathway_stack, returning, tier, confidence, ran, flags, "
            "usage, open questions of agents (waiting), ..."
        },
    )

    sources: list[str] = Field(
        description="Sources of an answer from a knowledge base; empty if there is none."
    )
    asked: AskedNow | None = Field(description="The open question; null if there is none.")


class Reply(BaseModel):
    """The result of a committed turn."""

    session_id: str
    message: str = Field(description="The reply to show to the user.")
    pathway_id: str = Field(description="The pathway of the session now.")
    pathway_changed: bool
    transition_to: str | None = Field(
        description="Target of the transition that fired; null if none fired."
    )
    accumulated_context: dict[str, Any]
    is_journey_complete: bool
    metadata: Metadata

    @classmethod
    def of(cls, session_id: str, response: JourneyResponse) -> Self:
        """Return the model of a response; internal failures are named, not described."""
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
    """The state of a session, as a `JourneySession` has it."""

    session_id: str
    journey_id: str
    pathway_id: str = Field(validation_alias="current_pathway_id")
    pathway_stack: list[str] = Field(description="Paused pathways, the newest last.")
    returning: bool = Field(description="True if the next message returns from a detour.")
    phase: ConversationPhase = Field(description="Progress of the conversation.")
    is_journey_complete: bool
    is_closed: bool = Field(description="True after a silence closed it, until the next message.")
    greeting: str = Field(
        description="First reply of the assistant; empty if there was none, or if it is too old."
    )
    waiting: list[dict[str, Any]] = Field(
        description="Open questions of agents from interrupt(): id, value, pathway and agent "
        "of each."
    )
    asked: AskedNow | None = Field(
        description="The open question, as in the metadata of a reply; null if there is none."
    )
    locale: OwnLocale = Field(
        description="Locale that was sent with the session.",
        validation_alias=AliasPath("locale", "parts"),
    )
    journey_version: str = Field(description="The version of the journey that it belongs to.")
    version: int = Field(description="The number of its last turn.")
    created_at: str
    updated_at: str


class History(BaseModel):
    """A page of messages, oldest first."""

    session_id: str
    entries: list[TranscriptEntry]
    next_cursor: str | None = Field(description="Cursor for the next page; null on the last page.")


class Context(BaseModel):
    """The context of a session with its position, as a `SessionContext` has it."""

    session_id: str
    call_id: str | None = Field(description="The context value of this name, as text.")
    customer_id: str | None = Field(description="The context value of this name, as text.")
    journey_id: str | None = Field(
        description="The active journey; in a concierge one of several, or null."
    )
    current_state: str = Field(description="The pathway of the session.")
    context: dict[str, Any] = Field(description="Its variables.", validation_alias="variables")
    started_at: str
    activated_at: str = Field(description="Start of the active journey.")
    version: int
    history: list[FieldVersion] | None = Field(
        default=None, description="With ?name=: its values in these turns, oldest first."
    )
    next_cursor: str | None = Field(
        default=None,
        description="With ?name=: cursor for the next page; null on the last page.",
    )


class Versions(BaseModel):
    """A page of the versions of a session, oldest first."""

    session_id: str
    versions: list[VersionInfo]
    next_cursor: str | None = Field(description="Cursor for the next page; null on the last page.")


class Version(BaseModel):
    """One version: its turn, the context after it, and what the turn changed in it."""

    session_id: str
    turn: VersionInfo
    context: dict[str, Any]
    added: dict[str, Any] = Field(description="Values of names that the context did not have.")
    changed: dict[str, Any] = Field(
        description="Names whose value was replaced, with the value before."
    )
    removed: dict[str, Any] = Field(description="Names that are gone, with their last value.")

    @classmethod
    def of(cls, session_id: str, state: VersionState) -> Self:
        """Return the model of a version."""
        return cls(
            session_id=session_id,
            turn=state.turn,
            context=state.context,
            added=state.added,
            changed=state.changed,
            removed=state.removed,
        )


class Sessions(BaseModel):
    """A page of sessions, newest activity first."""

    sessions: list[SessionListing]
    next_cursor: str | None = Field(description="Cursor for the next page; null on the last page.")


_DESCRIBED = frozenset(
    (
        *("failure", "condition_raised", "callback_failed"),
        *("late_result", "model_failed", "agent_failed", "tool_failed"),
        *("effect_failed", "effect_late", "effect_unsure", "knowledge_failed"),
    )
)
"""Kinds of audit events whose reason is the text of an error."""


def _event(event: AuditEntry) -> AuditEntry:
    return replace(event, reason="") if event.kind in _DESCRIBED else event


@dataclass(frozen=True, slots=True)
class ShownTurn(AuditedTurn):
    """All records of one turn, and its errors.

    Attributes:
        errors: During development, for requests from this machine: tracebacks of the errors that
            agents, tools and other parts raised.
    """

    errors: list[str] = field(default_factory=list)


Errors = Callable[[int], Sequence[str]]
"""Gives the tracebacks of a turn, by its number."""


class Audit(BaseModel):
    """The complete record of a session, turn by turn; the conversation can be rebuilt from it."""

    session_id: str
    turns: list[ShownTurn]
    next_cursor: str | None = Field(description="Cursor for the next page; null on the last page.")

    @classmethod
    def of(
        cls,
        session_id: str,
        turns: Iterable[AuditedTurn],
        more: str | None,
        errors: Errors | None = None,
    ) -> Self:
        """Return the model of turns; internal failures are described only with `errors`."""
        shown = [_shown(turn, errors) for turn in turns]
        return cls(session_id=session_id, turns=shown, next_cursor=more)


def _shown(turn: AuditedTurn, errors: Errors | None) -> ShownTurn:
    known = {one.name: getattr(turn, one.name) for one in fields(turn)}
    if errors is None:
        return ShownTurn(**{**known, "events": [_event(event) for event in turn.events]})
    return ShownTurn(**known, errors=list(errors(turn.turn.version)))


class Reviews(BaseModel):
    """A page of replies that a person should review, newest first."""

    reviews: list[CheckEntry]
    next_cursor: str | None = Field(description="Cursor for the next page; null on the last page.")


@dataclass(frozen=True, slots=True)
class EscalationListed(EscalationEntry):
    """A call for a person in a list.

    Attributes:
        last_message: Beginning of the last message of the user. It is empty if there is none, and
            in sensitive journeys.
    """

    last_message: str


class Escalations(BaseModel):
    """A page of escalations, newest first."""

    escalations: list[EscalationListed]
    next_cursor: str | None = Field(description="Cursor for the next page; null on the last page.")


class Health(BaseModel):
    """Report that the process runs."""

    status: Literal["ok"] = "ok"


class Ready(Health):
    """Report that the server is ready, with faulty definitions."""

    definitions_refused: list[str] = Field(
        description="Definitions with faults; their previous versions stay in use."
    )


class FaultPlace(BaseModel):
    """The place of a fault in a text; line and column count from 1."""

    file: str | None = Field(description="Name of the file; null: the body of the request.")
    line: int
    column: int


class FaultBody(BaseModel):
    """A fault of a request or of a definition."""

    text: str = Field(description="Message and remedy, with the place before them.")
    message: str = Field(description="What is wrong.")
    remedy: str = Field(description="The way out; empty if the message shows it.")
    path: list[str | int] = Field(description="Names and numbers that lead to the wrong part.")
    place: FaultPlace | None


class ProblemBody(BaseModel):
    """An error (RFC 9457)."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "about:blank",
                    "title": "Not Found",
                    "status": 404,
                    "detail": "There is no session with this id. POST /v1/sessions starts one.",
                    "code": "session_not_found",
                    "request_id": "6fb1b0a8c1d94ac7a7a0c0a1b5b0f3d2",
                },
                {
                    "type": "about:blank",
                    "title": "Unprocessable Entity",
                    "status": 422,
                    "detail": "The request does not match the API description; `faults` has each "
                    "fault.",
                    "code": "invalid_request",
                    "request_id": "0b9d3a52a3f54b0f8f2e0c6e4a1d7c11",
                    "errors": [
                        {"where": "body.version", "what": "Input should be a valid integer"}
                    ],
                    "faults": [
                        {
                            "text": "body.version: it is not valid; it must be a whole number.",
                            "message": "it is not valid",
                            "remedy": "it must be a whole number.",
                            "path": ["body", "version"],
                            "place": None,
                        }
                    ],
                },
            ]
        }
    )

    type: str
    title: str
    status: int
    detail: str
    code: str = Field(description="Code for programs; stable between releases.")
    request_id: str
    errors: list[dict[str, str]] | None = Field(
        default=None, description="`where` and `what` of each fault of a request."
    )
    faults: list[FaultBody] | None = Field(
        default=None, description="Faults of a request or of a definition."
    )
