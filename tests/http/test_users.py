"""The data of a user: all of it is exported, and nothing of it is left after its deletion."""

from __future__ import annotations

import asyncio
import itertools
import json
import sqlite3
import tracemalloc
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from redis.asyncio import Redis
from sqlalchemy import literal_column, select, update

from journeygraph import (
    Effect,
    Escalation,
    Field,
    Journey,
    JourneyConfig,
    Pathway,
    Reminder,
    Silence,
    Transition,
    Validation,
)
from journeygraph.graphs.records.history import CHECKS
from journeygraph.graphs.records.idempotency import ANSWERS
from journeygraph.graphs.session.directory import Directory
from journeygraph.graphs.storage import store as stores
from journeygraph.graphs.storage.sealing import Seal
from journeygraph.graphs.storage.statements import (
    RUNNING,
    SESSION,
    TURNS,
    Sql,
    Statement,
)
from journeygraph.graphs.storage.tables import metadata, sessions
from journeygraph.graphs.users.deletion import PASSES, DeletionUnfinishedError
from journeygraph.server.access.keys import KeyRequest
from journeygraph.server.cache import open_cache
from journeygraph.server.cache.redis import RedisCache
from journeygraph.server.discover.journeys import Served
from journeygraph.server.http.auth import Keys
from tests.http.test_http_access import with_key
from tests.http.test_http_streams import opened
from tests.http.test_http_turns import Gate, until
from tests.storage.test_encryption import everything as in_files
from tests.storage.test_encryption import spellings
from tests.support import api as helpers
from tests.support import command, forked
from tests.support.api import Api, one, serving, wired
from tests.support.clerks import said
from tests.support.command import flat
from tests.support.post_office import database
from tests.support.post_office import opened as opened_parcel
from tests.support.postgres import connected
from tests.support.proxy import Proxy
from tests.support.redis import RedisServer
from tests.support.solo import Solo
from tests.support.user_child import delete_and_die

serve, api = helpers.serve, helpers.api
folder, logging_as_before = command.folder, command.logging_as_before
Serve = Callable[..., Any]
CANARY = "kanarienvogel4711"
ANN = "ann4711"
KEY = bytes(range(32))
OVER = Sql.of(
    update(sessions)
    .where(SESSION)
    .values(expires_at=literal_column("'2000-01-01T00:00:00.000000+00:00'"))
)
GIVE = Sql.of(update(sessions).values(user_id=literal_column("'ann'")), all_tenants=True)
WITHOUT_WORDS = {"timers"}
KINDS = {
    *("turn", "audit", "check", "field_attempt", "effect", "answer", "timer", "running_turn"),
    "escalation",
}
KEY_OF_SETTINGS = "a-key-of-the-settings"
WRAPPED = Sql.of(select(sessions.c.data_key).where(SESSION))
DAMAGE = Sql.of(update(sessions).where(SESSION).values(data_key=literal_column("'x'")))
OWNED = {table.name for table in metadata.tables.values() if table.foreign_keys}


class Parlour(Journey):
    """Take an order."""

    __escalation__ = Escalation()
    __silence__ = Silence(reminders=[Reminder("20 hours")])
    __validation__ = Validation()

    class OrderPath(Pathway):
        __fields__ = [
            Field("dish", "text", ask="Which dish?"),
            Field("guests", "integer", ask="How many guests?", confirm=True),
        ]
        __effects__ = [Effect("book", save="booked", done="Booked: {booked}.")]
        __agents__ = ["clerk"]

    class AsidePath(Pathway):
        __agents__ = ["clerk"]

    __transitions__ = [Transition(said("aside"), to_pathway="aside")]


class SecretParlour(Parlour):
    """Take an order in secret."""

    __sensitive__ = True


def book(dish: str) -> str:
    """Book a table.

    Args:
        dish: The dish.
    """
    return f"{dish} on a plate"


def clerk(payload: dict[str, Any]) -> dict[str, Any]:
    return {"response": f"I have {payload['message']}, and ann@example.org has it too."}


PARLOURS = [Served(one, {"clerk": clerk}, {"book": book}) for one in (Parlour, SecretParlour)]


