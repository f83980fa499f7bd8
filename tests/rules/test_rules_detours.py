"""Detours: what is paused, and when it goes on (DESIGN.md section 4)."""

from __future__ import annotations

import pytest

from journeygraph import NEVER, Journey, Pathway, ReturnToPrevious, ReturnToSpecific, Transition
from tests.support.clerks import said, staff
from tests.support.scripts import follow


class Loan(Journey):
    """Lend a book."""

    class SearchPath(Pathway):
        __agents__ = ["search"]
        __accumulate__ = ["title"]
        __complete_when__ = ["title"]
        __next__ = "pickup"

    class PickupPath(Pathway):
        __agents__ = ["pickup"]
        __accumulate__ = ["branch"]
        __complete_when__ = ["branch"]

    class HoursPath(Pathway):
        __agents__ = ["hours"]
        __return_behavior__ = ReturnToPrevious()

    class FeesPath(Pathway):
        __agents__ = ["fees"]
        __return_behavior__ = ReturnToPrevious()

    class CardPath(Pathway):
        __agents__ = ["card"]
        __accumulate__ = ["number"]
        __complete_when__ = ["number"]
        __return_behavior__ = ReturnToPrevious()

    class DeskPath(Pathway):
        __agents__ = ["desk"]
        __complete_when__ = NEVER

    __transitions__ = [
        Transition(said("opening hours"), to_pathway="hours"),
        Transition(said("late fee"), to_pathway="fees"),
        Transition(said("library card"), to_pathway="card"),
        Transition(said("a person"), to_pathway="desk"),
        Transition(said("another book"), "pickup", "search"),
        Transition(said("on Sundays"), "hours", "desk"),
        Transition(said("back to the shelves"), "card", "search"),
    ]


class Market(Journey):
    """Two ordinary pathways that lead to each other."""

    class FruitPath(Pathway):
        __agents__ = ["fruit"]
        __complete_when__ = NEVER

    class FishPath(Pathway):
        __agents__ = ["fish"]
        __complete_when__ = NEVER

    __transitions__ = [
        Transition(said("fish"), "fruit", "fish"),
        Transition(said("fruit"), "fish", "fruit"),
    ]


class Clinic(Journey):
    """Bring an animal to the vet."""

    class AnimalPath(Pathway):
        __agents__ = ["animal"]
        __accumulate__ = ["kind"]
        __complete_when__ = ["kind"]
        __next__ = "visit"

    class VisitPath(Pathway):
        __agents__ = ["visit"]
        __accumulate__ = ["day"]
        __complete_when__ = ["day"]

    class InsurancePath(Pathway):
        __agents__ = ["insurance"]
        __accumulate__ = ["policy"]
        __complete_when__ = ["policy"]
        __return_behavior__ = ReturnToPrevious()

    class WrongAnimalPath(Pathway):
        __agents__ = ["wrong"]
        __return_behavior__ = ReturnToSpecific("animal")

    __transitions__ = [
        Transition(said("insurance"), to_pathway="insurance"),
        Transition(said("wrong animal"), to_pathway="wrong_animal"),
        Transition(said("two of them"), "animal", "animal", context_update={"pair": "set:yes"}),
        Transition(said("evening"), "visit", "visit", context_update={"late": "set:yes"}),
    ]


class SlowClinic(Clinic):
    """A vet who has to be sure before the animal is another one."""

    class WrongAnimalPath(Pathway):
        __agents__ = ["wrong"]
        __complete_when__ = ["sure"]
        __return_behavior__ = ReturnToSpecific("animal")


STACK_AT_START = {
    "only a transition into a detour pauses a pathway": """
        title=Emma -> pickup; paused
        another book -> search; paused
        a person -> desk; paused
        opening hours -> hours; paused desk
        """,
}
WHEN_DOES_A_DETOUR_RETURN = {
    "it answers, and the next message goes to the paused pathway": """
        by Austen -> search; unmoved
        opening hours? -> hours; to hours; moved; paused search; returning
        Persuasion then -> search; to; moved; paused; staying; says search: Persuasion then
        """,
    "also after the session was taken up elsewhere": """
        opening hours? -> hours; returning; paused search
        (restart)
        title=Emma please -> pickup; says search: title=Emma please
        """,
    "while it returns, a transition from everywhere wins": """
        title=Emma -> pickup
        opening hours? -> hours
        the late fee? -> fees; to fees; says fees: the late fee?
        """,
    "while it returns, a transition from the detour wins": """
        title=Emma -> pickup
        opening hours? -> hours
        also on Sundays? -> desk; to desk; says desk: also on Sundays?
        """,
    "while it returns, a transition from the paused pathway wins": """
        title=Emma -> pickup
        opening hours? -> hours
        another book -> search; to search; says search: another book
        """,
    "rules of a pathway that is neither here nor paused do not count": """
        opening hours? -> hours
        no, another book -> search; to; says search: no, another book
        """,
    "rules of the paused pathway do not count before the detour is over": """
        title=Emma -> pickup
        I need a library card -> card
        is another book needed? -> card; paused pickup; says card: is another book needed?
        """,
    "one of several turns stays until it has what it needs": """
        a library card, please -> card
        how long does it take? -> card; staying; says card: how long does it take?
        (restart)
        number=C-9 -> card; returning; says card: number=C-9
        title=Emma -> pickup; says search: title=Emma
        """,
}
ANOTHER_DETOUR = {
    "a finished detour gives its place to the next one": """
        opening hours? -> hours
        and the late fee? -> fees; paused search; says fees: and the late fee?
        fine -> search; paused; says search: fine
        """,
    "one that is not complete is paused and taken up again": """
        I want a library card -> card
        what late fee is there? -> fees; paused search card; says fees: what late fee is there?
        (restart)
        number=C-7 -> card; paused search; returning; says card: number=C-7
        now Emma -> search; paused; says search: now Emma
        """,
    "asked for again it runs again and pauses nothing": """
        opening hours? -> hours; paused search
        opening hours on Monday? -> hours; paused search; says hours: opening hours on Monday?
        opening hours in May? -> hours; paused search; to hours; unmoved
        thanks -> search; says search: thanks
        """,
    "asked for while it is paused it is unwound to and never there twice": """
        a library card -> card
        the late fee? -> fees
        about that library card -> card; to card; paused search; says card: about that library card
        """,
}
LOANS = STACK_AT_START | WHEN_DOES_A_DETOUR_RETURN | ANOTHER_DETOUR


