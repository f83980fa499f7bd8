"""Read values from texts: their time and place, their words, and the words around them.

The words of each language are one file in `data/`; patterns for all languages are filled with them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property, lru_cache
from itertools import islice
from operator import itemgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from rapidfuzz.distance import OSA

from journeygraph.journeys.languages.data import name_faults, read_data, refuse
from journeygraph.journeys.locale import LANGUAGES
from journeygraph.journeys.notions.fields import Field
from journeygraph.journeys.phrases import MatchBudget

DATA = Path(__file__).with_name("data")
_COMMA = re.compile(r",(?![^{}]*\})")
_LOOKBEHIND = re.compile(r"(\(\?<[=!][^)]*\))")
NOTHING = "(?!)"
"""A pattern that matches nothing."""
_BRACKET = re.compile(r"(?<!\\)\((?!\?)")
_PLACE = re.compile(r"\{([a-z_][a-z_.|]*)\}")


def grouped(phrase: str) -> str:
    """Return a phrase whose brackets only group.

    What is taken for good cannot be captured in all releases of Python 3.11.
    """
    return _BRACKET.sub("(?:", phrase)


def named_in(phrase: str) -> list[str]:
    """Return the names of other phrases in a phrase: of {it}, "it"."""
    return _PLACE.findall(phrase)


def filled(phrase: str, meaning: Callable[[str], str]) -> str:
    """Return a phrase with the meaning of each {name} in it."""
    return _PLACE.sub(lambda found: meaning(found[1]), phrase)


def any_of(phrases: Iterable[str]) -> str:
    """Return a pattern that matches any of some phrases, tried in their order."""
    each = dict.fromkeys(phrases)
    return f"(?:{'|'.join(each)})" if each else NOTHING


def longest_first(phrases: Iterable[str]) -> list[str]:
    """Return phrases, each once, so that of two that begin alike the longer one is tried first."""
    return sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))


class Form(NamedTuple):
    """A time in words: "quarter to {hour}".

    Attributes:
        say: The phrase, with {hour} and {minutes} in it.
        add: Minutes that are added to the hour.
        sign: 1 if {minutes} are added to that, -1 if they are taken off.
    """

    say: str
    add: int = 0
    sign: int = 0


class Vocabulary(SimpleNamespace):
    """The words that are read in a conversation, by section and part of the form."""

    __hash__ = object.__hash__  # type: ignore[assignment]  # there is one of each language


@lru_cache(maxsize=64)
def vocabulary(language: str) -> Vocabulary:
    """Return what is read where a language is spoken: its own words, then those next to it.

    Parts of the form are attributes. Where two languages differ, the one that is spoken counts.
    `languages` holds each of them alone, `spoken` their names.

    Raises:
        ConfigurationError: A file of data is not as it must be.
    """
    name = language[:2].lower()
    if name != language or name not in LANGUAGES:
        return vocabulary(name if name in LANGUAGES else "en")
    names = (name, *language_from(DATA / f"{name}.yaml").beside)
    languages = [language_from(DATA / f"{each}.yaml") for each in names]
    joined: Vocabulary = _merged(languages)
    joined.languages, joined.spoken = languages, names
    return joined


def _merged(values: Sequence[Any]) -> Any:
    """Return what several languages have for one part; the first of them decides."""
    first = values[0]
    if isinstance(first, Vocabulary):
        return Vocabulary(**{key: _merged([vars(v)[key] for v in values]) for key in vars(first)})
    if isinstance(first, dict):
        return {phrase: said for value in reversed(values) for phrase, said in value.items()}
    if isinstance(first, tuple):
        return tuple(dict.fromkeys(item for value in values for item in value))
    return first


@cache
def _data(name: str) -> dict[str, Any]:
    return read_data(DATA / f"{name}.yaml")


@cache
def language_from(path: Path) -> Vocabulary:
    """Return the words of one language alone, from its file.

    Raises:
        ConfigurationError: The file has faults; each is named with its part and the way out.
    """
    faults: list[str] = []
    language = _section(read_data(path), _data("form"), "", faults)
    refuse(path, faults)
    return language


def _section(given: Any, form: dict[str, Any], at: str, faults: list[str]) -> Vocabulary:
    """Return a section as its form has it; what is wrong with it is added to the faults."""
    if not isinstance(given, dict):
        faults.append(f"{at.rstrip('.')}: is not a mapping. Write 'part: value'.")
        given = {}
    faults += name_faults(at.rstrip("."), given, form, all_of_them=False)
    made: dict[str, Any] = {}
    for name, kind in form.items():
        if isinstance(kind, dict):
            made[name] = _section(given.get(name) or {}, kind, f"{at}{name}.", faults)
            continue
        try:
            made[name] = _part(given.get(name), kind)
        except (ValueError, TypeError, AttributeError, re.error) as error:
            faults.append(f"{at}{name}: must be {kind.removesuffix('!')}, and {error}.")
    return Vocabulary(**made)


def _part(value: Any, kind: str) -> Any:
    """Return a part of a kind; phrases with a meaning as a table, on whichever side they are."""
    if value is None and kind.endswith("!"):
        raise ValueError("it is missing. Add it, as in the English file")
    key, _, item = kind.removesuffix("!").partition(": ")
    name, _, form = key.partition(" ")
    if item:
        pairs = [(_single(k, key), _single(v, item)) for k, v in (value or {}).items()]
        pairs = pairs if key == "phrases" else [(phrases, said) for said, phrases in pairs]
        return {phrase.casefold(): said for phrases, said in pairs for phrase in phrases}
    if name == "forms":
        return tuple([Form(**each) for each in value or []])
    if name != "lists":
        return _single(value, key)
    lists = [_single(each, "words") for each in value or []]
    if not form:
        return tuple(lists)
    if len(lists) != int(form):
        raise ValueError(f"there are {len(lists)}")
    return {word: place for place, words in enumerate(lists) for word in words}


def _single(value: Any, kind: str) -> Any:
    name, _, form = kind.partition(" ")
    if value is None:
        return {"words": (), "phrases": (), "flag": False}.get(name, "")
    if type(value) not in {"number": (int, float), "flag": (bool,)}.get(name, (str,)):
        raise TypeError(f"{value!r} is no {name}; quote what is text")
    if form and not re.fullmatch(form, str(value)):
        raise ValueError(f"{value!r} must match {form}")
    if name == "words":
        return tuple(value.casefold().split())
    return _phrases(value) if name == "phrases" else value


def _phrases(value: str) -> tuple[str, ...]:
    parts = [" ".join(part.split()) for part in _COMMA.split(value)] if value else []
    for part in parts:
        if not part:
            raise ValueError("an item is empty; remove the extra comma")
        re.compile(pattern(part))
    return tuple(parts)


@cache
def everywhere() -> SimpleNamespace:
    """Return what values have in every language: habits of regions, currencies, and the like."""
    return SimpleNamespace(**_data("everywhere"))


@cache
def grammar(section: str, words: Vocabulary, **pieces: str | tuple[str, ...]) -> SimpleNamespace:
    """Return a section as it is looked up: its words, tables, and its compiled patterns.

    `filled` fills another pattern; `pieces` are for further places in the patterns.
    """
    patterns = dict(_data("patterns").get(section, {}))
    pieces = {**patterns.pop("pieces", {}), **pieces}

    def fill(source: str) -> str:
        return filled("".join([line.strip() for line in source.split("\n")]), place)

    def place(part: str) -> str:
        of, _, names = part.rpartition(".")
        known = {**vars(getattr(words, of or section)), **pieces}
        groups = [known[name] for name in names.split("|")]
        return fill(groups[0]) if isinstance(groups[0], str) else one_of(*groups)

    own = {name: _lookup(part) for name, part in vars(getattr(words, section)).items()}
    own |= {name: compiled(fill(source)) for name, source in patterns.items()}
    return SimpleNamespace(**own, filled=fill)


def _lookup(part: Any) -> Any:
    """Return a part as it is looked up: words in a set, phrases with a meaning in a table."""
    if isinstance(part, dict):
        return Table(part)
    return frozenset(part) if isinstance(part, tuple) else part


def pattern(phrase: str) -> str:
    """Return a phrase as a regular expression."""
    pieces = _LOOKBEHIND.split(phrase)
    for at in range(0, len(pieces), 2):
        piece = grouped(pieces[at]).replace("ß", "ss").replace("ss", "(?:ss|ß)")
        piece = piece.replace(" ?", r"\s*").replace(" ", r"\s+")
        pieces[at] = piece.replace("'", "['\u2019]")
    return "".join(pieces)


def compiled(source: str) -> re.Pattern[str]:
    """Return a regular expression that takes small and capital letters for the same."""
    return re.compile(source, re.IGNORECASE)


def one_of(*groups: Iterable[str]) -> str:
    """Return a pattern of phrases that matches the longest of them."""
    return any_of(map(pattern, longest_first(phrase for group in groups for phrase in group)))


def literal(*groups: Iterable[str]) -> tuple[str, ...]:
    """Return words that mean themselves as phrases."""
    return tuple([re.escape(word).replace(r"\ ", " ") for group in groups for word in group])


class Table:
    """Phrases, and the meaning of each; a hyphen or blank may be written differently."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = {phrase.casefold(): value for phrase, value in values.items()}

    def of(self, said: str) -> Any:
        """Return the value of what the pattern matched; None for anything else."""
        plain = " ".join(said.casefold().split()).replace("\u2019", "'")
        if plain in self.values:
            return self.values[plain]
        return next((value for form, value in self.patterns if form.fullmatch(said)), None)

    @cached_property
    def patterns(self) -> list[tuple[re.Pattern[str], Any]]:
        """The phrases that are more than one word, as they may be written."""
        written = [(said, value) for said, value in self.values.items() if not said.isalpha()]
        return [(compiled(pattern(said)), value) for said, value in written]


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
    def words(self) -> Vocabulary:
        """The words of the language."""
        return vocabulary(self.language)

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
            return DAYS.index(self.first_day)
        return 5 if self._has("week_from_saturday") else 6 if self._has("week_from_sunday") else 0

    def _has(self, habit: str) -> bool:
        return self.region in everywhere().regions[habit].split()


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


