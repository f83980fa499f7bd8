"""Faults in a turn: the session is in its state before or after it."""

from __future__ import annotations

import asyncio
import contextlib
import random
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import aiosqlite
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command, interrupt

from journeygraph import (
    StateError,
    VersionNotFoundError,
)
from journeygraph.graphs.storage import store as stores
from journeygraph.journeys.config import EncryptionKeys
from tests.support.post_office import AGENTS, Parcel, database, echo, opened, rows

Talk = Callable[..., Any]
ECHO = {**AGENTS, "address": echo}


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'journeys.db'}"


class Gate:
    """An agent that waits until it is released."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.open = asyncio.Event()

    async def __call__(self, payload: dict[str, Any]) -> dict[str, Any]:
        self.reached.set()
        await self.open.wait()
        return {"response": "through", "street": "Main"}


async def situation(parcel: Parcel) -> Any:
    return await parcel.get_session_state(), await parcel.versions(), await parcel.audit()


async def heard(parcel: Parcel) -> list[str]:
    """The messages in the context, which must be those of the ledger and the transcript."""
    state = await parcel.get_session_state()
    assert state is not None
    kept: list[str] = state.accumulated_context.get("heard", [])
    transcript = await parcel.transcript()
    assert [entry.content for entry in transcript if entry.role == "user"] == kept
    assert [e.content for e in transcript if e.role == "assistant"] == [f"heard {k}" for k in kept]
    assert [row.version for row in await parcel.versions()] == list(range(len(kept) + 1))
    assert state.version == len(kept)
    return kept


# ------------------------------------------------------------------ many messages at once


async def test_nine_messages_at_once_all_count_in_order(talk: Talk, store_url: str) -> None:
    call = await talk(Parcel, ECHO, store_url)
    said = [f"message {number}" for number in range(9)]

    replies = await asyncio.gather(*(call.journey.process_message(text) for text in said))

    assert [reply.message for reply in replies] == [f"heard {text}" for text in said]
    assert [reply.metadata["version"] for reply in replies] == list(range(1, 10))
    assert await heard(call.journey) == said


async def test_two_handles_take_turns_on_one_session(store_url: str) -> None:
    running: list[str] = []

    async def alone(payload: dict[str, Any]) -> dict[str, Any]:
        running.append(payload["message"])
        await asyncio.sleep(0.005)
        assert running.pop() == payload["message"]
        return await echo(payload)

    agents = {**AGENTS, "address": alone}
    async with opened(store_url, agents=agents) as one, opened(store_url, agents=agents) as other:
        await one.start()
        await other.get_session_state()
        said = [f"message {number}" for number in range(9)]
        turns = [(one, other)[n % 2].process_message(text) for n, text in enumerate(said)]
        await asyncio.gather(*turns)
        assert await heard(one) == said
        assert await heard(other) == said


class Caller:
    """A user who writes to a session, and remembers the messages that counted."""

    def __init__(self, url: str, name: str) -> None:
        self.url = url
        self.name = name
        self.counted: list[str] = []
        self.refused: list[StateError] = []

    async def talk(self) -> None:
        async with opened(self.url, agents=ECHO) as parcel:
            for number in range(12):
                text = f"{self.name} {number}"
                try:
                    await parcel.process_message(text)
                    self.counted.append(text)
                except StateError as error:
                    self.refused.append(error)


def test_two_event_loops_on_one_store_lose_nothing(store_url: str) -> None:
    """A message counts once, or is refused with an error that says try again; never both.

    Where a turn has a lease, none is refused.
    """
    url = store_url

    async def alone(*, begin: bool) -> list[str]:
        async with opened(url, agents=ECHO) as parcel:
            if begin:
                await parcel.start()
            return await heard(parcel)

    asyncio.run(alone(begin=True))
    callers = [Caller(url, "a"), Caller(url, "b")]
    threads = [threading.Thread(target=lambda c=c: asyncio.run(c.talk())) for c in callers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    kept = asyncio.run(alone(begin=False))
    for caller in callers:
        assert [text for text in kept if text.startswith(caller.name)] == caller.counted
        assert len(caller.counted) + len(caller.refused) == 12
        assert all(error.retryable for error in caller.refused)
    assert len(kept) == sum(len(caller.counted) for caller in callers)
    assert len(kept) == 24 or not url.startswith("postgresql")


async def test_an_agent_may_look_at_its_own_session(store_url: str) -> None:
    """It sees the position before the turn, and does not wait for itself."""
    seen: list[Any] = []

    async def looks(payload: dict[str, Any]) -> dict[str, Any]:
        state = await parcel.get_session_state()
        assert state is not None
        seen.append((state.version, state.accumulated_context, len(await parcel.versions())))
        return {"response": "seen", "heard": "a"}

    async with opened(store_url, agents={**AGENTS, "address": looks}) as parcel:
        await parcel.start()
        for _ in range(2):
            await parcel.process_message("hello")
    assert seen == [(0, {}, 1), (1, {"heard": ["a"]}, 2)]


async def test_a_turn_on_a_deleted_session_is_refused_and_leaves_nothing(kept_url: str) -> None:
    gate = Gate()
    async with opened(kept_url, agents={**AGENTS, "address": gate}) as parcel:
        await parcel.start()
        turn = asyncio.ensure_future(parcel.process_message("hello"))
        await gate.reached.wait()
        await parcel.delete()
        gate.open.set()

        with pytest.raises(StateError, match="was deleted while this turn ran"):
            await turn
        assert set(rows(kept_url).values()) == {0}
        assert await parcel.get_session_state() is None


async def test_a_turn_of_a_deleted_session_does_not_enter_its_successor(kept_url: str) -> None:
    gate = Gate()
    agents = {**AGENTS, "address": gate}
    ready, go = threading.Event(), threading.Event()
    result: list[Any] = []

    async def elsewhere() -> None:
        async with opened(kept_url, agents={**AGENTS, "address": held}) as parcel:
            result.extend(await asyncio.gather(parcel.process_message("x"), return_exceptions=True))

    def held(payload: dict[str, Any]) -> dict[str, Any]:
        ready.set()
        go.wait(3)
        return {"response": "through", "street": "Old"}

    async with opened(kept_url, agents=agents) as parcel:
        await parcel.start({"customer": "old"})
        thread = threading.Thread(target=lambda: asyncio.run(elsewhere()))
        thread.start()
        await asyncio.to_thread(ready.wait, 3)
        await parcel.delete()
        await parcel.start({"customer": "new"})
        go.set()
        await asyncio.to_thread(thread.join)

        assert isinstance(result[0], StateError)
        assert await parcel.snapshot() == {"customer": "new"}
        assert len(await parcel.versions()) == 1


async def test_what_fails_after_a_delete_leaves_no_audit(kept_url: str) -> None:
    async def deletes(payload: dict[str, Any]) -> str:
        await parcel.delete()
        raise ValueError("secret of a deleted session")

    agents = {**AGENTS, "address": deletes}
    async with opened(kept_url, agents=agents, error_recovery="fail_fast") as parcel:
        await parcel.start()
        with pytest.raises(Exception, match="secret"):
            await parcel.process_message("hello")
        assert set(rows(kept_url).values()) == {0}


# ------------------------------------------------------------------ giving up in the middle


async def test_a_cancelled_turn_leaves_the_session_before_it(store_url: str) -> None:
    gate = Gate()
    async with opened(store_url, agents={**AGENTS, "address": gate}) as parcel:
        await parcel.start()
        before = await situation(parcel)
        turn = asyncio.ensure_future(parcel.process_message("hello"))
        await gate.reached.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn

        assert await situation(parcel) == before
        gate.open.set()
        reply = await parcel.process_message("hello")
        assert (reply.message, reply.metadata["version"]) == ("through", 1)


async def test_a_turn_cancelled_at_any_moment_is_whole_or_not_there(store_url: str) -> None:
    moments = random.Random(7)
    async with opened(store_url, agents=ECHO) as parcel:
        await parcel.start()
        counted: list[str] = []
        for number in range(80):
            text = f"message {number}"
            turn = asyncio.ensure_future(parcel.process_message(text))
            await asyncio.sleep(moments.uniform(0, 0.008))
            turn.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await turn
                counted.append(text)
        kept = await heard(parcel)
        assert set(counted) <= set(kept)
        assert kept == sorted(kept, key=lambda text: int(text.split()[1]))
        assert (await parcel.process_message("the last")).message == "heard the last"


async def test_a_stream_closed_midway_gives_its_turn_up(store_url: str) -> None:
    async def speaks(payload: dict[str, Any]) -> Any:
        for word in ("one ", "two ", "three"):
            yield word
            await asyncio.sleep(0.01)

    async with opened(store_url, agents={**AGENTS, "address": speaks}) as parcel:
        await parcel.start()
        before = await situation(parcel)
        stream = parcel.stream_message("hello")
        async for event in stream:
            if event.type == "token":
                break
        await stream.aclose()  # type: ignore[attr-defined]

        assert await situation(parcel) == before
        events = [event async for event in parcel.stream_message("again")]
        assert [event.type for event in events][-1] == "done"
        assert events[-1].data["response"].message == "one two three"
        assert events[-1].data["response"].metadata["version"] == 1


# ------------------------------------------------------------------ a store that fails


async def streamed(parcel: Parcel, message: str) -> list[str]:
    """The types of the events of a turn that may well fail."""
    events: list[str] = []
    with contextlib.suppress(StateError):
        async for event in parcel.stream_message(message):
            events.append(event.type)
    assert events.count("error") + events.count("done") == 1
    return events


@contextlib.contextmanager
def refusing(url: str, table: str) -> Iterator[None]:
    """Make a table refuse every new row, as a full disk would."""
    with database(url) as connection:
        connection.execute(
            f"CREATE TRIGGER full BEFORE INSERT ON {table} BEGIN SELECT RAISE(FAIL, 'full'); END"
        )
        yield
        connection.execute("DROP TRIGGER full")


@pytest.mark.parametrize("table", ["turns", "audit", "checkpoints"])
async def test_a_commit_that_fails_leaves_the_session_before(sqlite_url: str, table: str) -> None:
    async with opened(sqlite_url) as parcel:
        await parcel.start()
        await parcel.process_message("street=Main")
        before = await situation(parcel)
        with refusing(sqlite_url, table):
            with pytest.raises(StateError):
                await parcel.process_message("how much")
            assert (await streamed(parcel, "how much"))[-1] == "error"

        assert await situation(parcel) == before
        assert (await parcel.process_message("how much")).pathway_id == "prices"


async def test_a_locked_database_is_an_error_to_try_again(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "_BUSY_SECONDS", 0.1)
    async with opened(sqlite_url) as parcel:
        await parcel.start()
        before = await situation(parcel)
        with database(sqlite_url) as other:
            other.execute("BEGIN EXCLUSIVE")
            for call in (parcel.process_message("hello"), parcel.rollback(0), parcel.delete()):
                with pytest.raises(StateError, match="Try again") as locked:
                    await call
                assert locked.value.retryable
            other.execute("ROLLBACK")

        assert await situation(parcel) == before
        assert (await parcel.process_message("street=Main")).metadata["version"] == 1


async def test_a_short_lock_is_waited_for(sqlite_url: str) -> None:
    async with opened(sqlite_url) as parcel:
        await parcel.start()
        with database(sqlite_url) as other:
            other.execute("BEGIN EXCLUSIVE")
            turn = asyncio.ensure_future(parcel.process_message("hello"))
            await asyncio.sleep(0.2)
            other.execute("ROLLBACK")
        assert (await turn).metadata["version"] == 1


async def test_a_turn_is_one_transaction(sqlite_url: str) -> None:
    seen: list[str] = []
    async with opened(sqlite_url) as parcel:
        await parcel.start()
        store = (await parcel.manager._session()).store
        store.saver.conn.set_trace_callback(seen.append)  # type: ignore[union-attr]
        for text in ("hello", "how much", "street=Main"):
            await parcel.process_message(text)
            words = [statement.split()[0].upper() for statement in seen]
            assert (words.count("BEGIN"), words.count("COMMIT")) == (1, 1)
            assert not {"ROLLBACK", "SAVEPOINT"} & set(words)
            seen.clear()
        await parcel.rollback(1)
        assert [s.split()[0] for s in seen].count("COMMIT") == 1


@pytest.mark.parametrize(("where", "hops"), [("sqlite", 2), ("memory", 0)])
async def test_a_turn_goes_to_its_store_and_back_twice(
    where: str, hops: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One call reads the head with its state, and one commits; in memory nothing is waited for."""
    url = f"sqlite:///{tmp_path / 'journeys.db'}" if where == "sqlite" else f"memory://{tmp_path}"
    back: list[Any] = []
    loop = asyncio.get_running_loop()
    wake = loop.call_soon_threadsafe

    def woken(*args: Any, **kwargs: Any) -> Any:
        back.append(args[0])
        return wake(*args, **kwargs)

    async with opened(url, agents=dict.fromkeys(AGENTS, echo)) as parcel:
        await parcel.start({"customer": "C-1"})
        # The start still looks for expired sessions.
        while parcel.manager.is_busy:  # noqa: ASYNC110
            await asyncio.sleep(0)
        monkeypatch.setattr(loop, "call_soon_threadsafe", woken)
        for number in range(1, 18):  # one of them prunes
            back.clear()
            await parcel.process_message("how much" if number % 2 else "street=Main")
            assert len(back) == hops
        back.clear()
        await parcel.snapshot()
        assert len(back) == hops / 2
        monkeypatch.undo()


