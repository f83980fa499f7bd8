"""Effects of a session in its store: recorded before and after, outside the turn's transaction.

The records of a failed or killed turn remain, so that the next turn knows which effects were taken.
If two processes try the same step, the key of the table decides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from sqlalchemy import bindparam, exists, insert, null, select, update

from journeygraph.graphs.storage.errors import AlreadyThere
from journeygraph.graphs.storage.sealing import Seal
from journeygraph.graphs.storage.statements import (
    UNCHANGED_SINCE_READ,
    Row,
    Sql,
    Statement,
    TableMapper,
    now,
)
from journeygraph.graphs.storage.store import Store
from journeygraph.graphs.storage.tables import effects
from journeygraph.nodes.json_data import stamp
from journeygraph.nodes.state.effects import EffectStep, Taken

EFFECTS = TableMapper(effects)
_THIS = (EFFECTS.mine, effects.c.key == bindparam("this"))
_WRITTEN = ("tenant", "session_id", "key", "step", "digest", "state", "begun_at")
# As when the turn is committed: one that the session has moved on without takes no step.
_STANDS = exists().where(*UNCHANGED_SINCE_READ)
OF_STEP = Sql.of(
    select(effects)
    .where(EFFECTS.mine, effects.c.step == bindparam("of_step"))
    .order_by(effects.c.begun_at)
)
BEGIN = Sql.of(
    insert(effects).from_select(
        _WRITTEN,
        select(*(bindparam(name, type_=effects.c[name].type) for name in _WRITTEN)).where(_STANDS),
    )
)
BEGIN_AGAIN = Sql.of(
    update(effects)
    .where(*_THIS, effects.c.state == bindparam("was"))
    .where(_STANDS)
    .values(state=bindparam("now"), begun_at=bindparam("at"), ended_at=null(), reason=null())
)
# Whether it was noted by the very transaction whose acknowledgement was lost.
BEGUN = Sql.of(select(effects.c.key).where(*_THIS, effects.c.begun_at == bindparam("at")))
END = Sql.of(
    update(effects)
    .where(*_THIS)
    .values(
        state=bindparam("now"),
        result=bindparam("gave"),
        reason=bindparam("why"),
        ended_at=bindparam("at"),
    )
)


@dataclass(frozen=True, slots=True)
class EffectsOfSession:
    """Record of the effects of a session.

    Attributes:
        store: The store of the session.
        seal: Encryption of results, and of the digests of arguments.
        head: Row of the session at the start of the turn.
        settle: Is called before the first record: from then on the turn must not be given up.
    """

    store: Store
    seal: Seal
    head: Row
    settle: Callable[[], None] = lambda: None

    async def begin(self, step: EffectStep, known: Collection[str]) -> Taken:
        """Record the start of a step, unless it was taken before; see `Effects`.

        Raises:
            WriteConflict: Another process changed the session.
            StateError: The store failed.
        """
        self.settle()
        try:
            return await self._begun(step, known)
        except AlreadyThere:  # another process was quicker; what it did is looked at
            return await self._begun(step, known)

    async def _begun(self, step: EffectStep, known: Collection[str]) -> Taken:
        rows = await self.store.read(OF_STEP, session=self._session, of_step=step.name)
        unknown = [row for row in rows if row["key"] not in known]
        digest = self.seal.digest(step.digest)
        apart = [row["key"] for row in unknown if _is_apart(row, digest)]
        mine = [row for row in unknown if row["digest"] == digest]
        if ended := _ended(mine):
            return Taken(
                ended["key"], ended["state"], EFFECTS.value(ended, "result", self.seal), apart
            )
        if mine:  # it failed before
            await self._write_begun(BEGIN_AGAIN, mine[0]["key"], was="failed")
            return Taken(mine[0]["key"], "free", apart=apart)
        key = _free(
            f"{self.store.tenant}/{self._session}/{step.place}", {row["key"] for row in rows}
        )
        new = {"session_id": self._session, "key": key, "step": step.name, "digest": digest}
        await self._write_begun(BEGIN, key, **new)
        return Taken(key, "free", apart=apart)

    async def _write_begun(self, sql: Sql, this: str, **values: Any) -> None:
        at = stamp(now())
        row: Row = {
            **values,
            "session": self._session,
            "this": this,
            "state": "begun",
            "now": "begun",
            "at": at,
            "begun_at": at,
            "head": self.head["version"],
            "begun": self.head["created_at"],
            "held": self.head["fence"],
        }
        begun = Statement(sql, [row], exactly_one=True, proof=BEGUN)
        await self.store.write(begun)

    async def done(self, key: str, result: Any) -> None:
        """Record a taken step and its result."""
        await self._end(key, "done", result=result)

    async def failed(self, key: str, reason: str) -> None:
        """Record a failed step and its reason."""
        await self._end(key, "failed", reason=reason)

    async def _end(self, key: str, state: str, **gave: Any) -> None:
        stored = EFFECTS.stored({"session_id": self._session, "key": key, **gave}, self.seal)
        row: Row = {
            "session": self._session,
            "this": key,
            "now": state,
            "gave": stored["result"],
            "why": stored["reason"],
            "at": stamp(now()),
        }
        await self.store.write(Statement(END, [row]))

    @property
    def _session(self) -> str:
        session: str = self.head["session_id"]
        return session


def _ended(mine: Sequence[Row]) -> Row | None:
    """Return the record of a step that was taken, or may have been; None if it is free."""
    for state in ("done", "begun"):
        for row in mine:
            if row["state"] == state:
                return row
    return None


def _is_apart(row: Row, digest: str) -> bool:
    is_other: bool = row["digest"] != digest
    return is_other and row["state"] != "failed"


def _free(key: str, used: Collection[str]) -> str:
    """Return an unused key, because a lost turn may have used a key with other arguments."""
    if key not in used:
        return key
    return next(numbered for n in count(2) if (numbered := f"{key}/{n}") not in used)
