"""Journeys marked sensitive on Postgres: nothing in any table can be read, moved or put in."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.runnables import RunnableLambda

from journeygraph import JourneyConfig, StateError
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
from tests.support.postgres import connected


class Open(Clinic):
    """Talk in the open."""

    __sensitive__ = False


def everything(url: str) -> bytes:
    """Every value of every row, as a reader gets it."""
    stored = bytearray()
    with connected(url) as connection:
        listed = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
        for (table,) in connection.execute(listed).fetchall():
            for row in connection.execute(f"SELECT * FROM {table}").fetchall():
                for value in row:
                    stored += value if isinstance(value, bytes) else str(value).encode()
            for (text,) in connection.execute(f"SELECT t::text FROM {table} AS t").fetchall():
                stored += text.encode()
    return bytes(stored)


def changed(url: str, query: str, *values: Any) -> None:
    with connected(url) as connection:
        assert connection.execute(query, values).rowcount > 0


async def refused(url: str, match: str, call: str = "get_session_state", *arguments: Any) -> None:
    async with clinic(url) as journey:
        with pytest.raises(StateError, match=match):
            await getattr(journey, call)(*arguments)


async def test_nothing_of_it_can_be_read_in_any_table(postgres_url: str) -> None:
    await conversation(postgres_url)
    stored = everything(postgres_url)
    assert b"visit" in stored  # ids are no secret, and show that this is the right database
    assert not [form for form in spellings(CANARY) if form in stored]
    assert KEY not in stored


async def test_without_the_mark_it_would_be_found(postgres_url: str) -> None:
    config = JourneyConfig(persistence=postgres_url)
    async with Open("s-1", config, agents={"doctor": doctor}) as journey:
        await journey.start()
        await journey.process_message(canary("message"))
    assert [form for form in spellings(CANARY) if form in everything(postgres_url)]


@pytest.mark.parametrize("kind", [Open, Clinic])
async def test_what_a_caller_has_in_its_own_configuration_is_not_kept(
    postgres_url: str, kind: type[Clinic]
) -> None:
    config = JourneyConfig(persistence=postgres_url, encryption_key=KEY)

    async def talk(_: Any) -> None:
        async with kind("s-1", config, agents={"doctor": doctor}) as journey:
            await journey.start()
            await journey.process_message("hello")

    private: Any = {"metadata": {"who": "private-1"}, "configurable": {"user": "private-2"}}
    await RunnableLambda(talk).ainvoke("x", private)
    assert b"private-" not in everything(postgres_url)
    with connected(postgres_url) as connection:
        keys = connection.execute("SELECT DISTINCT jsonb_object_keys(metadata) FROM checkpoints")
        assert {key for (key,) in keys} <= {"source", "step", "parents", "seal"}


@pytest.mark.parametrize(
    ("table", "column", "value", "call"),
    [
        ("turns", "message", "plain", "versions"),
        ("turns", "reply", "plain", "transcript"),
        ("turns", "operations", "[]", "context_history"),
        ("audit", "reason", "plain", "audit"),
        ("audit", "trigger", "plain", "audit"),
        ("checkpoint_blobs", "type", "msgpack", "get_session_state"),
        ("checkpoints", "metadata", "{}", "get_session_state"),
    ],
)
async def test_a_plain_row_is_refused(
    postgres_url: str, table: str, column: str, value: str, call: str
) -> None:
    await conversation(postgres_url)
    changed(postgres_url, f"UPDATE {table} SET {column} = %s", value)
    arguments = ("name",) if call == "context_history" else ()
    await refused(postgres_url, "not encrypted, so it was refused", call, *arguments)


async def test_the_state_of_one_session_is_refused_in_another(postgres_url: str) -> None:
    await conversation(postgres_url, "s-1")
    await conversation(postgres_url, "s-2")
    for table in ("checkpoints", "checkpoint_blobs"):
        changed(postgres_url, f"DELETE FROM {table} WHERE thread_id = 's-1'")
        changed(postgres_url, f"UPDATE {table} SET thread_id = 's-1' WHERE thread_id = 's-2'")
    changed(
        postgres_url,
        "UPDATE turns SET checkpoint_id = (SELECT other.checkpoint_id FROM turns AS other "
        "WHERE other.session_id = 's-2' AND other.version = turns.version) "
        "WHERE session_id = 's-1'",
    )
    for call in ("get_session_state", "snapshot"):
        await refused(postgres_url, "cannot be decrypted", call)
    await refused(postgres_url, "cannot be decrypted", "process_message", "hello")


FIRST = "(SELECT checkpoint_id FROM turns WHERE version = 0)"


@pytest.mark.parametrize(
    "change",
    [
        # An older state in place of the head, with its seal and without.
        f"UPDATE checkpoints c SET checkpoint = o.checkpoint, metadata = o.metadata "
        f"FROM checkpoints o WHERE o.checkpoint_id = {FIRST} AND c.checkpoint_id <> {FIRST}",
        f"UPDATE checkpoints c SET checkpoint = o.checkpoint "
        f"FROM checkpoints o WHERE o.checkpoint_id = {FIRST} AND c.checkpoint_id <> {FIRST}",
        # Older values in the head.
        f"UPDATE checkpoints c SET checkpoint = jsonb_set(c.checkpoint, '{{channel_versions}}', "
        f"o.checkpoint -> 'channel_versions') FROM checkpoints o "
        f"WHERE o.checkpoint_id = {FIRST} AND c.checkpoint_id <> {FIRST}",
        "UPDATE checkpoint_blobs b SET blob = o.blob FROM checkpoint_blobs o "
        "WHERE b.channel = 'context' AND o.channel = 'context' AND b.version > o.version",
        # A value that nobody has sealed.
        "UPDATE checkpoints SET checkpoint = "
        """jsonb_set(checkpoint, '{channel_values}', '{"context": {"paid": true}}')""",
        "UPDATE checkpoint_blobs SET blob = set_byte(blob, 20, (get_byte(blob, 20) + 1) % 256)",
    ],
    ids=["older", "older-unsealed", "older-values", "moved-value", "inline-value", "byte"],
)
async def test_what_was_moved_or_changed_is_refused(postgres_url: str, change: str) -> None:
    await conversation(postgres_url)
    changed(postgres_url, change.replace("%", "%%"))
    await refused(postgres_url, "cannot be decrypted")


async def test_another_key_is_refused_and_changes_nothing(postgres_url: str) -> None:
    await conversation(postgres_url)
    async with clinic(postgres_url, key=bytes(32)) as journey:
        for call in (journey.process_message("hello"), journey.rollback(0), journey.audit()):
            with pytest.raises(StateError, match="cannot be decrypted with this encryption_key"):
                await call
    async with clinic(postgres_url) as journey:
        assert len(await journey.versions()) == 6
        assert (await journey.process_message("hello")).message == canary("reply")
