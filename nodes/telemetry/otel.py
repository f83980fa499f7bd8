"""Metrics and spans of OpenTelemetry, whose packages are optional, and events of the log."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from typing import Any

import structlog

ROOT = "journeygraph"
"""Name of our tracer, our meter and our logger."""
AUDIT = f"{ROOT}.audit"
"""Name of the logger of the audit, in logging and in OpenTelemetry."""
JOURNEY = "journeygraph.journey.id"
Labels = Mapping[str, Any]

_FAST = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 120]
_CALLS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
_AGENTS = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6]
_WORKFLOWS = [1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200]
_TOKENS = [4**power for power in range(14)]
# Names, units and limits of gen_ai.* are those of OpenTelemetry's conventions for generative AI.
HISTOGRAMS = {
    "gen_ai.client.token.usage": ("{token}", "Tokens of a model call.", _TOKENS),
    "gen_ai.client.operation.duration": ("s", "Duration of a model call.", _CALLS),
    "gen_ai.execute_tool.duration": ("s", "Duration of a tool's call.", _CALLS),
    "gen_ai.invoke_agent.duration": ("s", "Duration of a try of an agent.", _AGENTS),
    "gen_ai.workflow.duration": ("s", "Duration of a turn, or of a pipeline.", _WORKFLOWS),
    "journeygraph.turn.duration": ("s", "Duration of a turn.", _FAST),
    "journeygraph.turn.wait.duration": ("s", "Time that a turn waited for its session.", _FAST),
}
COUNTERS = {
    "journeygraph.breaker.opened": ("{opening}", "Openings of the breaker of an agent or a model."),
    "journeygraph.cache.read": ("{read}", "Reads of a cache."),
    "journeygraph.guideline.dropped": ("{guideline}", "Guidelines that others removed."),
    "journeygraph.guideline.matched": ("{guideline}", "Guidelines that held in a turn."),
    "journeygraph.limit.refused": ("{request}", "Requests that a limit refused."),
    "journeygraph.reply.checked": ("{check}", "Checks of replies."),
    "journeygraph.escalation.opened": ("{escalation}", "Calls for a person."),
    "journeygraph.escalation.sent": ("{delivery}", "Tries to post calls for a person."),
    "journeygraph.turn.flagged": ("{turn}", "Turns with a flag."),
}
LEVELS = {
    "journeygraph.stream.active": ("{stream}", "Open streams of the events of sessions."),
    "journeygraph.turn.active": ("{turn}", "Turns that run."),
    "journeygraph.turn.waiting": ("{turn}", "Turns that wait for their session."),
}
GAUGES = {
    "journeygraph.breaker.open": ("{breaker}", "1 while a breaker is open, else 0."),
    "journeygraph.escalation.waiting": ("{escalation}", "Calls that are not taken."),
    "journeygraph.session.open": ("{session}", "Sessions that are not complete or expired."),
    "journeygraph.timer.due": ("{timer}", "Timers that are due and not taken."),
}


@cache
def api(module: str) -> Any:
    """Return a module of OpenTelemetry's API, such as "trace"; None if it is not installed."""
    try:
        return import_module(f"opentelemetry.{module}")
    except ImportError:
        return None


@cache
def tracer() -> Any:
    """Return our tracer, which does nothing without a provider; None without OpenTelemetry."""
    trace = api("trace")
    return trace and trace.get_tracer(ROOT)


def takes_spans() -> bool:
    """Return whether the process has a provider of tracers."""
    trace = api("trace")
    return bool(trace) and not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def takes_metrics() -> bool:
    """Return whether the process has a provider of meters."""
    metrics = api("metrics")
    # OpenTelemetry's stand-in for a provider has no public name.
    return bool(metrics) and type(metrics.get_meter_provider()).__name__ != "_ProxyMeterProvider"


def takes_logs() -> bool:
    """Return whether the process has a provider of loggers."""
    logs = api("_logs")
    return bool(logs) and type(logs.get_logger_provider()).__name__ != "ProxyLoggerProvider"


def measure(metric: str, labels: Labels, value: float = 1) -> None:
    """Take a value into a metric.

    Args:
        labels: Names and kinds only: no session, no text of users or models.
        value: A value of a histogram, a number to add to a counter or a level (which a negative
            one lowers), or the new value of a gauge.
    """
    if take := _instrument(metric):
        take(value, labels)


