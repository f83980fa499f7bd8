"""What a model says of a patient's wishes: its form, and how it is brought into the desk's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from typing_extensions import TypedDict

from journeys.examples.healthcare_referral.hearing import PARTS, clock, plain
from journeys.examples.healthcare_referral.material import WEEK, languages, places
from journeys.examples.healthcare_referral.naming import language_named, place_named
from journeys.examples.healthcare_referral.preferences import Preferences

Day = Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
Part = Literal["morning", "afternoon", "evening"]
Gender = Literal["female", "male"]


class Wishes(TypedDict, total=False):
    """What the patient prefers; leave out what does not matter to them. Times are HH:MM."""

    days: list[Day] | None
    not_days: list[Day] | None
    part: Part | None
    not_parts: list[Part] | None
    after: str | None
    before: str | None
    language: str | None
    gender: Gender | None
    place: str | None
    soonest: bool | None


def read_wishes(given: Mapping[str, Any]) -> Preferences:
    """Return the wishes as the booking desk keeps them, without those that are empty.

    Raises:
        ValueError: A wish is not known, or not of its form; the text says what is.
    """
    unknown = given.keys() - _READERS.keys()
    if unknown:
        raise ValueError(f"there is no wish {min(unknown)!r}; known are {', '.join(_READERS)}")
    read = {name: _READERS[name](value) for name, value in given.items() if value}
    return {name: value for name, value in read.items() if value}


def _place(value: object) -> str:
    return _known(place_named(plain(value)), value, "district", tuple(places()))


def _language(value: object) -> str:
    return _known(language_named(plain(value)), value, "language", languages())


def _known(found: str, said: object, kind: str, known: tuple[str, ...]) -> str:
    if not found:
        raise ValueError(f"{said!r} is no {kind} here; known are {', '.join(known)}")
    return found


def _one_of(*known: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        return _known(str(value) if value in known else "", value, "choice here", known)

    return read


def _several(*known: str) -> Callable[[object], list[str]]:
    one = _one_of(*known)

    def read(value: object) -> list[str]:
        return [one(item) for item in (value if isinstance(value, (list, tuple)) else [value])]

    return read


def _time(value: object) -> str:
    time = clock(plain(value))
    if time is None:
        raise ValueError(f"{value!r} is no time of day; write it as 14:00")
    return time


_READERS: Mapping[str, Callable[[object], Any]] = {
    "days": _several(*WEEK),
    "not_days": _several(*WEEK),
    "part": _one_of(*PARTS),
    "not_parts": _several(*PARTS),
    "after": _time,
    "before": _time,
    "language": _language,
    "gender": _one_of("female", "male"),
    "place": _place,
    "soonest": bool,
}
