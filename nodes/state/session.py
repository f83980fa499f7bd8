"""The state of a session: what LangGraph carries through a turn and keeps between turns.

Every channel is a dict or a list of plain JSON, so that encryption and strict serialization cover
all of it. The state is a bounded window; the whole history is in the ledger.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from journeygraph.nodes.state.context import Op, apply_ops
from journeygraph.nodes.state.dialogue_state import (
    Attempted,
    EscalationChange,
    FieldAttempt,
    OperatorAct,
    add_attempts,
)
from journeygraph.nodes.state.messages import Message, add_messages

PARTING = "\n\n"
"""Separator of the replies of one turn."""


class Visit(TypedDict):
    """Names that complete a pathway and were last written by it.

    `own` are all these names, `old` those that it wrote before it was entered last. `done` says
    whether it was complete since then.
    """

    own: list[str]
    old: list[str]
    done: bool


class Frame(TypedDict):
    """One paused pathway on the stack.

    `turn` is when it was left, `question` the last words of the assistant, `before` the context
    to go back to if its detour does not preserve changes, with `visits` as they were then.
    """

    pathway: str
    turn: int
    question: str
    before: dict[str, Any] | None
    visits: NotRequired[dict[str, Visit]]


class Pending(TypedDict):
    """The call of a tool that waits for the user: run in the next turn, if it is called again.

    `arguments` are those that the model gave, `digest` is of all that it would be run with, and
    `ticket` is its own, so that it is run once. `at` is when the turn began that asked.
    """

    pathway: str
    agent: str
    tool: str
    arguments: dict[str, Any]
    digest: str
    ticket: str
    at: NotRequired[str]


class Position(TypedDict):
    """Position of a session; `pending` is the open confirmation of its last turn.

    `activated_at` is since when the present journey of a concierge has been active. `talk` is the
    stored `DialogueState`; it is there where one has something to keep. `birth` is random, made
    when the session begins: it separates the keys of effects from those of an earlier session of
    the same id. `visits` are those of pathways that wrote what completes them. Sessions of older
    releases have neither. `locale` is what the session brought. `status` is "closed" after a
    silence, until the next message.
    """

    journey: str
    version: str
    pathway: str
    stack: list[Frame]
    returning: bool
    status: Literal["active", "complete", "closed"]
    fired: list[str]
    failures: int
    pending: NotRequired[list[Pending]]
    activated_at: NotRequired[str]
    talk: NotRequired[dict[str, Any]]
    birth: NotRequired[str]
    visits: NotRequired[dict[str, Visit]]
    locale: NotRequired[dict[str, str]]


class Completed(TypedDict):
    """A journey of a concierge that was completed, and what it alone knew."""

    journey: str
    values: dict[str, Any]


class Fired(TypedDict):
    """The transition of a turn, and how it was decided."""

    id: str
    source: str
    target: str
    intent: str
    tier: str
    confidence: float
    reason: str


class Judged(TypedDict):
    """Most confident verdict of a model on a move, if the session stayed."""

    tier: str
    confidence: float
    reason: str


class Failure(TypedDict):
    """Failure of a turn."""

    type: str
    message: str


class OpenQuestion(TypedDict):
    """Open question of an agent from LangGraph's `interrupt()`.

    `id` is LangGraph's; it is empty for a breakpoint, which asks nothing. `agent` is the path of
    the agent in the pathway's pipeline; None if a tool or an effect asks. `schema` is the JSON
    schema of the answer, where the agent gave one.
    """

    id: str
    value: Any
    pathway: str
    agent: str | None
    schema: NotRequired[dict[str, Any]]


class Waiting(TypedDict):
    """Questions of a waiting turn, and its unfinished run as text.

    `calls` is what tools gave the agents that wait: the task of an agent -> its calls.
    """

    asks: list[OpenQuestion]
    run: str
    calls: NotRequired[dict[str, list[list[str]]]]


class OutsideEvent(TypedDict):
    """An event from outside the conversation; `data` are values for the context, by name."""

    name: str
    data: dict[str, Any]


class Timer(TypedDict):
    """A timer that is due, and the time of the last message before it.

    `id` is that of a transition, or `reminder:NUMBER`, or `close`.
    """

    id: str
    since: str


class Turn(TypedDict):
    """The record of the current turn; the ledger's row is written from it.

    `run` is the pathway that runs next; `entered` is the way by which it was entered. To each
    operation in `ops` the pathway that caused it is added as a fourth item. `usage` counts what
    models were asked; it is None without a count, as in Studio, which counts itself. `asked` is
    what the user was asked about before, and agents may do now. `guidelines` are those that hold,
    the first to count first, and `checks` how the reply was checked. `correction` comes before
    the reply, where that of the turn before was wrong. `near` are the journeys of a concierge that
    a model held likely, but not likely enough, and `completed` is the one that ended. `attempts`
    are those at fields, in order; rows of the store are written from them, and from `escalations`.
    `aside` is there if a pathway answers in place of a text: what runs after it. `held` is sent
    once the pathway has run, and `sources` are where an answer is from that was looked up. `asks`
    names the field that the reply asks for already. `worded` are the places of those replies that
    are texts of the catalogue. `phase` is the one in which the turn began. `model_seconds` is how
    long the runtime waited for models. An operator's turn has `operator`, and that of an event from
    outside has `event`, that of a timer `timer`. `id` is there where other
    programs see the turn's messages, and is part of their ids: such a turn has no session in which
    its number is unique. `waiting` is there where the session waits for an answer to an agent,
    `locale` where it brought one.
    """

    number: int
    kind: Literal["start", "turn", "event", "timer", "failure", "waiting", "operator", "release"]
    at: str
    message: str | None
    begun_in: str
    run: str | None
    entered: Literal["stay", "transition", "return", "arrival"]
    moved: bool
    ran: list[str]
    replies: list[str]
    ops: list[Op]
    audit: list[dict[str, Any]]
    transition: Fired | None
    judged: Judged | None
    usage: dict[str, int] | None
    flags: list[str]
    error: Failure | None
    done: bool
    asked: NotRequired[list[Pending]]
    guidelines: NotRequired[list[Guided]]
    checks: NotRequired[list[ReplyCheck]]
    correction: NotRequired[str]
    near: NotRequired[list[str]]
    completed: NotRequired[Completed]
    attempts: NotRequired[list[Attempted]]
    aside: NotRequired[str | None]
    asks: NotRequired[str]
    worded: NotRequired[list[int]]
    held: NotRequired[list[str]]
    sources: NotRequired[list[str]]
    phase: NotRequired[str]
    model_seconds: NotRequired[float]
    operator: NotRequired[OperatorAct]
    event: NotRequired[OutsideEvent]
    timer: NotRequired[Timer]
    escalations: NotRequired[list[EscalationChange]]
    id: NotRequired[str]
    waiting: NotRequired[Waiting]
    locale: NotRequired[dict[str, str]]


class Guided(TypedDict):
    """A guideline that holds in a turn, and how that was found.

    `tier` is model, code, always, or bypassed where nothing could be asked; `pathway` and `journey`
    are where it applies, None for everywhere. `pathways` are those of this turn in which it counts,
    if they run.
    """

    id: str
    scope: str
    journey: str | None
    pathway: str | None
    pathways: list[str]
    action: str
    tools: list[str]
    tier: str
    confidence: float
    reason: str


class ReplyCheck(TypedDict):
    """One check of a reply; a row of the validation audit is written from it.

    `outcome` is sent, masked, rewritten or replaced. `violations` say what was wrong with the reply
    that was checked first. `bypassed` says that the model's check could not be made. `pending` is
    there where that is made after the turn.
    """

    pathway: str
    is_valid: bool
    violations: list[str]
    confidence: float | None
    latency_ms: float
    outcome: str
    bypassed: bool
    review: bool
    pending: NotRequired[bool]


class AgentError(TypedDict):
    """Failure of an agent.

    `kind` is the type of its error, or "timeout", "unavailable", or of a pipeline "pipeline".
    """

    kind: str
    message: str


class AgentOutput(TypedDict):
    """Result of one agent.

    `agent` is its name in its pipeline, `place` its place there, `wave` how many results there were
    when it began: those of one wave worked at once. `streamed` is true if its reply was streamed.
    What a pattern notes of it is there where it has something to note. `parts` are the results of
    the agents within, where the agent is a pipeline itself. `pending` are the calls that it asks
    the user about.
    """

    agent: str
    place: int
    wave: int
    values: dict[str, Any]
    flags: list[str]
    streamed: bool
    phase: NotRequired[str]
    round: NotRequired[int]
    part: NotRequired[int]
    task: NotRequired[str]
    error: NotRequired[AgentError]
    parts: NotRequired[list[AgentOutput]]
    pending: NotRequired[list[Pending]]


def add_results(old: list[AgentOutput], new: list[AgentOutput]) -> list[AgentOutput]:
    """Add what agents gave."""
    return [*old, *new]


def add_notes(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Add what a pattern's own steps noted; a note of the same name is replaced."""
    return {**old, **new}


