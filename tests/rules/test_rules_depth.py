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
from tests.support.scripts import follow

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


TOO_DEEP_TALKS = {
    "a refused detour leaves the finished one returning": """
        the painter? -> painter
        which era? -> era
        era=baroque -> era; paused tour painter; returning
        a cafe? -> era; paused tour painter; returning; says {too_deep}
        go on -> painter; paused tour; says painter: go on
        """,
    "the limit of the detour counts where it is the smaller one": """
        the painter? -> painter
        a cafe? -> painter; says {too_deep}
        which era? -> era; paused tour painter; says era: which era?
        """,
}


@pytest.mark.parametrize("held", TOO_DEEP_TALKS)
async def test_a_detour_too_deep_is_refused(held, talk, memory_url):
    """Depth limit: the smaller of both; depth counts frames."""
    await follow(await guide(talk, memory_url), TOO_DEEP_TALKS[held].format(too_deep=TOO_DEEP))


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


TRACES = {
    "what it changed is undone when it returns, but for the update of the way in": """
        city=Rome nights=2 -> plan
        what if we took city=Oslo? -> what_if; knows city=Oslo nights=2 tried=yes
        that is price=900, done=yes -> what_if; returning
        (restart)
        no, nights=3 -> plan; knows city=Rome nights=3 tried=yes; says plan: no, nights=3
        """,
    "a detour keeps what it learned unless it says otherwise": """
        city=Rome -> plan
        the weather? sun=much -> weather
        good -> plan; knows city=Rome sun=much
        """,
    "undone also when a transition leads to another detour": """
        city=Rome -> plan
        what if city=Oslo price=9 done=yes -> what_if; returning
        and the weather? -> weather; knows city=Rome tried=yes
        """,
    "undone also when a plain transition leaves the detour": """
        city=Rome -> plan
        what if city=Oslo price=9 done=yes -> what_if; returning
        to the plan -> plan; knows city=Rome tried=yes
        """,
    "those of a paused detour are undone when that one returns": """
        city=Rome -> plan
        what if city=Oslo? -> what_if
        the weather? sun=no -> weather; paused plan what_if; knows city=Oslo tried=yes sun=no
        then done=yes -> what_if; knows city=Oslo tried=yes sun=no done=yes
        as it was -> plan; paused; knows city=Rome tried=yes
        """,
    "undone on the way to a target": """
        city=Rome -> plan
        abroad? city=Oslo price=9 -> abroad; knows city=Oslo price=9
        so what do I need? -> passport; knows city=Rome; says passport: so what do I need?
        """,
    "asked for again it still goes back to the start": """
        city=Rome -> plan
        what if city=Oslo? -> what_if
        what if city=Bern? -> what_if
        done=yes -> what_if; returning
        no -> plan; knows city=Rome tried=yes
        """,
    "the next detour does not inherit that the last one left none": """
        city=Rome -> plan
        what if city=Oslo done=yes -> what_if; returning
        and the weather? sun=much -> weather
        fine -> plan; knows city=Rome tried=yes sun=much
        """,
    "leaving two such detours at once undoes both": """
        city=Rome -> plan
        what if city=Oslo? -> what_if
        gamble on city=Bern -> gamble; paused plan what_if
        back to the plan -> plan; paused; knows city=Rome tried=yes
        """,
    "an update on the way out reads the context without them": """
        city=Rome -> plan
        what if city=Oslo done=yes -> what_if; returning
        keep it -> plan; knows city=Rome tried=Rome
        """,
}


@pytest.mark.parametrize("held", TRACES)
async def test_a_detour_without_traces_leaves_none(held, talk, memory_url):
    """preserve_context=False."""
    await follow(await talk(Trip, staff(Trip), memory_url), TRACES[held])


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
