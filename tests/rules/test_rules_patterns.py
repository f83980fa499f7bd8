"""Matches of phrases (DESIGN.md section 4, row Patterns)."""

from __future__ import annotations

from typing import Any

import pytest

from journeygraph import NEVER, Field, Journey, Locale, Pathway, ReturnToPrevious, Transition
from tests.support.clerks import said, staff


def desk(*rules: Transition) -> type[Journey]:
    class Desk(Journey):
        class HallPath(Pathway):
            __agents__ = ["hall"]
            __complete_when__ = NEVER

        class OnePath(Pathway):
            __agents__ = ["one"]
            __complete_when__ = NEVER

        class TwoPath(Pathway):
            __agents__ = ["two"]
            __complete_when__ = NEVER

        __transitions__ = list(rules)

    return Desk


async def led_by(talk: Any, url: str, patterns: list[str], words: str) -> str | None:
    journey = desk(Transition(said(*patterns), to_pathway="one"))
    chat = await talk(journey, staff(journey), url)
    await chat.says(words)
    return chat.last.transition_to


async def test_a_longer_phrase_is_not_better_than_a_higher_priority(talk, memory_url):
    """Patterns, with Transition order."""
    journey = desk(
        Transition(said("what is the fee"), to_pathway="one", priority=1),
        Transition(said("fee"), to_pathway="two", priority=2),
    )
    chat = await talk(journey, staff(journey), memory_url)

    await chat.says("what is the fee?")

    assert chat.path == ["two"]


async def test_a_transition_without_phrases_is_never_taken(talk, memory_url):
    """Patterns: none match nothing."""
    assert await led_by(talk, memory_url, [], "anything") is None


# --- While a form is filled in --------------------------------------------------------------------

SHOPS = {
    "en": ["when do you open", "what's on the menu", "c++ course"],
    "de": ["wann öffnet ihr", "was gibt's zu essen", "größe ändern"],
    "es": ["a qué hora abren", "cámbialo", "¿hay menú?"],
}


def shop(language: str) -> type[Journey]:
    class Shop(Journey):
        __locale__ = Locale(language=language)

        class OrderPath(Pathway):
            __fields__ = [
                Field("count", "integer", "How many?"),
                Field("day", "date", "Which day?"),
            ]

        class InfoPath(Pathway):
            __agents__ = ["info"]
            __return_behavior__ = ReturnToPrevious()

        __transitions__ = [Transition(said(*SHOPS[language]), to_pathway="info")]

    return Shop


async def asked_in_a_form(talk: Any, url: str, language: str, words: str) -> str | None:
    journey = shop(language)
    chat = await talk(journey, staff(journey), url)
    await chat.says("3")
    await chat.says(words)
    return chat.last.transition_to


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "When do you open?"),
        ("en", "one more thing, WHEN DO\nYOU OPEN, please"),
        ("en", "what’s on the menu today?"),
        ("en", "is there a C++ course?"),
        ("de", "Wann öffnet ihr denn?"),
        ("de", "Ach so: wann o\u0308ffnet ihr?"),
        ("de", "Was gibt’s zu essen?"),
        ("de", "Bitte die GRÖSSE ÄNDERN!"),
        ("es", "¿A qué hora abren los domingos?"),
        ("es", "Cámbialo, por favor"),
        ("es", "Perdona, ¿hay menú? Gracias"),
    ],
)
async def test_a_phrase_is_heard_in_a_form(talk, memory_url, language, words):
    assert await asked_in_a_form(talk, memory_url, language, words) == "info"


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "can you open a bottle for us?"),
        ("en", "when exactly do you open?"),
        ("en", "do you open the windows in summer?"),
        ("en", "what is the menu printed on?"),
        ("en", "is there a course on cooking?"),
        ("de", "könnt ihr uns die Flasche öffnen?"),
        ("de", "wann genau öffnet ihr?"),
        ("de", "gibt es etwas ohne Essen?"),
        ("de", "kann sich die Größe noch ändern?"),
        ("es", "¿abren ustedes la botella?"),
        ("es", "¿a qué hora llega el tren?"),
        ("es", "¿cambia el precio?"),
        ("es", "¿hay un menú infantil?"),
    ],
)
async def test_some_words_of_a_phrase_are_not_the_phrase(talk, memory_url, language, words):
    assert await asked_in_a_form(talk, memory_url, language, words) is None


async def test_a_phrase_within_a_word_of_another_phrase_is_one_of_its_own(talk, memory_url):
    class Shop(Journey):
        class OrderPath(Pathway):
            __fields__ = [Field("count", "integer", "How many?")]

        class CarPath(Pathway):
            __fields__ = [Field("plate", "text", "Which plate?")]

        class CarpetPath(Pathway):
            __fields__ = [Field("width", "integer", "How wide?")]

        __transitions__ = [
            Transition(said("carpet"), to_pathway="carpet"),
            Transition(said("car"), to_pathway="car"),
        ]

    chat = await talk(Shop, {}, memory_url)

    await chat.says("the carpet or the car?")

    assert chat.last.transition_to is None
