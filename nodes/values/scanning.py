"""Read texts for values: when and where, by which words, and what stands around them.

The words of each language are one file in `data/`; patterns for all languages are filled with them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from itertools import islice
from keyword import iskeyword
from operator import itemgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from journeys.languages.data import name_faults, read_data, refuse
from journeys.notions.fields import Field
from journeys.phrases.patterns import MatchBudget

DATA = Path(__file__).with_name("data")
NOTHING = "(?!)"
"""A pattern that matches nothing."""
_COMMA = re.compile(r",(?![^{}]*\})")
_LOOKBEHIND = re.compile(r"(\(\?<[=!][^)]*\))")
_PLACE = re.compile(r"\{([a-z_][a-z_.|]*)\}")
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_WHICH = re.compile("this|next|last|after_next")
_CHECKS = {
    "numbers.order": re.compile("ten unit|ten and unit|unit and ten"),
    "dates.feasts": re.compile(rf"\d\d-\d\d|easter[+-]\d\d?|advent [1-4]|\d\d {_DAY} -?[1-5]"),
    "dates.units": re.compile("1|7|14|30|365"),
    "dates.which": _WHICH,
    "dates.which_behind": _WHICH,
    "times.names": re.compile("12|0"),
    "times.parts": re.compile("morning|evening|night|noon|meal"),
    "show.clock": re.compile("12h|24h"),
}
"""The form of texts, or of the keys of mappings."""


class Vocabulary(SimpleNamespace):
    """The words that are read in a conversation, by section and part of the form."""

    __hash__ = object.__hash__  # type: ignore[assignment]  # there is one of each language


@lru_cache(maxsize=64)
def vocabulary(language: str) -> Vocabulary:
    """Return what is read where a language is spoken: its own words, then those next to it.

    Parts of the form are attributes; one that is a word of Python ends in "_". Where two languages
    differ, the one that is spoken counts. `languages` holds each of them alone.

    Raises:
        ConfigurationError: A file of data is not as it must be.
    """
    name = language[:2].lower()
    return _vocabulary(name if name.isalpha() and _file(name).is_file() else "en")


@cache
def _vocabulary(name: str) -> Vocabulary:
    own = _language(name)
    languages = (own, *(_language(other) for other in own.beside))
    joined = Vocabulary(languages=languages)
    for section in vars(own):
        parts = [vars(getattr(each, section)) for each in languages if section != "beside"]
        merged = {key: _merged([part[key] for part in parts]) for key in (parts or [{}])[0]}
        setattr(joined, section, SimpleNamespace(**merged))
    return joined


def _merged(values: list[Any]) -> Any:
    first = values[0]
    if isinstance(first, tuple):
        return tuple(dict.fromkeys(item for value in values for item in value))
    if isinstance(first, dict):
        keys = dict.fromkeys(key for value in values for key in value)
        return {key: _merged([value[key] for value in values if key in value]) for key in keys}
    if isinstance(first, list) and first and isinstance(first[0], tuple):
        sized = len({len(value) for value in values}) == 1
        if sized:
            return [_merged(list(items)) for items in zip(*values, strict=True)]
    if isinstance(first, list):
        return [item for value in values for item in value]
    return first


@cache
def _language(name: str) -> SimpleNamespace:
    return language_from(_file(name))


@cache
def _data(name: str) -> dict[str, Any]:
    return read_data(_file(name))


def _file(name: str) -> Path:
    return DATA / f"{name}.yaml"


def _attribute(part: str) -> str:
    return f"{part}_" if iskeyword(part) else part


def language_from(path: Path) -> SimpleNamespace:
    """Return the words of one language alone, from its file.

    Raises:
        ConfigurationError: The file has faults; each is named with its part and the way out.
    """
    form, said = _data("form"), read_data(path)
    faults = name_faults("", said, form, all_of_them=False)
    beside = _checked(said.get("beside"), form["beside"], "beside", faults)
    language = SimpleNamespace(beside=beside)
    for section in [name for name in form if name != "beside"]:
        own, parts = said.get(section) or {}, form[section]
        if not isinstance(own, dict):
            faults.append(f"{section}: is no mapping. Write 'part: value'.")
            own = {}
        faults += name_faults(section, own, parts, all_of_them=False)
        values = {
            _attribute(key): _checked(own.get(key), kind, f"{section}.{key}", faults)
            for key, kind in parts.items()
        }
        setattr(language, section, SimpleNamespace(**values))
    refuse(path, faults)
    return language


def _checked(value: Any, kind: str, at: str, faults: list[str]) -> Any:
    """Return a value as its kind has it; what is wrong with it is added to the faults."""
    kind, needed = kind.removesuffix("!"), kind.endswith("!")
    if value is None and needed:
        faults.append(f"{at}: is missing. Add it, as English has it.")
    try:
        made = _made(value, kind)
        if (check := _CHECKS.get(at)) and value is not None:
            for item in _judged(made, kind):
                if not check.fullmatch(str(item)):
                    raise ValueError(f"{item!r} must match {check.pattern}")
    except (ValueError, TypeError, AttributeError, re.error) as error:
        faults.append(f"{at}: must be {kind}, and {error}.")
        return None
    return made


def _judged(made: Any, kind: str) -> Iterable[Any]:
    if isinstance(made, dict):
        return made.values() if kind.endswith(": text") else made.keys()
    return [made]


def _made(value: Any, kind: str) -> Any:
    if ": " in kind:
        return _mapping(value or {}, *kind.split(": "))
    if kind.startswith("lists"):
        made = [_words(item) for item in value or []]
        if value is not None and kind[6:] and len(made) != int(kind[6:]):
            raise ValueError(f"there are {len(made)}")
        return made
    if kind == "forms":
        return [SimpleNamespace(**{"add": 0, "sign": 0, **form}) for form in value or []]
    return _SIMPLE[kind](value)


def _mapping(value: Mapping[Any, Any], key: str, kind: str) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for name, item in value.items():
        read_as = _SIMPLE[kind](item)
        names = _phrases(name) if key == "phrases" else [_SIMPLE[key](name)]
        made.update(dict.fromkeys(names, read_as))
    return made


def _words(value: Any) -> tuple[str, ...]:
    return tuple(_text(value).casefold().split())


def _phrases(value: Any) -> tuple[str, ...]:
    parts = [" ".join(part.split()) for part in _COMMA.split(_text(value))] if value else []
    for part in parts:
        if not part:
            raise ValueError("one is empty; take the comma too many away")
        re.compile(pattern(part))
    return tuple(parts)


def _text(value: Any) -> str:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{value!r} is no text; quote it")
    return value or ""


def _number(value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{value!r} is no number")
    return value


_SIMPLE: dict[str, Callable[[Any], Any]] = {
    "words": _words,
    "phrases": _phrases,
    "text": _text,
    "name": _text,
    "number": _number,
    "flag": bool,
}


@cache
def everywhere() -> SimpleNamespace:
    """Return what values have in every language: habits of regions, currencies, and the like."""
    said = _data("everywhere")
    return SimpleNamespace(
        **{name: frozenset(regions.split()) for name, regions in said["regions"].items()},
        currencies=said["currencies"],
        yes=_phrases(said["yes"]),
        no=_phrases(said["no"]),
        addresses=SimpleNamespace(**said["addresses"]),
        elsewhere=SimpleNamespace(**said["elsewhere"]),
    )


@cache
def grammar(section: str, words: Vocabulary, **pieces: str | tuple[str, ...]) -> SimpleNamespace:
    """Return a section as it is looked up: its words, tables, and its compiled patterns.

    `filled` fills another pattern.

    Args:
        section: Name of a section of the form.
        words: The words that fill the patterns.
        pieces: Patterns and phrases for further places in the patterns.
    """
    patterns = dict(_data("patterns").get(section, {}))
    pieces = {**patterns.pop("pieces", {}), **pieces}

    def filled(source: str) -> str:
        return _PLACE.sub(place, "".join([line.strip() for line in source.split("\n")]))

    def place(found: re.Match[str]) -> str:
        of, _, names = found[1].rpartition(".")
        groups = [
            pieces[name] if name in pieces else _phrases_of(words, of or section, name)
            for name in names.split("|")
        ]
        return filled(groups[0]) if isinstance(groups[0], str) else one_of(*groups)

    known = {
        _attribute(part): made
        for part, kind in _data("form")[section].items()
        if (made := _known(getattr(getattr(words, section), _attribute(part)), kind)) is not None
    }
    compiled_ = {_attribute(name): compiled(filled(source)) for name, source in patterns.items()}
    return SimpleNamespace(**{**known, **compiled_}, filled=filled)


def _known(value: Any, kind: str) -> Any:
    """Return a part as it is looked up: a set, a table, a text; None of what only patterns hold."""
    if kind.startswith("words"):
        return frozenset(value)
    if kind.startswith("phrases: "):
        return Table(value)
    if ": " in kind:
        return Table.inverted(value)
    if kind.startswith("lists"):
        return Table.inverted(dict(enumerate(value)))
    return None if kind.startswith("phrases") else value


def _phrases_of(words: Vocabulary, section: str, part: str) -> str | tuple[str, ...]:
    """Return the phrases of a part, or a pattern of groups where they are in groups."""
    kind = _data("form")[section][part]
    value = getattr(getattr(words, section), _attribute(part))
    if kind.startswith("phrases: "):
        return tuple([phrase.casefold() for phrase in value])
    if kind == "name: phrases":
        return named(value, f"{part}_")
    if not kind.startswith(("words", "phrases")):
        groups = value.values() if isinstance(value, dict) else value
        value = tuple([phrase for group in groups for phrase in group])
    return value if "phrases" in kind else literal(value)


def named(phrases: Mapping[str, Iterable[str]], prefix: str) -> str:
    """Return a pattern of one of several groups of phrases, each with its name."""
    groups = [f"(?P<{prefix}{name}>{one_of(said)})" for name, said in phrases.items()]
    return f"(?:{'|'.join(groups)})" if groups else NOTHING


def pattern(phrase: str) -> str:
    """Return a phrase as a regular expression."""
    pieces = _LOOKBEHIND.split(phrase)
    for at in range(0, len(pieces), 2):
        piece = re.sub(r"(?<!\\)\((?!\?)", "(?:", pieces[at])
        piece = piece.replace("ß", "ss").replace("ss", "(?:ss|ß)")
        piece = piece.replace(" ?", r"\s*").replace(" ", r"\s+")
        pieces[at] = piece.replace("'", "['\u2019]")
    return "".join(pieces)


def compiled(source: str) -> re.Pattern[str]:
    """Return a regular expression that takes small and capital letters for the same."""
    return re.compile(source, re.IGNORECASE)


def one_of(*groups: Iterable[str]) -> str:
    """Return a pattern of phrases that matches the longest of them."""
    phrases = {phrase for group in groups for phrase in group}
    longest = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    return f"(?:{'|'.join(map(pattern, longest))})" if longest else NOTHING


def literal(words: Iterable[str]) -> tuple[str, ...]:
    """Return words that stand for themselves as phrases."""
    return tuple([re.escape(word).replace(r"\ ", " ") for word in words])


def literally(*groups: Iterable[str]) -> str:
    """Return a pattern of words that stand for themselves."""
    return one_of(*map(literal, groups))


class Table:
    """Phrases, and what each stands for.

    Args:
        values: Phrase -> value; words in which a hyphen or blank is written differently are alike.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = {phrase.casefold(): value for phrase, value in values.items()}
        self.source = one_of(self.values)

    @classmethod
    def inverted(cls, phrases: Mapping[Any, Iterable[str]]) -> Table:
        """Return a table of a mapping from values to phrases."""
        return cls({phrase: value for value, said in phrases.items() for phrase in said})

    def of(self, said: str) -> Any:
        """Return the value of what the pattern matched; None for anything else."""
        plain = " ".join(said.casefold().split()).replace("\u2019", "'")
        if plain in self.values:
            return self.values[plain]
        for phrase, value in self._patterns():
            if phrase.fullmatch(said):
                return value
        return None

    @lru_cache(maxsize=256)  # noqa: B019 - tables live as long as the process
    def _patterns(self) -> list[tuple[re.Pattern[str], Any]]:
        written = [(p, value) for p, value in self.values.items() if not p.isalpha()]
        return [(re.compile(pattern(p), re.IGNORECASE), value) for p, value in written]


