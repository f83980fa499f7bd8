"""Verify the chains of sessions, and name the first broken row of each.

A session may change while it is read. So a fault counts only if the session has not changed since
then; otherwise the session is read again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import and_, bindparam, literal_column, select

from journeygraph.graphs.evidence import anchors, receipts
from journeygraph.graphs.records.chain import begins, digest, late_begin, link_hash
from journeygraph.graphs.records.history import CHECKS
from journeygraph.graphs.storage.sealing import Seal, Seals
from journeygraph.graphs.storage.statements import (
    ALL_TURNS,
    AUDIT,
    ENDS,
    LATE,
    LATE_HEAD,
    TURNS,
    Row,
    Sql,
    TableMapper,
    first,
    of_tenant,
)
from journeygraph.graphs.storage.store import Store
from journeygraph.graphs.storage.tables import (
    anchored_heads,
    audit,
    late_links,
    sessions,
    tombstones,
    turns,
    validation_audit,
)
from journeygraph.journeys import ConfigurationError, StateError

_TRIES = 20
"""Readings of a session that changes in the meantime."""
_AT_ONCE = 200
"""Versions, or sessions, that are read at once."""
_CHAINED = {records.name: records for records in (TURNS, AUDIT, CHECKS)}
_TURN_IN = ((turns, "version"), (audit, "turn"), (validation_audit, "turn"))
_SESSIONS = Sql.of(
    first(
        select(sessions.c.session_id)
        .where(of_tenant(sessions), sessions.c.session_id > bindparam("after"))
        .order_by(sessions.c.session_id)
    )
)
_LATE_LINKS = Sql.of(select(late_links).where(LATE.mine).order_by(late_links.c.number))


def _born_at(table: Any) -> Any:
    return and_(
        of_tenant(table),
        table.c.session_id == bindparam("session"),
        table.c.created_at == bindparam("begun"),
    )


_ANCHORED = Sql.of(select(anchored_heads).where(_born_at(anchored_heads)))
_TOMBSTONE = Sql.of(select(tombstones).where(_born_at(tombstones)))
_ENDED_BEFORE = Sql.of(
    select(tombstones.c.created_at).where(
        of_tenant(tombstones), tombstones.c.session_id == bindparam("session")
    )
)
_BIRTH = ("tenant", "session_id", "created_at")
_THERE = and_(*(sessions.c[name] == anchored_heads.c[name] for name in _BIRTH))
_ENDED = and_(*(tombstones.c[name] == anchored_heads.c[name] for name in _BIRTH))
_REMOVED = Sql.of(
    select(anchored_heads.c.session_id, anchored_heads.c.version)
    .outerjoin(sessions, _THERE)
    .outerjoin(tombstones, _ENDED)
    .where(
        of_tenant(anchored_heads),
        sessions.c.session_id.is_(None),
        tombstones.c.session_id.is_(None),
    )
    .order_by(anchored_heads.c.session_id)
)
_LOST = [
    Sql.of(
        first(
            select(table.c.session_id, table.c[turn].label("turn"))
            .outerjoin(
                sessions,
                and_(*(sessions.c[name] == table.c[name] for name in ("tenant", "session_id"))),
            )
            .where(of_tenant(table), sessions.c.session_id.is_(None))
            .order_by(table.c.session_id, table.c[turn])
        )
    )
    for table, turn in _TURN_IN
]
_UNDEAD = Sql.of(
    select(sessions.c.session_id, sessions.c.version)
    .join(tombstones, and_(*(tombstones.c[name] == sessions.c[name] for name in _BIRTH)))
    .where(
        of_tenant(tombstones),
        sessions.c.status != literal_column("'expired'"),
    )
    .order_by(sessions.c.session_id)
)


@dataclass(frozen=True, slots=True)
class Broken:
    """A row that differs from its chain, or from the anchors.

    Attributes:
        session_id: Its session; empty: of all.
        table: Its table.
        turn: Its turn; None: of none.
        fault: The difference.
    """

    session_id: str
    table: str
    turn: int | None
    fault: str


@dataclass(frozen=True, slots=True)
class Verified:
    """A session as it was verified.

    Attributes:
        session_id: The session.
        turns: Number of its versions.
        unchained_before: Version with which its chain begins; 0: all of it is chained.
        broken: The first broken row; None: there is none.
    """

    session_id: str
    turns: int
    unchained_before: int = 0
    broken: Broken | None = None


class _Fault(Exception):
    """A row differs: its table, its turn, the difference."""


async def verify_all(store: Store, seals: Seals) -> AsyncIterator[Verified]:
    """Yield every session of a store, verified, in the order of their ids.

    Raises:
        ConfigurationError: A session is sealed, and no key is set.
        StateError: The store could not be read.
    """
    after = ""
    while found := await store.read(_SESSIONS, after=after, most=_AT_ONCE):
        for row in found:
            if verified := await verify(store, seals, row["session_id"]):
                yield verified
        after = found[-1]["session_id"]


async def verify(store: Store, seals: Seals, session_id: str) -> Verified | None:
    """Return a session as it was verified; None if there is none with this id.

    Raises:
        ConfigurationError: It is sealed, and no key is set.
        StateError: The store could not be read.
    """
    verified: Verified | None = None
    before: list[Row] = []
    for _ in range(_TRIES):
        read = await store.read(LATE_HEAD, session=session_id)
        if not read or (verified and read == before):
            break
        before, verified = read, await _read(store, seals, read[0])
        if not verified.broken:
            break
    return verified if before and read else None


async def verify_anchors(store: Store) -> Broken | None:
    """Return the first session that was removed, or what differs in anchors and receipts.

    None: nothing.

    Raises:
        StateError: The store could not be read.
    """
    for row in await store.read(_REMOVED):
        fault = "the session is in the anchors, but was removed without a tombstone"
        return Broken(row["session_id"], "sessions", row["version"], fault)
    for (table, _), lost in zip(_TURN_IN, _LOST, strict=True):
        for row in await store.read(lost, most=1):
            return Broken(row["session_id"], table.name, row["turn"], "its session is not there")
    for row in await store.read(_UNDEAD):
        fault = "the session has a tombstone, but neither expired nor was deleted"
        return Broken(row["session_id"], "tombstones", row["version"], fault)
    is_anchored = await anchors.receipt_in_newest(store)
    different = await anchors.fault_of(store) or await receipts.fault_of(store, is_anchored)
    return Broken("", *different) if different else None


async def _read(store: Store, seals: Seals, head: Row) -> Verified:
    walk = _Walk(store, seals.reader(head), head)
    try:
        await walk.late_links()
        await walk.turns()
        await walk.anchored()
        if walk.origin:
            await _check_origin(store, seals, walk)
    except _Fault as fault:
        broken = Broken(head["session_id"], *fault.args)
        return Verified(head["session_id"], head["version"] + 1, walk.begins_at, broken)
    return Verified(head["session_id"], head["version"] + 1, walk.begins_at)


async def _check_origin(store: Store, seals: Seals, fork: _Walk) -> None:
    """Compare the beginning of a fork with the link from which it was taken.

    If the other session has ended, its links are deleted, and its id may belong to a new one.
    """
    session_id, version, hash_ = fork.origin
    head = await store.read(LATE_HEAD, session=session_id)
    if not hash_ or not head or head[0]["status"] == "expired":
        return
    span = {"low": version - 1, "high": version}
    rows = await store.read(TURNS.of_turns, session=session_id, **span)
    with _reading(TURNS.name, fork.begins_at):
        links = [TURNS.value(row, "link", seals.reader(head[0])) for row in rows]
    is_there = any(link and link["hash"] == hash_ for link in links)
    if not is_there and not await store.read(_ENDED_BEFORE, session=session_id):
        fault = f"version {version} of session '{session_id}', from which it was forked, differs"
        raise _Fault(TURNS.name, fork.begins_at, fault)


@dataclass(slots=True)
class _Expected:
    """Digests of the rows of a table in a turn, each with its salt.

    Attributes:
        early: Those of rows that may precede the turn: of a failed attempt at it.
        late: Those of rows that were written after the turn.
        changed: Those of rows that were changed after the turn, by their place in it.
    """

    early: list[tuple[str, str]] = field(default_factory=list)
    late: list[tuple[str, str]] = field(default_factory=list)
    changed: dict[int, tuple[str, str]] = field(default_factory=dict)


@dataclass(slots=True)
class _Walk:
    """One reading of a session, from its first link to its last.

    Attributes:
        begins_at: Version with which its chain begins.
        origin: In a fork: the other session, its version, and the hash of the link of that.
    """

    store: Store
    seal: Seal
    head: Row
    begins_at: int = 0
    origin: Sequence[Any] = ()
    _hash: str = ""
    _hashes: dict[int, str] = field(default_factory=dict)
    _late: list[str] = field(default_factory=list)
    _late_seen: int = 0
    _expected: dict[tuple[str, int], _Expected] = field(
        default_factory=lambda: defaultdict(_Expected)
    )

    @property
    def _mine(self) -> Row:
        head = self.head
        return {
            "session": head["session_id"],
            "begun": head["created_at"],
        }

    async def late_links(self) -> None:
        """Walk along the late links; of an expired session, from its tombstone on."""
        head, number, hash_ = self.head, 0, ""
        if head["status"] == "expired" and (stone := await self._tombstone()):
            number, hash_ = stone["late"], stone["late_chain"]
        self._late = [""] * number + [hash_]
        for row in await self.store.read(_LATE_LINKS, **self._mine):
            number += 1
            if row["number"] != number:
                raise _Fault(LATE.name, None, f"link {number} is missing")
            link = self._link(LATE, row, None)
            before = self._late[-1] or late_begin(
                self.store.tenant, head["session_id"], head["created_at"]
            )
            self._late.append(link_hash(before, number, link))
            if self._late[-1] != row["hash"]:
                raise _Fault(LATE.name, None, f"link {number} was changed")
            self._expect(link)
        if head["late"] != number:
            fault = f"link {number} is the last one, but the session has {head['late']}"
            raise _Fault(LATE.name, None, fault)
        if head["late_chain"] != self._late[-1]:
            raise _Fault("sessions", None, "its late chain does not end with its last late link")

    def _expect(self, link: Mapping[str, Any]) -> None:
        for table, turn, digest_, *place in link["rows"]:
            entry = (digest_, link["salt"])
            expected = self._expected[table, turn]
            if place:
                expected.changed[place[0]] = entry
            else:
                is_after = link["version"] >= turn
                (expected.late if is_after else expected.early).append(entry)

    async def _tombstone(self) -> Row | None:
        found = await self.store.read(_TOMBSTONE, **self._mine)
        return found[0] if found else None

    async def turns(self) -> None:
        """Walk along the turns, with the rows of each."""
        last = self.head["version"]
        if self.head["status"] == "expired":
            await self._expired()
        else:
            for low in range(-1, last, _AT_ONCE):
                high = min(low + _AT_ONCE, last)
                rows = await self._rows(low, high)
                for number in range(low + 1, high + 1):
                    self._turn(number, rows)
            if self._hash != self.head["chain"]:
                raise _Fault("sessions", last, "its chain does not end with its last turn")
        rows = await self._rows(-1 if self.head["status"] == "expired" else last, ALL_TURNS["high"])
        for table, turn in sorted({*rows, *(key for key in self._expected if key[1] > last)}):
            self._compare(table, turn, rows, [])

    async def _expired(self) -> None:
        """Compare an expired session with its tombstone: its rows were deleted."""
        stone = await self._tombstone()
        if stone is None and self.head["chain"]:
            raise _Fault("tombstones", None, "the session has expired without a tombstone")
        ends = ("version", "chain")
        if stone and [stone[name] for name in ends] != [self.head[name] for name in ends]:
            raise _Fault("tombstones", stone["version"], "it does not end as the session did")

    async def _rows(self, low: int, high: int) -> dict[tuple[str, int], list[Row]]:
        """Return the rows of turns by table and turn."""
        found: dict[tuple[str, int], list[Row]] = {}
        for records in _CHAINED.values():
            span = {"session": self.head["session_id"], "low": low, "high": high}
            for row in await self.store.read(records.of_turns, **span):
                number = row["version" if records is TURNS else "turn"]
                found.setdefault((records.name, number), []).append(row)
        return found

    def _turn(self, number: int, rows: Mapping[tuple[str, int], list[Row]]) -> None:
        table = TURNS.name
        if (table, number) not in rows:
            raise _Fault(table, number, "it is missing")
        [row] = rows[table, number]
        link = self._link(TURNS, row, number)
        if link is None:
            self._without_link(number, rows)
            return
        if not self._hash:
            self.begins_at = number
            known = begins(self.store.tenant, self.head["session_id"], "")[:2]
            if link.get("begins", [])[:2] != known:
                raise _Fault(table, number, "it is not the beginning of this session's chain")
            self.origin = link["begins"][3:]
        self._hash = link_hash(self._hash, number, link)
        if self._hash != link["hash"]:
            raise _Fault(table, number, "its link was changed")
        self._hashes[number] = self._hash
        if link["late"] not in self._late[self._late_seen :]:
            raise _Fault(LATE.name, number, "the late link that this turn names is not there")
        self._late_seen = self._late.index(link["late"], self._late_seen)
        for name in _CHAINED:
            given = [entry[1] for entry in link["rows"] if entry[0] == name]
            before = [(digest_, link["salt"]) for digest_ in given]
            # Rows of an attempt at this turn by an older release are in no chain.
            is_first = number > 0 and number == self.begins_at
            self._compare(name, number, rows, before, others=is_first and name != table)

    def _without_link(self, number: int, rows: Mapping[tuple[str, int], list[Row]]) -> None:
        if self._hash:
            fault = "it has no link: an older release wrote it, or it was inserted or changed"
            raise _Fault(TURNS.name, number, fault)
        self.begins_at = number + 1
        for name in (AUDIT.name, CHECKS.name):
            self._compare(name, number, rows, [], others=True)

    def _compare(
        self,
        table: str,
        turn: int,
        rows: Mapping[tuple[str, int], list[Row]],
        given: list[tuple[str, str]],
        *,
        others: bool = False,
    ) -> None:
        """Compare rows with their digests: those of the turn, and late ones between them.

        Args:
            table: Their table.
            turn: Their turn.
            rows: Rows by table and turn.
            given: Digests in the link of the turn.
            others: True if rows without a digest may be among them.
        """
        there, expected = rows.get((table, turn), []), self._expected[table, turn]
        given = [expected.changed.get(place, entry) for place, entry in enumerate(given)]
        left = [given, [*expected.early], [*expected.late]]
        for row in there:
            after = left[:2] if given else left
            queue = next((q for q in after if q and self._is(table, turn, row, *q[0])), None)
            if queue is not None:
                queue.pop(0)
            elif not others:
                raise _Fault(table, turn, self._difference(table, turn, row, there, left))
        if any(left):
            raise _Fault(table, turn, f"a row is missing after {_name(there[-1:])}")

    def _link(self, records: TableMapper, row: Row, turn: int | None) -> Any:
        with _reading(records.name, turn):
            return records.value(row, "link", self.seal)

    def _is(self, table: str, turn: int, row: Row, digest_: str, salt: str) -> bool:
        with _reading(table, turn):
            return digest(_CHAINED[table], row, salt, self.seal) == digest_

    def _difference(
        self, table: str, turn: int, row: Row, there: Sequence[Row], left: Sequence[list[Any]]
    ) -> str:
        """Return what differs in the first row that does not fit."""
        known = [entry for queue in left for entry in queue]
        rest = there[there.index(row) :]
        fits = any(self._is(table, turn, row, *entry) for entry in known)
        if fits:
            return f"a row is missing before {_name([row])}, or in another place"
        changed = len(rest) <= len(known)
        return f"{_name([row])} " + ("was changed" if changed else "is not in the chain")

    async def anchored(self) -> None:
        """Compare the session with its anchor."""
        found = await self.store.read(_ANCHORED, **self._mine)
        if self.head["status"] == "expired":
            return
        up_to = found[0]["version"] + found[0]["late"] if found else -1
        if self.head["anchored"] > up_to:
            fault = "it is marked as anchored, and this version of it is not"
            raise _Fault("sessions", self.head["version"], fault)
        if not found:
            return
        at = {name: found[0][name] for name in ENDS}
        if at["chain"] and self._hashes.get(at["version"]) != at["chain"]:
            raise _Fault(TURNS.name, at["version"], "its link is not the one that was anchored")
        if self._late[at["late"] : at["late"] + 1] != [at["late_chain"]]:
            raise _Fault(LATE.name, None, f"link {at['late']} is not the one that was anchored")


def _name(rows: Sequence[Row]) -> str:
    if not rows:
        return "the beginning of the turn"
    return f"the row {rows[0]['id']}" if "id" in rows[0] else "the row"


@contextmanager
def _reading(table: str, turn: int | None) -> Iterator[None]:
    """Read a row; one that was sealed for another place is broken."""
    try:
        yield
    except ConfigurationError:  # no key is set: this is no fault of the row
        raise
    except (StateError, ValueError, TypeError) as error:
        raise _Fault(table, turn, f"it cannot be read: {error}".removesuffix(".")) from error
