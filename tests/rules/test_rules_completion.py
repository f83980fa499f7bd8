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
from tests.support.scripts import follow

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


class Reset(Dinner):
    """A note of the day can be taken back."""

    __transitions__ = [
        Transition(said("no, wait"), to_pathway="party", context_update={"day": "clear:"})
    ]


class Fitting(Journey):
    """A function of the context says when the shoe fits."""

    class ShoePath(Pathway):
        __agents__ = ["shoe"]
        __accumulate__ = ["size"]
        __complete_when__ = lambda context: int(context["size"]) >= 40  # noqa: E731
        __next__ = "till"

    class TillPath(Pathway):
        __agents__ = ["till"]


class Bar(Journey):
    """Nothing completes the counter."""

    class CounterPath(Pathway):
        __agents__ = ["barkeeper"]
        __complete_when__ = NEVER
        __next__ = "door"

    class DoorPath(Pathway):
        __agents__ = ["doorman"]

    __transitions__ = [Transition(said("goodbye"), to_pathway="door")]


class Form(Journey):
    """The second pathway runs on arrival, and has a criterion of its own."""

    class NamePath(Pathway):
        __agents__ = ["name"]
        __next__ = "age"

    class AgePath(Pathway):
        __agents__ = ["age"]
        __accumulate__ = ["years"]
        __complete_when__ = ["years"]
        __runs_on_arrival__ = True


class Vote(Journey):
    """The end has a criterion."""

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


# --- Conversations: the journey, and what is said -------------------------------------------------

DECLARED: dict[str, tuple[type[Journey], str]] = {
    "complete when all its names are there": (
        Dinner,
        "guests=4 -> party | day=Friday -> menu; moved; to",
    ),
    "a callable judges the context": (Fitting, "size=38 -> shoe | rather size=41 -> till"),
    "one that is never complete is left by transitions only": (
        Bar,
        "a beer -> counter | another -> counter | goodbye -> door",
    ),
    "a criterion also counts in a turn in which a transition fired": (
        Dinner,
        """
        change the menu: dish=fish -> receipt; to menu; ran menu receipt; ended
        and? -> receipt; says {closing}
        """,
    ),
    "a criterion also counts in the turn of a return": (
        Dinner,
        "any nuts in it? -> allergy | guests=2 day=Sunday -> menu; ran party",
    ),
    "a name that is taken back makes its pathway open again": (
        Reset,
        "guests=4 day=Friday -> menu | no, wait -> party | day=Sunday -> menu",
    ),
}
UNDECLARED: dict[str, tuple[type[Journey], str]] = {
    "complete after a plain run": (
        Laundry,
        """
        two shirts -> wash
        go ahead -> collect; ended; says wash: go ahead / collect: go ahead
        """,
    ),
    "entered by a transition it is not complete yet": (
        Laundry,
        "two shirts -> wash | hotter -> wash | hotter still -> wash | fine -> collect",
    ),
    "returned to it is not complete yet": (
        Laundry,
        "two shirts -> wash | how much is it? -> price | I see -> wash | go on -> collect",
    ),
    "a detour is complete in the turn that enters it": (
        Laundry,
        "how much? -> price; returning | how much for wool? -> price; returning",
    ),
}
NEXT: dict[str, tuple[type[Journey], str]] = {
    "the next pathway waits for the user": (
        Dinner,
        """
        guests=4 day=Friday -> menu; ran party; moved; to; says host: guests=4 day=Friday
        (restart)
        what is there? -> menu; says cook: what is there?
        """,
    ),
    "a pathway that runs on arrival answers in the same turn": (
        Dinner,
        """
        guests=4 day=Friday -> menu
        dish=soup -> receipt; ran menu receipt; says cook: dish=soup / till: dish=soup
        """,
    ),
    "an arrival that is not complete keeps the conversation": (
        Form,
        "Lee -> age; ran name age; open | years=40 -> age; ended; says age: years=40",
    ),
}
JOURNEY_END = {
    "it closes politely and runs no agent": """
        (restart)
        are you sure? -> receipt; ran; ended; unmoved; says {closing}
        """,
    "a question is answered and returns to the end": """
        any nuts in it? -> allergy; paused receipt; ended; says allergy: any nuts in it?
        thank you -> receipt; paused; ran; ended; moved; says {closing}
        """,
    "a detour of several turns also returns to the end": """
        a drink, please -> bar
        any nuts in those? -> allergy; paused receipt bar; ended
        drink=tea -> bar; ended; says bar: drink=tea
        thanks -> receipt; says {closing}
        """,
    "a detour stays as long as it needs": """
        a drink, please -> bar
        what is there? -> bar; says bar: what is there?
        a drink without ice -> bar; paused receipt; ended; says bar: a drink without ice
        drink=water -> bar
        thanks -> receipt; says {closing}
        """,
    "a plain transition reopens it": """
        change the day: day=Sunday -> menu; open; says host: change the day: day=Sunday
        dish=rice -> receipt; ended; says cook: dish=rice / till: dish=rice
        """,
    "a plain transition inside a detour reopens it": """
        were there nuts? -> allergy
        change the day: day=Sunday -> menu; open; says host: change the day: day=Sunday
        dish=rice -> receipt; ended; says cook: dish=rice / till: dish=rice
        """,
    "a detour with a target reopens it": """
        another evening, please -> again; ended
        guests=3 -> menu; open; says host: guests=3
        """,
    "a transition into the end runs it and judges it anew": """
        print it again -> receipt; open; says till: print it again
        once more -> receipt; ended; says till: once more
        and now? -> receipt; says {closing}
        """,
    "a transition out of a detour into the end judges it anew": """
        were there nuts? -> allergy
        print it again -> receipt; paused; open; says till: print it again
        once more -> receipt; ended
        """,
}
TALKS = DECLARED | UNDECLARED | NEXT


