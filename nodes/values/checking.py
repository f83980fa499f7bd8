"""Values as users read them, what they must be, and hints that tell users what a field takes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

from journeygraph.journeys.declarations.fields import Check, Field, Length, Range, Regex
from journeygraph.nodes.authored import called
from journeygraph.nodes.json_data import copied
from journeygraph.nodes.telemetry import part_raised, report
from journeygraph.nodes.values.languages import everywhere
from journeygraph.nodes.values.numbers import digits_of
from journeygraph.nodes.values.people import full_name_shown
from journeygraph.nodes.values.setting import LONGEST, Setting, Unreadable

_NOON = 12
_PHONE = "+14155552671"


def shown(field: Field, value: Any, setting: Setting) -> str:
    """Return a value as users read it; what is of another type than the field's, unchanged."""
    return _shown(field.type, value, setting, field.items)


def _shown(kind: str, value: Any, setting: Setting, items: str = "text") -> str:
    if isinstance(value, list):
        return _listed([_shown(items, item, setting) for item in value], setting)
    with suppress(Exception):  # data of another type is shown as it is
        if kind in _SHOWN:
            return _SHOWN[kind](value, setting)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {item}" for key, item in value.items())
    if isinstance(value, bool):
        return setting.words.show.yes if value else setting.words.show.no
    return "" if value is None else str(value)


def _listed(items: list[str], setting: Setting) -> str:
    *others, last = items or [setting.words.show.none]
    if any("," in item for item in items):
        return "; ".join(items)
    return f" {setting.words.show.joint} ".join([", ".join(others), last] if others else [last])


def _date(value: Any, setting: Setting) -> str:
    day, words = date.fromisoformat(value), setting.words.show
    weekday, month = words.weekdays[day.weekday()], words.months[day.month - 1]
    return words.day.format(weekday=weekday, day=day.day, month=month, year=f"{day.year:04}")


def _time(value: Any, setting: Setting) -> str:
    hour, words = time.fromisoformat(value), setting.words.show
    rest = f":{hour.minute:02}" + (f":{hour.second:02}" if hour.second else "")
    if (setting.clock or words.clock) == "24h":
        return words.hour.format(hour=f"{hour.hour:02}{rest}")
    return f"{hour.hour % _NOON or _NOON}{rest} {'am' if hour.hour < _NOON else 'pm'}"


def _datetime(value: Any, setting: Setting) -> str:
    day, hour = datetime.fromisoformat(value).isoformat().split("T")
    return f"{_date(day, setting)}, {_time(hour, setting)}"


def _number(value: Any, setting: Setting) -> str:
    plain = format(Decimal(str(value)).normalize(), "f")
    return plain.replace(".", ",") if setting.comma_is_decimal else plain


def _money(value: Any, setting: Setting) -> str:
    amount, currency = format(Decimal(value["amount"]), ",f"), str(value["currency"])
    if setting.comma_is_decimal:
        amount = amount.translate(str.maketrans(",.", ".,"))
    return setting.words.show.money.format(amount=amount, currency=currency).strip()


def _phone(value: Any, setting: Setting) -> str:
    import phonenumbers  # noqa: PLC0415 - 60 ms

    form = phonenumbers.PhoneNumberFormat.INTERNATIONAL
    return phonenumbers.format_number(phonenumbers.parse(value), form)


_SHOWN: dict[str, Callable[[Any, Setting], str]]
_SHOWN = {"date": _date, "time": _time, "datetime": _datetime, "number": _number, "money": _money}
_SHOWN |= {"phone": _phone, "full_name": full_name_shown}


@lru_cache(maxsize=1_000)
def _bound(bound: float | str, kind: str, now: datetime) -> Any:
    if not isinstance(bound, str):
        return Decimal(str(bound))
    if kind == "time":
        return now.time() if bound in ("now", "today") else time.fromisoformat(bound)
    moment = now if bound in ("now", "today") else datetime.fromisoformat(bound)
    is_day = kind == "date" or bound == "today" or len(bound) == len("2026-11-22")
    return moment.date() if is_day else moment


