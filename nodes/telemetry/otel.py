"""OpenTelemetry spans and metrics (the library is optional), and log records of a turn."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import structlog

SCOPE = "journeygraph"
"""Name of our tracer and of our meter."""
Attributes = Mapping[str, Any]
_UNKNOWN = object()

_FAST = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 120]
_CALLS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
_AGENTS = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6]
_WORKFLOWS = [1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200]
_TOKENS = [4**power for power in range(14)]
# Names, units and limits of gen_ai.* are those of OpenTelemetry's conventions for generative AI.
_HISTOGRAMS = {
    "gen_ai.client.token.usage": ("{token}", "Tokens of a model call.", _TOKENS),
    "gen_ai.client.operation.duration": ("s", "Duration of a model call.", _CALLS),
    "gen_ai.execute_tool.duration": ("s", "Duration of a tool's call.", _CALLS),
    "gen_ai.invoke_agent.duration": ("s", "Duration of a try of an agent.", _AGENTS),
    "gen_ai.workflow.duration": ("s", "Duration of a turn, or of a pipeline.", _WORKFLOWS),
    "journeygraph.turn.duration": ("s", "Duration of a turn.", _FAST),
    "journeygraph.turn.wait.duration": ("s", "Time that a turn waited for its session.", _FAST),
}
_COUNTERS = {
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
_STATES = {
    "journeygraph.breaker.open": ("{breaker}", "1 while a breaker is open, else 0."),
    "journeygraph.escalation.waiting": ("{escalation}", "Calls that are not taken."),
    "journeygraph.session.open": ("{session}", "Sessions that are not complete or expired."),
    "journeygraph.timer.due": ("{timer}", "Timers that are due and not taken."),
}
_GAUGES = {
    "journeygraph.stream.active": ("{stream}", "Open streams of the events of sessions."),
    "journeygraph.turn.active": ("{turn}", "Turns that run."),
    "journeygraph.turn.waiting": ("{turn}", "Turns that wait for their session."),
}


class Telemetry:
    """OpenTelemetry's API, with our tracer and instruments; without a provider they do nothing."""

    def __init__(self, context: Any, metrics: Any, propagate: Any, trace: Any) -> None:
        self._context = context
        self._propagate = propagate
        self._trace = trace
        # Not by the names of their modules, which are not where these functions are written.
        self._traces = trace.get_tracer_provider.__globals__
        self._metrics = metrics.get_meter_provider.__globals__
        self._tracer = trace.get_tracer(SCOPE)
        self._client, self._internal = trace.SpanKind.CLIENT, trace.SpanKind.INTERNAL
        meter = metrics.get_meter(SCOPE)
        self._histograms = {
            name: meter.create_histogram(name, unit, told, explicit_bucket_boundaries_advisory=at)
            for name, (unit, told, at) in _HISTOGRAMS.items()
        }
        self._counters = {
            name: meter.create_counter(name, unit, told) for name, (unit, told) in _COUNTERS.items()
        }
        self._levels = {
            name: meter.create_up_down_counter(name, unit, told)
            for name, (unit, told) in _GAUGES.items()
        }

        self._states = {
            name: meter.create_gauge(name, unit, told) for name, (unit, told) in _STATES.items()
        }

    @property
    def is_watched(self) -> bool:
        """Return whether an application takes spans or metrics.

        Its providers are looked at where OpenTelemetry keeps them: each time that it is asked for
        them it searches the environment as well.
        """
        return self.takes_spans or self.takes_metrics

    @property
    def takes_spans(self) -> bool:
        """Return whether the process has a provider of tracers."""
        return self._traces.get("_TRACER_PROVIDER", _UNKNOWN) is not None

    @property
    def takes_metrics(self) -> bool:
        """Return whether the process has a provider of meters."""
        return self._metrics.get("_METER_PROVIDER", _UNKNOWN) is not None

    def begin(self, name: str, attributes: Attributes, *, is_client: bool) -> Any:
        """Start a span beneath the one that runs here."""
        kind = self._client if is_client else self._internal
        return self._tracer.start_span(name, kind=kind, attributes=attributes)

    def enter(self, span: Any) -> Any:
        """Have a span run here; return how to leave it."""
        if not span.get_span_context().is_valid:  # nobody provides any
            return None
        return self._context.attach(self._trace.set_span_in_context(span))

    def leave(self, place: Any) -> None:
        """Leave what was entered or continued."""
        if place is not None:
            self._context.detach(place)

    def end(self, span: Any, attributes: Attributes, fault: str | None) -> None:
        """End a span; with the kind of an error as its status, and never with its text."""
        if span.is_recording():
            span.set_attributes(attributes)
            if fault:
                span.set_attribute("error.type", fault)
                span.set_status(self._trace.StatusCode.ERROR)
        span.end()

    def proceed(self, headers: Mapping[str, str]) -> Any:
        """Continue the trace of the headers; return the token to leave it."""
        if self.place():  # a framework's instrumentation has done so
            return None
        return self._context.attach(self._propagate.extract(headers))

    def measure(self, name: str, value: float, attributes: Attributes) -> None:
        """Take a value into a histogram."""
        self._histograms[name].record(value, attributes)

    def count(self, name: str, attributes: Attributes, number: int = 1) -> None:
        """Count one, or more."""
        self._counters[name].add(number, attributes)

    def rise(self, name: str, attributes: Attributes, number: int) -> None:
        """Add to a level; a negative number lowers it."""
        self._levels[name].add(number, attributes)

    def state(self, name: str, attributes: Attributes, number: int) -> None:
        """Set a number that stays until the next one."""
        self._states[name].set(number, attributes)

    def place(self) -> dict[str, str]:
        """Return the trace and the span that run here; empty outside of one."""
        here = self._trace.get_current_span().get_span_context()
        if not here.is_valid:
            return {}
        return {"trace_id": f"{here.trace_id:032x}", "span_id": f"{here.span_id:016x}"}


