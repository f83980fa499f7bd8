"""Several keys, a data key for each session, and a new key for all of them while turns run."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from journeygraph import (
    ConfigurationError,
    Effect,
    Escalation,
    Field,
    Journey,
    JourneyConfig,
    Pathway,
    SessionExpiredError,
    StateError,
)
from journeygraph.graphs.records import data_keys
from journeygraph.graphs.records.data_keys import KeyState, KeyUse, keys_in_use, rotate
from journeygraph.graphs.session.directory import Directory
from journeygraph.graphs.storage.sealing import AesSeal, Seals
from journeygraph.graphs.storage.store import open_store
from journeygraph.graphs.storage.tables import metadata
from journeygraph.journeys.config import EncryptionKeys
from journeygraph.nodes.json_data import digest_of
from tests.storage.test_encryption import (
    CANARY,
    KEY,
    Clinic,
    canary,
    clinic,
    conversation,
    doctor,
    spellings,
)
from tests.storage.test_encryption import everything as in_files
from tests.storage.test_encryption_postgres import everything as in_tables
from tests.support import command, forked, golden, watching
from tests.support.clocks import Clock
from tests.support.command import flat, run, served
from tests.support.ferry import SAID, World
from tests.support.post_office import back_at, database, found
from tests.support.postgres import Postgres, connected
from tests.support.secret_ferry import rotate_and_die, secret_ferry
from tests.support.watching import Watch

watch, folder = watching.watch, command.folder
logging_as_before = command.logging_as_before
NEXT = bytes(reversed(range(32)))


def text(**keys: bytes) -> str:
    """The setting with several keys."""
    return ",".join(f"{id_}:{base64.b64encode(key).decode()}" for id_, key in keys.items())


BOTH = text(new=NEXT, old=KEY)
NEW, OLD = text(new=NEXT), text(old=KEY)


async def rotated(url: str, keys: str | bytes) -> list[str]:
    """Rotate the sessions of a store; return the faults."""
    store = await open_store(url, EncryptionKeys.of(keys))
    try:
        return await rotate(store, lambda done: None)
    finally:
        await store.close()


async def uses(url: str, keys: str | bytes | None) -> list[KeyUse]:
    """The keys that the sessions of a store need."""
    config = JourneyConfig(persistence=url, encryption_key=keys)
    directory = await Directory.open(config)
    try:
        return await keys_in_use(directory.store, directory.seals)
    finally:
        await directory.close()


def everything(url: str) -> bytes:
    """All that the database behind a store's URL has."""
    return (in_tables if url.startswith("postgresql") else in_files)(url)


def changed(url: str, query: str) -> None:
    """Change the database behind a store's URL from outside."""
    if url.startswith("postgresql"):
        with connected(url) as connection:
            assert connection.execute(query).rowcount > 0
    else:
        with database(url) as connection:
            assert connection.execute(query).rowcount > 0


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ("", "32 bytes"),
        (" , ", "32 bytes"),
        (f"{OLD},short:YWJj", "32 bytes"),
        (f"{OLD},{OLD}", "more than once"),
        (OLD.replace("old", "o/d"), "id in encryption_key is not valid"),
        (OLD.replace("old", "x" * 33), "id in encryption_key is not valid"),
        (OLD.replace("old", ""), "id in encryption_key is not valid"),
    ],
)
def test_keys_that_are_not_valid_are_refused_and_not_shown(given: str, fault: str) -> None:
    with pytest.raises(ConfigurationError, match=fault) as refused:
        JourneyConfig(encryption_key=given)
    assert base64.b64encode(KEY).decode() not in str(refused.value)


def test_a_key_without_an_id_is_found_when_it_gets_one() -> None:
    bare = EncryptionKeys.of(base64.urlsafe_b64encode(KEY).decode())
    assert bare == EncryptionKeys.of(KEY)
    [id_] = bare.ids
    named = EncryptionKeys.of(BOTH)
    assert named.get(id_) == named.get("old") == KEY
    assert named.first == ("new", NEXT)
    assert named.get("other") is None
    assert repr(KEY)[2:-1] not in repr(named)


