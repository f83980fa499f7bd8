"""What a field takes, in a few words: its range and an example."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from journeys.fields import Field
from nodes.values.bounds import bound_of, fits, kind_of, ranges_of
from nodes.values.currencies import digits_of
from nodes.values.setting import Setting
from nodes.values.showing import shown

_WORDS = {
    "en": {
        "both": "{least} to {most}",
        "least": "{least} or more",
        "most": "{most} or less",
        "from": "from {least} on",
        "until": "until {most}",
        "example": "for example {example}",
        "boolean": "yes or no",
        "text": "a few words",
        "list": "one or more, with commas between them",
        "name": "Maria Jansen",
        "address": "12 Baker Street, London",
    },
    "de": {
        "both": "{least} bis {most}",
        "least": "{least} oder mehr",
        "most": "{most} oder weniger",
        "from": "ab {least}",
        "until": "bis {most}",
        "example": "zum Beispiel {example}",
        "boolean": "ja oder nein",
        "text": "ein paar Worte",
        "list": "eines oder mehrere, mit Kommas dazwischen",
        "name": "Maria Jansen",
        "address": "Hauptstraße 5, 10115 Berlin",
    },
}
_NUMBERS = ("4", "2", "10", "100", "1", "1000", "0")
_HOURS = ("19:00", "10:00", "14:30", "08:00", "12:00", "17:00", "21:00", "06:00", "00:00")


def hint_of(field: Field, setting: Setting) -> str:
    """Return what is taken, for the text `hint`: "1 to 20, for example 4".

    It is empty where only the author knows: of text that a pattern or a function checks.
    """
    words = _WORDS.get(setting.language, _WORDS["en"])
    if field.type == "enum":
        return ", ".join(field.ways)
    if field.type == "text" and field.validators:
        return ""
    if field.type in ("boolean", "text"):
        return words[field.type]
    if field.type == "list":
        return words["list"] if not field.choices else ", ".join(field.ways)
    example = _example(field, setting, words)
    parts = [_range(field, setting, words)]
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


def _range(field: Field, setting: Setting, words: dict[str, str]) -> str:
    for one in ranges_of(field):
        try:
            ends = bounds_shown(one.least, one.most, field, setting)
        except ValueError:
            continue
        dated = field.type in ("date", "time", "datetime")
        if len(ends) > 1:
            return words["both"].format(**ends)
        way = ("from" if dated else "least") if "least" in ends else ("until" if dated else "most")
        return words[way].format(**ends)
    return ""


def _example(field: Field, setting: Setting, words: dict[str, str]) -> str:
    if field.type in ("name", "address"):
        return words[field.type]
    if field.type == "email":
        return "maria@example.com"
    if field.type == "phone":
        return _number(setting)
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


def _number(setting: Setting) -> str:
    import phonenumbers  # noqa: PLC0415 - 60 ms

    number = phonenumbers.example_number(setting.region)
    if number is None:
        return "+1 415-555-2671"
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
