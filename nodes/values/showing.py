"""Values as users read them, in the language of the runtime."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from journeys.notions.fields import Field
from nodes.values.languages import vocabulary
from nodes.values.numbers import comma_is_decimal
from nodes.values.setting import Setting

_NOON = 12


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
