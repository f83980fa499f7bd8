"""Time and place of a message, and the habits of its region; why a text is no value."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any

from journeygraph.journeys.declarations.fields import Field
from journeygraph.journeys.locale import FIRST_DAYS
from journeygraph.journeys.phrases import MatchBudget
from journeygraph.nodes.values.languages import Language, everywhere, folded, language_data

LONGEST = 4096
"""Most characters of a text that is read for a value."""


@dataclass(frozen=True)
class Setting:
    """Time and locale of a message.

    Attributes:
        at: The moment, in the time zone of the journey.
        region: ISO 3166 country by whose habits ambiguous dates, numbers and phones are read.
        language: Language of the runtime's texts, two letters.
        first_day: First day of the week, "monday" to "sunday"; empty: as in the region.
        date_order: "dmy" or "mdy"; empty: as in the region.
        decimal_sign: "." or ","; empty: as in the region.
        clock: "12h" or "24h", of times that are shown; empty: as usual in the language.
        patterns: Matches the patterns of authors in messages.
    """

    at: datetime
    region: str = "US"
    language: str = "en"
    first_day: str = ""
    date_order: str = ""
    decimal_sign: str = ""
    clock: str = ""
    patterns: MatchBudget = field(default_factory=MatchBudget, compare=False, repr=False)

    @cached_property
    def words(self) -> Language:
        """The words of the language."""
        return language_data(self.language)

    @cached_property
    def minute(self) -> datetime:
        """The minute of the message, at the place of the user."""
        return self.at.replace(tzinfo=None, second=0, microsecond=0)

    @cached_property
    def comma_is_decimal(self) -> bool:
        """True where the comma parts the decimals."""
        return self.decimal_sign == "," if self.decimal_sign else self._has("comma_is_decimal")

    @cached_property
    def month_is_first(self) -> bool:
        """True if the month is before the day in digits."""
        return self.date_order == "mdy" if self.date_order else self._has("month_is_first")

    @cached_property
    def week_begins(self) -> int:
        """The number of the day that a week begins with; Monday is 0."""
        if self.first_day:
            return FIRST_DAYS.index(self.first_day)
        return 5 if self._has("week_from_saturday") else 6 if self._has("week_from_sunday") else 0

    def _has(self, habit: str) -> bool:
        return self.region in everywhere()["regions"][habit].split()


@dataclass(slots=True, eq=False)
class Unreadable(Exception):
    """A text is not a valid value of its type or field.

    Attributes:
        text: Name of the catalogue's text that says why; empty: `sentence` says it.
        sentence: The text for the user, in the author's words.
        values: The values of the placeholders of the text.
    """

    text: str = ""
    sentence: str = ""
    values: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text or self.sentence


def units_of(field: Field, setting: Setting) -> frozenset[str]:
    """Return the words that may follow a number: those of the field's question, and their like."""
    return _units_in(f"{field.name} {field.label} {field.ask}", setting.language)


@lru_cache(maxsize=1_000)  # each run of words in a message is compared with them
def _units_in(asked: str, language: str) -> frozenset[str]:
    words = language_data(language)
    said = frozenset(re.findall(r"[^\W_]+", folded(asked)))
    forms = said.union([word[:-1] if word.endswith("s") else f"{word}s" for word in said])
    alike = [group for group in words.numbers.alike if not forms.isdisjoint(group)]
    return forms.union(*alike).difference(words.relation)