async def test_a_store_that_cannot_be_opened_says_why(tmp_path: Path) -> None:
    garbage = tmp_path / "notes.txt"
    garbage.write_text("this is no database " * 1000)
    under_a_file = garbage / "journeys.db"
    for place in (garbage, under_a_file, tmp_path, tmp_path / "missing" / "journeys.db"):
        for _ in range(2):
            async with opened(f"sqlite:///{place}") as parcel:
                with pytest.raises(StateError, match=r"cannot be opened.*folder"):
                    await parcel.start()
    assert garbage.read_text().startswith("this is no database")


async def test_many_stores_can_be_opened_at_once(tmp_path: Path) -> None:
    urls = [f"sqlite:///{tmp_path / f'{number}.db'}" for number in range(6)]
    parcels = [opened(url) for url in (*urls, f"memory://{tmp_path}")]
    await asyncio.gather(*(parcel.start() for parcel in parcels))
    await asyncio.gather(*(parcel.process_message("street=Main") for parcel in parcels))
    for parcel in parcels:
        assert len(await parcel.versions()) == 2
        await parcel.close()


async def test_a_store_that_could_not_be_opened_may_be_later(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'later' / 'journeys.db'}"
    async with opened(url) as parcel:
        with pytest.raises(StateError):
            await parcel.start()
        (tmp_path / "later").mkdir()
        assert (await parcel.start()).version == 0