@pytest.mark.parametrize("held", TALKS)
async def test_a_pathway_is_complete_and_leads_on_as_the_rules_say(held, talk, memory_url):
    """DESIGN, "When is a pathway complete"; `__next__`."""
    journey, script = TALKS[held]

    await follow(await talk(journey, staff(journey), memory_url), script.format(closing=CLOSING))


@pytest.mark.parametrize("held", JOURNEY_END)
async def test_after_the_end_of_a_journey(held, talk, memory_url):
    """Journey end."""
    chat = await seated(talk, memory_url, *ORDERED)
    assert chat.last.is_journey_complete

    await follow(chat, JOURNEY_END[held].format(closing=CLOSING))


async def test_a_transition_into_an_end_whose_criterion_holds_ends_it_at_once(talk, memory_url):
    """Journey end, declared; also out of a detour."""
    await follow(
        await talk(Vote, staff(Vote), memory_url),
        """
        choice=blue -> ballot; ended
        I vote again: choice=red -> ballot; ended; says ballot: I vote again: choice=red
        the rules? -> rules
        vote again: choice=green -> ballot; ended; paused; knows choice=green
        """,
    )


# --- What is not only said ------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0, False, "", [], {}])
async def test_an_empty_value_counts_as_there(talk, memory_url, value):
    """DESIGN, "When is a pathway complete": present and not None."""
    chat = await seated(talk, memory_url, "hello", host=gives(guests=value, day="Friday"))

    assert chat.path == ["menu"]


async def test_none_does_not_count_as_there(talk, memory_url):
    """DESIGN, "When is a pathway complete": present and not None."""
    chat = await seated(talk, memory_url, "hello", host=gives(guests=None, day="Friday"))

    assert chat.path == ["party"]
    assert chat.context == {"day": "Friday"}


async def test_what_start_already_knows_completes_a_pathway_at_its_first_message(talk, memory_url):
    chat = await talk(Dinner, staff(Dinner), memory_url, context={"guests": 2, "day": "Monday"})
    session = await chat.journey.get_session_state()
    assert session.current_pathway_id == "party"

    assert await chat.says("good evening") == "host: good evening"
    assert chat.path == ["menu"]


async def test_a_callable_that_raises_is_false_and_audited(talk, memory_url):
    """DESIGN, "When is a pathway complete"; as Condition that stays true has it for conditions."""

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


async def test_a_pathway_on_arrival_sees_what_the_one_before_it_noted(talk, memory_url):
    """`__next__`, arrival."""
    chat = await seated(
        talk, memory_url, ORDERED[0], till=lambda payload: f"one {payload['context']['dish']}"
    )

    assert await chat.says("dish=soup") == "cook: dish=soup\n\none soup"


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


async def test_the_closing_words_are_the_config_s(talk, memory_url):
    """Journey end; canned texts."""
    chat = await talk(Laundry, staff(Laundry), memory_url, texts=Texts(closing="Good night."))
    for words in ("two shirts", "go"):
        await chat.says(words)

    assert await chat.says("and?") == "Good night."
