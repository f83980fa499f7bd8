"""How a talk goes: the attempts at fields, what was asked last, and who has the conversation."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

SETTLING = ("valid", "cleared")
"""Statuses of attempts that say what a field's value is."""
FIELD_WINDOW = 8
"""Attempts of a field that the state keeps; all of them are in the store."""


class FieldAttempt(TypedDict):
    """One attempt at a field; attempts are appended, never changed.

    `value` is the value as it is kept, `raw` what the user said. `validation_status` is valid,
    invalid, pending (it waits for a yes), or cleared: from there on there is no value. `source` is
    user_provided, corrected, inferred, tool or operator.
    """

    value: Any
    raw: str
    turn: int
    timestamp: str
    confidence: float
    validation_status: Literal["valid", "invalid", "pending", "cleared"]
    source: Literal["user_provided", "corrected", "inferred", "tool", "operator"]
    reason: str


class Option(TypedDict):
    """One of several things that a user may choose: its id, and what it is called."""

    id: str
    label: str


class Asked(TypedDict):
    """What the user was asked last, and the next message may answer.

    `kind` is field, summary, wrong (which field of the summary is), correction, return (to `about`,
    a paused pathway), paused (which one), clarify (which transition), restart, change (of `about`,
    a field, after an effect), human, unclaimed, retry (of the effects of `about`), or more
    (anything else). `about` is the name of a field or pathway.
    """

    kind: str
    about: str
    options: list[Option]


class Takeover(TypedDict):
    """A person has the conversation, or is called for: since when, why, and who took it.

    `id` is that of the escalation in its table. `offered_at` is when the user was last asked
    whether to go on with the assistant meanwhile. `journey` is that of a concierge which called as
    it was completed.
    """

    id: str
    reason: str
    since: str
    by: str | None
    offered_at: NotRequired[str]
    journey: NotRequired[str]


class OperatorAct(TypedDict):
    """What an operator does with a conversation: claim it, say something, or release it."""

    act: Literal["claim", "say", "release"]
    by: str
    text: str


class EscalationChange(TypedDict):
    """What a turn changes about an escalation; a row of the store is written from it.

    `payload` is what the person is told who takes it; None but for a new one.
    """

    id: str
    status: Literal["open", "claimed", "released", "expired"]
    by: str | None
    reason: str
    payload: dict[str, Any] | None


class Talk(TypedDict, total=False):
    """What a session remembers of how its talk goes, besides where it stands.

    Attributes:
        asked: What the user was asked last.
        corrections: Values that wait for a yes: field -> attempt.
        confirmed: Ids of pathways whose summary the user said yes to.
        finished: Ids of pathways whose form was completed; entered anew, they begin anew.
        skipped: Names of optional fields that the user left open.
        refused: Name of a required field -> how often the user would not give it.
        retries: Name of a field -> values not taken since the last one that was.
        reopened: Names of fields of earlier pathways that are to be asked for again, now.
        unclear: Messages in a row that had to be asked back about.
        off_topic: Messages in a row that led off.
        failures: Turns in a row that failed or were not understood.
        queued: Ids of transitions that are taken as soon as the present pathway is complete.
        done: Name of an effect's step -> keys under which it was taken.
        taken: Steps of effects that were taken since their pathway was begun, last time.
        last_at: When the user spoke last.
        takeover: Who has the conversation, where the assistant is silent.
        called: Policies that called a person, and have held ever since.
        began_at: When the session began, where a person can be called.
    """

    asked: Asked | None
    corrections: dict[str, FieldAttempt]
    confirmed: list[str]
    finished: list[str]
    skipped: list[str]
    refused: dict[str, int]
    retries: dict[str, int]
    reopened: list[str]
    unclear: int
    off_topic: int
    failures: int
    queued: list[str]
    done: dict[str, list[str]]
    taken: list[str]
    last_at: str
    takeover: Takeover | None
    called: list[str]
    began_at: str


class Attempted(FieldAttempt):
    """An attempt of this turn, and the field it was at."""

    field: str


def add_attempts(
    old: dict[str, list[FieldAttempt]], new: dict[str, list[FieldAttempt]]
) -> dict[str, list[FieldAttempt]]:
    """Append attempts; the last ones stay, and among them the one that tells the value."""
    return {**old, **{name: _windowed([*old.get(name, []), *given]) for name, given in new.items()}}


def _windowed(attempts: list[FieldAttempt]) -> list[FieldAttempt]:
    kept = attempts[-FIELD_WINDOW:]
    if any(attempt["validation_status"] in SETTLING for attempt in kept):
        return kept
    settled = [a for a in attempts if a["validation_status"] in SETTLING]
    return [*settled[-1:], *kept[-FIELD_WINDOW + 1 :]] if settled else kept
