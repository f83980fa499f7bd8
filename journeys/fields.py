"""Fields: the values that a pathway collects, and how they are asked for and checked."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import KW_ONLY, dataclass, replace
from dataclasses import field as attribute
from typing import Any

from journeys.errors import ConfigurationError, did_you_mean, shown
from journeys.regexes import checked_pattern
from journeys.validators import Check, Validator, is_number, is_whole

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
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True)
class Field:
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

    name: str
    type: str = "text"
    ask: Any = ""
    _: KW_ONLY
    description: str = ""
    required: bool = True
    asked: bool = True
    choices: Sequence[str] | Mapping[str, Sequence[str]] | Callable[..., Any] = ()
    validators: Sequence[Validator | Callable[..., Any]] = ()
    depends_on: Sequence[str] = ()
    when: Callable[[Mapping[str, Any]], Any] | None = None
    sensitive: bool = False
    ttl: float | None = None
    confirm: bool = False
    retry_texts: Sequence[str] = ()
    max_attempts: int = 3
    extract: Sequence[str] = ()
    label: str = ""
    items: str = "text"
    currency: str = ""
    asks: Callable[[Mapping[str, Any]], Any] | None = None

    def __post_init__(self) -> None:
        if callable(self.ask):
            object.__setattr__(self, "asks", self.ask)
            object.__setattr__(self, "ask", "")
        if not isinstance(self.name, str) or not _NAME.fullmatch(self.name):
            raise ConfigurationError(
                f"Field: name is {shown(self.name)}; it must be snake case of 1 to 64 characters."
            )
        self._check_types()
        self._check_options()
        for name in ("validators", "depends_on", "retry_texts", "extract"):
            value = getattr(self, name)
            if isinstance(value, str) or not isinstance(value, Sequence):
                self._fault(name, value, "a list")
            object.__setattr__(self, name, tuple(value))
        made = tuple(v if isinstance(v, Validator) else Check(v) for v in self.validators)
        object.__setattr__(self, "validators", made)
        if not self.asked:
            object.__setattr__(self, "required", False)
        for pattern in self.extract:
            checked_pattern(f"Field '{self.name}': extract", pattern)

    @property
    def title(self) -> str:
        """What users are told it is called."""
        return self.label or self.name.replace("_", " ")

    @property
    def is_of_the_moment(self) -> bool:
        """Whether a function of the context says what can be chosen."""
        return callable(self.choices)

    def at(self, context: Mapping[str, Any]) -> Field:
        """Return the field as it is in a context, with the options of that moment.

        Raises:
            ConfigurationError: The function returned something else than options.
        """
        if not callable(self.choices):
            return self
        field = copy(self)
        object.__setattr__(field, "choices", _called(self.choices, context, ()))
        field._check_words()
        return field

    def question_in(self, context: Mapping[str, Any]) -> str:
        """Return the author's question as it is in a context; empty where there is none.

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

    def _check_types(self) -> None:
        for name, known in (("type", FIELD_TYPES), ("items", FIELD_TYPES)):
            value = getattr(self, name)
            if value not in known:
                hint = did_you_mean(str(value), known)
                raise ConfigurationError(
                    f"Field '{self.name}': {name} is {shown(value)}.{hint} "
                    f"One of: {', '.join(known)}."
                )
        if self.items == "list":
            self._fault("items", self.items, "a type of single values")
        wants_choices = "enum" in (self.type, self.items if self.type == "list" else "")
        if wants_choices != bool(self.choices):
            self._fault("choices", self.choices, "the values of an enum, and given for no other")
        self._check_words()

    def _check_words(self) -> None:
        given = self.choices
        listed = isinstance(given, (Sequence, Mapping)) and not isinstance(given, str)
        known = callable(given) or listed
        if not known or not all(isinstance(item, str) and item.strip() for item in self.ways):
            self._fault("choices", given, "values as text")
        if not isinstance(self.ask, str):
            self._fault("ask", self.ask, "text, or a function of the context that returns it")

    def _check_options(self) -> None:
        for name in ("description", "label", "currency"):
            if not isinstance(getattr(self, name), str):
                self._fault(name, getattr(self, name), "text")
        for name in ("required", "asked", "sensitive", "confirm"):
            if not isinstance(getattr(self, name), bool):
                self._fault(name, getattr(self, name), "True or False")
        if self.when is not None and not callable(self.when):
            self._fault("when", self.when, "a function of what is collected")
        if self.ttl is not None and not (is_number(self.ttl) and 0 < self.ttl < math.inf):
            self._fault("ttl", self.ttl, "a number of seconds above 0")
        if not is_whole(self.max_attempts) or not 1 <= self.max_attempts <= 100:
            self._fault("max_attempts", self.max_attempts, "a whole number from 1 to 100")

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


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a pathway, and how they are collected; a bare list of fields is one too.

    Attributes:
        fields: What is collected.
        order: "declared": one question after the other; "flexible": a field that the message was
            about without a value that could be taken is asked for next.
        confirm_corrections: Whether a value replaces another one only once the user says yes.

    Raises:
        ConfigurationError: A value is unknown; two fields have one name.

    Source: collecting agent; DESIGN section 5.
    """

    fields: Sequence[Field]
    order: str = "declared"
    confirm_corrections: bool = False
    _named: Mapping[str, Field] = attribute(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if isinstance(self.fields, str) or not all(isinstance(f, Field) for f in self.fields):
            raise ConfigurationError("Form: fields must be a list of Field(...).")
        if self.order not in ORDERS:
            raise ConfigurationError(
                f"Form: order is {shown(self.order)}; one of: {', '.join(ORDERS)}."
            )
        if not isinstance(self.confirm_corrections, bool):
            raise ConfigurationError("Form: confirm_corrections must be True or False.")
        object.__setattr__(self, "fields", tuple(self.fields))
        names = [field.name for field in self.fields]
        object.__setattr__(self, "_named", {field.name: field for field in self.fields})
        if twice := [name for name in names if names.count(name) > 1]:
            raise ConfigurationError(f"Form: the field '{twice[0]}' is declared twice.")

    @property
    def is_of_the_moment(self) -> bool:
        """Whether a function of the context decides how one of its fields is asked for."""
        return any(field.is_of_the_moment for field in self.fields)

    def at(self, context: Mapping[str, Any]) -> Form:
        """Return the form as it is in a context; see `Field.at`."""
        return replace(self, fields=[field.at(context) for field in self.fields])

    def __getitem__(self, name: str) -> Field:
        """Return the field of a name.

        Raises:
            KeyError: There is none.
        """
        return self._named[name]

    def __contains__(self, name: object) -> bool:
        return name in self._named