_ISO = {"date": date.fromisoformat, "time": time.fromisoformat, "datetime": datetime.fromisoformat}


def _measure(value: Any, kind: str) -> Any:
    """Return a value as it is compared with the ends of a range."""
    if kind in _ISO:
        return _ISO[kind](value)
    return Decimal(value["amount"]) if kind == "money" else Decimal(str(value))


def _lies_in(value: Any, one: Range, kind: str, now: datetime) -> bool:
    measure = _measure(value, kind)
    least = None if one.least is None else _bound(one.least, kind, now)
    most = None if one.most is None else _bound(one.most, kind, now)
    # A moment counts as a day where only a day bounds it.
    day = measure.date() if isinstance(measure, datetime) else measure
    above = least is None or (measure if isinstance(least, datetime) else day) >= least
    below = most is None or (measure if isinstance(most, datetime) else day) <= most
    if kind == "time" and least is not None and most is not None and least > most:
        return bool(above or below)
    return bool(above and below)


def fits(value: Any, field: Field, setting: Setting) -> bool:
    """Return whether a value lies in all ranges of a field, as far as it can be compared."""
    kind, now = kind_of(field), setting.minute
    with suppress(ValueError, TypeError, KeyError, ArithmeticError):
        return not [1 for one in _ranges(field) if not _lies_in(value, one, kind, now)]
    return True


def kind_of(field: Field) -> str:
    """Return the type of single values of a field."""
    return field.items if field.type == "list" else field.type


def _ranges(field: Field) -> list[Range]:
    return [one for one in field.validators if isinstance(one, Range)]


def wants_past(field: Field, setting: Setting) -> bool:
    """Return whether a field takes no day after today."""
    if field.type not in ("date", "datetime") or not field.validators:
        return False
    bounds = [_bound(one.most, "date", setting.minute) for one in _ranges(field) if one.most]
    return bool(bounds) and min(bounds) <= setting.minute.date()


async def refusal_of(
    field: Field, value: Any, context: Mapping[str, Any], setting: Setting, *, seconds: float
) -> Unreadable | None:
    """Return why a value is not taken; None if it is.

    A validator that raises, is late, or is about values of another type refuses, and is reported.
    Each has the time limit (`seconds`); a check gets a copy of the context.
    """
    for validator in field.validators:
        try:
            if isinstance(validator, Check):
                refusal = await _checked(validator, value, context, seconds)
            else:
                refusal = _REFUSALS[type(validator)](validator, value, field, setting)
        except Exception as error:
            # The type alone: what an error says may hold the value.
            said = {"validator": type(validator).__name__, "error": type(error).__name__}
            report(logging.WARNING, "check_failed", field=field.name, **said)
            part_raised("validator", field.name, error)
            refusal = Unreadable("refused_value")
        if refusal is None:
            continue
        own = getattr(validator, "message", "")
        return Unreadable("", own, refusal.values) if own and not refusal.sentence else refusal
    return None


def _regex(one: Regex, value: Any, field: Field, setting: Setting) -> Unreadable | None:
    for each in value if isinstance(value, list) else [value]:
        text = _as_text(each)
        if len(text) > LONGEST or not setting.patterns.fullmatch(field.name, one.pattern, text):
            return Unreadable("not_matching")
    return None


def _as_text(value: Any) -> str:
    """Return what a pattern sees of a value: of money "40.00 EUR"."""
    if isinstance(value, dict):
        return " ".join(str(value[name]) for name in ("amount", "currency") if value.get(name))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _range(one: Range, value: Any, field: Field, setting: Setting) -> Unreadable | None:
    values = value if isinstance(value, list) else [value]
    if not [1 for v in values if not _lies_in(v, one, kind_of(field), setting.minute)]:
        return None
    ends = _bounds_shown(one, field, setting)
    text = "out_of_range" if len(ends) > 1 else "too_low" if "least" in ends else "too_high"
    return Unreadable(text, values=dict(ends))


