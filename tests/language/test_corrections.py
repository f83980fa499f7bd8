"""Values that replace others, values that are taken back, and what is no correction."""

from __future__ import annotations

from typing import Any

import pytest

from journeygraph import Field
from journeygraph.nodes.commands import Correct, Fill
from journeygraph.nodes.language import Parse, read_message
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
    ear,
    rows,
    told,
    wrong,
)

SENT: dict[str, Any] = {"recipient": "Jon Miller", "amount": {"amount": "50.00", "currency": "EUR"}}
BOOKED: dict[str, Any] = {
    "party_size": 4,
    "date": "2026-11-27",
    "time": "19:00",
    "name": "Lee",
    "seating": "inside",
}
CLAIMED: dict[str, Any] = {"accident_date": "2026-11-04", "place": "12 Main Street, Leeds"}
SHIPPED: dict[str, Any] = {
    "pickup_address": "12 Main Street, Leeds",
    "delivery_address": "5 Oak Road, York",
    "weight": 2.5,
    "email": "ada@example.com",
}


def test_a_value_takes_the_place_of_the_one_it_is_set_against() -> None:
    summary = ear("summary", "claim", known=CLAIMED, among=CLAIM)
    table = """
        the accident was on 3 November, not 4 November
            -> Correct accident_date was on 3 November
        2026-11-03, not 2026-11-04 -> Correct accident_date 2026-11-03
        not 2026-11-04 but 2026-11-03 -> Correct accident_date 2026-11-03
    """
    assert wrong(table, summary) == {}
    table = """
        not 50, 55
        no, not 50, 55
        not 50 but 55
        55, not 50
        it's 55, not 50
        sorry, I meant 55, not 50
        it's not 50, it's 55
        55 instead of 50
        change 50 to 55 -> Correct amount 55
        not Jon, Alex
        Alex, not Jon
        it is Alex, not Jon
        not Jon Miller but Alex
        it's not Jon, it's Alex
        I meant Alex, not Jon
        Alex instead of Jon -> Correct recipient Alex
        not 60, 55
        not Peter, Alex
        not now, maybe
        not sure -> nothing
    """
    pending = ear("field", "reference", fields=BANK[2:], known=SENT, among=BANK)
    table = table.replace("        not sure -> nothing", "        not much -> nothing")
    asked_more = ear("summary", "transfer", known=SENT, among=BANK)
    doubtful = ("not 60, 55", "not Peter, Alex", "not now, maybe", "not much")
    for listening in (asked_more, pending):
        got = {m: g for m, g in wrong(table, listening).items() if m not in doubtful}
        assert got == {}
    table = """
        6, not 4 -> Correct party_size 6
        8pm, not 7pm -> Correct time 8pm
        Saturday, not Friday -> Correct date Saturday
        not 7pm but 8pm -> Correct time 8pm
    """
    assert wrong(table, ear("summary", "booking", known=BOOKED, among=RESTAURANT)) == {}


def test_the_day_alone_is_set_against_the_day() -> None:
    summary = ear("summary", "claim", known=CLAIMED, among=CLAIM)
    got = wrong("the accident was on the 3rd, not the 4th -> nothing", summary)
    assert [heard.rpartition(" ")[::2] for heard in got.values()] == [
        ("Correct accident_date was on the", "3rd")
    ]


def test_a_field_is_named_with_its_new_value() -> None:
    table = """
        change the amount to 70
        set the amount to 70
        can you change the amount to 70
        please change the amount to 70
        I want to change the amount to 70
        the amount should be 70
        the amount is 70
        no, the amount must be 70
        make the amount 70
        amount: 70
        the correct amount is 70 -> Correct amount 70
        change the recipient to Alex
        the recipient should be Alex
        update the recipient to Alex -> Correct recipient Alex
        change the colour to red
        the weather should be better
        the amount is ok -> nothing
    """
    assert wrong(table, ear("summary", "transfer", known=SENT, among=BANK)) == {}
    assert wrong(table, ear("field", "reference", fields=(), known=SENT, among=BANK)) == {}
    table = """
        change the time to 8pm -> Correct time 8pm
        move the date to Sunday -> Correct date Sunday
        change the number of guests to 6 -> Correct party_size 6
        change the name to Kim -> Correct name Kim
        the date should be next Friday -> Correct date next Friday
    """
    assert wrong(table, ear("more", known=BOOKED, among=RESTAURANT)) == {}
    table = """
        change the delivery address to 7 Elm Street, Hull
        the delivery address should be 7 Elm Street, Hull
        -> Correct delivery_address 7 Elm Street, Hull
        change my email to eve@example.com
        my email is eve@example.com -> Correct email eve@example.com
        the weight is 3 -> Correct weight 3
        change the address to 7 Elm Street, Hull -> nothing
    """
    assert wrong(table, ear("summary", "parcel", known=SHIPPED, among=PARCEL)) == {}


