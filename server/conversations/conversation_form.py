"""A conversation test as its file has it: the beginning, the turns, and what each must bring."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from journeygraph.journeys.definitions.definition import Definition, rule
from journeygraph.journeys.definitions.sources import wrong
from journeygraph.journeys.definitions.value_types import (
    BY_SHAPE,
    NOT_EMPTY,
    Checked,
    ContextName,
    Duration,
    Listed,
    Name,
    OneOf,
    Phrase,
    Share,
    Short,
    Text,
    at_least,
)
from journeygraph.journeys.errors import one_of
from journeygraph.journeys.faults import Fault
from journeygraph.journeys.locale import NOWHERE, Locale

STATUSES = ("valid", "invalid", "pending", "cleared")
"""Statuses of attempts at fields."""
FAILURES = (
    *("hang", "html", "bad_json", "no_choices", "null_choices", "null_content", "empty_content"),
    *("refusal", "length", "content_filter", "no_finish", "cut_after", "stall_after"),
    *("error_event", "unclean", "illegal_tool"),
)
"""Faults of a scripted model that take no arguments."""
COMMANDS = (
    *("fill", "correct", "clear", "confirm", "deny", "choose", "cancel", "skip", "wait"),
    *("repeat", "restart", "back", "status", "explain", "off_topic", "ask", "human", "go"),
)
"""Commands of a message to a form, as `journeygraph.nodes.llm.scripted` has them."""
MODELS = ("recorded", "live")
"""Models of a conversation whose turns have no answers."""
_PATTERN = re.compile(r"/(.*)/(i?)", re.DOTALL)


def pattern_in(text: str) -> re.Pattern[str] | None:
    """Return the regular expression in a text like `/now 5/` or `/now/i`; None if it is plain."""
    found = _PATTERN.fullmatch(text)
    return re.compile(found[1], re.IGNORECASE if found[2] else 0) if found else None


def _words(value: Any, _: Any) -> str:
    if not isinstance(value, str):
        raise wrong("it must be text, in quotes.")
    try:
        pattern_in(value)
    except re.error as error:
        raise wrong(f"it must be a regular expression between the slashes: {error}.") from None
    return value


def _moment(value: Any, _: Any) -> datetime:
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise wrong("it must be a date and a time such as 2026-11-24T12:00.") from None


def _attempts(value: Any, _: Any) -> Any:
    is_number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    is_list = isinstance(value, list) and all(item in STATUSES for item in value)
    if not is_number and not is_list:
        raise wrong(f"it must be a number, or a list of {', '.join(STATUSES)}.")
    return value


def _failure(value: Any, _: Any) -> Any:
    is_status = isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600
    if not is_status and value not in FAILURES:
        raise wrong(f"it must be a status from 400 to 599, or one of {', '.join(FAILURES)}.")
    return value


def _command(value: Any, _: Any) -> Any:
    is_mapping = isinstance(value, dict) and len(value) == 1
    if not isinstance(value, str) and not is_mapping:
        raise wrong("it must be a command, or a mapping of one command.")
    name = value if isinstance(value, str) else next(iter(value))
    if name not in COMMANDS:
        raise wrong(one_of(name, COMMANDS))
    return value


_COMMAND = {
    "anyOf": [
        {"enum": list(COMMANDS)},
        {
            "type": "object",
            "propertyNames": {"enum": list(COMMANDS)},
            "minProperties": 1,
            "maxProperties": 1,
        },
    ]
}
_FAILURE = {
    "anyOf": [{"type": "integer", "minimum": 400, "maximum": 599}, {"enum": list(FAILURES)}]
}
_ATTEMPTS = {
    "anyOf": [
        {"type": "integer", "minimum": 0},
        {"type": "array", "items": {"enum": list(STATUSES)}},
    ]
}
Words = Annotated[str, Checked(_words, {"type": "string"})]
"""Plain text, or a regular expression between slashes."""
OneOrMore = Annotated[Words | Listed[Words], BY_SHAPE]
Moment = Annotated[datetime, Checked(_moment, {"type": "string"})]


class Stub(Definition):
    """The result of a tool or an agent, in place of its function.

    Attributes:
        gives: The result.
        fails: Text of an error for the user; then nothing was done.
        breaks: Text of an error that the user does not get.
        times_out: True if it never answers, so that the outcome is unknown.
    """

    model_config = ConfigDict(title="Result")

    _: KW_ONLY
    gives: Any = None
    fails: Text = ""
    breaks: Text = ""
    times_out: bool = False


Stubs = Mapping[ContextName, Annotated[Stub | Annotated[Listed[Stub], NOT_EMPTY], BY_SHAPE]]


class StubFile(Definition):
    """Results in place of functions, for commands that take a file of them.

    Attributes:
        tools: Results of tools, effects and retrievers, by name.
        agents: Results of agents, by name.
    """

    model_config = ConfigDict(title="Stub file")

    _: KW_ONLY
    tools: Stubs = Field(default_factory=dict)
    agents: Stubs = Field(default_factory=dict)


class ModelAnswer(Definition):
    """One answer of the scripted model.

    Attributes:
        says: The answer of an agent: text, or a mapping of its outputs.
        means: The commands of a message to a form, in their order.
        to: Id of the pathway that the message leads to.
        held: Ids of the guidelines that hold.
        reply: The reply in the model's own words.
        asks: Name of the field that the reply asks for.
        confidence: The model's confidence, 0 to 1.
        uses: Tool -> the arguments by which it is called.
        fails: The failure of the call: an HTTP status, or the name of a fault.
    """

    model_config = ConfigDict(title="Answer")

    _: KW_ONLY
    says: Any = None
    means: Listed[Annotated[Any, Checked(_command, _COMMAND)]] = ()
    to: Text = ""
    held: Listed[str] = Field(default=(), validation_alias="rules")
    reply: Text = ""
    asks: Text = ""
    confidence: Share = 0.95
    uses: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)
    fails: Annotated[Any, Checked(_failure, _FAILURE)] = None

    @rule("says", "uses", "fails", "means", "to", "held", "reply", "asks")
    def _is_one_kind(self) -> Iterator[Fault]:
        kinds = [
            name for name in ("says", "uses", "fails") if getattr(self, name) not in (None, {})
        ]
        understands = {"means", "to", "held", "reply", "asks"} & self.model_fields_set
        if len(kinds) + bool(understands) > 1:
            names = ", ".join([*kinds, *sorted(understands)])
            yield Fault(f"{names} are answers of different kinds.", remedy="Write two answers.")


class Said(Definition):
    """Conditions on a text: all of them must hold.

    Attributes:
        equals: The whole text.
        contains: Texts or patterns that are in it.
        excludes: Texts or patterns that are not in it.
    """

    model_config = ConfigDict(title="Says")

    _: KW_ONLY
    equals: str | None = None
    contains: OneOrMore = ()
    excludes: OneOrMore = Field(default=(), validation_alias="not")


class Asked(Definition):
    """The open question: its field, and its kind."""

    model_config = ConfigDict(title="Question")

    _: KW_ONLY
    field: str | None = None
    kind: str | None = None


class Moved(Definition):
    """A transition that fired.

    Attributes:
        to: Id of the pathway that it leads to.
        intent: Its trigger in words.
        tier: The source of the decision: pattern, condition, model, ...
        why: Texts or patterns in the reason.
    """

    model_config = ConfigDict(title="Transition")

    _: KW_ONLY
    to: str | None = None
    intent: Words | None = None
    tier: str | None = None
    why: Words | None = None


class Expected(Definition):
    """The expectations of a turn; a key that is not written is not compared.

    Attributes:
        says: The reply: text in it, `/pattern/`, a list of these, or equals, contains and not.
        asks: Field or kind of the question; null: nothing is asked.
        options: The labels of what is offered.
        pathway: Id of the pathway after the turn.
        path: Ids of the pathways of the turn, from where it began to where it ended.
        stack: Ids of the paused pathways, the first one lowest.
        transition: Id of the pathway that a transition led to; null: none fired.
        why: Texts or patterns in the reasons of the turn's audit.
        fields: Field -> value; null: it has none.
        attempts: Field -> number of all attempts so far, or their statuses.
        context: Name -> value; null: it is not there.
        flags: Names of what failed in the turn.
        effects: Names of the effects that were taken in the turn.
        held: Ids of the guidelines that applied.
        model_calls: Number of calls of a model.
        complete: True if the journey is complete.
    """

    model_config = ConfigDict(title="Bot")

    _: KW_ONLY
    says: Annotated[Words | Listed[Words] | Said, BY_SHAPE] = ""
    asks: Annotated[str | Asked | None, BY_SHAPE] = None
    options: Listed[str] = ()
    pathway: str = ""
    path: Listed[str] = ()
    stack: Listed[str] = ()
    transition: Annotated[str | Moved | None, BY_SHAPE] = None
    why: OneOrMore = ()
    fields: Mapping[str, Any] = Field(default_factory=dict)
    attempts: Mapping[str, Annotated[Any, Checked(_attempts, _ATTEMPTS)]] = Field(
        default_factory=dict
    )
    context: Mapping[str, Any] = Field(default_factory=dict)
    flags: Listed[str] = ()
    effects: Listed[str] = ()
    held: Listed[str] = Field(default=(), validation_alias="rules")
    model_calls: int = 0
    complete: bool = False


_STEPS = ("user", "bot", "event", "wait", "operator", "release")
"""Keys of a step, of which it has one."""


class Turn(Definition):
    """One step: a message, the expectations after it, an event, a time, or an act of a person.

    Attributes:
        user: A message of the user.
        bot: The expectations after the steps before.
        event: Name of an event from outside the conversation.
        data: Its data, values for the context.
        wait: A time without a message, such as "2 days"; every timer that becomes due is taken.
        operator: A message of a person of the team who has taken the conversation.
        release: Name of the person who gives it back to the assistant.
        at: The time of the step, as of `clock`; later steps follow it.
        model: The answers of the model in this turn, in the order of its calls.
    """

    _: KW_ONLY
    user: str | None = None
    bot: Annotated[Expected, Short("says")] | None = None
    event: Text = ""
    data: Mapping[str, Any] = Field(default_factory=dict)
    wait: Duration | None = None
    operator: Text = ""
    release: Text = ""
    at: Moment | None = None
    model: Listed[Annotated[str | ModelAnswer, BY_SHAPE]] = ()

    @rule(*_STEPS, "data")
    def _is_one_thing(self) -> Iterator[Fault]:
        kinds = {*_STEPS} & self.model_fields_set
        if len(kinds) != 1:
            said = f"a turn has {'two of' if kinds else 'none of'} {', '.join(_STEPS)}."
            yield Fault(said, remedy="Write one of them in each turn.")
        elif self.data and not self.event:
            yield Fault("'data' is only a part of event.", "data", remedy="Remove it.")

    @rule("bot", "at", "model")
    def _acts(self) -> Iterator[Fault]:
        for name in ("at", "model"):
            if self.bot is not None and name in self.model_fields_set:
                yield Fault(f"'{name}' is no part of bot.", name, remedy="Move it to user.")


_WORDS = {True: "yes", False: "no", None: "no"}


def _typed(value: Any) -> str:
    return _WORDS[value] if value is None or isinstance(value, bool) else str(value)


def _values(value: Any, _: Any) -> Sequence[str]:
    items = value if isinstance(value, list) else [value]
    if not items or not all(item is None or isinstance(item, (str, int, float)) for item in items):
        raise wrong("it must be what the user says, or a list of it: the next after each refusal.")
    return tuple(map(_typed, items))


_TYPED = {"type": ["string", "number", "boolean", "null"]}
Values = Annotated[
    Sequence[str],
    Checked(_values, {"anyOf": [_TYPED, {"type": "array", "items": _TYPED, "minItems": 1}]}),
]
"""Answers of a user to a question: the first one, and the next after each refusal."""


class Persona(Definition):
    """A kind of user. The shares are of the turns, 0 to 1.

    Attributes:
        id: Its name.
        about: The user in words, for a model as the user.
        patience: Turns in a row without progress after which the user gives up.
        tidy: Share of plain answers; others have more words, or a second value.
        corrects: Share of turns that change an earlier value.
        detours: Share of turns that ask for a detour of the journey.
        strays: Share of turns about something else.
        slips: Share of words with a typing slip.
        leaves: Share of turns in which the user leaves without a word.
    """

    model_config = ConfigDict(title="Persona")

    _: KW_ONLY
    id: Name
    about: Text = ""
    patience: Annotated[int, at_least(1)] = 4
    tidy: Share = 1.0
    corrects: Share = 0.0
    detours: Share = 0.0
    strays: Share = 0.0
    slips: Share = 0.0
    leaves: Share = 0.0


class Goal(Definition):
    """An aim of a user.

    Attributes:
        id: Its name.
        about: The aim in words, for a model as the user.
        opens: The messages that begin the conversation, one after the other.
        values: Field -> what the user says to its question; in a list, the next after each
            refusal. Other fields get sample values of their types.
        reaches: The expectations that hold after the turn that reaches it.
    """

    model_config = ConfigDict(title="Goal")

    _: KW_ONLY
    id: Name
    about: Text = ""
    opens: Annotated[Listed[Phrase], NOT_EMPTY]
    values: Mapping[str, Values] = Field(default_factory=dict)
    reaches: Expected

    @rule("reaches")
    def _says_something(self) -> Iterator[Fault]:
        if not self.reaches.model_fields_set:
            remedy = "Write complete, pathway, effects, context or flags."
            yield Fault("the end of a goal is empty.", "reaches", remedy=remedy)


class Phrases(Definition):
    """Words of simulated users, for journeys in other languages.

    Attributes:
        corrects: Corrections, with {value} and {field}.
        untidy: Answers with more words, with {value}.
        strays: Messages about something else.
        more: Messages to go on with if nothing is asked.
    """

    model_config = ConfigDict(title="Phrases")

    _: KW_ONLY
    corrects: Annotated[Listed[Phrase], NOT_EMPTY] = (
        "sorry, {field} is {value}",
        "please change {field} to {value}",
    )
    untidy: Annotated[Listed[Phrase], NOT_EMPTY] = ("{value} please", "hm, let me think, {value}")
    strays: Annotated[Listed[Phrase], NOT_EMPTY] = (
        "what is the weather like today?",
        "my cat just jumped on the table",
    )
    more: Annotated[Listed[Phrase], NOT_EMPTY] = ("yes", "please go on")


class Users(Definition):
    """Simulated users: each persona tries each goal.

    Attributes:
        personas: The personas.
        goals: The goals.
        by: script: users without a model; model: the model of the settings plays them.
        seed: The same number gives the same scripted users.
        longest: Most messages of a conversation.
        effects: True to call the functions of effects; otherwise their results are invented.
        phrases: Words of scripted users.
    """

    model_config = ConfigDict(title="Users")
    placeholders = {"personas": (), "goals": ()}

    _: KW_ONLY
    personas: Annotated[Listed[Persona], NOT_EMPTY]
    goals: Annotated[Listed[Goal], NOT_EMPTY]
    by: Annotated[str, OneOf(("script", "model"))] = "script"
    seed: int = 1
    longest: Annotated[int, at_least(1)] = 40
    effects: bool = False
    phrases: Phrases = Phrases()

    @rule("personas", "goals")
    def _are_different(self) -> Iterator[Fault]:
        for key, listed in (("personas", self.personas), ("goals", self.goals)):
            ids = [one.id for one in listed]
            for number, id_ in enumerate(ids):
                if id_ in ids[:number]:
                    yield Fault(f"'{id_}' is there twice.", key, number, remedy="Rename one.")


class Conversation(Definition):
    """A conversation with a journey, and its expectations.

    Attributes:
        conversation: Its subject, in a few words.
        journey: Id of an example, a file next to this one, file.py:Class or module:Class.
        clock: The time at which it begins; without a zone, in that of the locale. Default: now.
        locale: The language, or the locale, of the user. Default: English (US), UTC.
        context: The first values of the context.
        place: Id of the pathway in which it begins. Default: the entry.
        tools: Results of tools and effects, by name. Default: the journey's own functions.
        agents: Results of agents, by name. Default: the journey's own agents.
        model: recorded: the answers of the recording next to the file; live: the model of the
            settings, whose words are not compared. Default: the answers of the turns, else none.
        turns: The steps.
        users: Simulated users, in place of turns.
    """

    model_config = ConfigDict(title="Conversation")
    placeholders = {"conversation": "?", "journey": "?"}

    _: KW_ONLY
    conversation: Phrase
    journey: Phrase
    clock: Moment | None = None
    locale: Annotated[Locale, Short("language")] = NOWHERE
    context: Mapping[str, Any] = Field(default_factory=dict)
    place: Text = ""
    tools: Stubs = Field(default_factory=dict)
    agents: Stubs = Field(default_factory=dict)
    model: Annotated[str, OneOf(MODELS)] | None = None
    turns: Annotated[Listed[Turn], NOT_EMPTY] = ()
    users: Users | None = None

    @rule("turns", "users")
    def _has_one_speaker(self) -> Iterator[Fault]:
        if bool(self.turns) == (self.users is not None):
            said = "a conversation has turns, or simulated users."
            yield Fault(said, remedy="Write 'turns' or 'users'.")

    @rule("model", "clock", "turns")
    def _has_one_model(self) -> Iterator[Fault]:
        if self.model and self.is_scripted:
            said = f"turns have answers of a model, and the model is {self.model}."
            yield Fault(said, "model", remedy="Remove 'model' here, or from the turns.")
        if self.model == "recorded" and self.users:
            said = "simulated users have no recording."
            yield Fault(said, "model", remedy="Write model: live, or remove it.")
        elif self.model == "recorded" and self.clock is None:
            said = "a recorded conversation needs 'clock': a model is shown dates."
            yield Fault(said, "model", remedy="Add clock, such as 2026-11-24T12:00.")

    @cached_property
    def is_scripted(self) -> bool:
        """Return whether a turn has answers of a model."""
        return any("model" in turn.model_fields_set for turn in self.turns)

    @property
    def has_model(self) -> bool:
        """Return whether a model takes part."""
        return self.model is not None or self.is_scripted
