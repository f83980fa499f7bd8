"""The first and the last day of a stay: which day is which, and from which one it is counted."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from journeygraph import Field
from journeygraph.nodes.commands import Correct, Fill
from journeygraph.nodes.language import Expected, read_message
from journeygraph.nodes.values import Setting
from tests.language.desks import ear, rows

TUESDAY = datetime(2022, 3, 15, 9, 0, tzinfo=ZoneInfo("UTC"))
IN = {
    "en": Setting(TUESDAY, "GB", "en"),
    "de": Setting(TUESDAY, "DE", "de"),
    "es": Setting(TUESDAY, "ES", "es"),
}
ASKED = {
    "en": (
        ("On which day will you arrive?", "On which day will you leave?"),
        ("How many nights will you stay?", "How many adults will be staying?"),
    ),
    "de": (
        ("An welchem Tag reisen Sie an?", "An welchem Tag reisen Sie ab?"),
        ("Wie viele Nächte bleiben Sie?", "Wie viele Erwachsene kommen?"),
    ),
    "es": (
        ("¿Qué día llega?", "¿Qué día se va?"),
        ("¿Cuántas noches se queda?", "¿Cuántos son adultos?"),
    ),
}


def stay(language: str, asked: str, known: dict[str, Any] | None = None) -> Expected:
    """Return an ear for a stay, with the field that is asked for first."""
    (first, last), (nights, adults) = ASKED[language]
    fields = [
        Field("first", "date", ask=first),
        Field("last", "date", ask=last),
        Field("nights", "integer", ask=nights),
        Field("adults", "integer", label=adults.split()[2], ask=adults),
    ]
    known = known or {}
    opened = sorted([f for f in fields if f.name not in known], key=lambda f: f.name != asked)
    kind = "summary" if asked == "summary" else "field"
    return ear(kind, asked, fields=opened, known=known, among=fields, setting=IN[language])


def given(message: str, expected: Expected) -> str:
    """Return the values of a message: "first 04-03, last 04-14"."""
    parse = read_message(message, expected)
    values = {c.field: str(c.read) for c in parse.commands if isinstance(c, (Fill, Correct))}
    said = [f"{name} {value.removeprefix('2022-')}" for name, value in sorted(values.items())]
    return ", ".join(said) or "nothing"


@pytest.mark.parametrize(
    ("language", "table"),
    [
        (
            "en",
            """
            we will arrive tomorrow
            I'd like to arrive on Wednesday
            check-in is on Wednesday
            we get there tomorrow
            I want to stay tomorrow night
            from tomorrow -> first 03-16
            I will arrive in 3 days -> first 03-18
            we are coming on the 20th -> first 03-20
            tomorrow
            we leave tomorrow
            on Wednesday
            back home on Wednesday -> last 03-16
            """,
        ),
        (
            "de",
            """
            wir reisen morgen an
            Anreise ist am Mittwoch
            ich komme am Mittwoch an
            ab morgen -> first 03-16
            Ankunft in 3 Tagen -> first 03-18
            morgen
            wir reisen am Mittwoch ab -> last 03-16
            """,
        ),
        (
            "es",
            """
            llegamos mañana
            la entrada es el miércoles
            desde mañana -> first 03-16
            llegaré dentro de 3 días -> first 03-18
            mañana
            nos vamos el miércoles -> last 03-16
            """,
        ),
    ],
)
def test_a_day_is_of_the_field_of_which_the_words_beside_it_speak(
    language: str, table: str
) -> None:
    for known in ({}, {"first": "2022-03-14"}):
        asked = stay(language, "last", known)
        got = {message: given(message, asked) for message, _ in rows(table)}
        assert got == dict(rows(table)), known


@pytest.mark.parametrize(
    ("language", "table"),
    [
        (
            "en",
            """
            check in the 4 April and check out the Wednesday -> first 04-04, last 04-06
            from Thursday until Thursday
            arriving Thursday, leaving the Thursday -> first 03-17, last 03-24
            arriving on Saturday leaving on Wednesday
            leaving Wednesday, arriving Saturday
            Saturday check-in, Wednesday check-out
            Saturday to Wednesday -> first 03-19, last 03-23
            we come on the 30th and leave on the 2nd -> first 03-30, last 04-02
            arrive tomorrow, depart 25th June -> first 03-16, last 06-25
            from the 3rd to the 14th
            3rd - 14th
            the third until the fourteenth -> first 04-03, last 04-14
            from August 18th to August 26th
            from the 18th to the 26th of August -> first 08-18, last 08-26
            from the 28th of August to the 3rd -> first 08-28, last 09-03
            from the 28th to the 3rd of May -> first 04-28, last 05-03
            arriving on Friday 7th of January
            not from Friday to Sunday -> nothing
            """,
        ),
        (
            "de",
            """
            Anreise am 4. April und Abreise am Mittwoch -> first 04-04, last 04-06
            von Donnerstag bis Donnerstag -> first 03-17, last 03-24
            Anreise Samstag, Abreise Mittwoch
            wir kommen am Samstag an und reisen am Mittwoch ab -> first 03-19, last 03-23
            vom 3. bis zum 14.
            3. bis 14. -> first 04-03, last 04-14
            vom 28. August bis zum 3. -> first 08-28, last 09-03
            """,
        ),
        (
            "es",
            """
            llegada el 4 de abril y salida el miércoles -> first 04-04, last 04-06
            del jueves al jueves -> first 03-17, last 03-24
            llegada el sábado, salida el miércoles
            llegamos el sábado y nos vamos el miércoles -> first 03-19, last 03-23
            del 3 al 14
            desde el 3 hasta el 14 -> first 04-03, last 04-14
            del 28 de agosto al 3 -> first 08-28, last 09-03
            """,
        ),
    ],
)
@pytest.mark.parametrize("asked", ["first", "last", "adults"])
def test_the_last_day_is_counted_from_the_first_at_any_question(
    language: str, asked: str, table: str
) -> None:
    expected = stay(language, asked)
    got = {message: given(message, expected) for message, _ in rows(table)}
    assert got == dict(rows(table))


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("en", "from the 3rd to the 14th, 2 adults"),
        ("de", "vom 3. bis zum 14. April, zwei Erwachsene"),
        ("es", "del 3 al 14, dos adultos"),
    ],
)
def test_what_is_said_beside_two_days_is_read(language: str, message: str) -> None:
    expected = stay(language, "first")
    assert given(message, expected) == "adults 2, first 04-03, last 04-14"


def test_a_known_stay_is_changed_within_its_months() -> None:
    table = """
        the 5th to the 8th -> first 2023-01-05, last 2023-01-08
        we arrive on the 3rd and leave on the 6th -> first 2023-01-03, last 2023-01-06
        till the 4th -> last 2023-01-04
        leaving on the 4th -> last 2023-01-04
    """
    known = {"first": "2023-01-02", "last": "2023-01-05"}
    got = {message: given(message, stay("en", "summary", known)) for message, _ in rows(table)}
    assert got == dict(rows(table))


@pytest.mark.parametrize(
    ("language", "table"),
    [
        (
            "en",
            """
            on the 5th
            next Friday the 17th
            we have to check out later than 6 -> nothing
            it's until the 21st -> last 03-21
            arriving on the 20th -> first 03-20
            a room for a couple -> adults 2
            21 -> {asked} 21
            """,
        ),
        (
            "de",
            """
            am 5.
            nächsten Freitag den 17.
            später als 6 -> nothing
            bis zum 21. -> last 03-21
            21 -> {asked} 21
            """,
        ),
        (
            "es",
            """
            el 5
            más tarde de las 6 -> nothing
            hasta el 21 -> last 03-21
            21 -> {asked} 21
            """,
        ),
    ],
)
@pytest.mark.parametrize("asked", ["nights", "adults"])
def test_a_day_or_an_hour_is_no_count(language: str, asked: str, table: str) -> None:
    table = table.replace("{asked}", asked)
    expected = stay(language, asked)
    got = {message: given(message, expected) for message, _ in rows(table)}
    assert got == dict(rows(table))


def test_a_day_of_the_month_or_a_floor_may_be_a_number() -> None:
    for name, ask in (("debit", "On which day of the month?"), ("floor", "On which floor is it?")):
        fields = (Field(name, "integer", ask=ask), Field("start", "date"))
        expected = ear("field", name, fields=fields, among=fields, setting=IN["en"])
        assert given("on the 5th", expected) == f"{name} 5"


def test_a_range_of_a_count_is_no_stay() -> None:
    expected = stay("en", "adults")
    for message in ("2 to 3 adults", "2 to 3", "for 2 to 3 people"):
        assert "first" not in given(message, expected), message


def test_two_days_without_a_word_about_them_are_in_the_order_of_their_fields() -> None:
    fields = (Field("payment", "date"), Field("meeting", "date"))
    expected = ear("field", "payment", fields=fields, among=fields, setting=IN["en"])
    table = """
        from Friday to Sunday -> meeting 03-20, payment 03-18
        from Friday -> payment 03-18
    """
    assert {message: given(message, expected) for message, _ in rows(table)} == dict(rows(table))


@pytest.mark.parametrize(
    ("language", "table"),
    [
        ("en", "a week -> nights 7\nfor two weeks\na fortnight -> nights 14\na weekend -> nothing"),
        ("de", "eine Woche -> nights 7\nzwei Wochen -> nights 14"),
        ("es", "una semana -> nights 7\npor dos semanas -> nights 14"),
    ],
)
def test_weeks_are_nights_where_these_are_asked_for(language: str, table: str) -> None:
    asked, other = stay(language, "nights"), stay(language, "adults")
    assert {message: given(message, asked) for message, _ in rows(table)} == dict(rows(table))
    for message, _ in rows(table):
        assert "adults" not in given(message, other), message


def test_days_at_the_ends_of_the_calendar_end_no_reading() -> None:
    known = {"first": "9999-12-30"}
    for message in ("the 3rd", "on Wednesday", "from the 3rd to the 14th", "until the 31st"):
        read_message(message, stay("en", "last", known))
    read_message("from the 28th to 3 January 0001", stay("en", "first"))