@contextmanager
def continuing(headers: Mapping[str, str]) -> Iterator[None]:
    """Continue the trace of these headers, unless a trace already runs here."""
    seen = telemetry() if "traceparent" in headers else None
    place = seen.proceed(headers) if seen else None
    try:
        yield
    finally:
        if seen:
            seen.leave(place)


def measure(metric: str, value: float, labels: Attributes) -> None:
    """Take a value into a histogram, where OpenTelemetry is installed."""
    if seen := telemetry():
        seen.measure(metric, value, labels)


@contextmanager
def raised(level: str, labels: Attributes | None = None) -> Iterator[None]:
    """Raise a level by one while the block lasts, where an application takes metrics."""
    seen = watcher()
    if seen is None:
        yield
        return
    seen.rise(level, labels or {}, 1)
    try:
        yield
    finally:
        seen.rise(level, labels or {}, -1)


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
        measure("journeygraph.turn.wait.duration", seconds, {"journeygraph.wait.reason": reason})


@cache
def telemetry() -> Telemetry | None:
    """Return OpenTelemetry; None if it is not installed."""
    try:
        from opentelemetry import context, metrics, propagate, trace  # noqa: PLC0415
    except ImportError:
        return None
    return Telemetry(context, metrics, propagate, trace)


def watcher() -> Telemetry | None:
    """Return OpenTelemetry where an application takes spans or metrics; None elsewhere."""
    seen = telemetry()
    return seen if seen and seen.is_watched else None


JOURNEY = "journeygraph.journey.id"


def guidelines_settled(
    journey: str, matched: Iterable[Mapping[str, Any]], dropped: Iterable[Mapping[str, Any]]
) -> None:
    """Count the guidelines that held in a turn, and those that were dropped for others.

    The span of the turn has their ids: a label for each of thousands would be too many.

    Args:
        journey: Id of the journey.
        matched: Those that hold, as the record of the turn has them: with scope and tier.
        dropped: Those that were dropped, with the same.
    """
    for metric, found in (("matched", matched), ("dropped", dropped)):
        kinds = Counter((one["scope"], one["tier"]) for one in found)
        for (scope, tier), number in kinds.items():
            labels = {
                JOURNEY: journey,
                "journeygraph.guideline.scope": str(scope),
                "journeygraph.guideline.tier": tier,
            }
            _count(f"journeygraph.guideline.{metric}", labels, number)


