"""Agents that fail, hang or are too late (DESIGN.md sections 3 and 4)."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from journeygraph import (
    NEVER,
    Agent,
    Journey,
    JourneyConfig,
    Pathway,
    PathwayExecutionError,
    PathwayNotFoundError,
    Pipeline,
    ReturnToPrevious,
    Transition,
)
from tests.support.clerks import clerk, gives, said, staff

APOLOGY = "Sorry, something went wrong on our side. Nothing was lost; please try again."


class Workshop(Journey):
    """Repair a bicycle."""

    class LookPath(Pathway):
        __agents__ = ["mechanic", "writer"]
        __accumulate__ = ["part", "hours"]
        __complete_when__ = ["hours"]
        __next__ = "offer"

    class OfferPath(Pathway):
        __agents__ = ["seller"]
        __accumulate__ = ["price"]
        __complete_when__ = ["price"]
        __runs_on_arrival__ = True

    class PricesPath(Pathway):
        __agents__ = ["list"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(said("price list"), to_pathway="prices", context_update={"asked": "set:yes"})
    ]


class Pair(Journey):
    """Two who work at the same time."""

    class BothPath(Pathway):
        __agents__ = ["one", "two"]
        __pipeline__ = "parallel"
        __accumulate__ = ["a", "b"]
        __complete_when__ = NEVER


class Failing:
    """An agent that fails some times, and then gives an answer."""

    def __init__(self, times: int, error: BaseException, **outputs: Any) -> None:
        self.times = times
        self.error = error
        self.outputs = outputs
        self.calls = 0

    async def arun(self, payload: dict[str, Any]) -> dict[str, Any]:
        self.calls += 1
        if self.calls <= self.times:
            raise self.error
        return {"response": "done", **self.outputs}


async def repairing(talk: Any, url: str, agents: dict[str, Any], **config: Any) -> Any:
    quick = {"retry_backoff_seconds": 0.001, **config}
    return await talk(Workshop, staff(Workshop, **agents), url, **quick)


def position_of(session: Any) -> tuple[Any, ...]:
    return (
        session.current_pathway_id,
        session.pathway_stack,
        session.returning,
        session.accumulated_context,
    )


# --- graceful -----------------------------------------------------------------------------------


async def test_a_failing_agent_is_apologised_for_and_nothing_moved(talk, memory_url):
    """error_recovery graceful; Failure: message, reply and audit are kept, nothing else."""
    broken = Failing(1, ValueError("the secret stand"))
    chat = await repairing(talk, memory_url, {"list": broken}, context={"part": "chain"})
    before = await chat.journey.get_session_state()

    assert await chat.says("your price list?") == APOLOGY

    after = await chat.journey.get_session_state()
    assert position_of(after) == position_of(before)
    assert (chat.last.transition_to, chat.last.pathway_changed, chat.ran) == (None, False, [])
    assert chat.last.metadata["flags"] == ["failed", "journey_bypassed"]
    error = chat.last.metadata["error"]
    assert error["type"] == "PathwayExecutionError"
    for part in ("'prices'", "'list'", "ValueError", "the secret stand"):
        assert part in error["message"]

    rows = await chat.journey.versions()
    assert [(row.version, row.kind) for row in rows] == [(0, "start"), (1, "failure")]
    assert (rows[1].message, rows[1].reply) == ("your price list?", APOLOGY)
    audit = await chat.journey.audit()
    assert [(row.kind, row.turn, row.from_pathway) for row in audit] == [("failure", 1, "look")]
    chat = await chat.restored()
    assert await chat.says("your price list?") == "done"
    assert chat.last.pathway_id == "prices"


async def test_a_failed_turn_is_part_of_the_talk_that_follows(talk, memory_url):
    """Failure: graceful commits message and reply."""
    seen = []

    def writer(payload: dict[str, Any]) -> str:
        seen.append([entry["content"] for entry in payload["history"]])
        if len(seen) == 1:
            raise KeyError("pen")
        return "written"

    chat = await repairing(talk, memory_url, {"writer": writer})
    await chat.says("one")
    await chat.says("two")

    assert seen == [[], ["one", APOLOGY]]


async def test_what_the_agents_before_the_failing_one_gave_is_not_kept(talk, memory_url):
    """Failure: context unchanged; a turn is whole or not at all."""
    broken = Failing(1, RuntimeError("no ink"))
    chat = await repairing(talk, memory_url, {"mechanic": gives(part="chain"), "writer": broken})

    assert await chat.says("look at it") == APOLOGY
    assert chat.context == await chat.journey.snapshot() == {}
    assert await chat.says("again") == "done"
    assert chat.context == {"part": "chain"}


async def test_a_failure_on_arrival_takes_back_the_whole_turn(talk, memory_url):
    """Failure, second hop: neither the move nor the outputs of the first hop are kept."""
    broken = Failing(1, RuntimeError("no till"), price=40)
    chat = await repairing(talk, memory_url, {"writer": gives(hours=2), "seller": broken})

    assert await chat.says("look at it") == APOLOGY
    assert (chat.last.pathway_id, chat.context) == ("look", {})
    assert await chat.says("again") == "noted\n\ndone"
    assert (chat.last.is_journey_complete, chat.context) == (True, {"hours": 2, "price": 40})


async def test_one_failing_agent_fails_all_that_run_in_parallel(talk, memory_url):
    """Failure, parallel; no outputs are kept, the error names the failed agent."""
    chat = await talk(Pair, {"one": gives(a=1), "two": Failing(1, OSError("disk"))}, memory_url)

    assert await chat.says("go") == APOLOGY
    assert "'two'" in chat.last.metadata["error"]["message"]
    assert chat.context == {}
    assert await chat.says("go") == "noted\n\ndone"


async def test_a_failure_while_returning_leaves_the_detour_returning(talk, memory_url):
    """Failure: position unchanged, with When does a detour return."""
    chat = await repairing(talk, memory_url, {"mechanic": Failing(1, OSError("hand"))})
    await chat.says("the price list?")

    assert await chat.says("go on") == APOLOGY
    assert (chat.last.pathway_id, chat.stack) == ("prices", ["look"])
    assert chat.last.metadata["returning"]
    assert await chat.says("go on") == "writer: go on"
    assert chat.stack == []


async def test_failures_in_a_row_can_go_on_for_ever(talk, memory_url):
    chat = await repairing(talk, memory_url, {"mechanic": Failing(15, OSError("hand"))})

    assert [await chat.says("hm") for _ in range(16)] == [*[APOLOGY] * 15, "writer: hm"]


async def test_graceful_does_not_try_again(talk, memory_url):
    """error_recovery: retries belong to `retry`."""
    broken = Failing(1, OSError("hand"))
    chat = await repairing(talk, memory_url, {"mechanic": broken})
    await chat.says("hello")

    assert broken.calls == 1


# --- retry --------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [ValueError("v"), RuntimeError("r"), OSError("o"), KeyError()])
async def test_retry_calls_a_failing_agent_again(talk, memory_url, error):
    """error_recovery retry: whatever it raised, also what LangGraph would not retry."""
    flaky = Failing(2, error, part="chain")
    chat = await repairing(talk, memory_url, {"mechanic": flaky}, error_recovery="retry")

    assert await chat.says("hello") == "writer: hello"
    assert (flaky.calls, chat.context) == (3, {"part": "chain"})
    assert chat.last.metadata["error"] is None


@pytest.mark.parametrize("retries", [0, 1, 3])
async def test_retry_ends_after_max_retries_and_then_is_graceful(talk, memory_url, retries):
    """error_recovery retry: max_retries, then graceful; one owner of retries."""
    broken = Failing(99, OSError("hand"))
    chat = await repairing(
        talk, memory_url, {"mechanic": broken}, error_recovery="retry", max_retries=retries
    )

    assert await chat.says("hello") == APOLOGY
    assert broken.calls == retries + 1
    assert [row.kind for row in await chat.journey.versions()] == ["start", "failure"]


async def test_retry_calls_only_the_agent_that_failed_again(talk, memory_url):
    """error_recovery retry: on the agent node."""
    mechanic, writer = Failing(0, OSError()), Failing(2, OSError())
    chat = await repairing(
        talk, memory_url, {"mechanic": mechanic, "writer": writer}, error_recovery="retry"
    )
    await chat.says("hello")
    assert (mechanic.calls, writer.calls) == (1, 3)

    one, two = Failing(0, OSError(), a=1), Failing(2, OSError(), b=2)
    pair = await talk(
        Pair,
        {"one": one, "two": two},
        memory_url,
        session_id="pair",
        error_recovery="retry",
        retry_backoff_seconds=0.001,
    )
    assert await pair.says("hello") == "done\n\ndone"
    assert (one.calls, two.calls, pair.context) == (1, 3, {"a": 1, "b": 2})


async def test_retry_pauses_as_the_config_says_and_each_time_twice_as_long(talk, memory_url):
    """error_recovery retry: backoff."""
    times = []

    async def agent(payload: dict[str, Any]) -> str:
        times.append(time.monotonic())
        raise OSError("hand")

    chat = await repairing(
        talk,
        memory_url,
        {"mechanic": agent},
        error_recovery="retry",
        max_retries=2,
        retry_backoff_seconds=0.05,
    )
    await chat.says("hello")

    assert times[1] - times[0] >= 0.05
    assert times[2] - times[1] >= 0.1


async def test_retry_can_be_told_to_try_a_hundred_times(talk, memory_url):
    """error_recovery retry: the largest max_retries that the config takes."""
    flaky = Failing(3, OSError("hand"))
    chat = await repairing(
        talk, memory_url, {"mechanic": flaky}, error_recovery="retry", max_retries=100
    )

    assert await chat.says("hello") == "writer: hello"


# --- fail_fast ----------------------------------------------------------------------------------


async def test_fail_fast_raises_and_keeps_nothing_but_an_audit_row(talk, memory_url):
    """error_recovery fail_fast; Failure: commits nothing but an audit row."""
    cause = ValueError("bent")
    broken = Failing(1, cause, part="chain")
    chat = await repairing(talk, memory_url, {"mechanic": broken}, error_recovery="fail_fast")
    before = await chat.journey.get_session_state()

    with pytest.raises(PathwayExecutionError, match=r"'look'.*'mechanic'.*bent") as caught:
        await chat.says("hello")

    assert (caught.value.pathway_id, caught.value.agent) == ("look", "mechanic")
    assert isinstance(caught.value, RuntimeError)
    assert caught.value.__cause__ is cause
    assert await chat.journey.get_session_state() == before
    assert len(await chat.journey.versions()) == 1
    assert await chat.journey.transcript() == []
    assert [(row.kind, row.turn) for row in await chat.journey.audit()] == [("failure", 1)]
    assert await chat.says("hello") == "writer: hello"
    assert chat.last.metadata["version"] == 1
    assert broken.calls == 2


# --- Timeouts -----------------------------------------------------------------------------------


class Sleeping:
    """An async agent that sleeps, and says whether it was woken before its time."""

    def __init__(self, *seconds: float) -> None:
        self.seconds = list(seconds)
        self.cancelled = 0

    async def arun(self, payload: dict[str, Any]) -> str:
        try:
            await asyncio.sleep(self.seconds.pop(0) if self.seconds else 0)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return "awake"


async def test_an_agent_that_takes_too_long_is_cancelled(talk, memory_url):
    """Timeouts cancel; the others never read the limit."""
    agent = Sleeping(30)
    chat = await repairing(talk, memory_url, {"mechanic": agent}, pathway_timeout_seconds=0.3)
    assert await chat.says("hello") == APOLOGY
    assert agent.cancelled == 1
    assert chat.last.metadata["error"]["type"] == "PathwayExecutionError"
    assert "ran out of time" in chat.last.metadata["error"]["message"]
    assert await chat.says("hello") == "writer: hello"


class Yard(Journey):
    """One agent in many places."""

    class DeskPath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

    class AlonePath(Pathway):
        __agents__ = ["sleeper"]

    class RowPath(Pathway):
        __agents__ = ["clerk", "sleeper"]

    class SleeperPath(Pathway):
        __agents__ = ["clerk", "sleeper"]
        __pipeline__ = "parallel"

    class TeamPath(Pathway):
        __pipeline__ = Pipeline.parallel(
            [Agent(Pipeline.sequential(["clerk", "sleeper"]), name="team"), "clerk"],
            error_handling="fail-fast",
        )

    __transitions__ = [
        Transition(said(place), to_pathway=place) for place in ("alone", "row", "sleeper", "team")
    ]


LATE = {"alone": "sleeper", "row": "sleeper", "sleeper": "sleeper", "team": "team/sleeper"}


@pytest.mark.parametrize(("place", "agent"), LATE.items())
@pytest.mark.parametrize("whose", ["agent", "turn"])
async def test_what_ran_out_of_time_names_who_worked_then_and_nobody_else(
    talk, memory_url, caplog, place, agent, whose
):
    """A name may be in several pathways; the log has one line of it, without a traceback."""
    staff = {"clerk": clerk("clerk"), "sleeper": Sleeping(300)}
    limit = "pathway_timeout_seconds" if whose == "agent" else "turn_timeout_seconds"
    chat = await talk(Yard, staff, memory_url, **{limit: 0.4})

    with caplog.at_level(logging.INFO, "journeygraph"):
        assert await chat.says(place) == APOLOGY

    said = chat.last.metadata["error"]["message"]
    assert said.startswith(f"Pathway '{place}', agent '{agent}': ")
    assert "took longer than 0.4 s" in said
    told = [r for r in caplog.records if r.journeygraph["event"] != "turn_failed"]
    assert [r.journeygraph["agent"] for r in told] == [agent]
    assert [r.exc_info for r in told] == [None]


async def test_a_turn_that_ends_while_several_work_names_them_all(talk, memory_url):
    agents = {"one": Sleeping(300), "two": Sleeping(300)}
    chat = await talk(Pair, agents, memory_url, turn_timeout_seconds=0.3)

    await chat.says("hello")

    said = chat.last.metadata["error"]["message"]
    assert said == "Pathway 'both', agents 'one, two': the turn took longer than 0.3 s"


async def test_an_agent_that_ended_before_the_turn_s_time_was_up_is_not_named(talk, memory_url):
    raised = Failing(1, asyncio.CancelledError("of its own"))
    pair = Pipeline.parallel([Agent(raised.arun, name="one"), Agent(Sleeping(300), name="two")])
    both = type("BothPath", (Pathway,), {"__pipeline__": pair})
    own = type("Own", (Journey,), {"BothPath": both})
    chat = await talk(own, {}, memory_url, turn_timeout_seconds=0.3)

    await chat.says("hello")

    said = chat.last.metadata["error"]["message"]
    assert said == "Pathway 'both', agent 'two': the turn took longer than 0.3 s"


async def test_a_pathway_s_own_timeout_replaces_the_config_s(talk, memory_url):
    """`__timeout__`, shorter and longer than the config's."""

    class Timed(Journey):
        class QuickPath(Pathway):
            __agents__ = ["quick"]
            __timeout__ = 0.05
            __complete_when__ = NEVER

        class SlowPath(Pathway):
            __agents__ = ["slow"]
            __timeout__ = 3
            __complete_when__ = NEVER

        __transitions__ = [Transition(said("slowly"), to_pathway="slow")]

    agents = {"quick": Sleeping(30), "slow": Sleeping(0.3)}
    short = await talk(Timed, agents, memory_url, session_id="a")
    long = await talk(Timed, agents, memory_url, session_id="b", pathway_timeout_seconds=0.05)

    assert await short.says("hello") == APOLOGY
    assert await long.says("slowly") == "awake"


