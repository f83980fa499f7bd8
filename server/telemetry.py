"""Exports of a server's telemetry: Prometheus' format at /metrics, and OpenTelemetry's protocol.

Both need the extra `otel`. What is reported is the same: docs/how-to/observability.md lists it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from journeygraph.journeys import ConfigurationError
from journeygraph.journeys.errors import require_extra
from journeygraph.nodes.telemetry.otel import takes_logs, takes_metrics, takes_spans

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_PROTOCOL, _HTTP = "OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"


class Metrics:
    """The metrics of the process, in the format of Prometheus.

    Raises:
        ConfigurationError: The extra `otel` is not installed.
    """

    def __init__(self) -> None:
        require_extra("otel", "JOURNEYGRAPH_METRICS", "opentelemetry.exporter.prometheus")
        from opentelemetry.exporter.prometheus import PrometheusMetricReader  # noqa: PLC0415
        from prometheus_client import CollectorRegistry, ProcessCollector  # noqa: PLC0415

        self._registry, self._reader_of = CollectorRegistry(), PrometheusMetricReader
        ProcessCollector(registry=self._registry)

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Collect the metrics of the process until the block ends.

        Raises:
            ConfigurationError: The process has a meter provider that is not of OpenTelemetry's SDK.
        """
        from opentelemetry import metrics  # noqa: PLC0415
        from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415

        if not takes_metrics():
            metrics.set_meter_provider(MeterProvider(resource=_resource()))
        provider = metrics.get_meter_provider()
        if not isinstance(provider, MeterProvider):
            raise ConfigurationError(
                "JOURNEYGRAPH_METRICS needs the meter provider of OpenTelemetry's SDK, but this "
                f"process has set up {type(provider).__name__}. Unset one of them."
            )
        reader = self._reader_of(scope_info_enabled=False, registry=self._registry)
        provider.add_metric_reader(reader)
        try:
            yield
        finally:
            provider.remove_metric_reader(reader)  # which takes it out of the registry too

    async def shown(self, accept: str) -> tuple[bytes, str]:
        """Return the metrics as text, with its media type.

        Args:
            accept: The header Accept, for Prometheus' text format or OpenMetrics.
        """
        from prometheus_client.exposition import choose_encoder  # noqa: PLC0415

        encoder, media_type = choose_encoder(accept)
        return await asyncio.to_thread(encoder, self._registry), media_type


@contextmanager
def exporting(*, audit: bool = False) -> Iterator[None]:
    """Send spans and metrics to the endpoint that the environment names, until the block ends.

    The variables are OpenTelemetry's own: `OTEL_EXPORTER_OTLP_ENDPOINT`, or one for each signal,
    with headers, certificates, resource, sampler and intervals. `OTEL_TRACES_EXPORTER=none` or
    `OTEL_METRICS_EXPORTER=none` excludes a signal. Without an endpoint, and where the process has
    a provider already, nothing is set up.

    Args:
        audit: True: the audit is sent there too, as log records.
    """
    with ExitStack() as opened:
        if _is_wanted("TRACES"):
            opened.callback(_traced().shutdown)  # which sends what is left
        if _is_wanted("METRICS"):
            opened.callback(_measured().shutdown)
        if audit and _is_wanted("LOGS"):
            opened.callback(_logged().shutdown)
        yield


def _is_wanted(signal: str) -> bool:
    """Return whether to export a signal."""
    own = f"OTEL_EXPORTER_OTLP_{signal}"
    if not any(os.environ.get(name) for name in (ENDPOINT, f"{own}_ENDPOINT")):
        return False
    require_extra("otel", ENDPOINT, "opentelemetry.exporter.otlp.proto.http", "opentelemetry.sdk")
    if {"METRICS": takes_metrics, "TRACES": takes_spans, "LOGS": takes_logs}[signal]():
        return False
    exporter = os.environ.get(f"OTEL_{signal}_EXPORTER") or "otlp"
    if exporter not in ("otlp", "none"):
        raise _unknown(f"OTEL_{signal}_EXPORTER", exporter, "'otlp' or 'none'")
    protocol = os.environ.get(f"{own}_PROTOCOL") or os.environ.get(_PROTOCOL) or _HTTP
    if protocol != _HTTP:
        raise _unknown(_PROTOCOL, protocol, f"'{_HTTP}', usually with port 4318 in the endpoint")
    return exporter == "otlp"


def _unknown(variable: str, given: str, valid: str) -> ConfigurationError:
    return ConfigurationError(
        f"{variable} is '{given}', which this server does not export by itself. Set it to {valid}, "
        "or start the server with opentelemetry-instrument, which knows more exporters."
    )


def _traced() -> Any:
    from opentelemetry import trace  # noqa: PLC0415
    from opentelemetry.exporter.otlp.proto.http import trace_exporter  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    provider = TracerProvider(resource=_resource())
    provider.add_span_processor(BatchSpanProcessor(trace_exporter.OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return provider


def _measured() -> Any:
    from opentelemetry import metrics  # noqa: PLC0415
    from opentelemetry.exporter.otlp.proto.http import metric_exporter  # noqa: PLC0415
    from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader  # noqa: PLC0415

    reader = PeriodicExportingMetricReader(metric_exporter.OTLPMetricExporter())
    provider = MeterProvider([reader], resource=_resource())
    metrics.set_meter_provider(provider)
    return provider


def _logged() -> Any:
    from opentelemetry import _logs  # noqa: PLC0415
    from opentelemetry.exporter.otlp.proto.http import _log_exporter  # noqa: PLC0415
    from opentelemetry.sdk._logs import LoggerProvider  # noqa: PLC0415

    from journeygraph.server.confirmed_export import ConfirmedExport  # noqa: PLC0415

    provider = LoggerProvider(resource=_resource())
    provider.add_log_record_processor(ConfirmedExport(_log_exporter.OTLPLogExporter()))
    _logs.set_logger_provider(provider)
    return provider


def _resource() -> Any:
    """Return the name of the service, "journeygraph", and what the environment says instead."""
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource  # noqa: PLC0415

    return Resource.create({"service.name": "journeygraph"}).merge(OTELResourceDetector().detect())
