"""Connections to a Postgres database: shared, checked, and none of them waited for in vain.

A server or a network that dies may leave a connection on which nothing ever comes back. Three limits
end that: the server gives up a statement, or a lock that it waits for; and after a while the
connection is cut on our side. What failed in passing is tried once more on another connection.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool

from graphs.faults import passes

Connection = AsyncConnection[dict[str, Any]]
_T = TypeVar("_T")

DEADLINE = 12.0
"""Seconds for a deed with its second try, from the wait for a connection to the answer."""
ANSWER = 5.0
"""Seconds after which a connection is cut that has not finished what one try does on it."""
LOCK = 3.0
"""Seconds for which the server waits for a lock that somebody else holds."""
TRUSTED = 1.0
"""Seconds since its last use for which a connection is taken to be alive, unchecked."""
_CHECK = 1.0
_IDLE, _LIFETIME = 300.0, 1800.0


class Connections:
    """The connections of one event loop to one database.

    Args:
        url: Of the database.
        size: Most connections at a time.
    """

    def __init__(self, url: str, size: int) -> None:
        self.pool = AsyncConnectionPool[Connection](
            _limited(url),
            min_size=1,
            max_size=size,
            max_idle=_IDLE,
            max_lifetime=_LIFETIME,
            timeout=DEADLINE,
            open=False,
            name="journeygraph",
            kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
        )
        self._used: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()
        self._broke = 0.0

    async def open(self) -> None:
        """Open the pool; connections are made when they are asked for."""
        await self.pool.open()

    async def close(self) -> None:
        """Close every connection."""
        await self.pool.close()

    async def trying(self, deed: Callable[[Connection], Awaitable[_T]]) -> _T:
        """Do something on a connection; if that fails in passing, once more on another one.

        Raises:
            psycopg.Error: It failed for good, twice, or the deadline is over.
        """
        deadline = _clock() + DEADLINE
        try:
            return await self._tried(deed, deadline)
        except psycopg.Error as error:
            if not passes(error) or _clock() >= deadline:
                raise
        return await self._tried(deed, deadline)

    async def _tried(self, deed: Callable[[Connection], Awaitable[_T]], deadline: float) -> _T:
        async with self.connection(deadline) as connection:
            return await deed(connection)

    @asynccontextmanager
    async def connection(self, deadline: float | None = None) -> AsyncIterator[Connection]:
        """Lend a connection that is alive; it is cut if it is not given back in time."""
        connection = await self._alive(deadline or _clock() + DEADLINE)
        try:
            with _cut_after(connection, ANSWER):
                yield connection
        finally:
            if connection.closed:
                # Who shared its fate may look alive: a network does not tell.
                self._broke = _clock()
            self._used[connection] = _clock()
            await self.pool.putconn(connection)

    async def _alive(self, deadline: float) -> Connection:
        """Take a connection from the pool, and throw away what turns out to be dead.

        The pool's own check has no limit, costs a round trip for each statement, and pauses for
        seconds when two connections in a row are dead, as all of them are after a restart.
        """
        while True:
            connection = await self.pool.getconn(timeout=deadline - _clock())
            used = self._used.get(connection, 0.0)
            if used > max(self._broke, _clock() - TRUSTED) or await self._answers(connection, used):
                return connection
            await connection.close()
            await self.pool.putconn(connection)

    async def _answers(self, connection: Connection, used: float) -> bool:
        if 0.0 < used <= self._broke:
            return False
        with suppress(psycopg.Error), _cut_after(connection, _CHECK):
            await AsyncConnectionPool.check_connection(connection)
        return not connection.closed


@contextmanager
def _cut_after(connection: Connection, seconds: float) -> Iterator[None]:
    """End what runs on a connection after so many seconds, whether anybody answers or not.

    Cancelling would wait for the server's answer, which may be what is missing.
    """
    timer = asyncio.get_running_loop().call_later(seconds, _cut, connection)
    try:
        yield
    finally:
        timer.cancel()


def _cut(connection: Connection) -> None:
    with suppress(psycopg.Error, OSError):
        with socket.socket(fileno=os.dup(connection.fileno())) as end:
            end.shutdown(socket.SHUT_RDWR)


def _limited(url: str) -> str:
    """Add our limits to a URL; what it says itself counts."""
    given = conninfo_to_dict(url)
    limits = f"-c statement_timeout={_milliseconds(ANSWER - 1)} -c lock_timeout={_milliseconds(LOCK)}"
    options = f"{limits} {given.get('options') or ''}".strip()
    ours = {"connect_timeout": "5", "application_name": "journeygraph"}
    return make_conninfo(**{**ours, **given, "options": options})


def _milliseconds(seconds: float) -> int:
    return int(seconds * 1000)


def _clock() -> float:
    return asyncio.get_running_loop().time()