LONGEST = 4096
"""Most characters of a text that is read for a value."""
MOST_HITS = 250
"""Most values of one type that are looked at in a text."""
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NEAR = 48
_FRACTION = re.compile("([½¼¾])")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
# Signs that say something of their own: at most, either, a formula, an address of a page.
_TELLING = re.compile(r"[@=<>{}\[\]|\\/*^+$€£¥%#]|\?\?")


class Hit(NamedTuple):
    """A value in a text: its place, and whether it can be nothing else.

    Attributes:
        weak: True if it counts only where there is no other, such as "one".
        part: The place of words next to a time that name the part of the day.
    """

    start: int
    end: int
    value: Any
    certain: bool = True
    weak: bool = False
    part: tuple[int, ...] = ()

    @classmethod
    def of(cls, found: re.Match[str], value: Any, certain: bool = True, weak: bool = False) -> Hit:
        """Return the value of what a pattern found."""
        return cls(found.start(), found.end(), value, certain, weak)

    def over(self, others: Iterable[Hit]) -> bool:
        """Return whether it shares a place with one of others."""
        return bool([1 for other in others if other.start < self.end and self.start < other.end])


Scanner = Callable[[str, Field, Setting], list[Hit]]


def folded(text: str) -> str:
    """Return a text in one spelling of its characters, for values that are no names."""
    if text.isascii():
        return text
    parts = _FRACTION.split(text)  # which would run into the digits before them
    parts[::2] = [unicodedata.normalize("NFKC", part) for part in parts[::2]]
    return "".join(parts).replace("\u2019", "'")


