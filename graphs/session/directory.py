"""Look into a store from outside of any session: sessions, audits, escalations, strandings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Self

from graphs.records import checks, definitions
from graphs.records.definitions import TENANT, Epoch
from graphs.records.escalations import OF_ALL, OF_JOURNEY, OF_SESSION, ONE, entry, read_case
from graphs.records.fields import ATTEMPTS
from graphs.records.fields import entry as attempt_of
from graphs.records.history import audit_entry, audited_turns, version_info
from graphs.records.listing import LIVE, Listed, Place, read_sessions, span_after
from graphs.session.session import is_over
from graphs.session.webhook import Courier, EscalationPort
from graphs.storage.sealing import SealOfReader, is_sealed
from graphs.storage.statements import AUDIT, TURNS, now
from graphs.storage.store import Store, open_store
from journeys import (
    AuditedTurn,
    CheckEntry,
    EscalationCase,
    EscalationEntry,
    JourneyConfig,
    JourneySpec,
)
from nodes.draft import migrated
from nodes.json_data import stamp
from nodes.state.stack import Standing
from nodes.turn.upgrade import misfits, safe_place

LAST = 2**31 - 1
"""No row has a higher number."""
_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Stranding:
    """The effect of a version of a journey on a session of another version.

    Attributes:
        session_id: The session.
        gone: Ids of the pathways in which it stands or has paused, and that are gone: the present
            one first.
        goes_to: Where it would go on.
        misfits: Names of fields whose values are of another type now.
    """

    session_id: str
    gone: Sequence[str]
    goes_to: str
    misfits: Sequence[str]


async def strandings(spec: JourneySpec, config: JourneyConfig) -> AsyncIterator[Stranding]:
    """Yield what a journey would do to each session of its own that is not over.

    Args:
        spec: The journey, in the version that shall be served.
        config: Names the store, and the key of a sensitive journey.

    Raises:
        ConfigurationError: The store's address is none.
        StateError: The store cannot be read, or was sealed with another key.
    """
    key = config.encryption_key if spec.sensitive else None
    store = await open_store(config.persistence, key, config.database_pool_size)
    try:
        after: Place | None = None
        while listed := await read_sessions(store, [spec.id], LIVE, after, _AT_ONCE):
            for session in listed:
                values = await _state(store, session.session_id)
                if values:
                    yield _stranding(spec, session.session_id, values)
            after = listed[-1].place
    finally:
        await store.close()


async def _state(store: Store, session_id: str) -> Mapping[str, Any] | None:
    """Return the state of a session; None if it was deleted since it was listed."""
    head = await store.head(session_id)
    found = await store.saver.state_in(head) if head else None
    return found.checkpoint["channel_values"] if found else None


def _stranding(spec: JourneySpec, session_id: str, values: Mapping[str, Any]) -> Stranding:
    position = migrated(spec, values["position"])
    moved = safe_place(spec, Standing(position, values.get("context", {})))
    place = moved.position if moved else position
    gone = [event["from"] for event in moved.audit] if moved else []
    finished = (position.get("talk") or {}).get("finished", [])
    fields = misfits(spec, values.get("fields", {}), finished)
    return Stranding(session_id, gone, place["pathway"], [field.name for field in fields])


@dataclass(frozen=True, slots=True)
class SessionAudit:
    """A session as it was recorded; `next` is where the turns go on, None behind the last."""

    session_id: str
    journey_id: str
    status: str
    turns: list[AuditedTurn]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Review:
    """A check that somebody should look at; `number` is its place among all checks."""

    number: int
    check: CheckEntry


@dataclass(frozen=True, slots=True)
class Numbered:
    """A call for a person, and its place among all there were."""

    number: int
    entry: EscalationEntry


class Found(NamedTuple):
    """A session, and what is known of its database by the same query.

    Attributes:
        expires_at: When it is over unless a message comes.
        epoch: Of the definitions.
    """

    listed: Listed
    expires_at: str
    epoch: Epoch


_SHOWN = tuple(field.name for field in fields(Listed))


class Directory:
    """The sessions of a store, also those of several journeys at once.

    It uses the store as a session does, so that the store stays open until `close()`. Only what was
    said is sealed, so that `audit` and `reviews` alone may need a key. Every method raises
    `StateError` if the store fails.
    """

    def __init__(self, store: Store, key: bytes | None = None) -> None:
        self.store = store
        self._key = key

    @classmethod
    async def open(cls, config: JourneyConfig) -> Self:
        """Open the store that a config names."""
        store = await open_store(config.persistence, None, config.database_pool_size)
        return cls(store, config.encryption_key)

    async def find(self, session_id: str) -> Listed | None:
        """Return a session, whatever its status; None if there is none of this id."""
        found = await self.found(session_id)
        return found.listed if found else None

    async def found(self, session_id: str) -> Found | None:
        """Return a session as `find` does, and with it when it expires and the epoch."""
        rows = await self.store.read(definitions.FOUND, session=session_id, tenant_is=TENANT)
        if not rows:
            return None
        head = rows[0]
        status = "expired" if is_over(head) else head["status"]
        listed = Listed(**{**{name: head[name] for name in _SHOWN}, "status": status})
        epoch = Epoch(head["definitions_epoch"] or 0, head["definitions_dropped"] or 0)
        return Found(listed, head["expires_at"], epoch)

    async def page(
        self,
        journeys: Sequence[str],
        *,
        status: str = LIVE,
        after: Place | None = None,
        limit: int = 50,
    ) -> list[Listed]:
        """Return sessions of these journeys, newest activity first.

        Args:
            journeys: Ids of journeys.
            status: active, complete or expired; otherwise all that have not expired.
            after: Where the page before ended.
            limit: Most sessions to return.
        """
        return await read_sessions(self.store, journeys, status, after, limit)

    async def audit(
        self, session_id: str, limit: int | None = None, after: str | None = None
    ) -> SessionAudit | None:
        """Return what is recorded of a session; None if there is none of this id.

        Args:
            session_id: The session.
            limit: Most turns, 1 to 1000; None: all.
            after: `next` of the page before.

        Raises:
            InvalidCursorError: `after` is none that a page gave.
            ConfigurationError: Its journey is sensitive, and there is no key.
        """
        head = await self.store.head(session_id)
        if head is None:
            return None
        span, more = span_after(after, limit, head["version"])
        turns, events, checked, attempts = [
            await self.store.read(records.of_turns, session=session_id, **span)
            for records in (TURNS, AUDIT, checks.CHECKS, ATTEMPTS)
        ]
        seal = SealOfReader(self._key)
        found = audited_turns(
            [version_info(row, seal, None) for row in turns],
            [audit_entry(row, seal) for row in events],
            [checks.entry(row, seal) for row in checked],
            [attempt_of(row, seal) for row in attempts],
        )
        return SessionAudit(session_id, head["journey_id"], head["status"], found, more)

    async def reviews(
        self, journeys: Sequence[str] | None = None, *, before: int | None = None, limit: int = 50
    ) -> list[Review]:
        """Return checks of replies that somebody should look at, newest first.

        Args:
            journeys: Ids of journeys; None for all there are.
            before: Number of the last one of the page before.
            limit: Most of them.

        Raises:
            ConfigurationError: A journey is sensitive, and there is no key.
        """
        if journeys is None:
            journeys = [row["journey_id"] for row in await self.store.read(checks.JOURNEYS)]
        wanted = {"before": LAST if before is None else before, "most": limit}
        rows = [
            row
            for journey in journeys
            for row in await self.store.read(checks.REVIEWS, journey=journey, **wanted)
        ]
        newest = sorted(rows, key=lambda row: -row["id"])[:limit]
        seal = SealOfReader(self._key)
        return [Review(row["id"], checks.entry(row, seal)) for row in newest]

    async def escalations(
        self,
        journeys: Sequence[str] | None = None,
        *,
        status: str = "",
        before: int | None = None,
        limit: int = 50,
    ) -> list[Numbered]:
        """Return calls for a person, newest first.

        Args:
            journeys: Ids of journeys; None for all there are.
            status: open, claimed, released or expired; otherwise those that wait for a person or
                have one.
            before: Number of the last one of the page before.
            limit: Most of them.
        """
        last = LAST if before is None else before
        wanted = {"status_is": status, "now": stamp(now()), "before": last, "most": limit}
        if journeys is None:
            rows = await self.store.read(OF_ALL, **wanted)
        else:
            rows = [
                row
                for journey in journeys
                for row in await self.store.read(OF_JOURNEY, journey=journey, **wanted)
            ]
        newest = sorted(rows, key=lambda row: -row["number"])[:limit]
        return [Numbered(row["number"], entry(row)) for row in newest]

    async def escalation_entry(self, id_: str) -> EscalationEntry | None:
        """Return a call for a person, of a session that has not expired; None if there is none."""
        rows = await self.store.read(ONE, id_is=id_, now=stamp(now()))
        return entry(rows[0]) if rows else None

    async def escalation(self, id_: str) -> EscalationCase | None:
        """Return a call with all that the person is told; None if there is none of this id.

        Raises:
            ConfigurationError: Its journey is sensitive, and there is no key.
        """
        return await read_case(self.store, id_, self._key)

    async def journey_of(self, escalation: EscalationEntry) -> tuple[str, bool]:
        """Return the version of the journey of a session with a call, and whether it is sealed."""
        [row] = await self.store.read(ONE, id_is=escalation.id, now=stamp(now()))
        session = escalation.session_id
        [found] = await self.store.read(definitions.FOUND, session=session, tenant_is=TENANT)
        return found["journey_version"], is_sealed(row["payload"])

    async def last_escalation_of(self, session_id: str) -> str | None:
        """Return the id of the last call in a session; None if nobody was called into it."""
        rows = await self.store.read(OF_SESSION, session=session_id)
        return rows[-1]["id"] if rows else None

    def courier(self, port: EscalationPort) -> Courier:
        """Return what sends calls on; it must end before the store is closed."""
        return Courier(self.store, port, self._key)

    async def ready(self) -> None:
        """Read from our own tables; returning says that the store answers and has them."""
        await self.page([""], limit=1)

    async def close(self) -> None:
        """Let go of the store."""
        await self.store.close()
