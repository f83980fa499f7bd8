"""Detours: what is paused, and when it goes on (DESIGN.md section 4)."""

from __future__ import annotations

from typing import Any

import pytest

from journeygraph import NEVER, Journey, Pathway, ReturnToPrevious, ReturnToSpecific, Transition
from tests.support.clerks import said, staff


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


async def begin(talk: Any, url: str, *, context: Any = None, **config: Any) -> Any:
    return await talk(Loan, staff(Loan), url, context=context, **config)


# --- Stack at start -----------------------------------------------------------------------------


async def test_a_session_begins_with_nothing_paused(talk, memory_url):
    chat = await begin(talk, memory_url)

    session = await chat.journey.get_session_state()

    assert (session.current_pathway_id, session.pathway_stack) == ("search", [])


async def test_only_a_transition_into_a_detour_pauses_a_pathway(talk, memory_url):
    chat = await begin(talk, memory_url)
    stacks = []

    for words in ("title=Emma", "another book", "a person", "opening hours"):
        await chat.says(words)
        stacks.append(chat.stack)

    assert chat.path == ["pickup", "search", "desk", "hours"]
    assert stacks == [[], [], [], ["desk"]]


async def test_going_to_and_fro_between_ordinary_pathways_never_runs_out_of_depth(talk, memory_url):
    """Stack at start; the stack of others leaks here until the tenth turn fails."""

    class Market(Journey):
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

    chat = await talk(Market, staff(Market), memory_url, max_pathway_depth=2)

    for words in ["fish", "fruit"] * 8:
        await chat.says(words)

    assert chat.path == ["fish", "fruit"] * 8
    assert chat.stack == []


# --- When does a detour return ------------------------------------------------------------------


async def test_a_detour_answers_and_the_next_message_goes_to_the_paused_pathway(talk, memory_url):
    """When does a detour return."""
    chat = await begin(talk, memory_url)
    await chat.says("something by Austen")

    assert await chat.says("What are your opening hours?") == "hours: What are your opening hours?"
    assert (chat.last.pathway_id, chat.last.transition_to, chat.last.pathway_changed) == (
        "hours",
        "hours",
        True,
    )
    assert (chat.stack, chat.last.metadata["returning"]) == (["search"], True)

    assert await chat.says("Thanks, Persuasion then") == "search: Thanks, Persuasion then"
    assert (chat.last.pathway_id, chat.last.transition_to, chat.last.pathway_changed) == (
        "search",
        None,
        True,
    )
    assert (chat.stack, chat.last.metadata["returning"]) == ([], False)


async def test_a_detour_returns_also_after_the_session_was_taken_up_elsewhere(talk, memory_url):
    """When does a detour return; Frames are data (Stack at start)."""
    chat = await begin(talk, memory_url)
    await chat.says("opening hours?")
    chat = await chat.restored()

    session = await chat.journey.get_session_state()
    assert (session.current_pathway_id, session.pathway_stack) == ("hours", ["search"])
    assert session.returning

    assert await chat.says("title=Emma please") == "search: title=Emma please"
    assert chat.path == ["hours", "pickup"]


@pytest.mark.parametrize(
    ("words", "where"),
    [
        ("what is the late fee?", "fees"),  # from "*"
        ("also on Sundays?", "desk"),  # from the detour
        ("no, another book", "search"),  # from the paused pathway
    ],
)
async def test_while_returning_a_transition_wins_over_the_return(talk, memory_url, words, where):
    """When does a detour return: from `*`, the detour, or the paused pathway."""
    chat = await begin(talk, memory_url, context={"title": "Emma"})
    await chat.says("hello")
    await chat.says("opening hours?")

    assert await chat.says(words) == f"{where}: {words}"
    assert chat.last.transition_to == where


async def test_rules_of_a_pathway_that_is_neither_here_nor_paused_do_not_count(talk, memory_url):
    chat = await begin(talk, memory_url)
    await chat.says("opening hours?")

    assert await chat.says("no, another book") == "search: no, another book"
    assert chat.last.transition_to is None


