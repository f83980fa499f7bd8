"""Values of open fields: the whole message, several in one, and none where it is about else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from journeygraph import Field, Range, Regex
from journeygraph.nodes.commands import Correct, Fill
from journeygraph.nodes.language import Expected, read_message
from journeygraph.nodes.values import Setting
from tests.language.desks import (
    BANK,
    CLAIM,
    CLINIC,
    ENGLISH,
    GERMAN,
    HOTEL,
    PARCEL,
    RESTAURANT,
    SPANISH,
    TELECOM,
    asking,
    ear,
    rows,
    told,
    wrong,
)


def test_a_whole_message_is_the_value_that_was_asked_for() -> None:
    asked = [
        ("amount", BANK, ["40", "40 euros", "€40", "about 40 euros", "1,250.50", "forty"]),
        ("recipient", BANK, ["Maya", "it's Maya", "it's Lee", "Anne-Marie O'Neil", "李小龙"]),
        (
            "party_size",
            RESTAURANT,
            [
                "4",
                "four",
                "we are 4",
                "4 people",
                "for six please",
                "just 2",
            ],
        ),
        ("date", RESTAURANT, ["tomorrow", "on Friday", "2026-12-24", "it's for tomorrow, please"]),
        ("time", RESTAURANT, ["19:00", "7pm", "at 8", "half past seven", "8 o'clock", "7pm?"]),
        ("email", PARCEL, ["ada@example.com", "my email is ada@example.com"]),
        ("phone", CLINIC, ["+44 20 7946 0958", "my number is 020 7946 0958"]),
        ("age", CLINIC, ["36", "I'm 36", "36 years old", "I am 36"]),
        ("weight", PARCEL, ["2.5", "about 3"]),
        ("pickup_address", PARCEL, ["12 Main Street, Leeds", "Hauptstr. 5, 10115 Berlin"]),
        ("date_of_birth", CLINIC, ["3 May 1990", "I was born on 3 May 1990", "1990-05-03"]),
        ("nights", HOTEL, ["3", "three nights", "3 nights please"]),
    ]
    for name, desk, messages in asked:
        listening = asking(name, desk)
        for message in messages:
            heard = read_message(message, listening)
            assert told(heard) == f"Fill {name} {message}", message
            assert heard.whole, message


def test_a_greeting_is_no_answer() -> None:
    for name, desk in (("damage", CLAIM), ("recipient", BANK), ("amount", BANK)):
        assert wrong("hello\ngood morning\nthanks -> nothing", asking(name, desk)) == {}
        german = asking(name, desk, setting=GERMAN)
        assert wrong("Guten Tag\nhallo\nGuten Morgen -> nothing", german) == {}


def test_free_text_is_taken_as_it_was_said() -> None:
    listening = asking("damage", CLAIM)
    for message in (
        "The bumper is broken.",
        "yes it was raining and the other car slipped",
        "A tree fell on it, 3 windows broke on Friday at 7",
        "quite a lot: door, window, wheel",
    ):
        heard = read_message(message, listening)
        assert told(heard) == f"Fill damage {message}", message
        assert heard.whole, message
    for message in (
        "no",
        "I don't know",
        "actually, quite a lot: door, window, wheel",
        "it broke, can I get a rental car",
        "on Friday at 7, sorry",
    ):
        heard = read_message(message, listening)
        assert told(heard) == f"Fill damage {message}? + {message}", message
    table = """
        why do you ask?
        how much is my excess?
        when will you pay -> nothing
        can I get a rental car? -> Fill damage can I get a rental car?? + can I get a rental car?
    """
    table = table.replace("why do you ask?\n", "what is my excess\n")
    assert wrong(table, listening) == {}


def test_several_values_are_taken_from_one_message() -> None:
    table = """
        table for 4 tomorrow at 7, name Lee
            -> Fill party_size 4, Fill date tomorrow, Fill time 7, Fill name Lee
        a table for four people on Friday at 19:30 please
            -> Fill party_size four, Fill date Friday, Fill time 19:30
        Tomorrow, 7pm, 4 people -> Fill date Tomorrow, Fill time 7pm, Fill party_size 4
        We are 6, on 24 December at 8pm -> Fill party_size 6, Fill date 24 December, Fill time 8pm
        for 2 on Friday -> Fill party_size 2, Fill date Friday
        on Friday at 8 for 6 -> Fill date Friday, Fill time 8, Fill party_size 6
        do you have a table for 4 tomorrow? -> Fill party_size 4, Fill date tomorrow
    """
    assert _differently_spelled(table, asking("party_size", RESTAURANT)) == {}
    assert _differently_spelled(table, ear(fields=RESTAURANT)) == {}
    table = """
        check in tomorrow, check out on Sunday -> Fill check_in tomorrow, Fill check_out Sunday
        from Friday to Sunday, 2 rooms -> Fill check_in Friday, Fill check_out Sunday, Fill rooms 2
        2 rooms for 3 nights from Friday -> Fill rooms 2, Fill nights 3, Fill check_in Friday
        two rooms, my email is ada@example.com -> Fill rooms two, Fill email ada@example.com
    """
    assert _differently_spelled(table, asking("check_in", HOTEL)) == {}
    table = """
        on the terrace for 4 tomorrow
            -> Fill seating terrace, Fill party_size 4, Fill date tomorrow
    """
    assert _differently_spelled(table, ear(fields=RESTAURANT)) == {}
    table = """
        send 50 to Maya -> Fill amount 50, Fill recipient Maya
        send €50 to Maya please -> Fill amount €50, Fill recipient Maya
        I want to transfer 20 euros to Alex -> Fill amount 20 euros, Fill recipient Alex
    """
    assert _differently_spelled(table, ear(fields=BANK)) == {}
    table = """
        my policy is AB-12345, it happened yesterday
            -> Fill policy_number AB-12345, Fill accident_date yesterday
    """
    assert _differently_spelled(table, asking("accident_date", CLAIM)) == {}
    table = """
        10 GB from tomorrow, +44 20 7946 0958
            -> Fill data 10, Fill start tomorrow, Fill phone +44 20 7946 0958
    """
    assert _differently_spelled(table, asking("phone", TELECOM)) == {}


def test_an_answer_and_a_question_are_told_apart() -> None:
    table = """
        4 people. Do you have parking? -> Fill party_size 4 + Do you have parking
        4 people, what does the menu cost? -> Fill party_size 4 + what does the menu cost
    """
    got = {m: g.replace("?", "") for m, g in wrong(table, asking("party_size", RESTAURANT)).items()}
    expected = dict(line.strip().split(" -> ") for line in table.strip().splitlines())
    assert all(expected[message].replace("?", "") == heard for message, heard in got.items())
    for message in expected:
        heard = read_message(message, asking("party_size", RESTAURANT))
        assert not heard.certain
        assert not heard.whole


def test_nothing_is_taken_from_what_is_about_something_else() -> None:
    about = [
        (
            "age",
            CLINIC,
            """
            my cat is 12, ha
            my dog was 15 when he died
            my daughter is 7
            I have 3 cats
            I waited 45 minutes
            it costs 20 euros, right
            it is 7pm already
            the weather is nice, 25 degrees
            buy me bitcoin
            call me at 5
            not 36
            I read 3 books last year
            2 of my friends are doctors
            I was here 5 years ago
            what is 12 times 12?
            how old are you?
            who are you
            are you 5?
            age is just a number
        """,
        ),
        (
            "amount",
            BANK,
            """
            transfer
            how much do I have?
            my rent is 900 euros
            what is my limit
            my card ends in 4711
            the fee was 3 euros last time
            card
            I lost my card
            I would like to see my balance
            when does the bank open on Friday
        """,
        ),
        (
            "date",
            RESTAURANT,
            """
            my birthday is on 3 May
            my flight was on Friday
            the food was great last Friday
            do you have vegan food
            who cooks?
            Friday or Saturday
            tomorrow or the day after
            skip Friday
            I was there last Friday and it was bad
            not tomorrow
            I have a dog
            any day but Friday
            anything but tomorrow
            every day other than Friday works
        """,
        ),
        (
            "recipient",
            BANK,
            """
            how much do I have?
            I want to check my balance
            what is this
            where do you live
            can you help me with my card
            I lost my card
        """,
        ),
        (
            "phone",
            CLINIC,
            """
            my cat is 12, ha
            it rains
            you have my number
            what is your number?
            my brother has 2 phones
        """,
        ),
        (
            "email",
            PARCEL,
            """
            I have no time for this today
            you already have it
            my email is broken
        """,
        ),
        (
            "weight",
            PARCEL,
            """
            my dog weighs 20 kg
            it is for my mother
            I have 2 parcels
            the last one took 5 days
        """,
        ),
    ]
    taken = {
        (name, message): got
        for name, desk, lines in about
        for message, got in wrong(lines + "-> nothing", _only(name, desk)).items()
        if message
    }
    assert taken == {}


def _only(name: str, desk: Sequence[Field]) -> Expected:
    return asking(name, [field for field in desk if field.name == name])


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (GERMAN, "jeder Tag bis auf Freitag"),
        (GERMAN, "jeden Tag außer Freitag"),
        (SPANISH, "cualquier día menos el viernes"),
        (SPANISH, "todos salvo el viernes"),
    ],
)
def test_what_is_excepted_is_not_given(setting: Setting, message: str) -> None:
    assert read_message(message, asking("date", RESTAURANT, setting=setting)).commands == []


def test_whose_german_name_it_is_is_no_part_of_it() -> None:
    table = """
        im Namen von Erika Braun
        auf den Namen Erika Braun
        unter dem Namen Erika Braun -> Erika Braun
        auf den Namen meiner Mutter
        auf den Namen meines Chefs, Erika Braun
        auf den Namen Ihrer Kollegin -> nothing
    """
    for message, name in rows(table):
        heard = read_message(message, asking("name", RESTAURANT, setting=GERMAN))
        given = [c.read for c in heard.commands if isinstance(c, Fill) and heard.certain]
        assert (message, given) == (message, [] if name == "nothing" else [name])


def test_german_values() -> None:
    table = """
        ein Tisch für 4 morgen um 19 Uhr, Name Lee
            -> Fill party_size 4, Fill date morgen, Fill time 19 Uhr, Fill name Lee
        Freitag um 20 Uhr für sechs Personen
            -> Fill date Freitag, Fill time 20 Uhr, Fill party_size sechs
        vier Personen -> Fill party_size vier Personen
        für 5 bitte -> Fill party_size für 5 bitte
        meine Katze ist 12
        mein Hund war 15
        ich habe 3 Katzen
        was kostet das Menü?
        wie spät ist es -> nothing
    """
    assert _differently_spelled(table, asking("party_size", RESTAURANT, setting=GERMAN)) == {}
    table = """
        überweise 50 Euro an Maya -> Fill amount 50 Euro? + Maya
        50 Euro -> Fill amount 50 Euro
        meine Miete ist 900 Euro -> nothing
    """
    assert _differently_spelled(table, asking("amount", BANK, setting=GERMAN)) == {}


def _differently_spelled(table: str, listening: Expected) -> dict[str, str]:
    """Return the wrong readings, if the words around a value do not matter."""
    found = {}
    for message, expected in rows(table):
        got = told(read_message(message, listening))
        if _bare(got) != _bare(expected):
            found[message] = got
    return found


def _bare(heard: str) -> list[str]:
    small = ("on", "at", "um", "people", "rooms", "nights", "Personen", "kg", "from", "for")
    return sorted(word for word in heard.replace(",", "").split() if word not in small)


def _values(name: str, desk: Sequence[Field], message: str) -> dict[str, object]:
    heard = read_message(message, asking(name, desk))
    return {getattr(c, "field", ""): getattr(c, "read", None) for c in heard.commands}


def test_a_value_of_another_time_or_person_leaves_the_one_that_is_meant() -> None:
    said = {
        "last time we were 12 but this time it's only five": 5,
        "seven, one of them is a toddler": 7,
        "only me this time, last year we were three": 1,
    }
    for message, size in said.items():
        assert _values("party_size", RESTAURANT, message) == {"party_size": size}, message
    number = "my old number was 07400 900111, the new one's 07400 900877"
    assert _values("phone", CLINIC, number) == {"phone": "+447400900877"}


def test_what_a_repair_may_replace_is_no_value() -> None:
    assert _values("time", RESTAURANT, "seven, no wait, half past, she gets here at seven") == {}


def test_a_number_is_read_as_it_is_dictated() -> None:
    number = "oh one one three, four nine six, oh one double eight"
    assert _values("phone", CLINIC, number) == {"phone": "+441134960188"}
    assert _values("policy_number", CLAIM, "it's MN 77310") == {"policy_number": "MN-77310"}


def test_the_items_of_a_list_are_found_in_a_sentence() -> None:
    items = Field("items", "list")
    needed = {
        ENGLISH: {
            "I need a drill, two saws and some nails": ["a drill", "two saws", "some nails"],
            "we need nails and a hammer please": ["nails", "a hammer"],
            "I am looking for a tent, a stove": ["a tent", "a stove"],
            "hello, I need a drill and nails": ["drill", "nails"],
            "a drill but no saws": ["drill"],
            "1. a drill 2. a saw 3. nails": ["a drill", "a saw", "nails"],
            "a) drill b) saw": ["drill", "saw"],
            "- drill - saw": ["drill", "saw"],
            "2-person tent": ["2-person tent"],
        },
        GERMAN: {
            "Ich brauche eine Säge und ein paar Nägel": ["eine Säge", "ein paar Nägel"],
            "wir hätten gerne Suppe und Brot": ["Suppe", "Brot"],
            "einen Hammer, aber keine Nägel": ["Hammer"],
            "1. Bohrer 2. Säge": ["Bohrer", "Säge"],
        },
        SPANISH: {
            "Necesito un taladro, dos sierras y clavos": ["un taladro", "dos sierras", "clavos"],
            "un martillo, pero sin clavos": ["martillo"],
            "1) taladro 2) sierra": ["taladro", "sierra"],
        },
    }
    for setting, messages in needed.items():
        listening = asking("items", [items], setting=setting)
        for message, value in messages.items():
            commands = read_message(message, listening).commands
            assert [c.read for c in commands if isinstance(c, Fill)] == [value], message


def test_items_that_may_not_be_wanted_are_said_back() -> None:
    for said in ("a drill or a saw", "a drill but no saws"):
        assert not read_message(said, asking("items", [Field("items", "list")])).certain, said


_BOOK = (Field("title", "text"), Field("pickup", "date"), Field("copies", "integer"))


@pytest.mark.parametrize(
    ("setting", "message", "values"),
    [
        (ENGLISH, "Dune, tomorrow", ["Dune", "2026-11-22"]),
        (ENGLISH, "The Hobbit, three copies, on Friday", ["The Hobbit", 3, "2026-11-27"]),
        (ENGLISH, "Eleven Minutes", ["Eleven Minutes"]),
        (ENGLISH, "Dune, which I lost on Friday", ["Dune, which I lost on Friday"]),
        (GERMAN, "Der Steppenwolf, für morgen", ["Der Steppenwolf", "2026-11-22"]),
        (SPANISH, "1984 de Orwell, el martes", ["1984 de Orwell", "2026-11-24"]),
    ],
)
def test_a_text_ends_before_the_values_of_other_fields(
    setting: Setting, message: str, values: list[object]
) -> None:
    commands = read_message(message, asking("title", _BOOK, setting=setting)).commands
    assert [c.read for c in commands if isinstance(c, Fill)] == values


@pytest.mark.parametrize(
    ("setting", "message", "name"),
    [
        (ENGLISH, "7 pm, Miss Lea", "Miss Lea"),
        (ENGLISH, "A. Lea", "A. Lea"),
        (GERMAN, "auf Herrn Dr. Hale und wir sind fünf", "Herrn Dr. Hale"),
        (SPANISH, "no, señorita Gómez", "señorita Gómez"),
        (SPANISH, "a nombre de la señora Gómez", "señora Gómez"),
        (SPANISH, "soy la señorita Ana Gómez", "señorita Ana Gómez"),
    ],
)
def test_a_title_stays_with_its_name(setting: Setting, message: str, name: str) -> None:
    known = {"party_size": 4, "date": "2026-12-01"}
    commands = read_message(
        message, asking("name", RESTAURANT, known=known, setting=setting)
    ).commands
    assert name in [c.read for c in commands if isinstance(c, Fill)]


PETS = {
    "en": (ENGLISH, "What is it called?", "How many kilos does it weigh?", "weight in kilos"),
    "de": (GERMAN, "Wie heißt es?", "Wie viele Kilo wiegt es?", "Gewicht in Kilo"),
    "es": (SPANISH, "¿Cómo se llama?", "¿Cuántos kilos pesa?", "peso en kilos"),
}


def _pet(language: str, asked: str) -> Expected:
    setting, called, weighs, label = PETS[language]
    fields = (
        Field("pet", "name", called),
        Field("weight", "number", weighs, label=label),
        Field("medicine", "list", required=False),
    )
    return asking(asked, fields, setting=setting)


@pytest.mark.parametrize(
    ("language", "said", "weight"),
    [
        ("en", "12 and a half kilos", 12.5),
        ("en", "two and a quarter kilos", 2.25),
        ("de", "zwölf und ein halbes Kilo", 12.5),
        ("de", "ein halbes Kilo", 0.5),
        ("es", "doce kilos y medio", 12.5),
        ("es", "kilo y medio", 1.5),
    ],
)
def test_a_number_is_not_cut_before_its_fraction(language: str, said: str, weight: float) -> None:
    for message, asked in ((said, "weight"), (f"Momo, {said}", "pet")):
        found = read_message(message, _pet(language, asked)).commands
        given = {c.field: c.read for c in found if isinstance(c, Fill)}
        assert given == {"weight": weight} | ({"pet": "Momo"} if asked == "pet" else {}), message


@pytest.mark.parametrize(
    ("language", "messages"),
    [
        ("en", ["10 less than before", "two more"]),
        ("de", ["10 weniger als bisher", "zwei mehr"]),
        ("es", ["10 menos que antes", "dos más"]),
    ],
)
def test_what_is_to_be_added_or_taken_off_is_no_value(language: str, messages: list[str]) -> None:
    for message in messages:
        assert read_message(message, _pet(language, "weight")).commands == [], message
    assert read_message("4 more or less", _pet("en", "weight")).commands


@pytest.mark.parametrize(
    ("language", "message", "name"),
    [
        ("en", "Rex. that's my dog, I'm Sarah", "Rex"),
        ("en", "we call him Momo, officially Maurice", ""),
        ("en", "her name is Mia and plays the piano", "Mia"),
        ("de", "Lena spielt Klavier", ""),
        ("de", "sie heißt Lena und spielt Klavier", "Lena"),
        ("de", "Er heißt Tom und ich bin Sarah", "Tom"),
        ("es", "Lucía toca el piano", ""),
        ("es", "se llama Lucía y toca el piano", "Lucía"),
        ("es", "lucía y toca el piano", ""),
        ("es", "José Ortega y Gasset", "José Ortega y Gasset"),
        ("es", "María de la cruz", "María de la cruz"),
    ],
)
def test_a_sentence_is_no_name(language: str, message: str, name: str) -> None:
    found = read_message(message, _pet(language, "pet")).commands
    assert [c.read for c in found if isinstance(c, Fill)] == ([name] if name else [])


def test_a_number_next_to_its_article_is_the_number() -> None:
    found = read_message("Biscuit, he's a ten kilo terrier", _pet("en", "pet")).commands
    assert {c.field: c.read for c in found if isinstance(c, Fill)}.get("weight") == 10


def test_a_day_is_not_cut_before_its_month_in_words() -> None:
    born = asking("born", (Field("born", "date", "Wann sind Sie geboren?"),), setting=GERMAN)
    assert read_message("am neunten dritten fünfzehn", born).commands == []


def test_the_name_of_another_is_not_that_of_an_open_field() -> None:
    owner = Field("owner", "full_name", "What is your full name?")
    asked = asking("owner", (owner, Field("pet_name", "name", "What is your pet called?")))
    message = "My husband booked last time, his name is Peter Albers. I'm Ruth Albers"
    given = [c.field for c in read_message(message, asked).commands if isinstance(c, Fill)]
    assert given == ["owner"]


def test_without_says_yes_where_that_is_what_is_asked() -> None:
    bill = Field("bill", "boolean", "Möchten Sie eine Rechnung ohne Papier?", label="ohne Papier")
    asked = asking("amount", (BANK[1], bill), setting=GERMAN)
    for message, said in (("85 Euro, ohne Papier", True), ("85 Euro, aber mit Papier", False)):
        given = {
            c.field: c.read for c in read_message(message, asked).commands if isinstance(c, Fill)
        }
        assert given["bill"] is said, message


CHILD = {
    "en": (ENGLISH, "What is the child's name?", "name of the child", "What is your name?", "name"),
    "de": (GERMAN, "Wie heißt das Kind?", "Name des Kindes", "Wie heißen Sie?", "Name"),
    "es": (SPANISH, "¿Cómo se llama el niño?", "nombre del niño", "¿Cómo se llama?", "nombre"),
}


def _name_in(message: str, language: str, *, own: bool) -> tuple[list[str], bool]:
    """Return the name that a message gives of a child, or of the user, and if it is certain."""
    setting, ask, label, ask_own, own_label = CHILD[language]
    field = Field("called", "name", ask_own if own else ask, label=own_label if own else label)
    found = read_message(message, asking("called", (field,), setting=setting))
    return [str(c.read) for c in found.commands if isinstance(c, Fill)], found.certain


@pytest.mark.parametrize(
    ("language", "message"),
    [
        ("en", "our son is called Ivo Lund"),
        ("en", "my daughter's name is Ivo Lund"),
        ("en", "his name is Ivo Lund"),
        ("de", "unser Sohn heißt Ivo Lund"),
        ("de", "meine Tochter heißt Ivo Lund"),
        ("de", "sein Name ist Ivo Lund"),
        ("es", "nuestro hijo se llama Ivo Lund"),
        ("es", "la niña se llama Ivo Lund"),
    ],
)
def test_the_name_of_somebody_else_is_that_of_whom_was_asked_for(
    language: str, message: str
) -> None:
    assert _name_in(message, language, own=False) == (["Ivo Lund"], True)
    assert _name_in(message, language, own=True) == ([], False)


@pytest.mark.parametrize(
    ("language", "message", "name"),
    [
        ("en", "I'm the grandfather", ""),
        ("en", "I'm the grandfather, the girl is called Ivo Lund", "Ivo Lund"),
        ("en", "my brother is called Ivo Lund", ""),
        ("de", "ich bin der onkel", ""),
        ("de", "ich bin der Onkel, das Mädchen heißt Ivo Lund", "Ivo Lund"),
        ("de", "mein Bruder heißt Ivo Lund", ""),
        ("es", "soy el abuelo", ""),
        ("es", "soy el abuelo, la niña se llama Ivo Lund", "Ivo Lund"),
        ("es", "mi hermano se llama Ivo Lund", ""),
    ],
)
def test_who_speaks_for_another_is_no_name(language: str, message: str, name: str) -> None:
    found, certain = _name_in(message, language, own=False)
    assert found == ([name] if name else [])
    assert not certain


def test_two_names_with_a_comma_between_are_uncertain() -> None:
    for message in ("Lena-Sofie, Brandt", "Ann Lee, Bob Lee"):
        assert _name_in(message, "en", own=True) == ([message], False)
    for message in ("Sofie, Sofie Brandt", "Sofie Brandt, Jr."):
        assert _name_in(message, "en", own=True)[1]


def test_a_name_that_may_be_cut_in_two_ways_is_uncertain() -> None:
    guest = Field("guest", "full_name", "¿Cuál es su nombre completo?")
    table = """
        Lucía Fernández Prieto -> Fill guest Lucía Fernández Prieto?
        María Fernández de la Vega Sanz -> Fill guest María Fernández de la Vega Sanz?
        María José García López -> Fill guest María José García López
        Fernández Prieto, Lucía -> Fill guest Fernández Prieto, Lucía
        Ana de la Torre -> Fill guest Ana de la Torre
    """
    assert wrong(table, asking("guest", (guest,), setting=SPANISH)) == {}


CALLED = {
    ENGLISH: ("Friday", "two cats, Milo and Otis", ("on Friday", "Tomorrow")),
    GERMAN: ("Freitag", "zwei Katzen, Milo und Otis", ("am Freitag", "Heute")),
    SPANISH: ("Viernes", "dos gatos, Milo y Otis", ("el viernes", "mañana")),
}


@pytest.mark.parametrize("setting", CALLED)
def test_a_weekday_alone_is_a_name_and_two_animals_are_none(setting: Setting) -> None:
    name, several, days = CALLED[setting]
    fields = (Field("pet", "name", "What is it called?"), Field("day", "date", "Which day?"))
    asked = asking("pet", fields, setting=setting)
    assert told(read_message(name, asked)) == f"Fill pet {name}"
    assert read_message(several, asked).commands == []
    in_full = asking(
        "owner", (Field("owner", "full_name", "Whose is it?"), fields[1]), setting=setting
    )
    assert read_message(name, in_full).unread == (name,)
    assert read_message(name, in_full).commands == []
    given = [c.field for d in days for c in read_message(d, asked).commands if isinstance(c, Fill)]
    assert given == ["day", "day"]


@pytest.mark.parametrize(
    ("setting", "messages", "item"),
    [
        (ENGLISH, ["no chains, but a child seat", "a child seat and no chains"], "seat"),
        (GERMAN, ["keine Ketten, aber einen Kindersitz", "Kindersitz und keine Ketten"], "sitz"),
        (SPANISH, ["sin cadenas, pero con una silla", "una silla y ninguna cadena"], "silla"),
    ],
)
def test_what_is_refused_is_no_item(setting: Setting, messages: list[str], item: str) -> None:
    extras = Field("extras", "list", "Which extras?", required=False)
    for message in messages:
        parse = read_message(message, asking("extras", (extras,), setting=setting))
        given = [one for c in parse.commands if isinstance(c, Fill) for one in c.read]
        assert not parse.certain, message
        assert all(item in one for one in given), message
    plain = read_message("ohne Zwiebeln, scharf", asking("extras", (extras,), setting=GERMAN))
    assert told(plain) == "Fill extras ohne Zwiebeln, scharf"


_MEASURED = {
    ENGLISH: (
        Field("weight", "number", "How much does it weigh, in kilos?"),
        Field("visits", "integer", "How many times a week will you come?"),
        Field("budget", "money", "How much a month?", label="monthly budget", currency="GBP"),
        Field("age", "integer", "How old is it?"),
    ),
    GERMAN: (
        Field("gewicht", "number", "Wie viel Kilo wiegt es?"),
        Field("besuche", "integer", "Wie oft pro Woche?"),
        Field("betrag", "money", "Wie viel im Monat?", label="Monatsbeitrag", currency="EUR"),
        Field("alter", "integer", "Wie alt ist es?"),
    ),
    SPANISH: (
        Field("peso", "number", "¿Cuántos kilos pesa?"),
        Field("visitas", "integer", "¿Cuántas veces por semana?"),
        Field("importe", "money", "¿Cuánto al mes?", label="cuota mensual", currency="EUR"),
        Field("edad", "integer", "¿Qué edad tiene?"),
    ),
}
_UNITS = [
    (ENGLISH, "weight", "40 grams | 500g | 8 lbs | 3 times", None),
    (ENGLISH, "weight", "5 kg | 5 kilos | about 5", 5.0),
    (ENGLISH, "visits", "twice a month | 8 a month | 3 per month | 8 times a month", None),
    (ENGLISH, "visits", "3 times a week | 3 a week | three", 3),
    (ENGLISH, "budget", "500 a year | 500 per week | 500 pounds a year | twice a month", None),
    (ENGLISH, "budget", "5 a month | 5 monthly | 5 quid", {"amount": "5.00", "currency": "GBP"}),
    (ENGLISH, "age", "18 months | 90 days", None),
    (GERMAN, "gewicht", "40 Gramm | 500g | 2 Zentner", None),
    (GERMAN, "besuche", "zweimal im Monat | 3 im Monat | 8 mal im Monat", None),
    (GERMAN, "besuche", "3 mal die Woche | 3 pro Woche", 3),
    (GERMAN, "betrag", "500 im Jahr | 500 Euro pro Jahr | zweimal im Monat", None),
    (GERMAN, "alter", "18 Monate", None),
    (SPANISH, "peso", "40 gramos | 3 toneladas", None),
    (SPANISH, "visitas", "dos veces al mes | 8 al mes | 3 por mes", None),
    (SPANISH, "visitas", "3 veces por semana | tres", 3),
    (SPANISH, "importe", "500 al año | 500 euros a la semana", None),
    (SPANISH, "edad", "18 meses", None),
]
_BOUNDS = [
    (ENGLISH, "age", "over 50 | at least 50 | 50 or more | 50+ | in my mid 50s", None),
    (ENGLISH, "budget", "up to 50 | less than 50 pounds | over 50", None),
    (GERMAN, "alter", "über 50 | mindestens 50 | Mitte dreißig | Ende 50 | 50 oder mehr", None),
    (GERMAN, "betrag", "bis zu 50 | weniger als 50 Euro", None),
    (SPANISH, "edad", "más de 50 | mas de 50 | al menos 50 | por lo menos 50 | 50 y pico", None),
    (SPANISH, "importe", "hasta 50 | menos de 50 euros", None),
]


def test_a_bound_is_the_value_of_a_field_that_asks_for_one() -> None:
    field = Field("most", "integer", "How many guests at most?")
    assert read_message("at most 50", asking("most", [field])).certain


@pytest.mark.parametrize(("setting", "name", "messages", "value"), [*_UNITS, *_BOUNDS])
def test_a_number_that_is_a_bound_or_of_another_unit_or_period_is_no_value(
    setting: Setting, name: str, messages: str, value: object
) -> None:
    fields = sorted(_MEASURED[setting], key=lambda field: field.name != name)
    for message in messages.split(" | "):
        commands = read_message(message, asking(name, fields, setting=setting)).commands
        given = [c.read for c in commands if isinstance(c, Fill)]
        assert given == ([] if value is None else [value]), message


@pytest.mark.parametrize(
    ("setting", "kind", "messages"),
    [
        (ENGLISH, "time", "any time after 5 | after 3 pm | before 17:00"),
        (ENGLISH, "date", "before the 1st of May | after 3 May | end of the month | mid May"),
        (GERMAN, "time", "irgendwann nach 5 | nach 17 Uhr | vor 17 Uhr"),
        (GERMAN, "date", "vor dem 1. Mai | nach dem 1. Mai | Monatsende | Mitte Mai"),
        (
            SPANISH,
            "time",
            "después de las 5 | antes de las 17:00 | cualquier hora después de las 5",
        ),
        (SPANISH, "date", "antes del 1 de mayo | a finales de mes | a mediados de mayo"),
    ],
)
def test_a_day_or_hour_that_is_a_bound_is_asked_again(
    setting: Setting, kind: str, messages: str
) -> None:
    for message in messages.split(" | "):
        assert not read_message(message, asking("x", [Field("x", kind)], setting=setting)).commands


def test_the_first_day_that_will_do_is_a_value() -> None:
    for setting, said in ((GERMAN, "ab dem 1. Mai"), (SPANISH, "desde el 1 de mayo")):
        commands = read_message(said, asking("x", [Field("x", "date")], setting=setting)).commands
        assert [c.read for c in commands if isinstance(c, Fill)] == ["2027-05-01"], said


def test_words_beside_a_value_are_heard() -> None:
    pickup = asking(
        "pickup", [Field("pickup", "datetime", "Wann holen Sie ihn ab?")], setting=GERMAN
    )
    [given] = read_message("am 26. so gegen halb vier nachmittags", pickup).commands
    assert isinstance(given, Fill)
    assert given.read == "2026-11-26T15:30"  # "so" is no Sunday

    people = Field("people", "integer", "How many people are coming?")
    repaired = read_message("twelve. no wait thirteen with grandma", asking("people", [people]))
    assert (repaired.certain, repaired.commands) == (False, [])

    cakes = ["chocolate cake", "carrot cake", "cheesecake"]
    cake = Field("cake", "enum", "Which cake would you like?", choices=cakes)
    ordered = read_message("carrot cake for 20", asking("cake", [cake, people]))
    assert told(ordered) == "Fill cake carrot cake, Fill people 20"

    tickets = [
        Field("kind", "enum", "Welches Ticket?", choices={"day": ["tagesticket"], "season": []}),
        Field("count", "integer", "Wie viele Tickets?", label="Zahl der Tickets"),
    ]
    wanted = read_message("zwei tagestickets", asking("kind", tickets, setting=GERMAN)).commands
    assert sorted(str(c.read) for c in wanted if isinstance(c, Fill)) == ["2", "day"]


@pytest.mark.parametrize(
    ("setting", "message", "later"),
    [
        (ENGLISH, "he can drive me on Thursday but not Friday", "a week later than booked"),
        (GERMAN, "Donnerstag geht, aber nicht Freitag", "eine Woche später als gebucht"),
        (SPANISH, "puede el jueves pero no el viernes", "una semana después del que tenía"),
    ],
)
def test_a_contrast_in_an_answer_changes_no_other_day(
    setting: Setting, message: str, later: str
) -> None:
    fields = [Field("visit", "date", "Which day?"), Field("born", "date", "When were you born?")]
    asked = asking("visit", fields, known={"born": "1980-05-09"}, setting=setting)
    for said in (message, later):
        found = read_message(said, asked).commands
        assert [c for c in found if isinstance(c, Correct)] == [], said
    assert found == []


_OFFICE = Field("office", "enum", "At which office?", choices=["central", "green park", "east"])


@pytest.mark.parametrize(
    ("message", "certain"),
    [
        ("green park please", True),
        ("the green park one", True),
        ("green park or east, whichever is open", False),
        ("green park, but only if there is a lift", False),
        ("green park is too far", False),
        ("does green park open on Sundays", False),
        ("green park and east", False),
    ],
)
def test_a_choice_of_several_words_is_certain_only_where_all_words_are_explained(
    message: str, certain: bool
) -> None:
    assert read_message(message, asking("office", [_OFFICE])).certain is certain


@pytest.mark.parametrize(
    ("setting", "refusals", "others"),
    [
        (
            ENGLISH,
            "none whatsoever|nothing at all|unfortunately not|sadly no|not this time",
            "only two: gauze and tape|just one, gauze|no, can you bring it?|truly not",
        ),
        (
            GERMAN,
            "gar keine|überhaupt nichts|leider nein|leider nicht|diesmal leider nicht|keinerlei",
            "nur zwei: Mull und Tape|drei, Mull, Tape und Salbe|nein, bringen Sie das mit?",
        ),
        (
            SPANISH,
            "ninguno ahora mismo|nada en absoluto|lamentablemente no|por desgracia no|esta vez no",
            "solo dos: gasas y vendas|tres, gasas, vendas y crema|no, ¿se puede llevar?",
        ),
    ],
)
def test_a_refusal_in_more_words_and_a_count_of_items_are_no_items(
    setting: Setting, refusals: str, others: str
) -> None:
    for kind in ("text", "list"):
        field = Field("supplies", kind, "What shall we bring?", required=False)
        asked = asking("supplies", [field], setting=setting)
        skipped = {said: told(read_message(said, asked)) for said in refusals.split("|")}
        assert skipped == dict.fromkeys(skipped, "Skip")
    for message in others.split("|"):
        assert not read_message(message, asked).certain, message


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (ENGLISH, "sometime between Monday and Wednesday next week"),
        (GERMAN, "irgendwann zwischen Montag und Mittwoch nächster Woche"),
        (SPANISH, "en algún momento entre el lunes y el miércoles"),
    ],
)
def test_a_range_of_days_is_no_day(setting: Setting, message: str) -> None:
    day = Field("day", "date", "Which day would suit you?")
    assert read_message(message, asking("day", [day], setting=setting)).commands == []


def test_a_part_of_something_is_no_amount() -> None:
    fee = Field("fee", "money", "How much would you like to pay now?", currency="GBP")
    weight = Field("weight", "number", "How many kilos?")
    for message in ("half of it for now", "half", "half the amount", "half of them"):
        assert read_message(message, asking("fee", [fee])).commands == [], message
    [given] = read_message("half a kilo", asking("weight", [weight])).commands
    assert isinstance(given, Fill)
    assert given.read == 0.5
    assert read_message("half of that", asking("weight", [weight])).commands == []


@pytest.mark.parametrize(
    ("setting", "ask", "messages", "code"),
    [
        (
            ENGLISH,
            "Which code?",
            "it's R5TT2B | R5TT2B. | yes it is R5TT2B | code R5TT2B please",
            "R5TT2B",
        ),
        (ENGLISH, "Which plate?", "I think it's AB 1234 | the plate would be AB 1234", "AB 1234"),
        (
            GERMAN,
            "Welcher Code?",
            "das ist R5TT2B | Code R5TT2B bitte | Der Code wäre R5TT2B",
            "R5TT2B",
        ),
        (SPANISH, "¿Qué código?", "es R5TT2B | el código es R5TT2B, gracias", "R5TT2B"),
    ],
)
def test_what_leads_to_a_text_with_a_pattern_is_no_part_of_it(
    setting: Setting, ask: str, messages: str, code: str
) -> None:
    field = Field("code", "text", ask, validators=[Regex(r"[A-Z0-9]{6}|[A-Z]{2} \d{4}")])
    for message in messages.split(" | "):
        heard = read_message(message, asking("code", [field], setting=setting))
        assert heard.certain, message
        assert [c.read for c in heard.commands if isinstance(c, Fill)] == [code], message


@pytest.mark.parametrize("message", ["it's R5TT2", "R5TT2B or R5TT2C", "my old code was R5TT2B"])
def test_words_of_which_no_part_matches_a_pattern_are_not_certain(message: str) -> None:
    field = Field("code", "text", "Which code?", validators=[Regex(r"[A-Z0-9]{6}")])
    heard = read_message(message, asking("code", [field]))
    assert not heard.certain
    assert heard.unread


@pytest.mark.parametrize(
    ("setting", "asks", "said"),
    [
        (ENGLISH, ("How many pounds does it weigh?", "How much?", "Which day?"), "pounds"),
        (GERMAN, ("Wie viel wiegt es in Pfund?", "Welcher Betrag?", "Welcher Tag?"), "Pfund"),
        (SPANISH, ("¿Cuántas libras pesa?", "¿Qué importe?", "¿Qué día?"), "libras"),
    ],
)
def test_a_unit_that_is_a_currency_too_is_of_what_is_asked(
    setting: Setting, asks: tuple[str, str, str], said: str
) -> None:
    heavy, amount, day = (
        Field(name, kind, ask)
        for name, kind, ask in zip(("w", "a", "d"), ("number", "money", "date"), asks, strict=True)
    )
    tomorrow = {"en": "tomorrow", "de": "morgen", "es": "mañana"}[setting.language]
    message = f"{tomorrow}, 12 {said}"

    def given(*fields: Field) -> dict[str, Any]:
        heard = read_message(message, asking(fields[0].name, fields, setting=setting))
        return {c.field: c.read for c in heard.commands if isinstance(c, Fill)}

    assert given(heavy, amount) == {"w": 12}
    assert given(amount, heavy) == {"a": {"amount": "12.00", "currency": "GBP"}}
    assert given(day, amount, heavy).keys() == {"d"}
    assert given(day, amount).keys() == {"d", "a"}
    known = {"a": {"amount": "50.00", "currency": "EUR"}, "w": 4}
    among = (heavy, amount, day)
    asked = ear("field", "d", fields=(day,), known=known, among=among, setting=setting)
    assert not [c for c in read_message(message, asked).commands if isinstance(c, Correct)]


@pytest.mark.parametrize("message", ["£12", "£12, tomorrow", "no, £12"])
def test_a_sign_of_a_currency_makes_an_amount_of_a_number(message: str) -> None:
    amount, weight = Field("a", "money", "How much?"), Field("w", "number", "What does it weigh?")
    heard = read_message(message, asking("w", (weight, amount)))
    assert [c.field for c in heard.commands if isinstance(c, Fill)] == ["a"]


@pytest.mark.parametrize(
    ("setting", "messages"),
    [
        (ENGLISH, "after 6 | After six pm | any time after 6"),
        (GERMAN, "nach 6 | nach 18 Uhr | irgendwann nach sechs"),
        (SPANISH, "después de las 6 | después de las seis"),
    ],
)
def test_an_hour_after_which_it_may_be_is_uncertain_where_a_range_decides(
    setting: Setting, messages: str
) -> None:
    hour = Field("hour", "time", validators=[Range("17:00", "22:00")])
    for message in messages.split(" | "):
        heard = read_message(message, asking("hour", [hour], setting=setting))
        assert [c.read for c in heard.commands if isinstance(c, Fill)] == ["18:00"], message
        assert heard.unread, message
    before = {"en": "before 9", "de": "vor 9", "es": "antes de las 9"}[setting.language]
    assert not read_message(before, asking("hour", [hour], setting=setting)).commands


@pytest.mark.parametrize(
    ("setting", "message", "hour"),
    [
        (ENGLISH, "8 40 in the morning", "08:40"),
        (ENGLISH, "at 6 20 in the evening", "18:20"),
        (ENGLISH, "1 05 afternoon please", "13:05"),
        (GERMAN, "um 8 40", "08:40"),
        (GERMAN, "9 15 abends", "21:15"),
        (SPANISH, "a las 8 40", "08:40"),
        (SPANISH, "8 40 de la mañana", "08:40"),
        (ENGLISH, "at 8 20 people", ""),
        (ENGLISH, "8 40 20", ""),
    ],
)
def test_an_hour_and_its_minutes_may_have_a_blank_between_them(
    setting: Setting, message: str, hour: str
) -> None:
    fields = (Field("hour", "time", ask="At what time?"),)
    heard = read_message(message, asking("hour", fields, setting=setting)).commands
    assert [c.read for c in heard if isinstance(c, Fill)] == [hour] * bool(hour)


@pytest.mark.parametrize(
    ("setting", "refusals", "name"),
    [
        (ENGLISH, "no one in particular|whoever is free|nobody special", "with Carla"),
        (GERMAN, "zu keiner bestimmten|bei wem gerade frei ist|egal zu wem", "zu Carla"),
        (SPANISH, "con ninguno en concreto|con quien sea|nadie en especial", "con Carla"),
    ],
)
def test_nobody_in_particular_is_no_name(setting: Setting, refusals: str, name: str) -> None:
    stylist = Field("stylist", "name", "Who shall it be?", required=False)
    asked = asking("stylist", [stylist], setting=setting)
    assert {told(read_message(one, asked)) for one in refusals.split("|")} == {"Skip"}
    [given] = read_message(name, asked).commands
    assert isinstance(given, Fill)
    assert given.read == "Carla"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (ENGLISH, "at 10 and the 15th, not the 12th"),
        (GERMAN, "um 10 und lieber am 15. statt am 12."),
        (SPANISH, "a las 10 y perdona el día mejor el 15"),
    ],
)
def test_the_number_of_a_day_is_no_hour_and_hides_none(setting: Setting, message: str) -> None:
    hour, day = Field("hour", "time", "At what time?"), Field("day", "date", "On which day?")
    known = {"day": "2026-12-12"}
    asked = asking("hour", [hour, day], known=known, setting=setting)
    commands = read_message(message, asked).commands
    found = {c.field: c.read for c in commands if isinstance(c, (Fill, Correct))}
    assert found == {"hour": "10:00", "day": "2026-12-15"}
    assert read_message("am 15.", asked).commands == [] or setting is not GERMAN


def test_a_month_with_an_age_behind_it_is_no_day() -> None:
    fields = [Field("age", "integer", "Wie alt ist das Kind?"), Field("start", "date", "Ab wann?")]
    asked = asking("age", fields, setting=GERMAN)
    for message in ("er wird im Juni 8", "sie wird im Mai 6, also noch 5"):
        given = read_message(message, asked).commands
        assert not [c for c in given if isinstance(c, Fill) and c.field == "start"], message
    [day] = read_message("am 6. Mai", asking("start", fields, setting=GERMAN)).commands
    assert isinstance(day, Fill)
    assert day.read == "2027-05-06"


def test_a_contrast_hides_no_value_in_the_next_clause() -> None:
    pests = Field("pest", "enum", "Which pest?", choices=["mice", "ants", "wasps"])
    fields = [Field("day", "date", "Which day suits you?"), pests]
    asked = asking("day", fields, known={"pest": "ants"})
    told_of = told(read_message("oh wait, it's mice not ants. and tomorrow please", asked))
    assert told_of == "Correct pest mice, Fill day tomorrow"


def test_what_an_address_is_called_is_no_part_of_it() -> None:
    address = Field("address", "address", "Where shall we send it?")
    for setting, called, said in (
        (ENGLISH, "new address", "12 Oak Street, Leeds"),
        (SPANISH, "la del trabajo", "calle Mayor 5, Madrid"),
    ):
        asked = asking("address", [address], setting=setting)
        [given] = read_message(f"{called}: {said}", asked).commands
        assert isinstance(given, Fill)
        assert given.read == said
