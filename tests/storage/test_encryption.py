"""Journeys marked sensitive: nothing that was said or kept can be read in the file."""

from __future__ import annotations

import base64
import contextlib
import json
import logging
import os
import traceback
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from journeygraph import (
    ConditionTrigger,
    ConfigurationError,
    Journey,
    JourneyConfig,
    MergeStrategy,
    Pathway,
    ReturnToPrevious,
    StateError,
    Transition,
)
from journeygraph.graphs.storage.sealing import AesSeal
from journeygraph.graphs.storage.statements import FORGET_RECORDS, TableMapper
from journeygraph.graphs.storage.tables import metadata
from tests.support.clerks import said
from tests.support.post_office import database

KEY = bytes(range(32))
CANARY = "kanarienvögel-4711"


def canary(word: str) -> str:
    return f"{CANARY}-{word}"


def _raises(context: Any) -> bool:
    raise ValueError(canary("reason"))


class Clinic(Journey):
    """Talk to a doctor."""

    __sensitive__ = True

    class VisitPath(Pathway):
        __agents__ = ["doctor"]
        __accumulate__ = {"findings": MergeStrategy.APPEND}
        __complete_when__ = ["healthy"]

    class AsidePath(Pathway):
        __agents__ = ["doctor"]
        __return_behavior__ = ReturnToPrevious(preserve_context=False)

    __transitions__ = [
        Transition(said(canary("trigger")), to_pathway="aside"),
        Transition(ConditionTrigger(_raises), to_pathway="aside"),
    ]


def doctor(payload: dict[str, Any]) -> dict[str, Any]:
    if "boom" in payload["message"]:
        raise RuntimeError(canary("failure"))
    return {"response": canary("reply"), "findings": [canary("context")]}


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'clinic.db'}"


def clinic(
    url: str, session_id: str = "s-1", key: bytes | str | None = KEY, **options: Any
) -> Clinic:
    config = JourneyConfig(persistence=url, encryption_key=key)
    return Clinic(session_id, config, agents={"doctor": doctor}, **options)


async def conversation(url: str, session_id: str = "s-1") -> None:
    async with clinic(url, session_id) as journey:
        await journey.start({"name": canary("start"), "session": session_id})
        for text in (canary("message"), f"boom {canary('message')}", canary("trigger"), "back"):
            await journey.process_message(text)
        await journey.rollback(1)


