"""Where sessions live: one store for each URL, key and event loop, shared by who uses it."""

from __future__ import annotations

import asyncio
import sqlite3
import weakref
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiosqlite
from alembic.util import CommandError
from sqlalchemy.exc import SQLAlchemyError

from graphs import statements
from graphs.checkpoints import SqliteJourneySaver
from graphs.compile import Graph
from graphs.migrate import migrate
from graphs.sealing import AesSeal, Seal
from graphs.statements import Row, Statement
from journeys import StateError

_BUSY_SECONDS = 5.0
_CLOSED = ("no active connection", "Connection closed")
_Key = tuple[str, bytes | None]
_open: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[_Key, asyncio.Task[Store]]]
_open = weakref.WeakKeyDictionary()
# A database in memory lives as long as a connection to it does; one each for the process.
_anchors: dict[str, sqlite3.Connection] = {}


@dataclass(eq=False)
class Store:
    """Sessions in one database, as one event loop uses them.

    Attributes:
        saver: Checkpoints and ledger.
        seal: How text is stored.
        graphs: Compiled graphs, by journey and settings that are built in.
    """

    key: _Key = field(repr=False)
    saver: SqliteJourneySaver
    seal: Seal
    graphs: dict[Any, Graph] = field(default_factory=dict)
    users: int = 0
    _locks: weakref.WeakValueDictionary[str, asyncio.Lock] = field(
        default_factory=weakref.WeakValueDictionary
    )

    def lock(self, session_id: str) -> asyncio.Lock:
        """Return the turn lock of a session: first come, first served."""
        lock = self._locks.get(session_id)
        if lock is None:
            lock = self._locks[session_id] = asyncio.Lock()
        return lock

    async def head(self, session_id: str) -> Row | None:
        """Return the session's row with the checkpoint of its head; None if it is not there."""
        rows = await self.read(statements.HEAD, session=session_id)
        return rows[0] if rows else None

    async def read(self, sql: str, **parameters: Any) -> list[Row]:
        """Return the rows of a query.

        Raises:
            StateError: The database could not be read.
        """
        with translated():
            return await self.saver.read(sql, **parameters)

    async def write(self, *written: Statement) -> None:
        """Write statements in one transaction.

        Raises:
            StateError: The database could not be written, or another was first.
        """
        with translated():
            await self.saver.write(list(written))

    async def forget(self, session_id: str, *, expired_at: str | None = None) -> None:
        """Remove a session's state, turns and audit.

        Args:
            session_id: The session.
            expired_at: The time, if its row is to stay as a tombstone because it is over by then.

        Raises:
            LostRace: It is not over by then, or its row is a tombstone already.
            StateError: The database could not be written.
        """
        row: list[Row] = [{"session": session_id, "now": expired_at}]
        if expired_at:
            first = Statement(statements.MARK_EXPIRED, row, exactly_one=True)
        else:
            first = Statement(statements.FORGET_SESSION, row)
        others = (statements.FORGET_AUDIT, statements.FORGET_TURNS)
        with translated():
            await self.saver.forget(session_id, [first, *(Statement(sql, row) for sql in others)])

    async def close(self) -> None:
        """Let go of the store; the last who does closes it."""
        self.users -= 1
        if self.users <= 0:
            _open.get(asyncio.get_running_loop(), {}).pop(self.key, None)
            await self.saver.close()


@contextmanager
def translated() -> Any:
    """Turn what a database raises into `StateError`."""
    try:
        yield
    except sqlite3.IntegrityError as error:
        raise StateError(f"The store refused a row that is there already: {error}") from error
    except (sqlite3.Error, ValueError) as error:
        if isinstance(error, ValueError) and str(error) not in _CLOSED:
            raise
        raise StateError(
            f"The store did not answer: {error}. The session stands where it stood; try again.",
            retryable=True,
        ) from error


async def open_store(url: str, key: bytes | None) -> Store:
    """Return the store of a URL, opened and set up.

    Args:
        url: "memory://", "memory://NAME" or "sqlite:///FILE".
        key: 32 bytes to encrypt with; None stores plain text.

    Raises:
        StateError: The database cannot be opened, with the reason.
    """
    stores = _open.setdefault(asyncio.get_running_loop(), {})
    place = (_place(url), key)
    if place not in stores:
        stores[place] = asyncio.ensure_future(_opened(place))
    try:
        store = await asyncio.shield(stores[place])
    except Exception:
        stores.pop(place, None)
        raise
    store.users += 1
    return store


def _place(url: str) -> str:
    """Return the SQLite URI of a store's URL."""
    scheme, _, name = url.partition("://")
    if scheme == "memory":
        return f"file:/journeygraph-{quote(name, safe='')}?vfs=memdb"
    path = Path(name.removeprefix("/")).resolve()
    return f"file:{quote(str(path))}"


async def _opened(place: _Key) -> Store:
    uri, key = place
    seal = AesSeal(key) if key else Seal()
    connect = _connector(uri)
    try:
        if "vfs=memdb" in uri and uri not in _anchors:
            _anchors[uri] = connect()
        await asyncio.to_thread(migrate, connect)
        connection = aiosqlite.Connection(connect, iter_chunk_size=64)
        # Otherwise a script that forgets to close would hang at its end.
        connection._thread.daemon = True
        await connection
        # The default keeps 2 MB for each connection, and more while a large context is written.
        await connection.execute("PRAGMA cache_size=-500")
        connection.row_factory = sqlite3.Row
        saver = SqliteJourneySaver(connection, serde=seal.serializer())
        await saver.setup()
    except (sqlite3.Error, SQLAlchemyError, CommandError) as error:
        raise StateError(
            f"The store {uri.partition('?')[0].removeprefix('file:')} cannot be opened: "
            f"{_why(error)}. Check that its folder exists and can be written, and that it is a "
            "SQLite file of this release or an older one, with no foreign tables in it.",
            retryable="locked" in str(error),
        ) from error
    return Store(place, saver, seal)


def _why(error: Exception) -> str:
    """Return the reason alone, without the statement that SQLAlchemy adds to it."""
    return str(getattr(error, "orig", None) or error)


def _connector(uri: str) -> Callable[[], sqlite3.Connection]:
    def connect() -> sqlite3.Connection:
        return sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, check_same_thread=False)

    return connect
