"""The words of a language, read from its one file in `data/`; text as it is compared with them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from journeygraph.journeys.languages.data import name_faults, read_as, read_data
from journeygraph.journeys.locale import LANGUAGES
from journeygraph.journeys.phrases import plain

DATA = Path(__file__).with_name("data")
_QUOTES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u2010": "-", "\u2011": "-"})
_AROUND = "\"'\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a "
_GLUED = re.compile(r"(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)")


@lru_cache(maxsize=4_000)
def folded(text: str) -> str:
    """Return a text in small letters, with single blanks and one spelling of its characters."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_QUOTES).casefold()
    return " ".join(text.lower().split())


@lru_cache(maxsize=4_000)
def bare(text: str) -> str:
    """Return a text without the quotes and the punctuation around it."""
    return text.strip().lstrip(f"{_AROUND}\u00a1\u00bf").rstrip(f"{_AROUND}.,;:!?\u2026")


def spaced(text: str) -> str:
    """Return a bare text, folded, with blanks for commas and between digits and letters."""
    return _GLUED.sub(" ", folded(bare(text).replace(",", " ")))


def one_of(phrases: Iterable[str]) -> str:
    """Return a pattern of phrases, the longest first; one without phrases matches nothing."""
    known = sorted(sorted(set(phrases)), key=len, reverse=True)
    return f"(?:{'|'.join(map(re.escape, known))})" if known else "(?!)"


def _phrases(given: Any) -> Any:
    if not isinstance(given, str):
        return given
    said = [folded(each) for each in given.split(",")]
    if not all(said):
        raise ValueError("an item is empty; remove the extra comma.")
    return tuple(dict.fromkeys(one for each in said for one in (each, plain(each))))


def _meanings(given: Any) -> Any:
    if not isinstance(given, Mapping):
        return given
    return {one: meaning for meaning, said in given.items() for one in _phrases(said)}


def _complete(*names: str) -> BeforeValidator:
    """Return what refuses a mapping in which a name is missing or not known."""

    def check(given: Any) -> Any:
        found = given if isinstance(given, Mapping) else {}
        if faults := name_faults("", found, names, all_of_them=True):
            raise ValueError(" ".join(faults))
        return given

    return BeforeValidator(check)


ListName = Literal[
    "courtesy", "yes", "agree", "no", "decline",
    "cancel", "cancel_all", "cancel_task", "skip", "unknown", "restart", "back", "status",
    "repeat", "explain", "explain_label", "human", "person", "wait",
    "cue", "cue_behind", "change", "to", "is", "not", "but", "instead_of", "articles",
    "only", "and", "or", "then", "question", "past", "denied_before", "denied_behind", "small",
]  # fmt: skip
"""Names of the lists of phrases by which messages are read; each language has all of them."""
_HINTS = (
    *("both", "least", "most", "earliest", "latest", "example"),
    *("boolean", "text", "list", "name", "full_name", "address", "email"),
)
Phrases = Annotated[tuple[str, ...], BeforeValidator(_phrases)]
Numbered = Annotated[dict[str, int], BeforeValidator(_meanings)]
Words = Annotated[tuple[str, ...], BeforeValidator(str.split)]
Named = Annotated[dict[str, str], BeforeValidator(_meanings)]


class _Section(BaseModel):
    """A part of the file of a language; a comment says of what each of its words are."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Numbers(_Section):
    """Words of numbers besides the numerals, and of places."""

    words: Numbered = {}  # number: numerals that the library of numerals does not know
    articles: Phrases = ()  # count one before a unit: "in a week"
    minus: Phrases
    percent: Phrases
    none: Phrases  # nothing is counted
    none_of: Phrases = ()  # nothing of a unit: "no bags"
    counted: Phrases = ()  # behind a number, as its unit: "of us"
    alike: list[Phrases] = []  # groups of words for the same unit
    leads: Phrases  # before the number of an option: "number two"
    ordinals: Annotated[list[Phrases], Field(min_length=10, max_length=10)]
    last: Phrases
    behind: Phrases = ()  # behind a place: "the second one"


class Dates(_Section):
    """Words of days; the names of months and weekdays are those that are shown."""

    months: Numbered = {}  # number: further names
    weekdays: Numbered = {}  # the same, Monday is 1
    leads: Phrases  # before a day
    of: Phrases = ()  # between a day, its month and its year
    endings: Phrases = ()  # behind the digits of a day: "3rd"
    near: Numbered  # days from today: words
    which: Named  # this, next, last, or week for the one of next week: words before a weekday
    behind: Named = {}  # the same behind it
    units: Numbered  # 1 or 7, the days of it: words
    ahead: Numbered  # 1 or -1: words before a distance, "in"
    later: Numbered = {}  # 1 or -1: words behind it, "ago"
    feasts: Named = {}  # MM-DD: names


class Times(_Section):
    """Words of times of day."""

    leads: Phrases  # before a time
    clock: Phrases  # behind an hour
    # Minutes from the hour: forms with H for the hour and C for the clock; with M for minutes,
    # these are added or taken off: "-M" for "M to H".
    forms: Named
    names: Numbered  # 0 or 12: names of midnight and noon
    parts: Named  # am, morning, noon, evening or night: words for that part of the day
    leads_of_parts: Phrases = ()  # before them
    now: Phrases = ()


class Names(_Section):
    """Words of names and addresses."""

    leads: Phrases  # bring in a name
    others: Phrases = ()  # bring in the name of another, by a word of the question
    maybe: Phrases  # may bring in something else: a name in capitals counts alone
    particles: Phrases  # small words inside names
    also: Phrases = ()  # words of the language that are names where they are written so
    two_families: bool = False  # people have two family names
    second: Phrases = ()  # given names behind another
    address: Phrases  # bring in an address


class Show(_Section):
    """Forms of values for users."""

    months: Words
    weekdays: Words  # from Monday on
    day: str
    clock: Annotated[str, Field(pattern="^(12h|24h)$")]
    hour: str  # of 24
    money: str
    yes: str
    no: str
    none: str  # an empty list
    joint: str  # before the last item of a list


class Language(_Section):
    """The words of a language."""

    articles: Phrases = ()  # may stand before a choice
    relation: Phrases  # before a value, they relate, deny or blur it: "not", "after", "about"
    relation_behind: Phrases  # the same behind it: "or", "more", "later"
    contrast: Phrases  # anywhere in a message, a number in it may be meant otherwise: "but", "half"
    comparison: Phrases  # the same, of any value: "later", "one more"
    inflections: Phrases  # endings that a choice may have
    function_words: Phrases  # are no part of a name
    numbers: Numbers
    dates: Dates
    times: Times
    currencies: Named  # code of a currency, or one of a region (dollar, peso, crown): names
    names: Names
    show: Show
    hints: Annotated[dict[str, str], _complete(*_HINTS)]  # texts of what a field takes
    # Lists of phrases for messages.
    grammar: Annotated[dict[str, Phrases], _complete(*get_args(ListName))]

    @cached_property
    def strange(self) -> frozenset[str]:
        """Words that are no part of a name."""
        answers = " ".join((*self.grammar["yes"], *self.grammar["no"])).split()
        return frozenset((*self.function_words, *self.relation, *answers))

    def without_article(self, said: str) -> str:
        """Return words without the article that they begin with; an article alone stays."""
        first, _, rest = said.partition(" ")
        return rest if rest and folded(first) in self.articles else said


@cache
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