# ------------------------------------------------------------------ a graph of one's own


@pytest.mark.parametrize("key", [None, bytes(range(32))])
@pytest.mark.parametrize("durability", ["exit", "sync", "async"])
async def test_a_graph_that_runs_on_a_store_without_a_session_keeps_its_thread(
    store_url: str, durability: Any, key: bytes | None
) -> None:
    async def asks(payload: dict[str, Any]) -> dict[str, Any]:
        if payload["message"] == "ask":
            return {"response": "ok", "street": interrupt("Which street?")}
        return {"response": "ok", "street": payload["message"]}

    store = await stores.open_store(store_url, EncryptionKeys.of(key) if key else None, 2)
    graph = Parcel.compile(agents={**AGENTS, "address": asks}, checkpointer=store.saver)
    thread: Any = {"configurable": {"thread_id": "t"}}
    await graph.ainvoke({"messages": "Main"}, thread, durability=durability)
    await graph.ainvoke({"messages": "hello"}, thread, durability=durability)
    state = await graph.aget_state(thread)
    assert state.values["context"]["street"] == "Main"
    history = [past async for past in graph.aget_state_history(thread, limit=50)]
    assert history[0].config == state.config
    assert "__values" not in (state.metadata or {})
    assert (
        len([x async for x in store.saver.alist(thread, filter={"source": "loop"}, limit=1)]) == 1
    )

    fork = await graph.aupdate_state(state.config, {"context": {"street": "Side"}})
    assert (await graph.aget_state(fork)).values["context"]["street"] == "Side"
    assert (await graph.aget_state(state.config)).values["context"]["street"] == "Main"

    asked: Any = {"configurable": {"thread_id": "u"}}
    waiting = await graph.ainvoke({"messages": "ask"}, asked, durability=durability)
    assert waiting["__interrupt__"][0].value == "Which street?"
    done = await graph.ainvoke(Command(resume="Elm"), asked, durability=durability)
    assert done["context"]["street"] == "Elm"

    for name in ("t", "u"):
        await store.saver.adelete_thread(name)
    assert (await graph.aget_state(thread)).values == {}
    if not store_url.startswith("memory"):
        assert set(rows(store_url).values()) == {0}
    await store.close()


