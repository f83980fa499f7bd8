"""Detours: how deep they go, and what they leave behind (DESIGN.md section 4)."""

from __future__ import annotations

from typing import Any

import pytest

from journeygraph import (
    NEVER,
    ConditionTrigger,
    Journey,
    MaxPathwayDepthError,
    Pathway,
    ReturnToPrevious,
    ReturnToSpecific,
    Transition,
)
from tests.support.clerks import said, staff

TOO_DEEP = "Let us finish what we have open first; then we can get to that."


# --- Depth limit --------------------------------------------------------------------------------


class Museum(Journey):
    """Guide through a museum; a detour here only ends once its own name was told."""

    class TourPath(Pathway):
        __agents__ = ["tour"]
        __complete_when__ = NEVER

    class PainterPath(Pathway):
        __agents__ = ["painter"]
        __accumulate__ = ["painter"]
        __complete_when__ = ["painter"]
        __return_behavior__ = ReturnToPrevious()

    class EraPath(Pathway):
        __agents__ = ["era"]
        __accumulate__ = ["era"]
        __complete_when__ = ["era"]
        __return_behavior__ = ReturnToPrevious(max_depth=2)

    class CafePath(Pathway):
        __agents__ = ["cafe"]
        __return_behavior__ = ReturnToPrevious(max_depth=1)

    class ExitPath(Pathway):
        __agents__ = ["exit"]
        __complete_when__ = NEVER

    __transitions__ = [
        Transition(said("painter"), to_pathway="painter", priority=5),
        Transition(said("era"), to_pathway="era", context_update={"asked": "set:era"}, priority=5),
        Transition(said("cafe"), to_pathway="cafe", priority=5),
        Transition(said("way out"), to_pathway="exit"),
    ]


async def guide(talk: Any, url: str, *before: str, **config: Any) -> Any:
    chat = await talk(Museum, staff(Museum), url, **config)
    for words in before:
        await chat.says(words)
    return chat


async def test_a_detour_too_deep_is_refused_politely_and_nothing_else_changes(talk, memory_url):
    """Depth limit, graceful: no push, no update, no agent, no move, no other rule."""
    chat = await guide(talk, memory_url, "the painter?", max_pathway_depth=1)
    before = await chat.journey.get_session_state()

    assert await chat.says("which era, and the way out?") == TOO_DEEP

    after = await chat.journey.get_session_state()
    assert (chat.last.pathway_id, chat.stack, chat.ran) == ("painter", ["tour"], [])
    assert (chat.last.transition_to, chat.last.pathway_changed) == (None, False)
    assert chat.last.metadata["transition_triggered"] is False
    assert after.accumulated_context == before.accumulated_context == {}
    assert "depth_refused" in chat.last.metadata["flags"]
    refused = [row for row in await chat.journey.audit() if row.kind == "depth_refused"]
    assert [(row.turn, row.from_pathway, row.to_pathway) for row in refused] == [
        (2, "painter", "era")
    ]

    assert await chat.says("well then") == "painter: well then"


async def test_a_refused_detour_leaves_the_finished_one_returning(talk, memory_url):
    """Depth limit: still returning if it was."""
    chat = await guide(talk, memory_url, "the painter?", "which era?", "era=baroque")
    assert (chat.stack, chat.last.metadata["returning"]) == (["tour", "painter"], True)

    assert await chat.says("a cafe?") == TOO_DEEP
    assert (chat.last.pathway_id, chat.stack) == ("era", ["tour", "painter"])
    assert chat.last.metadata["returning"]

    assert await chat.says("go on") == "painter: go on"
    assert chat.stack == ["tour"]


async def test_the_limit_of_the_detour_counts_where_it_is_the_smaller_one(talk, memory_url):
    """Depth limit: the smaller of both; depth counts frames."""
    chat = await guide(talk, memory_url, "the painter?")

    assert await chat.says("a cafe?") == TOO_DEEP
    assert await chat.says("which era?") == "era: which era?"
    assert chat.stack == ["tour", "painter"]


async def test_the_limit_of_the_config_counts_where_it_is_the_smaller_one(talk, memory_url):
    """Depth limit: the smaller of both."""
    chat = await guide(talk, memory_url, "the painter?", max_pathway_depth=1)

    assert await chat.says("which era?") == TOO_DEEP


