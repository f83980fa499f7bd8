"""Read a store without a session: sessions, audits, reviews, escalations."""

from __future__ import annotations

import uuid
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterable,
    Sequence,
)
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Self

from journeygraph.graphs.records import data_keys, definitions, history
from journeygraph.graphs.records.definitions import Epoch
from journeygraph.graphs.records.escalations import (
    OF_ALL,
    OF_JOURNEY,
    OF_SESSION,
    ONE,
    WAITING_OF_ALL,
    WAITING_OF_JOURNEY,
    entry,
    read_case,
)
from journeygraph.graphs.records.listing import (
    LIVE,
    Head,
    PageEnd,
    SessionListing,
    page_of_turns,
    read_heads,
    read_sessions,
    readable,
)
from journeygraph.graphs.records.store_faults import faults_of
from journeygraph.graphs.session.jobs import (
    DueTimers,
    Expiry,
    Job,
    Jobs,
    OpenCounts,
    UnfinishedTurns,
)
from journeygraph.graphs.session.session import is_over
from journeygraph.graphs.session.webhook import EscalationPort, EscalationSender
from journeygraph.graphs.storage.sealing import Seal, Seals
from journeygraph.graphs.storage.statements import ALL_TURNS, RUNNING_TURN, Row, now
from journeygraph.graphs.storage.store import Store, open_store
from journeygraph.graphs.users import deletion
from journeygraph.graphs.users.deletion import Deletion, Erase
from journeygraph.graphs.users.export import Record, export_user
from journeygraph.journeys import (
    AuditedTurn,
    CheckEntry,
    EscalationCase,
    EscalationEntry,
    JourneyConfig,
    SessionNotStartedError,
)
from journeygraph.journeys.config import EncryptionKeys
from journeygraph.journeys.faults import Fault
from journeygraph.nodes.json_data import stamp

LAST = 2**63 - 1
"""Upper bound of row numbers."""


@dataclass(frozen=True, slots=True)
class SessionAudit:
    """The record of a session; `next` is the cursor of further turns, None after the last."""

    session_id: str
    journey_id: str
    status: str
    turns: list[AuditedTurn]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Review:
    """A check that a person should review; `number` is its place among all checks."""

    number: int
    check: CheckEntry


@dataclass(frozen=True, slots=True)
class NumberedEscalation:
    """An escalation, its place among all escalations, and `last_message` as of `SessionListing`."""

    number: int
    entry: EscalationEntry
    last_message: str


class FoundSession(NamedTuple):
    """A session, with data of its database from the same query.

    Attributes:
        expires_at: Time at which it expires without a further message.
        epoch: Epoch of the definitions.
        user: The owner of the session, or None.
    """

    listed: SessionListing
    expires_at: str
    epoch: Epoch
    user: str | None


_SHOWN = tuple(field.name for field in fields(SessionListing) if field.name != "last_message")


