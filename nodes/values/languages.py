"""Words of values by language, one file each in `data/`, and the patterns that hold them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from keyword import iskeyword
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from journeys.languages.data import name_faults, read_data, refuse

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
    """Return what is read where a language is spoken: its own words, then those beside it.

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