async def test_rules_of_the_paused_pathway_do_not_count_before_the_detour_is_over(talk, memory_url):
    chat = await begin(talk, memory_url, context={"title": "Emma"})
    await chat.says("hello")
    await chat.says("I need a library card")

    assert await chat.says("is another book needed?") == "card: is another book needed?"
    assert chat.stack == ["pickup"]


# --- Another detour while returning, asked for again, nested ------------------------------------


async def test_a_finished_detour_gives_its_place_to_the_next_one(talk, memory_url):
    """Another detour while returning."""
    chat = await begin(talk, memory_url)
    await chat.says("opening hours?")

    assert await chat.says("and the late fee?") == "fees: and the late fee?"
    assert chat.stack == ["search"]

    assert await chat.says("fine") == "search: fine"
    assert chat.stack == []


async def test_a_long_row_of_detours_never_grows_the_stack(talk, memory_url):
    """Another detour while returning."""
    chat = await begin(talk, memory_url, max_pathway_depth=1)

    for words in ["opening hours", "late fee"] * 5:
        await chat.says(words)
        assert chat.stack == ["search"]

    assert await chat.says("enough") == "search: enough"


async def test_a_detour_that_is_not_complete_is_paused_and_taken_up_again(talk, memory_url):
    """Another detour while returning: only a detour that is not complete is pushed."""
    chat = await begin(talk, memory_url)
    await chat.says("I want a library card")

    assert await chat.says("what late fee is there?") == "fees: what late fee is there?"
    assert chat.stack == ["search", "card"]
    chat = await chat.restored()

    assert await chat.says("number=C-7") == "card: number=C-7"
    assert (chat.stack, chat.last.metadata["returning"]) == (["search"], True)

    assert await chat.says("now Emma") == "search: now Emma"
    assert chat.stack == []


async def test_a_detour_asked_for_again_runs_again_and_pauses_nothing(talk, memory_url):
    """Detour asked for again while in it."""
    chat = await begin(talk, memory_url)

    for words in ("opening hours?", "opening hours on Monday?", "opening hours in May?"):
        assert await chat.says(words) == f"hours: {words}"
        assert chat.stack == ["search"]
    assert chat.last.transition_to == "hours"
    assert not chat.last.pathway_changed

    assert await chat.says("thanks") == "search: thanks"


async def test_a_paused_detour_asked_for_is_unwound_to_and_never_there_twice(talk, memory_url):
    """Detour asked for again while in it: a target that is paused is resumed."""
    chat = await begin(talk, memory_url)
    await chat.says("a library card")
    await chat.says("the late fee?")

    assert await chat.says("about that library card") == "card: about that library card"
    assert chat.stack == ["search"]
    assert chat.last.transition_to == "card"


async def test_a_multi_turn_detour_stays_until_it_has_what_it_needs(talk, memory_url):
    """Multi-turn detour."""
    chat = await begin(talk, memory_url)
    await chat.says("a library card, please")

    assert await chat.says("how long does it take?") == "card: how long does it take?"
    assert not chat.last.metadata["returning"]
    chat = await chat.restored()
    assert await chat.says("here it is: number=C-9") == "card: here it is: number=C-9"
    assert chat.last.metadata["returning"]

    assert await chat.says("title=Emma") == "search: title=Emma"
    assert chat.path == ["card", "card", "card", "pickup"]


# --- Plain transition inside a detour -----------------------------------------------------------


async def test_a_plain_transition_to_the_paused_pathway_unwinds_to_it(talk, memory_url):
    """Plain transition inside a detour: target on the stack."""
    chat = await begin(talk, memory_url)
    await chat.says("a library card")
    await chat.says("what late fee?")
    await chat.says("so, the library card")

    assert await chat.says("back to the shelves") == "search: back to the shelves"
    assert (chat.last.pathway_id, chat.stack) == ("search", [])
    assert "stack_cleared" not in await chat.audited()


