"""Killed servers and a failing store under clients that send each lost request again."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults import campaign
from tests.faults.campaign import CRASH, CUT, KILL, RESTART, STOP, UPGRADE, Campaign
from tests.support import postgres

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
    faults = [KILL, KILL, STOP, KILL, KILL]
    await held(campaign.on_sqlite(tmp_path, faults), kill=4, stop=1)


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
    faults = [UPGRADE, KILL, KILL, CUT, CUT, UPGRADE, KILL]
    run = campaign.on_postgres(own_server, tmp_path, faults, lease=LEASE, messages=3)
    await held(run, upgrade=2, kill=3, cut=2)
    assert {talk.version for talk in run.talks} == {"1", "2"}
    assert run.counts["of another release"] > 0
