"""The audit outside of the store: one line of the log or one record of OpenTelemetry for each row.

A row is sent as it is stored: the words of sensitive journeys are encrypted in both.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from journeygraph.graphs.records.unsent_audit import Send
from journeygraph.graphs.storage.statements import Row
from journeygraph.journeys import ConfigurationError, StateError
from journeygraph.nodes.telemetry.otel import AUDIT, DATA, api, takes_logs
from journeygraph.server.settings import Way

_log = logging.getLogger(AUDIT)


def sender_of(way: Way) -> Send:
    """Return the function that sends rows.

    Raises:
        ConfigurationError: Nothing in this process would take them.
    """
    if way == "otel" and not takes_logs():
        raise ConfigurationError(
            "audit_log is 'otel', and this process has no provider of loggers. Set "
            "OTEL_EXPORTER_OTLP_ENDPOINT, or set up a provider of OpenTelemetry's SDK."
        )
    if way == "lines":
        _log.setLevel(logging.INFO)  # the level of the log is no reason to drop the audit
        if not _log.hasHandlers():
            raise ConfigurationError(
                f"audit_log is 'lines', and no handler takes the logger '{AUDIT}'. Set one up, as "
                "with logging.basicConfig()."
            )
    write: Callable[[Sequence[Row]], None] = {"lines": _lines, "otel": _records}[way]

    async def send(rows: Sequence[Row]) -> None:
        await asyncio.to_thread(write, rows)

    return send


def _lines(rows: Sequence[Row]) -> None:
    for row in rows:
        event = {"event": "audit", **_told(row)}
        _log.info("audit %s", row["id"], extra={DATA: event})


def _records(rows: Sequence[Row]) -> None:
    logs = api("_logs")
    provider = logs.get_logger_provider()
    logger = provider.get_logger(AUDIT)
    for row in rows:
        logger.emit(
            timestamp=int(datetime.fromisoformat(row["at"]).timestamp() * 1_000_000) * 1_000,
            severity_number=logs.SeverityNumber.INFO,
            event_name=AUDIT,
            body=row["kind"],
            attributes={f"{AUDIT}.{name}": value for name, value in _told(row).items()},
        )
    # An exporter that took them answers here; without an answer they are sent again.
    if not provider.force_flush():
        raise StateError("The exporter of OpenTelemetry did not take the audit.", retryable=True)


def _told(row: Row) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}