async def test_ten_pathways_may_be_paused_unless_the_config_says_otherwise(talk, memory_url):
    """Depth limit: ten."""
    names = [f"room{number}" for number in range(1, 12)]
    rooms = {
        f"Room{number}Path": type(
            f"Room{number}Path",
            (Pathway,),
            {
                "__agents__": [f"room{number}"],
                "__complete_when__": NEVER,
                "__return_behavior__": ReturnToPrevious(),
            },
        )
        for number in range(1, 12)
    }
    body = {
        **rooms,
        "HallPath": type("HallPath", (Pathway,), {"__agents__": ["hall"]}),
        "__entry_pathway__": "hall",
        "__transitions__": [Transition(said(name), to_pathway=name) for name in names],
    }
    castle = type("Castle", (Journey,), body)
    chat = await talk(castle, staff(castle), memory_url)

    for name in names[:10]:
        assert await chat.says(name) == f"{name}: {name}"
    assert len(chat.stack) == 10
    assert await chat.says(names[10]) == TOO_DEEP
    assert len(chat.stack) == 10


async def test_a_condition_refused_by_depth_counts_as_fired(talk, memory_url):
    """Depth limit: a condition that asked counts as fired, so it does not block every turn."""

    class Guarded(Museum):
        __transitions__ = [
            *Museum.__transitions__,
            Transition(ConditionTrigger(lambda c: "guide" in c), "era", "cafe", priority=9),
        ]

    chat = await talk(Guarded, staff(Guarded), memory_url, context={"guide": "Ann"})
    await chat.says("which era?")

    assert await chat.says("era=baroque") == TOO_DEEP
    assert (chat.last.pathway_id, chat.stack, "era" in chat.context) == ("era", ["tour"], False)
    assert await chat.says("era=baroque, I said") == "era: era=baroque, I said"


async def test_under_fail_fast_a_detour_too_deep_is_raised_and_changes_nothing(talk, memory_url):
    """Depth limit, fail_fast; the error is a RuntimeError that says stack overflow."""
    chat = await guide(
        talk, memory_url, "the painter?", max_pathway_depth=1, error_recovery="fail_fast"
    )
    before = await chat.journey.get_session_state()

    with pytest.raises(MaxPathwayDepthError, match="stack overflow") as caught:
        await chat.says("which era?")

    assert (caught.value.depth, caught.value.max_depth) == (2, 1)
    assert isinstance(caught.value, RuntimeError)
    assert await chat.journey.get_session_state() == before
    assert [row.message for row in await chat.journey.versions()] == [None, "the painter?"]
    assert await chat.says("well then") == "painter: well then"


# --- preserve_context=False ---------------------------------------------------------------------


class Trip(Journey):
    """Book a trip; in "what if" anything may be tried without leaving a trace."""

    class PlanPath(Pathway):
        __agents__ = ["plan"]
        __accumulate__ = ["city", "nights", "tried"]
        __complete_when__ = NEVER

    class WhatIfPath(Pathway):
        __agents__ = ["what_if"]
        __accumulate__ = ["city", "price", "done"]
        __complete_when__ = ["done"]
        __return_behavior__ = ReturnToPrevious(preserve_context=False)

    class GamblePath(Pathway):
        __agents__ = ["gamble"]
        __accumulate__ = ["city", "stake"]
        __complete_when__ = ["won"]
        __return_behavior__ = ReturnToPrevious(preserve_context=False)

    class WeatherPath(Pathway):
        __agents__ = ["weather"]
        __accumulate__ = ["sun"]
        __return_behavior__ = ReturnToPrevious()

    class AbroadPath(Pathway):
        __agents__ = ["abroad"]
        __accumulate__ = ["city", "price"]
        __return_behavior__ = ReturnToSpecific("passport", preserve_context=False)

    class PassportPath(Pathway):
        __agents__ = ["passport"]
        __complete_when__ = NEVER

    __transitions__ = [
        Transition(said("what if"), to_pathway="what_if", context_update={"tried": "set:yes"}),
        Transition(said("gamble"), to_pathway="gamble"),
        Transition(said("weather"), to_pathway="weather"),
        Transition(said("keep it"), "what_if", "plan", context_update={"tried": "copy:city"}),
        Transition(said("abroad"), to_pathway="abroad"),
        Transition(said("to the plan"), to_pathway="plan"),
    ]


async def plan(talk: Any, url: str, *before: str) -> Any:
    chat = await talk(Trip, staff(Trip), url)
    for words in before:
        await chat.says(words)
    return chat


