"""The records of a turn in the making: the draft, the run of a pathway."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from journeygraph.journeys import (
    ConfigurationError,
    JourneySpec,
    Knowledge,
    PathwayExecutionError,
    PathwayNotFoundError,
    PathwaySpec,
)
from journeygraph.journeys.spec.capability_table import part
from journeygraph.nodes.commands import Command
from journeygraph.nodes.json_data import now as now
from journeygraph.nodes.json_data import stamp
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.context import Op, apply_ops, checked
from journeygraph.nodes.state.dialogue_state import (
    Attempted,
    DialogueState,
    FieldAttempt,
    add_attempts,
    with_dialogue,
)
from journeygraph.nodes.state.escalation import release, takeover_of
from journeygraph.nodes.state.form_state import (
    FormState,
    attempt,
    by_field,
    owners,
)
from journeygraph.nodes.state.messages import Message, last_said
from journeygraph.nodes.state.phases import phase_of
from journeygraph.nodes.state.session import (
    PARTING,
    AgentOutput,
    Fired,
    Judged,
    Position,
    SessionState,
    Turn,
    Update,
)
from journeygraph.nodes.state.stack import Entered, Situation, note, pruned
from journeygraph.nodes.steer import Steering, SteeringLimits, limits_of, steer
from journeygraph.nodes.texts import Voice
from journeygraph.nodes.texts import talked_about as talked_about


@dataclass(frozen=True, slots=True)
class Query:
    """A question of the user that is looked up.

    Attributes:
        own: The pathway of the journey that answers instead, if it has one for that.
        place: The place of the answer among the replies; None: behind what the message answered.
    """

    question: str
    knowledge: Knowledge | None
    own: str | None
    place: int | None


@dataclass
class TurnDraft(Voice):
    """A turn while it is decided. Nothing of the state is changed; `update()` returns what changes.

    Its words are those of `Voice`.

    Attributes:
        turn: Its record, as far as it was written before the decision.
        position: The position of the session, as far as it is decided.
        began: The context as the step found it.
        question: The last words of the assistant.
        messages: The conversation so far, the message of the turn at its end.
        refused_depth: The depth that was asked for, and the limit that it is over.
        asks: Name of the field that the model's own words ask for.
        goes_on: True if the user chose to continue a task.
        judged: The most confident verdict of a model, if nothing moved.
        missed: The words of values that no task takes.
        is_exact: True if the message was understood exactly; else an effect waits for a yes.
        resumed: True if the user comes back after a pause.
        held: The replies that follow when the pathway has run.
        quoted: Replies that are not reworded: they were not written by the runtime.
    """

    services: Services
    turn: Turn
    position: Position
    began: Mapping[str, Any]
    context: Mapping[str, Any]
    fields: dict[str, list[FieldAttempt]]
    question: str = ""
    messages: Sequence[Message] = ()
    replies: list[str] = field(default_factory=list)
    attempts: list[Attempted] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    audit: list[dict[str, Any]] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    run: str | None = None
    entered: Entered = "stay"
    transition: Fired | None = None
    aside: str | None = None
    refused_depth: tuple[int, int] | None = None
    asks: str = ""
    leads_to: PathwaySpec | None = None
    goes_on: bool = False
    judged: Judged | None = None
    missed: Sequence[str] = ()
    is_exact: bool = True
    settled: bool = False
    resumed: bool = False
    query: Query | None = None
    held: list[str] = field(default_factory=list)
    quoted: list[str] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    spec: JourneySpec = field(init=False)
    _form_states: dict[str, FormState] = field(init=False, default_factory=dict)
    _place: tuple[Position, PathwaySpec] | None = None

    def __post_init__(self) -> None:
        self.spec = self.services.spec
        self._see()

    def _see(self) -> None:
        """Take the questions and options that functions have for the context as it is now."""
        if not self.services.spec.moments:
            return
        try:
            self.spec = self.services.spec.at(self.context)
        except ConfigurationError as error:
            raise PathwayExecutionError("", "", str(error)) from error
        self._place, self._form_states = None, {}

    @property
    def message(self) -> str:
        """Message of the user; empty if there is none."""
        return self.turn["message"] or ""

    @property
    def situation(self) -> Situation:
        """Current situation of the session, for moves."""
        number = self.turn["number"]
        return Situation(self.position, self.context, self.question, number, self.message)

    @property
    def limits(self) -> SteeringLimits:
        """Limits of moves in this journey."""
        return limits_of(self.services.config)

    def steered(self, commands: Sequence[Command]) -> Steering:
        """Return where commands lead from here."""
        return steer(self.spec, self.situation, commands, self.limits)

    def keep(self, name: str, status: Any, **details: Any) -> None:
        """Append an attempt at a field."""
        made = attempt(self.turn, name, status, **details)
        self.attempts.append(made)
        self.fields = add_attempts(self.fields, by_field([made]))

    def change(self, *ops: Op) -> None:
        """Change the context."""
        self.ops += ops
        self.context = apply_ops(dict(self.context), list(ops))
        self._see()

    def synced(self, *names: str) -> None:
        """Copy the values of these fields, and of others in the same forms, into the context."""
        beside = {
            other.name
            for name in names
            for pathway in owners(self.spec, name)
            for other in pathway.fields
        }
        told: dict[str, dict[str, Any]] = {}
        for name in sorted(beside):
            value, was = None, self.context.get(name)
            for one in owners(self.spec, name):
                if one.id not in told:
                    told[one.id] = self.form_state(one).values
                value = told[one.id].get(name) if value is None else value
            if value is None and was is None:
                continue
            if value is None and (name in names or self.value(name) is not None):
                self.change(["clear", name, None])
            elif value is not None and value != was and (was is None or name in names):
                self.change(["replace", name, value])
            else:
                continue
            told = {}  # whether a field counts may hang on what has just changed

    def adopt(self, steering: Steering) -> None:
        """Apply the move of a message, and the reply to it in the journey that it left."""
        texts = self.services.texts_in(self.turn["begun_in"])
        self.position = steering.position
        if steering.ops:
            self.change(*steering.ops)
        self.audit += steering.audit
        self.flags += steering.flags
        self.transition = steering.transition
        self.refused_depth = steering.refused_depth or self.refused_depth
        self.judged = steering.judged
        if self.settled:
            return
        self.run, self.entered, self.settled = steering.run, steering.entered, True
        if steering.say and not (steering.say == "closing" and self.replies):
            self.replies.append(getattr(texts, steering.say))

    def undecided(self) -> Update:
        """Return the changes if no decision is needed."""
        return {"position": self._kept_position(), "turn": self.turn}

    def update(self) -> Update:
        """Return what the turn changes in the state; nothing if the context would not take it.

        Raises:
            ContextSizeExceededError: The context would be too large.
        """
        config, place = self.services.config, self.turn["begun_in"]
        ops: list[Op] = [[*op, place] for op in self.ops]
        if ops:
            limit, prunable = config.max_context_size_bytes, config.prunable
            _, pruning = checked(self.began, ops, limit, prunable)
            self.audit += pruned(self.position, pruning)
            ops += [[*op, place] for op in pruning]
        self.turn = self._record(ops)
        self._announce()
        self.position = {
            **self._kept_position(),
            "version": self.services.spec.version,
            "failures": 0,
        }
        update: Update = {"position": self.position, "context": ops, "turn": self.turn}
        return {**update, "fields": by_field(self.attempts)} if self.attempts else update

    def _record(self, ops: list[Op]) -> Turn:
        audit = [*self.turn["audit"], *self.audit]
        flags = [*self.turn["flags"], *dict.fromkeys(self.flags)]
        if any(event["kind"] == "condition_raised" for event in audit):
            flags.append("condition_raised")
        if self.refused_depth:
            flags.append("depth_refused")
        record: Turn = {
            **self.turn,
            "run": self.aside or self.run,
            "entered": self.entered,
            "moved": self.position["pathway"] != self.turn["begun_in"],
            "replies": self.replies,
            "ops": ops,
            "audit": audit,
            "transition": self.transition,
            "judged": self.judged,
            "flags": flags,
        }
        if self.attempts:
            record["attempts"] = self.attempts
        if self.aside:
            record["aside"] = self.run
        if self.asks:  # a model worded the replies
            record["asks"] = self.asks
        elif self.replies:
            own = (n for n, reply in enumerate(self.replies) if reply not in self.quoted)
            record["worded"] = list(own)
        if self.query:
            record["held"], record["sources"] = self.held, self.sources
        return record

    def _kept_position(self) -> Position:
        """Return the position with the dialogue, if that was read."""
        read = "dialogue" in vars(self)
        return with_dialogue(self.position, self.dialogue) if read else self.position

    def _announce(self) -> None:
        if fired := self.transition:
            moved = {"from": fired["source"], "to": fired["target"], "intent": fired["intent"]}
            self.services.emit({"type": "transition", **moved})
        if run := self.turn["run"]:
            self.services.emit({"type": "pathway", "pathway": run})
        for place, reply in enumerate(self.replies):
            whose = self.here.id if reply in self.quoted else None
            self.services.say(PARTING + reply if place else reply, whose)


def draft_of(
    services: Services, state: Mapping[str, Any], turn: Turn, position: Position
) -> TurnDraft:
    """Return the draft of a turn, as the state leaves it to a step."""
    context = state.get("context", {})
    fields = dict(state.get("fields", {}))
    messages = state.get("messages", ())
    question = last_said(messages)
    return TurnDraft(services, turn, position, context, context, fields, question, messages)


def check_known(spec: JourneySpec, position: Position) -> None:
    """Refuse a position of this version of the journey that names a pathway it never had."""
    for pathway in (position["pathway"], *(frame["pathway"] for frame in position["stack"])):
        if pathway not in spec.reachable:
            raise PathwayNotFoundError(pathway, sorted(spec.reachable))


def migrated(spec: JourneySpec, position: Position) -> Position:
    """Return a position of an older version with the names that its pathways have now (T27).

    What the journey's `__migrations__` does not name stays as it is; the names that a session of
    this version has are this version's.
    """
    if not spec.migrations or position["version"] == spec.version:
        return position
    renamed: Position = part("upgrade").renamed(spec, position)
    return renamed


def beginning(spec: JourneySpec, turn: Turn | None = None) -> Position:
    """Return the position in which a session begins: at the entry, with an empty stack.

    Each has its own id, its birth. The locale that was sent with the first turn is kept.
    """
    position = Position(
        journey=spec.id,
        version=spec.version,
        pathway=spec.entry,
        stack=[],
        returning=False,
        status="active",
        fired=[],
        failures=0,
        birth=secrets.token_hex(8),
    )
    if turn is not None and (locale := turn.get("locale")):
        position["locale"] = locale
    return position


def position_of_fork(position: Position) -> tuple[Position, list[dict[str, Any]]]:
    """Return the position in which a fork of a session begins, and the audit events of it.

    It has its own birth. A call for a person stays with the other session, so the assistant has the
    conversation in the fork.
    """
    fork: Position = {**position, "birth": secrets.token_hex(8)}
    if takeover_of(position) is None:
        return fork, []
    dialogue, reason = DialogueState.of(position), "a call for a person is not copied to a fork"
    events = release(position, dialogue, reason)
    fork["failures"] = 0
    return with_dialogue(fork, dialogue), events


def new_turn(number: int, *, kind: Any = "turn", message: str | None = None) -> Turn:
    """Return the empty record of a turn."""
    return Turn(
        number=number,
        kind=kind,
        at=stamp(now()),
        message=message,
        begun_in="",
        run=None,
        entered="stay",
        moved=False,
        ran=[],
        replies=[],
        ops=[],
        audit=[],
        transition=None,
        judged=None,
        usage=None,
        flags=[],
        error=None,
        done=False,
    )


def open_draft(state: SessionState, services: Services) -> TurnDraft:
    """Return the draft of the turn that begins, at the position that this version knows."""
    spec = services.spec
    position = migrated(spec, state.get("position") or beginning(spec, state.get("turn")))
    draft = draft_of(services, state, _opened(state, position), position)
    if draft.turn["kind"] == "failure":
        # What the user was asked about may have been done by the turn that failed.
        emptied: Position = {**position, "failures": position["failures"] + 1}
        emptied.pop("pending", None)
        draft.position = emptied
    return draft


def _opened(state: SessionState, position: Position) -> Turn:
    """Return the turn that the manager opened; without a manager, as in Studio, open it here."""
    turn: Turn | None = state.get("turn")
    # One that was begun before is over: done, or left behind by a run that failed.
    if turn is None or turn["begun_in"]:
        turn = new_turn(turn["number"] + 1 if turn else 1, message=_unanswered(state))
        turn["id"] = secrets.token_hex(16)
    # Copies: the record of a failure begins from the same turn.
    opened: Turn = {**turn, "audit": [*turn["audit"]], "flags": [*turn["flags"]]}
    stood = (state.get("position") or position)["pathway"]
    if stood != position["pathway"]:
        event = {"kind": "migrated", "from": stood, "to": position["pathway"]}
        opened["audit"].append(event)
    before = state["messages"]
    if before and before[-1]["role"] == "user":
        before = before[:-1]
    opened["begun_in"] = position["pathway"]
    opened["phase"] = phase_of(position, before).value
    if locale := position.get("locale"):
        opened["locale"] = locale
    return opened


def _unanswered(state: SessionState) -> str | None:
    messages = state["messages"]
    return messages[-1]["content"] if messages and messages[-1]["role"] == "user" else None


@dataclass(slots=True)
class PathwayRun:
    """One pathway that ran, while it is settled.

    Attributes:
        state: The state as the pathway left it.
        progress: The notes of its other steps.
        turn: The record of the turn, to which the run is added.
        known: Names whose values the pathway found in the context, and did not give itself.
        is_idle: True if it stopped before its agents: something is open, or was not done.
        is_aside: True if it only answered in place of a text.
        heard: Number of replies of the turn that were streamed.
    """

    services: Services
    state: SessionState
    pathway: PathwaySpec
    results: list[AgentOutput]
    progress: Mapping[str, Any]
    turn: Turn
    position: Position
    context: Mapping[str, Any]
    ops: list[Op] = field(default_factory=list)
    attempts: list[Attempted] = field(default_factory=list)
    known: frozenset[str] = frozenset()
    is_idle: bool = False
    is_aside: bool = False
    is_complete: bool = False
    heard: int = 0

    def note(self, kind: str, **details: Any) -> None:
        """Audit what happened."""
        self.turn["audit"].append(note(kind, self.position, **details))

    def say(self, *replies: str) -> None:
        """Add texts of the runtime itself to the replies."""
        first = len(self.turn["replies"])
        self.turn["replies"] = [*self.turn["replies"], *replies]
        if replies:
            places = range(first, first + len(replies))
            self.turn["worded"] = [*self.turn.get("worded", ()), *places]

    def change(self, *ops: Op) -> None:
        """Change the context further, after what the pathway gave."""
        self.ops += ops
        self.turn["ops"] = [*self.turn["ops"], *ops]
        self.context = apply_ops(self.context, ops)

    def attempt(self, attempts: Sequence[Attempted]) -> None:
        """Add attempts at fields."""
        if attempts:
            self.attempts += attempts
            self.turn["attempts"] = [*self.turn.get("attempts", ()), *attempts]

    @property
    def fields(self) -> dict[str, Any]:
        """All attempts that the state keeps, with those of this run."""
        kept: dict[str, Any] = self.state.get("fields", {})
        return add_attempts(kept, by_field(self.attempts)) if self.attempts else kept

    def update(self) -> Update:
        """Return what the run changes in the state."""
        update: Update = {"position": self.position, "context": self.ops, "turn": self.turn}
        return {**update, "fields": by_field(self.attempts)} if self.attempts else update

    def after(self) -> SessionState:
        """Return the state as the run leaves it."""
        known: Any = {"context": self.context, "fields": self.fields, "position": self.position}
        return {**self.state, **known}
