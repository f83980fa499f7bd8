"""Stores of sessions: one for each URL, key and event loop, shared by its users."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import weakref
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, unquote

from alembic.util import CommandError
from sqlalchemy import bindparam, insert, select
from sqlalchemy.exc import SQLAlchemyError

from journeygraph.graphs.storage import statements
from journeygraph.graphs.storage.errors import raise_translated, reason_of
from journeygraph.graphs.storage.migrations.migrate import migrate
from journeygraph.graphs.storage.sealing import Seal, Seals, direct_seal
from journeygraph.graphs.storage.sqlite import SqliteJourneySaver
from journeygraph.graphs.storage.statements import Row, Sql, Statement, now
from journeygraph.graphs.storage.tables import tenants
from journeygraph.journeys import SessionBusyError, StateError, TooManyWaitingError
from journeygraph.journeys.config import TENANT, EncryptionKeys, WhenBusy
from journeygraph.journeys.errors import require_extra
from journeygraph.journeys.store_url import is_server
from journeygraph.nodes.json_data import stamp
from journeygraph.nodes.telemetry import waiting_turn

if TYPE_CHECKING:
    from journeygraph.graphs.storage.postgres import PostgresJourneySaver

POSTGRES = ("psycopg", "psycopg_pool", "langgraph.checkpoint.postgres")
"""The packages of the extra `postgres`."""
_BUSY_SECONDS = 5.0
_T = TypeVar("_T")
_Key = tuple[str, EncryptionKeys | None, int]
_open: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[_Key, asyncio.Task[Store]]]
_open = weakref.WeakKeyDictionary()
# A database in memory lives as long as a connection to it does; one each for the process, with the
# lock of those who use it.
_anchors: dict[str, tuple[sqlite3.Connection, Any]] = {}
_TENANTS = Sql.of(select(tenants.c.name).order_by(tenants.c.name))
_REGISTERED = Sql.of(select(tenants.c.at).where(tenants.c.name == bindparam("tenant")))
_REGISTER = Sql.of(
    insert(tenants).inline().values(name=bindparam("tenant"), at=bindparam("at"))
).followed_by("ON CONFLICT (name) DO NOTHING")


@dataclass(eq=False)
class Store:
    """Sessions of one tenant in one database, for one event loop.

    No statement names its tenant: the saver gives it to each.

    Attributes:
        saver: Checkpoints and ledger.
        seals: Makes the encryption of each session.
        tenant: The tenant.
        swept_until: For each journey, the time of the event loop until which no expired sessions
            are deleted.
    """

    key: _Key = field(repr=False)
    saver: SqliteJourneySaver | PostgresJourneySaver
    seals: Seals
    tenant: str = TENANT
    users: int = 0
    swept_until: dict[str, float] = field(default_factory=dict)
    _whole: Store | None = None
    _parts: dict[str, Store] = field(default_factory=dict)
    registered: set[str] = field(default_factory=lambda: {TENANT})
    _locks: weakref.WeakValueDictionary[str, SessionLock] = field(
        default_factory=weakref.WeakValueDictionary
    )

    @property
    def is_shared(self) -> bool:
        """Return whether other processes may use the database at the same time."""
        return not isinstance(self.saver, SqliteJourneySaver)

    def of(self, tenant: str) -> Store:
        """Return the sessions of another tenant in the same database, which stays open as before.

        Sessions of that tenant are begun only in a store that `open_store` returned for it.
        """
        whole = self._whole or self
        if tenant == whole.tenant:
            return whole
        if tenant not in whole._parts:
            seals = replace(whole.seals, tenant=tenant)
            part = Store(whole.key, whole.saver.of(tenant), seals, tenant, _whole=whole)
            whole._parts[tenant] = part
        return whole._parts[tenant]

    async def tenants(self) -> list[Store]:
        """Return the stores of all tenants of the database.

        Raises:
            StateError: The database could not be read.
        """
        return [self.of(TENANT), *(self.of(row["name"]) for row in await self.read(_TENANTS))]

    async def register(self) -> None:
        """Record the tenant of this store at its first use.

        Raises:
            StateError: The store failed.
        """
        if self.tenant == TENANT or await self.read(_REGISTERED):
            return
        await self.write(Statement(_REGISTER, [{"at": stamp(now())}]))

    def lock(self, session_id: str) -> SessionLock:
        """Return the turn lock of a session."""
        lock = self._locks.get(session_id)
        if lock is None:
            lock = self._locks[session_id] = SessionLock(session_id)
        return lock

    def turn(self, session_id: str, arrival: LeaseRequest | None = None) -> SessionTurn:
        """Return the turn of a session as a block, which gives its head; None if it is not there.

        Args:
            session_id: The session.
            arrival: The request for it; default: it waits, and nothing of it is kept.

        Raises:
            SessionBusyError: The session is busy, and the request must not or may not wait.
            StateError: Another process held it for too long, or the database could not be read.
        """
        return SessionTurn(self, session_id, arrival or _WAITS)

    async def head(self, session_id: str) -> Row | None:
        """Return the session's row with the state of its head; None if it does not exist."""
        return await self.version(statements.HEAD, session=session_id)

    async def version(self, query: Sql, **parameters: Any) -> Row | None:
        """Return the row of a version with its state; None if there is none.

        Raises:
            StateError: The database could not be read.
        """
        return await _asked(self.saver.version(query, **parameters))

    async def read(self, query: Sql, **parameters: Any) -> list[Row]:
        """Return the rows of a query.

        Raises:
            StateError: The database could not be read.
        """
        return await _asked(self.saver.read(query, **parameters))

    async def write(self, *written: Statement) -> None:
        """Write statements in one transaction.

        Raises:
            StateError: The database could not be written, or another process was first.
        """
        await _asked(self.saver.write(list(written)))

    def with_keys(self, keys: EncryptionKeys | None) -> Store:
        """Return the store in which sessions that need these keys take their turns in this process.

        It is this one if no journey that needs them is open here.
        """
        whole = self._whole or self
        place, _, size = whole.key
        opened = _open.get(asyncio.get_running_loop(), {}).get((place, keys, size))
        if opened is None or not opened.done() or opened.cancelled() or opened.exception():
            return self
        return opened.result().of(self.tenant)

    async def forget(self, session_id: str, *, expired_at: str | None = None) -> None:
        """Remove a session's state, turns and audit.

        Args:
            session_id: The session.
            expired_at: The time of expiry, if its row is to stay as that of an expired session.

        Raises:
            WriteConflict: It has not expired by then, or it was removed for that already.
            StateError: The database could not be written.
        """
        row: list[Row] = [{"session": session_id, "now": expired_at}]
        if expired_at:
            head = Statement(statements.MARK_EXPIRED, row, exactly_one=True)
        else:
            head = Statement(statements.FORGET_SESSION, row)
        records = (Statement(sql, row) for sql in statements.FORGET_RECORDS)
        await _asked(self.saver.forget(session_id, [head, *records]))

    async def compact(self) -> None:
        """Remove deleted data from the file of the store, if it is one of SQLite.

        The file is rewritten. Until then, deleted data may be in parts of it that are not used.
        Turns wait meanwhile. Servers of Postgres do this themselves.

        Raises:
            StateError: Another process uses the file, or there is not enough space for a copy.
        """
        await _asked(self.saver.compact())

    async def close(self) -> None:
        """Release the store; the last user closes it."""
        if self._whole:
            await self._whole.close()
            return
        self.users -= 1
        if self.users <= 0:
            _open.get(asyncio.get_running_loop(), {}).pop(self.key, None)
            await self.saver.close()


