"""A piece of work as a block: its span, its time, and how it ended."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType
from typing import Any, Self

from journeys import ModelError
from nodes.telemetry.otel import measure, telemetry

OK, FAILED, CANCELLED, PAUSED = "ok", "failed", "cancelled", "paused"
"""How a piece of work ends."""

# By name, for the steps do not know LangGraph: it pauses a run, or leads it elsewhere, by raising.
_NO_FAULTS = frozenset({"GraphInterrupt", "GraphDrained", "ParentCommand"})


class Activity:
    """A piece of work, open as a block.

    Subclasses say what is known of it before (`attributes`), and what is told of it at its end.
    """

    is_client = False
    """Whether another process does it."""

    def __init__(self, name: str, attributes: dict[str, Any]) -> None:
        self.name = name
        self.attributes = attributes
        self.found: dict[str, Any] = {}
        self.fault: str | None = None
        self.outcome = OK
        self.seconds = 0.0
        self._span: Any = None
        self._place: Any = None
        self._begun = 0.0

    def __enter__(self) -> Self:
        if seen := telemetry():
            self._span, self._place = seen.begin(
                self.name, self.attributes, is_client=self.is_client
            )
        self._begun = time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.seconds = time.perf_counter() - self._begun
        if error is not None:
            self._failed(error)
        self.told()
        self.measured()
        if seen := telemetry():
            found = {**self.found, "journeygraph.outcome": self.outcome}
            seen.end(self._span, self._place, found, self.fault)

    def told(self) -> None:
        """Write what there is to say of it into the log."""

    def measured(self) -> None:
        """Take it into the metrics."""

    def took(self, metric: str, labels: dict[str, Any]) -> None:
        """Take its time into a metric, with the kind of its error."""
        faults = {"error.type": self.fault} if self.fault else {}
        measure(metric, self.seconds, {**labels, **faults})

    def _failed(self, error: BaseException) -> None:
        if isinstance(error, (asyncio.CancelledError, GeneratorExit)):
            self.outcome = CANCELLED
        elif type(error).__name__ in _NO_FAULTS:
            self.outcome = PAUSED
        else:
            self.outcome, self.fault = FAILED, kind_of(error)


def kind_of(error: BaseException) -> str:
    """Return the kind of an error: one of few, and nothing that anybody said."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return str(status)
    if isinstance(error, ModelError):
        return error.kind
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return "timeout"
    return type(error).__name__