def test_a_value_alone_replaces_the_one_of_its_type() -> None:
    table = """
        oh, for six
        for six
        sorry, for six
        actually, six people
        we are six
        oh, we are six actually -> Correct party_size six
        make it 5 people
        actually 5 people -> Correct party_size 5
        actually, on Friday
        on Friday
        make it Friday
        oh, Friday
        I meant Friday
        sorry, I meant Friday
        rather Friday
        make that Friday please -> Correct date Friday
        at 8pm
        make it 8pm
        actually 8pm please -> Correct time 8pm
        make it Friday at 8 for 6 -> Correct date Friday, Correct time 8, Correct party_size 6
        make it Friday at 8pm -> Correct date Friday, Correct time 8pm
        I meant Kim
        Meant Kim
        sorry, I meant Kim
        no, I meant Kim -> Correct name Kim
        make it six
        hm
        I am happy
        that was nice
        no changes
        see you on Friday then my friend, bring the six dogs
        what about my dog
        I have 3 dogs
        thank you very much -> nothing
    """
    for kind in ("", "change", "more"):
        listening = ear(kind, known=BOOKED, among=RESTAURANT)
        got = wrong(table, listening)
        assert got == {"thank you very much": "Confirm"} or got == {}, kind
    nights = {"check_in": "2026-12-01", "check_out": "2026-12-04", "rooms": 2, "nights": 3}
    table = """
        on Friday
        make it Friday
        make it 4 -> nothing
        make it 4 nights -> Correct nights 4
        make it 3 rooms -> Correct rooms 3
        actually, 3 rooms and 4 nights -> Correct rooms 3, Correct nights 4
    """
    assert wrong(table, ear(known=nights, among=HOTEL)) == {}


def test_a_value_is_taken_back() -> None:
    table = """
        I want to change the pickup address
        change the pickup address
        can I change the pickup address?
        I'd like to change the pickup address please
        the pickup address is wrong
        the pickup address isn't right
        wrong pickup address
        that's the wrong pickup address
        I need to correct the pickup address
        not that pickup address
        I got the pickup address wrong -> Clear pickup_address
        change my email
        that's not my email
        the email is not correct
        I want to change the email address -> Clear email
        I want to change the address
        not that address
        I want to change my password
        I want to change my mind about dogs
        the driver is wrong
        change trains -> nothing
    """
    assert wrong(table, ear("summary", "parcel", known=SHIPPED, among=PARCEL)) == {}
    one = {"pickup_address": "12 Main Street, Leeds"}
    table = """
        not that address
        that address is wrong
        I want to change the address -> Clear pickup_address
    """
    pending = ear("field", "weight", fields=PARCEL[2:], known=one, among=PARCEL)
    assert wrong(table, pending) == {}
    table = """
        I didn't mean Jon
        I did not mean Jon Miller
        that's not Jon
        not Jon
        no, not Jon -> Clear recipient
        not 50
        I didn't say 50 -> Clear amount
        I didn't mean that
        I didn't mean Peter
        not bad
        not 70 -> nothing
    """
    got = wrong(table, ear("summary", "transfer", known=SENT, among=BANK))
    doubtful = ("I didn't mean that", "I didn't mean Peter", "not bad", "not 70")
    assert {m: g for m, g in got.items() if m not in doubtful} == {}
    assert all(not got.get(m, "").startswith(("Clear", "Correct", "Confirm")) for m in doubtful)


