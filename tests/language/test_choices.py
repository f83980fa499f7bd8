"""One of several things: by its place, by its name, or by what it is not."""

from __future__ import annotations

from journeygraph.nodes.commands import Fill
from journeygraph.nodes.language import Expected, read_message
from journeygraph.nodes.values import value_of
from tests.language.desks import (
    CLINIC,
    ENGLISH,
    GERMAN,
    RESTAURANT,
    TELECOM,
    asking,
    ear,
    rows,
    told,
    wrong,
)

CARDS = ("Block a card", "Order a new card", "Card limits")
PAUSED = ("the transfer", "the claim")


def test_options_are_taken_by_their_place() -> None:
    table = """
        the first
        first
        1
        1.
        #1
        number one
        option 1
        the first one please
        I'd like the first one
        the 1st
        one -> Choose a
        the second
        the second one
        second please
        2
        number two
        no. 2
        option two
        I want the second
        let's take the second one
        the 2nd one, please
        um, the second I think -> Choose b
        the last one
        the last
        the third
        3
        latter -> Choose c
        4
        the fourth
        the first or the second?
        the first two
        all of them
        second thoughts are useless
        which one is the second?
        both -> nothing
    """
    assert wrong(table, ear("clarify", options=CARDS)) == {}


def test_options_are_taken_by_their_name() -> None:
    table = """
        block
        block a card
        BLOCK A CARD
        block my card please
        I want to block the card
        blok a card -> Choose a
        order
        the new one
        order a new card
        ordr a new card
        new card
        I'd like to order a new card -> Choose b
        limits
        the limits
        card limits please
        limit -> Choose c
        card
        a card
        the card please
        block or order
        blocking is bad
        where is my parcel -> nothing
    """
    assert wrong(table, ear("clarify", options=CARDS)) == {}


def test_options_are_ruled_out() -> None:
    table = """
        not the first
        not the first one
        anything but the first
        not block
        no, not the first -> Deny a
        not the last one -> Deny c
        not that -> nothing
        none of them
        none of these
        none
        neither
        none of the above
        no
        something else -> Deny
    """
    assert wrong(table, ear("clarify", options=CARDS)) == {}
    table = """
        not the first
        not the transfer
        the claim
        I meant the claim
        not the first one, please -> Choose b
    """
    assert wrong(table, ear("paused", options=PAUSED)) == {}


def test_what_the_runtime_offers_is_taken_in_other_words() -> None:
    begun = ear("restart", "transfer", options=("go on with it", "begin anew"))
    table = """
        go on
        continue
        go on with it
        let's continue
        continue with it please
        the old one
        resume
        the first -> Choose a
        begin anew
        start over
        start again
        from scratch
        restart
        a new one
        I want to start over -> Choose b
        yes
        hm -> nothing
        cancel -> Cancel
        never mind -> Deny
    """
    assert wrong(table, begun) == {}
    options = ("change it", "speak to a person", "leave it as it is")
    after = ear("change", "party_size", options=options)
    table = """
        change it
        change it please
        change the booking
        the first -> Choose a
        a person
        speak to a person
        I want to talk to someone -> Choose b
        leave it
        no, leave it
        leave it as it is
        keep it
        never mind
        the last one -> Choose c
    """
    assert wrong(table, after) == {}


def test_choices_of_a_field_are_taken_likewise() -> None:
    table = """
        the first
        number one
        basic
        Basic 5
        basci 5 -> Fill plan Basic 5
        family
        the family plan
        the second one
        famly -> Fill plan Family
        unlimited
        Unlimited Plus
        the last one
        I'd like unlimited plus please -> Fill plan Unlimited Plus
        not family
        which one is cheaper?
        none
        gold -> nothing
    """
    assert _other_values(table, asking("plan", TELECOM)) == {}
    seating = asking("seating", RESTAURANT)
    table = """
        not inside
        the second -> Fill seating terrace
        not the terrace
        the first -> Fill seating inside
        outside -> Fill seating terrace
        it rains outside, so what do you think -> nothing
    """
    assert _other_values(table, seating) == {}
    urgent = asking("urgency", CLINIC)
    table = """
        not urgent -> Fill urgency not urgent
        today -> Fill urgency today
        this week -> Fill urgency this week
        the last one -> Fill urgency not urgent
    """
    assert _other_values(table, urgent) == {}


def test_german_choices() -> None:
    options = ("Karte sperren", "Neue Karte", "Kartenlimit")
    table = """
        die erste
        das erste bitte
        nummer eins
        1
        sperren
        Karte sperren bitte -> Choose a
        der zweite
        die zweite
        das zweite bitte
        nummer 2
        ich möchte die zweite
        neue
        die neue Karte -> Choose b
        die letzte
        das letzte
        das Kartenlimit
        Kartenlimit -> Choose c
        nicht die erste -> Deny a
        keine davon
        nichts davon
        keins -> Deny
        beide
        was ist das zweite?
        die Karte -> nothing
    """
    assert wrong(table, ear("clarify", options=options, setting=GERMAN)) == {}
    begun = ear("restart", options=("damit weitermachen", "neu anfangen"), setting=GERMAN)
    table = """
        weitermachen
        weiter -> Choose a
        neu
        von vorne
        ganz von vorn anfangen
        neu anfangen bitte -> Choose b
    """
    assert wrong(table, begun) == {}


def _other_values(table: str, listening: Expected) -> dict[str, str]:
    """Return the messages of a table that are read as another choice than the table has."""
    found = {}
    for message, expected in rows(table):
        heard = read_message(message, listening)
        got = told(heard)
        for command in heard.commands:
            assert isinstance(command, Fill)
            value = command.read or value_of(listening.fields[0], command.value, ENGLISH)
            got = f"Fill {command.field} {value}"
        if got != expected:
            found[message] = got
    return found
