"""An export of log records whose success is known: OpenTelemetry's own processors drop failures."""

from __future__ import annotations

from opentelemetry.sdk._logs import LogRecordProcessor, ReadableLogRecord, ReadWriteLogRecord
from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult
from opentelemetry.sdk.resources import Resource


class ConfirmedExport(LogRecordProcessor):
    """Keeps log records until they are flushed, and tells whether the exporter took them."""

    def __init__(self, exporter: LogRecordExporter) -> None:
        self._exporter = exporter
        self._kept: list[ReadableLogRecord] = []

    def on_emit(self, log_record: ReadWriteLogRecord) -> None:
        """Keep a record for the next flush."""
        self._kept.append(
            ReadableLogRecord(
                log_record.log_record,
                log_record.resource or Resource.get_empty(),
                log_record.instrumentation_scope,
                log_record.limits,
            )
        )

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Export what is kept; return whether it was taken. It is not kept any longer."""
        kept, self._kept = self._kept, []
        return not kept or self._exporter.export(kept) is LogRecordExportResult.SUCCESS

    def shutdown(self) -> None:
        """Shut the exporter down."""
        self._exporter.shutdown()  # type: ignore[no-untyped-call]