@cache
def _instrument(name: str) -> Any:
    if not (metrics := api("metrics")):
        return None
    meter: Any = metrics.get_meter(ROOT)
    if histogram := HISTOGRAMS.get(name):
        unit, about, limits = histogram
        made = meter.create_histogram(name, unit, about, explicit_bucket_boundaries_advisory=limits)
        return made.record
    if counter := COUNTERS.get(name):
        return meter.create_counter(name, *counter).add
    if level := LEVELS.get(name):
        return meter.create_up_down_counter(name, *level).add
    return meter.create_gauge(name, *GAUGES[name]).set


@contextmanager
def raised(level: str) -> Iterator[None]:
    """Raise a level by one while the block lasts."""
    measure(level, {})
    try:
        yield
    finally:
        measure(level, {}, -1)


@contextmanager
def waiting_turn(reason: str) -> Iterator[None]:
    """Count a turn that waits for its session while the block lasts, and measure its time.

    Args:
        reason: The holder of the session: "turn", an earlier turn in this process, or "process",
            another process.
    """
    begun = time.perf_counter()
    try:
        with raised("journeygraph.turn.waiting"):
            yield
    finally:
        seconds = time.perf_counter() - begun
        measure("journeygraph.turn.wait.duration", {"journeygraph.wait.reason": reason}, seconds)


@contextmanager
def continuing(headers: Mapping[str, str]) -> Iterator[None]:
    """Continue the trace of these headers, unless a trace already runs here."""
    context = api("context") if "traceparent" in headers and not place() else None
    if context is None:
        yield
        return
    token = context.attach(api("propagate").extract(headers))
    try:
        yield
    finally:
        context.detach(token)


def place() -> dict[str, str]:
    """Return the ids of the trace and the span that run here; empty outside of one."""
    trace = api("trace")
    here = trace and trace.get_current_span().get_span_context()
    if not here or not here.is_valid:
        return {}
    return {"trace_id": f"{here.trace_id:032x}", "span_id": f"{here.span_id:016x}"}


RAISED = "part_raised"
"""Event of an error of an author's part."""
DATA = "journeygraph"
"""The attribute of a record that holds its event as data."""

scope: ContextVar[Mapping[str, Any]] = ContextVar("journeygraph_scope", default={})  # noqa: B039 - read only
"""Names of what runs here, such as the journey and the pathway; all events have them."""
_line = structlog.processors.LogfmtRenderer(key_order=["event"], bool_as_flag=False)

Event = MutableMapping[str, Any]


def report(level: int, event: str, **details: Any) -> None:
    """Write an event into the log.

    Args:
        event: The name of the event, one word that does not change between releases.
        **details: Names, kinds, counts and times: no text of users or models. The record keeps an
            error as `exc_info`, for handlers that may show its text.
    """
    if is_reported(level):
        _events.log(level, event, **details)


def part_raised(part: str, name: str, error: BaseException) -> None:
    """Report an error of a part that an author wrote, for handlers that show it to a developer.

    In a sensitive session its text is left out: it may hold what the user wrote.

    Args:
        part: The kind of part: agent, tool, retriever, condition or validator.
        name: Its name, or the place where it is declared.
    """
    text = {} if scope.get().get("sensitive") else {"exc_info": error}
    report(logging.DEBUG, RAISED, part=part, name=name, **text)


def is_reported(level: int) -> bool:
    """Return whether records of a level are read."""
    return _log.isEnabledFor(level)


def _placed(_: Any, __: str, event: Event) -> Event:
    return {**scope.get(), **event, **place()}


def _handed_over(_: Any, __: str, event: Event) -> tuple[tuple[str], dict[str, Any]]:
    error = {"exc_info": event.pop("exc_info")} if "exc_info" in event else {}
    return (_line(None, "", dict(event)),), {"extra": {DATA: event}, **error}


_log = logging.getLogger(ROOT)
# With processors of its own: what an application configures in structlog is the application's.
_events = structlog.wrap_logger(
    _log,
    processors=[structlog.contextvars.merge_contextvars, _placed, _handed_over],
    wrapper_class=structlog.stdlib.BoundLogger,
    context_class=dict,
)