async def test_the_limit_holds_for_a_pathway_as_a_whole(talk, memory_url):
    """Config: longest run of a pathway, and of one try of an agent."""
    agents = {"mechanic": Sleeping(0.2), "writer": Sleeping(30)}
    chat = await repairing(talk, memory_url, agents, pathway_timeout_seconds=0.3)
    assert await chat.says("hello") == APOLOGY


async def test_retry_tries_again_what_ran_out_of_time(talk, memory_url):
    """error_recovery retry, with timeouts: each try has the whole time."""
    agent = Sleeping(30, 0)
    chat = await repairing(
        talk,
        memory_url,
        {"mechanic": agent},
        pathway_timeout_seconds=0.3,
        error_recovery="retry",
    )

    assert await chat.says("hello") == "writer: hello"
    assert agent.cancelled == 1


async def test_fail_fast_raises_what_ran_out_of_time(talk, memory_url):
    """error_recovery fail_fast, with timeouts."""
    chat = await repairing(
        talk,
        memory_url,
        {"mechanic": Sleeping(30)},
        pathway_timeout_seconds=0.05,
        error_recovery="fail_fast",
    )

    with pytest.raises(PathwayExecutionError, match="ran out of time"):
        await chat.says("hello")
    assert len(await chat.journey.versions()) == 1