async def _asked(answer: Awaitable[_T]) -> _T:
    """Return what a database answers, or raise its errors as ours."""
    try:
        return await answer
    except Exception as error:
        raise_translated(error)


MOST_WAITING = 8
"""Maximum number of requests that wait for the turn of a session in one process."""


@dataclass(frozen=True, slots=True)
class LeaseRequest:
    """A request for the turn of a session.

    Attributes:
        when_busy: Rule if a turn runs.
        kept: Returns what another process needs to take the turn if this one dies, as JSON; it is
            called when the session is free. None: nothing.
        journeys: Ids of the journeys whose data this store may keep, sealed if it has keys.
        gives_up: Under "interrupt", the fence of the only turn of another process that it may give
            up; None: the one that runs.
    """

    when_busy: WhenBusy = "enqueue"
    kept: Callable[[], Mapping[str, Any]] | None = None
    journeys: Collection[str] = ()
    gives_up: int | None = None


_WAITS = LeaseRequest()


@dataclass(slots=True)
class Interruption:
    """The means to give up a running turn.

    Attributes:
        deadline: The time limit of the turn, which ends it early.
        requests: The requests with an idempotency key that the turn answers.
        asked: True if it was asked for.
    """

    deadline: asyncio.Timeout
    requests: Collection[Any] = ()
    asked: bool = False

    def ask(self) -> None:
        """End the turn now."""
        self.asked = True
        if not self.deadline.expired():  # it may be asked for twice
            self.deadline.reschedule(asyncio.get_running_loop().time())