# ------------------------------------------------------------------ a saver handed in


@contextlib.asynccontextmanager
async def saver_of(kind: str, folder: Path) -> Any:
    if kind == "memory":
        yield InMemorySaver()
        return
    async with aiosqlite.connect(folder / "own.db") as connection:
        yield AsyncSqliteSaver(connection)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_saver_handed_in_keeps_the_state(store_url: str, tmp_path: Path, kind: str) -> None:
    async with saver_of(kind, tmp_path) as saver:
        async with opened(store_url, saver=saver) as parcel:
            await parcel.start({"customer": "C-1"})
            await parcel.process_message("street=Main")
            await parcel.process_message("insure it")
        async with opened(store_url, saver=saver) as parcel:
            assert (await parcel.process_message("value=9")).metadata["returning"]
            session = await parcel.rollback(1)
            assert session.accumulated_context == {"customer": "C-1", "street": "Main"}
            last = await parcel.process_message("card=1")
            assert (last.is_journey_complete, last.metadata["version"]) == (True, 5)
            assert [row.value for row in await parcel.context_history("value")] == [None, "9", None]
            config: Any = {"configurable": {"thread_id": "s-1"}}
            assert len([item async for item in saver.alist(config)]) == 5
            await parcel.delete()
            assert [item async for item in saver.alist(config)] == []


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_ledger_without_its_checkpoints_is_an_error_and_no_fresh_start(
    store_url: str, tmp_path: Path, kind: str
) -> None:
    async with saver_of(kind, tmp_path) as saver, opened(store_url, saver=saver) as parcel:
        await parcel.start()
        await parcel.process_message("street=Main")

    for options in ({}, {"saver": InMemorySaver()}):
        async with opened(store_url, **options) as parcel:  # type: ignore[arg-type]
            with pytest.raises(StateError, match="not in its saver"):
                await parcel.process_message("hello")
            with pytest.raises(VersionNotFoundError, match="not in its saver"):
                await parcel.get_session_state()
            assert len(await parcel.versions()) == 2


