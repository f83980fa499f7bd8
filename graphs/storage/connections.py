"""Connections to a Postgres database: shared, checked, and with time limits.

A server or a network that dies may leave a connection on which nothing ever comes back. Three
limits end that: the server gives up a statement, or a lock that it waits for; and after a while
the connection is cut on our side. What failed in passing is tried once more on another connection.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import psycopg
from psycopg import AsyncConnection, AsyncCursor, errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import PipelineStatus
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from journeygraph.graphs.storage.statements import (
    TENANT_SETTING,
    Row,
    Sql,
)
from journeygraph.journeys import ConfigurationError
from journeygraph.journeys.config import TENANT

Connection = AsyncConnection[dict[str, Any]]
Deed = Callable[[Connection], Awaitable[None]]
_T = TypeVar("_T")
_Cursor = TypeVar("_Cursor", bound=AsyncCursor[Any])

DEADLINE = 12.0
"""Seconds for an operation with its second try, including the wait for a connection."""
ANSWER = 5.0
"""Seconds after which a connection with an unfinished try is closed."""
LOCK = 3.0
"""Seconds for which the server waits for a lock."""
TRUSTED = 1.0
"""Seconds since its last use within which a connection is not checked."""
CONNECT = 3.0
"""Timeout of a new connection, in seconds."""
FULL = 10.0
"""Seconds after a write that found the disk full, in which the database counts as full."""
_CHECK = 1.0
# A pool pauses longer and longer between its tries to connect, also when the server is back; one
# that has given up tries at once when it is asked again.
_GIVES_UP, _ASKED_AGAIN = 2.0, 3.0
_IDLE, _LIFETIME = 300.0, 1800.0
_PASSES = (
    psycopg.OperationalError,  # cut, refused, locked, out of time, out of disk, shut down
    errors.ReadOnlySqlTransaction,  # a server that stopped being, or is not yet, the primary
    errors.IdleInTransactionSessionTimeout,
)


class Connections:
    """The connections of one event loop to one database.

    Args:
        url: URL of the database.
        size: Maximum number of connections.
    """

    def __init__(self, url: str, size: int) -> None:
        self._url, self._size = _limited(url), size
        self._broke = 0.0
        self._full: float | None = None
        self._closing = False
        self._begin()

    def _begin(self) -> None:
        self.pool = _Pool(
            self._url,
            min_size=1,
            max_size=self._size,
            max_idle=_IDLE,
            max_lifetime=_LIFETIME,
            reconnect_timeout=_GIVES_UP,
            open=False,
            name="journeygraph",
            kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
        )
        self._loop = asyncio.get_running_loop()
        self._used: WeakKeyDictionary[Connection, float] = WeakKeyDictionary()
        self._lent = 0
        self._quiet = asyncio.Event()

    async def open(self, first: Callable[[AsyncConnection[Any]], Awaitable[None]]) -> None:
        """Run a first operation on a separate connection, then open the pool.

        Only a connection, not a pool, reports why a database is not available.

        Raises:
            psycopg.Error: The database is not available, or does not respond in time.
        """
        async with await AsyncConnection.connect(self._url, autocommit=True) as connection:
            with _cut_after(connection, ANSWER):
                await first(connection)
        await self.pool.open()

    async def close(
        self, last: Callable[[], Callable[[Connection], Awaitable[None]] | None]
    ) -> None:
        """Wait for running operations, refuse new ones, run a last one, and close every connection.

        Args:
            last: Returns the last operation, if any. The connections close even if it fails.
        """
        self._closing = True
        await self._follow()
        if self._lent:
            await self._quiet.wait()
        if left := last():
            with suppress(psycopg.Error):
                async with self._lend(_clock() + DEADLINE, last=True) as connection:
                    await left(connection)
        await self.pool.close()

    async def _follow(self) -> None:
        """Create a new pool for the running event loop, if the previous loop has ended."""
        if self._loop is not asyncio.get_running_loop():
            for connection in list(self._used):
                connection.pgconn.finish()
            self._begin()
            await self.pool.open()

    async def trying(
        self, deed: Callable[[Connection], Awaitable[_T]], within: float | None = None
    ) -> _T:
        """Run an operation on a connection; after a temporary failure, once more on another one.

        Args:
            deed: The operation.
            within: Seconds within which a second try may start; default: the deadline.

        Raises:
            psycopg.Error: It failed permanently or twice, or the deadline has passed.
        """
        await self._follow()
        deadline = _clock() + (within or DEADLINE)
        try:
            return await self._tried(deed, deadline)
        except psycopg.Error as error:
            if not _passes(error) or _clock() >= deadline:
                raise
        return await self._tried(deed, deadline)

    async def _tried(self, deed: Callable[[Connection], Awaitable[_T]], deadline: float) -> _T:
        try:
            async with self._lend(deadline) as connection:
                return await deed(connection)
        except errors.DiskFull:
            self._full = _clock()
            raise

    @property
    def is_full(self) -> bool:
        """Return whether the disk was full at a write of the last seconds.

        A full disk refuses a turn, which needs new pages, while it still takes a row that replaces
        another one.
        """
        return self._full is not None and _clock() - self._full < FULL

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Yield a live connection; close it if it is not returned in time."""
        await self._follow()
        async with self._lend(_clock() + DEADLINE) as connection:
            yield connection

    @asynccontextmanager
    async def _lend(self, deadline: float, *, last: bool = False) -> AsyncIterator[Connection]:
        self._lent += 1
        self._quiet.clear()
        try:
            connection = await self._alive(deadline, last)
            try:
                with _cut_after(connection, ANSWER):
                    yield connection
            finally:
                await self._given_back(connection)
        finally:
            self._lent -= 1
            if not self._lent:
                self._quiet.set()

    async def _given_back(self, connection: Connection) -> None:
        self._used[connection] = _clock()
        if connection.pgconn.pipeline_status != PipelineStatus.OFF:
            await connection.close()  # its user was cancelled: it would keep each statement back
        if connection.closed:
            # Who shared its fate may look alive: a network does not tell.
            self._broke = _clock()
        await self._put(connection)

    async def _put(self, connection: Connection) -> None:
        # Whoever is cancelled here would take the connection with them, and the pool never gets
        # over it.
        await asyncio.shield(asyncio.ensure_future(self.pool.putconn(connection)))

    async def _alive(self, deadline: float, last: bool) -> Connection:
        """Take a live connection from the pool; close the dead ones.

        The pool's own check has no limit, costs a round trip for each statement, and pauses for
        seconds when two connections in a row are dead, as all of them are after a restart.
        """
        while True:
            if self._closing and not last:
                raise PoolClosed("the store was closed in the meantime")
            connection = await self._from_pool(deadline)
            alive = False
            try:
                alive = (last or not self._closing) and await self._answers(connection)
                if alive:
                    return connection
            finally:
                if not alive:
                    await connection.close()
                    await self._put(connection)

    async def _from_pool(self, deadline: float) -> Connection:
        while True:
            try:
                return await self.pool.getconn(min(deadline - _clock(), _ASKED_AGAIN))
            except PoolTimeout:
                if _clock() >= deadline:
                    raise

    async def _answers(self, connection: Connection) -> bool:
        """Return whether a connection is alive; one that was just used is not checked."""
        used = self._used.get(connection, 0.0)
        if used > max(self._broke, _clock() - TRUSTED):
            return True
        if 0.0 < used <= self._broke:
            return False
        with suppress(psycopg.Error), _cut_after(connection, _CHECK):
            await AsyncConnectionPool.check_connection(connection)
        return not connection.closed


