"""Fields: the values that a pathway collects, and how they are asked for and checked."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import KW_ONLY
from functools import cached_property
from typing import Annotated, Any

import pydantic

from journeys.definitions.definition import Definition, rule
from journeys.definitions.value_types import (
    AS_GIVEN,
    BY_SHAPE,
    NOT_EMPTY,
    FieldName,
    Function,
    InCode,
    Listed,
    OneOf,
    Phrase,
    Seconds,
    Text,
    at_least,
    pattern,
)
from journeys.errors import ConfigurationError, shown
from journeys.faults import Fault
from journeys.notions.validators import AsValidator, Pattern, Range, Validator, bound_fault

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
        name: Its name in the context, snake case. Fields of one name in several pathways of a
            journey are one field, and must be declared alike.
        type: One of `FIELD_TYPES`; "list" holds values of the type `items`.
        ask: The question, as the user hears it; empty: the catalogue's, with the label. Or a plain
            function of the context that returns it, with whatever there is to choose from.
        description: What it is needed for: the answer to "why do you ask?", and what models know.
        required: False lets the user leave it open.
        asked: False: it is never asked for, and taken where the user says it. It may stay open.
        choices: The values of an enum: a list, or value -> further ways to say it. Or a plain
            function of the context that returns either: the options of this moment. One that
            raises has none yet.
        validators: `Regex`, `Range`, `Length`, `Check`, or a function as of `Check`; in order.
        depends_on: Names of fields, here or in other pathways; when one of them changes, this one
            is checked again.
        when: Called with what is collected; while it is false, the field is not asked for, and its
            value is no part of what is collected.
        sensitive: Left out of what models are given but for the message that brings it, of
            summaries, of what people are told of a session, of attempts, and of the log. Context
            and transcript hold it as all else: `__sensitive__` encrypts them.
        ttl: Seconds after which a value has to be asked for again.
        confirm: The user is read back what the form has collected, and must say yes to it.
        retry_texts: What is said after the first, second, ... value that is not taken.
        max_attempts: Values not taken in a row before the talk is escalated.
        extract: Patterns that find the value in a message without a model: the first group, or all.
            One that takes longer than 50 ms finds nothing, and that is audited.
        label: What users are told it is called; empty: the name.
        items: Type of a list's items.
        currency: ISO code of money that names no currency.
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

    def at(self, context: Mapping[str, Any]) -> "Field":
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
            ConfigurationError: The function returned something else than text.
        """
        if self.asks is None:
            return str(self.ask)
        said = _called(self.asks, context, "")
        if not isinstance(said, str):
            self._fault("ask", said, "text")
        return str(said)

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
    """The fields of a pathway, and how they are collected; a bare list of fields is one too.

    Attributes:
        fields: What is collected.
        order: "declared": one question after the other; "flexible": a field that the message was
            about without a value that could be taken is asked for next.
        confirm_corrections: True if a value replaces another one only once the user says yes.

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

    def at(self, context: Mapping[str, Any]) -> "Form":
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

    @cached_property
    def _named(self) -> Mapping[str, Field]:
        return {field.name: field for field in self.fields}
