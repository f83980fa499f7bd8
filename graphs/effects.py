"""Effects of a session in its store: noted before and after, outside of the turn that takes them.

A turn that fails, or is killed, leaves what it had noted, so that the one after it finds what was
taken. Which of two processes takes a step is decided by the table's key.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from graphs import effect_statements
from graphs.drafts import TENANT
from graphs.faults import AlreadyThere
from graphs.ledger import now
from graphs.sealing import Seal
from graphs.statements import Row, Sql, Statement
from graphs.stores import Store
from nodes.effects import Step, Taken
from nodes.plain import stamp


@dataclass(frozen=True, slots=True)
class EffectsOfSession:
    """What a turn of a session notes of its effects.

    Attributes:
        store: Where the session is.
        seal: How results are stored.
        head: Its row, from which the turn begins.
    """

    store: Store
    seal: Seal
    head: Row

    async def begin(self, step: Step, known: Collection[str]) -> Taken:
        """Note that a step is about to be taken, unless it was; see `Effects`.

        Raises:
            LostRace: The session has moved on without this turn.
            StateError: The store failed.
        """
        try:
            return await self._begun(step, known)
        except AlreadyThere:  # another process was quicker; what it did is looked at
            return await self._begun(step, known)

    async def _begun(self, step: Step, known: Collection[str]) -> Taken:
        rows = await self.store.read(
            effect_statements.OF_STEP, session=self._session, of_step=step.name
        )
        unknown = [row for row in rows if row["key"] not in known]
        apart = [row["key"] for row in unknown if _is_apart(row, step.digest)]
        mine = [row for row in unknown if row["digest"] == step.digest]
        if ended := _ended(mine):
            return Taken(ended["key"], ended["state"], self._result(ended), apart)
        if mine:  # it failed before
            await self._write_begun(effect_statements.BEGIN_AGAIN, mine[0]["key"], was="failed")
            return Taken(mine[0]["key"], "free", apart=apart)
        key = _free(f"{TENANT}/{self._session}/{step.place}", {row["key"] for row in rows})
        new = {"session_id": self._session, "key": key, "step": step.name, "digest": step.digest}
        await self._write_begun(effect_statements.BEGIN, key, **new)
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
            "over": "expired",
        }
        begun = Statement(sql, [row], exactly_one=True, proof=effect_statements.BEGUN)
        await self.store.write(begun)

    async def done(self, key: str, result: Any) -> None:
        """Note that a step was taken, and what it gave."""
        await self._end(key, "done", gave=json.dumps(result, ensure_ascii=False))

    async def failed(self, key: str, reason: str) -> None:
        """Note that a step was not taken, and why."""
        await self._end(key, "failed", why=reason)

    async def _end(
        self, key: str, state: str, gave: str | None = None, why: str | None = None
    ) -> None:
        place = self._place(key)
        row: Row = {
            "session": self._session,
            "this": key,
            "now": state,
            "gave": None if gave is None else self.seal.close(gave, place),
            "why": None if why is None else self.seal.close(why, place),
            "at": stamp(now()),
        }
        await self.store.write(Statement(effect_statements.END, [row]))

    @property
    def _session(self) -> str:
        session: str = self.head["session_id"]
        return session

    def _place(self, key: str) -> str:
        return f"{self._session}|{key}|effect"

    def _result(self, row: Row) -> Any:
        if row["result"] is None:
            return None
        return json.loads(self.seal.open(row["result"], self._place(row["key"])))


def _ended(mine: Sequence[Row]) -> Row | None:
    """Return what counts of a step that was taken, or may have been; None if it may be now."""
    for state in ("done", "begun"):
        for row in mine:
            if row["state"] == state:
                return row
    return None


def _is_apart(row: Row, digest: str) -> bool:
    is_other: bool = row["digest"] != digest
    return is_other and row["state"] != "failed"


def _free(key: str, used: Collection[str]) -> str:
    """Return a key that stands for nothing yet.

    A turn that was not kept may have used it with other arguments.
    """
    if key not in used:
        return key
    return next(numbered for n in count(2) if (numbered := f"{key}/{n}") not in used)
