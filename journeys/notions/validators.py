"""Validators of a value beyond its type, each with the sentence shown if it fails."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Annotated, Any

from pydantic import ConfigDict, GetCoreSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from journeys.definitions.definition import Definition, rule
from journeys.definitions.sources import refused, wrong
from journeys.definitions.value_types import Checked, Function, Text, ToolName, at_least, is_number
from journeys.errors import ConfigurationError, shown
from journeys.faults import Fault
from journeys.phrases.patterns import pattern_fault


def _pattern(value: Any, _: Any) -> str:
    """Return a regular expression; a pattern that engines read differently is not valid."""
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
        pattern: A regular expression of Python. It has 50 ms; a value that takes it longer is
            refused, and that is audited.
        message: What the user is told otherwise; empty: the catalogue's text.
    """

    pattern: Pattern
    message: Text = ""


class Range(Definition):
    """A value must lie between two others, both included; None leaves a side open.

    Numbers bound integers, numbers and the amounts of money; ISO text bounds dates and times, and
    "today" or "now" stand for the day and the moment in which the user speaks.

    Attributes:
        least: The smallest value that is taken: a number, an ISO date or time, "today" or "now".
        most: The largest one.
        message: What the user is told otherwise; empty: the catalogue's text, with both bounds.
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
    """A text must have so many characters, a list so many items.

    Attributes:
        least: Fewest.
        most: Most; None for no limit.
        message: What the user is told otherwise; empty: the catalogue's text, with both bounds.
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
    """A function of one's own decides, and may ask a service.

    Attributes:
        function: Called with the value and a copy of the context; sync (in a thread) or async.
            True and None accept the value; False refuses it; text refuses it with that sentence.
        message: What the user is told where the function gives no sentence.
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
        message: What the user is told otherwise.
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
        """Return its only rule; None if it does not have exactly one."""
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
    """Return what a bound of values of a type must be and is not; empty if it is.

    Args:
        kind: The field's type.
        bound: The smallest or largest value that is taken.
    """
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
        """Refuse to judge: the tool takes its place where the journey runs.

        Raises:
            ConfigurationError: Always.
        """
        raise ConfigurationError(f"The tool '{self.tool}' is missing, but a validator needs it.")
