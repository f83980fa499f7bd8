"""Whether a value is taken: a field's validators, in order."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Mapping
from typing import Any

from journeys.fields import Field
from journeys.validators import Check, Length, Range, Regex, Validator
from nodes.authored import contained
from nodes.calling import in_thread
from nodes.plain import copied
from nodes.telemetry.otel import report
from nodes.values.bounds import kind_of, lies_in
from nodes.values.scanning import LONGEST
from nodes.values.setting import Setting, Unreadable
from nodes.values.showing import bounds_shown


async def refusal_of(
    field: Field, value: Any, context: Mapping[str, Any], setting: Setting, *, seconds: float
) -> Unreadable | None:
    """Return why a value is not taken; None if it is.

    A validator that raises, is late, or is about values of another type refuses, and is reported.

    Args:
        field: Whose value it is.
        value: As `value_of` gives it.
        context: What is known; checks get a copy of it.
        setting: When and where it was said.
        seconds: How long one check may take.
    """
    for validator in field.validators:
        try:
            refusal = await _refusal(validator, field, value, context, setting, seconds)
        except Exception as error:
            _tell(field, validator, error)
            return _worded(validator, Unreadable("refused_value"))
        if refusal is not None:
            return refusal
    return None


async def _refusal(
    validator: Validator | Callable[..., Any],
    field: Field,
    value: Any,
    context: Mapping[str, Any],
    setting: Setting,
    seconds: float,
) -> Unreadable | None:
    if isinstance(validator, Check):
        return await _checked(validator, value, context, seconds)
    if isinstance(validator, Length):
        return _length(validator, value)
    single = value if isinstance(value, list) else [value]
    if isinstance(validator, Range):
        return _range(validator, single, field, setting)
    if isinstance(validator, Regex):
        return _regex(validator, single, field, setting)
    raise TypeError(f"{type(validator).__name__} is no validator")


def _worded(validator: Any, refusal: Unreadable) -> Unreadable:
    """Return a refusal in the author's words, where there are any."""
    return (
        Unreadable(sentence=validator.message, values=refusal.values)
        if validator.message
        else refusal
    )


def _regex(one: Regex, values: list[Any], field: Field, setting: Setting) -> Unreadable | None:
    for value in values:
        text = value if isinstance(value, str) else _as_text(value)
        matches = setting.patterns.fullmatch
        if len(text) > LONGEST or not matches(field.name, one.pattern, text):
            return _worded(one, Unreadable("not_matching"))
    return None


def _as_text(value: Any) -> str:
    """Return what a pattern sees of a value that is no text: money as "40.00 EUR"."""
    if isinstance(value, dict):
        return " ".join(str(value[name]) for name in ("amount", "currency") if value.get(name))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _range(one: Range, values: list[Any], field: Field, setting: Setting) -> Unreadable | None:
    kind = kind_of(field)
    if all(lies_in(value, one, kind, setting) for value in values):
        return None
    ends = bounds_shown(one.least, one.most, field, setting)
    text = "out_of_range" if len(ends) > 1 else "too_low" if "least" in ends else "too_high"
    return _worded(one, Unreadable(text, values=dict(ends)))


def _length(one: Length, value: Any) -> Unreadable | None:
    text = value if isinstance(value, (str, list)) else _as_text(value)
    values = {"least": one.least, "most": one.most}
    if len(text) < one.least:
        name = "too_few" if isinstance(value, list) else "too_short"
    elif one.most is not None and len(text) > one.most:
        name = "too_many_items" if isinstance(value, list) else "too_many_characters"
    else:
        return None
    return _worded(one, Unreadable(name, values=values))


async def _checked(
    one: Check, value: Any, context: Mapping[str, Any], seconds: float
) -> Unreadable | None:
    async with asyncio.timeout(seconds):
        with contained():
            said = await _asked(one.function, copied(value), copied(dict(context)))
    if said is None or said is True:
        return None
    if isinstance(said, str) and said.strip():
        return Unreadable(sentence=said)
    if isinstance(said, str) or not said:
        return _worded(one, Unreadable("refused_value"))
    return None


async def _asked(function: Callable[..., Any], value: Any, context: dict[str, Any]) -> Any:
    if inspect.iscoroutinefunction(function):
        return await function(value, context)
    said = await in_thread(
        "check",
        lambda given: function(given["value"], given["context"]),
        {"value": value, "context": context},
        _left_behind,
    )
    return await said if inspect.isawaitable(said) else said


def _left_behind(name: str) -> Callable[[], None]:
    report(logging.WARNING, "check_left_behind")
    return lambda: None


def _tell(field: Field, validator: Any, error: Exception) -> None:
    # The type alone: what an error says may hold the value.
    report(
        logging.WARNING,
        "check_failed",
        field=field.name,
        validator=type(validator).__name__,
        error=type(error).__name__,
    )