def spellings(text: str) -> set[bytes]:
    """The ways in which a text could be written in a file."""
    found = {text.encode(form) for form in ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le")}
    found |= {json.dumps(text).strip('"').encode(), text.encode().hex().encode()}
    for shift in range(3):
        # In base64 a text looks different at each of three places; the edges depend on others.
        inside = base64.b64encode(b"x" * shift + text.encode())[4:-4]
        found |= {inside, inside.replace(b"+", b"-").replace(b"/", b"_")}
    return found


def everything(url: str) -> bytes:
    folder = Path(url.removeprefix("sqlite:///")).parent
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


@pytest.mark.parametrize("key", [None, b"", b"x" * 16, b"x" * 31, b"x" * 33, "x" * 32, [1] * 32])
async def test_a_sensitive_journey_needs_a_key_of_32_bytes(memory_url: str, key: Any) -> None:
    with pytest.raises(ConfigurationError, match="32 bytes") as refused:
        async with clinic(memory_url, key=key) as journey:
            await journey.start()
    assert "xxxx" not in str(refused.value)


async def test_the_conversation_is_the_same_as_without_a_key(store_url: str) -> None:
    await conversation(store_url)
    async with clinic(store_url) as journey:
        assert await journey.snapshot() == {
            "name": canary("start"),
            "session": "s-1",
            "findings": [canary("context")],
        }
        transcript = await journey.transcript()
        assert transcript[0].content == canary("message")
        assert transcript[1].content == canary("reply")
        audit = await journey.audit()
        assert canary("reason") in audit[0].reason
        assert {row.trigger for row in audit} >= {canary("trigger"), "PathwayExecutionError"}
        assert any(canary("failure") in row.reason for row in audit)
        history = await journey.context_history("findings")
        assert history[0].value == [canary("context")]


async def test_nothing_of_it_can_be_read_in_the_file(url: str) -> None:
    async with clinic(url, "open") as journey:  # keeps the log beside the file in place
        await journey.start()
        await conversation(url)
        stored = everything(url)

    assert "clinic.db-wal" in {path.name for path in Path(url[10:]).parent.iterdir()} or stored
    assert b"visit" in stored  # ids are no secret, and show that this is the right file
    assert not [form for form in spellings(CANARY) if form in stored]
    assert KEY not in stored
    after = everything(url)
    assert not [form for form in spellings(CANARY) if form in after]


async def test_without_the_mark_it_would_be_found(url: str) -> None:
    """The search itself is proved: a journey that is not sensitive is found by it."""

    class Open(Clinic):
        """Talk in the open."""

        __sensitive__ = False

    async with Open("s-1", JourneyConfig(persistence=url), agents={"doctor": doctor}) as journey:
        await journey.start()
        await journey.process_message(canary("message"))
        stored = everything(url)
    assert [form for form in spellings(CANARY) if form in stored]


async def test_another_key_is_refused_and_changes_nothing(url: str) -> None:
    await conversation(url)
    async with clinic(url, key=bytes(32)) as journey:
        for call in (
            journey.process_message("hello"),
            journey.get_session_state(),
            journey.versions(),
            journey.transcript(),
            journey.audit(),
            journey.context_history("name"),
            journey.rollback(0),
        ):
            with pytest.raises(StateError, match="cannot be decrypted with this encryption_key"):
                await call
    async with clinic(url) as journey:
        assert len(await journey.versions()) == 6
        assert (await journey.process_message("hello")).message == canary("reply")


@pytest.mark.parametrize(
    ("table", "column", "value", "call"),
    [
        ("turns", "message", "plain", "versions"),
        ("turns", "reply", "plain", "transcript"),
        ("turns", "operations", "[]", "context_history"),
        ("audit", "reason", "plain", "audit"),
        ("audit", "trigger", "plain", "audit"),
        ("checkpoints", "type", "msgpack", "get_session_state"),
    ],
)
async def test_a_plain_row_is_refused(
    url: str, table: str, column: str, value: str, call: str
) -> None:
    await conversation(url)
    with database(url) as connection:
        connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
    async with clinic(url) as journey:
        arguments = ("name",) if call == "context_history" else ()
        with pytest.raises(StateError, match="not encrypted, so it was refused"):
            await getattr(journey, call)(*arguments)


@pytest.mark.parametrize("column", ["message", "reply", "operations"])
async def test_a_row_of_one_session_is_refused_in_another(url: str, column: str) -> None:
    await conversation(url, "s-1")
    await conversation(url, "s-2")
    with database(url) as connection:
        connection.execute(
            f"UPDATE turns SET {column} = (SELECT other.{column} FROM turns AS other WHERE "
            "other.session_id = 's-2' AND other.version = turns.version) WHERE session_id = 's-1'"
        )
    async with clinic(url) as journey:
        call = journey.context_history("name") if column == "operations" else journey.versions()
        with pytest.raises(StateError, match="cannot be decrypted"):
            await call


async def test_the_state_of_one_session_is_refused_in_another(url: str) -> None:
    await conversation(url, "s-1")
    await conversation(url, "s-2")
    with database(url) as connection:
        connection.execute("DELETE FROM checkpoints WHERE thread_id = 's-1'")
        connection.execute("UPDATE checkpoints SET thread_id = 's-1' WHERE thread_id = 's-2'")
        connection.execute(
            "UPDATE turns SET checkpoint_id = (SELECT other.checkpoint_id FROM turns AS other "
            "WHERE other.session_id = 's-2' AND other.version = turns.version) "
            "WHERE session_id = 's-1'"
        )
    async with clinic(url) as journey:
        for call in (journey.get_session_state(), journey.process_message("hello")):
            with pytest.raises(StateError, match="cannot be decrypted"):
                await call


async def test_an_older_state_of_the_same_session_is_refused_as_its_head(url: str) -> None:
    await conversation(url)
    with database(url) as connection:
        ids = [
            row[0]
            for row in connection.execute(
                "SELECT checkpoint_id FROM turns WHERE session_id = 's-1' ORDER BY version"
            )
        ]
        connection.execute(
            "UPDATE checkpoints SET checkpoint = (SELECT c.checkpoint FROM checkpoints AS c "
            "WHERE c.checkpoint_id = ?) WHERE checkpoint_id = ?",
            (ids[0], ids[1]),
        )
    async with clinic(url) as journey:
        with pytest.raises(StateError, match="cannot be decrypted"):
            await journey.get_session_state()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("DELETE FROM checkpoint_blobs WHERE channel = 'context'", "Part of the state"),
        ("UPDATE checkpoints SET metadata = '{}'", "Part of the state"),
        ("UPDATE checkpoint_blobs SET type = 'msgpack'", "not encrypted, so it was refused"),
        (
            "UPDATE checkpoint_blobs AS b SET blob = o.blob FROM checkpoint_blobs AS o WHERE "
            "b.channel = 'context' AND o.channel = 'context' AND b.version > o.version",
            "cannot be decrypted",
        ),
        (
            "UPDATE checkpoint_blobs AS b SET blob = c.checkpoint FROM checkpoints AS c WHERE "
            "b.thread_id = c.thread_id AND b.channel = 'context'",
            "cannot be decrypted",
        ),
    ],
    ids=["missing", "unnamed", "plain", "older", "of-another-place"],
)
async def test_a_value_of_the_state_that_is_not_its_own_is_refused(
    url: str, change: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("journeygraph.graphs.storage.sqlite._SMALL", 0)  # all values are apart
    await conversation(url)
    with database(url) as connection:
        connection.execute(change)
    async with clinic(url) as journey:
        for call in (journey.get_session_state(), journey.process_message("hello")):
            with pytest.raises(StateError, match=reason):
                await call


async def test_a_changed_byte_is_noticed(url: str) -> None:
    await conversation(url)
    with database(url) as connection:
        (sealed,) = connection.execute("SELECT checkpoint FROM checkpoints LIMIT 1").fetchone()
        for place in (0, 12, len(sealed) // 2, len(sealed) - 1):
            broken = bytearray(sealed)
            broken[place] ^= 1
            connection.execute("UPDATE checkpoints SET checkpoint = ?", (bytes(broken),))
            async with clinic(url) as journey:
                with pytest.raises(StateError, match="cannot be decrypted"):
                    await journey.get_session_state()


async def test_the_same_text_never_looks_the_same(url: str) -> None:
    async with clinic(url) as journey:
        await journey.start()
        for _ in range(3):
            await journey.process_message("same")
    with database(url) as connection:
        stored = [row[0] for row in connection.execute("SELECT message FROM turns")]
    assert len(set(stored)) == len(stored)


async def test_a_saver_that_would_write_it_in_the_open_is_refused(url: str) -> None:
    saver = InMemorySaver()
    journey = clinic(url, saver=saver)
    with pytest.raises(ConfigurationError, match="sensitive"):
        await journey.start({"name": canary("start")})
    await journey.close()
    config: Any = {"configurable": {"thread_id": "s-1"}}
    assert [item async for item in saver.alist(config)] == []


async def test_a_saver_that_encrypts_is_taken(url: str) -> None:
    saver = InMemorySaver(serde=AesSeal(KEY).serializer())
    async with clinic(url, saver=saver) as journey:
        await journey.start({"name": canary("start")})
        await journey.process_message("hello")
        assert (await journey.snapshot())["name"] == canary("start")
    assert CANARY not in repr(saver.storage) + repr(saver.blobs)


async def test_the_key_is_never_shown(url: str, caplog: pytest.LogCaptureFixture) -> None:
    key = os.urandom(32)
    shown: list[str] = []
    caplog.set_level(logging.DEBUG)
    async with clinic(url, key=key) as journey:
        await journey.start()
        await journey.process_message("boom")
        shown += [repr(journey.config), repr(journey.manager), str(vars(journey.manager)["config"])]
        session = await journey.manager._session()
        shown += [repr(session), repr(session.store), repr(session.store.seals)]
    try:
        async with clinic(url, key=bytes(32)) as journey:
            await journey.process_message("hello")
    except StateError:
        shown.append(traceback.format_exc())
    with contextlib.suppress(ConfigurationError):
        JourneyConfig(encryption_key=key + b"x")
    shown.append(caplog.text)

    secrets = [repr(key), repr(key)[2:-1], key.hex(), base64.b64encode(key).decode(), str([*key])]
    assert not [s for s in secrets for text in shown if s in text]


PLACES = {
    "turns": {
        "message": "s|3|message",
        "reply": "s|3|reply",
        "operations": "s|3|operations",
    },
    "audit": {"trigger": "s|3|audit", "reason": "s|3|audit"},
    "validation_audit": {"violations": "s|3|checks"},
    "field_attempts": {
        "value": "s|3|attempts",
        "raw": "s|3|attempts",
        "reason": "s|3|attempts",
    },
    "effects": {"result": "s|k|effect", "reason": "s|k|effect"},
    "answers": {"answer": "t|s|k|answer"},
    "running_turns": {"message": "t|s|running"},
    "escalations": {"payload": "s|e|escalation"},
}


@pytest.mark.parametrize("table", PLACES)
def test_a_record_is_sealed_column_by_column_for_the_place_of_its_row(table: str) -> None:
    records, seal = TableMapper(metadata.tables[table]), AesSeal(KEY)
    seal.tenant = "t"
    row = {"session_id": "s", "turn": 3, "version": 3, "key": "k", "id": "e"}
    row["number"] = 7
    given = {**row, **dict.fromkeys(PLACES[table], canary("text"))}
    stored = records.stored(given, seal)

    is_json = {"operations", "violations", "value", "result", "payload", "answer", "link"}
    if table == "running_turns":
        is_json.add("message")
    for name, place in PLACES[table].items():
        text = seal.open(stored[name], place)
        assert (json.loads(text) if name in is_json else text) == canary("text")
    assert CANARY not in str(stored)

    opened = records.opened(stored, seal)
    assert {name: opened[name] for name in PLACES[table]} == dict.fromkeys(
        PLACES[table], canary("text")
    )
    with pytest.raises(StateError, match="cannot be decrypted"):
        records.opened({**stored, "session_id": "t"}, seal)


def test_every_table_that_a_session_owns_goes_with_it() -> None:
    forgotten = {str(sql.sqlite).split()[2] for sql in FORGET_RECORDS}
    assert forgotten == {table.name for table in metadata.tables.values() if table.foreign_keys}
    assert forgotten == {*PLACES, "timers"}  # which have no words