def everything(url: str) -> dict[str, str]:
    """Return the text of every table of a store; bytes are in hexadecimal."""
    if url.startswith("postgresql"):
        with connected(url) as server:
            names = server.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
            ).fetchall()
            return {
                name: "\n".join(
                    text for (text,) in server.execute(f"SELECT t::text FROM {name} AS t")
                )
                for (name,) in names
            }
    found: dict[str, str] = {}
    with closing(sqlite3.connect(stores._place(url), uri=True)) as file:
        for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'"):
            rows = file.execute(f"SELECT * FROM {name}").fetchall()
            found[name] = "\n".join(
                cell.hex() if isinstance(cell, bytes) else str(cell) for row in rows for cell in row
            )
    return found


def holding(url: str, word: str = CANARY) -> set[str]:
    """Return the tables in which a word stands, as it is or in hexadecimal."""
    forms = (word, word.encode().hex())
    return {name for name, text in everything(url).items() if any(one in text for one in forms)}


@pytest.fixture
async def redis(redis_server: RedisServer) -> AsyncIterator[Any]:
    client = Redis.from_url(redis_server.url)
    yield client
    await client.aclose()


@pytest.fixture
async def parlour(store_url: str, redis_server: RedisServer) -> AsyncIterator[Api]:
    """A server with a cache in Redis, on every store, for clients with keys of the store."""
    app_state = wired(*PARLOURS, keys=Keys(uses_stored=True), url=store_url, encryption_key=KEY)
    app_state.cache = RedisCache(redis_server.url, budget=60)
    async with serving(app_state) as api:
        api.client.headers.update(
            with_key((await keys_of(api).create(KeyRequest(("admin",)))).secret)
        )
        yield api


def keys_of(api: Api) -> Any:
    stored = api.app_state.keys.stored
    assert stored is not None
    return stored


async def talked(api: Api, session_id: str, user: str, journey: str = "parlour") -> None:
    """Talk until the tables have words of it, each with the name of the user."""
    word = f"{CANARY}{user}"
    context = {"name": word * 500}  # so large that it is stored apart from the checkpoint
    session = await api.begin(journey, session_id, user=user, context=context)
    for message in ("hello", word, "3", "yes", f"aside {word}", "a person, please"):
        await api.says(session, message)
    rolled_back = await api.client.post(f"{session}/rollback", json={"version": 1})
    assert rolled_back.status_code == 200, rolled_back.text
    told = await api.hears(session, f"aside {word}")
    assert told[-1][0] == "done"


async def plant(api: Api, session_id: str, user: str) -> None:
    """Write a word where only a crash, a model or another saver would have left one."""
    word = f"{CANARY}{user}"
    store, seal = api.app_state.directory.store, Seal()
    mine = {"session_id": session_id, "at": "2026-01-01", "journey_id": "parlour", "turn": 1}
    check = {"pathway_id": "order", "is_valid": False, "violations": [word], "latency_ms": 1.0}
    check |= {"outcome": "sent", "bypassed": False, "review": True}
    answer = {"key": "0" * 64, "digest": "0" * 64, "version": 1, "answer": {"reply": word}}
    died = {"fence": 0, "version": 1, "asked": "x", "message": {"message": word}, "tries": 0}
    await store.write(
        CHECKS.adding([{**mine, **check}], seal),
        ANSWERS.adding([{**mine, **answer}], seal),
        RUNNING.adding([{**mine, **died}], seal),
    )
    place = {"thread_id": session_id, "checkpoint_ns": "", "checkpoint_id": "1"}
    await store.saver.aput_writes({"configurable": place}, [("messages", word)], "t-1")


async def nowhere(session_id: str) -> None:
    """Erase no copy: there is none outside the store."""


async def exported(api: Api, user: str) -> list[dict[str, Any]]:
    answer = await api.client.get(f"{path_of(user)}/export")
    assert answer.status_code == 200, answer.text
    return [json.loads(line) for line in answer.text.split("\n") if line]


def path_of(user: str) -> str:
    return f"/v1/users/{quote(user, safe='')}"