async def test_the_result_of_a_thread_that_comes_too_late_is_dropped_and_audited(talk, memory_url):
    """Timeouts: a thread's late result is discarded and audited; the turn does not wait for it."""
    go_on = threading.Event()

    def slow(payload: dict[str, Any]) -> dict[str, Any]:
        go_on.wait(110)
        return {"part": "too late", "response": "too late"}

    chat = await repairing(talk, memory_url, {"mechanic": slow}, pathway_timeout_seconds=0.3)
    assert await chat.says("hello") == APOLOGY

    chat.journey.register_agent("mechanic", clerk("mechanic"))
    assert await chat.says("and now?") == "writer: and now?"
    go_on.set()
    for _ in range(100):
        if "late_result" in await chat.audited():
            break
        await asyncio.sleep(0.01)

    late = [row for row in await chat.journey.audit() if row.kind == "late_result"]
    assert [(row.trigger, row.turn) for row in late] == [("mechanic", 1)]
    assert await chat.journey.snapshot() == {}
    talked = [entry.content for entry in await chat.journey.transcript()]
    assert talked == ["hello", APOLOGY, "and now?", "writer: and now?"]


# --- A position that the journey does not have any more -----------------------------------------


def moving(*, newer: bool) -> type[Journey]:
    """A journey before and after its pathway `boxes` was dropped."""

    class Moving(Journey):
        class PlanPath(Pathway):
            __agents__ = ["plan"]
            __complete_when__ = NEVER

        if not newer:

            class BoxesPath(Pathway):
                __agents__ = ["boxes"]
                __complete_when__ = NEVER

        class HelpPath(Pathway):
            __agents__ = ["help"]
            __return_behavior__ = ReturnToPrevious()

        __transitions__ = [Transition(said("help"), to_pathway="help")]
        if not newer:
            __transitions__ += [Transition(said("pack"), to_pathway="boxes")]

    return Moving


