"""The words of a language, read from its one file in `data/`; text as it is compared with them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from journeygraph.journeys.languages.data import read_as, read_data
from journeygraph.journeys.locale import LANGUAGES
from journeygraph.journeys.phrases import plain

DATA = Path(__file__).with_name("data")
_QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u2010": "-", "\u2011": "-"})
_AROUND = "\"'\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a "
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def folded(text: str) -> str:
    """Return a text in small letters, with single blanks and one spelling of its characters."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold()
    return " ".join(text.lower().split())


def bare(text: str) -> str:
    """Return a text without the quotes and the punctuation around it."""
    return text.strip().lstrip(f"{_AROUND}\u00a1\u00bf").rstrip(f"{_AROUND}.,;:!?\u2026")


def words_in(text: str) -> list[str]:
    """Return the words of a text, folded."""
    return _WORD.findall(folded(text))


def one_of(phrases: Iterable[str]) -> str:
    """Return a pattern of phrases, the longest first; one without phrases matches nothing."""
    known = sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
    return f"(?:{'|'.join(map(re.escape, known))})" if known else "(?!)"


def _phrases(given: Any) -> Any:
    """Return phrases that commas part, each also without its marks."""
    if not isinstance(given, str):
        return given
    said = [folded(each) for each in given.split(",")]
    if not all(said):
        raise ValueError("an item is empty; remove the extra comma.")
    return tuple(dict.fromkeys(one for each in said for one in (each, plain(each))))


def _meanings(given: Any) -> Any:
    """Return the meaning of each phrase of a mapping of meanings to phrases."""
    if not isinstance(given, Mapping):
        return given
    return {one: meaning for meaning, said in given.items() for one in _phrases(said)}


_LISTS = (
    *("courtesy", "yes", "agree", "no", "decline", "cancel", "cancel_all", "cancel_task", "skip"),
    *("unknown", "restart", "back", "status", "repeat", "explain", "explain_label", "human"),
    *("person", "wait", "cue", "cue_behind", "change", "to", "is", "not", "but", "instead_of"),
    *("articles", "and", "or", "then", "question", "denied_before", "denied_behind", "small"),
)
"""Names of the lists of phrases by which messages are read; each language has all of them."""


def _lists(given: Any) -> Any:
    """Refuse a list that is missing or not known."""
    names = set(given) if isinstance(given, Mapping) else set()
    if names != set(_LISTS):
        missing, more = sorted(set(_LISTS) - names), sorted(names - set(_LISTS))
        raise ValueError(f"missing: {missing}, not known: {more}. Take the names of English.")
    return given


Phrases = Annotated[tuple[str, ...], BeforeValidator(_phrases)]
Numbered = Annotated[dict[str, int], BeforeValidator(_meanings)]
Named = Annotated[dict[str, str], BeforeValidator(_meanings)]


