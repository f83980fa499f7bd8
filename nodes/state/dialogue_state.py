"""The state of a dialogue: attempts at fields, the last question, who has the conversation."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, TypeVar

from typing_extensions import TypedDict

_Value = TypeVar("_Value")
_Position = TypeVar("_Position", bound=Mapping[str, Any])

Status = Literal["valid", "invalid", "pending", "cleared"]
Source = Literal["user_provided", "corrected", "inferred", "tool", "operator"]
SETTLING = ("valid", "cleared")
"""Statuses of attempts that say what a field's value is."""
UNREAD = ""
"""Among the guessed names: unread words of the last message."""
FIELD_WINDOW = 8
"""Attempts of a field that the state keeps; all of them are in the store."""


class FieldAttempt(TypedDict):
    """One attempt at a field; attempts are appended, never changed.

    `value` is the value as it is kept, `raw` the user's words. `validation_status` is valid,
    invalid, pending (it waits for a yes), or cleared: from there on there
    is no value. `source` is user_provided, corrected, inferred, tool or operator.
    """

    value: Any
    raw: str
    turn: int
    timestamp: str
    confidence: float
    validation_status: Status
    source: Source
    reason: str


class Option(TypedDict):
    """One of several things that a user may choose: its id, and what it is called."""

    id: str
    label: str


class Asked(TypedDict):
    """The last question, which the next message may answer.

    `kind` is field, summary, wrong (which field of the summary is), correction, return (to `about`,
    a paused pathway), paused (which one), clarify (which transition), restart, start_over
    (`about`, whose effects were taken), change (of `about`, a field, after an effect), human,
    unclaimed, retry (of the effects of `about`), leave (`about`), or more (anything else). `about`
    is the name of a field or pathway.
    """

    kind: str
    about: str
    options: list[Option]


class Takeover(TypedDict):
    """A person has the conversation, or is called for: since when, why, and who took it.

    `id` is that of the escalation in its table. `offered_at` is when the user was last asked
    whether to continue with the assistant. `journey` is that of a concierge which called as
    it was completed.
    """

    id: str
    reason: str
    since: str
    by: str | None
    offered_at: NotRequired[str]
    journey: NotRequired[str]


class OperatorAct(TypedDict):
    """Act of an operator: claim, say or release."""

    act: Literal["claim", "say", "release"]
    by: str
    text: str


class EscalationChange(TypedDict):
    """Change of an escalation in a turn, from which a row of the store is written.

    `payload` is the data for the person who takes it; None except for a new one.
    """

    id: str
    status: Literal["open", "claimed", "released", "expired"]
    by: str | None
    reason: str
    payload: dict[str, Any] | None