class SessionLock(asyncio.Lock):
    """The turn lock of a session in this process: first come, first served, and few wait.

    Attributes:
        waiting: Number of requests that wait.
        running: The means to give up the running turn; None if that is not possible.
    """

    def __init__(self, session_id: str) -> None:
        super().__init__()
        self._session_id = session_id
        self.waiting = 0
        self.running: Interruption | None = None

    @property
    def is_busy(self) -> bool:
        """Return whether a request has to wait."""
        return self.locked() or self.waiting > 0

    async def take(self, when_busy: WhenBusy) -> None:
        """Acquire the lock, in the order of the requests.

        Raises:
            SessionBusyError: The session is busy, and the request must not wait.
            TooManyWaitingError: Too many requests wait.
        """
        if not self.is_busy:
            await self.acquire()
            return
        if when_busy == "reject":
            raise SessionBusyError(self._session_id)
        if self.waiting >= MOST_WAITING:
            raise TooManyWaitingError(self._session_id, MOST_WAITING)
        if when_busy == "interrupt":
            self.interrupt()
        self.waiting += 1
        try:
            with waiting_turn("turn"):
                await self.acquire()
        finally:
            self.waiting -= 1

    def interrupt(self) -> None:
        """Give up the running turn, if that is possible."""
        if self.running:
            self.running.ask()

    def settle(self) -> None:
        """Let nothing give up the running turn from now on: it begins an effect or its commit."""
        self.running = None


class SessionTurn:
    """The turn of a session, held in a block.

    In this process it is first come, first served. Where other processes use the database as well,
    the session's lease is taken then.
    """

    __slots__ = ("_arrival", "_lease", "_lock", "_session_id", "_store")

    def __init__(self, store: Store, session_id: str, arrival: LeaseRequest) -> None:
        self._store, self._session_id, self._arrival = store, session_id, arrival
        self._lock = store.lock(session_id)
        self._lease: Any = None

    async def __aenter__(self) -> Row | None:
        await self._lock.take(self._arrival.when_busy)
        try:
            saver = self._store.saver
            if isinstance(saver, SqliteJourneySaver):
                return await self._store.head(self._session_id)
            self._lease = saver.leases.of(
                self._store.tenant,
                self._session_id,
                self._arrival,
                self._store.seals,
                self._lock.interrupt,
            )
            head: Row | None = await self._lease.__aenter__()
        except BaseException:
            self._lock.release()
            raise
        return head

    async def __aexit__(self, *error: Any) -> None:
        try:
            if self._lease is not None:
                await self._lease.__aexit__(*error)
        finally:
            self._lock.release()