def _length(one: Length, value: Any, field: Field, setting: Setting) -> Unreadable | None:
    is_list = isinstance(value, list)
    size = len(value if is_list else _as_text(value))
    texts = ("too_few", "too_many_items") if is_list else ("too_short", "too_many_characters")
    if one.least <= size and (one.most is None or size <= one.most):
        return None
    return Unreadable(texts[size >= one.least], values={"least": one.least, "most": one.most})


_REFUSALS: dict[type, Callable[..., Unreadable | None]]
_REFUSALS = {Length: _length, Range: _range, Regex: _regex}


async def _checked(
    one: Check, value: Any, context: Mapping[str, Any], seconds: float
) -> Unreadable | None:
    async with asyncio.timeout(seconds):
        said = await called("check", one.function, copied(value), copied(dict(context)))
    if isinstance(said, str) and said.strip():
        return Unreadable(sentence=said)
    taken = said is None or (said and not isinstance(said, str))
    return None if taken else Unreadable("refused_value")


def hint_of(field: Field, setting: Setting) -> str:
    """Return what is taken, for the text `hint`: "1 to 20, for example 4".

    It is empty where only the author knows: of text that a pattern or a function checks.
    """
    words = setting.words.hints
    if field.type == "enum":
        return ", ".join(field.ways)
    if field.type in _OF_ANY_WORDS:
        return "" if field.type == "text" and field.validators else words[field.type]
    example = example_of(field, setting)
    parts = [_range_of(field, setting), example and words["example"].format(example=example)]
    return ", ".join(filter(None, parts))


_OF_ANY_WORDS = ("boolean", "list", "text")


def example_of(field: Field, setting: Setting) -> str:
    """Return a value that is taken, as users read it; empty where only the author knows one."""
    words = setting.words.hints
    if field.type in ("enum", *_OF_ANY_WORDS):
        return ""
    if field.type in words:
        return words[field.type]
    candidates = _candidates(field, setting)
    return shown(field, next((c for c in candidates if fits(c, field, setting)), None), setting)


def _range_of(field: Field, setting: Setting) -> str:
    ends = _bounds_shown(_ranges(field)[0], field, setting) if _ranges(field) else {}
    least, most = ("earliest", "latest") if field.type in _ISO else ("least", "most")
    way = "both" if len(ends) > 1 else least if "least" in ends else most
    return setting.words.hints[way].format(**ends) if ends else ""


def _bounds_shown(one: Range, field: Field, setting: Setting) -> dict[str, str]:
    ends = {"least": one.least, "most": one.most}.items()
    return {name: _bound_shown(end, field, setting) for name, end in ends if end is not None}


def _bound_shown(bound: float | str, field: Field, setting: Setting) -> str:
    kind = kind_of(field)
    measure = _bound(bound, kind, setting.minute)
    if kind in _ISO:
        of_day = kind == "datetime" and not isinstance(measure, datetime)
        return _shown("date" if of_day else kind, measure.isoformat(), setting)
    if kind != "money":
        return _number(measure, setting)
    # At least the decimals that amounts of the currency have.
    digits = max(digits_of(field.currency.upper()), -int(measure.as_tuple().exponent))
    amount = {"amount": f"{measure:.{digits}f}", "currency": field.currency.upper()}
    return _shown(kind, amount, setting)


def _candidates(field: Field, setting: Setting) -> list[Any]:
    known, kind = everywhere()["examples"], field.type
    if kind == "phone":
        import phonenumbers  # noqa: PLC0415 - 60 ms

        number = phonenumbers.example_number(setting.region) or phonenumbers.parse(_PHONE)
        return [phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)]
    if kind == "money":
        currency = field.currency.upper()
        return [{"amount": amount, "currency": currency} for amount in known["money"]]
    days = [str(setting.at.date() + timedelta(days=away)) for away in known["days"]]
    moments = [f"{day}T{hour}" for day in days for hour in known["time"]]
    dated = {"date": days, "time": known["time"], "datetime": moments}
    return dated[kind] if kind in dated else known["number"]  # type: ignore[no-any-return]