class SessionInput(TypedDict, total=False):
    """Input of a turn: messages are enough."""

    messages: Annotated[list[Message], add_messages]
    context: Annotated[dict[str, Any], apply_ops]
    turn: Turn


class SessionState(TypedDict):
    """The channels of the journey's graph, as its steps see them."""

    messages: Annotated[list[Message], add_messages]
    context: Annotated[dict[str, Any], apply_ops]
    fields: Annotated[dict[str, list[FieldAttempt]], add_attempts]
    position: Position
    turn: Turn


class PathwayState(TypedDict):
    """The channels of a pathway's subgraph: what its agents read, and what they give."""

    messages: list[Message]
    context: dict[str, Any]
    fields: dict[str, list[FieldAttempt]]
    position: Position
    turn: Turn
    results: Annotated[list[AgentOutput], add_results]
    progress: Annotated[dict[str, Any], add_notes]


class PipelineState(TypedDict):
    """The channels of a pipeline outside of a pathway, or within another pipeline."""

    inputs: dict[str, Any]
    results: Annotated[list[AgentOutput], add_results]
    progress: Annotated[dict[str, Any], add_notes]


class InnerState(PipelineState, total=False):
    """The channels of a pipeline within another one; in a journey, with the turn that it is in."""

    turn: Turn


Update = dict[str, Any]
"""Part of a state, as a step returns it."""