class Directory:
    """The sessions of a tenant in a store, also those of several journeys at once.

    It uses the store as a session does, so that the store stays open until `close()`. Only messages
    are sealed, so only `audit` and `reviews` may need a key. Every method raises `StateError` if
    the store fails.
    """

    def __init__(self, store: Store, keys: EncryptionKeys | None = None) -> None:
        self.store = store
        self.seals = Seals(keys, store.tenant)
        self._defined_by = store.tenant
        self._process = str(uuid.uuid4())

    @classmethod
    async def open(cls, config: JourneyConfig) -> Self:
        """Open the store of a config."""
        size, tenant = config.database_pool_size, config.tenant
        store = await open_store(config.persistence, None, size, tenant)
        return cls(store, config.encryption_keys)

    def of(self, tenant: str) -> Directory:
        """Return the sessions of another tenant, with the definitions of this one.

        It is open while this one is.
        """
        if tenant == self.store.tenant:
            return self
        other = Directory(self.store.of(tenant), self.seals.keys)
        other._defined_by, other._process = self._defined_by, self._process
        return other

    async def find(self, session_id: str) -> SessionListing | None:
        """Return a session in any status; None if there is none with this id."""
        found = await self.found(session_id)
        return found.listed if found else None

    async def found(self, session_id: str) -> FoundSession | None:
        """Return a session as `find` does, with its time of expiry and the epoch."""
        rows = await self.store.read(
            definitions.FOUND, session=session_id, defined_by=self._defined_by
        )
        if not rows:
            return None
        head = rows[0]
        status = "expired" if is_over(head) else head["status"]
        listed = SessionListing(**{**{name: head[name] for name in _SHOWN}, "status": status})
        epoch = Epoch(head["definitions_epoch"] or 0, head["definitions_dropped"] or 0)
        return FoundSession(listed, head["expires_at"], epoch, head["user_id"])

    async def running_turn(self, session_id: str) -> int | None:
        """Return the number of the turn that some process runs; None: none is known.

        Only processes that share a database on Postgres keep it there.
        """
        rows = await self.store.read(RUNNING_TURN, session=session_id)
        return rows[0]["version"] + 1 if rows else None

    async def heads(self, session_ids: Sequence[str]) -> dict[str, Head]:
        """Return the newest versions of sessions; those that do not exist are missing."""
        return await read_heads(self.store, session_ids)

    async def page(
        self,
        journeys: Sequence[str],
        *,
        status: str = LIVE,
        pathway: str = "",
        text: str = "",
        after: PageEnd | None = None,
        limit: int = 50,
    ) -> list[SessionListing]:
        """Return sessions of these journeys, newest activity first.

        Args:
            journeys: Ids of journeys.
            status: active, complete or expired; default: all that have not expired.
            pathway: Pathway that they are in; default: any.
            text: Part of their id, or of a message or a reply, in any case; default: any.
            after: End of the previous page.
            limit: Maximum number of sessions.
        """
        return await read_sessions(self.store, journeys, status, after, limit, pathway, text)

    async def audit(
        self, session_id: str, limit: int | None = None, after: str | None = None
    ) -> SessionAudit | None:
        """Return the record of a session; None if there is none with this id.

        Args:
            session_id: The session.
            limit: Maximum number of turns, 1 to 1000; None: all.
            after: `next` of the previous page.

        Raises:
            InvalidCursorError: `after` is not a cursor of a page.
            ConfigurationError: Its journey is sensitive, and no key is set.
        """
        head = await self.store.head(session_id)
        if head is None:
            return None
        span, more = await page_of_turns(
            self.store, session_id, head["version"], after, limit, history.SIZES_OF_ALL
        )
        seal = self.seals.reader(head)
        found = await history.read_turns(self.store, session_id, span, seal)
        return SessionAudit(session_id, head["journey_id"], head["status"], found, more)

    async def seal_of(self, session_id: str) -> Seal:
        """Return what opens the rows of a session.

        Raises:
            SessionNotStartedError: There is none with this id.
            ConfigurationError: Its journey is sensitive, and no key is set.
        """
        head = await self.store.head(session_id)
        if head is None:
            raise SessionNotStartedError(f"There is no session '{session_id}' in the store.")
        return self.seals.reader(head)

    async def reviews(
        self, journeys: Sequence[str] | None = None, *, before: int | None = None, limit: int = 50
    ) -> list[Review]:
        """Return checks that a person should review, newest first.

        Args:
            journeys: Ids of journeys; None for all.
            before: Number of the last entry of the previous page.
            limit: Maximum number of entries.

        Raises:
            ConfigurationError: A journey is sensitive, and no key is set.
        """
        if journeys is None:
            journeys = [
                row["journey_id"] for row in await self.store.read(history.REVIEWED_JOURNEYS)
            ]
        wanted = {"before": LAST if before is None else before, "most": limit}
        rows = [
            row
            for journey in journeys
            for row in await self.store.read(history.REVIEWS, journey=journey, **wanted)
        ]
        newest = sorted(rows, key=lambda row: -row["id"])[:limit]
        return [
            Review(row["id"], history.check_entry(row, self.seals.reader(row))) for row in newest
        ]

    async def escalations(
        self,
        journeys: Sequence[str] | None = None,
        *,
        status: str = "",
        before: int | None = None,
        limit: int = 50,
    ) -> list[NumberedEscalation]:
        """Return escalations, newest first.

        Args:
            journeys: Ids of journeys; None for all.
            status: open, claimed, released or expired; default: open and claimed.
            before: Number of the last entry of the previous page.
            limit: Maximum number of entries.
        """
        last = LAST if before is None else before
        wanted: Row = {"now": stamp(now()), "before": last, "most": limit}
        wanted |= {"status_is": status} if status else {}
        if journeys is None:
            rows = await self.store.read(OF_ALL if status else WAITING_OF_ALL, **wanted)
        else:
            query = OF_JOURNEY if status else WAITING_OF_JOURNEY
            rows = [
                row
                for journey in journeys
                for row in await self.store.read(query, journey=journey, **wanted)
            ]
        newest = sorted(rows, key=lambda row: -row["number"])[:limit]
        return [
            NumberedEscalation(row["number"], entry(row), readable(row["last_message"]))
            for row in newest
        ]

    async def escalation_entry(self, id_: str) -> EscalationEntry | None:
        """Return an escalation of a live session; None if there is none."""
        rows = await self.store.read(ONE, id_is=id_, now=stamp(now()))
        return entry(rows[0]) if rows else None

    async def escalation(self, id_: str) -> EscalationCase | None:
        """Return an escalation with its payload; None if there is none with this id.

        Raises:
            ConfigurationError: Its journey is sensitive, and no key is set.
        """
        return await read_case(self.store, id_, self.seals)

    async def last_escalation_of(self, session_id: str) -> str | None:
        """Return the id of the last escalation of a session, or None."""
        rows = await self.store.read(OF_SESSION, session=session_id, **ALL_TURNS)
        return rows[-1]["id"] if rows else None

    async def export_user(self, user: str) -> AsyncIterator[Record] | None:
        """Return all that the store has of a user, as `export_user` in `graphs/users/`.

        None: the store has no session and no key of this user.
        """
        if not await deletion.is_known(self.store, user):
            return None
        return export_user(self.store, self.seals, user)

    async def sessions_of(self, user: str) -> int:
        """Return the number of sessions of a user, also of expired ones."""
        return await deletion.count_sessions(self.store, user)

    async def delete_user(
        self, user: str, erase: Erase, gone: Callable[[str], None]
    ) -> Deletion | None:
        """Delete the data of a user, as `journeygraph.graphs.users.deletion.delete_user`."""
        return await deletion.delete_user(self.store, self.seals, user, erase, gone)

    def jobs(
        self,
        journeys: Callable[[], Collection[str]],
        timed: Callable[[], Collection[str]],
        take: Callable[[str, str], Awaitable[Any]],
        finish: Callable[[str, str], None],
        *more: Job,
    ) -> Jobs:
        """Return the jobs of this store, which `begin` starts; they end before it is closed.

        Args:
            journeys: Returns the ids of the journeys that are served.
            timed: Returns the ids of those with timers.
            take: Takes the timer of a session as a turn, by its tenant and its id.
            finish: Begins to take the turn of a session whose process died, by the same.
            *more: Jobs of the caller.
        """
        store = self.store
        jobs: list[Job] = [
            DueTimers(store, timed, take),
            Expiry(store, journeys),
            OpenCounts(store, journeys),
            *more,
        ]
        if store.is_shared:
            jobs.append(UnfinishedTurns(store, journeys, finish))
        return Jobs(*jobs)

    def escalation_sender(self, port: EscalationPort) -> EscalationSender:
        """Return the sender of escalations; it must end before the store is closed."""
        return EscalationSender(self.store, port, self.seals)

    async def key_faults(self, journeys: Collection[str]) -> list[str]:
        """Return the faults of the encryption keys that stored sessions of these journeys need.

        Each is a sentence that names the journey and the key: it is not set, or another key has its
        id. The number of queries depends on the number of journeys and keys, not of sessions.
        """
        return await data_keys.key_faults(self.store, self.seals, journeys)

    async def faults(self, sensitive: Iterable[str] = ()) -> list[Fault]:
        """Return what keeps the store from serving, after a row was written and read back.

        Args:
            sensitive: Ids of the sensitive journeys that are served.

        Raises:
            StateError: The store does not respond.
        """
        keys = [Fault(said, where="encryption_key") for said in await self.key_faults([*sensitive])]
        return [*await faults_of(self.store, self._process), *keys]

    async def close(self) -> None:
        """Close the store."""
        await self.store.close()