@pytest.mark.parametrize("held", LOANS)
async def test_a_detour_is_entered_and_left_as_the_rules_say(held, talk, memory_url):
    chat = await talk(Loan, staff(Loan), memory_url)

    await follow(chat, LOANS[held])


async def test_a_plain_transition_to_the_paused_pathway_unwinds_to_it(talk, memory_url):
    """Plain transition inside a detour: target on the stack."""
    chat = await talk(Loan, staff(Loan), memory_url)
    await follow(
        chat,
        """
        a library card -> card
        what late fee? -> fees
        so, the library card -> card
        back to the shelves -> search; paused; says search: back to the shelves
        """,
    )

    assert "stack_cleared" not in await chat.audited()


async def test_going_to_and_fro_between_ordinary_pathways_never_runs_out_of_depth(talk, memory_url):
    """Stack at start; the stack of others leaks here until the tenth turn fails."""
    chat = await talk(Market, staff(Market), memory_url, max_pathway_depth=2)

    await follow(chat, "fish -> fish; paused\nfruit -> fruit; paused\n" * 8)


async def test_a_long_row_of_detours_never_grows_the_stack(talk, memory_url):
    """Another detour while returning."""
    chat = await talk(Loan, staff(Loan), memory_url, max_pathway_depth=1)
    to_and_fro = "opening hours -> hours; paused search\nlate fee -> fees; paused search\n"

    await follow(chat, to_and_fro * 5 + "enough -> search; says search: enough")


async def test_a_plain_transition_to_anywhere_else_clears_the_stack_with_a_row(talk, memory_url):
    """Plain transition inside a detour: the conversation moved on."""
    chat = await talk(Loan, staff(Loan), memory_url)
    await follow(
        chat,
        """
        a library card -> card
        what late fee? -> fees
        give me a person -> desk; paused; staying; says desk: give me a person
        hello? -> desk; says desk: hello?
        """,
    )

    cleared = [row for row in await chat.journey.audit() if row.kind == "stack_cleared"]
    assert [(row.turn, row.from_pathway, row.to_pathway) for row in cleared] == [
        (3, "fees", "desk")
    ]
    assert "search" in cleared[0].reason
    assert "card" in cleared[0].reason


async def test_the_audit_says_of_every_detour_when_it_was_entered_and_left(talk, memory_url):
    chat = await talk(Loan, staff(Loan), memory_url)
    for words in ("library card", "late fee", "opening hours", "go on", "a person"):
        await chat.says(words)

    audit = await chat.journey.audit()
    entered = [row.to_pathway for row in audit if row.kind == "detour_entered"]
    left = [row.from_pathway for row in audit if row.kind == "detour_left"]

    assert entered == ["card", "fees", "hours"]
    assert left == ["fees", "hours", "card"]


# --- ReturnToSpecific ---------------------------------------------------------------------------

# what is held: the journey, the conversation, and whether the stack is cleared
VISITS = {
    "the target is not paused: the stack is cleared": (
        Clinic,
        """
        kind=cat -> visit
        wrong animal -> wrong_animal; paused visit
        it is a dog -> visit; ran animal; paused; moved; to; says animal: it is a dog
        """,
        True,
    ),
    "the target is paused: it is unwound to": (
        Clinic,
        """
        insurance -> insurance
        wrong animal -> wrong_animal; paused animal insurance
        (restart)
        it is a dog -> animal; paused; says animal: it is a dog
        """,
        False,
    ),
    "while returning the rules of the target count": (
        Clinic,
        """
        kind=cat -> visit
        wrong animal -> wrong_animal
        there are two of them -> animal; to animal; paused; knows kind=cat pair=yes
        """,
        True,
    ),
    "while returning the rules of the paused pathway do not": (
        Clinic,
        """
        kind=cat -> visit
        wrong animal -> wrong_animal
        in the evening -> visit; ran animal; to; knows kind=cat
        """,
        True,
    ),
    "the rules of the target count only while returning": (
        SlowClinic,
        """
        kind=cat -> visit
        wrong animal -> wrong_animal
        two of them -> wrong_animal; to; says wrong: two of them
        """,
        False,
    ),
}


@pytest.mark.parametrize("held", VISITS)
async def test_a_detour_with_a_target_returns_to_it(held, talk, memory_url):
    """ReturnToSpecific."""
    journey, script, cleared = VISITS[held]
    chat = await talk(journey, staff(journey), memory_url)

    await follow(chat, script)

    assert ("stack_cleared" in await chat.audited()) is cleared
