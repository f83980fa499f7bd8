"""Many sessions on one graph, and many processes on one file: nothing foreign, nothing lost."""

from __future__ import annotations

import asyncio
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from journeygraph import JourneyConfig
from tests.support import crash_child, forked, process_child
from tests.support.crash_child import Diary
from tests.support.post_office import found

SESSIONS = 40


def token(number: int) -> str:
    return f"token{number:03d}x"


async def speak(journey: Diary, name: str) -> None:
    """A whole conversation, with detours, a failure and a rollback, all in one's own words."""
    await journey.start({"mine": name})
    for text in (f"{name} one", f"by the way {name}", f"boom {name}", f"then {name}"):
        await journey.process_message(text)
    async for _ in journey.stream_message(f"{name} streamed"):
        pass
    await journey.rollback(3)
    await journey.process_message(f"{name} last")


async def listener(payload: dict[str, Any]) -> dict[str, Any]:
    await asyncio.sleep(random.uniform(0, 0.01))
    return {"response": ""}


async def writer(payload: dict[str, Any]) -> dict[str, Any]:
    """Give back all that it was given, so that whatever is foreign would show."""
    await asyncio.sleep(random.uniform(0, 0.01))
    if "boom" in payload["message"]:
        raise RuntimeError(payload["message"])
    seen = json.dumps([payload["context"].get("mine"), payload["history"][-2:]])
    return {"response": f"{payload['message']} {seen}", "heard": payload["message"], "count": 1}


async def compiled(diary: Diary) -> int:
    """Return what is the same for all sessions that share the nodes of one graph."""
    return id((await diary.manager._session()).graph.nodes)


async def test_stores_share_a_graph_and_no_session(tmp_path: Path) -> None:
    urls = ["memory://one", "memory://two", f"sqlite:///{tmp_path / 'three.db'}"]
    agents = {"listener": listener, "writer": writer}
    diaries = [Diary("s-1", JourneyConfig(persistence=url), agents=agents) for url in urls]
    for number, diary in enumerate(diaries):
        await diary.start()
        for turn in range(number + 1):
            await diary.process_message(f"{number} {turn}")

    assert len({await compiled(diary) for diary in diaries}) == 1
    for number, diary in enumerate(diaries):
        messages = [row.message for row in (await diary.versions())[1:]]
        assert messages == [f"{number} {turn}" for turn in range(number + 1)]
        await diary.close()


@pytest.mark.slow
async def test_many_sessions_at_once_hold_nothing_foreign(store_url: str) -> None:
    config = JourneyConfig(persistence=store_url)
    agents = {"listener": listener, "writer": writer}
    number_of = SESSIONS if store_url.startswith("memory") else SESSIONS // 4
    diaries = [Diary(f"s-{n}", config, agents=agents) for n in range(number_of)]

    await asyncio.gather(*(speak(diary, token(n)) for n, diary in enumerate(diaries)))

    assert len({await compiled(diary) for diary in diaries}) == 1
    for number, diary in enumerate(diaries):
        told: list[Any] = [
            await diary.get_session_state(),
            await diary.versions(),
            await diary.audit(),
            await diary.transcript(),
            await diary.context_history("heard"),
        ]
        text = repr(told)
        assert len(re.findall(r"token\d", text)) == text.count(token(number)) > 40
        assert [row.version for row in told[1]] == list(range(8))
        assert told[0].accumulated_context["heard"] == [
            f"{token(number)} one",
            f"by the way {token(number)}",
            f"{token(number)} last",
        ]
        assert told[0].current_pathway_id == "tell"
    assert sorted(await diaries[0].list()) == sorted(diary.session_id for diary in diaries)
    for diary in diaries:
        await diary.close()


def test_processes_on_one_new_database_at_once_lose_nothing(kept_url: str, tmp_path: Path) -> None:
    """Three processes begin one session, and talk in it and in one of their own.

    On SQLite they make the file first, and a turn may be refused; on Postgres they wait in turn.
    """
    url = kept_url
    logs = [tmp_path / f"log-{number}" for number in range(3)]
    gate = forked.event()
    processes = [forked.process(process_child.live, url, str(log), gate) for log in logs]
    for process in processes:
        process.start()
    gate.set()
    for process in processes:
        process.join(100)
        assert process.exitcode == 0

    told = [json.loads(log.read_text()) for log in logs]
    assert sum(item["began"] for item in told) == 1
    assert all(item["retryable"] for item in told)
    counted = [text for item in told for text in item["counted"]]
    if url.startswith("postgresql"):
        assert len(counted) == 3 * process_child.ROUNDS
    turns = "FROM turns WHERE session_id ="
    kept = [
        row[0]
        for row in found(url, f"SELECT message {turns} 'shared' AND version > 0 ORDER BY version")
    ]
    assert sorted(kept) == sorted(counted)
    for item in told:
        mine = [text for text in kept if text.startswith(item["name"])]
        assert mine == item["counted"]
        assert found(url, f"SELECT count(*) {turns} '{item['name']}'") == [(11,)]
    heads = found(url, "SELECT version FROM sessions WHERE session_id = 'shared'")
    assert heads == [(len(kept),)]
    context_now = asyncio.run(shared_context(url))
    assert context_now["heard"] == kept


async def shared_context(url: str) -> dict[str, Any]:
    async with crash_child.diary(url, "shared") as diary:
        return await diary.snapshot()
