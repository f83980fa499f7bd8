"""Time, place and habits by which a message is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from journeys.phrases.regexes import MatchBudget


@dataclass(frozen=True, slots=True)
class Setting:
    """When and where a user speaks.

    Attributes:
        at: The moment, in the time zone of the journey.
        region: ISO 3166 country by whose habits ambiguous dates, numbers and phones are read.
        language: Language of the runtime's texts, two letters.
        first_day: First day of the week, "monday" to "sunday"; empty: as in the region.
        date_order: "dmy" or "mdy"; empty: as in the region.
        decimal_sign: "." or ","; empty: as in the region.
        clock: "12h" or "24h", of times that are shown; empty: as usual in the language.
        patterns: Matches the patterns of authors in what is said there and then.
    """

    at: datetime
    region: str = "US"
    language: str = "en"
    first_day: str = ""
    date_order: str = ""
    decimal_sign: str = ""
    clock: str = ""
    patterns: MatchBudget = field(default_factory=MatchBudget, compare=False, repr=False)


@dataclass(slots=True, eq=False)
class Unreadable(Exception):
    """What was said is no value of its type, or not one that is taken.

    Attributes:
        text: Name of the catalogue's text that says why; empty: `sentence` says it.
        sentence: What the user is told, in the author's words.
        values: What stands for the placeholders of the text.
    """

    text: str = ""
    sentence: str = ""
    values: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text or self.sentence