async def test_a_session_goes_on_with_a_new_first_key(store_url: str) -> None:
    await conversation(store_url)
    async with clinic(store_url, key=BOTH) as journey:
        assert (await journey.process_message("hello")).message == canary("reply")
        assert (await journey.transcript())[0].content == canary("message")
    await conversation(store_url, "s-2")
    async with clinic(store_url, "s-3", key=NEW) as journey:
        await journey.start()
    if not store_url.startswith("memory"):
        ids = dict(found(store_url, "SELECT session_id, key_id FROM sessions"))
        assert ids == {"s-1": ids["s-1"], "s-2": ids["s-1"], "s-3": "new"}
        assert ids["s-1"] == EncryptionKeys.of(KEY).ids[0]


async def test_after_a_rotation_only_the_new_key_is_needed(kept_url: str) -> None:
    for number in range(3):
        await conversation(kept_url, f"s-{number}")
    stored = found(kept_url, "SELECT message FROM turns ORDER BY session_id, version")
    assert [use.state for use in await uses(kept_url, BOTH)] == [KeyState.SET]

    assert await rotated(kept_url, BOTH) == []

    assert {row[0] for row in found(kept_url, "SELECT key_id FROM sessions")} == {"new"}
    assert found(kept_url, "SELECT message FROM turns ORDER BY session_id, version") == stored
    async with clinic(kept_url, "s-1", key=NEW) as journey:
        assert (await journey.process_message("hello")).message == canary("reply")
    async with clinic(kept_url, "s-1", key=OLD) as journey:
        with pytest.raises(StateError, match="needs the key 'new', and only old are set"):
            await journey.process_message("hello")
    assert [use.state for use in await uses(kept_url, NEW)] == [KeyState.FIRST]
    assert await rotated(kept_url, BOTH) == []


async def test_a_turn_that_runs_during_a_rotation_is_committed(kept_url: str) -> None:
    await conversation(kept_url)
    working, go_on = asyncio.Event(), asyncio.Event()

    async def slow(payload: dict[str, Any]) -> dict[str, Any]:
        working.set()
        await go_on.wait()
        return doctor(payload)

    async with clinic(kept_url, key=BOTH) as journey:
        journey.register_agent("doctor", slow)
        turn = asyncio.ensure_future(journey.process_message("slowly"))
        await working.wait()
        assert await rotated(kept_url, BOTH) == []
        assert not turn.done()
        go_on.set()
        assert (await turn).message == canary("reply")
    async with clinic(kept_url, key=NEW) as journey:
        assert (await journey.transcript())[-2].content == "slowly"
        assert (await journey.process_message("and now")).message == canary("reply")


async def test_a_rotation_that_was_broken_off_goes_on(
    kept_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_keys, "PAGE", 2)
    for number in range(5):
        async with clinic(kept_url, f"s-{number}") as journey:
            await journey.start()
    seen: list[int] = []

    def break_off(done: int) -> None:
        seen.append(done)
        raise KeyboardInterrupt

    store = await open_store(kept_url, EncryptionKeys.of(BOTH))
    with pytest.raises(KeyboardInterrupt):
        await rotate(store, break_off)
    of_key = "SELECT count(*) FROM sessions WHERE key_id = 'new'"
    assert found(kept_url, of_key) == [(2,)]
    assert await rotate(store, seen.append) == []
    await store.close()
    assert seen == [2, 2, 1]
    assert found(kept_url, of_key) == [(5,)]


async def test_a_session_that_cannot_be_rotated_is_left_and_named(kept_url: str) -> None:
    for session_id in ("s-1", "s-2"):
        await conversation(kept_url, session_id)
    changed(
        kept_url,
        "UPDATE sessions SET data_key = (SELECT data_key FROM sessions WHERE session_id = 's-2') "
        "WHERE session_id = 's-1'",
    )
    [fault] = await rotated(kept_url, BOTH)
    assert "Session 's-1' cannot be decrypted" in fault
    ids = dict(found(kept_url, "SELECT session_id, key_id FROM sessions"))
    assert (ids["s-2"], ids["s-1"] != "new") == ("new", True)


