"""Rows of a complete turn: the head, the row of the ledger, and all records of the turn."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from journeygraph.graphs.records import timers
from journeygraph.graphs.records.history import CHECKS, add_attempts, check_rows, version_info
from journeygraph.graphs.storage import statements
from journeygraph.graphs.storage.sealing import Seal
from journeygraph.graphs.storage.statements import AUDIT, TURNS, Row, Statement, now
from journeygraph.graphs.storage.tables import USAGE
from journeygraph.journeys import FieldVersion, JourneySpec, VersionInfo, VersionState
from journeygraph.journeys.spec.capability_table import part
from journeygraph.nodes.journal import Journal
from journeygraph.nodes.json_data import stamp
from journeygraph.nodes.state.context import Context, apply_ops, differ
from journeygraph.nodes.state.session import PARTING, Position, Turn

PRUNE_EVERY = 16
"""Number of versions between two prunings."""


_REFUSED = ("rewritten", "replaced")
"""Outcomes of checks of a reply that was not sent."""


@dataclass(frozen=True, slots=True)
class LedgerWriter:
    """Writes rows for one session of one journey; `user` is the owner of one that begins."""

    spec: JourneySpec
    session_id: str
    seal: Seal
    ttl: float
    keep: int
    user: str | None = None

    def begun(self, turn: Turn, position: Position, checkpoint_id: str) -> list[Statement]:
        """Return the statements that create a session."""
        at = now()
        written = [
            Statement(statements.BEGIN_SESSION, [self.first_head(position, 0, at)]),
            TURNS.adding([self._turn(turn, position, checkpoint_id, at)], self.seal),
        ]
        if turn.get("attempts"):
            written.append(add_attempts(self.session_id, self.spec, turn, self.seal))
        if self.spec.has_timers:
            written.append(timers.after_turn(self.session_id, self.spec, position, turn, None))
        return written

    def first_head(self, position: Position, version: int, at: datetime) -> Row:
        """Return the row of a session that begins with a version."""
        return {
            "session_id": self.session_id,
            "journey_id": self.spec.id,
            "journey_version": position["version"],
            "status": position["status"],
            "pathway_id": position["pathway"],
            "version": version,
            "created_at": stamp(at),
            "updated_at": stamp(at),
            "expires_at": stamp(at + timedelta(seconds=self.ttl)),
            **self.seal.columns,
            "user_id": self.user,
        }

    def advanced(
        self,
        turn: Turn,
        position: Position,
        checkpoint_id: str,
        head: Row,
        rolled_back_to: int | None = None,
        journal: Journal | None = None,
        timer: Row | None = None,
    ) -> list[Statement]:
        """Return the statements that advance the head by one; they fail if it has moved."""
        at = now()
        row: Row = {
            "session": self.session_id,
            "head": head["version"],
            "begun": head["created_at"],
            "held": head["fence"],
            "new_version": turn["number"],
            "new_status": position["status"],
            "new_pathway": position["pathway"],
            "new_journey_version": position["version"],
            "now": stamp(at),
            "until": stamp(at + timedelta(seconds=self.ttl)),
        }
        done = self._turn(turn, position, checkpoint_id, at, rolled_back_to, journal)
        written = [
            Statement(statements.ADVANCE, [row], exactly_one=True),
            TURNS.adding([done], self.seal),
            Statement(statements.FORGET_RUNNING, [row]),
        ]
        if turn["audit"]:
            written.append(AUDIT.adding(self.audit_rows(turn["number"], turn["audit"]), self.seal))
        if turn.get("checks"):
            checks = check_rows(self.session_id, self.spec.id, turn, stamp(at))
            written.append(CHECKS.adding(checks, self.seal))
        if turn.get("escalations"):
            sent = (self.session_id, self.spec.id, turn, stamp(at), self.seal)
            written += part("escalations").written(*sent)
        if turn.get("attempts"):
            written.append(add_attempts(self.session_id, self.spec, turn, self.seal))
        if self.spec.has_timers or "timer" in turn:
            is_back, of_session = rolled_back_to is not None, (self.session_id, self.spec, position)
            dropped = timers.dropped(self.session_id)
            written.append(dropped if is_back else timers.after_turn(*of_session, turn, timer))
        if turn["number"] % PRUNE_EVERY == 0:
            oldest = turn["number"] - self.keep
            kept: Row = {"session": self.session_id, "oldest": oldest, "head": checkpoint_id}
            written.append(Statement(statements.PRUNE, [kept]))
            written.append(Statement(statements.PRUNE_BLOBS, [kept]))
        return written

    def _turn(
        self,
        turn: Turn,
        position: Position,
        checkpoint_id: str,
        at: datetime,
        rolled_back_to: int | None = None,
        journal: Journal | None = None,
    ) -> Row:
        reply = PARTING.join(turn["replies"])
        row: Row = {
            "session_id": self.session_id,
            "version": turn["number"],
            "kind": "rollback" if rolled_back_to is not None else turn["kind"],
            "checkpoint_id": checkpoint_id,
            "rolled_back_to": rolled_back_to,
            "pathway_id": position["pathway"],
            "message": turn["message"],
            "reply": reply,
            "operations": turn["ops"],
            "begun_at": turn["at"],
            "at": stamp(at),
            "flags": turn["flags"],
            **{name: (turn["usage"] or {}).get(name, 0) for name in USAGE},
        }
        if journal and journal.trail:
            failure = turn["error"]["type"] if turn["error"] else None
            outcomes = {check["outcome"] for check in turn.get("checks", ())}
            is_refused = not outcomes.isdisjoint(_REFUSED)
            steps = journal.trail.plain(reply, failure, is_refused=is_refused)
            row["trail"] = {**journal.decision, **steps}
        return row

    def audit_rows(self, turn: int, events: Iterable[Mapping[str, Any]]) -> list[Row]:
        """Return audit events of a turn as rows."""
        known = {"session_id": self.session_id, "turn": turn, "at": stamp(now())}
        return [
            {
                **known,
                "kind": event["kind"],
                "from_pathway": event.get("from"),
                "to_pathway": event.get("to"),
                "trigger": event.get("trigger"),
                "reason": event.get("reason", ""),
                "confidence": event.get("confidence"),
            }
            for event in events
        ]

    def version(self, row: Row) -> VersionInfo:
        """Return the public record of a row of the ledger."""
        return version_info(row, self.seal, self.spec.active_in(row["pathway_id"]))

    def state_of(self, row: Row, before: Context, held: Context) -> VersionState:
        """Return a version with its context, and the difference to the version before.

        Args:
            row: The row of the version.
            before: The context of the version before.
            held: The context that its operations change: `before`, or that of a rollback.
        """
        context = apply_ops(held, TURNS.value(row, "operations", self.seal))
        both = context.keys() & before.keys()
        return VersionState(
            self.version(row),
            context,
            added={name: value for name, value in context.items() if name not in both},
            changed={
                name: before[name]
                for name in context
                if name in both and differ(before[name], context[name])
            },
            removed={name: value for name, value in before.items() if name not in both},
        )

    async def context_after(self, rows: AsyncIterator[Row]) -> Context:
        """Return the context at a version, from the operations of all rows up to it."""
        contexts: dict[int, Context] = {}
        context: Context = {}
        async for row in rows:
            back = row["rolled_back_to"]
            held = context if back is None else contexts[back]
            context = apply_ops(held, TURNS.value(row, "operations", self.seal))
            contexts[row["version"]] = context
        return context

    async def history_of(self, name: str, rows: AsyncIterator[Row]) -> AsyncIterator[FieldVersion]:
        """Yield all values of a context name, from the operations in the ledger."""
        values: dict[int, Any] = {}
        before: Any = None
        async for row in rows:
            version, back = row["version"], row["rolled_back_to"]
            ops = TURNS.value(row, "operations", self.seal)
            mine = [op for op in ops if op[1] == name]
            held = before if back is None else values.get(back)
            known = {} if held is None else {name: held}
            value = apply_ops(known, mine).get(name)
            values[version] = value
            if mine or value != before:
                by = mine[-1][3] if mine else row["pathway_id"]
                yield FieldVersion(name, value, version, by, row["at"])
            before = value
