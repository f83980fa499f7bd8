"""A server says what keeps it from serving, in /readyz and when it starts."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from journeygraph import JourneyConfig
from journeygraph.graphs.records.definitions import Definitions
from journeygraph.graphs.storage import connections
from journeygraph.graphs.storage.migrations.migrate import HEAD
from journeygraph.server.definitions.stored_journeys import Providers
from journeygraph.server.http import readiness
from tests.support import api as helpers
from tests.support import command
from tests.support.api import Api, one, serving, wired
from tests.support.command import served
from tests.support.postgres import connected
from tests.support.solo import Solo, function
from tests.support.stored_claims import HOURS, draft, work

serve, api, folder = helpers.serve, helpers.api, command.folder


@pytest.fixture(autouse=True)
def _look_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "AGAIN_SECONDS", 0.0)


class Secret(Solo):
    """Keep a secret."""

    __sensitive__ = True


def change(url: str, *statements: str) -> None:
    """Change a database behind the back of its server."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as file, file:
            for statement in statements:
                file.execute(statement)
        return
    with connected(url) as connection:
        for statement in statements:
            connection.execute(statement)


async def faults(api: Api) -> dict[str, str]:
    """Return where a server that is not ready has faults, each with its sentence."""
    answer = await api.client.get("/readyz")
    assert answer.status_code == 503, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert int(answer.headers["retry-after"]) >= 1
    told = answer.json()
    assert told["code"] == "not_ready"
    return {fault["text"].partition(":")[0]: fault["text"] for fault in told["faults"]}


async def is_ready(api: Api) -> bool:
    return (await api.client.get("/readyz")).status_code == 200


async def test_a_file_that_was_removed_or_replaced_is_found_out(
    serve: Callable[..., Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "a name with %20 and #.db"
    api = await serve(url=f"sqlite:///{file}")
    await api.begin()
    assert await is_ready(api)

    away = file.rename(tmp_path / "away.db")
    removed = await faults(api)
    change(f"sqlite:///{file}", "CREATE TABLE another (id)")
    replaced = await faults(api)
    file.unlink()
    away.rename(file)

    assert "removed or replaced" in removed["store"]
    assert removed == replaced
    assert caplog.text.count("event=not_ready") == 1  # said once
    assert await is_ready(api)


FULL = {
    "sqlite": (
        "CREATE TRIGGER full BEFORE INSERT ON probes BEGIN SELECT RAISE(ABORT, 'tulip'); END",
    ),
    "postgresql": (
        "CREATE FUNCTION tulip() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'tulip' USING ERRCODE = '53100'; END $$",
        'CREATE TRIGGER "full" BEFORE INSERT ON probes FOR EACH ROW EXECUTE FUNCTION tulip()',
    ),
}


async def test_a_store_that_takes_no_writes_is_not_ready(
    serve: Callable[..., Any],
    kept_url: str,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "FULL", 0.0)
    kind = kept_url.partition(":")[0]
    api = await serve(url=kept_url)
    assert await is_ready(api)

    change(kept_url, *FULL[kind])
    found = await faults(api)
    change(kept_url, 'DROP TRIGGER "full"' + (" ON probes" if kind == "postgresql" else ""))

    assert "takes no writes" in found["store"]
    assert "tulip" not in str(found)
    assert "tulip" in caplog.text
    assert await is_ready(api)


async def test_a_disk_that_is_full_for_turns_is_not_ready(
    serve: Callable[..., Any], postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = await serve(url=postgres_url)
    session = await api.begin()
    function, trigger = FULL["postgresql"]
    change(postgres_url, function, trigger.replace("probes", "turns"))
    assert await is_ready(api)

    refused = await api.client.post(f"{session}/messages", json={"message": "hello"})
    found = await faults(api)
    change(postgres_url, 'DROP TRIGGER "full" ON turns')
    monkeypatch.setattr(connections, "FULL", 0.0)

    assert (refused.status_code, refused.json()["code"]) == (503, "try_again")
    assert "takes no writes" in found["store"]
    assert await is_ready(api)
    assert (await api.says(session, "hello"))["metadata"]["version"] == 1


@pytest.mark.parametrize("version", ["9999", "0001"])
async def test_another_schema_is_not_ready(
    serve: Callable[..., Any], kept_url: str, version: str
) -> None:
    api = await serve(url=kept_url)

    def migrated(version: str) -> None:
        change(kept_url, f"UPDATE journeygraph_version SET version_num = '{version}'")
        change(kept_url, f"UPDATE journeygraph_range SET oldest = '{version}'")

    migrated(version)
    found = await faults(api)
    migrated(HEAD)

    assert f"the version {version}" in found["store"]
    assert "journeygraph migrate" in found["store"]
    assert await is_ready(api)


async def test_a_key_that_does_not_open_what_is_stored_is_not_ready(
    serve: Callable[..., Any], kept_url: str
) -> None:
    secret, keys = one(Secret, clerk=function), [bytes(range(32)), bytes(32)]
    right, wrong = [await serve(secret, url=kept_url, encryption_key=key) for key in keys]
    assert await is_ready(right)
    assert await is_ready(wrong)
    await right.says(await right.begin("secret"), "hello")

    found = await faults(wrong)

    assert "sessions of the journey 'secret' need the encryption key" in found["encryption_key"]
    assert "JOURNEYGRAPH_ENCRYPTION_KEY" in found["encryption_key"]
    assert await is_ready(right)
    await right.client.delete("/v1/sessions/s-1")
    assert await is_ready(wrong)


async def test_a_definition_that_was_refused_at_the_start_is_waited_for(kept_url: str) -> None:
    config = JourneyConfig(persistence=kept_url)
    parts = work()
    app_state = wired(url=kept_url)
    app_state.given = Providers(parts["AGENTS"], parts["TOOLS"])
    elsewhere = await Definitions.open(config)
    good, faulty = (draft("hours.yaml", HOURS + more) for more in ("", "colour: red\n"))
    await elsewhere.load([faulty])
    async with serving(app_state) as api:
        found = await faults(api)
        await elsewhere.load([good])
        assert await is_ready(api)
        assert "hours" in api.app_state.journeys
        await elsewhere.load([faulty])  # the earlier one is still served
        assert await is_ready(api)
    await elsewhere.close()

    assert list(found) == ["hours"]
    assert "refused" in found["hours"]


async def test_many_probes_write_once(
    serve: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = await serve(url=f"sqlite:///{tmp_path / 'post.db'}")
    written: list[str] = []
    api.app_state.directory.store.saver.conn.set_trace_callback(written.append)
    monkeypatch.setattr(readiness, "AGAIN_SECONDS", 1e9)

    assert await is_ready(api)
    assert all([await is_ready(api) for _ in range(20)])

    probes = [statement for statement in written if "INTO probes" in statement]
    assert len(probes) == 1
    assert "default" in probes[0]


def test_what_keeps_it_from_serving_is_said_at_the_start(folder: Path) -> None:
    store = f"sqlite:///{folder / 'post.db'}"
    with served(folder, "parcel_refund", "--store", store):
        pass
    change(store, *FULL["sqlite"])

    with served(folder, "parcel_refund", "--store", store) as (_, _, lines):
        assert "Not ready: store: it takes no writes." in "".join(lines)
