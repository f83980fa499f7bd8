"""A piece of work as a block: its span, its time, and how it ended."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

from journeys import ModelError
from nodes.telemetry.logs import scope
from nodes.telemetry.otel import measure, telemetry

OK, FAILED, CANCELLED, PAUSED = "ok", "failed", "cancelled", "paused"
"""How a piece of work ends."""

# By name, for the steps do not know LangGraph: it pauses a run, or leads it elsewhere, by raising.
_NO_FAULTS = frozenset({"GraphInterrupt", "GraphDrained", "ParentCommand"})
_T = TypeVar("_T")


class Activity:
    """A piece of work, open as a block.

    Subclasses say what is known of it before, and what is told of it at its end.

    Attributes:
        is_client: Whether another process does it.
        names: What all log lines within it are given.
        outcome: How it ended: "ok", "failed", "cancelled", or "paused" by LangGraph.
        fault: The kind of its error; None without one.
        found: Attributes that became known while it ran.
        seconds: How long it took.
    """

    is_client = False

    def __init__(self, name: str, attributes: dict[str, Any], **names: str) -> None:
        self.names = names
        self.outcome = OK
        self.fault: str | None = None
        self.found: dict[str, Any] = {}
        self.seconds = 0.0
        self._name = name
        self._attributes = attributes
        self._span: Any = None
        self._places: tuple[Any, Any] = (None, None)
        self._begun = 0.0

    def __enter__(self) -> Self:
        self._begin()
        self._places = self._enter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._end(error)
        finally:
            self._leave(self._places)

    @contextmanager
    def aside(self) -> Iterator[Self]:
        """Open it without being within it; what is within is `carrying` it.

        In a generator a block would be open for whoever reads the generator, too.
        """
        self._begin()
        try:
            yield self
        except BaseException as error:
            self._end(error)
            raise
        self._end(None)

    async def carrying(self, items: AsyncIterator[_T]) -> AsyncIterator[_T]:
        """Yield what comes, being within it only while something is waited for."""
        while True:
            places = self._enter()
            try:
                item = await anext(items)
            except StopAsyncIteration:
                return
            finally:
                self._leave(places)
            yield item

    def told(self) -> None:
        """Write what there is to say of it into the log."""

    def measured(self) -> None:
        """Take it into the metrics."""

    def took(self, metric: str, labels: dict[str, Any]) -> None:
        """Take its time into a metric, with the kind of its error."""
        faults = {"error.type": self.fault} if self.fault else {}
        measure(metric, self.seconds, {**labels, **faults})

    def failed(self, error: BaseException) -> None:
        """Take note of what it raised."""
        if isinstance(error, (asyncio.CancelledError, GeneratorExit)):
            self.outcome = CANCELLED
        elif type(error).__name__ in _NO_FAULTS:
            self.outcome = PAUSED
        else:
            self.outcome, self.fault = FAILED, kind_of(error)

    def _begin(self) -> None:
        if seen := telemetry():
            self._span = seen.begin(self._name, self._attributes, is_client=self.is_client)
        self._begun = time.perf_counter()

    def _end(self, error: BaseException | None) -> None:
        self.seconds = time.perf_counter() - self._begun
        if error is not None:
            self.failed(error)
        self.told()
        self.measured()
        if seen := telemetry():
            seen.end(self._span, {**self.found, "journeygraph.outcome": self.outcome}, self.fault)

    def _enter(self) -> tuple[Any, Any]:
        names = scope.set({**scope.get(), **self.names}) if self.names else None
        seen = telemetry()
        return names, seen.enter(self._span) if seen else None

    def _leave(self, places: tuple[Any, Any]) -> None:
        names, place = places
        if seen := telemetry():
            seen.leave(place)
        if names is not None:
            scope.reset(names)


def kind_of(error: BaseException) -> str:
    """Return the kind of an error: one of few, and nothing that anybody said."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return str(status)
    if isinstance(error, ModelError):
        return error.kind
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return "timeout"
    return _KINDS.get(type(error).__name__, type(error).__name__)


_KINDS = {"RestsError": "unavailable"}
"""What pipelines call an error, where that is not its type."""