async def test_nothing_of_a_user_is_left_anywhere(parlour: Api, store_url: str, redis: Any) -> None:
    api, word = parlour, f"{CANARY}{ANN}"
    for session_id, user in (("s-1", ANN), ("s-2", ANN), ("s-3", "bob")):
        await talked(api, session_id, user)
    await talked(api, "s-4", ANN, "secret_parlour")
    fork = await api.client.post("/v1/sessions/s-1/fork", json={"version": 1, "session_id": "s-5"})
    assert fork.status_code == 201, fork.text
    token = (await api.client.post("/v1/tokens", json={"user": ANN})).json()["token"]
    await keys_of(api).create(KeyRequest(("talk",), name=word, user=ANN))
    await plant(api, "s-1", ANN)
    store = api.app_state.directory.store
    await store.write(Statement(OVER, [{"session": "s-2"}]))
    await api.app_state.contexts.written()
    cached = await redis.keys("jg:default:context:s-*")
    assert b"jg:default:context:s-1" in cached
    on_postgres = store_url.startswith("postgresql")
    words = {"checkpoint_blobs", "api_keys"}
    words |= {"checkpoint_writes"} if on_postgres else {"checkpoints", "writes"}
    assert holding(store_url, word) == (OWNED - WITHOUT_WORDS) | words
    bobs = holding(store_url, f"{CANARY}bob")
    [[wrapped]] = [list(row.values()) for row in await store.read(WRAPPED, session="s-4")]
    turn = (await api.client.get("/v1/sessions/s-1")).json()["version"]
    assert api.app_state.turns.log_of("s-1", turn) is not None
    before = await exported(api, "bob")
    rows = sum(one["type"] in KINDS - {"running_turn"} for one in await exported(api, ANN))

    async with opened(api, "/v1/sessions/s-1/events") as stream:
        deleted = (await api.client.delete(path_of(ANN))).json()
        assert (await stream.rest())[-1][0] == "deleted"

    assert deleted == {"sessions": 4, "rows": rows, "keys": 2}
    assert holding(store_url, word) == set()
    assert holding(store_url, ANN) == set()
    assert holding(store_url, wrapped) == set()
    for session_id in ("s-1", "s-2", "s-4", "s-5"):
        assert holding(store_url, session_id) == set()
    assert not [key for key in await redis.keys("jg:*") if key.endswith(b":s-1")]
    assert api.app_state.turns.log_of("s-1", turn) is None
    if store_url.startswith("sqlite"):
        files = in_files(store_url)
        assert not [form for form in spellings(word) if form in files]
        assert f"{CANARY}bob".encode() in files
    assert holding(store_url, f"{CANARY}bob") == bobs
    assert (await exported(api, "bob"))[1:] == before[1:]
    assert await keys_of(api).find(token) is None


async def test_an_export_has_all_that_is_stored(parlour: Api, store_url: str) -> None:
    api = parlour
    await talked(api, "s-1", "ann")
    await talked(api, "s-2", "ann", "secret_parlour")
    await talked(api, "s-3", "bob")
    await api.begin("parlour", "s-4")
    made = await keys_of(api).create(KeyRequest(("talk",), name="phone", user="ann"))
    await plant(api, "s-1", "ann")

    records = await exported(api, "ann")

    kinds = [record["type"] for record in records]
    assert (kinds[0], kinds[-1]) == ("export", "end")
    assert (records[-1]["sessions"], records[-1]["records"]) == (2, len(records) - 2)
    assert set(kinds) == {"export", "session", "state", "key", "end"} | KINDS
    text = json.dumps(records)
    assert f"{CANARY}bob" not in text
    assert made.secret not in text
    assert made.key.digest not in text
    for session_id in ("s-1", "s-2"):
        mine = [record for record in records if record.get("session_id") == session_id]
        found = {record["type"] for record in mine if f"{CANARY}ann" in json.dumps(record)}
        assert found >= {"state", "turn", "audit", "field_attempt", "effect", "escalation"}
        turns = [record for record in mine if record["type"] == "turn"]
        assert [record["version"] for record in turns] == list(range(9))
        assert turns[2]["message"] == f"{CANARY}ann"
        [state] = [record for record in mine if record["type"] == "state"]
        assert state["values"]["context"]["name"].startswith(f"{CANARY}ann")
    [key] = [record for record in records if record["type"] == "key"]
    assert (key["id"], key["name"]) == (made.key.id, "phone")
    plain = (await api.client.get("/v1/users/ann/export")).text
    assert [json.loads(line) for line in plain.split("\n")[:-1]][1:] == records[1:]