@dataclass(slots=True)
class DialogueState:
    """Dialogue state of a session, stored with its position.

    It is read from the position when a step begins, and written back once, without what is empty.
    Lists and dicts are replaced and never changed: they may be those of the state.

    Attributes:
        asked: The last question to the user.
        corrections: Values that wait for a yes: field -> attempt.
        confirmed: Ids of pathways whose summary the user confirmed.
        finished: Ids of pathways with a completed form; entered again, they start again.
        skipped: Names of optional fields that the user left open.
        refused: Name of a required field -> how often the user would not give it.
        retries: Name of a field -> values not taken since the last one that was.
        guessed: Names of fields whose value was neither exact nor confirmed, or was known when
            words of a message were not read; a summary comes before an effect. `UNREAD` is among
            them if words of the last message were not read.
        reopened: Names of fields of earlier pathways to ask for again, now.
        unclear: Messages in a row that had to be asked back about.
        off_topic: Messages in a row that led off.
        failures: Turns in a row that failed or were not understood.
        queued: Ids of transitions that are taken as soon as what they wait for is complete.
        behind: Id of a queued transition -> the pathway that it waits for.
        held: The user's words for fields of tasks that begin later.
        done: Name of an effect's step -> keys under which it was taken.
        taken: Steps of effects that were taken since their pathway was begun, last time.
        unsure: Steps of effects with an unknown outcome; the user was informed. With other values
            they are only taken if the user wants it.
        last_at: The time of the user's last message.
        takeover: The person who has the conversation, while the assistant is silent.
        called: Policies that called a person, and have held ever since.
        began_at: The start of the session, if a person can be called.
    """

    asked: Asked | None = None
    corrections: dict[str, FieldAttempt] = field(default_factory=dict)
    confirmed: list[str] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    refused: dict[str, int] = field(default_factory=dict)
    retries: dict[str, int] = field(default_factory=dict)
    guessed: list[str] = field(default_factory=list)
    reopened: list[str] = field(default_factory=list)
    unclear: int = 0
    off_topic: int = 0
    failures: int = 0
    queued: list[str] = field(default_factory=list)
    behind: dict[str, str] = field(default_factory=dict)
    held: dict[str, str] = field(default_factory=dict)
    done: dict[str, list[str]] = field(default_factory=dict)
    taken: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    last_at: str | None = None
    takeover: Takeover | None = None
    called: list[str] = field(default_factory=list)
    began_at: str | None = None

    @classmethod
    def of(cls, position: Mapping[str, Any]) -> DialogueState:
        """Read it from a position; what another release kept under other names is omitted."""
        kept = position.get("talk") or {}
        return cls(**{name: kept[name] for name in cls.__slots__ if name in kept})

    def stored(self) -> dict[str, Any]:
        """Return it as the position keeps it."""
        kept = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in kept.items() if value}

    @property
    def pending(self) -> str:
        """Name of the field that was asked for; empty: none was."""
        return self.asked["about"] if self.asked and self.asked["kind"] == "field" else ""

    def finish(self, pathway: str) -> None:
        """Note that the form of a pathway was completed."""
        self.finished = [*_without(self.finished, pathway), pathway]

    def reopen(self, name: str) -> None:
        """Have a field asked for again before all others."""
        self.reopened = [name, *_without(self.reopened, name)]

    def guess(self, name: str, is_guessed: object) -> None:
        """Note whether a value was guessed, so that it has to be confirmed before an effect."""
        kept = _without(self.guessed, name)
        self.guessed = [*kept, name] if is_guessed else kept

    def unconfirm(self, pathways: Collection[str]) -> None:
        """Have the summaries of these pathways shown again."""
        self.confirmed = [id_ for id_ in self.confirmed if id_ not in pathways]

    def count(self, counter: Literal["retries", "refused"], name: str) -> int:
        """Count one more try at a field, and return how many there were."""
        counts: dict[str, int] = getattr(self, counter)
        times = counts.get(name, 0) + 1
        setattr(self, counter, {**counts, name: times})
        return times

    def drop_correction(self, name: str) -> None:
        """Forget a value that waits for a yes."""
        self.corrections = _dropped(self.corrections, name)

    def settle(self, name: str) -> None:
        """Forget what was counted against a field, now that it has its value."""
        self.retries, self.refused = _dropped(self.retries, name), _dropped(self.refused, name)
        self.reopened = _without(self.reopened, name)
        self.off_topic = self.unclear = 0

    def forget(self, name: str) -> None:
        """Forget a field, as if it had never been asked for."""
        self.skipped = _without(self.skipped, name)
        self.reopened = _without(self.reopened, name)
        self.retries, self.refused = _dropped(self.retries, name), _dropped(self.refused, name)
        self.drop_correction(name)

    def try_again(self) -> None:
        """Forget what went wrong until now."""
        self.retries, self.refused = {}, {}
        self.unclear = self.off_topic = self.failures = 0


def _without(names: Sequence[str], name: str) -> list[str]:
    return [each for each in names if each != name]


def _dropped(named: Mapping[str, _Value], name: str) -> dict[str, _Value]:
    return {key: value for key, value in named.items() if key != name}


def with_dialogue(position: _Position, dialogue: DialogueState) -> _Position:
    """Return a position that keeps a dialogue state."""
    kept: Any = {name: value for name, value in position.items() if name != "talk"}
    if stored := dialogue.stored():
        kept["talk"] = stored
    return kept  # type: ignore[no-any-return]


class Attempted(FieldAttempt):
    """An attempt of this turn, and the field it was at."""

    field: str


def add_attempts(
    old: dict[str, list[FieldAttempt]], new: dict[str, list[FieldAttempt]]
) -> dict[str, list[FieldAttempt]]:
    """Append attempts; the last ones stay, and among them the one with the value."""
    return {**old, **{name: _windowed([*old.get(name, []), *given]) for name, given in new.items()}}


def _windowed(attempts: list[FieldAttempt]) -> list[FieldAttempt]:
    if len(attempts) <= FIELD_WINDOW:
        return attempts
    kept = attempts[-FIELD_WINDOW:]
    if any(attempt["validation_status"] in SETTLING for attempt in kept):
        return kept
    settled = [a for a in attempts if a["validation_status"] in SETTLING]
    return [*settled[-1:], *kept[-FIELD_WINDOW + 1 :]] if settled else kept