def test_a_field_is_dropped_by_its_name_and_not_by_what_is_said_of_it() -> None:
    kept = (
        Field("date", "date", description="We keep tables from today on"),
        *(field for field in RESTAURANT if field.name != "date"),
    )
    table = """
        drop the date -> Clear date
        I don't need the name after all -> Clear name
        we don't need the table after all
        we don't want the tables outside -> nothing
    """
    assert wrong(table, ear(known=BOOKED, among=kept)) == {}


def test_a_text_that_only_has_a_word_of_its_description_is_kept_whole() -> None:
    note = Field("note", description="Allergies, a birthday, a wheelchair", required=False)
    asked = ear("field", "note", fields=[note], known=BOOKED, among=RESTAURANT)
    for message, value in (
        ("the birthday is on 5 May", "the birthday is on 5 May"),
        ("the note is a quiet corner", "a quiet corner"),
    ):
        (given,) = read_message(message, asked).commands
        assert isinstance(given, Fill)
        assert (given.field, given.read) == ("note", value)


def test_the_answer_that_is_due_is_no_correction() -> None:
    both = {"full_name": "Ada Byron", "date_of_birth": "1990-05-03"}
    aged = ear("field", "age", fields=CLINIC[2:], known=both, among=CLINIC)
    table = """
        36 -> Fill age 36
        actually 36 -> Fill age actually 36
        I meant Eve
        no, Eve -> Correct full_name Eve
        3 May 1991, not 1990-05-03 -> Correct date_of_birth 3 May 1991
        my date of birth is 3 May 1991 -> Correct date_of_birth 3 May 1991
    """
    assert wrong(table, aged) == {}
    started = ear("field", "data", fields=TELECOM[3:], known={"start": "2026-12-01"}, among=TELECOM)
    table = """
        10 -> Fill data 10
        actually, from Friday -> Correct start Friday
        not 10
        my old plan had 10 -> nothing
    """
    assert wrong(table, started) == {}


def test_a_text_that_is_written_is_no_correction() -> None:
    listening = ear("field", "damage", fields=CLAIM[2:3], known=CLAIMED, among=CLAIM)
    table = """
        the accident date is wrong -> Clear accident_date
        I want to change the date of the accident -> Clear accident_date
        not 2026-11-04 but 2026-11-03 -> Correct accident_date 2026-11-03
        the car was red, not blue -> Fill damage the car was red, not blue
        the door is wrong -> Fill damage the door is wrong? + the door is wrong
        I wanted to change lanes -> Fill damage I wanted to change lanes
        he drove on Friday at 8 -> Fill damage he drove on Friday at 8? + he drove on Friday at 8
    """
    assert wrong(table, listening) == {}


def test_german_corrections() -> None:
    table = """
        nicht 50, 55
        nicht 50 sondern 55
        55, nicht 50
        55 statt 50
        ändere den Betrag auf 55
        ändern Sie bitte den Betrag auf 55
        der Betrag soll 55 sein
        den Betrag auf 55 ändern
        ich möchte den Betrag auf 55 ändern -> Correct amount 55
        nicht Jon, Alex
        nicht Jon sondern Alex
        ich meinte Alex
        nein, ich meinte Alex -> Correct recipient Alex
        der Betrag ist falsch
        der Betrag stimmt nicht
        ich möchte den Betrag ändern
        falscher Betrag -> Clear amount
        ich meinte nicht Jon
        nicht Jon -> Clear recipient
        ich möchte mein Passwort ändern -> nothing
    """
    assert wrong(table, ear("summary", "x", known=SENT, among=BANK, setting=GERMAN)) == {}
    table = """
        oh, für sechs
        doch für sechs -> Correct party_size sechs
        mach 5 Personen daraus -> Correct party_size 5
        eigentlich am Freitag
        lieber am Freitag -> Correct date Freitag
        Freitag um 20 Uhr -> Correct date Freitag, Correct time 20 Uhr
        ich meinte Kim -> Correct name Kim
        der Hund ist 6 -> nothing
    """
    assert wrong(table, ear(known=BOOKED, among=RESTAURANT, setting=GERMAN)) == {}


