"""kill -9 at any moment of a turn that does something: nothing is ever done twice."""

from __future__ import annotations

import asyncio
import itertools
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from journeygraph import StateError
from tests.support import ferry, forked
from tests.support.ferry import World

UNSURE = "I could not find out whether that worked, so I will not do it twice."


def killed(process: Any) -> bool:
    """Wait for a process; say whether it was killed."""
    process.start()
    process.join(100)
    assert process.exitcode is not None
    return bool(process.exitcode == -signal.SIGKILL)


async def said_again(url: str, world: World, session_id: str = "s-1") -> str:
    """Send the yes again under its key, as a client without an answer does; return the reply."""
    async with ferry.ferry(url, world, session_id) as journey:
        state = await journey.get_session_state()
        assert state is not None
        if state.version > len(ferry.SAID):
            return state.conversation_history[-1]["content"]
        return (await journey.process_message("yes", idempotency_key="yes")).message


@pytest.mark.slow
async def test_what_was_noted_decides_what_is_done_again(kept_url: str, tmp_path: Path) -> None:
    """Reserving takes no key, charging does; the purser comes after both."""
    came_to = {}
    for number, moment in enumerate(
        ("before reserve", "after reserve", "before charge", "after charge", "purser")
    ):
        folder = tmp_path / moment
        folder.mkdir()
        world, session_id = World(folder), f"s-{number}"
        await ferry.led_up(kept_url, world, session_id)
        args = (kept_url, str(folder), moment, None, session_id)
        process = forked.process(ferry.confirm, *args)
        assert killed(process)
        await asyncio.sleep(0.25)  # a server keeps the lease of the dead one for a while
        reply = await said_again(kept_url, world, session_id)
        outcome = "unsure" if UNSURE in reply else "done"
        assert (outcome == "done") is ("Safe trip with 2 from Harwich." in reply)
        came_to[moment] = (len(world.reserved), world.payments, len(set(world.asked)), outcome)
    assert came_to == {
        "before reserve": (0, 0, 0, "unsure"),
        "after reserve": (1, 0, 0, "unsure"),
        "before charge": (1, 1, 1, "done"),
        "after charge": (1, 1, 1, "done"),
        "purser": (1, 1, 1, "done"),
    }


@pytest.mark.slow
async def test_killed_before_each_statement_nothing_is_done_twice(tmp_path: Path) -> None:
    before = tmp_path / "before.db"
    await ferry.led_up(f"sqlite:///{before}", World(tmp_path))
    survived, outcomes = False, set()
    for statement in itertools.count(1):
        folder = tmp_path / str(statement)
        folder.mkdir()
        url = f"sqlite:///{shutil.copy(before, folder)}"
        world = World(folder)
        survived = not killed(forked.process(ferry.confirm, url, str(folder), "", statement))
        reply = await said_again(url, world)
        done = (len(world.reserved), world.payments)
        assert done in ((0, 0), (1, 0), (1, 1)), statement
        assert (done == (1, 1)) is ("Safe trip" in reply) is (UNSURE not in reply), statement
        outcomes.add(done)
        if survived:
            break
    assert {(1, 0), (1, 1)} <= outcomes
    assert 6 < statement < 40


@pytest.mark.slow
async def test_of_two_processes_one_does_it(kept_url: str, tmp_path: Path) -> None:
    """The other one gets the error that the session moved on, or that the outcome is unknown."""
    world = World(tmp_path)
    await ferry.led_up(kept_url, world)
    both = [forked.process(ferry.confirm_slowly, kept_url, str(tmp_path)) for _ in range(2)]
    for process in both:
        process.start()
    for process in both:
        process.join(100)
    assert world.reserved == ["Harwich 2"]
    async with ferry.ferry(kept_url, world) as journey:
        await journey.process_message("no")  # if a person was offered
        assert (await journey.snapshot())["reserved"] == "2 from Harwich"
    assert (len(world.reserved), world.payments) == (1, 1)


@pytest.mark.slow
async def test_an_effect_that_another_process_takes_now_is_not_taken_again_in_a_fork(
    kept_url: str, tmp_path: Path
) -> None:
    """The fork waits for the turn, or does not know the outcome of the effect."""
    world = World(tmp_path)
    await ferry.led_up(kept_url, world)
    process = forked.process(ferry.confirm_slowly, kept_url, str(tmp_path))
    process.start()
    while not world.reserved:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    async with ferry.ferry(kept_url, world) as journey:
        try:
            await journey.fork(3, "s-2")
        except StateError:  # the turn was committed in between
            await journey.fork(3, "s-2")
    process.join(100)
    async with ferry.ferry(kept_url, world, "s-2") as fork:
        reply = await fork.process_message("yes")
    assert "Safe trip" in reply.message or UNSURE in reply.message
    assert world.reserved == ["Harwich 2"]
    assert world.payments <= 1
