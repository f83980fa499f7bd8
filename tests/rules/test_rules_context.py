"""Values of the context: updates, accumulation, merging (DESIGN.md section 4)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    ContextMergeError,
    Journey,
    MergeStrategy,
    Pathway,
    ReturnToPrevious,
    Transition,
)
from tests.support.clerks import gives, said, staff

APOLOGY = "Sorry, something went wrong on our side. Nothing was lost; please try again."


def typist(payload: dict[str, Any]) -> dict[str, Any]:
    """An agent whose outputs are the JSON of the message; it repeats any other text."""
    text = payload["message"]
    return json.loads(text) if text.startswith("{") else {"response": f"heard: {text}"}


# --- context_update -----------------------------------------------------------------------------


class Hotel(Journey):
    """Find a room; the tests add the rules."""

    class RoomPath(Pathway):
        __agents__ = ["porter"]
        __accumulate__ = ["nights"]
        __complete_when__ = NEVER

    class BillPath(Pathway):
        __agents__ = ["cashier"]
        __complete_when__ = NEVER

    class PoolPath(Pathway):
        __agents__ = ["lifeguard"]
        __return_behavior__ = ReturnToPrevious()


async def staying(talk: Any, url: str, update: dict[str, str], **options: Any) -> Any:
    """A stay at whose "next" a transition to the same room applies an update."""
    rules = [Transition(said("next"), to_pathway="room", context_update=update)]
    journey = type("RuledHotel", (Hotel,), {"__transitions__": rules})
    agents = staff(journey, porter=typist, **options.pop("agents", {}))
    return await talk(journey, agents, url, **options)


async def test_an_update_is_made_before_the_target_runs(talk, memory_url):
    """context_update: booking sees the rejected doctor; the others never apply it."""
    offers = []

    def porter(payload: dict[str, Any]) -> dict[str, Any]:
        gone = payload["context"].get("refused", [])
        room = next(room for room in ("12", "34", "56") if room not in gone)
        offers.append(room)
        return {"response": f"Room {room}?", "room": room}

    rules = [Transition(said("another"), "room", "room", context_update={"refused": "append:room"})]
    journey = type("Picky", (Hotel,), {"__transitions__": rules})
    chat = await talk(journey, staff(journey, porter=porter), memory_url)

    assert await chat.says("a room, please") == "Room 12?"
    assert await chat.says("another") == "Room 34?"
    chat = await chat.restored()
    assert await chat.says("another one still") == "Room 56?"
    assert chat.context["refused"] == ["12", "34"]


async def test_what_an_update_reads_is_kept_though_nobody_declared_it(talk, memory_url):
    """context_update: what it reads is kept in context like an accumulated name."""
    chat = await staying(talk, memory_url, {"a": "append:x", "b": "copy:y", "c": "z"})

    await chat.says('{"x": 1, "y": 2, "z": 3, "other": 4, "response": "ok"}')
    assert chat.context == {"x": 1, "y": 2, "z": 3}
    await chat.says("next")
    assert chat.context == {"x": 1, "y": 2, "z": 3, "a": [1], "b": 2, "c": 3}


@pytest.mark.parametrize(
    ("update", "before", "after"),
    [
        ({"view": "set:sea"}, {}, {"view": "sea"}),
        ({"view": "set:sea"}, {"view": "yard"}, {"view": "sea"}),
        ({"time": "set:10:30, maybe"}, {}, {"time": "10:30, maybe"}),
        ({"view": "set:"}, {"view": "yard"}, {"view": ""}),
        ({"view": "clear:"}, {"view": "yard", "bed": "big"}, {"bed": "big"}),
        ({"view": "clear:"}, {"bed": "big"}, {"bed": "big"}),
        ({"clear": "set:all"}, {"bed": "big"}, {"bed": "big", "clear": "all"}),
        ({"last": "copy:room"}, {"room": {"no": 7}}, {"room": {"no": 7}, "last": {"no": 7}}),
        ({"last": "room"}, {"room": 7, "last": 5}, {"room": 7, "last": 7}),
        ({"seen": "append:room"}, {"room": 7}, {"room": 7, "seen": [7]}),
        ({"seen": "append:room"}, {"room": 7, "seen": [5]}, {"room": 7, "seen": [5, 7]}),
        ({"seen": "append:room"}, {"room": 7, "seen": 5}, {"room": 7, "seen": [5, 7]}),
        ({"seen": "append:room"}, {"room": 7, "seen": [7]}, {"room": 7, "seen": [7, 7]}),
        ({"seen": "append:room"}, {"seen": [5]}, {"seen": [5]}),
        ({"last": "copy:room", "seen": "append:room"}, {"last": 5}, {"last": 5}),
        ({"a": "copy:b", "b": "copy:a"}, {"a": 1, "b": 2}, {"a": 2, "b": 1}),
        ({"kept": "copy:view", "view": "clear:"}, {"view": "sea"}, {"kept": "sea"}),
        ({"view": "clear:", "kept": "copy:view"}, {"view": "sea"}, {"kept": "sea"}),
    ],
)
async def test_an_update_sets_clears_copies_and_appends(talk, memory_url, update, before, after):
    """context_update, clause by clause."""
    chat = await staying(talk, memory_url, update, context=before)

    await chat.says("next")

    assert chat.context == await chat.journey.snapshot() == after


async def test_an_update_reads_the_context_and_not_what_its_own_turn_finds_out(talk, memory_url):
    """context_update: it reads context."""
    chat = await staying(
        talk,
        memory_url,
        {"seen": "append:nights"},
        context={"nights": 1},
        agents={},
    )
    chat.journey.register_agent("porter", gives(nights=2))

    await chat.says("next")

    assert chat.context == {"nights": 2, "seen": [1]}


async def test_a_copy_does_not_change_with_its_source(talk, memory_url):
    """context_update: copy."""
    chat = await staying(
        talk, memory_url, {"first": "copy:room"}, context={"room": {"tags": ["a"]}}
    )
    await chat.says("next")
    await chat.says('{"room": {"tags": ["b"]}}')

    assert chat.context == {"room": {"tags": ["a", "b"]}, "first": {"tags": ["a"]}}


@pytest.mark.parametrize("target", ["bill", "pool"])
async def test_an_update_is_made_on_the_way_to_wherever_it_leads(talk, memory_url, target):
    """context_update: with plain transitions and detours."""
    rules = [Transition(said("go"), to_pathway=target, context_update={"left": "set:yes"})]
    journey = type("RuledHotel", (Hotel,), {"__transitions__": rules})
    seen = {}
    agents = staff(journey)
    for name in ("cashier", "lifeguard"):
        agents[name] = lambda payload: seen.update(payload["context"])
    chat = await talk(journey, agents, memory_url)

    await chat.says("go")

    assert seen == chat.context == {"left": "yes"}


async def test_an_update_of_a_transition_that_was_outranked_is_not_made(talk, memory_url):
    """context_update: when the transition fires."""
    rules = [
        Transition(said("go"), to_pathway="bill", priority=2, context_update={"a": "set:1"}),
        Transition(said("go"), to_pathway="pool", priority=1, context_update={"b": "set:1"}),
    ]
    journey = type("RuledHotel", (Hotel,), {"__transitions__": rules})
    chat = await talk(journey, staff(journey), memory_url)

    await chat.says("go")

    assert chat.context == {"a": "1"}


async def test_an_update_is_taken_back_with_a_turn_that_fails(talk, memory_url):
    """context_update, with Failure: context unchanged."""

    def down(payload: dict[str, Any]) -> str:
        raise OSError("down")

    chat = await staying(talk, memory_url, {"view": "set:sea"}, context={"view": "yard"})
    chat.journey.register_agent("porter", down)

    assert await chat.says("next") == APOLOGY
    assert chat.context == {"view": "yard"}


async def test_the_history_of_a_name_says_what_it_was_when_and_by_whom(talk, memory_url):
    """Section 5: context_history."""
    chat = await staying(talk, memory_url, {"nights": "set:9"}, context={"nights": "1"})
    await chat.says('{"nights": "2"}')
    await chat.says("hello")
    await chat.says("next")
    chat = await chat.restored()

    history = await chat.journey.context_history("nights")

    assert [(row.value, row.version, row.pathway_id) for row in history] == [
        ("1", 0, "room"),
        ("2", 1, "room"),
        ("9", 3, "room"),
    ]


# --- Accumulation -------------------------------------------------------------------------------


def ledger(strategy: MergeStrategy | None) -> type[Journey]:
    class Ledger(Journey):
        class NotePath(Pathway):
            __agents__ = ["typist"]
            __accumulate__ = {"value": strategy}
            __complete_when__ = NEVER

    return Ledger


async def noting(talk: Any, url: str, strategy: Any, values: list[Any], **config: Any) -> Any:
    chat = await talk(ledger(strategy), {"typist": typist}, url, **config)
    for value in values:
        await chat.says(json.dumps({"value": value, "response": "noted"}))
    return chat


S = MergeStrategy


async def test_a_strategy_declared_once_holds_in_every_pathway(talk, memory_url):
    """Accumulation: a name has one strategy per journey."""

    class Tab(Journey):
        class DrinksPath(Pathway):
            __agents__ = ["bar"]
            __accumulate__ = {"owed": MergeStrategy.SUM}
            __complete_when__ = ["owed"]
            __next__ = "food"

        class FoodPath(Pathway):
            __agents__ = ["kitchen"]
            __accumulate__ = ["owed"]

    chat = await talk(Tab, staff(Tab, bar=gives(owed=3), kitchen=gives(owed=9)), memory_url)
    await chat.says("a beer")
    await chat.says("and soup")

    assert chat.context == {"owed": 12}


async def test_agents_in_parallel_are_merged_in_declared_order_whoever_is_first(talk, memory_url):
    """Accumulation; Several agents, in declared order."""

    class Survey(Journey):
        class AskPath(Pathway):
            __agents__ = ["slow", "quick"]
            __pipeline__ = "parallel"
            __accumulate__ = {"last": S.REPLACE, "all": S.APPEND, "total": S.SUM}

    async def slow(payload: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(0.02)
        return {"last": "slow", "all": "slow", "total": 1}

    quick = gives(last="quick", all="quick", total=2)
    chat = await talk(Survey, {"slow": slow, "quick": quick}, memory_url)
    await chat.says("go")

    assert chat.context == {"last": "quick", "all": ["slow", "quick"], "total": 3}


# --- Merge type mismatch ------------------------------------------------------------------------


async def test_a_mismatch_inside_a_dict_names_the_way_to_it(talk, memory_url):
    """Merge type mismatch; undeclared dicts merge with the same rules inside."""
    chat = await noting(talk, memory_url, None, [{"a": {"b": [1]}}, {"a": {"b": 2}}])

    assert "'value.a.b'" in chat.last.metadata["error"]["message"]


async def test_under_fail_fast_a_mismatch_is_raised(talk, memory_url):
    """Merge type mismatch: it fails the turn like an agent's error."""
    chat = await noting(talk, memory_url, S.SUM, [1], error_recovery="fail_fast")

    with pytest.raises(ContextMergeError) as caught:
        await chat.says('{"value": "two"}')

    assert (caught.value.field, caught.value.strategy) == ("value", "sum")
    assert await chat.journey.snapshot() == {"value": 1}


async def test_of_a_turn_that_fails_by_one_value_the_others_are_not_kept_either(talk, memory_url):
    """Merge type mismatch; accumulation is all or nothing, in others it is not."""

    class Form(Journey):
        class NotePath(Pathway):
            __agents__ = ["typist"]
            __accumulate__ = {"first": None, "count": S.SUM, "last": None}
            __complete_when__ = NEVER

    chat = await talk(Form, {"typist": typist}, memory_url)
    await chat.says('{"first": "a", "count": 1}')

    await chat.says('{"first": "b", "count": "many", "last": "c"}')
    assert chat.context == await chat.journey.snapshot() == {"first": "a", "count": 1}

    await chat.says('{"last": "d"}')
    assert chat.context == {"first": "a", "count": 1, "last": "d"}