class _Section(BaseModel):
    """A part of the file of a language."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Numbers(_Section):
    """Words of numbers besides the numerals.

    Attributes:
        words: Number -> numerals that the library of numerals does not know.
        articles: Count one before a unit: "in a week".
        minus: Before a number.
        percent: Behind it.
        none: Say that nothing is counted.
        alike: Words for the same unit, each group on a line.
        leads: Before the number of an option: "number two".
        ordinals: The first ten places, in order.
        last: The last place.
        behind: Behind a place: "the second one".
    """

    words: Numbered = {}
    articles: Phrases = ()
    minus: Phrases
    percent: Phrases
    none: Phrases
    alike: list[Phrases] = []
    leads: Phrases
    ordinals: Annotated[list[Phrases], Field(min_length=10, max_length=10)]
    last: Phrases
    behind: Phrases = ()


class Dates(_Section):
    """Words of days; the names of months and days come from the library of formats.

    Attributes:
        months: Further names, in the order of the months.
        weekdays: Further names, from Monday on.
        leads: Before a day.
        of: Between a day, its month and its year.
        endings: Behind the digits of a day: "3rd".
        near: Days from today -> words.
        which: "this", "next" or "last" -> words before the name of a day.
        behind: The same behind it.
        next_week: Before or behind the name of a day.
        units: "days", "weeks", "months", "years", "hours" or "minutes" -> words.
        ahead: 1 or -1 -> words before a distance: "in".
        later: 1 or -1 -> words behind it: "ago".
        feasts: "MM-DD" -> names.
    """

    months: list[Phrases] = []
    weekdays: list[Phrases] = []
    leads: Phrases
    of: Phrases = ()
    endings: Phrases = ()
    near: Numbered
    which: Named
    behind: Named = {}
    next_week: Phrases
    units: Named
    ahead: Numbered
    later: Numbered = {}
    feasts: Named = {}


class Times(_Section):
    """Words of times of day.

    Attributes:
        leads: Before a time.
        clock: Behind an hour.
        forms: Minutes from the hour -> forms with H for the hour and C for the clock; with M for
            minutes, these are added or taken off: "-M" -> "M to H".
        minutes: Number -> words besides the numerals: a quarter.
        names: 0 or 12 -> names of midnight and noon.
        parts: "morning", "noon", "evening", "night" or "meal" -> words for that part of the day.
        leads_of_parts: Before them.
        now: This moment.
    """

    leads: Phrases
    clock: Phrases
    forms: Annotated[dict[str, str], BeforeValidator(_meanings)]
    minutes: Numbered = {}
    names: Numbered
    parts: Named
    leads_of_parts: Phrases = ()
    now: Phrases = ()


class Names(_Section):
    """Words of names and addresses.

    Attributes:
        leads: Bring in a name: "my name is".
        maybe: May bring in something else: a name in capitals counts alone.
        particles: Small words inside names.
        also: Words of the language that are names where they are written so.
        two_families: Whether people have two family names.
        second: Given names behind another.
        address: Bring in an address.
    """

    leads: Phrases
    maybe: Phrases
    particles: Phrases
    also: Phrases = ()
    two_families: bool = False
    second: Phrases = ()
    address: Phrases


class Contacts(_Section):
    """Words of telephone numbers."""

    extension: Phrases = ()


class Show(_Section):
    """Forms of values for users.

    Attributes:
        day: Form of a day, as the library of formats has it.
        clock: "12h" or "24h".
        hour: A time of 24 hours.
        money: With {amount} and {currency}.
        yes: True, as it is shown.
        no: False.
        none: An empty list.
        joint: Before the last item of a list.
    """

    day: str
    clock: Annotated[str, Field(pattern="^(12h|24h)$")]
    hour: str
    money: str
    yes: str
    no: str
    none: str
    joint: str


class Hints(_Section):
    """Texts that tell users what a field takes."""

    both: str
    least: str
    most: str
    earliest: str
    latest: str
    example: str
    boolean: str
    text: str
    list: str
    name: str
    full_name: str
    address: str
    email: str


class Language(_Section):
    """The words of a language.

    Attributes:
        yes: Say yes, as the whole of a text.
        no: Say no.
        articles: May stand before a choice or a number.
        joints: Between the items of a list.
        relation: Next to a value, they relate, deny or blur it: "not", "after", "about".
        function_words: Are no part of a name.
        currencies: Code of a currency, or one of a region (dollar, peso, crown) -> names.
        grammar: Lists of phrases for reading messages, as the file has them.
    """

    yes: Phrases
    no: Phrases
    articles: Phrases = ()
    joints: Phrases
    relation: Phrases
    function_words: Phrases
    numbers: Numbers
    dates: Dates
    times: Times
    currencies: Named
    names: Names
    contacts: Contacts
    show: Show
    hints: Hints
    grammar: Annotated[dict[str, str], BeforeValidator(_lists)]

    @cached_property
    def strange(self) -> frozenset[str]:
        """Words that are no part of a name."""
        answers = (word for phrase in (*self.yes, *self.no) for word in phrase.split())
        return frozenset((*self.function_words, *self.relation, *answers))


def code_of(language: str) -> str:
    """Return the language that is read for another: itself if it has a file, else English."""
    name = language[:2].lower()
    return name if name in LANGUAGES else "en"


@cache
def language_data(language: str) -> Language:
    """Return the words of a language; of one without a file, those of English.

    Raises:
        ConfigurationError: Its file has faults; each is named with its entry and the way out.
    """
    return language_from(DATA / f"{code_of(language)}.yaml")


@cache
def language_from(path: Path) -> Language:
    """Return the words of the language of a file.

    Raises:
        ConfigurationError: The file has faults; each is named with its entry and the way out.
    """
    return read_as(path, Language)


@cache
def everywhere() -> Mapping[str, Any]:
    """Return what values have in every language: signs of currencies, examples."""
    return read_data(DATA / "everywhere.yaml")