@pytest.mark.parametrize(("before", "at"), [(("pack it",), "plan"), (("pack it", "help"), "help")])
async def test_a_session_in_a_pathway_that_is_gone_goes_on_elsewhere(talk, memory_url, before, at):
    """Section 5 raises an error for good; here the session goes on in a place that is there."""
    old, new = moving(newer=False), moving(newer=True)
    chat = await talk(old, staff(old), memory_url)
    for words in before:
        await chat.says(words)

    strict = JourneyConfig(persistence=memory_url, error_recovery="fail_fast")
    async with await new.restore("s-1", strict, agents=staff(new)) as journey:
        reply = await journey.process_message("hello?")
        kinds = [entry.kind for entry in await journey.audit()]
    assert reply.pathway_id == at
    assert reply.metadata["pathway_stack"] == []
    assert kinds.count("migrated") == (at == "plan")
    assert ("begin again" in reply.message) is (at == "plan")


@pytest.mark.parametrize("paused", [False, True])
async def test_a_state_that_names_no_pathway_of_its_own_version_is_refused(paused: bool) -> None:
    """Section 5: PathwayNotFoundError(pathway_id, available), present or paused."""
    journey = moving(newer=True)
    graph = journey.compile(agents=staff(journey), checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "t"}}
    first = await graph.ainvoke({"messages": "hello"}, thread)
    frame = {"pathway": "boxes", "turn": 1, "question": "", "before": None}
    broken = {"stack": [frame]} if paused else {"pathway": "boxes"}
    await graph.aupdate_state(thread, {"position": {**first["position"], **broken}}, "settle")

    with pytest.raises(PathwayNotFoundError) as caught:
        await graph.ainvoke({"messages": "hello?"}, thread)
    assert (caught.value.pathway_id, caught.value.available) == ("boxes", ["help", "plan"])
    assert isinstance(caught.value, ValueError)
