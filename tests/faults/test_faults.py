"""Killed servers and a failing store under clients that send each lost request again."""

from __future__ import annotations

import asyncio
import random
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.faults import campaign
from tests.faults.campaign import CRASH, CUT, KILL, RESTART, ROTATE, STOP, UPGRADE, Campaign
from tests.faults.desk import DEADLY
from tests.support import postgres
from tests.support.post_office import found

pytestmark = [pytest.mark.slow, pytest.mark.real_time]
LEASE = 0.5


@pytest.fixture
def own_server() -> Iterator[postgres.Server]:
    server = postgres.Server()
    server.start()
    yield server
    server.end()


async def held(run: Campaign, **expected: int) -> None:
    """Run a campaign, and check that all faults happened while clients talked."""
    await run.run()
    assert {fault: run.counts[fault] for fault in expected} == expected
    assert run.counts["turns"] >= run.counts["faults"]
    assert run.counts["sent again"] > 0


async def test_a_killed_server_on_sqlite_answers_each_message_once(tmp_path: Path) -> None:
    faults = [KILL, KILL, ROTATE, KILL, KILL]
    await held(campaign.on_sqlite(tmp_path, faults), kill=4, rotate=1)


async def test_two_killed_servers_on_a_failing_postgres_answer_each_message_once(
    tmp_path: Path, own_server: postgres.Server
) -> None:
    faults = [KILL, CUT, KILL, RESTART, KILL, STOP, CRASH, KILL]
    random.shuffle(faults)
    run = campaign.on_postgres(own_server, tmp_path, faults, lease=LEASE)
    await held(run, kill=4, cut=1, restart=1, crash=1, stop=1)


async def test_two_releases_side_by_side_keep_each_session_in_its_version(
    tmp_path: Path, own_server: postgres.Server
) -> None:
    faults = [UPGRADE, KILL, ROTATE, CUT, UPGRADE, KILL]
    run = campaign.on_postgres(own_server, tmp_path, faults, lease=LEASE, messages=3)
    await held(run, upgrade=2, kill=2, cut=1, rotate=1)
    assert {talk.version for talk in run.talks} == {"1", "2"}
    assert run.counts["of another release"] > 0


async def test_a_storm_of_retries_under_one_key_is_one_turn(
    tmp_path: Path, own_server: postgres.Server
) -> None:
    run = campaign.on_postgres(own_server, tmp_path, [], lease=LEASE)
    async with run.served() as servers:
        talk = await run.begun(servers, DEADLY)
        place, body = f"/{talk.name}/messages", {"message": talk.said(1)}

        answers = await asyncio.gather(*(servers.post(place, body, "k") for _ in range(12)))

        assert servers.died(0, signal.SIGKILL) != servers.died(1, signal.SIGKILL)
        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.text for answer in answers}) == 1
        talk.answered = 1
    await run.check()


async def test_the_other_server_takes_the_turn_of_a_killed_one(
    tmp_path: Path, own_server: postgres.Server
) -> None:
    run = campaign.on_postgres(own_server, tmp_path, [], lease=LEASE)
    async with run.served() as servers:
        await run.begun(servers, DEADLY)
        talk = await run.begun(servers, DEADLY, tenant="acme")
        body, access = {"message": talk.said(1)}, run.access[talk.tenant]
        with pytest.raises(httpx2.HTTPError):
            await servers.ask(0, f"/{talk.name}/messages", body, access)
        await servers.end(0)
        state = f"FROM sessions WHERE session_id = '{talk.name}' ORDER BY tenant"
        both = [("acme", 1), ("default", 0)]
        while found(run.url, f"SELECT tenant, version {state}") != both:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        talk.answered = 1
    await run.check()
    assert servers.died(0, signal.SIGKILL)
    assert found(run.url, "SELECT count(*) FROM running_turns") == [(0,)]
    where = f"WHERE kind = 'taken_over' AND session_id = '{talk.name}'"
    taken = f"SELECT DISTINCT tenant FROM audit {where}"
    assert found(run.url, taken) == [("acme",)]
