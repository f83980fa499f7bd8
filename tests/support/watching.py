"""Reports of the runtime: spans, metrics and log lines, collected in memory."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import Counter, Histogram, MeterProvider
from opentelemetry.sdk.metrics.export import AggregationTemporality, InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from journeygraph.server.logs import formatter


class Kept(SpanExporter):
    """Keeps spans while a test watches; providers are for a whole process, and cannot be taken out.

    The SDK's own InMemorySpanExporter would go on to keep those of every later test.
    """

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []
        self.watches = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        if self.watches:
            self.spans += spans
        return SpanExportResult.SUCCESS


@cache
def _provided() -> tuple[Kept, InMemoryMetricReader]:
    kept = Kept()
    spans = TracerProvider()
    spans.add_span_processor(SimpleSpanProcessor(kept))
    trace.set_tracer_provider(spans)
    since_last = AggregationTemporality.DELTA
    reader = InMemoryMetricReader({Counter: since_last, Histogram: since_last})
    metrics.set_meter_provider(MeterProvider([reader]))
    return kept, reader


class Watch:
    """What was reported since the test began."""

    def __init__(self, kept: Kept, reader: InMemoryMetricReader, lines: io.StringIO) -> None:
        self._kept = kept
        self._reader = reader
        self._lines = lines

    @property
    def spans(self) -> list[ReadableSpan]:
        """All spans that ended, the earliest begun first."""
        return sorted(self._kept.spans, key=lambda span: span.start_time or 0)

    @property
    def tree(self) -> str:
        """The names of all spans, each beneath its parent."""
        return "\n".join(_branches(self.spans, None, 0))

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name]

    def one(self, name: str) -> dict[str, Any]:
        """The attributes of the only span of a name."""
        (span,) = self.named(name)
        return dict(span.attributes or {})

    def points(self, metric: str) -> list[tuple[dict[str, Any], Any]]:
        """The points of a metric since the last look: labels, and the count or the sum of them."""
        return [
            (dict(point.attributes), point.count if hasattr(point, "count") else point.value)
            for found in self._metrics()
            if found.name == metric
            for point in found.data.data_points
        ]

    def _metrics(self) -> Iterator[Any]:
        data = self._reader.get_metrics_data()
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                yield from scope.metrics

    @property
    def log(self) -> list[dict[str, Any]]:
        """The lines that a server would have written, from debug on."""
        return [json.loads(line) for line in self._lines.getvalue().splitlines()]

    def events(self, name: str) -> list[dict[str, Any]]:
        return [line for line in self.log if line["event"] == name]

    def everything(self) -> str:
        """All that was reported, as one text."""
        spans = [span.to_json() for span in self.spans]
        measured = [found.to_json() for found in self._metrics()]
        return "\n".join([*spans, *measured, self._lines.getvalue()])


def _branches(spans: list[ReadableSpan], parent: int | None, depth: int) -> Iterator[str]:
    for span in spans:
        if (span.parent.span_id if span.parent else None) == parent:
            assert span.context is not None
            yield "  " * depth + span.name
            yield from _branches(spans, span.context.span_id, depth + 1)


@pytest.fixture
def watch() -> Iterator[Watch]:
    """Watch the runtime until the test ends."""
    kept, reader = _provided()
    kept.spans.clear()
    kept.watches = True
    reader.get_metrics_data()  # what was measured before
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(formatter(for_people=False))
    ours = logging.getLogger("journeygraph")
    level = ours.level
    ours.addHandler(handler)
    ours.setLevel(logging.DEBUG)
    yield Watch(kept, reader, lines)
    ours.removeHandler(handler)
    ours.setLevel(level)
    kept.watches = False
    kept.spans.clear()
