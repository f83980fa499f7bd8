"""Nothing is done on an answer that would be refused today."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from journeygraph import (
    Concierge,
    Effect,
    Field,
    Form,
    IntentTrigger,
    Journey,
    JourneyConfig,
    Pathway,
    Range,
    ReturnToPrevious,
    Transition,
)
from journeygraph.nodes.commands import Confirm
from journeygraph.nodes.llm.scripted import ScriptedModel
from tests.traces.meaning import Meant

YEAR = 365 * 86_400.0
NO_PAUSE: Any = {"resume_after_seconds": YEAR}


class Clock:
    """The time at which turns begin, moved by hand."""

    def __init__(self) -> None:
        self.at = datetime(2027, 3, 20, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def goes_on(self, **by: float) -> None:
        self.at += timedelta(**by)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr("journeygraph.nodes.draft.now", made)
    return made


class Boats:
    """What is outside: boats that are rented, and which of them are free."""

    def __init__(self) -> None:
        self.rented: list[Any] = []
        self.full = False

    def rent(self, day: str, boat: str, idempotency_key: str) -> str:
        """Rent a boat."""
        self.rented.append((day, boat))
        return f"{boat} on {day}"


BOATS = Boats()


@pytest.fixture
def boats() -> Boats:
    BOATS.__init__()  # type: ignore[misc]
    return BOATS


def is_free(boat: str, context: Any) -> Any:
    return "It is rented by somebody else." if BOATS.full and boat == "canoe" else True


DAY_FIELD = Field(
    "day", "date", "For which day?", validators=[Range("today", message="That day is over.")]
)
BOAT = Field(
    "boat", "enum", "Which boat?", choices=["canoe", "kayak"], validators=[is_free], confirm=True
)


class Rental(Journey):
    """Rent a boat."""

    class RentPath(Pathway):
        __fields__ = [DAY_FIELD, BOAT]
        __effects__ = [Effect("rent", done="Rented: {rent}.")]

    class PricesPath(Pathway):
        __agents__ = ["clerk"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(IntentTrigger(["how much"]), to_pathway="prices")]


SUMMARY = "Let me read that back:\n- day: {day}\n- boat: {boat}\nIs that right?"
READ = SUMMARY.format(day="Sunday, 21 March 2027", boat="canoe")
OVER = "I can no longer take the day. That day is over."


def rental(url: str, journey: Any = Rental, **config: Any) -> Any:
    parts: Any = {"tools": {"rent": BOATS.rent}, "model": False}
    if journey is Rental:
        parts["agents"] = {"clerk": lambda ask: "Nine euros."}
    return journey("s-1", JourneyConfig(persistence=url, **config), **parts)


async def says(journey: Any, *messages: str) -> str:
    reply = None
    for message in messages:
        reply = await journey.process_message(message)
    assert reply is not None
    return str(reply.message)


async def audited(journey: Any) -> list[tuple[str, str | None]]:
    """What was audited of the last turn."""
    entries = await journey.audit()
    return [(e.kind, e.trigger) for e in entries if e.turn == entries[-1].turn]


async def test_a_day_that_is_over_by_the_time_of_the_yes_is_asked_for_again(
    memory_url: str, clock: Clock, boats: Boats
) -> None:
    async with rental(memory_url, **NO_PAUSE) as journey:
        await journey.start()
        assert await says(journey, "21 March 2027", "canoe") == READ
        clock.goes_on(days=5)
        reply = await journey.process_message("yes")
        assert reply.message == f"{OVER}\n\nFor which day?"
        assert boats.rented == []
        assert "day" not in reply.accumulated_context
        assert await audited(journey) == [
            ("field_cleared", "day"),
            ("effect_outdated", "rent"),
        ]
        last = (await journey.attempts("day"))[-1]
        assert (last.validation_status, last.reason) == ("cleared", "That day is over.")

        read = SUMMARY.format(day="Sunday, 28 March 2027", boat="canoe")
        assert await says(journey, "28 March 2027") == read
        assert await says(journey, "yes") == "Rented: canoe on 2027-03-28."
        assert boats.rented == [("2027-03-28", "canoe")]


async def test_after_a_pause_it_is_found_before_anything_is_read_back(
    memory_url: str, clock: Clock, boats: Boats
) -> None:
    async with rental(memory_url) as journey:
        await journey.start()
        assert await says(journey, "21 March 2027", "canoe") == READ
        clock.goes_on(days=5)
        known = "Welcome back. This is what I have so far:\n- boat: canoe"
        assert await says(journey, "yes") == f"{known}\n\n{OVER}\n\nFor which day?"
        assert ("dropped", "confirm") in await audited(journey)
        assert await says(journey, "28 March 2027", "yes") == "Rented: canoe on 2027-03-28."
        assert boats.rented == [("2027-03-28", "canoe")]


async def test_a_yes_to_what_was_read_back_before_a_pause_is_none(
    memory_url: str, clock: Clock, boats: Boats
) -> None:
    async with rental(memory_url) as journey:
        await journey.start()
        assert await says(journey, "28 March 2027", "canoe") != ""
        read = SUMMARY.format(day="Sunday, 28 March 2027", boat="canoe")
        clock.goes_on(hours=2)
        assert await says(journey, "yes") == read
        assert boats.rented == []
        assert await audited(journey) == [("dropped", "confirm")]
        clock.goes_on(minutes=5)
        assert await says(journey, "yes") == "Rented: canoe on 2027-03-28."


async def test_a_change_or_a_no_after_a_pause_counts(
    memory_url: str, clock: Clock, boats: Boats
) -> None:
    async with rental(memory_url) as journey:
        await journey.start()
        await says(journey, "28 March 2027", "canoe")
        clock.goes_on(hours=2)
        read = SUMMARY.format(day="Sunday, 28 March 2027", boat="kayak")
        changed = await says(journey, "no, the kayak")
        assert changed.endswith(read)
        clock.goes_on(hours=2)
        assert "What is wrong" in await says(journey, "no") or boats.rented == []
        assert boats.rented == []


async def test_a_check_of_a_service_is_asked_again(
    memory_url: str, clock: Clock, boats: Boats
) -> None:
    async with rental(memory_url) as journey:
        await journey.start()
        await says(journey, "28 March 2027", "canoe")
        boats.full = True
        told = "I can no longer take the boat. It is rented by somebody else."
        assert await says(journey, "yes") == f"{told}\n\nWhich boat? (canoe, kayak)"
        assert await says(journey, "kayak", "yes") == "Rented: kayak on 2027-03-28."
        assert boats.rented == [("2027-03-28", "kayak")]


async def test_what_was_done_in_a_turn_that_was_lost_stands_whatever_is_refused_by_now(
    memory_url: str, clock: Clock
) -> None:
    """A boat that this session took is taken: the user does not have to choose another one."""
    taken: list[str] = []
    trouble: list[Exception] = [RuntimeError("seasick")]

    def free(boat: str, context: Any) -> bool:
        return boat not in taken

    def take(boat: str, idempotency_key: str) -> str:
        """Take a boat."""
        taken.append(boat)
        return boat

    def bill(boat: str, idempotency_key: str) -> str:
        """Bill it."""
        return "nine euros"

    def clerk(ask: Any) -> str:
        if trouble:
            raise trouble.pop()
        return "Have fun."

    class Hire(Journey):
        class HirePath(Pathway):
            __fields__ = [Field("boat", ask="Which boat?", validators=[free], confirm=True)]
            __effects__ = [Effect("take"), Effect("bill", done="That is {bill}.")]
            __agents__ = ["clerk"]

    config = JourneyConfig(persistence=memory_url)
    tools = {"take": take, "bill": bill}
    async with Hire("s", config, model=False, tools=tools, agents={"clerk": clerk}) as journey:
        await journey.start()
        await says(journey, "hello", "Molly")
        failed = await journey.process_message("yes")
        assert failed.metadata["error"]
        assert await says(journey, "yes") == "That is nine euros.\n\nHave fun."
        assert taken == ["Molly"]


async def test_one_effect_of_two_that_failed_is_tried_again_with_what_the_first_one_used(
    memory_url: str, clock: Clock
) -> None:
    taken: list[str] = []
    trouble: list[Exception] = [ValueError("No card.")]

    def free(boat: str, context: Any) -> bool:
        return boat not in taken

    def take(boat: str, idempotency_key: str) -> str:
        """Take a boat."""
        taken.append(boat)
        return boat

    def bill(boat: str, until: str, idempotency_key: str) -> str:
        """Bill it."""
        if trouble:
            raise trouble.pop()
        return until

    class Hire(Journey):
        class HirePath(Pathway):
            __fields__ = [
                Field("boat", ask="Which boat?", validators=[free], verbatim=True),
                Field("until", "date", "Until when?", validators=[Range("today")]),
            ]
            __effects__ = [Effect("take"), Effect("bill", done="Billed: {bill}.")]

    config = JourneyConfig(persistence=memory_url, **NO_PAUSE)
    tools = {"take": take, "bill": bill}
    async with Hire("s", config, model=False, tools=tools) as journey:
        await journey.start()
        assert "Shall I try again?" in await says(journey, "hello", "Molly", "21 March 2027")
        clock.goes_on(days=5)
        asked = await says(journey, "yes")
        assert asked.startswith("I can no longer take the until.")
        assert asked.endswith("Until when?")
        assert await says(journey, "28 March 2027") == "Billed: 2027-03-28."
        assert taken == ["Molly"]


async def test_fields_are_held_against_each_other_as_they_stand_at_the_end(
    memory_url: str, clock: Clock
) -> None:
    """No `depends_on` says it: the last check before the effect finds it."""
    done: list[Any] = []

    def later(end: str, context: Any) -> Any:
        return end > context.get("begin", "") or "It must end after it begins."

    def book(begin: str, end: str) -> str:
        """Book a room."""
        done.append((begin, end))
        return "booked"

    class Room(Journey):
        class RoomPath(Pathway):
            __fields__ = [
                Field("begin", "date", "From when?"),
                Field("end", "date", "Until when?", validators=[later], confirm=True),
            ]
            __effects__ = ["book"]

    config = JourneyConfig(persistence=memory_url)
    async with Room("s", config, model=False, tools={"book": book}) as journey:
        await journey.start()
        await says(journey, "hello", "1 May 2027", "3 May 2027")
        await says(journey, "no, the begin is 5 May 2027")
        reply = await says(journey, "yes")
        assert reply == "I can no longer take the end. It must end after it begins.\n\nUntil when?"
        assert done == []
        await says(journey, "7 May 2027", "yes")
        assert done == [("2027-05-05", "2027-05-07")]


async def test_an_optional_value_may_then_be_left_open(memory_url: str, clock: Clock) -> None:
    done: list[Any] = []

    def order(what: str, by: str = "") -> str:
        """Order something."""
        done.append((what, by))
        return "ordered"

    class Order(Journey):
        class OrderPath(Pathway):
            __fields__ = [
                Field("what", ask="What?"),
                Field("by", "date", "By when?", required=False, validators=[Range("today")]),
                Field("sure", "boolean", "Are you sure?", confirm=True),
            ]
            __effects__ = [Effect("order", done="Ordered.")]

    config = JourneyConfig(persistence=memory_url, **NO_PAUSE)
    async with Order("s", config, model=False, tools={"order": order}) as journey:
        await journey.start()
        await says(journey, "hello", "a chair", "21 March 2027", "yes")
        clock.goes_on(days=3)
        assert (await says(journey, "yes")).endswith("By when?")
        await says(journey, "rather not say")
        assert await says(journey, "yes") == "Ordered."
        assert done == [("a chair", "")]


class InTwo(Journey):
    """Collect in one pathway, and act in another, which runs on arrival."""

    class AskPath(Pathway):
        __fields__ = [DAY_FIELD]
        __next__ = "which"

    class WhichPath(Pathway):
        __fields__ = [BOAT]
        __next__ = "book"

    class BookPath(Pathway):
        __runs_on_arrival__ = True
        __effects__ = [Effect("rent", done="Rented: {rent}.")]


async def test_a_value_of_an_earlier_pathway_is_asked_for_where_it_is_used(
    memory_url: str, clock: Clock, boats: Boats
) -> None:
    async with rental(memory_url, InTwo, **NO_PAUSE) as journey:
        await journey.start()
        await says(journey, "21 March 2027", "canoe")
        clock.goes_on(days=5)
        reply = await journey.process_message("yes")
        assert (reply.message, reply.pathway_id) == (f"{OVER}\n\nFor which day?", "book")
        assert (await says(journey, "what a pity")).endswith("For which day?")
        again = await says(journey, "22 March 2027")
        assert "\n\nWhat I need is the day: from Thursday, 25 March 2027 on" in again
        assert boats.rented == []
        assert "- boat: canoe" in await says(journey, "28 March 2027")
        assert boats.rented == []  # "what a pity" may have meant another boat
        done = await journey.process_message("yes")
        assert done.message.startswith("Rented: canoe on 2027-03-28.")
        assert done.is_journey_complete
        assert boats.rented == [("2027-03-28", "canoe")]


class InADetour(Journey):
    """Collect in a pathway, and act in a detour from it."""

    class AskPath(Pathway):
        __fields__ = [DAY_FIELD, Field("boat", "enum", "Which boat?", choices=["canoe", "kayak"])]
        __complete_when__ = ["rent"]

    class BookPath(Pathway):
        __effects__ = [Effect("rent", done="Rented: {rent}.")]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(IntentTrigger(["book it"]), to_pathway="book")]


async def test_in_a_detour_it_is_asked_for_there(
    memory_url: str, clock: Clock, boats: Boats
) -> None:
    async with rental(memory_url, InADetour, **NO_PAUSE) as journey:
        await journey.start()
        await says(journey, "21 March 2027", "canoe")
        clock.goes_on(days=5)
        assert (await says(journey, "book it")).startswith(f"{OVER}\n\nFor which day?")
        assert boats.rented == []
        assert "Rented: canoe on 2027-03-28." in await says(journey, "28 March 2027")


async def test_a_value_that_was_given_to_start_is_checked_where_it_is_used(
    memory_url: str, clock: Clock, boats: Boats
) -> None:
    class Straight(Journey):
        class LaterPath(Pathway):
            __fields__ = [DAY_FIELD, Field("why", ask="Why?")]

        class BookPath(Pathway):
            __effects__ = [Effect("rent", done="Rented: {rent}.")]

        __transitions__ = [Transition(IntentTrigger(["go ahead"]), to_pathway="book")]

    async with rental(memory_url, Straight) as journey:
        await journey.start({"day": "2027-03-01", "boat": "canoe"})
        assert await says(journey, "go ahead") == f"{OVER}\n\nFor which day?"
        assert boats.rented == []
        assert "Rented: canoe on 2027-03-28." in await says(journey, "28 March 2027")


async def test_what_a_pathway_without_effects_collected_is_checked_after_a_pause(
    memory_url: str, clock: Clock
) -> None:
    class Plan(Journey):
        class PlanPath(Pathway):
            __fields__ = [
                DAY_FIELD,
                Field("place", ask="Where?"),
                Field("with_whom", ask="Who?", verbatim=True),
            ]

    async with Plan("s", JourneyConfig(persistence=memory_url), model=False) as journey:
        await journey.start()
        await says(journey, "21 March 2027", "at the lake")
        clock.goes_on(minutes=30)
        clock.goes_on(days=5)
        reply = await says(journey, "my sister")
        assert reply.startswith("Welcome back.")
        assert reply.endswith(f"{OVER}\n\nFor which day?")
        done = await journey.process_message("28 March 2027")
        assert done.is_journey_complete
        assert done.accumulated_context["with_whom"] == "my sister"


async def test_a_change_that_waited_for_a_yes_is_checked_by_then(
    memory_url: str, clock: Clock, boats: Boats
) -> None:
    class Careful(Journey):
        class RentPath(Pathway):
            __fields__ = Form([DAY_FIELD, BOAT], confirm_corrections=True)
            __effects__ = [Effect("rent", done="Rented: {rent}.")]

    async with rental(memory_url, Careful, **NO_PAUSE) as journey:
        await journey.start()
        await says(journey, "28 March 2027")
        asked = await says(journey, "change the day to 21 March 2027")
        assert "21 March 2027" in asked
        clock.goes_on(days=3)
        reply = await says(journey, "yes")
        assert reply.startswith("That day is over.")
        assert (await journey.fields()).fields["day"].current_value == "2027-03-28"
        assert boats.rented == []


async def test_what_is_done_is_a_record_and_is_not_checked_any_more(
    memory_url: str, clock: Clock, boats: Boats
) -> None:
    moved: list[Any] = []

    def change(rent: str, day: str, boat: str) -> str:
        """Change the boat."""
        moved.append((day, boat))
        return "changed"

    class Changeable(Journey):
        class RentPath(Pathway):
            __fields__ = [DAY_FIELD, BOAT]
            __effects__ = [Effect("rent", done="Rented: {rent}.", change="change")]

        class ChangePath(Pathway):
            __fields__ = [Field("new_boat", "enum", "Which boat then?", choices=["canoe", "kayak"])]
            __effects__ = [Effect("change", {"boat": "new_boat"}, done="Changed.")]

        __transitions__ = [Transition(IntentTrigger(["another boat"]), to_pathway="change")]

    tools = {"rent": boats.rent, "change": change}
    config = JourneyConfig(persistence=memory_url)
    async with Changeable("s", config, model=False, tools=tools) as journey:
        await journey.start()
        await says(journey, "21 March 2027", "canoe", "yes")
        clock.goes_on(days=5)
        await says(journey, "I want another boat")
        assert await says(journey, "kayak") == "Changed."
        assert moved == [("2027-03-21", "kayak")]


async def test_a_detour_of_many_days_does_not_make_it_forget(
    memory_url: str, clock: Clock, boats: Boats
) -> None:
    async with rental(memory_url, **NO_PAUSE) as journey:
        await journey.start()
        await says(journey, "21 March 2027", "canoe")
        clock.goes_on(days=2)
        assert (await says(journey, "how much is it?")).startswith("Nine euros.")
        assert await says(journey, "yes") == f"{OVER}\n\nFor which day?"
        assert boats.rented == []


async def test_the_same_without_a_manager(clock: Clock, boats: Boats) -> None:
    graph = Rental.compile(
        {"clerk": lambda ask: "Nine euros."},
        model=False,
        tools={"rent": boats.rent},
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "t"}}

    async def said(message: str) -> str:
        state = await graph.ainvoke({"messages": [{"role": "user", "content": message}]}, config)
        return str(state["messages"][-1].content)

    await said("21 March 2027")
    assert await said("canoe") == READ
    clock.goes_on(days=5)
    assert (await said("yes")).endswith("For which day?")
    assert boats.rented == []
    await said("28 March 2027")
    assert await said("yes") == "Rented: canoe on 2027-03-28."


async def test_a_run_that_is_gone_on_with_days_later_is_of_then(clock: Clock, boats: Boats) -> None:
    """The yes was understood on the 20th; what follows it comes on the 25th."""
    graph = Rental.compile(
        {"clerk": lambda ask: "Nine euros."},
        model=False,
        tools={"rent": boats.rent},
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    for message in ("21 March 2027", "canoe"):
        await graph.ainvoke({"messages": [{"role": "user", "content": message}]}, config)
    said = {"messages": [{"role": "user", "content": "yes"}]}
    await graph.ainvoke(said, config, interrupt_before=["rent"])
    clock.goes_on(days=5)
    state = await graph.ainvoke(None, config)
    assert state["messages"][-1].content == f"{OVER}\n\nFor which day?"
    assert boats.rented == []


async def test_in_a_concierge_it_is_the_value_of_the_journey_that_is_active(
    memory_url: str, clock: Clock, boats: Boats
) -> None:
    class Talk(Journey):
        """Plan a talk."""

        class TalkPath(Pathway):
            __fields__ = [Field("day", "date", "When is the talk?")]

        __activation__ = [IntentTrigger(["a talk"])]

    class Boating(Rental):
        """Rent a boat."""

        __activation__ = [IntentTrigger(["a boat"])]

    class Desk(Concierge):
        """Help at the lake."""

        __journeys__ = [Boating, Talk]

    config = JourneyConfig(persistence=memory_url, **NO_PAUSE)
    parts: Any = {"tools": {"rent": boats.rent}, "agents": {"clerk": lambda ask: "Nine."}}
    async with Desk("s", config, model=False, **parts) as journey:
        await journey.start()
        await says(journey, "I need a boat", "21 March 2027", "canoe")
        clock.goes_on(days=5)
        assert await says(journey, "yes") == f"{OVER}\n\nFor which day?"
        assert boats.rented == []
        await says(journey, "28 March 2027")
        assert "Rented: canoe on 2027-03-28." in await says(journey, "yes")


async def test_with_a_model_that_takes_the_yes_for_one(
    memory_url: str, clock: Clock, boats: Boats
) -> None:
    meant = Meant()
    model = ScriptedModel(always=meant)
    parts: Any = {"tools": {"rent": boats.rent}, "agents": {"clerk": lambda ask: "Nine."}}
    async with Rental("s", JourneyConfig(persistence=memory_url), model=model, **parts) as journey:
        await journey.start()
        await says(journey, "28 March 2027", "canoe")
        clock.goes_on(hours=2)
        read = SUMMARY.format(day="Sunday, 28 March 2027", boat="canoe")
        words = "what you have there is just what I am after"
        meant.said(words, [Confirm()])
        assert await says(journey, words) == read
        assert meant.asked
        assert boats.rented == []