@dataclass(frozen=True, slots=True)
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
    """A text is not a valid value of its type or field.

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


LONGEST = 4096
"""Most characters of a text that is read for a value."""
MOST_HITS = 250
"""Most values of one type that are looked at in a text."""
_NEAR = 48
_FRACTION = re.compile("([½¼¾])")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
# Signs that say something of their own: at most, either, a formula, an address of a page.
_TELLING = re.compile(r"[@=<>{}\[\]|\\/*^+$€£¥%#]|\?\?")


class Hit(NamedTuple):
    """A value that stands in a text: where, and whether it can be nothing else.

    Attributes:
        weak: True if it counts only where there is no other, such as "one".
        part: Where words next to a time stand that say which part of the day is meant.
    """

    start: int
    end: int
    value: Any
    certain: bool = True
    weak: bool = False
    part: tuple[int, ...] = ()


Scanner = Callable[[str, Field, Setting], list[Hit]]


@cache
def around(words: Vocabulary) -> SimpleNamespace:
    """Return the words and patterns of what may stand around a value."""
    own = grammar("around", words)
    beside = words.around.beside
    own.beside = {kind: frozenset(beside.get(_COUNTED.get(kind, kind), ())) for kind in _KINDS}
    own.alike = [frozenset(group) for group in words.around.alike]
    return own


_COUNTED = {"integer": "count", "number": "count"}
_KINDS = (*_COUNTED, "boolean", "date", "time", "datetime", "money", "email", "phone", "enum")


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


def before(text: str, place: int) -> str:
    """Return what stands right before a place: as much as can tell of the value there."""
    return text[max(0, place - _NEAR) : place]


def words_of_field(field: Field, setting: Setting) -> frozenset[str]:
    """Return the words by which a field is asked for, which its answers may repeat."""
    return _words_of(field.name, field.label, field.ask, vocabulary(setting.language))


@lru_cache(maxsize=2_000)
def _words_of(name: str, label: str, ask: str, words: Vocabulary) -> frozenset[str]:
    said = words_in(f"{name.replace('_', ' ')} {label} {ask}")
    more = [word[:-1] if word.endswith("s") else f"{word}s" for word in said]
    own = around(words)
    alike = [group for group in own.alike if group.intersection(said)]
    return frozenset([*said, *more]).union(*alike).difference(own.never)


def apart(hits: Iterable[Hit]) -> list[Hit]:
    """Return hits in order of which no two overlap; the longer one wins."""
    taken: list[Hit] = []
    known = list(islice(hits, MOST_HITS))
    if len(known) < 2:
        return known
    for _, _, _, hit in sorted([(h[0] - h[1], h[0], at, h) for at, h in enumerate(known)]):
        start, end = hit[0], hit[1]
        for other in taken:
            if start < other[1] and other[0] < end:
                break
        else:
            taken.append(hit)
    return sorted(taken, key=itemgetter(0))


def settled(text: str, hits: Sequence[Hit], setting: Setting) -> Sequence[Hit]:
    """Return the hits that are meant: none that is denied, and of a slip only the last.

    Of "not 50, 55" it is the second, and of "four, sorry, five" too.
    """
    own, meant = around(vocabulary(setting.language)), strong(hits)
    if own.denies.search(text):
        meant = [hit for hit in meant if not own.denying.search(before(text, hit.start))]
    for at in range(len(meant) - 1, 0, -1):
        if own.corrective.search(text[meant[at - 1].end : meant[at].start]):
            return meant[at:]
    return meant


def strong(hits: Sequence[Hit]) -> Sequence[Hit]:
    """Return the hits that count: weak ones only where there is no other."""
    for hit in hits:
        if hit.weak:
            return [hit for hit in hits if not hit.weak] or hits
    return hits


def rest_of(text: str, hits: Sequence[Hit]) -> str:
    """Return what stands around hits."""
    pieces, at = [], 0
    for hit in hits:
        pieces.append(text[at : hit.start])
        at = max(at, hit.end)
    return " ".join([*pieces, text[at:]])


def is_filler(rest: str, setting: Setting, more: frozenset[str] = frozenset()) -> bool:
    """Return whether what stands around a value says nothing of its own."""
    if not rest or rest.isspace():
        return True
    own = around(vocabulary(setting.language))
    plain = own.aside.sub(" ", rest)
    if _TELLING.search(plain):
        return False
    return not set(words_in(plain)).difference(own.filler, more)


def beside(field: Field, setting: Setting) -> frozenset[str]:
    """Return the words that may stand next to the value of a field, besides filler."""
    own: dict[str, frozenset[str]] = around(vocabulary(setting.language)).beside
    return own.get(field.type, frozenset()) | words_of_field(field, setting)


def usual(field: Field, setting: Setting) -> frozenset[str]:
    """Return the words that say nothing of their own around the value of a field."""
    filler: frozenset[str] = around(vocabulary(setting.language)).filler
    return filler | beside(field, setting)


def only_value(
    text: str, hits: Sequence[Hit], setting: Setting, more: frozenset[str]
) -> Hit | None:
    """Return the one value that a whole text is about; None if there is none, or several."""
    if not hits:
        return None
    all_hits = strong(hits)
    meant = settled(text, all_hits, setting)
    if not meant or (len(meant) > 1 and [hit for hit in meant if hit.value != meant[0].value]):
        return None
    if len(all_hits) > len(meant):
        # What is denied says nothing else, and neither do the words that deny it.
        own = around(vocabulary(setting.language))
        all_hits = [hit if hit in meant else _denied(text, hit, own) for hit in all_hits]
    return meant[-1] if is_filler(rest_of(text, all_hits), setting, more) else None


def _denied(text: str, hit: Hit, own: SimpleNamespace) -> Hit:
    found = own.denying.search(before(text, hit.start))
    if found is None:
        return hit
    joint = own.but.match(text, hit.end)
    end = joint.end() if joint else hit.end
    return hit._replace(start=hit.start - len(found[0]), end=end)
