"""Completion of a pathway, its next pathway, and the end of a journey (DESIGN.md section 4)."""

from __future__ import annotations

from typing import Any

import pytest

from journeygraph import (
    NEVER,
    Journey,
    Pathway,
    ReturnToPrevious,
    ReturnToSpecific,
    Texts,
    Transition,
)
from tests.support.clerks import gives, said, staff

CLOSING = "We are all done here. If you need anything else, just say so."


class Dinner(Journey):
    """Reserve a table."""

    class PartyPath(Pathway):
        __agents__ = ["host"]
        __accumulate__ = ["guests", "day"]
        __complete_when__ = ["guests", "day"]
        __next__ = "menu"

    class MenuPath(Pathway):
        __agents__ = ["cook"]
        __accumulate__ = ["dish"]
        __complete_when__ = ["dish"]
        __next__ = "receipt"

    class ReceiptPath(Pathway):
        __agents__ = ["till"]
        __runs_on_arrival__ = True

    class AllergyPath(Pathway):
        __agents__ = ["allergy"]
        __return_behavior__ = ReturnToPrevious()

    class BarPath(Pathway):
        __agents__ = ["bar"]
        __accumulate__ = ["drink"]
        __complete_when__ = ["drink"]
        __return_behavior__ = ReturnToPrevious()

    class AgainPath(Pathway):
        __agents__ = ["again"]
        __return_behavior__ = ReturnToSpecific("party")

    __transitions__ = [
        Transition(said("nuts"), to_pathway="allergy"),
        Transition(said("a drink"), to_pathway="bar"),
        Transition(said("change the menu"), to_pathway="menu"),
        Transition(said("change the day"), to_pathway="party"),
        Transition(said("another evening"), to_pathway="again"),
        Transition(said("print it again"), to_pathway="receipt"),
    ]


async def seated(talk: Any, url: str, *before: str, **others: Any) -> Any:
    chat = await talk(Dinner, staff(Dinner, **others), url)
    for words in before:
        await chat.says(words)
    return chat


ORDERED = ("guests=4 day=Friday", "dish=soup")


# --- When is a pathway complete: declared -------------------------------------------------------


async def test_a_pathway_is_complete_when_all_its_names_are_there(talk, memory_url):
    """When is a pathway complete: names."""
    chat = await seated(talk, memory_url, "guests=4", "day=Friday")

    assert chat.path == ["party", "menu"]
    assert (chat.last.pathway_changed, chat.last.transition_to) == (True, None)


@pytest.mark.parametrize("value", [0, False, "", [], {}])
async def test_an_empty_value_counts_as_there(talk, memory_url, value):
    """When is a pathway complete: present and not None."""
    chat = await seated(talk, memory_url, "hello", host=gives(guests=value, day="Friday"))

    assert chat.path == ["menu"]


async def test_none_does_not_count_as_there(talk, memory_url):
    """When is a pathway complete: present and not None."""
    chat = await seated(talk, memory_url, "hello", host=gives(guests=None, day="Friday"))

    assert chat.path == ["party"]
    assert chat.context == {"day": "Friday"}


async def test_what_start_already_knows_completes_a_pathway_at_its_first_message(talk, memory_url):
    chat = await talk(Dinner, staff(Dinner), memory_url, context={"guests": 2, "day": "Monday"})
    session = await chat.journey.get_session_state()
    assert session.current_pathway_id == "party"

    assert await chat.says("good evening") == "host: good evening"
    assert chat.path == ["menu"]


async def test_a_callable_judges_the_context(talk, memory_url):
    """When is a pathway complete: a callable on context."""

    class Fitting(Journey):
        class ShoePath(Pathway):
            __agents__ = ["shoe"]
            __accumulate__ = ["size"]
            __complete_when__ = lambda context: int(context["size"]) >= 40  # noqa: E731
            __next__ = "till"

        class TillPath(Pathway):
            __agents__ = ["till"]

    chat = await talk(Fitting, staff(Fitting), memory_url)

    await chat.says("size=38")
    await chat.says("rather size=41")

    assert chat.path == ["shoe", "till"]


async def test_a_callable_that_raises_is_false_and_audited(talk, memory_url):
    """When is a pathway complete; as Condition that stays true has it for conditions."""

    class Fitting(Journey):
        class ShoePath(Pathway):
            __agents__ = ["shoe"]
            __complete_when__ = lambda context: context["size"] > 3  # noqa: E731

    chat = await talk(Fitting, staff(Fitting), memory_url)

    assert await chat.says("hello") == "shoe: hello"
    assert not chat.last.is_journey_complete
    assert [row.kind for row in await chat.journey.audit()] == ["condition_raised"]
    assert "KeyError" in (await chat.journey.audit())[0].reason