async def open_store(
    url: str, keys: EncryptionKeys | None, size: int = 10, tenant: str = TENANT
) -> Store:
    """Return the store of a URL for a tenant, opened and set up.

    Args:
        url: "memory://", "memory://NAME", "sqlite:///FILE" or "postgresql://...".
        keys: Keys of sensitive journeys; None for the store of other journeys.
        size: Maximum number of connections, for stores with several.
        tenant: The tenant, whose name is checked (`JourneyConfig`).

    Raises:
        ConfigurationError: The driver of the Postgres database is not installed.
        StateError: The database cannot be opened, with the reason.
    """
    stores = _open.setdefault(asyncio.get_running_loop(), {})
    place = (_place(url), keys, size)
    if place not in stores:
        stores[place] = asyncio.ensure_future(_opened(place))
    opening = stores[place]
    try:
        store = await asyncio.shield(opening)
    except Exception:
        if stores.get(place) is opening:  # and not one that tries again already
            del stores[place]
        raise
    store.users += 1
    part = store.of(tenant)
    try:
        if tenant not in store.registered:
            await part.register()
            store.registered.add(tenant)
    except BaseException:
        await store.close()
        raise
    return part


def _place(url: str) -> str:
    """Return the SQLite URI of a store's URL; the URL of a server is unchanged."""
    scheme, _, name = url.partition("://")
    if scheme == "memory":
        return f"file:/journeygraph-{quote(name, safe='')}?vfs=memdb"
    if scheme != "sqlite":
        return url
    path = Path(name.removeprefix("/")).resolve()
    return f"file:{quote(str(path))}"


async def _opened(place: _Key) -> Store:
    url, keys, size = place
    seal = direct_seal(keys)
    saver = await (_postgres(url, size, seal) if is_server(url) else _sqlite(url, seal))
    return Store(place, saver, Seals(keys))


async def _postgres(url: str, size: int, seal: Seal) -> PostgresJourneySaver:
    require_extra("postgres", "A Postgres store", *POSTGRES)
    import psycopg  # noqa: PLC0415 - the extra `postgres`

    from journeygraph.graphs.storage.connections import Connections, database_name  # noqa: PLC0415
    from journeygraph.graphs.storage.migrations.migrate_postgres import required  # noqa: PLC0415
    from journeygraph.graphs.storage.postgres import PostgresJourneySaver  # noqa: PLC0415

    name = database_name(url)
    try:
        connections = Connections(url, size)
        await connections.open(lambda connection: required(connection, name))
    except psycopg.Error as error:
        raise StateError(
            f"The store {name} cannot be opened: {reason_of(error)}.",
            retryable=isinstance(error, psycopg.OperationalError),
        ) from error
    return PostgresJourneySaver(connections, seal)


async def _sqlite(uri: str, seal: Seal) -> SqliteJourneySaver:
    connect = _connector(uri)

    def connected() -> sqlite3.Connection:
        migrate(connect)
        connection = connect()
        # The default keeps 2 MB for each connection, and more while a large context is written.
        connection.execute("PRAGMA cache_size=-500")
        if seal.hides:  # a deleted data key must not remain in the file
            connection.execute("PRAGMA secure_delete=ON")
        connection.row_factory = sqlite3.Row
        return connection

    try:
        if "vfs=memdb" in uri and uri not in _anchors:
            _anchors.setdefault(uri, (connect(), threading.RLock()))
        _, alone = _anchors.get(uri, (None, None))
        connection = await asyncio.to_thread(connected)
        file = None if alone else unquote(uri.removeprefix("file:"))
        saver = SqliteJourneySaver(connection, seal=seal, alone=alone, file=file)
        await saver.open()
    except (sqlite3.Error, SQLAlchemyError, CommandError) as error:
        raise StateError(
            f"The store {uri.partition('?')[0].removeprefix('file:')} cannot be opened: "
            f"{reason_of(error)}. Check that its folder exists and can be written, and that it is "
            "a SQLite file of this release or an older one, with no foreign tables in it.",
            retryable="locked" in str(error),
        ) from error
    return saver


def _connector(uri: str) -> Callable[[], sqlite3.Connection]:
    def connect() -> sqlite3.Connection:
        return sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, check_same_thread=False)

    return connect
