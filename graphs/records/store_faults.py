"""Faults that keep a store from serving: file, schema, writes."""

from __future__ import annotations

import logging
from datetime import timedelta

from sqlalchemy import bindparam, delete, select

from journeygraph.graphs.storage.errors import logged_reason
from journeygraph.graphs.storage.migrations.migrate import HEAD, OLDEST, fits
from journeygraph.graphs.storage.statements import Row, Sql, Statement, now, of_tenant
from journeygraph.graphs.storage.store import Store
from journeygraph.graphs.storage.tables import probes
from journeygraph.journeys import StateError
from journeygraph.journeys.faults import Fault
from journeygraph.nodes.json_data import stamp
from journeygraph.nodes.telemetry import report

_KEPT = timedelta(days=1)
"""Time after which the row of a process that has ended is removed."""
_OF_TENANT = of_tenant(probes)
WRITE = Sql(
    "INSERT INTO probes (tenant, process, at) VALUES (:tenant, :by, :now) "
    "ON CONFLICT (tenant, process) DO UPDATE SET at = excluded.at",
    "INSERT INTO probes (tenant, process, at) VALUES (%(tenant)s, %(by)s, %(now)s) "
    "ON CONFLICT (tenant, process) DO UPDATE SET at = excluded.at",
)
FORGET_OLD = Sql.of(delete(probes).where(_OF_TENANT, probes.c.at < bindparam("since")))
WRITTEN = Sql.of(select(probes.c.at).where(_OF_TENANT, probes.c.process == bindparam("by")))
_SCHEMA = f"SELECT version_num, ({OLDEST}) AS oldest FROM journeygraph_version"
SCHEMA = Sql(_SCHEMA, _SCHEMA)


async def faults_of(store: Store, process: str) -> list[Fault]:
    """Return the faults of an open store, without stored data and without errors of its driver.

    Args:
        store: The store.
        process: Id under which this process writes.

    Raises:
        StateError: The store does not respond.
    """
    found = []
    if await store.saver.is_replaced():
        found.append(_REPLACED)
    rows = await store.read(SCHEMA)
    version, oldest = (rows[0]["version_num"], rows[0]["oldest"]) if rows else (None, None)
    if not fits(version, oldest):
        found.append(_other_schema(version))
    if store.saver.is_full or not await _takes_writes(store, process):
        found.append(_NOT_WRITTEN)
    return found


_REPLACED = Fault(
    "its file was removed or replaced while the server runs. What is written now is lost at the "
    "end of the process.",
    remedy="Stop the server, put the file back, and start the server again.",
    where="store",
)
_NOT_WRITTEN = Fault(
    "it takes no writes.",
    remedy="The log of the server has the reason; the disk may be full, or the database read-only.",
    where="store",
)


def _other_schema(version: str | None) -> Fault:
    return Fault(
        f"its schema has the version {version or 'none'}, and this release needs {HEAD}.",
        remedy="Run: journeygraph migrate, or use the release that migrated it.",
        where="store",
    )


async def _takes_writes(store: Store, process: str) -> bool:
    """Write a row in its own transaction, and read it back."""
    at = now()
    mine: Row = {"by": process}
    old: Row = {"since": stamp(at - _KEPT)}
    try:
        await store.write(
            Statement(WRITE, [{**mine, "now": stamp(at)}]), Statement(FORGET_OLD, [old])
        )
    except StateError as error:
        report(logging.WARNING, "store_failed", reason=logged_reason(error))
        return False
    return await store.read(WRITTEN, **mine) == [{"at": stamp(at)}]