async def test_a_callable_cannot_change_the_context(talk, memory_url):
    def greedy(context: dict[str, Any]) -> bool:
        context["lines"].append("more")
        return False

    class Shop(Journey):
        class ListPath(Pathway):
            __agents__ = ["clerk"]
            __complete_when__ = greedy

    chat = await talk(Shop, staff(Shop), memory_url, context={"lines": ["milk"]})
    await chat.says("hello")

    assert chat.context == await chat.journey.snapshot() == {"lines": ["milk"]}


async def test_a_pathway_that_is_never_complete_is_left_by_transitions_only(talk, memory_url):
    """When is a pathway complete: NEVER."""

    class Bar(Journey):
        class CounterPath(Pathway):
            __agents__ = ["barkeeper"]
            __complete_when__ = NEVER
            __next__ = "door"

        class DoorPath(Pathway):
            __agents__ = ["doorman"]

        __transitions__ = [Transition(said("goodbye"), to_pathway="door")]

    chat = await talk(Bar, staff(Bar), memory_url)
    for words in ("a beer", "another", "goodbye"):
        await chat.says(words)

    assert chat.path == ["counter", "counter", "door"]


async def test_a_criterion_also_counts_in_a_turn_in_which_a_transition_fired(talk, memory_url):
    """When is a pathway complete: `__next__` is taken, also when a transition fired."""
    chat = await seated(talk, memory_url)

    assert await chat.says("change the menu: dish=fish") == (
        "cook: change the menu: dish=fish\n\ntill: change the menu: dish=fish"
    )
    assert (chat.last.transition_to, chat.last.pathway_id) == ("menu", "receipt")
    assert chat.ran == ["menu", "receipt"]
    assert chat.last.is_journey_complete


async def test_a_criterion_also_counts_in_the_turn_of_a_return(talk, memory_url):
    """When is a pathway complete: the criterion is judged after a return, too."""
    chat = await seated(talk, memory_url, "any nuts in it?", "guests=2 day=Sunday")

    assert chat.path == ["allergy", "menu"]
    assert chat.ran == ["party"]


async def test_a_name_that_is_taken_back_makes_its_pathway_open_again(talk, memory_url):
    """When is a pathway complete, with `clear:`."""

    class Reset(Dinner):
        __transitions__ = [
            Transition(said("no, wait"), to_pathway="party", context_update={"day": "clear:"})
        ]

    chat = await talk(Reset, staff(Reset), memory_url)
    for words in ("guests=4 day=Friday", "no, wait", "day=Sunday"):
        await chat.says(words)

    assert chat.path == ["menu", "party", "menu"]


# --- When is a pathway complete: undeclared -----------------------------------------------------


class Laundry(Journey):
    """Wash clothes; nothing says when a step is complete."""

    class BringPath(Pathway):
        __agents__ = ["bring"]
        __next__ = "wash"

    class WashPath(Pathway):
        __agents__ = ["wash"]
        __next__ = "collect"

    class CollectPath(Pathway):
        __agents__ = ["collect"]
        __runs_on_arrival__ = True

    class PricePath(Pathway):
        __agents__ = ["price"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(said("how much"), to_pathway="price"),
        Transition(said("hotter"), "wash", "wash"),
    ]


async def test_undeclared_a_pathway_is_complete_after_a_plain_run(talk, memory_url):
    """When is a pathway complete: undeclared."""
    chat = await talk(Laundry, staff(Laundry), memory_url)

    await chat.says("two shirts")
    assert await chat.says("go ahead") == "wash: go ahead\n\ncollect: go ahead"

    assert chat.path == ["wash", "collect"]
    assert chat.last.is_journey_complete


async def test_undeclared_a_pathway_entered_by_a_transition_is_not_complete_yet(talk, memory_url):
    """When is a pathway complete: not by a transition in this turn."""
    chat = await talk(Laundry, staff(Laundry), memory_url)
    for words in ("two shirts", "hotter", "hotter still", "fine"):
        await chat.says(words)

    assert chat.path == ["wash", "wash", "wash", "collect"]


async def test_undeclared_a_pathway_returned_to_is_not_complete_yet(talk, memory_url):
    """When is a pathway complete: not by a return in this turn."""
    chat = await talk(Laundry, staff(Laundry), memory_url)
    for words in ("two shirts", "how much is it?", "I see", "go on"):
        await chat.says(words)

    assert chat.path == ["wash", "price", "wash", "collect"]


