"""Patterns in pathways when time is short, tries are many, and sessions are at once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    InputField,
    Journey,
    OutputField,
    Pathway,
    Pipeline,
    Signature,
)
from tests.pipelines.marked import ALL_PATTERNS, Marked, Staff, build, fails, mark
from tests.pipelines.test_in_journeys import noting, pipeline_of, shop, staff_of


class Shaky(Marked):
    """Fails at its first calls."""

    left = 2

    def plainly(self, payload: dict[str, Any]) -> dict[str, Any]:
        if self.left:
            self.left -= 1
            raise OSError("a hiccup")
        return super().plainly(payload)


def of(pipeline: Pipeline, **attributes: Any) -> type[Journey]:
    """A journey of one pathway that works in a pipeline, and never ends."""
    parts = {"__pipeline__": pipeline, "__complete_when__": NEVER, **attributes}
    path = type("DeskPath", (Pathway,), parts)
    return type("Desk", (Journey,), {"__doc__": "Take an order.", "DeskPath": path})


RETRY = {"error_recovery": "retry", "max_retries": 3, "retry_backoff_seconds": 0.001}


async def test_under_retry_only_who_failed_is_asked_again(talk, memory_url):
    shaky, well = Shaky("shaky"), Marked("well")
    journey = of(Pipeline.parallel([shaky, well], error_handling="fail-fast"))
    chat = await talk(journey, {}, memory_url, **RETRY)

    reply = await chat.says("hello")

    assert reply == f"{mark('shaky')}\n\n{mark('well')}"
    assert (len(shaky.calls), len(well.calls)) == (3, 1)


async def test_a_pipeline_that_has_retries_of_its_own_uses_those(talk, memory_url):
    shaky = Shaky("shaky")
    own = Pipeline.sequential([shaky], error_handling="fail-fast").with_limits(retries=0)
    chat = await talk(of(own), {}, memory_url, **RETRY)

    reply = await chat.says("hello")

    assert reply == chat.journey.config.texts.apology
    assert len(shaky.calls) == 1


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
async def test_an_agent_that_hangs_ends_the_turn_in_time(talk, memory_url, pattern):
    staff = staff_of(pattern)
    staff["walnut"].slowly(60)
    chat = await talk(
        shop(pattern, "by name", staff), dict(staff), memory_url, pathway_timeout_seconds=0.1
    )

    reply = await chat.says("walnut, order=7")

    assert reply == chat.journey.config.texts.apology
    assert chat.context == {}
    assert "failed" in chat.last.metadata["flags"]


async def test_a_graceful_pipeline_answers_though_an_agent_hangs(talk, memory_url):
    slow = Marked("slow").slowly(60)
    own = Pipeline.parallel([slow, Marked("quick")]).with_limits(timeout=0.15)
    chat = await talk(of(own), {}, memory_url)

    reply = await chat.says("hello")

    assert reply == mark("quick")
    assert "agent_failed:slow" in chat.last.metadata["flags"]


class Bill(Signature):
    """Explain a bill."""

    message: str = InputField(description="What the customer wrote")
    response: str = OutputField(description="What to say")
    total: int = OutputField(description="In euro")


@pytest.mark.parametrize("pattern", ["router", "parallel", "consensus"])
async def test_outputs_are_held_to_the_signature_of_the_pathway(talk, memory_url, pattern):
    staff = {n: Marked(n, lambda p: {"response": "so", "total": "much"}) for n in ("a", "b")}
    own = of(
        Pipeline.router([*staff.values()], error_handling="fail-fast")
        if pattern == "router"
        else getattr(Pipeline, pattern)([*staff.values()], error_handling="fail-fast"),
        __signature__=Bill,
        __accumulate__=["total"],
    )
    chat = await talk(own, {}, memory_url)

    reply = await chat.says("hello")

    assert reply == chat.journey.config.texts.apology
    assert "total" in str(chat.last.metadata["error"])
    assert chat.context == {}


# LangGraph leaves what waits for its turn unawaited when a run is given up.
@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning")
@pytest.mark.parametrize("parts", [{"max_workers": 1}, {"aggregator": "last"}], ids=str)
@pytest.mark.parametrize("limits", [{}, {"timeout": 30}], ids=str)
async def test_a_pathway_ends_in_its_time_however_many_work_one_after_the_other(
    talk, memory_url, parts, limits
):
    agents = [Marked(name).slowly(0.15) for name in ("a", "b", "c")]
    if "aggregator" in parts:
        parts = {"aggregator": Marked("last").slowly(0.15)}
    own = Pipeline.parallel(agents, **parts).with_limits(**limits)
    chat = await talk(of(own), {}, memory_url, pathway_timeout_seconds=0.2)

    reply = await chat.says("hello")

    assert reply == chat.journey.config.texts.apology


async def test_one_agent_s_longer_limit_does_not_outlast_its_pathway(talk, memory_url):
    own = Pipeline.router([Marked("slow").slowly(4)]).with_limits(timeout=30)
    chat = await talk(of(own), {}, memory_url, pathway_timeout_seconds=0.1)

    assert await chat.says("hello") == chat.journey.config.texts.apology


async def test_a_choice_that_fell_back_is_flagged_in_the_turn(talk, memory_url):
    chat = await talk(of(Pipeline.router([Marked("a"), Marked("b")])), {}, memory_url)

    await chat.says("please water the geraniums")

    assert "selection_fallback:no_match" in chat.last.metadata["flags"]


async def test_round_robin_goes_on_from_turn_to_turn(talk, memory_url):
    agents = [Marked(name) for name in ("a", "b", "c")]
    chat = await talk(of(Pipeline.router(agents, "round-robin")), {}, memory_url)

    replies = [await chat.says("hello") for _ in range(4)]

    assert replies == [mark(name) for name in ("a", "b", "c", "a")]


async def test_a_breaker_holds_from_turn_to_turn(talk, memory_url):
    ill = Marked("ill", fails(OSError("down")))
    own = Pipeline.parallel([ill, Marked("well")]).with_limits(breaker_failures=2)
    chat = await talk(of(own), {}, memory_url)

    replies = [await chat.says("hello") for _ in range(4)]

    assert replies == [mark("well")] * 4
    assert len(ill.calls) == 2


async def test_a_turn_that_is_cancelled_stops_its_agents_and_changes_nothing(talk, memory_url):
    begun = asyncio.Event()
    stopped: list[str] = []

    async def endless(payload: dict[str, Any]) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append("endless")

    own = Pipeline.sequential([Pipeline.parallel([endless, noting("a")]).to_agent("inner")])
    chat = await talk(of(own, __accumulate__=["order"]), {}, memory_url)
    turn = asyncio.create_task(chat.says("order=7"))
    await begun.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn

    assert stopped == ["endless"]
    assert await chat.journey.snapshot() == {}


async def test_a_journey_can_be_rolled_back_over_turns_of_a_pipeline(talk, memory_url):
    staff = staff_of("consensus")
    own = pipeline_of("consensus", staff)
    chat = await talk(of(own, __accumulate__=["order"]), {}, memory_url)
    for number in (1, 2, 3):
        await chat.says(f"order={number}")

    await chat.journey.rollback(1)

    assert await chat.journey.snapshot() == {"order": "1"}
    assert "<" in await chat.says("and now?")


async def test_one_pipeline_object_can_stand_in_many_places(talk, memory_url):
    staff = Staff()
    shared = build("ensemble", staff.agents(2), staff)

    class Twice(Journey):
        """Ask the same people twice."""

        class FirstPath(Pathway):
            __pipeline__ = shared
            __next__ = "second"

        class SecondPath(Pathway):
            __pipeline__ = Pipeline.sequential([shared.to_agent("team")])
            __runs_on_arrival__ = True

    chat = await talk(Twice, {}, memory_url)

    reply = await chat.says("walnut")

    assert reply == f"{mark('harbour')}\n\n{mark('harbour')}"
    assert staff.calls == {"walnut": 2, "granite": 2, "harbour": 2}