def reply_checked(journey: str, *, outcome: str, bypassed: bool) -> None:
    """Count a check of a reply.

    Args:
        journey: Id of the journey.
        outcome: The outcome, as in the record of the turn: sent, masked, rewritten or
            replaced.
        bypassed: True if no model could check it.
    """
    labels = {JOURNEY: journey, "journeygraph.check.outcome": outcome}
    _count("journeygraph.reply.checked", {**labels, "journeygraph.check.bypassed": bypassed})


def person_called(journey: str, reason: str) -> None:
    """Count a call for a person.

    Args:
        journey: Id of the journey.
        reason: The reason; the part after a colon, such as the name of a field, is not a label.
    """
    labels = {JOURNEY: journey, "journeygraph.escalation.reason": reason.partition(":")[0]}
    _count("journeygraph.escalation.opened", labels)


def escalation_sent(journey: str, *, taken: bool) -> None:
    """Count a try to send a call for a person on.

    Args:
        journey: Id of the journey.
        taken: True if the receiver took it.
    """
    result = "taken" if taken else "failed"
    labels = {JOURNEY: journey, "journeygraph.escalation.result": result}
    _count("journeygraph.escalation.sent", labels)


def cache_read(cache: str, *, hit: bool) -> None:
    """Count a look into a cache.

    Args:
        cache: The name of the cache: intent, definition or context.
        hit: True if it knew the answer.
    """
    result = "hit" if hit else "miss"
    labels = {"journeygraph.cache.name": cache, "journeygraph.cache.result": result}
    _count("journeygraph.cache.read", labels)


def takes_metrics() -> bool:
    """Return whether an application takes metrics."""
    seen = telemetry()
    return seen is not None and seen.takes_metrics


def counted_open(what: str, numbers: Mapping[str, int]) -> None:
    """Tell how many of a kind a store has.

    Args:
        what: The kind: session (open), escalation (waiting) or timer (due).
        numbers: The number of each journey, by its id.
    """
    if seen := telemetry():
        for journey, number in numbers.items():
            seen.state(_OPEN[what], {JOURNEY: journey}, number)


_OPEN = {
    "session": "journeygraph.session.open",
    "escalation": "journeygraph.escalation.waiting",
    "timer": "journeygraph.timer.due",
}


def limit_refused(limit: str, who: str) -> None:
    """Count a request that a limit refused.

    Args:
        limit: Name of the limit: requests, turns, sessions, tokens or wrong_keys.
        who: The kind of caller by which it is counted: key, tenant or address.
    """
    labels = {"journeygraph.limit.name": limit, "journeygraph.limit.caller": who}
    _count("journeygraph.limit.refused", labels)


def turn_flagged(journey: str, flags: Iterable[str]) -> None:
    """Count a turn once for each of its flags."""
    for flag in dict.fromkeys(flags):
        _count("journeygraph.turn.flagged", {JOURNEY: journey, "journeygraph.turn.flag": flag})


def _count(metric: str, labels: Mapping[str, Any], number: int = 1) -> None:
    if seen := telemetry():
        seen.count(metric, labels, number)


ROOT = "journeygraph"
RAISED = "part_raised"
"""Event of an error of an author's part."""
DATA = "journeygraph"
"""The attribute of a record that holds its event as data."""

scope: ContextVar[Mapping[str, Any]] = ContextVar("journeygraph_scope", default={})  # noqa: B039 - read only
"""Names of what runs here, such as the journey and the pathway; all that is reported has them."""
_line = structlog.processors.LogfmtRenderer(key_order=["event"], bool_as_flag=False)

Event = MutableMapping[str, Any]


def report(level: int, event: str, **details: Any) -> None:
    """Write an event into the log.

    Args:
        level: As logging has them.
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
        error: The error.
    """
    text = {} if scope.get().get("sensitive") else {"exc_info": error}
    report(logging.DEBUG, RAISED, part=part, name=name, **text)


def is_reported(level: int) -> bool:
    """Return whether records of a level are read."""
    return _log.isEnabledFor(level)


def _placed(_: Any, __: str, event: Event) -> Event:
    """Add the turn and the span in which it happened."""
    seen = telemetry()
    return {**scope.get(), **event, **(seen.place() if seen else {})}


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