async def test_undeclared_a_detour_is_complete_in_the_turn_that_enters_it(talk, memory_url):
    """When is a pathway complete: a detour after each run."""
    chat = await talk(Laundry, staff(Laundry), memory_url)

    await chat.says("how much?")
    assert chat.last.metadata["returning"]
    await chat.says("how much for wool?")
    assert chat.last.metadata["returning"]


# --- __next__ -----------------------------------------------------------------------------------


async def test_the_next_pathway_waits_for_the_user(talk, memory_url):
    """`__next__`."""
    chat = await seated(talk, memory_url)

    assert await chat.says("guests=4 day=Friday") == "host: guests=4 day=Friday"
    assert (chat.last.pathway_id, chat.ran) == ("menu", ["party"])
    assert (chat.last.pathway_changed, chat.last.transition_to) == (True, None)
    chat = await chat.restored()
    assert await chat.says("what is there?") == "cook: what is there?"


async def test_a_pathway_that_runs_on_arrival_answers_in_the_same_turn(talk, memory_url):
    """`__next__`: unless it runs on arrival; replies are parted by a blank line."""
    chat = await seated(talk, memory_url, ORDERED[0])

    assert await chat.says("dish=soup") == "cook: dish=soup\n\ntill: dish=soup"
    assert chat.ran == ["menu", "receipt"]
    assert chat.last.metadata["replies"] == ["cook: dish=soup", "till: dish=soup"]


async def test_a_pathway_on_arrival_sees_what_the_one_before_it_noted(talk, memory_url):
    """`__next__`, arrival."""
    chat = await seated(
        talk, memory_url, ORDERED[0], till=lambda payload: f"one {payload['context']['dish']}"
    )

    assert await chat.says("dish=soup") == "cook: dish=soup\n\none soup"


async def test_an_arrival_that_is_not_complete_keeps_the_conversation(talk, memory_url):
    """`__next__`, arrival, with a criterion of its own."""

    class Form(Journey):
        class NamePath(Pathway):
            __agents__ = ["name"]
            __next__ = "age"

        class AgePath(Pathway):
            __agents__ = ["age"]
            __accumulate__ = ["years"]
            __complete_when__ = ["years"]
            __runs_on_arrival__ = True

    chat = await talk(Form, staff(Form), memory_url)

    await chat.says("Lee")
    assert (chat.ran, chat.last.is_journey_complete) == (["name", "age"], False)
    assert await chat.says("years=40") == "age: years=40"
    assert chat.last.is_journey_complete


async def test_arrivals_in_a_circle_end_at_the_tenth_and_are_audited(talk, memory_url):
    """Section 3: at most ten hops; the next one waits for the user."""

    class Merry(Journey):
        class TickPath(Pathway):
            __agents__ = ["tick"]
            __complete_when__ = lambda context: True  # noqa: E731
            __next__ = "tock"
            __runs_on_arrival__ = True

        class TockPath(Pathway):
            __agents__ = ["tock"]
            __complete_when__ = lambda context: True  # noqa: E731
            __next__ = "tick"
            __runs_on_arrival__ = True

    chat = await talk(Merry, staff(Merry), memory_url)

    await chat.says("go")
    assert chat.ran == ["tick", "tock"] * 5
    assert chat.last.pathway_id == "tick"
    rows = await chat.audited()
    assert rows == [*["completed", "advanced", "arrived"] * 9, "completed", "advanced", "hop_limit"]
    await chat.says("again")
    assert chat.ran == ["tick", "tock"] * 5


# --- Journey end --------------------------------------------------------------------------------


async def test_a_journey_that_is_complete_closes_politely_and_runs_no_agent(talk, memory_url):
    """Journey end."""
    chat = await seated(talk, memory_url, *ORDERED)
    assert chat.last.is_journey_complete
    chat = await chat.restored()

    assert await chat.says("are you sure?") == CLOSING
    assert (chat.ran, chat.last.pathway_id, chat.last.is_journey_complete) == ([], "receipt", True)
    session = await chat.journey.get_session_state()
    assert session.is_journey_complete


async def test_the_closing_words_are_the_config_s(talk, memory_url):
    """Journey end; canned texts."""
    chat = await talk(Laundry, staff(Laundry), memory_url, texts=Texts(closing="Good night."))
    for words in ("two shirts", "go"):
        await chat.says(words)

    assert await chat.says("and?") == "Good night."