async def test_a_long_session_is_exported_in_its_order(serve: Serve) -> None:
    def long(payload: dict[str, Any]) -> str:
        return f"{payload['message']} " + "ä" * 60_000

    api: Api = await serve(one(Solo, clerk=long))
    session = await api.begin("solo", user="ann")
    for number in range(25):
        await api.says(session, f"message {number}")

    records = await exported(api, "ann")

    turns = [record for record in records if record["type"] == "turn"]
    assert [record["message"] for record in turns[1:]] == [f"message {n}" for n in range(25)]
    assert sum(len(record["reply"]) for record in turns) > 25 * 60_000


@pytest.mark.slow
async def test_an_export_needs_no_more_memory_for_more_data(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'journeys.db'}"
    async with opened_parcel(url) as parcel:
        await parcel.manager.start_session(user="ann")
    directory = await Directory.open(JourneyConfig(persistence=url))
    [begun] = await directory.store.read(TURNS.all, session="s-1")
    for number in range(1, 301):
        turn = {**begun, "version": number, "reply": f"{number}".zfill(100_000)}
        await directory.store.write(Statement(TURNS.add, [turn]))
    records = await directory.export_user("ann")
    assert records is not None
    read = 0
    tracemalloc.start()
    try:
        async for record in records:
            read += len(record.get("reply", ""))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        await directory.close()
    assert read == 300 * 100_000
    assert peak < read / 4


class SecretSolo(Solo):
    """One pathway, one agent, in secret."""

    __sensitive__ = True


@pytest.mark.parametrize("journey", [Solo, SecretSolo])
async def test_a_running_turn_is_waited_for(
    serve: Serve, store_url: str, journey: type[Journey]
) -> None:
    gate = Gate()
    api: Api = await serve(one(journey, clerk=gate), url=store_url, encryption_key=KEY)
    session = await api.begin(next(iter(api.app_state.journeys)), user="ann")
    turn = asyncio.create_task(api.says(session, CANARY))
    await gate.begun.wait()

    deletion = asyncio.create_task(api.client.delete("/v1/users/ann"))
    await until(began(api, session))
    assert not deletion.done()
    gate.let.set()

    assert (await turn)["message"] == "Hold on."
    assert (await deletion).json()["sessions"] == 1
    assert holding(store_url) == set()


def began(api: Api, session: str) -> Callable[[], Any]:
    """Return whether a deletion has begun: it waits for the turn of the session."""

    async def begun() -> Any:
        store, id_ = api.app_state.directory.store, session.rpartition("/")[2]
        keyed = store.with_keys(api.app_state.directory.seals.keys)
        return max(one.lock(id_).waiting for one in (store, keyed))

    return begun


@pytest.mark.parametrize("ended", ["between sessions", "at the file"])
async def test_a_deletion_that_was_stopped_is_continued(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ended: str
) -> None:
    monkeypatch.setattr(stores, "_BUSY_SECONDS", 0.05)
    url = f"sqlite:///{tmp_path / 'journeys.db'}"
    api: Api = await serve(url=url)
    for number in range(3):
        context = {"customer": CANARY * 500}
        await api.begin(session_id=f"s-{number}", user="ann", context=context)
    directory = api.app_state.directory
    if ended == "between sessions":

        def stopped(session_id: str) -> None:
            raise asyncio.CancelledError

        with pytest.raises(asyncio.CancelledError):
            await directory.delete_user("ann", nowhere, stopped)
        assert await directory.sessions_of("ann") == 2
    else:
        with database(url) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM sessions").fetchall()
            refused = await api.client.delete("/v1/users/ann")
        assert (refused.status_code, refused.json()["code"]) == (503, "deletion_unfinished")
        assert refused.headers["retry-after"] == "1"
        assert await directory.sessions_of("ann") == 0

    continued = await api.client.delete("/v1/users/ann")

    assert continued.status_code == (200 if ended == "between sessions" else 404)
    assert await directory.sessions_of("ann") == 0
    assert CANARY.encode() not in in_files(url)
    again = await api.client.delete("/v1/users/ann")
    assert (again.status_code, again.json()["code"]) == (404, "user_not_found")


