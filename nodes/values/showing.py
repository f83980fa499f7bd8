"""Values as users read them, and what a field takes, in the language of the runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from journeys.fields import Field
from nodes.values.bounds import DATED, bound_of, fits, kind_of, ranges_of
from nodes.values.languages import vocabulary
from nodes.values.money import digits_of
from nodes.values.numbers import comma_is_decimal
from nodes.values.setting import Setting

_NOON = 12
_NUMBERS = ("4", "2", "10", "100", "1", "1000", "0")
_HOURS = ("19:00", "10:00", "14:30", "08:00", "12:00", "17:00", "21:00", "06:00", "00:00")


def shown(field: Field, value: Any, setting: Setting) -> str:
    """Return a value as users read it; what is of another type than the field's, as it stands."""
    return _shown(field.type, field.items, value, setting)


def _shown(kind: str, items: str, value: Any, setting: Setting) -> str:
    if value is None:
        return ""
    if kind == "list" and isinstance(value, list):
        return _listed([_shown(items, "text", item, setting) for item in value], setting)
    show = _SHOWN.get(kind, _plain)
    try:
        return show(value, setting)
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError):
        return _plain(value, setting)


def _plain(value: Any, setting: Setting) -> str:
    if isinstance(value, bool):
        return _boolean(value, setting)
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


def _boolean(value: Any, setting: Setting) -> str:
    if not isinstance(value, bool):
        return str(value)
    words = vocabulary(setting.language).show
    return str(words.yes if value else words.no)


def _date(value: Any, setting: Setting) -> str:
    return day_shown(date.fromisoformat(value), setting)


def day_shown(day: date, setting: Setting) -> str:
    """Return a day with its name: "Sunday, 22 November 2026"."""
    words = vocabulary(setting.language).show
    weekday, month = words.weekdays.split()[day.weekday()], words.months.split()[day.month - 1]
    said = words.day.format(weekday=weekday, day=day.day, month=month, year=f"{day.year:04}")
    return str(said)


def _time(value: Any, setting: Setting) -> str:
    return hour_shown(time.fromisoformat(value), setting)


def hour_shown(hour: time, setting: Setting) -> str:
    """Return a time of day: "7:00 pm", "19:00 Uhr"."""
    seconds = f":{hour.second:02}" if hour.second else ""
    words = vocabulary(setting.language).show
    if (setting.clock or words.clock) == "24h":
        return str(words.hour.format(hour=f"{hour.hour:02}:{hour.minute:02}{seconds}"))
    half = "am" if hour.hour < _NOON else "pm"
    return f"{hour.hour % _NOON or _NOON}:{hour.minute:02}{seconds} {half}"


def _datetime(value: Any, setting: Setting) -> str:
    moment = datetime.fromisoformat(value)
    return f"{day_shown(moment.date(), setting)}, {hour_shown(moment.time(), setting)}"


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

    number = phonenumbers.parse(value)
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL)


def _phone_or_plain(value: Any, setting: Setting) -> str:
    import phonenumbers  # noqa: PLC0415 - 60 ms

    try:
        return _phone(value, setting)
    except phonenumbers.NumberParseException:
        return _plain(value, setting)


_SHOWN: dict[str, Callable[[Any, Setting], str]] = {
    "boolean": _boolean,
    "date": _date,
    "time": _time,
    "datetime": _datetime,
    "number": _number,
    "money": _money,
    "phone": _phone_or_plain,
    "full_name": _full_name,
}


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
    """Return both ends of a range as users read them; an open one is left out.

    Raises:
        ValueError: One of them bounds no values of the type.
    """
    named = {"least": least, "most": most}
    return {
        name: _bound(bound, field, setting) for name, bound in named.items() if bound is not None
    }


def _bound(bound: Any, field: Field, setting: Setting) -> str:
    kind = kind_of(field)
    measure = bound_of(bound, kind, setting)
    if kind == "money":
        currency = field.currency.upper()
        # At least the decimals that amounts of the currency have.
        exponent = min(-digits_of(currency), int(measure.as_tuple().exponent))
        amount = measure.quantize(Decimal(1).scaleb(exponent))
        return _single("money", {"amount": str(amount), "currency": currency}, setting)
    if kind in ("integer", "number"):
        return _single(kind, float(measure) if measure % 1 else int(measure), setting)
    if kind == "datetime" and not hasattr(measure, "hour"):
        return _single("date", measure.isoformat(), setting)
    return _single(kind, measure.isoformat(), setting)


def _single(kind: str, value: Any, setting: Setting) -> str:
    return shown(Field("value", kind), value, setting)


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