async def test_a_question_after_the_end_is_answered_and_returns_to_the_end(talk, memory_url):
    """Journey end: inside a detour it stays complete and returns to the end."""
    chat = await seated(talk, memory_url, *ORDERED)

    assert await chat.says("were there nuts in it?") == "allergy: were there nuts in it?"
    assert (chat.last.pathway_id, chat.stack) == ("allergy", ["receipt"])
    assert chat.last.is_journey_complete

    assert await chat.says("thank you") == CLOSING
    assert (chat.last.pathway_id, chat.stack, chat.ran) == ("receipt", [], [])
    assert (chat.last.is_journey_complete, chat.last.pathway_changed) == (True, True)


async def test_a_detour_of_several_turns_after_the_end_also_returns_to_the_end(talk, memory_url):
    """Journey end, with Multi-turn detour and nesting."""
    chat = await seated(talk, memory_url, *ORDERED)
    await chat.says("a drink, please")
    await chat.says("any nuts in those?")
    assert (chat.stack, chat.last.is_journey_complete) == (["receipt", "bar"], True)

    assert await chat.says("drink=tea") == "bar: drink=tea"
    assert chat.last.is_journey_complete
    assert await chat.says("thanks") == CLOSING


async def test_after_the_end_a_detour_stays_as_long_as_it_needs(talk, memory_url):
    """Journey end, with Multi-turn detour and Detour asked for again."""
    chat = await seated(talk, memory_url, *ORDERED, "a drink, please")

    assert await chat.says("what is there?") == "bar: what is there?"
    assert await chat.says("a drink without ice") == "bar: a drink without ice"
    assert (chat.stack, chat.last.is_journey_complete) == (["receipt"], True)
    await chat.says("drink=water")
    assert await chat.says("thanks") == CLOSING


@pytest.mark.parametrize("before", [(), ("were there nuts?",)])
async def test_a_plain_transition_reopens_the_journey(talk, memory_url, before):
    """Journey end: a plain transition reopens it, at the end and inside a detour."""
    chat = await seated(talk, memory_url, *ORDERED, *before)

    assert await chat.says("change the day: day=Sunday") == "host: change the day: day=Sunday"
    assert (chat.last.pathway_id, chat.last.is_journey_complete) == ("menu", False)
    assert await chat.says("dish=rice") == "cook: dish=rice\n\ntill: dish=rice"
    assert chat.last.is_journey_complete


async def test_a_detour_with_a_target_reopens_the_journey(talk, memory_url):
    """Journey end: a ReturnToSpecific reopens it."""
    chat = await seated(talk, memory_url, *ORDERED, "another evening, please")
    assert chat.last.is_journey_complete

    assert await chat.says("guests=3") == "host: guests=3"
    assert (chat.last.pathway_id, chat.last.is_journey_complete) == ("menu", False)


async def test_a_transition_into_the_end_runs_it_and_judges_the_end_anew(talk, memory_url):
    """Journey end, undeclared: entered by a transition it is not complete yet."""
    chat = await seated(talk, memory_url, *ORDERED)

    assert await chat.says("print it again") == "till: print it again"
    assert not chat.last.is_journey_complete
    assert await chat.says("once more") == "till: once more"
    assert chat.last.is_journey_complete
    assert await chat.says("and now?") == CLOSING


async def test_a_transition_out_of_a_detour_into_the_end_judges_the_end_anew(talk, memory_url):
    """Journey end, undeclared, with Plain transition inside a detour."""
    chat = await seated(talk, memory_url, *ORDERED, "were there nuts?")

    assert await chat.says("print it again") == "till: print it again"
    assert (chat.stack, chat.last.is_journey_complete) == ([], False)
    await chat.says("once more")
    assert chat.last.is_journey_complete


async def test_a_transition_into_an_end_whose_criterion_holds_ends_it_at_once(talk, memory_url):
    """Journey end, declared; also out of a detour."""

    class Vote(Journey):
        class BallotPath(Pathway):
            __agents__ = ["ballot"]
            __accumulate__ = ["choice"]
            __complete_when__ = ["choice"]

        class RulesPath(Pathway):
            __agents__ = ["rules"]
            __return_behavior__ = ReturnToPrevious()

        __transitions__ = [
            Transition(said("rules"), to_pathway="rules"),
            Transition(said("vote again"), to_pathway="ballot"),
        ]

    chat = await talk(Vote, staff(Vote), memory_url)
    await chat.says("choice=blue")
    assert await chat.says("I vote again: choice=red") == "ballot: I vote again: choice=red"
    assert chat.last.is_journey_complete

    await chat.says("the rules?")
    assert await chat.says("vote again: choice=green") == "ballot: vote again: choice=green"
    assert (chat.last.is_journey_complete, chat.stack) == (True, [])
    assert chat.context["choice"] == "green"
