"""Texts of the runtime: one catalogue, by language, formality and journey."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest

from journeygraph import (
    Concierge,
    ConfigurationError,
    IntentTrigger,
    Journey,
    JourneyConfig,
    JourneyDefinitionError,
    Locale,
    Pathway,
    Personality,
    Texts,
)
from journeygraph.journeys.declarations.personality import FORMALITIES
from journeygraph.journeys.languages import EMOJIS, texts_in, texts_of
from journeygraph.journeys.locale import LANGUAGES
from journeygraph.journeys.texts import BRACED
from journeygraph.nodes.texts import worded

POLITE = re.compile(r"\b(Sie|Ihnen|Ihre?[mnrs]?)\b")
FAMILIAR = re.compile(r"\b([Dd]u|[Dd]ich|[Dd]ir|[Dd]eine?[mnrs]?)\b")
TU = re.compile(
    r"\b([Tt]ú|[Tt]us?|[Tt]e|[Tt]i|contigo|quieres|puedes|necesitas|dime)\b|\b(?!parte)\w+(arte|irte)\b"
)
USTED = re.compile(r"\b([Uu]sted|[Ss]us?|[Ll]e|desea)\b|\w(arle|irle|ítame)\b")
TOI = re.compile(r"\b([Tt]u|[Tt]oi|[Tt]es?|[Tt]on|[Tt]a)\b|\b[Tt]'")
VOUS = re.compile(r"\b([Vv]ous|[Vv]otre|[Vv]os)\b")
CLOSING_DE = "Damit ist alles erledigt. Wenn Sie noch etwas brauchen, sagen Sie es einfach."


def _catalogue(language: str, formality: str) -> dict[str, str]:
    return asdict(texts_in(language, formality))


def _in_german(texts: dict[str, Any] | None = None, **manner: Any) -> type[Journey]:
    class Umzug(Journey):
        """Einen Umzug planen."""

        __personality__ = Personality(**manner)
        __locale__ = Locale(language="de")
        __texts__ = texts or {}

        class PlanPath(Pathway):
            __agents__ = ["clerk"]

    return Umzug


async def _clerk(request: Any) -> dict[str, Any]:
    if request["message"] == "kaputt":
        raise OSError("no line")
    return {"response": "Geplant."}


def test_every_language_and_manner_says_every_text_with_the_same_placeholders() -> None:
    english = asdict(Texts())
    for language in LANGUAGES:
        for formality in FORMALITIES:
            said = _catalogue(language, formality)
            for name, text in english.items():
                wanted, found = Counter(BRACED.findall(text)), Counter(BRACED.findall(said[name]))
                assert found == wanted, f"{language}, {formality}: {name}"


def test_german_is_complete_and_addresses_everybody_alike() -> None:
    english, german = asdict(Texts()), _catalogue("de", "neutral")
    same = {name for name in english if english[name] == german[name]}
    assert same == {"ask_choice", "explain", "summary_line"}  # which have no words
    for formality, others in (("neutral", FAMILIAR), ("formal", FAMILIAR), ("casual", POLITE)):
        wrong = {n: t for n, t in _catalogue("de", formality).items() if others.search(t)}
        assert wrong == {}, formality


def test_spanish_is_complete_and_addresses_everybody_alike() -> None:
    english, spanish = asdict(Texts()), _catalogue("es", "neutral")
    same = {name for name in english if english[name] == spanish[name]}
    assert same == {"ask_choice", "explain", "no", "summary_line"}
    for formality, others in (("neutral", TU), ("formal", TU), ("casual", USTED)):
        wrong = {n: t for n, t in _catalogue("es", formality).items() if others.search(t)}
        assert wrong == {}, formality


def test_french_is_complete_and_addresses_everybody_alike() -> None:
    english, french = asdict(Texts()), _catalogue("fr", "neutral")
    same = {name for name in english if english[name] == french[name]}
    assert same == {"ask_choice", "explain"}
    for formality, others in (("neutral", TOI), ("formal", TOI), ("casual", VOUS)):
        wrong = {n: t for n, t in _catalogue("fr", formality).items() if others.search(t)}
        assert wrong == {}, formality


def test_formal_english_has_no_contractions_and_casual_english_has() -> None:
    contracted = re.compile(r"\w'\w")
    assert not [t for t in _catalogue("en", "formal").values() if contracted.search(t)]
    assert len([t for t in _catalogue("en", "casual").values() if contracted.search(t)]) > 20
    assert texts_in("en") == Texts()


def test_emojis_stand_behind_some_texts_and_never_where_something_is_refused() -> None:
    for language in LANGUAGES:
        plain, lively = (
            _catalogue(language, "casual"),
            asdict(texts_in(language, "casual", emojis=True)),
        )
        changed = {name for name in plain if plain[name] != lively[name]}
        assert changed == set(EMOJIS)
        assert all(lively[name] == f"{plain[name]} {emoji}" for name, emoji in EMOJIS.items())
    grave = re.compile(r"not_|too_|effect_|apology|refused|unsafe|no_|exhausted|out_of|required")
    assert not [name for name in EMOJIS if grave.match(name)]


def test_a_placeholder_takes_a_value_as_it_is_and_nothing_is_evaluated() -> None:
    text = "{field} is {value}."
    assert worded(text, field="{value}", value="{field} {x!r} {0} %s") == (
        "{value} is {field} {x!r} {0} %s."
    )
    assert worded("{a.b} {a!r} {a:>9} {a[0]} {} {", a="x") == "{a.b} {a!r} {a:>9} {a[0]} {} {"
    assert worded("It is {value}.", value=4) == "It is 4."
    assert worded("No. {reason} Go on.", reason="") == "No. Go on."
    assert worded("I need it. {description}", description="") == "I need it."
    assert worded("{nothing} stands here", other=1) == "{nothing} stands here"


def test_a_placeholder_that_nothing_stands_for_is_a_fault_that_names_those_known() -> None:
    with pytest.raises(JourneyDefinitionError) as refused:
        _in_german({"corrected": "{field} nun {wert}", "de": {"wait": "{task!r}"}})
    assert list(refused.value.faults) == [
        "Umzug: the text 'corrected' has the unknown placeholder {wert}. "
        "Its placeholders: {field}, {value}.",
        "Umzug: the text 'wait' has the unknown placeholder {task!r}. It has no placeholders.",
    ]
    with pytest.raises(ConfigurationError, match=r"texts\.which has the unknown .* \{journey\}"):
        JourneyConfig(texts=Texts(which="{journey}?"))


async def test_a_german_conversation_is_german_also_where_it_fails_and_ends(
    talk: Callable[..., Any], memory_url: str
) -> None:
    chat = await talk(_in_german(), {"clerk": _clerk}, memory_url)
    texts = texts_in("de")
    assert await chat.says("  ") == texts.empty
    assert await chat.says("x" * 20_000) == texts.too_long
    assert await chat.says("kaputt") == texts.apology
    assert await chat.says("Nach Bonn") == "Geplant."
    assert await chat.says("Danke") == CLOSING_DE


@pytest.mark.parametrize(
    ("manner", "closing"),
    [
        ({"formality": "casual"}, "Wenn du noch was brauchst"),
        ({"formality": "formal"}, "Sollten Sie noch etwas wünschen"),
        ({"emojis": True}, "sagen Sie es einfach. 👋"),
    ],
    ids=["casual", "formal", "emojis"],
)
async def test_formality_and_emojis_are_heard_without_a_model(
    talk: Callable[..., Any], memory_url: str, manner: dict[str, Any], closing: str
) -> None:
    chat = await talk(_in_german(**manner), {"clerk": _clerk}, memory_url)
    await chat.says("Nach Bonn")
    assert closing in await chat.says("Danke")


async def test_the_journeys_words_count_before_its_runners_and_those_before_the_languages(
    talk: Callable[..., Any], memory_url: str
) -> None:
    journey = _in_german(
        {"closing": "Tschüss.", "de": {"closing": "Auf Wiedersehen."}, "empty": "Bitte?"},
        emojis=True,
    )
    texts = Texts(closing="Bye.", too_long="Kürzer!", empty="What?")
    chat = await talk(journey, {"clerk": _clerk}, memory_url, texts=texts)
    assert await chat.says("") == "Bitte?"
    assert await chat.says("x" * 20_000) == "Kürzer!"
    assert await chat.says("kaputt") == texts_in("de").apology
    await chat.says("Nach Bonn")
    assert await chat.says("Danke") == "Auf Wiedersehen."  # as it is written: no emoji


class Moving(Journey):
    """Plan a move."""

    __activation__ = [IntentTrigger(["move"])]
    __texts__ = {"too_long": "Shorter, please."}

    class PlanPath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = ["planned"]


class Umziehen(Journey):
    """Einen Umzug planen."""

    __activation__ = [IntentTrigger(["umziehen"])]
    __personality__ = Personality(formality="casual")
    __locale__ = Locale(language="de")

    class PlanPath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = ["planned"]


class Desk(Concierge):
    """Help people to move."""

    __journeys__ = [Moving, Umziehen]
    __cancel__ = IntentTrigger(["stop"])
    __otherwise__ = "canned"
    __personality__ = Personality(formality="formal")
    __texts__ = {"empty": "…?", "en": {"apology": "Pardon."}, "de": {"refused": "Nein."}}


async def test_each_journey_of_a_concierge_is_heard_in_its_own_words(
    talk: Callable[..., Any], memory_url: str
) -> None:
    formal, casual = texts_in("en", "formal"), texts_in("de", "casual")
    chat = await talk(Desk, {"clerk": _clerk}, memory_url)
    assert await chat.says("Hello") == formal.unsure
    assert await chat.says("I want to umziehen") == "Geplant."
    assert (
        await chat.says("kaputt") == casual.apology
    )  # its language: not what Desk says in English
    assert await chat.says("") == "…?"
    assert await chat.says("x" * 20_000) == casual.too_long
    assert await chat.says("stop") == casual.cancelled
    assert await chat.says("I want to move") == "Geplant."
    assert await chat.says("kaputt") == "Pardon."
    assert await chat.says("x" * 20_000) == "Shorter, please."
    assert await chat.says("stop") == formal.cancelled


def test_words_and_manner_are_part_of_a_concierges_version() -> None:
    class Other(Desk):
        __texts__ = {"empty": "?"}

    class Same(Desk):
        pass

    assert len({Desk.spec.version, Other.spec.version}) == 2
    assert texts_of(Same.spec, JourneyConfig()) == texts_of(Desk.spec, JourneyConfig())