async def test_a_wrong_or_missing_key_is_told_by_journey_and_id(kept_url: str) -> None:
    async with clinic(kept_url, key=OLD) as journey:
        await journey.start()
    for keys, state, said in (
        (BOTH, KeyState.SET, ""),
        (OLD, KeyState.FIRST, ""),
        (NEW, KeyState.MISSING, "need the encryption key 'old', which is not set"),
        (None, KeyState.MISSING, "need the encryption key 'old', which is not set"),
        (text(old=NEXT), KeyState.WRONG, "need the encryption key 'old', and another key has"),
    ):
        [use] = await uses(kept_url, keys)
        assert (use.journey_id, use.key_id, use.state) == ("clinic", "old", state)
        assert said in use.fault
        assert bool(use.fault) is bool(said)
    async with clinic(kept_url, key=text(old=NEXT)) as journey:
        with pytest.raises(StateError, match="'old' is not the one that had this id"):
            await journey.process_message("hello")


async def test_an_encrypted_session_is_refused_when_its_journey_is_not_marked_any_more(
    store_url: str,
) -> None:
    unmarked = type("Clinic", (Clinic,), {"__sensitive__": False})
    await conversation(store_url)
    config = JourneyConfig(persistence=store_url, encryption_key=KEY)
    async with unmarked("s-1", config, agents={"doctor": doctor}) as journey:
        for call in (journey.process_message("hello"), journey.audit(), journey.snapshot()):
            with pytest.raises(StateError, match="is encrypted, and Clinic is not marked"):
                await call
    async with clinic(store_url) as journey:
        assert len(await journey.versions()) == 6


async def test_a_session_that_begins_again_during_a_rotation_keeps_its_data_key(
    kept_url: str,
) -> None:
    await conversation(kept_url)
    store = await open_store(kept_url, EncryptionKeys.of(BOTH))
    [use] = await keys_in_use(store, store.seals)
    of = {"journey": "clinic", "key": use.key_id, **data_keys.FROM_START, "most": 9}
    stale = await store.read(data_keys.OF_KEY, **of)
    async with clinic(kept_url) as journey:
        await journey.delete()
        await journey.start({"name": "again"})
    await data_keys._wrap_again(store, stale, [])
    await store.close()
    async with clinic(kept_url) as journey:
        assert await journey.snapshot() == {"name": "again"}


def test_data_is_bound_to_its_tenant_session_and_place() -> None:
    seal = Seals(EncryptionKeys.of(KEY)).new("s-1")
    secret = AesSeal(KEY).decrypted(
        base64.b64decode(seal.columns["data_key"] or ""),
        f"default|s-1|data key|{seal.columns['key_id']}",
    )
    stored = seal.close("words", "s-1|3|message")
    direct = AesSeal(secret[:32])
    assert direct.open(stored, "default|s-1|3|message") == "words"
    for place in ("s-1|3|message", "default|s-1|4|message", "other|s-1|3|message"):
        with pytest.raises(StateError):
            direct.open(stored, place)


# ------------------------------------------------------------------ deletion


async def test_without_its_data_key_a_session_in_a_backup_cannot_be_read(kept_url: str) -> None:
    await conversation(kept_url)
    changed(kept_url, "UPDATE sessions SET data_key = NULL")
    async with clinic(kept_url) as journey:
        for call in (journey.process_message("hello"), journey.audit(), journey.rollback(0)):
            with pytest.raises(StateError, match="cannot be decrypted with this encryption_key"):
                await call


async def test_a_deleted_session_leaves_no_data_key_in_the_file(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'clinic.db'}"
    async with clinic(url) as journey:
        await journey.start()
        await journey.process_message(canary("message"))
        [(data_key,)] = found(url, "SELECT data_key FROM sessions")
        await journey.delete()
    assert data_key.encode() not in everything(url)


async def test_an_expired_session_loses_its_data_key(kept_url: str) -> None:
    await conversation(kept_url)
    changed(kept_url, "UPDATE sessions SET expires_at = '2001-01-01'")
    async with clinic(kept_url) as journey:
        with pytest.raises(SessionExpiredError):
            await journey.process_message("hello")
    tombstone = "SELECT status, data_key, key_id FROM sessions"
    assert found(kept_url, tombstone) == [("expired", None, None)]


# ------------------------------------------------------------------ rows and digests


