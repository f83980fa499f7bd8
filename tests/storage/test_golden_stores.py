"""Stores that released versions wrote: each later release serves every session in them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import literal_column, select, update

from journeygraph import StateError
from journeygraph.graphs.storage.statements import Sql, Statement
from journeygraph.graphs.storage.tables import sessions
from tests.support import golden
from tests.support.api import Api, serving, wired
from tests.support.clocks import Clock
from tests.support.golden import LIFE, Agency, SecretTrip, Trip
from tests.support.post_office import back_at

ALL = Sql.of(select(sessions.c.session_id), all_tenants=True)
GIVE = Sql.of(update(sessions).values(user_id=literal_column("'ann'")), all_tenants=True)
KINDS = [(release, kind) for release in golden.releases() for kind in ("sqlite", "postgres")]


@pytest.fixture(params=KINDS, ids="-".join)
def url(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> str:
    """A store of a release, at the time of its last turn."""
    release, kind = request.param
    if kind == "sqlite":
        return back_at(golden.restored_file(release, tmp_path), clock)
    server = request.getfixturevalue("postgres_server")
    return back_at(golden.restored_database(release, server), clock)


@pytest.fixture
def agency() -> Agency:
    return Agency()


@pytest.fixture
async def api(url: str, agency: Agency) -> AsyncIterator[Api]:
    """A server of this release, with the journeys of the store."""
    app_state = wired(agency.serving(Trip), agency.serving(SecretTrip), url=url, **LIFE)
    app_state.given = golden.given()
    async with serving(app_state) as api:
        yield api


def at(name: str, journey: str = "trip") -> str:
    return f"/v1/sessions/{journey}-{name}"


async def read(api: Api, path: str, **query: Any) -> Any:
    answer = await api.client.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_every_session_can_be_read_with_its_history_and_its_audit(api: Api, url: str) -> None:
    listed = (await read(api, "/v1/sessions"))["sessions"]
    names = {*(f"trip-{name}" for name in golden.TALKS), "trip-confirming-fork"}
    names |= {f"secret_trip-{name}" for name in golden.SEALED} | {"claim-1", "claim-2"}
    if url.startswith("postgresql"):
        names |= {f"trip-{golden.RUNNING}", f"secret_trip-{golden.RUNNING}"}
    assert {row["session_id"] for row in listed} == names
    for row in listed:
        if row["session_id"].endswith(golden.RUNNING):
            continue  # the server takes its turn now
        session = f"/v1/sessions/{row['session_id']}"
        state = await read(api, session)
        assert state["version"] == row["version"]
        turns = (await read(api, f"{session}/audit"))["turns"]
        assert [turn["turn"]["version"] for turn in turns] == list(range(row["version"] + 1))
        assert (await read(api, f"{session}/versions/0"))["context"] in ({}, {"customer": "C-1"})
        history = (await read(api, f"{session}/history"))["entries"]
        assert [entry["content"] for entry in history if entry["role"] == "user"][:1] == ["hello"]


async def test_a_session_goes_on_and_back(api: Api, agency: Agency) -> None:
    for journey in ("trip", "secret_trip"):
        session = at("asked", journey)
        assert "3" in (await api.says(session, "3"))["message"]
        back = await api.client.post(f"{session}/rollback", json={"version": 1})
        assert back.status_code == 200
        assert (await api.says(session, "Oslo"))["accumulated_context"]["place"] == "Oslo"
        values = (await read(api, f"{session}/context", name="place"))["history"]
        assert [value["value"] for value in values] == ["Rome", None, "Oslo"]
    assert agency.reserved == []


async def test_a_paused_task_goes_on(api: Api) -> None:
    session = at("paused")
    assert (await read(api, session))["pathway_stack"] == ["book"]
    assert "How many guests?" in (await api.says(session, "500"))["message"]


async def test_a_waiting_agent_gets_its_answer(api: Api, agency: Agency) -> None:
    for journey in ("trip", "secret_trip"):
        session = at("waiting", journey)
        [asked] = (await read(api, session))["waiting"]
        assert asked["value"] == "Which card?"
        done = await api.client.post(f"{session}/resume", json={"value": "Visa"})
        assert done.json()["message"].endswith("Paid with Visa.")
        assert done.json()["is_journey_complete"]
    assert agency.reserved == []


@pytest.mark.parametrize("url", [kind for kind in KINDS if kind[1] == "postgres"], indirect=True)
async def test_a_turn_whose_process_died_goes_on(api: Api, agency: Agency) -> None:
    for journey in ("trip", "secret_trip"):
        body, key = {"message": "Visa"}, {"Idempotency-Key": "Visa"}
        session = at(golden.RUNNING, journey)
        reply = await api.client.post(f"{session}/messages", json=body, headers=key)
        assert reply.headers["idempotent-replay"] == "true"
        assert reply.json()["message"].endswith("Paid with Visa.")
    assert agency.reserved == []


async def test_an_effect_is_not_taken_again(api: Api, agency: Agency) -> None:
    done, confirming, fork = at("done"), at("confirming"), at("confirming-fork")
    assert (await read(api, done))["is_journey_complete"]
    await api.client.post(f"{done}/rollback", json={"version": 3})
    assert "Reserved." in (await api.says(done, "yes"))["message"]
    assert agency.reserved == []
    for session in (confirming, fork):
        for message in ("Rome", "2", "yes"):
            reply = await api.says(session, message)
        assert reply["metadata"]["waiting"]
    assert agency.reserved == ["Rome", "Rome"]


@pytest.mark.parametrize("journey", ["trip", "secret_trip"])
async def test_a_person_has_the_conversation_and_gives_it_back(api: Api, journey: str) -> None:
    calls = (await read(api, "/v1/escalations", journey_id=journey))["escalations"]
    by_session = {call["session_id"]: call for call in calls}
    claimed = by_session[f"{journey}-claimed"]
    assert (claimed["status"], claimed["claimed_by"]) == ("claimed", "ann")
    case = await read(api, f"/v1/escalations/{claimed['id']}")
    assert [said["content"] for said in case["since"]] == ["Ann here."]
    path = f"/v1/escalations/{claimed['id']}"
    said = await api.client.post(f"{path}/messages", json={"by": "ann", "message": "Go on."})
    released = await api.client.post(f"{path}/release", json={"by": "ann"})
    assert (said.status_code, released.status_code) == (200, 200)
    assert (await api.says(at("claimed", journey), "3"))["pathway_id"] == "book"


async def test_a_call_that_nobody_took_can_be_claimed(api: Api) -> None:
    calls = (await read(api, "/v1/escalations", status="open"))["escalations"]
    [call] = [call for call in calls if call["session_id"] == "trip-called"]
    claimed = await api.client.post(f"/v1/escalations/{call['id']}/claim", json={"by": "bob"})
    assert claimed.status_code == 200


async def test_stored_definitions_serve_the_sessions_of_both_versions(api: Api) -> None:
    journeys = (await read(api, "/v1/journeys"))["journeys"]
    [claim] = [one for one in journeys if one["journey_id"] == "claim"]
    replies = [await api.says(f"/v1/sessions/claim-{number}", "P-7") for number in (1, 2)]

    assert [reply["pathway_id"] for reply in replies] == ["assess", "review"]
    rows = (await read(api, "/v1/sessions", journey_id="claim"))["sessions"]
    assert {row["journey_version"] for row in rows} == set(claim["versions"])


async def test_a_sealed_session_is_refused_with_another_key(url: str, agency: Agency) -> None:
    config: dict[str, Any] = {**LIFE, "encryption_key": bytes(32)}
    app_state = wired(agency.serving(SecretTrip), url=url, **config)
    with pytest.raises((StateError, ValueError), match="key"):
        async with app_state.opened():
            pytest.fail("the server started")


def test_the_stores_of_a_release_have_both_plain_and_sealed_sessions(tmp_path: Path) -> None:
    for release in golden.releases():
        golden.restored_file(release, tmp_path)
        with sqlite3.connect(tmp_path / "golden.db") as connection:
            asked = (
                "SELECT count(*) FROM turns WHERE session_id LIKE ? AND reply LIKE '%Where to?%'"
            )
            (plain,) = connection.execute(asked, ["trip-%"]).fetchone()
            (sealed,) = connection.execute(asked, ["secret_trip-%"]).fetchone()
        connection.close()
        assert (plain > 0, sealed) == (True, 0)


async def test_every_session_can_be_exported_and_deleted(api: Api, url: str) -> None:
    store = api.app_state.directory.store
    listed = {row["session_id"] for row in await store.read(ALL)}
    await store.write(Statement(GIVE, [{}]))

    lines = (await api.client.get("/v1/users/ann/export")).text.splitlines()
    records = [json.loads(line) for line in lines]
    assert records[-1]["type"] == "end"
    assert {one["session_id"] for one in records if one["type"] == "session"} == listed
    assert {one["session_id"] for one in records if one["type"] == "state"} == listed
    assert not [line for line in lines if "aes256gcm:" in line]

    deleted = await api.client.delete("/v1/users/ann")
    assert deleted.json()["sessions"] == len(listed)
    assert await store.read(ALL) == []
