"""Fields: the values that a pathway collects, how they are asked for, their validators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass
from datetime import date, datetime, time
from functools import cached_property
from typing import Annotated, Any

import pydantic
from pydantic import ConfigDict, GetCoreSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from journeygraph.journeys.definitions.definition import Definition, rule
from journeygraph.journeys.definitions.sources import refused, wrong
from journeygraph.journeys.definitions.value_types import (
    AS_GIVEN,
    BY_SHAPE,
    NOT_EMPTY,
    Checked,
    FieldName,
    Function,
    InCode,
    Listed,
    OneOf,
    Phrase,
    Seconds,
    Text,
    ToolName,
    at_least,
    is_number,
    pattern,
)
from journeygraph.journeys.errors import ConfigurationError, shown
from journeygraph.journeys.faults import Fault
from journeygraph.journeys.phrases import pattern_fault


def _pattern(value: Any, _: Any) -> str:
    if not isinstance(value, str):
        raise wrong("it must be text.")
    if fault := pattern_fault(value):
        raise refused(f"{shown(value)} is not a valid pattern: {fault}.")
    return value


Pattern = Annotated[str, Checked(_pattern, {"type": "string"})]


def _bound(value: Any, _: Any) -> float | str:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise wrong("it must be a number or a date as ISO text.")
    return value


Bound = Annotated[float | str, Checked(_bound, {"type": ["number", "string"]})]


class Regex(Definition):
    """A value's text must match a pattern from its first to its last character.

    Attributes:
        pattern: A regular expression of Python. A match that takes longer than 50 ms is refused,
            and this is audited.
        message: Text for a user whose value is refused. Default: the catalogue's.
    """

    pattern: Pattern
    message: Text = ""


class Range(Definition):
    """A value must lie between two others, both included; None leaves a side open.

    Numbers bound integers, numbers and the amounts of money; ISO text bounds dates and times, and
    "today" or "now" mean the day and the moment in which the user speaks.

    Attributes:
        least: Smallest valid value: a number, an ISO date or time, "today" or "now".
        most: Largest valid value.
        message: Text for a user whose value is refused. Default: the catalogue's, with both bounds.
    """

    unwritten = frozenset({"message"})

    least: Bound | None = None
    most: Bound | None = None
    message: Text = ""

    @rule("least", "most")
    def _bounds_something(self) -> Iterator[Fault]:
        if self.least is None and self.most is None:
            yield Fault("it has no bounds", remedy="give least, most, or both.")


class Length(Definition):
    """A text must have a number of characters within limits, a list a number of items.

    Attributes:
        least: Smallest number of characters, or of items of a list.
        most: Largest number. Default: no limit.
        message: Text for a user whose value is refused. Default: the catalogue's, with both bounds.
    """

    unwritten = frozenset({"message"})

    least: Annotated[int, at_least(0)] = 0
    most: Annotated[int, at_least(0)] | None = None
    message: Text = ""

    @rule("least", "most")
    def _is_in_order(self) -> Iterator[Fault]:
        if self.most is not None and self.most < self.least:
            yield Fault(f"most is {self.most}, which is below {self.least}.")


class Check(Definition):
    """A function of yours accepts or refuses a value; it may call a service.

    Attributes:
        function: A function of the value and a copy of the context, async or in a thread. True and
            None accept the value; False refuses it; a text refuses it with this text.
        message: Text for a user whose value is refused, if the function returns none.
    """

    function: Annotated[Callable[[Any, Mapping[str, Any]], Any], Function("value", "context")]
    message: Text = ""


Validator = Regex | Range | Length | Check


class _Written(Definition):
    """Rule for a value in addition to its type: one of regex, range, length and check.

    Attributes:
        regex: A regular expression of Python for the whole value.
        range: Bounds of numbers, amounts, dates, times.
        length: Of a text or a list.
        check: A tool that judges the value.
        message: Text for a user whose value is refused.
    """

    model_config = ConfigDict(title="Validator")

    regex: Pattern = ""
    range: Range | None = None
    length: Length | None = None
    check: ToolName = ""
    message: Text = ""

    @property
    def ways(self) -> list[str]:
        return [name for name in ("regex", "range", "length", "check") if getattr(self, name)]

    @rule("regex", "range", "length", "check")
    def _is_one(self) -> Iterator[Fault]:
        if len(self.ways) != 1:
            both = f"it has {' and '.join(self.ways)}" if self.ways else "it has no check"
            yield Fault(f"{both}.", remedy="Write one of regex, range, length and check.")

    @property
    def validator(self) -> Validator | None:
        if len(self.ways) != 1:
            return None
        if self.regex:
            return Regex(self.regex, self.message)
        if self.check:
            return Check(ToolCheck(self.check), self.message)
        bounds = self.range or self.length
        return bounds.model_copy(update={"message": self.message}) if bounds else None


class AsValidator:
    """A validator, or a function as of `Check`; in a file, a mapping with the kind as its key."""

    def __get_pydantic_core_schema__(self, _: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        written = handler.generate_schema(_Written)
        return core_schema.with_info_wrap_validator_function(self._fit, written)

    def _fit(self, value: Any, handler: Any, info: ValidationInfo[Any]) -> Any:
        if isinstance(value, Validator):
            return value
        if callable(value):
            known = info.context.function(value, ("value", "context")) if info.context else value
            return Check(known)
        if info.context is None or info.context.is_code:
            raise wrong("it must be Regex, Range, Length, Check, or a function as of Check.")
        if made := handler(value).validator:
            return made
        raise PydanticCustomError("gone", "gone")


_ISO: dict[str, tuple[Callable[[str], Any], tuple[str, ...], str]] = {
    "date": (date.fromisoformat, ("today",), "a date such as 2026-11-21, or today"),
    "time": (time.fromisoformat, ("now",), "a time such as 19:00, or now"),
    "datetime": (
        datetime.fromisoformat,
        ("now", "today"),
        "such as 2026-11-21T19:00, or now, or today",
    ),
}


def bound_fault(kind: str, bound: Any) -> str:
    """Return what a bound of values of a type must be and is not; empty if it is."""
    if kind in ("integer", "number", "money"):
        return "" if is_number(bound) else "it must be a number."
    if kind not in _ISO:
        return f"values of type {kind} have no order. Write length or regex, or remove it."
    read, words, wanted = _ISO[kind]
    return "" if bound in words or _is_read(read, bound) else f"it must be {wanted}, in quotes."


def _is_read(read: Callable[[str], Any], bound: Any) -> bool:
    try:
        read(bound)
    except (TypeError, ValueError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class ToolCheck:
    """Stands in a `Check` for a tool of the journey, which judges the value.

    The tool is given what the context has by the names of its parameters, the value under the
    field's name and as `value`. While something that it needs is not known yet, it is not asked:
    let the field depend on that, and it is asked then.

    Attributes:
        tool: Name of the tool. What it gives counts as of `Check`.
    """

    tool: str

    def __call__(self, value: Any, context: Mapping[str, Any]) -> Any:
        """Refuse to judge: the tool takes its place where the journey runs."""
        raise ConfigurationError(f"The tool '{self.tool}' is missing, but a validator needs it.")


FIELD_TYPES = (
    "text",
    "integer",
    "number",
    "boolean",
    "date",
    "time",
    "datetime",
    "money",
    "email",
    "phone",
    "name",
    "full_name",
    "address",
    "enum",
    "list",
)
ORDERS = ("declared", "flexible")
Currency = Annotated[str, pattern(r"^([A-Z]{3})?$", "write three capital letters, such as EUR.")]
Choices = Annotated[Listed[Phrase] | Mapping[Phrase, Listed[Phrase]], BY_SHAPE]


class Field(Definition):
    """One value to collect. Every attempt at it is kept.

    Attributes:
        name: Its name in the context, in snake case. Fields of the same name in several pathways
            are one field, and must be declared alike.
        type: Its type; a "list" has values of the type `items`.
        ask: The question. In a class also a function of the context that returns it. Default: made
            from the label.
        description: Its purpose, shown to users who ask for it, and to models.
        required: False: the user may leave it open.
        asked: False: it is never asked for; its value is taken if the user gives it, and may stay
            open.
        choices: The values of an enum: a list, or value -> further ways to say it. In a class also
            a function of the context that returns the current options; if it raises, there are
            none.
        validators: Checks of a value, in order: `Regex`, `Range`, `Length`, `Check`, or a function
            as of `Check`. In a file each is `{regex: PATTERN}`, `{range: {least, most}}`, `{length:
            {least, most}}` or `{check: TOOL}`, with the `message` for a user whose value is
            refused.
        depends_on: Names of fields, of this pathway or others; when one of them changes, this one
            is checked again.
        when: A function of the context, in a file an expression. While it is false, the field is
            not asked for, and its value does not count as collected. Default: always.
        sensitive: True: it is not in summaries, attempts, the log, what operators see, or what
            models get, except in the message that contains it. Context and transcript contain it;
            `__sensitive__` encrypts these.
        ttl: Lifetime of the value in seconds; after that it is asked for again. Default: unlimited.
        confirm: True: it is read back with all others of this kind, and the user has to say yes.
        retry_texts: Replies to the first, second, ... refused value. Default: the catalogue's.
        max_attempts: Number of refused values in a row after which a person is called.
        extract: Patterns that find it in a message without a model: the first group, or the whole
            match. One that takes longer than 50 ms finds nothing, and this is audited. Default: by
            its type.
        verbatim: True: the whole message is the value, as it was written, unless it is a word to
            the conversation itself, such as "cancel". For text, lists and addresses.
        label: Its name for users. Default: the name.
        items: Type of the items of a list.
        currency: ISO code for money without a currency.
        asks: The function that was given as `ask`, if one was.

    Raises:
        ConfigurationError: A value is unknown or out of range.

    Source: collecting agent, state model and config models.
    """

    unwritten = frozenset({"asks"})

    name: FieldName
    type: Annotated[str, OneOf(FIELD_TYPES)] = "text"
    ask: Annotated[Any, InCode(Text)] = ""
    _: KW_ONLY
    description: Text = ""
    required: bool = True
    asked: bool = True
    choices: Annotated[
        Sequence[str] | Mapping[str, Sequence[str]] | Callable[..., Any],
        InCode(Choices, wanted="a list, a dict, or a function of the context"),
    ] = ()
    validators: Listed[Annotated[Validator | Callable[..., Any], AsValidator()]] = ()
    depends_on: Listed[FieldName] = ()
    when: Annotated[Callable[[Mapping[str, Any]], Any], Function("context")] | None = None
    sensitive: bool = False
    ttl: Seconds | None = None
    confirm: bool = False
    retry_texts: Listed[Text] = ()
    max_attempts: Annotated[int, at_least(1, 100)] = 3
    extract: Listed[Pattern] = ()
    verbatim: bool = False
    label: Text = ""
    items: Annotated[str, OneOf(FIELD_TYPES[:-1])] = "text"
    currency: Currency = ""
    asks: Annotated[Callable[[Mapping[str, Any]], Any] | None, AS_GIVEN] = pydantic.Field(
        default=None, init=False
    )

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> str:
        """Return how errors name a field."""
        return f"Field '{given.get('name', '')}'"

    def model_post_init(self, _: Any) -> None:
        """Let a field that is not asked for stay open; take the question from a function."""
        if not self.asked:
            self.__dict__["required"] = False
        if callable(self.ask):
            self.__dict__.update(ask="", asks=self.ask)

    @rule("type", "items", "choices")
    def _choices_are_of_enums(self) -> Iterator[Fault]:
        wants_choices = "enum" in (self.type, self.items if self.type == "list" else "")
        if wants_choices != bool(self.choices):
            given = list(self.choices) if isinstance(self.choices, tuple) else self.choices
            has = f"choices is {shown(given)}" if given else "choices is missing"
            wanted = "it must be the values of an enum, and only of an enum."
            yield Fault(has, "choices", remedy=wanted)

    @rule("type", "items", "validators")
    def _bounds_are_of_its_type(self) -> Iterator[Fault]:
        kind = self.items if self.type == "list" else self.type
        for number, validator in enumerate(self.validators):
            for name in ("least", "most") if isinstance(validator, Range) else ():
                bound = getattr(validator, name)
                if bound is not None and (fault := bound_fault(kind, bound)):
                    path = ("validators", number, "range", name)
                    yield Fault(f"{name} is {shown(bound)}", *path, remedy=fault)

    @property
    def title(self) -> str:
        """Return its name for users."""
        return self.label or self.name.replace("_", " ")

    @property
    def is_of_the_moment(self) -> bool:
        """Return whether a function of the context says what can be chosen."""
        return callable(self.choices)

    def at(self, context: Mapping[str, Any]) -> Field:
        """Return the field as it is in a context, with the options of that moment.

        Raises:
            ConfigurationError: The function returned something else than options.
        """
        if not callable(self.choices):
            return self
        options = _called(self.choices, context, ())
        listed = isinstance(options, (Sequence, Mapping)) and not isinstance(options, str)
        field = self.model_copy(update={"choices": options})
        if not listed or not all(isinstance(way, str) and way.strip() for way in field.ways):
            self._fault("choices", options, "values as text")
        return field

    def question_in(self, context: Mapping[str, Any]) -> str:
        """Return the author's question as it is in a context; empty if there is none.

        Raises:
            ConfigurationError: The function returned something else than text, or a pair of text
                and answers.
        """
        return self._asked_in(context)[0]

    def answers_in(self, context: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the answers that the author's question names; none if it asks for the value.

        Raises:
            ConfigurationError: As of `question_in`.
        """
        return self._asked_in(context)[1]

    def _asked_in(self, context: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
        if self.asks is None:
            return str(self.ask), ()
        said = _called(self.asks, context, "")
        question, answers = said if isinstance(said, tuple) and len(said) == 2 else (said, ())
        are_texts = isinstance(answers, (list, tuple)) and all(
            isinstance(answer, str) and answer.strip() for answer in answers
        )
        if not isinstance(question, str) or not are_texts:
            self._fault("ask", said, "text, or a pair of text and a list of answers")
        return str(question), tuple(answers)

    @property
    def ways(self) -> dict[str, tuple[str, ...]]:
        """The choices, each with its further spellings; none while a function says which."""
        if callable(self.choices):
            return {}
        if isinstance(self.choices, Mapping):
            return {value: tuple(others) for value, others in self.choices.items()}
        return dict.fromkeys(self.choices, ())

    def _fault(self, name: str, value: Any, wanted: str) -> None:
        raise ConfigurationError(
            f"Field '{self.name}': {name} is {shown(value)}; it must be {wanted}."
        )


def _called(function: Callable[..., Any], context: Mapping[str, Any], nothing: Any) -> Any:
    """Return what a function says of a context; nothing while it raises, as with `when`."""
    try:
        return function(deepcopy(dict(context)))
    except Exception:  # what it reads is not known yet
        return nothing


class Form(Definition):
    """The fields of a pathway, and how they are collected; a list of fields is a form too.

    Attributes:
        fields: The fields.
        order: "declared": one question after the other. "flexible": a field that the message was
            about, without a value that could be used, is asked for next.
        confirm_corrections: True: the user has to confirm each change of a value.

    Raises:
        ConfigurationError: A value is unknown; two fields have one name.

    Source: collecting agent; DESIGN section 5.
    """

    fields: Annotated[Listed[Field], NOT_EMPTY]
    order: Annotated[str, OneOf(ORDERS)] = "declared"
    confirm_corrections: bool = False

    @rule("fields")
    def _names_are_single(self) -> Iterator[Fault]:
        first: dict[str, int] = {}
        for number, field in enumerate(self.fields):
            before = first.setdefault(field.name, number)
            if before != number:
                said = f"the field '{field.name}' is declared twice."
                yield Fault(said, "fields", number, "name", remedy="Rename one of them.")

    @property
    def is_of_the_moment(self) -> bool:
        """Return whether a function of the context decides how one of its fields is asked for."""
        return any(field.is_of_the_moment for field in self.fields)

    def at(self, context: Mapping[str, Any]) -> Form:
        """Return the form as it is in a context; see `Field.at`."""
        return self.model_copy(update={"fields": tuple(f.at(context) for f in self.fields)})

    def __getitem__(self, name: str) -> Field:
        """Return the field of a name.

        Raises:
            KeyError: There is none.
        """
        return self._named[name]

    def __contains__(self, name: object) -> bool:
        return name in self._named

    def get(self, name: str) -> Field | None:
        """Return the field of a name; None if there is none."""
        return self._named.get(name)

    @cached_property
    def _named(self) -> Mapping[str, Field]:
        return {field.name: field for field in self.fields}