async def test_a_deletion_ends_although_a_client_begins_sessions(api: Api) -> None:
    directory, numbers = api.app_state.directory, itertools.count()
    there = [f"s-{number}" for number in range(3)]
    gone: list[str] = []
    for session_id in there:
        await api.begin(session_id=session_id, user="ann")

    async def begins(session_id: str) -> None:
        await api.begin(session_id=f"t-{next(numbers)}", user="ann")

    with pytest.raises(DeletionUnfinishedError, match="continues to begin sessions"):
        await directory.delete_user("ann", begins, gone.append)
    assert (gone[:3], len(gone)) == (there, 3 * PASSES)

    deleted = (await api.client.delete("/v1/users/ann")).json()
    assert deleted["sessions"] == 3
    assert await directory.sessions_of("ann") == 0


async def test_deletions_at_the_same_time_count_each_session_once(
    serve: Serve, store_url: str
) -> None:
    apis = [await serve(url=store_url) for _ in range(2)]
    for number in range(6):
        await apis[0].begin(session_id=f"s-{number}", user=ANN)

    async def deleted(api: Api) -> int:
        answer = await api.client.delete(path_of(ANN))
        assert answer.is_success or answer.json()["code"] == "user_not_found"
        return int(answer.json().get("sessions", 0))

    begun = apis[1].begin(session_id="s-6", user=ANN)
    *counts, _ = await asyncio.gather(*map(deleted, apis * 2), begun)
    counts.append(await deleted(apis[0]))

    assert await apis[0].app_state.directory.sessions_of(ANN) == 0
    assert sum(counts) == 7


@pytest.mark.slow
def test_killed_before_each_statement_of_a_deletion(kept_url: str) -> None:
    """Each process continues what the one before has begun, and gets one statement further."""

    async def begun() -> None:
        for number in range(4):
            async with opened_parcel(kept_url, f"s-{number}") as parcel:
                await parcel.manager.start_session({"name": CANARY}, user=ANN)

    async def left() -> int:
        directory = await Directory.open(JourneyConfig(persistence=kept_url))
        found = await directory.sessions_of(ANN)
        await directory.close()
        return found

    asyncio.run(begun())
    statement, survived, lefts = 0, False, [4]
    while not survived:
        statement += 1
        process = forked.process(delete_and_die, kept_url, ANN, statement)
        process.start()
        process.join(100)
        survived = process.exitcode == 0
        lefts.append(asyncio.run(left()))
    assert lefts == sorted(lefts, reverse=True)
    assert len({*lefts}) > 2
    assert lefts[-1] == 0
    assert holding(kept_url, CANARY) == holding(kept_url, ANN) == set()
    if kept_url.startswith("sqlite"):
        assert CANARY.encode() not in in_files(kept_url)


async def test_what_cannot_be_decrypted_is_refused_and_deleted_all_the_same(
    serve: Serve, memory_url: str
) -> None:
    keyed: Api = await serve(*PARLOURS, url=memory_url, encryption_key=KEY)
    await keyed.begin("secret_parlour", "s-1", user="ann")
    api: Api = await serve(PARLOURS[0], url=memory_url)

    refused = await api.client.get("/v1/users/ann/export")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_readable")
    assert "JOURNEYGRAPH_ENCRYPTION_KEY" in refused.json()["detail"]

    assert (await api.client.delete("/v1/users/ann")).json()["sessions"] == 1


async def test_an_export_that_fails_late_ends_with_a_problem(serve: Serve, memory_url: str) -> None:
    api: Api = await serve(*PARLOURS, url=memory_url, encryption_key=KEY)
    await api.begin("parlour", "s-1", user="ann", context={"name": "x" * 100_000})
    await api.begin("secret_parlour", "s-2", user="ann")
    await api.app_state.directory.store.write(Statement(DAMAGE, [{"session": "s-2"}]))

    *records, last = await exported(api, "ann")

    assert (last["type"], last["problem"]["code"]) == ("error", "not_readable")
    assert [record["type"] for record in records if record["type"] != "timer"] == [
        *("export", "session", "state", "turn", "session")
    ]


