"""kill -9 at any moment: the session is in its state before or after the turn, never between."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from journeygraph import SessionNotStartedError
from tests.support import crash_child, forked, timer_child
from tests.support.post_office import found, rows


@pytest.fixture
def url(kept_url: str) -> str:
    return kept_url


async def begun(url: str, messages: int = 0, session_id: str = "s-1") -> None:
    async with crash_child.diary(url, session_id) as diary:
        await diary.start()
        for number in range(1, messages + 1):
            await diary.process_message(crash_child.line(number))


async def situation(url: str, session_id: str = "s-1") -> int:
    """Check that all of a session agrees; return the version."""
    async with crash_child.diary(url, session_id) as diary:
        return await crash_child.checked(diary)


OTHERS = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND backend_type = 'client backend'
"""


def killed(process: Any, url: str) -> None:
    """Wait until a process is dead, and the server done with what it had sent."""
    process.join(100)
    waits = process.is_alive()
    process.kill()
    process.join()
    assert not waits, "it waits for something, and does not die"
    assert process.exitcode == -signal.SIGKILL
    while url.startswith("postgresql") and found(url, OTHERS) != [(0,)]:
        time.sleep(0.01)


def killed_once_it_talks(process: Any, url: str, log: Path, after: float) -> None:
    while not log.read_text() and process.is_alive():
        time.sleep(0.001)
    time.sleep(after)
    process.kill()
    killed(process, url)


@pytest.mark.slow
async def test_killed_at_any_moment_of_a_long_talk(url: str, tmp_path: Path) -> None:
    moments = random.Random(11)
    log = tmp_path / "acknowledged"
    await begun(url)
    version = 0
    # On Postgres each killed process leaves a lease behind, which has to end first.
    rounds = 6 if url.startswith("postgresql") else 8
    for _ in range(rounds):
        log.write_text("")
        process = forked.process(crash_child.live, url, "s-1", str(log), "talk", None)
        process.start()
        killed_once_it_talks(process, url, log, moments.uniform(0, 0.05))

        acknowledged = [int(number) for number in log.read_text().split()]
        assert acknowledged == list(range(version + 1, version + 1 + len(acknowledged)))
        before, version = version, await situation(url)
        # What was acknowledged is there; of what was not, at most the one turn that ran.
        assert version - before - len(acknowledged) in (0, 1)
    assert version >= rounds
    orphans = "FROM checkpoints WHERE checkpoint_id NOT IN (SELECT checkpoint_id FROM turns)"
    assert found(url, f"SELECT count(*) {orphans}") == [(0,)]
    counts = rows(url)
    assert counts.get("writes", 0) == counts.get("checkpoint_writes", 0) == 0


@pytest.mark.slow
@pytest.mark.parametrize("messages", [0, 1, 15])
async def test_killed_before_each_statement_of_a_turn(
    url: str, tmp_path: Path, messages: int
) -> None:
    """One message leads into the detour, one back out of it, and one prunes."""
    await begun(url, messages)
    stood = []
    for statement in range(1, 100):
        log = str(tmp_path / "acknowledged")
        process = forked.process(crash_child.live, url, "s-1", log, "talk", statement)
        process.start()
        killed(process, url)
        stood.append(await situation(url))
        if stood[-1] > messages:
            break
    # On Postgres the last process may finish the turn of the one before, and go on to its own.
    *before, last = stood
    assert set(before) == {messages}
    assert last - messages in ((1, 2) if url.startswith("postgresql") else (1,))
    assert len(stood) > 5


@pytest.mark.slow
async def test_killed_in_an_agent(url: str, tmp_path: Path) -> None:
    for messages in range(3):
        session_id = f"s-{messages}"
        await begun(url, messages, session_id)
        log = str(tmp_path / "acknowledged")
        process = forked.process(crash_child.live, url, session_id, log, "agent", None)
        process.start()
        killed(process, url)
        assert await situation(url, session_id) == messages


@pytest.mark.slow
async def test_killed_while_the_file_is_made(tmp_path: Path) -> None:
    for statement in range(1, 60, 4):
        url = f"sqlite:///{tmp_path / f'{statement}.db'}"
        process = forked.process(crash_child.live, url, "s-0", "", "open", statement)
        process.start()
        killed(process, url)
        await begun(url, 1)
        assert await situation(url) == 1


@pytest.mark.slow
async def test_killed_in_a_start(url: str, tmp_path: Path) -> None:
    await begun(url, session_id="other")
    before = rows(url)
    for statement in range(1, 100):
        process = forked.process(crash_child.live, url, "s-1", "", "start", statement)
        process.start()
        killed(process, url)
        if rows(url) != before:
            break
        async with crash_child.diary(url, "s-1") as diary:
            assert await diary.get_session_state() is None
    assert statement > 3
    assert await situation(url) == 0


@pytest.mark.slow
async def test_killed_in_a_rollback(url: str, tmp_path: Path) -> None:
    await begun(url, 5)
    for statement in range(1, 100):
        process = forked.process(crash_child.live, url, "s-1", "", "rollback", statement)
        process.start()
        killed(process, url)
        async with crash_child.diary(url, "s-1") as diary:
            if (await diary.versions())[-1].kind == "rollback":
                break
        assert await situation(url) == 5
    assert statement > 4
    async with crash_child.diary(url, "s-1") as diary:
        state = await diary.manager.restore()
        assert (state.version, state.current_pathway_id) == (6, "aside")
        assert state.accumulated_context == crash_child.foretold(1)["context"]
        assert (await diary.audit())[-1].kind == "rollback"


@pytest.mark.slow
async def test_killed_in_a_delete(url: str, tmp_path: Path) -> None:
    await begun(url, 4)
    for statement in range(1, 100):
        process = forked.process(crash_child.live, url, "s-1", "", "delete", statement)
        process.start()
        killed(process, url)
        if not any(rows(url).values()):
            break
        assert await situation(url) == 4
    assert statement > 4
    async with crash_child.diary(url, "s-1") as diary:
        with pytest.raises(SessionNotStartedError):
            await diary.process_message("hello")


@pytest.mark.slow
async def test_each_timer_is_taken_once_by_processes_that_are_killed(url: str) -> None:
    await timer_child.begin(url)
    # On SQLite, each process that is killed has the file to itself.
    others = [] if url.startswith("sqlite") else [None]
    for statement in (1, 3, 6, 9, 12, 16, 20):
        workers = [forked.process(timer_child.work, url, dies) for dies in [statement, *others]]
        for worker in workers:
            worker.start()
        killed(workers[0], "")
        for worker in workers[1:]:
            worker.kill()
            killed(worker, url)
    working = [forked.process(timer_child.work, url, None) for _ in range(1 + len(others))]
    for worker in working:
        worker.start()
    for worker in working:
        worker.join(100)
        assert worker.exitcode == 0

    assert await timer_child.reminders(url) == [1] * timer_child.SESSIONS
