"""Feasts, distances, people, counts of none, bounds of hours and full names, in both languages."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from journeygraph.journeys.errors import ConfigurationError
from journeygraph.journeys.notions.fields import Field, Range
from journeygraph.nodes.values import Setting, Unreadable, found_in, hint_of, shown, value_of
from journeygraph.nodes.values.scanning import DATA, language_from
from tests.values.spellings import ES, REFUSED, assert_read

AT = datetime(2026, 11, 22, 9, 0, tzinfo=ZoneInfo("Europe/London"))  # a Sunday
GB, DE = Setting(AT, "GB"), Setting(AT, "DE", "de")
DAY = Field("day", "date", "Which day?")
GUESTS = Field("guests", "integer", "How many people?")
PERSONEN = Field("personen", "integer", "Für wie viele Personen?")
FULL = Field("who", "full_name", "What is your full name?")


def test_days_by_distance_from_a_day() -> None:
    english = {
        "tomorrow week": "2026-11-30",
        "today week": "2026-11-29",
        "a week tomorrow": "2026-11-30",
        "a week on friday": "2026-12-04",
        "friday week": "2026-12-04",
        "Wednesday fortnight": "2026-12-09",
        "two weeks from tomorrow": "2026-12-07",
        "in two months' time": "2027-01-22",
        "in a fortnight": "2026-12-06",
        "the day after Christmas": "2026-12-26",
        "two days before Easter": "2027-03-26",
        "a week after the 3rd of December": "2026-12-10",
        "next month": "2026-12-01",
        "the start of next month": "2026-12-01",
        "the weekend": REFUSED,
        "end of the month": REFUSED,
    }
    german = {
        "heute in einer Woche": "2026-11-29",
        "morgen in einer Woche": "2026-11-30",
        "Freitag in 14 Tagen": "2026-12-11",
        "Donnerstag in zwei Wochen": "2026-12-10",
        "übernächsten Montag": "2026-11-30",
        "am Tag nach Weihnachten": "2026-12-26",
        "zwei Tage vor Ostern": "2027-03-26",
        "eine Woche nach Neujahr": "2027-01-08",
        "Anfang nächsten Monats": "2026-12-01",
        "nächsten Monat": "2026-12-01",
        "am Wochenende": REFUSED,
        "zum Monatsende": REFUSED,
    }

    assert_read(DAY, english, GB)
    assert_read(DAY, german, DE)


def test_feasts_and_named_days_of_a_month() -> None:
    english = {
        "Easter Monday": "2027-03-29",
        "good friday": "2027-03-26",
        "Easter Sunday 2028": "2028-04-16",
        "whit monday": "2027-05-17",
        "Christmas Eve": "2026-12-24",
        "boxing day": "2026-12-26",
        "New Year's Day": "2027-01-01",
        "new year\u2019s eve 2027": "2027-12-31",
        "thanksgiving": "2026-11-26",
        "mother's day": "2027-05-09",
        "the first of advent": "2026-11-29",
        "the last Friday of December": "2026-12-25",
        "first monday in March 2027": "2027-03-01",
        "third thursday of january": "2027-01-21",
        "Friday the 13th": "2027-08-13",
        "Monday the 4th": "2027-01-04",
        "Tuesday the 1st": "2026-12-01",
        "Friday the 26th": REFUSED,  # it is a Thursday, and in four days
    }
    german = {
        "Ostermontag": "2027-03-29",
        "Karfreitag": "2027-03-26",
        "Pfingstmontag": "2027-05-17",
        "an Heiligabend": "2026-12-24",
        "1. Weihnachtstag": "2026-12-25",
        "am zweiten Weihnachtsfeiertag": "2026-12-26",
        "zu Silvester": "2026-12-31",
        "Neujahr": "2027-01-01",
        "erster Advent": "2026-11-29",
        "Rosenmontag": "2027-02-08",
        "der letzte Freitag im Dezember": "2026-12-25",
        "am ersten Montag im März": "2027-03-01",
        "Freitag, der 13.": "2027-08-13",
    }

    assert_read(DAY, english, GB)
    assert_read(DAY, german, DE)


def test_years_are_read_in_words() -> None:
    born = Field("born", "date", "When were you born?", validators=[Range(most="today")])
    table = {
        "am dritten Mai neunzehnhundertneunzig": "1990-05-03",
        "am zwölften Juni neunzehnhundertfünfundachtzig": "1985-06-12",
        "7. Juli zweitausendfünf": "2005-07-07",
        "third of May nineteen ninety": "1990-05-03",
        "May 3rd, nineteen eighty-five": "1985-05-03",
        "5 June two thousand and five": "2005-06-05",
        "the 1st of January nineteen oh five": "1905-01-01",
        "July fourth nineteen seventy six": "1976-07-04",
    }

    assert_read(born, table, DE)
    assert_read(born, table, GB)
    [span] = found_in(DAY, "on 3 May, twenty people", GB)
    assert span.value == "2027-05-03"


def test_hours_are_those_of_what_is_asked_for() -> None:
    dinner = Field("time", "time", "At what time is dinner?")
    abend = Field("zeit", "time", "Wann heute Abend?")
    ranged = Field("time", "time", "At what time?", validators=[Range("17:00", "22:00")])
    halves = {"07:00PM": "19:00", "03:30 PM": "15:30", "01:30 p.m.": "13:30"}

    assert_read(
        dinner, {**halves, "at 7": "19:00", "after 6": REFUSED, "8 in the morning": "08:00"}
    )
    assert_read(abend, {"um 7": "19:00", "nach 6": REFUSED, "um halb acht": "19:30"}, DE)
    assert_read(ranged, {**halves, "after 6": REFUSED, "from 7 on": "19:00", "before 9": REFUSED})


@pytest.mark.parametrize("said", ["after 6", "ab 6", "nach 6", "before 9", "vor 9"])
def test_a_bound_of_hours_that_may_be_either_is_not_sure(said: str) -> None:
    field = Field("time", "time", "At what time?")

    assert not [span for span in found_in(field, said, DE) if span.certain]
    with pytest.raises(Unreadable):
        value_of(field, said, DE)


def test_people_are_counted_by_who_comes() -> None:
    english = {
        "2 adults, 1 child": 3,
        "two adults and two kids": 4,
        "3 adults with 2 children": 5,
        "me and my sister": 2,
        "my wife and I": 2,
        "myself and a friend": 2,
        "me plus two friends": 3,
        "me, my husband and our 3 kids": 5,
        "me and 3 others": 4,
        "just me": 1,
        "only me": 1,
        "the two of us": 2,
        "five of us": 5,
        "2 of us and the kids": REFUSED,
        "me and the kids": REFUSED,
        "2 kids and 3 grown-ups": 5,
        "my wife, me and the twins": REFUSED,
        "2 adults, 1 child and a dog": REFUSED,
        "4 or 5": REFUSED,
    }
    german = {
        "zwei Erwachsene, ein Kind": 3,
        "2 Erwachsene und 2 Kinder": 4,
        "ein Erwachsener mit zwei Kindern": 3,
        "ich und meine Frau": 2,
        "mein Mann und ich": 2,
        "meine Frau, ich und unsere zwei Kinder": 4,
        "nur ich": 1,
        "ich allein": 1,
        "wir beide": 2,
        "zu zweit": 2,
        "ich und die Kinder": REFUSED,
    }

    assert_read(GUESTS, english, GB)
    assert_read(PERSONEN, german, DE)
    assert found_in(GUESTS, "2 of us and the kids", GB) == []
    assert read_value(Field("nights", "integer", "How many nights?"), "2 adults, 1 child") is None


def test_people_are_counted_as_the_question_calls_them() -> None:
    for setting, ask, said in (
        (GB, "How many passengers are there?", {"three adults and a child": 4, "just me": 1}),
        (GB, "How many students will attend?", {"two boys and two girls": 4, "me and a friend": 2}),
        (DE, "Für wie viele Fluggäste?", {"drei Erwachsene und ein Baby": 4, "bloß ich": 1}),
        (DE, "Wie viele Schüler kommen mit?", {"zwei Jungen und drei Mädchen": 5}),
        (ES, "¿Cuántos pasajeros son?", {"tres adultos y un bebé": 4, "yo solo": 1}),
    ):
        assert_read(Field("n", "integer", ask), said, setting)


def test_of_one_kind_of_people_others_are_not_counted() -> None:
    for setting, ask, said in (
        (GB, "How many children?", {"a son and two daughters": 3, "two sons, one girl": 3}),
        (GB, "How many kids?", {"my son and my daughter": 2, "just me": REFUSED}),
        (GB, "How many adults?", {"me and my husband": 2, "two kids": REFUSED}),
        (DE, "Wie viele Kinder?", {"ein Sohn und eine Tochter": 2, "nur ich": REFUSED}),
        (DE, "Wie viele Erwachsene?", {"zwei Frauen und ein Mann": 3, "ein Kind": REFUSED}),
        (ES, "¿Cuántos niños?", {"una hija y dos hijos": 3, "solo yo": REFUSED}),
        (ES, "¿Cuántos adultos?", {"dos mujeres y un hombre": 3, "un niño": REFUSED}),
    ):
        assert_read(Field("n", "integer", ask), said, setting)
    found = found_in(Field("n", "integer", "How many children?"), "2 adults and 1 child", GB)
    assert [span.value for span in found] == [1]


def test_none_is_a_count_of_nought() -> None:
    bags = Field("bags", "integer", "How many bags?")
    koffer = Field("koffer", "integer", "Wie viele Koffer?")
    english = ("none", "none, thanks", "no bags", "not any", "I have none", "zero")

    assert_read(bags, {**dict.fromkeys(english, 0), "no": REFUSED, "none of it broke": REFUSED}, GB)
    assert_read(
        koffer, {**dict.fromkeys(("keine", "keine Koffer", "null"), 0), "nein": REFUSED}, DE
    )
    assert found_in(bags, "none of that is true", GB) == []


def test_places_in_an_order_are_numbers_where_they_are_asked_for() -> None:
    floor, etage = (
        Field("floor", "integer", "Which floor?"),
        Field("x", "integer", "Welche Etage?"),
    )
    table = {"second floor": 2, "the 3rd floor": 3, "on the twelfth floor": 12, "third": 3}

    assert_read(floor, table, GB)
    assert_read(etage, {"zweite Etage": 2, "im dritten Stock": 3, "2. Stock": 2, "dritte": 3}, DE)
    assert_read(GUESTS, {"the second": REFUSED, "third": REFUSED}, GB)


def test_a_word_of_agreement_or_a_state_is_no_name() -> None:
    name = Field("name", "name", "In which name?")
    english = ("It's true", "it's correct", "it's complicated", "I'm late", "this is great", "me")
    german = ("das ist richtig", "es ist wahr", "stimmt", "ich bin müde", "es ist dringend")

    assert_read(name, dict.fromkeys((*english, "no wait, no breakfast"), REFUSED), GB)
    assert_read(name, dict.fromkeys(german, REFUSED), DE)
    assert_read(name, {"the name's Bond, James Bond": "James Bond", "i'm lee": "lee"}, GB)
    assert_read(name, {"mein Name ist Bond, James Bond": "James Bond"}, DE)


def test_a_full_name_has_both_parts_and_is_shown_as_one() -> None:
    def parts(given: str, family: str) -> dict[str, str]:
        return {"given": given, "family": family}

    english = {
        "James Bond": parts("James", "Bond"),
        "the name's Bond, James Bond": parts("James", "Bond"),
        "Jansen, Maria": parts("Maria", "Jansen"),
        "first name Maria, last name Jansen": parts("Maria", "Jansen"),
        "My first name is Anna and my last name is van Dyke": parts("Anna", "van Dyke"),
        "Vincent van Gogh": parts("Vincent", "van Gogh"),
        "Dr. Anna Schmidt": parts("Anna", "Schmidt"),
        "Martin Luther King Jr.": parts("Martin Luther", "King Jr."),
        "李小龍": parts("小龍", "李"),
        "Bond": REFUSED,
        "my first name is Anna": REFUSED,
        "It's true": REFUSED,
        "yes": REFUSED,
    }
    german = {
        "ich heiße Jürgen Groß": parts("Jürgen", "Groß"),
        "Vorname Anna, Nachname Müller": parts("Anna", "Müller"),
        "mein Vorname ist Anna und mein Nachname ist von der Heide": parts("Anna", "von der Heide"),
        "Anna": REFUSED,
        "Anna Maria Schmidt": parts("Anna Maria", "Schmidt"),
    }
    spanish = {
        "Ana Ruiz": parts("Ana", "Ruiz"),
        "Lucía Fernández Prieto": parts("Lucía", "Fernández Prieto"),
        "María José García": parts("María José", "García"),
        "María José García López": parts("María José", "García López"),
        "soy Juan de la Cruz Pérez": parts("Juan", "de la Cruz Pérez"),
        "María del Carmen López García": parts("María del Carmen", "López García"),
        "José Ortega y Gasset": parts("José", "Ortega y Gasset"),
        "Ana de la Torre": parts("Ana", "de la Torre"),
        "Fernández Prieto, Lucía": parts("Lucía", "Fernández Prieto"),
        "John F. Kennedy": parts("John F.", "Kennedy"),
    }

    assert_read(FULL, english, GB)
    assert_read(FULL, german, DE)
    assert_read(FULL, spanish, ES)
    assert shown(FULL, parts("Vincent", "van Gogh"), GB) == "Vincent van Gogh"
    assert value_of(FULL, shown(FULL, parts("Vincent", "van Gogh"), GB), GB) == parts(
        "Vincent", "van Gogh"
    )
    assert hint_of(FULL, GB) == "for example Maria Jansen"
    [span] = found_in(FULL, "Hi, my name is Lee Smith and I need a table", GB)
    assert (span.value, span.raw, span.type) == (parts("Lee", "Smith"), "Lee Smith", "full_name")


def test_two_addresses_are_no_answer() -> None:
    email = Field("email", "email")

    assert_read(email, {"me@x.org or you@x.org": REFUSED, "not me@x.org, you@x.org": "you@x.org"})
    assert len(found_in(email, "me@x.org or you@x.org", GB)) == 2


def read_value(field: Field, said: str) -> Any:
    try:
        return value_of(field, said, GB)
    except Unreadable:
        return None


@pytest.mark.parametrize(
    ("part", "wrong", "fault"),
    [
        ("  tens: twenty", "  tns: twenty", "numbers.tns: is not known."),
        ("beside: de", "besides: de", "besides: is not known."),
        ("  order: ten unit", "  order: as you like", "numbers.order: must be text"),
        ("christmas eve: 12-24", "christmas eve: 24.12.", "dates.feasts: must be phrases: text"),
        ("  minus: minus", "  minus: (minus", "numbers.minus: must be phrases"),
        ("tuesday tues tue, ", "", "dates.weekdays: must be lists 7, and there are 6."),
        ("  point: point", "  point: 1", "numbers.point: must be phrases"),
        ("  month_ends: (the )?", "  month_ends: x,, (the )?", "remove the extra comma"),
    ],
)
def test_a_fault_in_the_words_of_a_language_names_its_part(
    tmp_path: Any, part: str, wrong: str, fault: str
) -> None:
    text = (DATA / "en.yaml").read_text("utf-8")
    assert part in text
    file = tmp_path / "xx.yaml"
    file.write_text(text.replace(part, wrong), "utf-8")

    with pytest.raises(ConfigurationError) as caught:
        language_from(file)
    assert fault in str(caught.value)
    assert "xx.yaml" in str(caught.value)


def test_the_language_that_is_spoken_decides_about_words_of_several() -> None:
    spanish = Setting(AT, "ES", "es")

    assert_read(Field("n", "integer", "¿Cuántas personas?"), {"somos once": 11}, spanish)
    assert_read(Field("n", "integer", "How many?"), {"once": 1}, GB)
    table = {"martes 13": "2027-04-13", "3 de mayo de mil novecientos noventa": "1990-05-03"}
    assert_read(Field("d", "date", "¿Qué día?"), table, spanish)
    assert_read(DAY, {"nächsten Freitag": "2026-11-27", "Ostermontag": "2027-03-29"}, GB)