@pytest.mark.parametrize("user", ["nobody", "x" * 201, "a%00b", "a/b", "ann/export"])
async def test_a_user_of_whom_nothing_is_stored_is_not_there(api: Api, user: str) -> None:
    await api.begin(user="ann")

    for answer in (
        await api.client.get(f"/v1/users/{user}/export"),
        await api.client.delete(f"/v1/users/{user}"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "user_not_found")


async def test_the_id_of_a_user_may_be_an_address(api: Api) -> None:
    user = "https://login.example/users/1"
    async with api.app_state.session(api.app_state.journeys["parcel"], "s-1") as session:
        await session.start_session(user=user)

    assert (await exported(api, user))[-1]["type"] == "end"
    assert (await api.client.delete(path_of(user))).json()["sessions"] == 1
    assert (await api.client.delete(path_of(user))).json()["code"] == "user_not_found"


async def test_a_session_stays_until_the_cache_has_deleted_its_copy(
    memory_url: str, redis: Any, redis_network: Proxy
) -> None:
    app_state = wired(*PARLOURS, url=memory_url, encryption_key=KEY)
    app_state.cache = open_cache(redis_network.url)
    redis_network.refuses = True
    async with serving(app_state) as api:
        session = await api.begin("parlour", "s-cached", user=ANN)
        await api.says(session, "hello")
        await redis.set("jg:default:context:s-cached", "x")
        refused = await api.client.delete(f"/v1/users/{ANN}")
        assert (refused.status_code, refused.json()["code"]) == (503, "deletion_unfinished")
        assert "could not be cleared: ConnectionError" in refused.json()["detail"]
        assert (await api.client.get(session)).status_code == 200

        redis_network.refuses = False
        done = await api.client.delete(f"/v1/users/{ANN}")
        assert (done.status_code, done.json()["sessions"]) == (200, 1)
        assert not await redis.exists("jg:default:context:s-cached")


async def test_the_commands_do_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch, redis: Any, redis_server: RedisServer
) -> None:
    at = f"sqlite:///{folder / 'journeys.db'}"
    monkeypatch.setenv("JOURNEYGRAPH_REDIS_URL", redis_server.url)
    for tenant in ("default", "acme"):
        await redis.set(f"jg:{tenant}:context:s-1", "x")
        async with opened_parcel(at, tenant=tenant) as parcel:
            await parcel.manager.start_session(user="ann")
    monkeypatch.setenv("JOURNEYGRAPH_TENANT", "acme")

    async def run(*words: str, code: int = 0) -> Any:
        return await asyncio.to_thread(lambda: command.run(*words, code=code))

    lines = (await run("users", "export", "ann", "--store", at)).stdout.splitlines()
    assert json.loads(lines[0])["tenant"] == "acme"
    assert json.loads(lines[-1]) == {"type": "end", "sessions": 1, "records": 3}
    said_ = flat((await run("users", "delete", "ann", "--store", at)).stdout)
    assert "Deleted: 1 sessions with 1 rows, 0 keys and tokens." in said_
    for action in ("export", "delete"):
        refused = await run("users", action, "ann", "--store", at, code=1)
        assert "no session and no key of the user 'ann'" in flat(refused.output)
    assert await redis.get("jg:acme:context:s-1") is None
    assert await redis.get("jg:default:context:s-1") == b"x"
    monkeypatch.setenv("JOURNEYGRAPH_TENANT", "default")
    assert (await run("users", "export", "ann", "--store", at)).stdout
    counted = json.loads((await run("users", "delete", "ann", "--json", "--store", at)).stdout)
    assert counted == {"deleted": {"sessions": 1, "rows": 1, "keys": 0}}


@pytest.mark.parametrize(
    "words",
    [("export",), ("delete",), ("export", "ann", "--json"), ("delete", "ann", "--after", "1")],
)
def test_a_command_that_is_wrong_is_refused(folder: Path, words: tuple[str, ...]) -> None:
    command.run("users", *words, code=2)