def test_a_preferred_value_takes_the_place_of_the_other() -> None:
    asked: dict[str, Any] = {"known": {"date": BOOKED["date"]}, "among": RESTAURANT}
    messages = {
        "at 8 pm, and rather on Saturday than on Friday": ENGLISH,
        "8 pm, and I prefer Saturday to Friday": ENGLISH,
        "um 20 Uhr, und doch lieber am Samstag als am Freitag": GERMAN,
        "a las 20:00, y mejor el sábado que el viernes": SPANISH,
        "a las 20:00, y el sábado en lugar del viernes": SPANISH,
    }
    for message, setting in messages.items():
        said = read_message(
            message, ear("field", "time", fields=RESTAURANT[2:], setting=setting, **asked)
        )
        got = given(said)
        assert got == {"time": "20:00", "date": "2026-11-28"}, message


def test_stop_before_a_change_gives_nothing_up() -> None:
    summary = ear("summary", "transfer", known=SENT, among=BANK)
    table = """
        stop, 55 instead of 50 -> Correct amount 55
        cancel it, it is too late -> Cancel
    """
    assert wrong(table, summary) == {}


def test_a_number_of_a_few_digits_takes_the_place_of_the_end_of_a_phone_number() -> None:
    known = {"phone": "+442079460321"}
    summary = ear("summary", "visit", known=known, among=CLINIC)
    (changed,) = read_message("it ends in 22, not 21", summary).commands
    assert changed == Correct("phone", "+442079460322", read="+442079460322")
    assert read_message("it ends in 22, not 47", summary).commands == []


def test_what_is_wrong_takes_the_value_of_the_next_clause_in_the_year_that_is_known() -> None:
    known = {"date_of_birth": "1984-03-12"}
    phone = ear("field", "phone", fields=CLINIC[3:], known=known, among=CLINIC)
    said = read_message("020 7946 0999, and the date of birth is wrong, it is 13 March", phone)
    assert given(said) == {
        "phone": "+442079460999",
        "date_of_birth": "1984-03-13",
    }


@pytest.mark.parametrize(
    ("known", "message", "setting", "meant"),
    [
        ("2031-05-03", "no, 4 May", ENGLISH, "2031-05-04"),
        ("2031-05-03", "nein, am 4. Mai", GERMAN, "2031-05-04"),
        ("2031-05-03", "perdón, el 4 de mayo", SPANISH, "2031-05-04"),
        ("2024-05-03", "sorry, the 4th of May", ENGLISH, "2024-05-04"),
        ("2031-05-03", "no, 4 May 2029", ENGLISH, "2029-05-04"),
        ("2031-05-03", "no, tomorrow", ENGLISH, "2026-11-22"),
        ("1984-03-12", "nein, heute", GERMAN, "2026-11-21"),
        ("2026-12-28", "no, 4 January", ENGLISH, "2027-01-04"),
        ("2026-12-03", "actually the 27th", ENGLISH, "2026-12-27"),
        ("2026-11-28", "no, on the 3rd", ENGLISH, "2026-12-03"),
        ("2026-12-03", "ach nein, am 27.", GERMAN, "2026-12-27"),
        ("2026-12-03", "no, mejor el 27", SPANISH, "2026-12-27"),
    ],
)
def test_a_day_in_place_of_a_known_one_keeps_of_it_what_is_not_said(
    known: str, message: str, setting: Setting, meant: str
) -> None:
    booked = {"party_size": 4, "date": known}
    name = ear(
        "field", "name", fields=RESTAURANT[3:], known=booked, among=RESTAURANT, setting=setting
    )

    said = read_message(message, name)

    assert given(said) == {"date": meant}
    assert said.certain


@pytest.mark.parametrize(
    ("message", "setting"),
    [
        ("actually the 27th, and six of us", ENGLISH),
        ("sorry, on the 27th, and we are six", ENGLISH),
        ("ach nein, am 27., und wir sind sechs", GERMAN),
    ],
)
def test_a_day_without_its_month_and_a_number_are_two_corrections(
    message: str, setting: Setting
) -> None:
    booked = {"party_size": 4, "date": "2026-12-03", "time": "19:00"}
    name = ear(
        "field", "name", fields=RESTAURANT[3:], known=booked, among=RESTAURANT, setting=setting
    )

    said = read_message(message, name)

    assert given(said) == {"date": "2026-12-27", "party_size": 6}
    assert said.certain