@pytest.mark.parametrize(
    ("change", "call", "named"),
    [
        (
            "UPDATE turns SET message = reply WHERE version = 1",
            "transcript",
            r"column message of the table turns, row session_id 's-1', version 1, cannot be",
        ),
        (
            "UPDATE turns SET reply = 'plain' WHERE version = 2",
            "transcript",
            r"column reply of the table turns, row session_id 's-1', version 2, is not encrypted",
        ),
        (
            "UPDATE audit SET reason = 'plain' WHERE kind = 'failure'",
            "audit",
            r"column reason of the table audit, row session_id 's-1', id \d+, is not encrypted",
        ),
    ],
)
async def test_a_refused_row_is_named(kept_url: str, change: str, call: str, named: str) -> None:
    await conversation(kept_url)
    changed(kept_url, change)
    async with clinic(kept_url) as journey:
        with pytest.raises(StateError, match=named):
            await getattr(journey, call)()


async def talked(url: str, world: World, session_id: str, key: bytes | str = KEY) -> None:
    """Sell a crossing."""
    async with secret_ferry(url, world, key, session_id) as journey:
        await journey.start()
        for message in SAID:
            await journey.process_message(message)
        reply = await journey.process_message("yes", idempotency_key="k-1")
        assert "Safe trip with 2 from Harwich" in reply.message


async def test_digests_of_a_sensitive_session_cannot_be_guessed(
    kept_url: str, tmp_path: Path
) -> None:
    for session_id in ("s-1", "s-2"):
        await talked(kept_url, World(tmp_path), session_id)
    plain = digest_of({"port": "Harwich", "cars": 2})
    for table in ("effects", "answers"):
        stored = [row[0] for row in found(kept_url, f"SELECT digest FROM {table}")]
        assert len(stored) == len(set(stored)) > 1
        assert plain not in stored


async def test_a_fork_of_a_sensitive_session_takes_no_effect_again(
    store_url: str, tmp_path: Path
) -> None:
    world = World(tmp_path)
    await talked(store_url, world, "s-1")
    async with secret_ferry(store_url, world, KEY) as journey:
        await journey.fork(len(SAID), "s-2")
        await journey.delete()
    async with secret_ferry(store_url, world, KEY, "s-2") as fork:
        assert "Safe trip with 2 from Harwich" in (await fork.process_message("yes")).message
    assert (len(world.reserved), world.payments) == (1, 1)


class Complaint(Journey):
    """File a complaint."""

    __sensitive__ = True
    __escalation__ = Escalation()

    class FilePath(Pathway):
        __fields__ = [Field("about", "text", ask="What is it about?", verbatim=True)]
        __effects__ = [Effect("file", save="filed", done="Filed as {filed}.")]
        __agents__ = ["clerk"]


SEALED = {
    (table.name, column.name)
    for table in metadata.tables.values()
    for column in table.c
    if "place" in column.info and table.name not in ("validation_audit", "running_turns")
}
"""The encrypted columns; those of checks of replies and of running turns have their own tests."""


def clerk(payload: dict[str, Any]) -> str:
    if payload["message"] == "boom":
        raise RuntimeError(canary("failure"))
    return canary("reply")


