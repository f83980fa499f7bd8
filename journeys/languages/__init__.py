"""The catalogue of texts by language, formality, and with emojis or without.

Each language is a file next to this one. `texts_of` replaces its texts by those of an author or an
operator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from journeygraph.journeys.declarations.personality import FORMALITIES
from journeygraph.journeys.languages.data import name_faults, read_data, refuse, text_faults
from journeygraph.journeys.locale import NOWHERE, Locale, in_force
from journeygraph.journeys.texts import BRACED, Texts, own_words

if TYPE_CHECKING:
    from journeygraph.journeys.config import JourneyConfig
    from journeygraph.journeys.declarations.personality import Personality
    from journeygraph.journeys.spec.spec import JourneySpec

__all__ = ["EMOJIS", "Catalogue", "catalogue_of", "texts_in", "texts_of"]

_DEFAULTS = Texts()

EMOJIS: Mapping[str, str] = {
    "closing": "👋",
    "cancelled_all": "👍",
    "corrected": "✅",
    "skipped": "👍",
    "wait": "🙂",
    "human_called": "🤝",
    "human_declined": "👍",
}
"""Emojis after texts, if enabled. A refusal or a failure has none."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Texts of one language.

    Attributes:
        address: Formality -> instruction to a model for the address of the user; empty: none.
        texts: Formality -> name -> text; the neutral text is used if a formality has none.
    """

    name: str
    address: Mapping[str, str]
    texts: Mapping[str, Mapping[str, str]]


@lru_cache
def texts_in(language: str, formality: str = "neutral", *, emojis: bool = False) -> Texts:
    """Return the catalogue in a language, with all its texts.

    Args:
        formality: One of `FORMALITIES`; what is neutral where nothing else is written.
    """
    written = catalogue_of(language).texts
    said: dict[str, str] = {**written["neutral"], **written[formality]}
    if emojis:
        said |= {name: f"{_of(said, name)} {emoji}" for name, emoji in EMOJIS.items()}
    return Texts(**said)


@lru_cache
def catalogue_of(language: str) -> Catalogue:
    """Return the texts of a language from its file, which is read once."""
    return catalogue_from(Path(__file__).with_name(f"{language}.yaml"))


def catalogue_from(path: Path) -> Catalogue:
    """Return the texts of the language of a file."""
    data = read_data(path)
    refuse(path, name_faults("", data, ("name", "address", *FORMALITIES), all_of_them=True))
    is_text = isinstance(data["name"], str)
    refuse(path, [] if is_text else ["name: is not text. Write it in quotes."])
    refuse(path, _section_faults(data))
    refuse(path, _faults(data, reference=path.stem == "en"))
    return Catalogue(data["name"], data["address"], {each: data[each] for each in FORMALITIES})


def _section_faults(data: Mapping[str, Any]) -> Iterator[str]:
    for section in ("address", *FORMALITIES):
        if not isinstance(data[section], dict):
            yield f"{section}: is not a mapping. Write 'name: text' below it, or {{}}."


def _faults(data: Mapping[str, Any], *, reference: bool) -> Iterator[str]:
    english = asdict(Texts())
    yield from name_faults("address", data["address"], FORMALITIES, all_of_them=False)
    yield from text_faults("address", data["address"])
    for section in FORMALITIES:
        texts, whole = data[section], section == "neutral" and not reference
        yield from name_faults(section, texts, english, all_of_them=whole)
        yield from text_faults(section, texts)
        for name, text in texts.items():
            if name in english and isinstance(text, str):
                yield from _placeholder_faults(f"{section}.{name}", text, english[name])


def _placeholder_faults(entry: str, text: str, english: str) -> Iterator[str]:
    wanted = BRACED.findall(english)
    if Counter(BRACED.findall(text)) != Counter(wanted):
        named = ", ".join(f"{{{each}}}" for each in wanted) or "none"
        yield f"{entry}: has other placeholders than the English text. Write {named}, each once."


def _of(said: Mapping[str, str], name: str) -> str:
    default: str = said.get(name) or getattr(Texts(), name)
    return default


def texts_of(spec: JourneySpec, config: JourneyConfig, session: Locale = NOWHERE) -> Texts:
    """Return what the runtime says in a journey.

    What counts more comes later: the catalogue in the language that holds, and the formality of the
    journey's personality; the texts of the operator; what the journey words itself, in any
    language, and then in that one.

    Args:
        spec: The journey; of a concierge one of its parts.
        config: The configuration; its texts count if they differ from the English default.
    """
    language = in_force(spec.locale, session, config.locale).language or "en"
    own = own_words(spec.texts, language)
    return _resolved(language, spec.personality, config.texts, tuple(sorted(own.items())))


# Not by the spec, which would be held with all that hangs on it.
@lru_cache(maxsize=256)
def _resolved(
    language: str, manner: Personality, configured: Texts, own: tuple[tuple[str, str], ...]
) -> Texts:
    texts = texts_in(language, manner.formality, emojis=manner.emojis)
    return replace(texts, **{**_worded(configured), **dict(own)})


def _worded(configured: Texts) -> dict[str, str]:
    said = {item.name: getattr(configured, item.name) for item in fields(configured)}
    return {name: text for name, text in said.items() if text != getattr(_DEFAULTS, name)}
