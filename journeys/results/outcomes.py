"""Results of a session: replies, events, forms, escalations, audit and transcript."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, TypeVar

from journeygraph.journeys.locale import NOWHERE, Locale


@dataclass(frozen=True, slots=True)
class FieldAttemptEntry:
    """One attempt at a field, as it was recorded; attempts are appended, never changed.

    Attributes:
        session_id: The session.
        turn: Number of the turn in which it was made.
        field: Name of the field.
        value: The value, as it is kept: plain JSON. None if nothing could be read, or where the
            field was emptied; and of a sensitive field, always.
        raw: Original words; nothing for a sensitive field.
        hidden: True if value and words are not shown, because the field is sensitive.
        timestamp: Time of the attempt, ISO 8601 in UTC.
        confidence: Certainty of the understanding, 0 to 1.
        validation_status: valid, invalid, pending (it waits for a yes) or cleared: from there on
            there is no value.
        source: user_provided, corrected, inferred, tool or operator.
        reason: Reason why it was refused or cleared.

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
        asked: The latest question to the user: `kind`, `about` and `options`; None if nothing.
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
        """The values of the fields that count, by name, except sensitive ones."""
        return {
            name: state.value
            for name, state in self.fields.items()
            if state.live and state.is_collected and not state.hidden
        }


class ConversationPhase(StrEnum):
    """Progress of a conversation (collecting agent, FSM).

    It is derived from the position of a session, never stored:

    - `GREETING`: there is no message of the user yet.
    - `COLLECTING`: the conversation continues.
    - `ESCALATED`: a person has it, or is called for, and the assistant is silent.
    - `COMPLETED`: the journey has reached its goal.
    """

    GREETING = "greeting"
    COLLECTING = "collecting"
    ESCALATED = "escalated"
    COMPLETED = "completed"


_T = TypeVar("_T")

_FIRST_REPLY = "reply-0"
"""Id of the message that a session begins with: the reply of its version 0."""


@dataclass(frozen=True, slots=True)
class JourneyResponse:
    """The outcome of one turn (ADR-025 section 5.5 and REQ-PM-001, both sets of names).

    Attributes:
        message: Text for the user; replies of several pathways are separated by a blank line.
        pathway_id: Pathway of the session after the turn.
        pathway_changed: True if the session moved in this turn.
        transition_to: Target of the transition that fired; None if none did.
        accumulated_context: The context after the turn; a copy.
        is_journey_complete: True if the goal is reached.
        metadata: version, pathway_stack, returning, phase, transition_triggered, transition_intent,
            tier, confidence, reasoning, ran, replies, error, flags, waiting, sources, asked, usage
            and journey_id; of a concierge also activated_at, journey_completed and journey_result.
            `waiting` lists what agents ask by `interrupt()`: id, value, pathway and agent of each.
            `asked` is what the dialogue asks: field, kind, label, options (label and payload) and
            hint; None if it asks nothing.
        replayed: True if the turn was taken before, for the same idempotency key.
    """

    message: str
    pathway_id: str
    pathway_changed: bool
    transition_to: str | None
    accumulated_context: dict[str, Any]
    is_journey_complete: bool
    metadata: dict[str, Any] = field(default_factory=dict)
    replayed: bool = False

    @property
    def pathway(self) -> str:
        """Pathway of the session after the turn."""
        return self.pathway_id

    @property
    def transition_occurred(self) -> bool:
        """Return whether a transition fired."""
        return self.transition_to is not None

    @property
    def accumulated(self) -> dict[str, Any]:
        """The context after the turn."""
        return self.accumulated_context

    def _repr_html_(self) -> str:
        from journeygraph.journeys.results import display  # noqa: PLC0415 - notebooks alone

        stack = self.metadata.get("pathway_stack", [])
        place = display.place_html(self.pathway_id, stack, ended=self.is_journey_complete)
        return display.response_html(self.message, place)


