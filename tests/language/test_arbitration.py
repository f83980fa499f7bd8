"""Several proposals in one message: what holds, what is asked back, what is left unread."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from journeygraph import Field
from journeygraph.nodes.commands import Cancel, Correct, Fill
from journeygraph.nodes.language import clauses_in, read_message, refused_in
from journeygraph.nodes.values import Setting
from tests.language.desks import (
    BANK,
    CLAIM,
    CLINIC,
    ENGLISH,
    GERMAN,
    HOTEL,
    RESTAURANT,
    SPANISH,
    asking,
    ear,
    told,
    wrong,
)

FOUR: dict[str, Any] = {"party_size": 4, "date": "2026-11-27"}
AT_WHAT_TIME = ear("field", "time", fields=RESTAURANT[2:4], known=FOUR, among=RESTAURANT)
IN_WHICH_NAME = ear(
    "field", "name", fields=RESTAURANT[3:], known={**FOUR, "time": "19:00"}, among=RESTAURANT
)


def test_a_correction_beside_an_answer_is_both() -> None:
    table = """
        sorry, five people, and at 7 pm -> Correct party_size five, Fill time 7 pm
        wait, two people, and at 8 -> Correct party_size two, Fill time 8
        7 pm, and sorry, we are five -> Fill time 7 pm, Correct party_size five
        at 8, no, on Saturday -> Fill time 8, Correct date Saturday
    """
    assert wrong(table, AT_WHAT_TIME) == {}
    aside = read_message("7 pm. Oh, and we are five now", AT_WHAT_TIME)
    assert aside.certain
    assert [(type(c), c.field) for c in aside.commands if isinstance(c, (Fill, Correct))] == [
        (Fill, "time"),
        (Correct, "party_size"),
    ]


def test_a_slip_of_the_tongue_replaces_the_last_value_whatever_stands_between() -> None:
    table = """
        at seven, no, eight -> Fill time eight
        at 7, no wait, at 9 -> Fill time at 9
    """
    assert wrong(table, AT_WHAT_TIME) == {}
    four = ear("field", "party_size", fields=RESTAURANT, among=RESTAURANT)
    table = """
        four at 7 pm, no, make it five -> Fill time 7 pm, Fill party_size five
        four people at 19:00, sorry, five -> Fill time 19:00, Fill party_size five
        a table for four at 7 pm, no, 8 -> Fill party_size four, Fill time 8
        four at seven, no, eight -> Fill party_size four, Fill time eight
    """
    assert wrong(table, four) == {}
    table = "vier um 19 Uhr, nein, fünf -> Fill time 19 Uhr, Fill party_size fünf"
    assert wrong(table, replace(four, setting=GERMAN)) == {}
    tomorrow = "four tomorrow at 7 pm -> Fill party_size four, Fill date tomorrow, Fill time 7 pm"
    assert wrong(tomorrow, four) == {}
    told = read_message("at seven... no hang on, Dave is late so eight", AT_WHAT_TIME)
    assert [c.value for c in told.commands if isinstance(c, Fill)] == ["so eight"]
    assert not told.certain


def test_a_reason_explains_itself_and_its_values_are_not_taken() -> None:
    table = """
        at eight because the train is at seven -> Fill time eight
        at eight, we are five because my sister comes -> Fill time eight, Correct party_size five
    """
    assert wrong(table, AT_WHAT_TIME) == {}


def test_a_value_that_does_not_do_is_none() -> None:
    table = """
        seven doesn't work, eight -> Fill time eight
        7 pm is too early, 9 pm -> Fill time 9 pm
    """
    assert wrong(table, AT_WHAT_TIME) == {}


def test_a_change_beside_a_remark_is_plain_and_one_with_a_condition_is_not() -> None:
    remark = read_message("at 8, we are only three, Jen has a cold", AT_WHAT_TIME)
    assert [c.field for c in remark.plain if isinstance(c, (Fill, Correct))] == [
        "time",
        "party_size",
    ]
    assert read_message("we are three, if Jen has a cold", AT_WHAT_TIME).plain == ()


def test_what_is_asked_for_does_not_take_a_value_of_another_field() -> None:
    table = """
        sorry, five people
        oh, we are five -> Correct party_size five
        no wait, on Saturday -> Correct date Saturday
        Lee -> Fill name Lee
        in the name of Kim Lee -> Fill name in the name of Kim Lee
    """
    assert wrong(table, IN_WHICH_NAME) == {}
    for message in ("to my brother", "my sister has five", "I have 3 dogs", "what a day"):
        assert not read_message(message, IN_WHICH_NAME).certain, message


def test_a_no_before_a_value_of_another_field_is_no_answer() -> None:
    known = {"nights": 2, "rooms": 1}
    fields = (*HOTEL, CLAIM[3])
    hurt = ear("field", "injured", fields=CLAIM[3:4], known=known, among=fields)
    assert wrong("no, three nights -> Correct nights three", hurt) == {}
    assert wrong("no -> Fill injured no", hurt) == {}
    assert wrong("no thanks, we'll see -> Fill injured no thanks? + see", hurt) == {}


def test_two_fields_that_fit_a_replaced_value_are_asked_back() -> None:
    sums = (BANK[1], RESTAURANT[0])
    sent = {"amount": {"amount": "50.00", "currency": "EUR"}, "party_size": 4}
    listening = ear("field", "recipient", fields=BANK[:1], known=sent, among=(*BANK, *sums))
    for message in ("no, 500", "sorry, 7", "actually 12"):
        assert not read_message(message, listening).certain, message


def test_of_another_time_person_or_two_values_nothing_is_taken() -> None:
    asked = asking("phone", CLINIC)
    for message in (
        "my old number was 020 7946 0958",
        "my wife has 020 7946 0958",
        "020 7946 0958 or 020 7946 0959",
    ):
        assert not read_message(message, asked).certain, message
    guests = asking("party_size", RESTAURANT)
    for message in ("six or seven", "between 20 and 25", "my sister has five", "not six"):
        assert read_message(message, guests).commands == [], message


def test_a_number_beside_a_value_that_nothing_explains_may_be_a_part_of_it() -> None:
    listening = asking("amount", BANK)
    for message in ("50 and 7 somethings", "300, the garage said 320"):
        assert not read_message(message, listening).certain, message


def test_yes_and_no_are_the_last_one_said_where_a_word_leads_to_it() -> None:
    sent = {"recipient": "Maya"}
    summary = ear("summary", "transfer", known=sent, among=BANK)
    table = """
        no wait, yes
        no, sorry, yes -> Confirm
        yes, if it is free
        yes no
        yes and no -> nothing
        yes, is there a fee? -> Confirm? + is there a fee
    """
    assert wrong(table, summary) == {}


def test_cancel_leaves_the_new_wish_to_others() -> None:
    table = """
        cancel -> Cancel
        cancel, I have already paid -> Cancel
        stop, a taxi please -> Cancel? + a taxi please
    """
    assert wrong(table, asking("amount", BANK)) == {}


def test_a_person_is_given_whatever_else_is_said() -> None:
    for listening in (AT_WHAT_TIME, asking("damage", CLAIM), ear("summary", "x")):
        assert told(read_message("7 pm. I want to speak to a person", listening)) == "Human"


def test_an_optional_field_is_left_open_by_its_name() -> None:
    wishes = asking("wishes", HOTEL)
    assert wrong("no wishes\nnothing -> Skip", wishes) == {}
    assert wrong("no email\nno email please -> Skip", asking("email", HOTEL)) == {}
    assert told(read_message("no onions", wishes)) != "Skip"


@pytest.mark.parametrize(
    ("ask", "setting", "refusals"),
    [
        (
            "Where may we send a reminder?",
            ENGLISH,
            "no reminder, please no reminders, no need for a reminder, don't send me a reminder,"
            "I don't want one, nowhere, no reminder needed",
        ),
        (
            "Wohin dürfen wir eine Erinnerung schicken?",
            GERMAN,
            "keine Erinnerung, bitte keine Erinnerung, ich brauche keine Erinnerung,"
            "schicken Sie mir keine Erinnerung, nirgendwohin, nicht nötig",
        ),
        (
            "¿Adónde le enviamos un recordatorio?",
            SPANISH,
            "sin recordatorio, ningún recordatorio, no necesito recordatorio,"
            "no me mande un recordatorio, no hace falta",
        ),
    ],
)
def test_an_optional_field_is_left_open_in_the_words_of_its_question(
    ask: str, setting: Setting, refusals: str
) -> None:
    email = Field("email", "email", ask, required=False)
    asked = ear("field", "email", fields=[email], among=[email], setting=setting)

    said = {message: told(read_message(message.strip(), asked)) for message in refusals.split(",")}

    assert said == dict.fromkeys(said, "Skip")
    assert told(read_message("not there, ann@example.org", asked)).startswith("Fill email")


def test_a_text_is_certain_only_where_nothing_speaks_against_it() -> None:
    listening = ear("field", "damage", fields=CLAIM[2:], known={"accident_date": "2026-11-04"})
    for message in ("the door and a window", "It was raining and he slipped."):
        assert read_message(message, listening).certain, message
    for message in (
        "wait, the door",
        "the door. Is that covered?",
        "sorry, what?",
        "the door, I need a car",
        "AB-12345 and the door",
        "no",
    ):
        found = read_message(message, listening)
        assert not found.certain or not isinstance(found.commands[0], Fill), message


def test_a_list_takes_things_and_no_sentences() -> None:
    listening = asking("items", (Field("items", "list"),))
    assert wrong("soup, bread -> Fill items soup, bread", listening) == {}
    table = """
        soup, bread, and what do you pay? -> Fill items soup, bread? + soup, bread
        I'm fine otherwise
        I don't know -> nothing
    """
    assert wrong(table, listening) == {}
    assert not read_message("soup, and at 7 pm", listening).certain


def test_commands_carry_the_value_that_was_read() -> None:
    found = read_message("sorry, five people, and at 7 pm", AT_WHAT_TIME)
    assert [c.read for c in found.commands if isinstance(c, (Fill, Correct))] == [5, "19:00"]
    date = ear("summary", "claim", known={"accident_date": "1999-11-05"}, among=CLAIM)
    changed = read_message("it was on the 6th, not the 5th", date).commands
    assert [c.read for c in changed if isinstance(c, Correct)] == ["1999-11-06"]


def test_a_task_is_refused_in_its_own_clause_alone() -> None:
    taxi = [("taxi", "t")]
    for message in (
        "I don't need a taxi",
        "forget the taxi, a table please",
        "no taxi, thanks",
        "we no longer want the taxi",
        "please don't order a taxi",
        "a table instead of a taxi",
        "cancel the taxi",
        "the taxi is not needed",
    ):
        assert refused_in(message, taxi, "en") == {"t"}, message
    for message in (
        "a taxi please",
        "no, a taxi",
        "I don't know, a taxi maybe",
        "forget the table, a taxi please",
        "my taxi did not come",
        "I can't find my taxi",
        "not now. A taxi",
    ):
        assert refused_in(message, taxi, "en") == set(), message
    for message in ("ich brauche kein Taxi", "vergiss das Taxi", "ein Taxi brauche ich nicht"):
        assert refused_in(message, taxi, "de") == {"t"}, message
    assert refused_in("no quiero un taxi", taxi, "es") == {"t"}
    assert refused_in("cancel my order", [("cancel my order", "c")], "en") == set()
    assert clauses_in("7 pm, and a taxi", "en") == ["7 pm", "and a taxi"]


def test_german_corrections_beside_answers() -> None:
    listening = ear(
        "field", "time", fields=RESTAURANT[2:4], known=FOUR, among=RESTAURANT, setting=GERMAN
    )
    found = read_message("Entschuldigung, fünf Personen, und um 19 Uhr", listening)
    assert [c.read for c in found.commands if isinstance(c, (Fill, Correct))] == [5, "19:00"]
    assert found.certain


def test_a_remark_beside_values_takes_none_of_them_away() -> None:
    known = {"party_size": 4}
    dated = asking("date", RESTAURANT, known=known)
    table = """
        Tuesday is fine, and at 7 pm -> Fill date Tuesday, Fill time 7 pm
        7 pm, Tuesday is fine -> Fill time 7 pm, Fill date Tuesday
    """
    assert wrong(table, dated) == {}
    table = "we are six, two of them vegetarians -> Fill party_size six? + two of them vegetarians"
    assert wrong(table, asking("party_size", RESTAURANT)) == {}


STAY = (
    Field("breakfast", "boolean", ask="Would you like breakfast?"),
    Field("rooms", "integer"),
    Field("arrival", "date", ask="When do you arrive?"),
    Field("departure", "date", ask="When do you leave?"),
    Field("name", "name", ask="In which name?"),
)


@pytest.mark.parametrize(
    ("asked", "known", "message", "given"),
    [
        ("breakfast", {}, "breakfast yes, no wait, no", {"breakfast": False}),
        ("breakfast", {}, "no, hm, although, yes", {"breakfast": True}),
        ("rooms", {"breakfast": False}, "I want breakfast", {"breakfast": True}),
        (
            "departure",
            {"arrival": "2026-12-01"},
            "sorry, arrival is on the 3rd, and we stay three nights",
            {"arrival": "2026-12-03", "departure": "2026-12-06"},
        ),
        (
            "name",
            {"rooms": 3},
            "it's Weber, and two rooms. Nora Weber",
            {"rooms": 2, "name": "Nora Weber"},
        ),
        ("rooms", {"breakfast": True}, "forget it, I don't need the breakfast", {}),
    ],
)
def test_the_last_of_two_answers_counts_and_a_change_has_its_consequences(
    asked: str, known: dict[str, Any], message: str, given: dict[str, Any]
) -> None:
    open_ = [field for field in STAY if field.name not in known]
    parse = read_message(message, ear("field", asked, fields=open_, known=known, among=STAY))
    assert parse.certain
    assert given == {c.field: c.read for c in parse.commands if isinstance(c, (Fill, Correct))}
    assert given or parse.commands == [Cancel()]


LODGING = (
    Field("check_in", "date", ask="When do you come?"),
    Field("price", "money", currency="EUR", ask="What do you want to pay?"),
    Field("check_out", "date", ask="When do you leave?"),
    Field("people", "integer", ask="For how many people?"),
    Field("guest", "name", ask="In which name?"),
)
BOOKED: dict[str, Any] = {
    "check_in": "2026-11-24",
    "price": {"amount": "85.00", "currency": "EUR"},
}


@pytest.mark.parametrize("message", ["make it 7", "actually 7", "sorry, 7", "make it Friday"])
def test_what_may_replace_a_known_value_gives_an_open_one_nothing(message: str) -> None:
    nothing_asked = ear(fields=LODGING[2:], known=BOOKED, among=LODGING)
    assert told(read_message(message, nothing_asked)) == "nothing"
    nothing_known = ear(fields=LODGING, among=LODGING)
    assert read_message("make it 7 people", nothing_known).commands == [Fill("people", "7", read=7)]


def test_a_repair_at_another_question_is_of_what_is_known() -> None:
    name_asked = ear(
        "field", "guest", fields=(LODGING[4], *LODGING[2:4]), known=BOOKED, among=LODGING
    )
    table = """
        sorry, on Friday -> Correct check_in on Friday
        actually 90 euros -> Correct price 90 euros
        sorry, leaving on Friday -> Fill check_out Friday
    """
    assert wrong(table, name_asked) == {}


def test_a_mere_no_turns_no_answer_that_is_known() -> None:
    own = Field("own_instrument", "boolean", label="eigenes Instrument")
    summary = ear("summary", "x", known={"own_instrument": True}, among=(own,), setting=GERMAN)
    message = "nein doch nicht, wir wollen nur eine Probestunde"
    assert told(read_message(message, summary)).startswith("Deny?")


def test_a_no_that_answers_replaces_no_address() -> None:
    lift = Field("lift", "boolean", ask="Gibt es einen Aufzug im Haus?", label="Aufzug")
    home = Field("home", "address", ask="Wie lautet die Adresse?", label="Adresse")
    known = {"home": "Hauptstraße 8, Bonn"}
    asked = ear("field", "lift", fields=(lift,), known=known, among=(lift, home), setting=GERMAN)
    assert wrong("nein, 5. Etage -> Fill lift nein? + 5. Etage", asked) == {}


def test_a_number_word_inside_another_word_names_no_field() -> None:
    """ "Eight" is the end of "weight"."""
    weight = Field("weight", "number", ask="What does it weigh?")
    email = Field("email", "email", required=False)
    hour = Field("hour", "time", ask="At what time?")
    known = {"hour": "19:00"}
    asked = ear("field", "email", fields=(email, weight), known=known, among=(hour,))
    assert wrong("half past seven, no, eight -> Correct hour eight", asked) == {}


def test_another_hour_of_a_moment_changes_no_number() -> None:
    moment = Field("pick_up", "datetime", ask="When will you pick it up?")
    weight = Field("weight", "number", ask="How many kilos?")
    known = {"weight": 12}
    asked = ear("field", "pick_up", fields=(moment,), known=known, among=(weight,))
    for message in ("27 December at five, sorry, four", "27 December at 5pm, no, the 28th"):
        assert read_message(message, asked).commands == [], message


def test_a_day_that_is_given_for_what_is_wrong_has_a_value() -> None:
    day = Field("day", "date", label="Umzugstag")
    known = {"day": "2026-12-04"}
    summary = ear("summary", "x", known=known, among=(day,), setting=GERMAN)
    heard = read_message("stimmt alles bis auf den Umzugstag, der ist am 12.", summary)
    assert [c.read for c in heard.commands if isinstance(c, Correct)] == ["2026-12-12"]


_HOUSE = {
    ENGLISH: ("Does it leak?", "Where is it?", "How many people?", "Which day?", "kitchen"),
    GERMAN: ("Tropft es?", "Wo ist es?", "Wie viele Personen?", "An welchem Tag?", "Küche"),
    SPANISH: ("¿Gotea?", "¿Dónde está?", "¿Cuántas personas?", "¿Qué día?", "la cocina"),
}


def _of_house(setting: Setting, *names: str) -> list[Field]:
    kinds = {"leak": "boolean", "room": "text", "people": "integer", "day": "date"}
    asks = dict(zip(kinds, _HOUSE[setting], strict=False))
    return [Field(name, kinds[name], asks[name]) for name in names]


@pytest.mark.parametrize(
    ("setting", "table"),
    [
        (
            ENGLISH,
            """
            yes. it's not the kitchen, it's the bathroom -> Fill leak yes, Correct room the bathroom
            yes, but not the kitchen, the bathroom
            yes, but the bathroom instead of the kitchen
            yes the bathroom, not the kitchen -> Fill leak yes, Correct room the bathroom
            it's not the kitchen, it's the bathroom -> Correct room the bathroom
            no, it's not the kitchen, it's the bathroom -> Correct room the bathroom
            yes, it isn't the kitchen, it's the bathroom -> Fill leak yes, Correct room the bathroom
            it does not drip in the kitchen, but in the bathroom -> nothing
            yes. it's not Ann, it's Bo -> Fill leak yes? + it's not Ann it's Bo
            yes five people, not four -> Fill leak yes, Correct people five people
            yes five people please -> Fill leak yes, Correct people five
            ok five people please -> Correct people five
            yes on Tuesday instead of Monday -> Fill leak yes, Correct day Tuesday
            let's change the day to Tuesday -> Correct day Tuesday
            yes, not every day -> nothing
            """,
        ),
        (
            GERMAN,
            """
            ja. es ist nicht die Küche, es ist das Bad -> Fill leak ja, Correct room das Bad
            ja, es liegt nicht in der Küche, sondern im Bad
            ja, es ist nicht in der Küche, sondern im Bad -> Fill leak ja, Correct room im Bad
            aber nicht die Küche, das Bad -> Correct room das Bad
            ja. es ist nicht Ann, es ist Bo -> Fill leak ja? + es ist nicht Ann es ist Bo
            ja fünf Personen, nicht vier -> Fill leak ja, Correct people fünf Personen
            gut fünf Personen, nicht vier -> Correct people fünf Personen
            ich möchte den Tag auf Dienstag ändern -> Correct day Dienstag
            """,
        ),
        (
            SPANISH,
            """
            sí. no es la cocina, es el baño -> Fill leak sí, Correct room el baño
            sí, pero no la cocina, el baño -> Fill leak sí, Correct room el baño
            no, no es la cocina, es el baño -> Correct room el baño
            sí, no está en la cocina, sino en el baño -> Fill leak sí, Correct room en el baño
            sí. no es Ana, es Eva -> Fill leak sí? + no es Ana es Eva
            sí cinco personas, no cuatro -> Fill leak sí, Correct people cinco personas
            """,
        ),
    ],
)
def test_a_yes_stands_beside_what_is_corrected(setting: Setting, table: str) -> None:
    fields = _of_house(setting, "leak", "room", "people", "day")
    known = {"room": _HOUSE[setting][-1], "people": 4, "day": "2026-11-23"}
    asked = ear("field", "leak", fields=fields[:1], known=known, among=fields, setting=setting)
    assert wrong(table, asked) == {}


@pytest.mark.parametrize(
    ("setting", "table"),
    [
        (
            ENGLISH,
            """
            tomorrow at 2pm -> Fill day tomorrow? + 2pm
            Dec 4th 7pm please -> Fill day Dec 4th? + 7pm
            on 4 December at half past seven -> Fill day 4 December? + half past seven
            tomorrow morning -> Fill day tomorrow morning
            from 18 December -> Fill day from 18 December
            """,
        ),
        (
            GERMAN,
            """
            übermorgen ab 14 Uhr -> Fill day übermorgen? + ab 14 Uhr
            Montag, halb acht -> Fill day Montag? + halb acht
            guten Morgen am Montag -> Fill day am Montag
            morgen früh -> Fill day morgen früh
            """,
        ),
        (
            SPANISH,
            """
            mañana a las 14:00 -> Fill day mañana? + 14:00
            mañana a mediodía -> Fill day mañana? + mediodía
            mañana por la mañana -> Fill day mañana por la mañana
            """,
        ),
    ],
)
def test_an_hour_that_no_field_takes_stays_unread(setting: Setting, table: str) -> None:
    [day] = _of_house(setting, "day")
    assert wrong(table, asking("day", [day], setting=setting)) == {}


def test_a_day_is_changed_beside_an_hour_that_no_field_takes() -> None:
    day, people, note = (*_of_house(ENGLISH, "day", "people"), Field("note", "text", "Any wishes?"))
    known = {"day": "2026-12-04"}
    for asked in (people, note):
        here = ear("field", asked.name, fields=(asked,), known=known, among=(day,))
        heard = read_message("make it Friday at 8pm", here)
        assert heard.commands == [Correct("day", "Friday", read="2026-11-27")]
        assert "8pm" in " ".join(heard.unread)


@pytest.mark.parametrize(
    ("setting", "kind", "messages"),
    [
        (ENGLISH, "time", "at nine or nine thirty | eight, nine o'clock | 8 or 9pm"),
        (ENGLISH, "money", "50, 60 euros | 50 or 60"),
        (ENGLISH, "date", "Monday, Tuesday | the 5th or 6th of May"),
        (ENGLISH, "integer", "the 30th of February | 3rd of next month"),
        (GERMAN, "time", "acht, neun Uhr | acht, halb neun | um neun oder halb zehn"),
        (GERMAN, "integer", "zwei, drei | zwei vielleicht drei"),
        (SPANISH, "time", "a las nueve o nueve y media | a las ocho o nueve | nueve o cinco"),
        (SPANISH, "datetime", "mañana a las nueve o nueve y media"),
        (SPANISH, "date", "el 5 de mayo veinte o treinta | el 5 o el 6"),
        (SPANISH, "integer", "dos o tres | dos quizás tres"),
    ],
)
def test_alternatives_are_asked(setting: Setting, kind: str, messages: str) -> None:
    field = Field("x", kind, ask="How many?" if kind == "integer" else "")
    for message in messages.split(" | "):
        assert not read_message(message, asking("x", [field], setting=setting)).commands, message


def test_minutes_below_ten_are_read_with_their_zero() -> None:
    hour = Field("hour", "time")
    for setting, said in ((ENGLISH, "nine oh five"), (SPANISH, "las nueve cero cinco")):
        [fill] = read_message(said, asking("hour", [hour], setting=setting)).commands
        assert isinstance(fill, Fill)
        assert fill.read == "09:05"
