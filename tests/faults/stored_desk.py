"""The journeys of stored releases, and the lease and the spans of a served process.

Only the servers import this module. It reads two variables: the seconds that a lease lasts, and the
folder for the spans of each process.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from journeygraph.graphs.storage import leases
from tests.support import golden


class Trip(golden.Trip):
    """Book a trip."""


class SecretTrip(golden.SecretTrip):
    """Book a trip in secret."""


_agency = golden.Agency()
AGENTS = {"cashier": _agency.cashier}
TOOLS = {"reserve": _agency.reserve}


class _File(SpanExporter):
    """Writes spans to a file, as soon as they end."""

    def __init__(self, folder: str) -> None:
        self._file = Path(folder) / f"spans-{os.getpid()}"

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        with self._file.open("a") as file:
            file.writelines(span.to_json() for span in spans)
        return SpanExportResult.SUCCESS


if lease := os.environ.get("FAULTS_LEASE"):
    leases.LEASE = float(lease)
if folder := os.environ.get("FAULTS_FOLDER"):
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(_File(folder)))
    trace.set_tracer_provider(provider)