async def test_a_plain_transition_to_anywhere_else_clears_the_stack_with_a_row(talk, memory_url):
    """Plain transition inside a detour: the conversation moved on."""
    chat = await begin(talk, memory_url)
    await chat.says("a library card")
    await chat.says("what late fee?")

    assert await chat.says("give me a person") == "desk: give me a person"
    assert (chat.stack, chat.last.metadata["returning"]) == ([], False)
    cleared = [row for row in await chat.journey.audit() if row.kind == "stack_cleared"]
    assert [(row.turn, row.from_pathway, row.to_pathway) for row in cleared] == [
        (3, "fees", "desk")
    ]
    assert "search" in cleared[0].reason
    assert "card" in cleared[0].reason

    assert await chat.says("hello?") == "desk: hello?"


async def test_the_audit_says_of_every_detour_when_it_was_entered_and_left(talk, memory_url):
    chat = await begin(talk, memory_url)
    for words in ("library card", "late fee", "opening hours", "go on", "a person"):
        await chat.says(words)

    audit = await chat.journey.audit()
    entered = [row.to_pathway for row in audit if row.kind == "detour_entered"]
    left = [row.from_pathway for row in audit if row.kind == "detour_left"]

    assert entered == ["card", "fees", "hours"]
    assert left == ["fees", "hours", "card"]


# --- ReturnToSpecific ---------------------------------------------------------------------------


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


async def vet(talk: Any, url: str, *before: str, **config: Any) -> Any:
    chat = await talk(Clinic, staff(Clinic), url, **config)
    for words in before:
        await chat.says(words)
    return chat


async def test_a_detour_with_a_target_clears_the_stack_and_goes_there(talk, memory_url):
    """ReturnToSpecific: the target is not paused."""
    chat = await vet(talk, memory_url, "kind=cat", "wrong animal")
    assert (chat.last.pathway_id, chat.stack) == ("wrong_animal", ["visit"])

    assert await chat.says("it is a dog") == "animal: it is a dog"
    assert (chat.stack, chat.last.pathway_changed, chat.last.transition_to) == ([], True, None)
    assert "stack_cleared" in await chat.audited()


async def test_a_detour_with_a_target_unwinds_to_it_where_it_is_paused(talk, memory_url):
    """ReturnToSpecific: unwinds to its target if paused there."""
    chat = await vet(talk, memory_url, "insurance", "wrong animal")
    assert chat.stack == ["animal", "insurance"]
    chat = await chat.restored()

    assert await chat.says("it is a dog") == "animal: it is a dog"
    assert chat.stack == []
    assert "stack_cleared" not in await chat.audited()


async def test_while_returning_the_rules_of_the_target_count(talk, memory_url):
    """ReturnToSpecific: the rules of that target count as those of the paused pathway."""
    chat = await vet(talk, memory_url, "kind=cat", "wrong animal")

    assert await chat.says("there are two of them") == "animal: there are two of them"
    assert (chat.last.transition_to, chat.context["pair"]) == ("animal", "yes")
    assert chat.stack == []


async def test_while_returning_to_a_target_the_rules_of_the_paused_pathway_do_not(talk, memory_url):
    """ReturnToSpecific: in place of those of the paused pathway."""
    chat = await vet(talk, memory_url, "kind=cat", "wrong animal")

    assert await chat.says("in the evening") == "animal: in the evening"
    assert (chat.last.transition_to, "late" in chat.context) == (None, False)


async def test_the_rules_of_the_target_count_only_while_returning(talk, memory_url):
    """ReturnToSpecific: only while returning."""

    class Slow(Clinic):
        class WrongAnimalPath(Pathway):
            __agents__ = ["wrong"]
            __complete_when__ = ["sure"]
            __return_behavior__ = ReturnToSpecific("animal")

    chat = await talk(Slow, staff(Slow), memory_url, context={"kind": "cat"})
    await chat.says("hello")
    await chat.says("wrong animal")

    assert await chat.says("two of them") == "wrong: two of them"
    assert chat.last.transition_to is None