@dataclass(frozen=True, slots=True)
class JourneySession:
    """State of a session, as a copy that does not change.

    Times are ISO 8601 in UTC. `journey_version` is the version of the journey that it belongs to,
    and `version` the number of its last turn. `conversation_history` is the recent window of the
    talk; the whole of it is the transcript. `phase` is how far along the conversation is. `waiting`
    lists what agents ask by `interrupt()`, and `asked` is the open question of a form, both as in
    the metadata of a response. `locale` is what the session brought when it was begun. `replayed`
    is true if the request was done before, for the same idempotency key. `escalation` is the
    escalation after an act of an operator. `is_closed` is true after a silence that closed the
    session, until the next message.
    """

    session_id: str
    journey_id: str
    journey_version: str
    current_pathway_id: str
    pathway_stack: list[str]
    accumulated_context: dict[str, Any]
    conversation_history: list[dict[str, Any]]
    returning: bool
    is_journey_complete: bool
    version: int
    created_at: str
    updated_at: str
    phase: ConversationPhase = ConversationPhase.COLLECTING
    waiting: list[dict[str, Any]] = field(default_factory=list)
    asked: dict[str, Any] | None = None
    locale: Locale = NOWHERE
    replayed: bool = False
    escalation: EscalationEntry | None = None
    is_closed: bool = False

    @property
    def current_pathway(self) -> str:
        """Current pathway of the session."""
        return self.current_pathway_id

    @property
    def greeting(self) -> str:
        """First reply of the assistant.

        Empty if there was none, or if it is not in the recent window any more.
        """
        said = (m["content"] for m in self.conversation_history if m.get("id") == _FIRST_REPLY)
        return next(said, "")

    def _repr_html_(self) -> str:
        from journeygraph.journeys.results import display  # noqa: PLC0415 - notebooks alone

        place = display.place_html(
            self.current_pathway_id, self.pathway_stack, ended=self.is_journey_complete
        )
        session = f"{self.session_id}, version {self.version}"
        shown = (self.conversation_history, self.accumulated_context)
        return display.session_html(self.journey_id, session, place, *shown)


@dataclass(frozen=True, slots=True)
class JourneyEvent:
    """One event of a streamed turn.

    Types: `transition` (from, to, intent), `pathway` (pathway), `token` (text), `waiting` (waiting:
    what agents ask), `done` (response) and `error` (type, message), which only `done`
    can follow. Of the agents of a pathway:
    `agent_started` (agent, pathway), `agent_finished` (agent, pathway, seconds), `agent_failed`
    (agent, pathway, error, kind), `selected` (agents, by, scores) and `voted` (agent, vote).
    """

    type: Literal[
        "transition",
        "pathway",
        "agent_started",
        "agent_finished",
        "agent_failed",
        "selected",
        "voted",
        "token",
        "waiting",
        "done",
        "error",
    ]
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class VersionInfo:
    """One row of a session's ledger.

    Attributes:
        version: Its number, from 0; never used twice.
        kind: start, turn, failure, waiting (for an answer to an agent), rollback, or an operator's:
            operator (a claim or a message) or release.
        pathway_id: Pathway of the session after it.
        journey_id: The journey of that pathway; None if a concierge has none active, or the pathway
            is of another version.
        message: Message of the user; None except for turns.
        reply: Text of the reply.
        rolled_back_to: The version that a rollback went back to.
        begun_at: Time of the message, ISO 8601 in UTC.
        at: Time of the reply.
        usage: `model_calls`, `input_tokens` and `output_tokens` of the turn.
        flags: Failures in the turn, by name.
    """

    version: int
    kind: str
    pathway_id: str
    message: str | None
    reply: str | None
    rolled_back_to: int | None
    begun_at: str
    at: str
    usage: dict[str, int]
    journey_id: str | None = None
    flags: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class VersionState:
    """The context at one version, and how it differs from that at the version before.

    Attributes:
        turn: The version.
        context: The context after it.
        added: Values of names that the context did not have.
        changed: Values that another one replaced: name -> the value before it.
        removed: Values of names that the context has no more.
    """

    turn: VersionInfo
    context: dict[str, Any]
    added: dict[str, Any]
    changed: dict[str, Any]
    removed: dict[str, Any]


@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """One message: role, text, time, and number of the turn.

    `role` is user, assistant, or operator: a person in its place. A rollback is an entry of the
    role rollback, with the version that the session went back to; see `taken_back`.
    """

    role: str
    content: str
    timestamp: str
    turn: int
    rolled_back_to: int | None = None


