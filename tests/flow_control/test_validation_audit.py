"""Flow control, scenario "Validation audit": the rows, in the store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from psycopg import AsyncCursor

from journeygraph import Journey
from tests.flow_control.desk import NO_PROMISE, SAFE, desk, says
from tests.support.post_office import found

Talk = Callable[..., Any]
KEY = bytes(range(32))
CARD = "4111 1111 1111 1111"


async def test_a_row_is_written_with_its_turn_kept_by_a_rollback_and_gone_with_the_session(
    talk: Talk, kept_url: str
) -> None:
    kind = desk(NO_PROMISE)
    chat = await talk(kind, says("Hello.", "guaranteed", f"card {CARD}"), kept_url)
    assert [await chat.says("Hi") for _ in range(3)] == ["Hello.", SAFE, "card [card number]"]

    rows = await chat.journey.checks()
    assert [row.turn for row in rows] == [1, 2, 3]
    assert [row.outcome for row in rows] == ["sent", "replaced", "masked"]
    assert {(row.session_id, row.journey_id, row.pathway_id) for row in rows} == {
        ("s-1", kind.spec.id, "desk")
    }
    assert [row.is_valid for row in rows] == [True, False, False]
    assert all(row.confidence is None and row.latency_ms >= 0 for row in rows)
    entries = {entry.turn: entry.timestamp for entry in await chat.journey.transcript()}
    assert [row.at for row in rows] == [entries[row.turn] for row in rows]

    await chat.journey.rollback(1)
    assert await chat.journey.checks() == rows
    await chat.journey.delete()
    assert found(kept_url, "SELECT count(*) FROM validation_audit")[0][0] == 0


async def test_what_was_wrong_is_sealed_where_a_journey_is_sensitive(
    talk: Talk, kept_url: str
) -> None:
    kind = desk(NO_PROMISE, __sensitive__=True)
    chat = await talk(kind, says("guaranteed"), kept_url, encryption_key=KEY)
    await chat.says("Hi")

    [(stored,)] = found(kept_url, "SELECT violations FROM validation_audit")
    assert "guaranteed" not in stored
    [row] = await chat.journey.checks()
    assert row.violations == ["no_promise: contains 'guaranteed'"]


async def test_a_turn_that_is_not_kept_leaves_no_row(talk: Talk, memory_url: str) -> None:
    class Broken(Exception):
        pass

    def fails(given: Any) -> str:
        raise Broken

    kind: type[Journey] = desk(NO_PROMISE)
    chat = await talk(kind, {"clerk": fails}, memory_url, error_recovery="fail_fast")
    with pytest.raises(Exception, match="Broken"):
        await chat.says("Hi")
    assert await chat.journey.checks() == []


async def test_a_checked_turn_is_one_transaction(talk: Talk, tmp_path: Path) -> None:
    seen: list[str] = []
    url = f"sqlite:///{tmp_path / 'journeys.db'}"
    chat = await talk(desk(NO_PROMISE), says("Hello.", "guaranteed"), url)
    await chat.says("Hi")
    store = (await chat.journey.manager._session()).store
    store.saver.conn.set_trace_callback(seen.append)
    await chat.says("Hi")
    store.saver.conn.set_trace_callback(None)

    words = [statement.split()[0] for statement in seen]
    assert (words.count("BEGIN"), words.count("COMMIT")) == (1, 1)
    assert sum("INTO validation_audit" in statement for statement in seen) == 1


async def test_postgres_writes_the_row_in_the_turns_one_statement(
    talk: Talk, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    execute = AsyncCursor.execute

    async def spied(self: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        asked.append(str(query))
        return await execute(self, query, *args, **kwargs)

    chat = await talk(desk(NO_PROMISE), says("Hello.", "guaranteed"), postgres_url)
    await chat.says("Hi")
    monkeypatch.setattr(AsyncCursor, "execute", spied)
    await chat.says("Hi")

    assert [query.split()[0].upper() for query in asked] == ["WITH", "WITH"]
    assert "INTO validation_audit" in asked[-1]