class _Pool(AsyncConnectionPool[Connection]):
    """Pool whose workers end when they are cancelled.

    psycopg_pool takes the cancellation of a worker that connects for a failed connection, and the
    worker continues. A program that ends with an open store would then wait for it forever.
    """

    @classmethod
    async def worker(cls, q: Any) -> None:
        """Run the tasks of the pool until it is closed, or the worker is cancelled."""
        await super().worker(_UntilCancelled(q))  # type: ignore[arg-type]


class _UntilCancelled:
    """Tasks of a pool, up to the cancellation of the worker that asks for them."""

    def __init__(self, tasks: Any) -> None:
        self._tasks = tasks

    async def get(self) -> Any:
        """Return the next task."""
        worker = asyncio.current_task()
        if worker and worker.cancelling():
            raise asyncio.CancelledError
        return await self._tasks.get()


ALL = "*"
"""Name of all tenants, in the setting of a transaction."""
_AS_TENANT = f"SELECT set_config('{TENANT_SETTING}', %s, true)"


async def executed(
    connection: Connection, tenant: str, query: Any, given: Any
) -> AsyncCursor[dict[str, Any]]:
    """Run a statement as one transaction in which the database shows only the rows of a tenant.

    The name of the tenant goes out with the statement, without a further round trip. A connection
    without a name has the tenant `default`.

    Raises:
        psycopg.OperationalError: The connection was lost before the result was there.
    """
    if tenant == TENANT:
        cursor = await connection.execute(query, given, binary=True)
    else:
        async with connection.pipeline():
            await connection.execute(_AS_TENANT, [tenant])
            cursor = await connection.execute(query, given, binary=True)
    return heard(cursor)


