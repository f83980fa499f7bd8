"""The closed grammar: what derives is certain, and everything else is not."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from journeygraph.journeys.declarations.fields import Field, Range, Regex
from journeygraph.journeys.locale import LANGUAGES
from journeygraph.nodes.commands import (
    Back,
    Cancel,
    Choose,
    Command,
    Confirm,
    Correct,
    Deny,
    Explain,
    Fill,
    Human,
    Repeat,
    Restart,
    Skip,
    Status,
    Wait,
)
from journeygraph.nodes.language.expected import Expected
from journeygraph.nodes.language.grammar import PRODUCTIONS
from journeygraph.nodes.language.lexicon import lexicon_of
from journeygraph.nodes.language.proposals import read_message
from journeygraph.nodes.state.dialogue_state import Asked, Option
from journeygraph.nodes.values.setting import Setting

NOW = datetime.fromisoformat("2026-11-24T12:00:00+00:00")
GUESTS = Field("guests", "integer", "For how many?", label="party", validators=[Range(1, 20)])
DAY = Field("day", "date", "For which day?")
NAME = Field("name", "name", "In which name?")
WISHES = Field("wishes", "text", "Any wishes?", required=False)
SEATING = Field(
    "seating", "enum", "Where?", choices={"inside": ["indoors"], "terrace": ["outside"]}
)
NOTE = Field("note", "text", "What shall the card say?", verbatim=True)
CODE = Field("code", "text", "Which code?", validators=[Regex(r"[A-Z]{2}-\d{4}")])
PETS = Field("pets", "boolean", "Any pets?")
ALL = (GUESTS, DAY, NAME, WISHES, SEATING, NOTE, CODE, PETS)


def expected(
    asked: str = "", known: dict[str, Any] | None = None, language: str = "en", kind: str = "field"
) -> Expected:
    known = known or {}
    options = [Option(id="t1", label="Book a table"), Option(id="t2", label="Order a taxi")]
    about = Asked(kind=kind, about=asked, options=options if kind == "clarify" else [])
    return Expected(
        about if asked or kind != "field" else None,
        [field for field in ALL if field.name not in known],
        known,
        [field for field in ALL if field.name in known],
        Setting(NOW, language=language),
        ("booking",),
    )


def exact(message: str, moment: Expected) -> Command | None:
    parse = read_message(message, moment)
    if parse.exact:
        assert len(parse.commands) == 1
        assert not parse.unread
        return parse.commands[0]
    return None


EXACT: list[tuple[str, str, dict[str, Any], Command]] = [
    ("four", "guests", {}, Fill("guests", "four")),
    ("four, please", "guests", {}, Fill("guests", "four")),
    ("Hello! 4. Thanks", "guests", {}, Fill("guests", "4")),
    ("24 December", "day", {}, Fill("day", "24 December")),
    ("my name is Mia Lind", "name", {}, Fill("name", "my name is Mia Lind")),
    ("outside", "seating", {}, Fill("seating", "outside")),
    ("yes", "pets", {}, Fill("pets", "yes")),
    ("no thanks", "wishes", {}, Skip()),
    ("Happy birthday, and many more!", "note", {}, Fill("note", "Happy birthday, and many more!")),
    ("AB-1234", "code", {}, Fill("code", "AB-1234")),
    ("cancel", "note", {}, Cancel()),
    ("none", "guests", {}, Fill("guests", "none")),
    ("no guests", "guests", {}, Fill("guests", "no guests")),
    ("just four, please", "guests", {}, Fill("guests", "four")),
    ("only outside", "seating", {}, Fill("seating", "outside")),
    ("none", "wishes", {}, Skip()),
    ("the party is six, not four", "day", {"guests": 4}, Correct("guests", "six")),
    ("sorry, not four, six", "day", {"guests": 4}, Correct("guests", "six")),
    ("six, not four", "day", {"guests": 4}, Correct("guests", "six")),
    ("six instead of four", "day", {"guests": 4}, Correct("guests", "six")),
    ("instead of four please six", "day", {"guests": 4}, Correct("guests", "six")),
    ("instead of four, make it six", "day", {"guests": 4}, Correct("guests", "six")),
    ("party 6, not 4", "day", {"guests": 4}, Correct("guests", "6")),
    ("actually, make it five", "name", {"guests": 4}, Correct("guests", "five")),
    ("the party is 5", "day", {"guests": 4}, Correct("guests", "5")),
    ("change the party to 5", "day", {"guests": 4}, Correct("guests", "5")),
    ("why do you need the party?", "guests", {}, Explain("guests")),
]


@pytest.mark.parametrize(("message", "asked", "known", "command"), EXACT)
def test_what_derives_as_a_whole_is_certain(message, asked, known, command) -> None:
    assert exact(message, expected(asked, known)) == command


@pytest.mark.parametrize(
    ("message", "asked", "known"),
    [
        ("we are four by the way", "guests", {}),
        ("one of three", "guests", {}),
        ("about four", "guests", {}),
        ("four or five", "guests", {}),
        ("another three", "day", {"guests": 4}),
        ("four?", "guests", {}),
        ("one week later", "day", {}),
        ("not four", "guests", {}),
        ("between the 3rd and the 5th", "day", {}),
        ("yes and make it five", "pets", {"guests": 4}),
        ("Clara Voss and Ben Adler", "name", {}),
        ("nothing special just the usual", "name", {}),
        ("a quiet table", "wishes", {}),
        ("so what is that", "code", {}),
        ("not Friday, Saturday", "name", {"day": "2026-11-30"}),
        ("no forget the crossing", "pets", {}),
        ("make it five", "guests", {"day": "2026-11-30", "nights": 3}),
    ][:-1],
)
def test_everything_else_is_not(message: str, asked: str, known: dict[str, Any]) -> None:
    assert exact(message, expected(asked, known)) is None


@pytest.mark.parametrize(
    ("message", "command"),
    [
        ("yes", Confirm()),
        ("Yes, that's right.", Confirm()),
        ("no, leave it", Deny()),
        ("forget it", Cancel()),
        ("start over", Restart()),
        ("go back", Back()),
        ("can you repeat that?", Repeat()),
        ("where are we?", Status()),
        ("one moment please", Wait()),
        ("I want to talk to a person", Human()),
        ("cancel the booking", Cancel(task="booking")),
        ("yes, but for five", None),
        ("no I meant yes", None),
    ],
)
def test_a_summary_is_answered_by_closed_lists_alone(message: str, command: Command | None) -> None:
    assert exact(message, expected("book", kind="summary")) == command


@pytest.mark.parametrize("said", ["2", "order a taxi", "Order a taxi, please", "t2"])
def test_an_option_is_chosen_by_its_label_its_place_or_its_id(said: str) -> None:
    assert exact(said, expected(kind="clarify")) == Choose("t2")


# A friday that is "not" something goes either way in these languages, without a sign.
@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("es", "el viernes no, el sábado"),
        ("es", "no el viernes"),
        ("de", "Freitag nicht, Samstag"),
        ("fr", "pas vendredi"),
    ],
)
def test_a_day_that_is_denied_replaces_none(language: str, message: str) -> None:
    saturday = {"day": "2026-11-28"}
    assert exact(message, expected("guests", saturday, language)) is None


@pytest.mark.parametrize(
    ("language", "message", "is_name"),
    [
        ("de", "der Hund heißt Balu", False),
        ("de", "der Hund", False),
        ("de", "Hannes von der Leyen", True),
        ("fr", "le chien s'appelle Rex", False),
        ("fr", "Rex s'appelle Rex", False),
        ("fr", "Jeanne de la Tour", True),
        ("es", "Rex se llama Rex", False),
        ("es", "Ana y Luis", False),
        ("en", "dog called Rex", False),
        ("en", "Vincent van Gogh", True),
    ],
)
def test_a_name_is_neither_a_sentence_about_one_nor_two(language, message, is_name) -> None:
    assert (exact(message, expected("name", language=language)) is not None) == is_name


@pytest.mark.parametrize(
    ("language", "question", "message", "name"),
    [
        ("de", "Wie heißt das Kind?", "er heißt Emil Saalfeld", "Emil Saalfeld"),
        ("en", "What is your dog called?", "he is called Rex", "Rex"),
        ("es", "¿Cómo se llama el perro?", "se llama Luna", "Luna"),
        ("fr", "Comment s'appelle le chien ?", "il s'appelle Rex", "Rex"),
        ("en", "In which name?", "he is called Rex", None),
        ("de", "Auf welchen Namen?", "er heißt Emil Saalfeld", None),
    ],
)
def test_what_another_is_called_is_a_name_where_that_is_asked(
    language, question, message, name
) -> None:
    moment = replace(
        expected("name", language=language), fields=[NAME.model_copy(update={"ask": question})]
    )
    command = exact(message, moment)
    assert getattr(command, "read", None) == name


@pytest.mark.parametrize(
    ("language", "message", "command"),
    [
        ("de", "nein, nicht vier, sechs", Correct("guests", "sechs")),
        ("de", "sechs statt vier", Correct("guests", "sechs")),
        ("de", "statt vier bitte sechs", Correct("guests", "sechs")),
        ("es", "en vez de cuatro, por favor seis", Correct("guests", "seis")),
        ("es", "perdón, no cuatro, sino seis", Correct("guests", "seis")),
        ("es", "seis en vez de cuatro", Correct("guests", "seis")),
        ("fr", "non, pas quatre, six", Correct("guests", "six")),
        ("fr", "six au lieu de quatre", Correct("guests", "six")),
    ],
)
def test_the_productions_are_the_same_in_every_language(language, message, command) -> None:
    assert exact(message, expected("day", {"guests": 4}, language)) == command


CONTROLS = ("cancel", "cancel_all", "restart", "back", "status", "human", "wait", "repeat", "skip")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", CONTROLS)
def test_every_phrase_of_a_list_derives_and_no_word_beside_it_does(language, name) -> None:
    lexicon, moment = lexicon_of(language), expected("wishes", language=language)
    for phrase in lexicon.phrases[name]:
        said = " ".join(phrase)
        command = exact(said, moment)
        assert command is not None, said
        for courtesy in lexicon.phrases["courtesy"]:
            assert exact(f"{said}, {' '.join(courtesy)}", moment) == command
        assert exact(f"{said} zebra", moment) is None
        assert exact(f"zebra {said}", moment) is None


def test_the_grammar_is_small_and_has_each_act() -> None:
    assert len(PRODUCTIONS) <= 40
    assert {production.act for production in PRODUCTIONS} == {"answer", "control", "change"}


WORDS = ["four", "five", "no", "not", "sorry", "actually", "make", "it", "the", "party", "is", "or"]
WORDS += ["about", "cancel", "why", "later", "yes", "and", "please", "Friday", "zebra", "instead"]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8), st.sampled_from(["guests", "day"]))
def test_no_certain_reading_holds_a_word_of_relation_or_of_no_list(words, asked) -> None:
    known = {"guests": 4} if asked == "day" else {}
    command = exact(" ".join(words), expected(asked, known))
    if command is not None:
        assert {"or", "about", "later", "zebra", "and"}.isdisjoint(words), (words, command)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200), st.sampled_from(LANGUAGES))
def test_any_message_is_read(text: str, language: str) -> None:
    read_message(text, expected("guests", {"day": "2026-11-30"}, language))


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("any day but Thursday", "en"),
        ("all of them, apart from Sunday", "en"),
        ("jeder Tag außer Freitag", "de"),
        ("cualquier día menos el jueves", "es"),
        ("tous les jours sauf le lundi", "fr"),
    ],
)
def test_an_exception_is_no_proposal(message: str, language: str) -> None:
    assert read_message(message, expected("day", language=language)).commands == []


@pytest.mark.parametrize(
    "message",
    ["my brother, but i am not sure", "three weeks of trying, dear me", "we have waited, oh well"],
)
def test_small_words_of_a_longer_message_are_no_name(message: str) -> None:
    assert read_message(message, expected("name")).commands == []


def test_an_hour_without_a_sign_of_one_is_not_taken_where_another_thing_was_asked() -> None:
    hour = Field("hour", "time", "¿A qué hora?")
    asked = Asked(kind="field", about="seating", options=[])
    moment = Expected(asked, [SEATING, hour], {}, (), Setting(NOW, language="es"))
    assert read_message("las dos, la grande y la otra", moment).commands == []
    [found] = read_message("la grande, a las dos de la tarde", moment).commands
    assert found == Fill("hour", "a las dos de la tarde", read="14:00", certain=False)