def taken_back(entries: Iterable[TranscriptEntry]) -> set[int]:
    """Return the turns of a transcript that do not count any more since a later rollback.

    Args:
        entries: All entries of a session, or the last ones.
    """
    backs = {one.turn: one.rolled_back_to for one in entries if one.rolled_back_to is not None}
    turns = {one.turn for one in entries}
    counts: set[int] = set()
    turn = max(turns, default=0)
    while turn > 0:
        counts.add(turn)
        turn = backs.get(turn, turn - 1)
    return turns - counts


@dataclass(frozen=True, slots=True)
class FieldVersion:
    """One value of a context name, with the version and the pathway that set it."""

    name: str
    value: Any
    version: int
    pathway_id: str
    at: str


_MOVES = frozenset(
    (
        *("transition", "advanced", "arrived", "returned"),
        *("restarted", "changing", "migrated", "rollback"),
    )
)
"""Kinds of audit rows that lead a session to another place."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One row of the audit: a move of the session that was made or refused.

    The rows of a turn are in the order of its events. The last row of these kinds led to the
    present place of a session: transition; advanced (by `__next__`); arrived (there, and run in the
    same turn); returned (from a detour); restarted (at the entry, after a task was given up);
    changing (of what an effect did); migrated (by `__migrations__`, or as this version does not
    have the pathway); rollback. `moved_to` is that place.

    Others are completed (a pathway), journey_completed (in a concierge), detour_entered,
    detour_left, pause_ended, stack_cleared, dropped, depth_refused, hop_limit, pruned,
    version_changed; retried (another try of an agent) and agent_failed; tool_done, tool_failed
    and tool_not_called; failure, model_failed, condition_raised, callback_failed, late_result;
    guideline, guideline_dropped, guidelines_bypassed; of effects effect_done, effect_failed,
    effect_late, effect_unsure, or effect_apart: done with other values as well, perhaps in a turn
    that was not kept; forked_from and forked_to, whose trigger is the other session; knowledge
    (what was looked up, and the sources of the answer) and knowledge_failed; and what collecting
    and repairing note.
    """

    session_id: str
    turn: int
    kind: str
    from_pathway: str | None
    to_pathway: str | None
    trigger: str | None
    reason: str
    confidence: float | None
    at: str

    @property
    def moved_to(self) -> str | None:
        """Id of the pathway that this row led the session to; None if it led nowhere."""
        return self.to_pathway if self.kind in _MOVES else None


@dataclass(frozen=True, slots=True)
class CheckEntry:
    """Check of a turn's reply: one row of the validation audit.

    Attributes:
        session_id: The session.
        journey_id: Its journey.
        turn: Number of the turn.
        pathway_id: Pathway of the reply.
        is_valid: True if the reply was valid as it was made.
        violations: Its faults, in words; personal data is only named by its kind.
        confidence: Certainty of the model that judged it; None if no model did.
        latency_ms: Duration of the whole check.
        outcome: "sent", "masked" (personal data was taken out), "rewritten", or "replaced" by the
            safe reply. "pending": it was sent, and a model has still to judge it.
        bypassed: True if a model should have judged it and could not.
        review: True if a person should look at it.
        at: Time of the record, ISO 8601 in UTC.
    """

    session_id: str
    journey_id: str
    turn: int
    pathway_id: str
    is_valid: bool
    violations: list[str]
    confidence: float | None
    latency_ms: float
    outcome: str
    bypassed: bool
    review: bool
    at: str