def words_in(text: str) -> list[str]:
    """Return the words of a text, case folded."""
    return _WORD.findall(text.casefold().replace("\u2019", "'"))


_SLIP = re.compile(r"[^\W\d_]{4,12}")
_LONG = 8


def respelled(text: str, names: frozenset[str], shortest: int) -> str:
    """Return a text with what is nearly one of some words as that word.

    Two letters next to each other may be swapped. Of a word of so many letters one may be wrong, of
    a longer one two; it begins as it should.
    """

    def nearest(found: re.Match[str]) -> str:
        word = found[0].casefold()
        near: dict[int, list[str]] = {}
        for name in names if word not in names else ():
            apart = OSA.distance(name, word, score_cutoff=2)
            most = (len(name) >= shortest) + (len(name) >= _LONG)
            is_swapped = apart == 1 and sorted(name) == sorted(word)
            if name[0] == word[0] and (apart <= most or is_swapped) and word != f"{name}s":
                near.setdefault(apart, []).append(name)
        nearest = near[min(near)] if near else []
        return nearest[0] if len(nearest) == 1 else found[0]

    return _SLIP.sub(nearest, text)


def before(text: str, place: int) -> str:
    """Return the words directly before a place, as far as they can concern the value there."""
    return text[max(0, place - _NEAR) : place]


def words_of_field(field: Field, setting: Setting) -> frozenset[str]:
    """Return the words by which a field is asked for, which its answers may repeat."""
    return _words_of(question_of(field), setting.words)


