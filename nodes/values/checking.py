"""Values as users read them, what they must be, and hints that tell users what a field takes."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

from journeys.notions.fields import Field
from journeys.notions.validators import Check, Length, Range, Regex
from nodes.authored import contained, in_thread
from nodes.json_data import copied
from nodes.telemetry.otel import report
from nodes.values.numbers import comma_is_decimal, digits_of
from nodes.values.scanning import LONGEST, Setting, Unreadable, vocabulary

_NOON = 12


def shown(field: Field, value: Any, setting: Setting) -> str:
    """Return a value as users read it; what is of another type than the field's, unchanged."""
    return _shown(field.type, value, setting, field.items)


def _shown(kind: str, value: Any, setting: Setting, items: str = "text") -> str:
    if value is None:
        return ""
    if kind == "list" and isinstance(value, list):
        return _listed([_shown(items, item, setting) for item in value], setting)
    show = _SHOWN.get(kind, _plain)
    try:
        return show(value, setting)
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError):
        return _plain(value, setting)


def _plain(value: Any, setting: Setting) -> str:
    if isinstance(value, bool):
        words = vocabulary(setting.language).show
        return str(words.yes if value else words.no)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_plain(item, setting)}" for key, item in value.items())
    if isinstance(value, list):
        return _listed([_plain(item, setting) for item in value], setting)
    return str(value)


def _listed(items: list[str], setting: Setting) -> str:
    if not items:
        return str(vocabulary(setting.language).show.none)
    if any("," in item for item in items):
        return "; ".join(items)
    *others, last = items
    joint = f" {vocabulary(setting.language).show.and_} "
    return joint.join([", ".join(others), last]) if others else last


def _date(value: Any, setting: Setting) -> str:
    """Return a day with its name: "Sunday, 22 November 2026"."""
    day, words = date.fromisoformat(value), vocabulary(setting.language).show
    weekday, month = words.weekdays.split()[day.weekday()], words.months.split()[day.month - 1]
    said = words.day.format(weekday=weekday, day=day.day, month=month, year=f"{day.year:04}")
    return str(said)


def _time(value: Any, setting: Setting) -> str:
    """Return a time of day: "7:00 pm", "19:00 Uhr"."""
    hour, words = time.fromisoformat(value), vocabulary(setting.language).show
    seconds = f":{hour.second:02}" if hour.second else ""
    if (setting.clock or words.clock) == "24h":
        return str(words.hour.format(hour=f"{hour.hour:02}:{hour.minute:02}{seconds}"))
    half = "am" if hour.hour < _NOON else "pm"
    return f"{hour.hour % _NOON or _NOON}:{hour.minute:02}{seconds} {half}"


def _datetime(value: Any, setting: Setting) -> str:
    moment = datetime.fromisoformat(value)
    day, hour = moment.date().isoformat(), moment.time().isoformat()
    return f"{_date(day, setting)}, {_time(hour, setting)}"


def _number(value: Any, setting: Setting) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return _plain(value, setting)
    plain = format(Decimal(repr(value)).normalize(), "f")
    return plain.replace(".", ",") if comma_is_decimal(setting) else plain


def _money(value: Any, setting: Setting) -> str:
    amount, currency = Decimal(value["amount"]), str(value["currency"])
    written = format(amount, ",f")
    if comma_is_decimal(setting):
        written = written.translate(str.maketrans(",.", ".,"))
    form = vocabulary(setting.language).show.money
    return str(form.format(amount=written, currency=currency)).strip()


def _full_name(value: Any, setting: Setting) -> str:
    return f"{value['given']} {value['family']}".strip()


def _phone(value: Any, setting: Setting) -> str:
    import phonenumbers  # noqa: PLC0415 - 60 ms

    try:
        number = phonenumbers.parse(value)
    except phonenumbers.NumberParseException:
        return _plain(value, setting)
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL)


_SHOWN: dict[str, Callable[[Any, Setting], str]] = {
    "date": _date,
    "time": _time,
    "datetime": _datetime,
    "number": _number,
    "money": _money,
    "phone": _phone,
    "full_name": _full_name,
}


_NUMBERS = ("4", "2", "10", "100", "1", "1000", "0")
_HOURS = ("19:00", "10:00", "14:30", "08:00", "12:00", "17:00", "21:00", "06:00", "00:00")
DATED = ("date", "time", "datetime")
"""Types of values that say when."""


def ranges_of(field: Field) -> list[Range]:
    """Return the ranges that a field's values must lie in."""
    return [one for one in field.validators if isinstance(one, Range)]