async def test_a_checkpoint_whose_ledger_row_failed_is_never_looked_at(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "_BUSY_SECONDS", 0.1)
    saver = InMemorySaver()
    async with opened(sqlite_url, saver=saver) as parcel:
        await parcel.start()
        before = await situation(parcel)
        with database(sqlite_url) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StateError, match="Try again"):
                await parcel.process_message("street=Main")
            other.execute("ROLLBACK")

        assert len(list(saver.list({"configurable": {"thread_id": "s-1"}}))) == 2
        assert await situation(parcel) == before
        assert (await parcel.process_message("street=Side")).metadata["version"] == 1
        assert await parcel.snapshot() == {"street": "Side"}


async def test_a_saver_that_fails_leaves_the_session_before(store_url: str) -> None:
    class Broken(InMemorySaver):
        broken = False

        async def aput(self, *args: Any) -> Any:
            if self.broken:
                raise sqlite3.OperationalError("disk I/O error")
            return await super().aput(*args)

    saver = Broken()
    async with opened(store_url, saver=saver) as parcel:
        await parcel.start()
        before = await situation(parcel)
        saver.broken = True
        with pytest.raises(StateError, match="disk I/O error"):
            await parcel.process_message("street=Main")
        saver.broken = False
        assert await situation(parcel) == before
        assert (await parcel.process_message("street=Main")).metadata["version"] == 1