def test_the_one_value_that_is_not_of_another_time_or_person_is_left() -> None:
    amount = ear("field", "amount", fields=BANK[1:], known={"recipient": "Lee"}, among=BANK)
    for message in (
        "he earns 3000 a month but he is only asking for 150",
        "I bought it for 9k, so 150",
    ):
        said = read_message(message, amount)
        assert given(said) == {"amount": {"amount": "150.00", "currency": "EUR"}}, message
    for message in ("between 100 and 150", "100 or 150, they said", "for 150 chairs, he says"):
        assert read_message(message, amount).commands == [], message


def test_of_a_part_and_a_whole_name_the_whole_is_taken() -> None:
    name = ear("field", "name", fields=RESTAURANT[3:], among=RESTAURANT)
    table = """
        Gemma, with a G. Gemma Ashworth -> Gemma Ashworth
        it goes to my landlord, Peter Novak -> Peter Novak
        Jorge Peres sorry Perez with a z -> Jorge Perez
        Weber. Nora Weber -> Nora Weber
        eh Sarah, Sarah Winkler somehow I guess it was -> nothing
        my sister, and my brother -> nothing
    """
    heard = {message: read_message(message, name).commands for message, _ in rows(table)}
    got = {
        message: getattr(said[0], "value", "") if said else "nothing"
        for message, said in heard.items()
    }
    assert got == dict(rows(table))


def test_two_days_of_which_one_has_no_month() -> None:
    stay = ear("field", "check_in", fields=HOTEL, among=HOTEL)
    for message in ("from the 10th to the 12th of December", "the 10th until 12 December please"):
        said = read_message(message, stay)
        assert list(given(said).values()) == ["2026-12-10", "2026-12-12"], message
    known = {"check_in": "2026-12-04", "check_out": "2026-12-07"}
    summary = ear("summary", "stay", known=known, among=HOTEL)
    said = read_message("the 5th to the 8th", summary)
    assert list(given(said).values()) == ["2026-12-05", "2026-12-08"]
    assert read_message("2 to 3 rooms", summary).commands == []


def given(said: Parse) -> dict[str, Any]:
    """Return the values that were read, by field."""
    return {c.field: c.read for c in said.commands if isinstance(c, (Fill, Correct))}


@pytest.mark.parametrize(
    ("setting", "labels", "note", "no"),
    [
        (
            ENGLISH,
            ("driver", "number of parcels", "age of the driver", "second driver"),
            ["ring at number 14", "leave it with the neighbour at number 14"],
            ["no second driver", "no, without second driver"],
        ),
        (
            GERMAN,
            ("Fahrer", "Zahl der Pakete", "Alter des Fahrers", "zweiter Fahrer"),
            ["beim Nachbarn in Nummer 14 klingeln", "zum Haus Nummer 14 bringen"],
            ["kein zweiter Fahrer", "nein, kein zweiter Fahrer"],
        ),
        (
            SPANISH,
            ("conductor", "número de paquetes", "edad del conductor", "segundo conductor"),
            ["llamar al vecino del número 14", "dejarlo en el número 14"],
            ["sin segundo conductor", "no, sin segundo conductor"],
        ),
    ],
)
def test_a_number_in_a_note_changes_none_and_what_there_is_not_is_cleared(
    setting: Setting, labels: tuple[str, ...], note: list[str], no: list[str]
) -> None:
    names = (("driver", "name"), ("parcels", "integer"), ("age", "integer"), ("second", "name"))
    fields = [
        Field(name, kind, label=label) for (name, kind), label in zip(names, labels, strict=True)
    ]
    known = {"driver": "Tom Lee", "parcels": 2, "age": 41, "second": "Ann Lee"}
    asked = ear("field", "note", fields=[Field("note")], known=known, among=fields, setting=setting)
    for message in note:
        assert told(read_message(message, asked)).startswith(f"Fill note {message}"), message
        assert len(read_message(message, asked).commands) == 1, message
    summary = ear("summary", "x", known=known, among=fields, setting=setting)
    assert wrong("\n".join(f"{message} -> Clear second" for message in no), summary) == {}