@lru_cache(maxsize=1_000)
def bound_of(bound: float | str | None, kind: str, now: datetime) -> Any:
    """Return one end of a range as what it is compared with.

    Args:
        bound: A number, ISO text, "today" or "now"; None for no bound.
        kind: Type of the field.
        now: When it is asked, where the user is; see `minute_of`.

    Raises:
        ValueError: It is nothing that values of the type are compared with.
    """
    if bound is None:
        return None
    if isinstance(bound, str) != (kind in DATED):
        raise ValueError(f"{bound!r} bounds no {kind}")
    if not isinstance(bound, str):
        return Decimal(str(bound))
    if kind == "time":
        return now.time() if bound in ("now", "today") else time.fromisoformat(bound)
    said = {"now": now, "today": now.date()}.get(bound) or _moment(bound)
    return said.date() if kind == "date" and isinstance(said, datetime) else said


def minute_of(setting: Setting) -> datetime:
    """Return the minute in which something is said, where the user is."""
    return setting.at.replace(tzinfo=None, second=0, microsecond=0)


def _moment(text: str) -> date | datetime:
    is_day = len(text) == len("2026-11-22")
    return date.fromisoformat(text) if is_day else datetime.fromisoformat(text)


def _measure(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError("Only numbers are compared with a range")
    return Decimal(str(value))


_MEASURES: dict[str, Callable[[Any], Any]] = {
    "integer": _measure,
    "number": _measure,
    "money": lambda value: Decimal(value["amount"]),
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "datetime": datetime.fromisoformat,
}


def lies_in(value: Any, one: Range, kind: str, now: datetime) -> bool:
    """Return whether a value lies in a range. One of times may go over midnight.

    Raises:
        ValueError, TypeError, KeyError: The two cannot be compared.
    """
    measure = _MEASURES[kind](value)
    least, most = bound_of(one.least, kind, now), bound_of(one.most, kind, now)
    # A moment counts as a day where only a day bounds it.
    day = measure.date() if isinstance(measure, datetime) else measure
    above = least is None or (measure if isinstance(least, datetime) else day) >= least
    below = most is None or (measure if isinstance(most, datetime) else day) <= most
    if kind == "time" and least is not None and most is not None and least > most:
        return bool(above or below)
    return bool(above and below)


def fits(value: Any, field: Field, setting: Setting) -> bool:
    """Return whether a value lies in all ranges of a field, as far as it can be compared."""
    kind, now = kind_of(field), minute_of(setting)
    try:
        for one in field.validators:
            if isinstance(one, Range) and not lies_in(value, one, kind, now):
                return False
    except (ValueError, TypeError, KeyError, ArithmeticError):
        pass
    return True


def kind_of(field: Field) -> str:
    """Return the type of single values of a field."""
    return field.items if field.type == "list" else field.type


def wants_past(field: Field, setting: Setting) -> bool:
    """Return whether a field takes no day after today."""
    now = minute_of(setting)
    for one in field.validators:
        try:
            most = bound_of(one.most, "datetime", now) if isinstance(one, Range) else None
        except ValueError:
            continue
        day = most.date() if isinstance(most, datetime) else most
        if day is not None and day <= now.date():
            return True
    return False


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
            # The type alone: what an error says may hold the value.
            said = {"validator": type(validator).__name__, "error": type(error).__name__}
            report(logging.WARNING, "check_failed", field=field.name, **said)
            refusal = Unreadable("refused_value")
        if refusal is None:
            continue
        own = getattr(validator, "message", "")
        return Unreadable("", own, refusal.values) if own and not refusal.sentence else refusal
    return None


async def _refusal(
    validator: Any,
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


def _regex(one: Regex, values: list[Any], field: Field, setting: Setting) -> Unreadable | None:
    for value in values:
        text = value if isinstance(value, str) else _as_text(value)
        matches = setting.patterns.fullmatch
        if len(text) > LONGEST or not matches(field.name, one.pattern, text):
            return Unreadable("not_matching")
    return None


def _as_text(value: Any) -> str:
    """Return what a pattern sees of a value that is no text: money as "40.00 EUR"."""
    if isinstance(value, dict):
        return " ".join(str(value[name]) for name in ("amount", "currency") if value.get(name))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _range(one: Range, values: list[Any], field: Field, setting: Setting) -> Unreadable | None:
    kind, now = kind_of(field), minute_of(setting)
    if all(lies_in(value, one, kind, now) for value in values):
        return None
    ends = bounds_shown(one.least, one.most, field, setting)
    text = "out_of_range" if len(ends) > 1 else "too_low" if "least" in ends else "too_high"
    return Unreadable(text, values=dict(ends))


def _length(one: Length, value: Any) -> Unreadable | None:
    text = value if isinstance(value, (str, list)) else _as_text(value)
    values = {"least": one.least, "most": one.most}
    if len(text) < one.least:
        name = "too_few" if isinstance(value, list) else "too_short"
    elif one.most is not None and len(text) > one.most:
        name = "too_many_items" if isinstance(value, list) else "too_many_characters"
    else:
        return None
    return Unreadable(name, values=values)


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
        return Unreadable("refused_value")
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


def hint_of(field: Field, setting: Setting) -> str:
    """Return what is taken, for the text `hint`: "1 to 20, for example 4".

    It is empty where only the author knows: of text that a pattern or a function checks.
    """
    words: dict[str, str] = vars(vocabulary(setting.language).hints)
    if field.type == "enum":
        return ", ".join(field.ways)
    if field.type == "text" and field.validators:
        return ""
    if field.type in ("boolean", "text"):
        return words[field.type]
    if field.type == "list":
        return words["list"] if not field.choices else ", ".join(field.ways)
    example = _example(field, setting, words)
    parts = [_range_of(field, setting, words)]
    if example:
        parts.append(words["example"].format(example=example))
    return ", ".join(part for part in parts if part)


def bounds_shown(least: Any, most: Any, field: Field, setting: Setting) -> dict[str, str]:
    """Return both ends of a range as users read them; an open one is omitted.

    Raises:
        ValueError: One of them bounds no values of the type.
    """
    named = {"least": least, "most": most}
    return {
        name: _bound(bound, field, setting) for name, bound in named.items() if bound is not None
    }


def _bound(bound: Any, field: Field, setting: Setting) -> str:
    kind = kind_of(field)
    measure = bound_of(bound, kind, minute_of(setting))
    if kind == "money":
        currency = field.currency.upper()
        # At least the decimals that amounts of the currency have.
        exponent = min(-digits_of(currency), int(measure.as_tuple().exponent))
        amount = measure.quantize(Decimal(1).scaleb(exponent))
        return _shown("money", {"amount": str(amount), "currency": currency}, setting)
    if kind in ("integer", "number"):
        return _shown(kind, float(measure) if measure % 1 else int(measure), setting)
    if kind == "datetime" and not hasattr(measure, "hour"):
        return _shown("date", measure.isoformat(), setting)
    return _shown(kind, measure.isoformat(), setting)


def _range_of(field: Field, setting: Setting, words: Mapping[str, str]) -> str:
    for one in ranges_of(field):
        try:
            ends = bounds_shown(one.least, one.most, field, setting)
        except ValueError:
            continue
        dated = field.type in DATED
        if len(ends) > 1:
            return words["both"].format(**ends)
        way = ("from_" if dated else "least") if "least" in ends else ("until" if dated else "most")
        return words[way].format(**ends)
    return ""


def _example(field: Field, setting: Setting, words: Mapping[str, str]) -> str:
    if field.type in ("name", "full_name", "address"):
        return words["name" if field.type == "full_name" else field.type]
    if field.type == "email":
        return "maria@example.com"
    if field.type == "phone":
        return _example_number(setting)
    for value in _candidates(field, setting):
        if fits(value, field, setting):
            return shown(field, value, setting)
    return ""


def _candidates(field: Field, setting: Setting) -> list[Any]:
    if field.type == "integer":
        return [int(number) for number in (*_NUMBERS, *_ends(field))]
    if field.type == "number":
        return [float(number) for number in (*_NUMBERS, *_ends(field))]
    if field.type == "money":
        amounts = ("40.00", "10.00", "100.00", "1000.00", "5.00", *_ends(field))
        return [{"amount": amount, "currency": field.currency.upper()} for amount in amounts]
    if field.type == "time":
        return list(_HOURS)
    today = setting.at.date()
    days = [(today + timedelta(days=days)).isoformat() for days in (1, 7, -30, -10_000, 0)]
    return days if field.type == "date" else [f"{day}T{hour}" for day in days for hour in _HOURS]


def _ends(field: Field) -> list[str]:
    ends = [end for one in ranges_of(field) for end in (one.least, one.most)]
    return [
        str(Decimal(str(end)).to_integral_value()) for end in ends if isinstance(end, (int, float))
    ]


def _example_number(setting: Setting) -> str:
    import phonenumbers  # noqa: PLC0415 - 60 ms

    number = phonenumbers.example_number(setting.region)
    if number is None:
        return "+1 415-555-2671"
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
