"""The audit on its way out: each row once it is committed, at least once.

A row is marked until it was sent. The mark is a part of the row and not a number up to which all
are sent: on Postgres a row with a smaller number may be committed after one with a larger number.
So a process that dies leaves its rows marked, and the next one sends them.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Awaitable, Callable, Sequence

from sqlalchemy import bindparam, null, select, update

from journeygraph.graphs.storage.errors import WriteConflict
from journeygraph.graphs.storage.statements import Row, Sql, Statement, first
from journeygraph.graphs.storage.store import Store
from journeygraph.graphs.storage.tables import audit
from journeygraph.nodes.telemetry import report

Send = Callable[[Sequence[Row]], Awaitable[None]]
"""Hands rows over, as they are stored; an error leaves them marked."""
EVERY = 1.0
"""Seconds between two searches."""
CLAIM = 30.0
"""Seconds for which one process alone sends; it claims again before each batch."""
AT_ONCE = 500
"""Number of rows of a batch."""
_SENT_COLUMNS = [column for column in audit.c if column.name != "unsent"]
UNSENT = Sql.of(
    first(select(*_SENT_COLUMNS).where(audit.c.unsent).order_by(audit.c.id)), all_tenants=True
)
_MARK_SENT = Sql.of(
    update(audit).where(audit.c.id == bindparam("number")).values(unsent=null()), all_tenants=True
)
# By the clock of the database, which all processes share.
_HELD = "UPDATE audit_sending SET holder = {me}, until = {now} + {seconds}"
_IS_FREE = "WHERE holder = {me} OR until < {now}"
_ON_SQLITE = {"now": "CAST(strftime('%s', 'now') AS REAL)", "me": ":me", "seconds": ":seconds"}
_ON_POSTGRES = {
    "now": "extract(epoch FROM clock_timestamp())",
    "me": "%(me)s",
    "seconds": "%(seconds)s",
}
_CLAIM = f"{_HELD} {_IS_FREE}"
CLAIM_SENDING = Sql(_CLAIM.format_map(_ON_SQLITE), _CLAIM.format_map(_ON_POSTGRES))


class UnsentAudit:
    """The job that sends the rows of all tenants, in the order in which they were committed.

    Of two rows that were committed at the same moment, the one with the smaller number is first.

    Args:
        store: The store.
        send: Hands rows over.
    """

    name, pause = "audit_log", 0.0

    def __init__(self, store: Store, send: Send) -> None:
        self._store, self._send = store, send
        self._me = str(uuid.uuid4())

    async def run(self) -> float:
        """Send all rows that are marked; return the seconds until the next search.

        Raises:
            StateError: The store failed.
        """
        while await self._store.read(UNSENT, most=1) and await self._claimed(CLAIM):
            # Read only now: what another process has sent until its claim ended is not marked.
            rows = await self._store.read(UNSENT, most=AT_ONCE)
            await self._send(rows)
            await self._store.write(Statement(_MARK_SENT, [{"number": row["id"]} for row in rows]))
        return EVERY

    async def end(self) -> None:
        """Send what is left, and let another process send at once."""
        try:
            await self.run()
            await self._claimed(0.0)
        except Exception as error:  # the rows stay marked, for the next process
            report(logging.WARNING, "job_failed", job=self.name, exc_info=error)

    async def _claimed(self, seconds: float) -> bool:
        """Return whether this process sends; then no other one does, for some seconds."""
        claim = Statement(CLAIM_SENDING, [{"me": self._me, "seconds": seconds}], exactly_one=True)
        try:
            await self._store.write(claim)
        except WriteConflict:
            return False
        return True