def heard(cursor: _Cursor) -> _Cursor:
    """Return a cursor whose statement has its result.

    A statement on a connection that is lost, or that a cancelled pipeline has left, may end without
    an error, and without a result.

    Raises:
        psycopg.OperationalError: There is none; the statement may be carried out all the same.
    """
    if cursor.pgresult is None:
        raise psycopg.OperationalError("the connection was lost before the result")
    return cursor


@asynccontextmanager
async def transaction_of(connection: Connection, tenant: str) -> AsyncIterator[None]:
    """Run the block as `executed` does a statement, with the result of each one at once."""
    async with connection.transaction():
        if tenant != TENANT:
            await connection.execute(_AS_TENANT, [tenant])
        yield


def seen_by(sql: Sql, row: Mapping[str, Any]) -> str:
    """Return the tenant whose rows a statement is about."""
    return ALL if sql.all_tenants else str(row["tenant"])


@contextmanager
def _cut_after(connection: AsyncConnection[Any], seconds: float) -> Iterator[None]:
    """Close a connection after so many seconds, even without a response.

    A cancellation would wait for the server's response, which may never come.
    """
    timer = asyncio.get_running_loop().call_later(seconds, _cut, connection)
    try:
        yield
    finally:
        timer.cancel()


def _cut(connection: AsyncConnection[Any]) -> None:
    with suppress(psycopg.Error, OSError), _socket_of(connection) as end:
        end.shutdown(socket.SHUT_RDWR)


def _socket_of(connection: AsyncConnection[Any]) -> socket.socket:
    return socket.socket(fileno=os.dup(connection.fileno()))


def _limited(url: str) -> str:
    """Add our limits to a URL; its own options have priority."""
    limits = {"statement_timeout": ANSWER - 1, "lock_timeout": LOCK}
    options = " ".join(f"-c {name}={int(value * 1000)}" for name, value in limits.items())
    given: dict[str, Any] = {"connect_timeout": f"{CONNECT:g}", "application_name": "journeygraph"}
    given |= {name: value for name, value in conninfo_to_dict(url).items() if value is not None}
    given["options"] = f"{options} {given.get('options', '')}".strip()
    return make_conninfo(**given)


def _clock() -> float:
    return asyncio.get_running_loop().time()


def _passes(error: BaseException) -> bool:
    """Return whether a repetition may succeed later, or on another connection."""
    return isinstance(error, _PASSES) and not isinstance(error, PoolClosed)


def database_name(url: str) -> str:
    """Return host, port and name of a Postgres database; other parts of a URL are never shown.

    Raises:
        ConfigurationError: The URL cannot be read; it is not shown, because it may contain a
            password.
    """
    parts = _parts_of(url)
    if parts is None:
        raise ConfigurationError(
            "persistence is a Postgres URL that cannot be read. It looks like "
            "postgresql://USER:PASSWORD@HOST:5432/DATABASE; special characters in it are escaped "
            "as %XX."
        )
    host, port = parts.get("host", "localhost"), parts.get("port", 5432)
    return f"{host}:{port}/{parts.get('dbname') or parts.get('user') or ''}"


def _parts_of(url: str) -> Mapping[str, Any] | None:
    # Nothing may refer to what libpq says of a URL: it quotes it.
    try:
        return conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return None


async def run(connection: Connection, sql: Sql, **parameters: Any) -> list[Row]:
    """Return the rows of a statement; none if it has no result.

    Raises:
        psycopg.OperationalError: The connection was lost before the result was there.
    """
    assert sql.postgres
    tenant = TENANT if sql.names_tenant else seen_by(sql, parameters)
    cursor = await executed(connection, tenant, sql.postgres, parameters)
    # The description of a result would make an object for each of its columns.
    result = cursor.pgresult
    assert result is not None
    return await cursor.fetchall() if result.nfields else []