@dataclass(frozen=True, slots=True)
class TurnStep:
    """A step of a turn: what ran, when, how long, and how it ended.

    Attributes:
        number: Its place in the turn, from 0; steps are in the order of their beginning.
        parent: Number of the step within which it ran; None for the turn itself.
        kind: turn, understand, pathway, fields, effects, tools, pipeline, agent, model, tool,
            retriever, settle or check.
        name: Id or name of what ran; path of an agent in its pipeline.
        start_ms: Its beginning, in milliseconds from the beginning of the turn.
        ms: Its duration in milliseconds; of the turn itself, until it was stored.
        outcome: ok, failed, cancelled, paused; open: it still ran when the turn was stored.
        error: Kind of its error, without the text.
        pattern: The pattern of a pipeline, or of that of a pathway.
        status: Status of a pipeline at its end: complete, partial, waiting or failed.
        purpose: Purpose of a request to a model: understanding, answer, choice, validation, ...
        attempt: Number of the try of a request to a model, from 1.
        input_tokens: Tokens that a model read; None if it did not say.
        output_tokens: Tokens that it wrote.
        cached_tokens: Tokens of the input that it had in its cache.
        reasoning_tokens: Tokens of the output that were not part of the answer.
        words: Words of an agent; without a reply, its outputs in short.
        cut: True if these are only the first of its words.
    """

    number: int
    parent: int | None
    kind: str
    name: str
    start_ms: float
    ms: float
    outcome: str = "ok"
    error: str | None = None
    pattern: str | None = None
    status: str | None = None
    purpose: str | None = None
    attempt: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    words: str | None = None
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A transition that was open to a message, with its verdict.

    Attributes:
        intent: Its intent, or the name of its condition.
        pathway: The pathway that it leads to.
        tier: Its judge: condition, pattern, own, always, model or cache; empty: nothing judged it.
        holds: True if it holds for the message; None if nothing judged it.
        confidence: From 0 to 1; None if nothing judged it, or the judge named none.
        reason: The reason, in a few words.
        fired: True if it moved the session.
    """

    intent: str
    pathway: str
    tier: str
    holds: bool | None
    confidence: float | None
    reason: str = ""
    fired: bool = False


@dataclass(frozen=True, slots=True)
class CommandEntry:
    """A command that was read from a message; its values are in the attempts at fields.

    Attributes:
        command: Its name, such as fill, correct, confirm, cancel or human.
        about: The field, option, task, or pathway that it names; empty if it names none.
        confidence: From 0 to 1.
    """

    command: str
    about: str
    confidence: float


@dataclass(frozen=True, slots=True)
class TurnDecision:
    """Decision of a turn: its open transitions, and the commands that were read.

    Attributes:
        candidates: Transitions that were open, those that hold first; at most 20.
        commands: Commands of the message, except moves; at most 20.
        denied: Ids of guidelines that were judged and do not hold; at most 20.
    """

    candidates: list[Candidate] = field(default_factory=list)
    commands: list[CommandEntry] = field(default_factory=list)
    denied: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class AuditedTurn:
    """All records of one turn.

    Attributes:
        turn: Its row of the ledger: message, reply, pathway of the session after it, and flags.
        events: Moves of the session that were made or refused, and guidelines that held or were
            dropped.
        checks: Checks of the reply.
        attempts: The attempts at fields.
        decision: Its candidates, commands, and guidelines that do not hold.
        steps: Its parts that ran, with times and tokens.
        steps_dropped: Number of its further steps, over the most that are kept.
    """

    turn: VersionInfo
    events: list[AuditEntry]
    checks: list[CheckEntry]
    attempts: list[FieldAttemptEntry] = field(default_factory=list)
    decision: TurnDecision = field(default_factory=TurnDecision)
    steps: list[TurnStep] = field(default_factory=list)
    steps_dropped: int = 0


class Page(list[_T]):
    """A part of a listing.

    Attributes:
        next: Start of the next part, to be handed back as `after`; None on the last one.
    """

    def __init__(self, items: Iterable[_T] = (), next: str | None = None) -> None:
        super().__init__(items)
        self.next = next


@dataclass(frozen=True, slots=True)
class EscalationEntry:
    """One call for a person.

    Attributes:
        id: Its id, which is also its key where it is sent on.
        session_id: The session.
        journey_id: Its journey.
        turn: Number of the turn in which the person was called.
        reason: Reason for the call: asked, sentiment, keyword, `max_attempts:FIELD`,
            `failures:N`, condition, timeout, collected, or what else led to it.
        status: open, claimed, released, or expired: it was not claimed in time, and the assistant
            continued.
        claimed_by: Person who claimed it.
        at: Time of the call, ISO 8601 in UTC.
        updated_at: Time of its latest change of status.
        unclaimed_at: Time from which the user is offered to continue with the assistant meanwhile.
        delivered_at: Time at which the webhook received it; None: not yet, or there is no webhook.
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
        since: The messages from then on, in the same form, until the assistant had it again.
    """

    entry: EscalationEntry
    payload: dict[str, Any]
    transcript: list[TranscriptEntry]
    since: list[TranscriptEntry]