def question_of(field: Field) -> str:
    """Return the name, label and question of a field in one text."""
    return f"{field.name.replace('_', ' ')} {field.label} {field.ask}"


def all_told_of(field: Field) -> str:
    """Return the question of a field and its description in one text."""
    return f"{question_of(field)} {field.description}"


@lru_cache(maxsize=2_000)
def _words_of(question: str, words: Vocabulary) -> frozenset[str]:
    said = words_in(question)
    more = [word[:-1] if word.endswith("s") else f"{word}s" for word in said]
    alike = [group for group in words.around.alike if not set(group).isdisjoint(said)]
    return frozenset([*said, *more]).union(*alike).difference(words.around.never)


def apart(hits: Iterable[Hit]) -> list[Hit]:
    """Return hits in order, without overlaps; the longer one wins."""
    known = list(islice(hits, MOST_HITS))
    if len(known) < 2:
        return known
    taken: list[Hit] = []
    for hit in sorted(known, key=lambda hit: (hit.start - hit.end, hit.start)):
        for other in taken:
            if hit.start < other.end and other.start < hit.end:
                break
        else:
            taken.append(hit)
    return sorted(taken, key=itemgetter(0))


def in_rows(text: str, items: Iterable[Any], joint: re.Pattern[str]) -> list[list[Any]]:
    """Return items (start, end, ...) in rows: only a joint is between two of a row."""
    rows: list[list[Any]] = []
    for item in sorted(items):
        if rows and joint.fullmatch(text, rows[-1][-1][1], item[0]):
            rows[-1].append(item)
        else:
            rows.append([item])
    return rows


def settled(text: str, hits: Sequence[Hit], setting: Setting) -> Sequence[Hit]:
    """Return the hits that are meant: none that is denied, and of a slip only the last.

    Of "not 50, 55" it is the second, and of "four, sorry, five" too. Weak ones count only where
    there is no other.
    """
    own = grammar("around", setting.words)
    strong = [hit for hit in hits if not hit.weak] or hits
    meant = [hit for hit in strong if not own.denying.search(before(text, hit.start))]
    for at in range(len(meant) - 1, 0, -1):
        if own.corrective.search(text[meant[at - 1].end : meant[at].start]):
            return meant[at:]
    return meant


def rest_of(text: str, hits: Sequence[Hit]) -> str:
    """Return the text around hits."""
    pieces, at = [], 0
    for hit in hits:
        pieces.append(text[at : hit.start])
        at = max(at, hit.end)
    return " ".join([*pieces, text[at:]])


def is_filler(rest: str, setting: Setting, more: frozenset[str] = frozenset()) -> bool:
    """Return whether the words around a value have no separate meaning."""
    if not rest or rest.isspace():
        return True
    own = grammar("around", setting.words)
    plain = own.aside.sub(" ", rest)
    return not (_TELLING.search(plain) or set(words_in(plain)).difference(own.filler, more))


def beside(field: Field, setting: Setting) -> frozenset[str]:
    """Return the words that may be next to the value of a field, apart from filler."""
    kind = "count" if field.type in ("integer", "number") else field.type
    return words_of_field(field, setting).union(vars(setting.words.around.beside).get(kind, ()))


def usual(field: Field, setting: Setting) -> frozenset[str]:
    """Return the words without a separate meaning around the value of a field."""
    return beside(field, setting).union(setting.words.around.filler)


def only_value(
    text: str, hits: Sequence[Hit], setting: Setting, more: frozenset[str]
) -> Hit | None:
    """Return the one value that a whole text is about; None if there is none, or several."""
    meant = settled(text, hits, setting)
    if not meant or [hit for hit in meant if hit.value != meant[0].value]:
        return None
    strong = [hit for hit in hits if not hit.weak] or hits
    # What is denied says nothing else, and neither do the words that deny it.
    around = [hit if hit in meant else _denied(text, hit, setting) for hit in strong]
    return meant[-1] if is_filler(rest_of(text, around), setting, more) else None


def _denied(text: str, hit: Hit, setting: Setting) -> Hit:
    """Return what is denied with the words that say so: "not at 5, but"."""
    own = grammar("around", setting.words)
    found, but = own.denying.search(before(text, hit.start)), own.but.match(text, hit.end)
    if found is None:
        return hit
    return hit._replace(start=hit.start - len(found[0]), end=but.end() if but else hit.end)