async def test_what_a_detour_without_traces_changed_is_undone_when_it_returns(talk, memory_url):
    """preserve_context=False; the update of the way in was made before the detour."""
    chat = await plan(talk, memory_url, "city=Rome nights=2", "what if we took city=Oslo?")
    assert chat.context == {"city": "Oslo", "nights": "2", "tried": "yes"}
    await chat.says("that is price=900, done=yes")
    assert chat.context["price"] == "900"
    chat = await chat.restored()

    assert await chat.says("no, nights=3") == "plan: no, nights=3"
    assert chat.context == {"city": "Rome", "nights": "3", "tried": "yes"}


async def test_a_detour_keeps_what_it_learned_unless_it_says_otherwise(talk, memory_url):
    """preserve_context=False is not the default."""
    chat = await plan(talk, memory_url, "city=Rome", "the weather? sun=much")

    await chat.says("good")

    assert chat.context == {"city": "Rome", "sun": "much"}


async def test_the_paused_pathway_already_sees_the_context_without_the_traces(talk, memory_url):
    """preserve_context=False."""
    seen = []

    def note(payload: dict[str, Any]) -> str:
        seen.append(payload["context"].get("city"))
        return "noted"

    chat = await talk(Trip, staff(Trip, plan=note), memory_url, context={"city": "Rome"})
    await chat.says("what if city=Oslo done=yes")
    await chat.says("rather not")

    assert seen == ["Rome"]


@pytest.mark.parametrize("words", ["and the weather?", "to the plan"])
async def test_traces_are_undone_also_when_a_transition_leaves_the_detour(talk, memory_url, words):
    """preserve_context=False, with Another detour while returning and Plain transition."""
    chat = await plan(talk, memory_url, "city=Rome", "what if city=Oslo price=9 done=yes")

    await chat.says(words)

    assert chat.context == {"city": "Rome", "tried": "yes"}


async def test_traces_of_a_paused_detour_are_undone_when_that_one_returns(talk, memory_url):
    """preserve_context=False, nested."""
    chat = await plan(talk, memory_url, "city=Rome", "what if city=Oslo?", "the weather? sun=no")
    assert chat.stack == ["plan", "what_if"]
    assert chat.context["sun"] == "no"

    await chat.says("then done=yes")
    assert chat.context["city"] == "Oslo"

    await chat.says("as it was")
    assert (chat.context["city"], chat.stack) == ("Rome", [])


async def test_a_detour_with_a_target_and_without_traces_undoes_them_on_the_way(talk, memory_url):
    """preserve_context=False, ReturnToSpecific."""
    chat = await plan(talk, memory_url, "city=Rome", "abroad? city=Oslo price=9")
    assert chat.context == {"city": "Oslo", "price": "9"}

    assert await chat.says("so what do I need?") == "passport: so what do I need?"
    assert chat.context == {"city": "Rome"}


async def test_a_detour_without_traces_asked_for_again_still_goes_back_to_the_start(
    talk, memory_url
):
    """preserve_context=False, with Detour asked for again while in it."""
    chat = await plan(talk, memory_url, "city=Rome", "what if city=Oslo?", "what if city=Bern?")
    await chat.says("done=yes")

    await chat.says("no")

    assert chat.context == {"city": "Rome", "tried": "yes"}


async def test_the_next_detour_does_not_inherit_that_the_last_one_left_no_traces(talk, memory_url):
    """preserve_context=False, with Another detour while returning."""
    chat = await plan(talk, memory_url, "city=Rome", "what if city=Oslo done=yes")
    await chat.says("and the weather? sun=much")

    await chat.says("fine")

    assert chat.context == {"city": "Rome", "tried": "yes", "sun": "much"}


async def test_leaving_two_detours_without_traces_at_once_undoes_both(talk, memory_url):
    """preserve_context=False, nested, with Plain transition inside a detour."""
    chat = await plan(talk, memory_url, "city=Rome", "what if city=Oslo?", "gamble on city=Bern")
    assert chat.stack == ["plan", "what_if"]

    await chat.says("back to the plan")

    assert (chat.context["city"], chat.stack) == ("Rome", [])


async def test_an_update_on_the_way_out_reads_the_context_without_the_traces(talk, memory_url):
    """preserve_context=False, with context_update: first undone, then read."""
    chat = await plan(talk, memory_url, "city=Rome", "what if city=Oslo done=yes")

    await chat.says("keep it")

    assert chat.context == {"city": "Rome", "tried": "Rome"}