async def test_no_word_value_or_argument_of_a_sensitive_session_is_stored_or_reported(
    kept_url: str, watch: Watch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    said = ("hello", canary("about"), "yes", "boom", "I want to talk to a person")
    asked: list[str] = []

    def file(about: str) -> str:
        """File it.

        Args:
            about: The complaint.
        """
        asked.append(about)
        if len(asked) % 2:
            raise RuntimeError(canary("tool"))
        return canary("result")

    config = JourneyConfig(persistence=kept_url, encryption_key=KEY)
    given: dict[str, Any] = {"agents": {"clerk": clerk}, "tools": {"file": file}, "model": False}
    async with Complaint("s-1", config, **given) as journey:
        await journey.start({"name": canary("context")})
        for number, message in enumerate(said):
            await journey.process_message(
                message, idempotency_key=f"k-{number}", metadata={"who": canary("metadata")}
            )
        await journey.process_event(canary("event"), {"paid": canary("data")})
        await journey.fork(2, "s-2")
        assert [one.status for one in await journey.escalations()] == ["open"]
        async with Complaint("s-3", config, **given) as failed:
            await failed.start()
            for message in said[:2]:
                await failed.process_message(message)
        stored = everything(kept_url)
    assert asked == [canary("about")] * 3
    for table, column in SEALED:
        assert found(kept_url, f"SELECT count({column}) FROM {table}")[0][0] > 0, (table, column)
    assert b"s-2" in stored
    assert b"file.file" in stored
    reported = (caplog.text + watch.everything()).encode()
    assert b"complaint" in reported
    for form in spellings(CANARY):
        assert form not in stored
        assert form not in reported
    assert [row[0] for row in found(kept_url, "SELECT digest FROM effects")].count(
        digest_of({"about": canary("about")})
    ) == 0


# ------------------------------------------------------------------ rotation under kill


@pytest.fixture(params=["sqlite", "postgres"])
def golden_url(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[str]:
    """The URL of a stored store, at the time of its last turn."""
    release = golden.releases()[-1]
    if request.param == "sqlite":
        yield back_at(golden.restored_file(release, tmp_path), clock)
        return
    server: Postgres = request.getfixturevalue("postgres_server")
    url = golden.restored_database(release, server)
    yield back_at(url, clock)
    server.drop(url)


@pytest.mark.slow
def test_killed_before_any_statement_a_rotation_loses_no_session(
    golden_url: str, tmp_path: Path
) -> None:
    keys = text(new=NEXT, old=golden.KEY)
    world = World(tmp_path)
    asyncio.run(talked(golden_url, world, "s-1", text(old=golden.KEY)))
    sealed = [f"secret_trip-{name}" for name in golden.SEALED]

    async def read(given: str) -> list[int]:
        lengths = []
        for session_id in sealed:
            async with golden.secret_trip(golden_url, session_id, given) as journey:
                assert await journey.snapshot()
                lengths.append(len(await journey.transcript()))
        async with secret_ferry(golden_url, world, given) as journey:
            lengths.append(len(await journey.transcript()))
        return lengths

    before, statement, seen = asyncio.run(read(keys)), 0, [0]
    survived = False
    while not survived:
        statement += 1
        process = forked.process(rotate_and_die, golden_url, keys, statement)
        process.start()
        process.join(100)
        survived = process.exitcode == 0
        assert asyncio.run(read(keys)) == before, statement
        done = "SELECT count(*) FROM sessions WHERE key_id = 'new'"
        seen.append(found(golden_url, done)[0][0])
    assert statement > len(sealed)
    assert seen == sorted(seen)
    assert len({*seen}) > len(sealed)
    assert asyncio.run(rotated(golden_url, keys)) == []
    assert asyncio.run(read(NEW)) == before

    async def goes_on() -> list[str]:
        async with secret_ferry(golden_url, world, NEW) as ferry:
            replies = [(await ferry.process_message("another crossing")).message]
        async with golden.secret_trip(golden_url, sealed[0], NEW) as trip:
            return [*replies, (await trip.process_message("3")).message]

    crossing, trip = asyncio.run(goes_on())
    assert crossing
    assert "3" in trip


@pytest.mark.slow
async def test_under_load_rotations_lose_and_double_no_message(kept_url: str) -> None:
    """Twelve sessions talk, while another store of the database changes the key again and again."""
    one, other = text(a=KEY, b=NEXT), text(b=NEXT, a=KEY)
    talking = 0

    async def talks(session_id: str) -> list[str]:
        nonlocal talking
        talking += 1
        async with clinic(kept_url, session_id, key=one) as journey:
            await journey.start()
            for number in range(8):
                await journey.process_message(f"{session_id} {number}")
            said = [line.content for line in await journey.transcript() if line.role == "user"]
        talking -= 1
        return said

    async def rotates() -> int:
        rounds = 0
        while talking or not rounds:
            for keys in (other, one):
                assert await rotated(kept_url, keys) == []
            rounds += 1
        return rounds

    ids = [f"s-{number}" for number in range(12)]
    *said, rounds = await asyncio.gather(*map(talks, ids), rotates())
    assert said == [[f"{id_} {number}" for number in range(8)] for id_ in ids]
    assert isinstance(rounds, int)
    assert rounds > 1


# ------------------------------------------------------------------ the command


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Set the keys of the command."""
    return lambda given: monkeypatch.setenv("JOURNEYGRAPH_ENCRYPTION_KEY", given)


def test_the_command_shows_and_rotates_keys(kept_url: str, keys: Callable[[str], None]) -> None:
    store = ("--store", kept_url)
    keys(BOTH)
    assert "No stored session is encrypted" in run("encryption", "status", *store).stdout
    for number in range(3):
        asyncio.run(conversation_with(kept_url, f"s-{number}", OLD))
    status = json.loads(run("encryption", "status", "--json", *store).stdout)
    assert status == {"keys": [{"id": "old", "sessions": 3, "state": "set"}]}

    keys(NEW)
    refused = run("encryption", "status", *store, code=1)
    assert "'old', which is not set" in refused.stderr
    assert "not set" in refused.stdout
    keys(BOTH)
    assert "new" in run("encryption", "rotate", *store).stdout
    keys(NEW)
    status = json.loads(run("encryption", "status", "--json", *store).stdout)
    assert status == {"keys": [{"id": "new", "sessions": 3, "state": "first"}]}
    assert base64.b64encode(NEXT).decode() not in run("encryption", "status", *store).output


SECRET = """
from journeygraph import Journey, Pathway


class Secret(Journey):
    \"\"\"Keep a secret.\"\"\"

    __sensitive__ = True

    class KeepPath(Pathway):
        __agents__ = ["clerk"]


AGENTS = {"clerk": lambda ask: f"Kept: {ask['message']}"}
"""


def test_a_server_without_the_keys_of_stored_sessions_does_not_start(
    folder: Path, kept_url: str, keys: Callable[[str], None]
) -> None:
    (folder / "secret.py").write_text(SECRET)
    store = ("--store", kept_url)
    keys(OLD)
    assert "Kept: hello" in run("chat", "secret.py", *store, typed="hello\n").output
    for given, said in (
        (NEW, "'secret' need the encryption key 'old', which is not set"),
        (text(old=NEXT), "'secret' need the encryption key 'old', and another key has this id"),
    ):
        keys(given)
        refused = run("serve", "secret.py", *store, "--port", "0", code=1)
        assert said in flat(refused.stderr)
        assert "Listening" not in refused.stdout
    with served(folder, "orders.py", *store):  # which needs no key
        pass
    keys(BOTH)
    with served(folder, "secret.py", *store):
        pass


async def conversation_with(url: str, session_id: str, key: str) -> None:
    async with clinic(url, session_id, key=key) as journey:
        await journey.start()


def test_the_command_drops_sessions_of_a_lost_key_alone(
    kept_url: str, keys: Callable[[str], None]
) -> None:
    store = ("--store", kept_url)
    asyncio.run(conversation_with(kept_url, "s-1", OLD))
    asyncio.run(conversation_with(kept_url, "s-2", NEW))
    keys(BOTH)
    assert "can be read" in run("encryption", "drop", "--key", "old", *store, code=2).stderr
    keys(NEW)
    assert "No stored session" in run("encryption", "drop", "--key", "odd", *store, code=2).stderr
    run("encryption", "drop", "--key", "old", *store)
    assert found(kept_url, "SELECT session_id FROM sessions") == [("s-2",)]
    run("encryption", "drop", *store, code=2)
    run("encryption", "rotate", "--key", "old", *store, code=2)


def test_a_copy_of_a_store_needs_the_same_key(tmp_path: Path) -> None:
    """A backup is as safe as its file: the data keys in it open only with a key of the settings."""
    url = f"sqlite:///{tmp_path / 'clinic.db'}"
    asyncio.run(conversation_with(url, "s-1", OLD))
    copy = f"sqlite:///{shutil.copy(tmp_path / 'clinic.db', tmp_path / 'copy.db')}"

    async def read(key: str) -> None:
        async with clinic(copy, key=key) as journey:
            await journey.snapshot()

    asyncio.run(read(OLD))
    with pytest.raises(StateError, match="needs the key 'old'"):
        asyncio.run(read(NEW))
