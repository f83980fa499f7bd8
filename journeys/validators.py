"""What a value must be beyond its type, each with the sentence that a user gets otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from journeys.errors import ConfigurationError, shown
from journeys.regexes import checked_pattern

_BOUNDS = (int, float, str)


@dataclass(frozen=True, slots=True)
class Regex:
    """A value's text must match a pattern from its first to its last character.

    Attributes:
        pattern: A regular expression of Python. It has 50 ms; a value that takes it longer is
            refused, and that is audited.
        message: What the user is told otherwise; empty: the catalogue's text.
    """

    pattern: str
    message: str = ""

    def __post_init__(self) -> None:
        checked_pattern("Regex", self.pattern)


@dataclass(frozen=True, slots=True)
class Range:
    """A value must lie between two others, both included; None leaves a side open.

    Numbers bound integers, numbers and the amounts of money; ISO text bounds dates and times, and
    "today" or "now" stand for the day and the moment in which the user speaks.

    Attributes:
        least: The smallest value that is taken.
        most: The largest one.
        message: What the user is told otherwise; empty: the catalogue's text, with both bounds.
    """

    least: float | str | None = None
    most: float | str | None = None
    message: str = ""

    def __post_init__(self) -> None:
        for name in ("least", "most"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, _BOUNDS)):
                raise ConfigurationError(
                    f"Range: {name} is {shown(value)}; it must be a number or a date as ISO text."
                )
        if self.least is None and self.most is None:
            raise ConfigurationError("Range: it bounds nothing; give least, most, or both.")


@dataclass(frozen=True, slots=True)
class Length:
    """A text must have so many characters, a list so many items.

    Attributes:
        least: Fewest.
        most: Most; None for no limit.
        message: What the user is told otherwise; empty: the catalogue's text, with both bounds.
    """

    least: int = 0
    most: int | None = None
    message: str = ""

    def __post_init__(self) -> None:
        most = self.least if self.most is None else self.most
        if not all(is_whole(item) and item >= 0 for item in (self.least, most)):
            raise ConfigurationError("Length: least and most must be whole numbers from 0.")
        if most < self.least:
            raise ConfigurationError(f"Length: most is {self.most}, which is under {self.least}.")


@dataclass(frozen=True, slots=True)
class Check:
    """A function of one's own decides, and may ask a service.

    Attributes:
        function: Called with the value and a copy of the context; sync (in a thread) or async.
            True and None accept the value; False refuses it; text refuses it with that sentence.
        message: What the user is told where the function gives no sentence.
    """

    function: Callable[[Any, Mapping[str, Any]], Any]
    message: str = ""

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ConfigurationError(
                f"Check: function is {shown(self.function)}; it must be a function."
            )


Validator = Regex | Range | Length | Check


def is_whole(value: Any) -> bool:
    """Say whether a value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Say whether a value is a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
