"""Spans: pieces of work as blocks, with their time, their outcome, and their step in the audit.

Each is measured once: its span, its metrics and its step in the audit are of one measurement.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from threading import Lock
from types import TracebackType
from typing import Any, ClassVar, Self, TypeVar

from journeygraph.journeys import ModelError
from journeygraph.nodes.telemetry.otel import (
    JOURNEY,
    api,
    is_reported,
    measure,
    part_raised,
    report,
    scope,
    takes_metrics,
    takes_spans,
    tracer,
)

OK, FAILED, CANCELLED, PAUSED = "ok", "failed", "cancelled", "paused"
"""Outcome of a span."""
OUTCOME = "journeygraph.outcome"
OPERATION, _WORKFLOW = "gen_ai.operation.name", "gen_ai.workflow.name"
AGENT, _TOOL = "gen_ai.agent.name", "gen_ai.tool.name"
_PATH = "journeygraph.agent.path"
_PATTERN, _STATUS = "journeygraph.pattern", "journeygraph.pipeline.status"
PATHWAY = "journeygraph.pathway.id"
SLACK = 0.05
"""Seconds by which the clock of an agent's limit may have begun before ours."""
_DIGITS = 12
"""Digits of a journey's version in the log, which is a hash."""
_BEHIND = 100
_LEVELS = {OK: logging.INFO, FAILED: logging.WARNING, CANCELLED: logging.INFO}
_ENDED = {OK: "finished", CANCELLED: "cancelled"}
_BYPASSED = "_bypassed"
"""Suffixes of flags for turns without one of their checking parts."""
_NO_STEP = nullcontext()
MOST_STEPS = 1000
"""Most steps of a turn that its audit keeps; the first ones."""
MOST_STEP_WORDS = 2_000
"""Most characters of an agent's words in a step; fewer where there are many agents."""
_MOST_WORDS, _LEAST_STEP_WORDS, _MOST_LABEL = 64_000, 100, 200

# By name, for the steps do not know LangGraph: it pauses a run, or leads it elsewhere, by raising.
_NO_FAULTS = frozenset({"GraphInterrupt", "GraphDrained", "ParentCommand"})
_KINDS = {"BreakerOpenError": "unavailable"}
"""Names of errors in pipelines that are not their types."""
_T = TypeVar("_T")


class Trail:
    """The spans of a turn, in the order of their beginning: the steps of its audit."""

    __slots__ = ("_alone", "_steps", "dropped")

    def __init__(self) -> None:
        self.dropped = 0
        self._alone = Lock()  # a pipeline that an agent runs in a thread has steps here as well
        self._steps: list[tuple[Span, int | None]] = []

    def add(self, span: Span, parent: int | None) -> int | None:
        """Add a span that begins; return its number, or its parent's if there are too many."""
        with self._alone:
            number = len(self._steps)
            if number >= MOST_STEPS:
                self.dropped += 1
                return parent
            self._steps.append((span, parent))
            return number

    def plain(
        self, reply: str, failure: str | None = None, *, is_refused: bool = False
    ) -> dict[str, Any]:
        """Return the steps as plain data: kind, name, parent, start and duration in ms, details.

        Words that are in the reply are kept there alone: the step has their place in it.

        Args:
            is_refused: True if the reply took the place of one that must not be shown: words that
                are not in it are not kept.
        """
        now, kept = time.perf_counter(), [*self._steps]
        begun, speakers = kept[0][0].begun, len([1 for one, _ in kept if one.words])
        most = max(_LEAST_STEP_WORDS, min(MOST_STEP_WORDS, _MOST_WORDS // max(speakers, 1)))
        most = 0 if is_refused else most
        steps: list[list[Any]] = []
        for one, parent in kept:
            seconds = one.seconds if one.is_over else now - one.begun
            start = round((one.begun - begun) * 1000, 3)
            step: list[Any]
            step = [one.kind, one.label[:_MOST_LABEL], parent, start, round(seconds * 1000, 3)]
            if details := one.step_details(reply, most):
                step.append(details)
            steps.append(step)
        if failure:
            steps[0].append({"outcome": FAILED, "error": failure})
        return {"steps": steps, "dropped": self.dropped} if self.dropped else {"steps": steps}


_place: ContextVar[tuple[Trail, int | None] | None] = ContextVar("journeygraph_step", default=None)
"""The trail of the turn that runs here, and the number of the step within which it does."""


@contextmanager
def no_steps() -> Iterator[None]:
    """Keep what runs in this block out of the steps of a turn around it."""
    token = _place.set(None)
    try:
        yield
    finally:
        _place.reset(token)


class Span:
    """A piece of work, open as a block.

    Attributes:
        outcome: The outcome: "ok", "failed", "cancelled", or "paused" by LangGraph.
        trail: The steps of the turn; None unless the span is of a turn.
    """

    metric = ""
    """The metric of its time."""
    labels: tuple[str, ...] = ()
    """Attributes that are labels of the metric."""
    shown: ClassVar[Mapping[str, str]] = {}
    """Attributes that its step has as well, and their names there."""
    is_authored = False
    """True for a part that an author wrote; its errors are reported for developers."""
    is_client = False
    """True if another process does it."""
    words = ""
    """The words of an agent, for its step alone; no span has them."""

    def __init__(
        self,
        kind: str,
        name: str = "",
        attributes: dict[str, Any] | None = None,
        *,
        label: str = "",
        trail: Trail | None = None,
        **names: Any,
    ) -> None:
        """Make a span, which begins as a block.

        Args:
            name: Its name in OpenTelemetry; without one, it is a step of the audit alone.
            label: Name of its step; empty: its name without the first word.
            trail: Its own steps; without one, it is a step of the turn that runs here.
            **names: Data for all log events within it.
        """
        self.kind, self.name = kind, name
        self.label = label or name.partition(" ")[2]
        self.attributes = attributes or {}
        self.trail = trail
        self.outcome, self.is_over = OK, False
        self.fault: str | None = None
        self.begun = self.seconds = 0.0
        self._names = names
        self._is_watched = False
        self._span: Any = None
        self._step: tuple[Trail, int | None] | None = None
        self._tokens: tuple[Any, Any, Any] = (None, None, None)

    def __enter__(self) -> Self:
        self._begin()
        self._tokens = self._enter()
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
            self._leave(self._tokens)

    @contextmanager
    def aside(self) -> Iterator[Self]:
        """Open it without being within it; what is within is `carrying` it.

        In a generator, a block would also be open for the consumer.
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
            tokens = self._enter()
            try:
                item = await anext(items)
            except StopAsyncIteration:
                return
            finally:
                self._leave(tokens)
            yield item

    def failed(self, error: BaseException) -> None:
        """Record what it raised."""
        if isinstance(error, (asyncio.CancelledError, GeneratorExit)):
            self.outcome = CANCELLED
        elif type(error).__name__ in _NO_FAULTS:
            self.outcome = PAUSED
        else:
            self.outcome, self.fault = FAILED, kind_of(error)
            if self.is_authored:
                part_raised(self.kind, self.label, error)

    def log(self) -> None:
        """Write its end into the log, if that has it."""

    def measure(self) -> None:
        """Take it into its metric; called where an application takes spans or metrics."""
        if self.metric:
            self.took(self.metric, self.labelled())

    def labelled(self) -> dict[str, Any]:
        """Return the labels of its metric."""
        known = {**self.attributes, OUTCOME: self.outcome}
        return {key: known[key] for key in self.labels if key in known}

    def took(self, metric: str, labels: dict[str, Any]) -> None:
        """Take its time into a metric, with the kind of its error."""
        if self.fault:
            labels = {**labels, "error.type": self.fault}
        measure(metric, labels, self.seconds)

    def step_details(self, reply: str, most: int) -> dict[str, Any]:
        """Return the details of its step; empty if there are none.

        Args:
            reply: The reply of the turn, in which words are looked for.
            most: Most characters of words that are not in it.
        """
        known = self.attributes
        details = {name: known[key] for key, name in self.shown.items() if key in known}
        if not self.is_over:
            details["outcome"] = "open"
        elif self.outcome != OK:
            details["outcome"] = self.outcome
        if self.fault:
            details["error"] = self.fault[:_MOST_LABEL]
        return details

    def _begin(self) -> None:
        self._is_watched = bool(self.name) and (takes_spans() or takes_metrics())
        if self._is_watched:
            kinds = api("trace").SpanKind
            kind = kinds.CLIENT if self.is_client else kinds.INTERNAL
            self._span = tracer().start_span(self.name, kind=kind, attributes=self.attributes)
        self.begun = time.perf_counter()
        # A turn within an agent of another one has steps of its own.
        if here := (self.trail, None) if self.trail else _place.get():
            self._step = (here[0], here[0].add(self, here[1]))

    def _end(self, error: BaseException | None) -> None:
        self.seconds = time.perf_counter() - self.begun
        self.is_over = True
        if error is not None:
            self.failed(error)
        self.log()
        if not self._is_watched:
            return
        self.measure()
        if self._span.is_recording():
            self._span.set_attributes({**self.attributes, OUTCOME: self.outcome})
            if self.fault:
                self._span.set_attribute("error.type", self.fault)
                # Never with a description, which would be the text of the error.
                self._span.set_status(api("trace").StatusCode.ERROR)
        self._span.end()

    def _enter(self) -> tuple[Any, Any, Any]:
        names = scope.set({**scope.get(), **self._names}) if self._names else None
        step = _place.set(self._step) if self._step else None
        if self._span is None or not self._span.get_span_context().is_valid:
            return names, step, None
        here = api("trace").set_span_in_context(self._span)
        return names, step, api("context").attach(here)

    def _leave(self, tokens: tuple[Any, Any, Any]) -> None:
        names, step, here = tokens
        if here is not None:
            api("context").detach(here)
        if step is not None:
            _place.reset(step)
        if names is not None:
            scope.reset(names)


def kind_of(error: BaseException) -> str:
    """Return the kind of an error: one of few, without any text of the error."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return str(status)
    if isinstance(error, ModelError):
        return error.kind
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return "timeout"
    return _KINDS.get(type(error).__name__, type(error).__name__)


def phase(kind: str) -> AbstractContextManager[Any]:
    """Return a block for a part of the turn that runs here; empty outside of one."""
    return Span(kind) if kind and _place.get() else _NO_STEP


def pseudonym(session_id: str, key: bytes | None = None) -> str:
    """Return the pseudonym of a session's id in traces and logs: the same in every process.

    An id may be a person's own, such as a number of theirs. Without a key, who guesses an id can
    find it again; with the encryption key of the configuration, it is not possible without that
    key.
    """
    told = hashlib.blake2b(
        session_id.encode("utf-8", "surrogatepass"),
        digest_size=8,
        key=key or b"",
        person=b"journeygraph",
    )
    return told.hexdigest()


class TurnSpan(Span):
    """A turn: what a message causes, up to its commit."""

    metric, labels = "gen_ai.workflow.duration", (_WORKFLOW,)

    def __init__(
        self,
        journey: str,
        version: str,
        session: str,
        turn: int,
        tenant: str = "",
        *,
        sensitive: bool = False,
    ) -> None:
        """Make the span of a turn, with steps.

        Args:
            session: Pseudonym of the session.
            tenant: Its tenant; empty: the one of programs that name none.
            sensitive: True: no text of an error is reported, not even to a developer.
        """
        known = {"tenant": tenant} if tenant else {}
        attributes = {
            OPERATION: "invoke_workflow",
            _WORKFLOW: journey,
            "gen_ai.conversation.id": session,
            "journeygraph.journey.version": version,
            **{f"journeygraph.{name}": value for name, value in known.items()},
        }
        names: dict[str, Any] = {
            "journey": journey,
            "journey_version": version[:_DIGITS],
            "session": session,
        }
        if sensitive:
            names["sensitive"] = True
        super().__init__(
            "turn",
            f"invoke_workflow {journey}",
            attributes,
            trail=Trail(),
            **names,
            turn=turn,
            **known,
        )
        self._journey = {JOURNEY: journey}
        self._summary: dict[str, Any] = {}

    def step_details(self, reply: str, most: int) -> dict[str, Any]:
        """Return nothing: it is not over when its steps are kept, and its row has the rest."""
        return {}

    def answered(self, pathway: str, metadata: Mapping[str, Any]) -> None:
        """Record the response: the position of the session, and the data of the turn."""
        if metadata["error"]:
            self.outcome, self.fault = FAILED, metadata["error"]["type"]
        usage = metadata["usage"]
        self._summary = {
            "turn": metadata["version"],
            "pathway": pathway,
            "ran": list(metadata["ran"]),
            "tier": metadata["tier"],
            # The part behind a colon may be a name that is not an author's.
            "flags": [flag.partition(":")[0] for flag in metadata["flags"]],
            "guidelines": list(metadata.get("guidelines", ())),
            "model_calls": usage["model_calls"],
            "input_tokens": usage["input_tokens"],
            "output_tokens": usage["output_tokens"],
        }
        for name, value in self._summary.items():
            if value not in (None, []):
                self.attributes[_attribute(name)] = value

    def measure(self) -> None:
        """Take it into the metrics."""
        super().measure()
        measure("journeygraph.turn.active", self._journey, -1)
        tier = self._summary.get("tier")
        tiers = {"journeygraph.turn.tier": tier} if tier else {}
        labels = {**self._journey, OUTCOME: self.outcome, **tiers}
        self.took("journeygraph.turn.duration", labels)
        for flag in dict.fromkeys(self._summary.get("flags", ())):
            labels = {**self._journey, "journeygraph.turn.flag": flag}
            measure("journeygraph.turn.flagged", labels)

    def _begin(self) -> None:
        super()._begin()
        if self._is_watched:
            measure("journeygraph.turn.active", self._journey)

    def log(self) -> None:
        """Write how it ended; one that failed, or did without a part, is a warning."""
        event = f"turn_{_ENDED.get(self.outcome, 'failed')}"
        level = _LEVELS.get(self.outcome, logging.WARNING)
        flags = self._summary.get("flags", ())
        if self.outcome == OK and any(flag.endswith(_BYPASSED) for flag in flags):
            event, level = "turn_degraded", logging.WARNING
        if is_reported(level):
            error = {"error": self.fault} if self.fault else {}
            report(level, event, **self._summary, seconds=round(self.seconds, 4), **error)


def _attribute(name: str) -> str:
    if name == "pathway":
        return PATHWAY
    return "journeygraph.turn.number" if name == "turn" else f"journeygraph.turn.{name}"


class PathwaySpan(Span):
    """One run of a pathway within a turn, all tries of its agents included."""

    shown: ClassVar[Mapping[str, str]] = {_PATTERN: "pattern"}

    def __init__(self, pathway: str, pattern: str) -> None:
        attributes = {PATHWAY: pathway, **({_PATTERN: pattern} if pattern else {})}
        super().__init__("pathway", f"pathway {pathway}", attributes, pathway=pathway)


class PipelineSpan(Span):
    """One run of a pipeline, on its own or inside another one."""

    metric, labels = "gen_ai.workflow.duration", (_WORKFLOW,)
    shown: ClassVar[Mapping[str, str]] = {_PATTERN: "pattern", _STATUS: "status"}

    def __init__(self, path: str, pattern: str) -> None:
        name = path.rpartition("/")[2]
        attributes = {
            OPERATION: "invoke_workflow",
            _WORKFLOW: name,
            _PATH: path,
            _PATTERN: pattern,
        }
        super().__init__(
            "pipeline", f"invoke_workflow {name}", attributes, label=path, pipeline=path
        )

    def answered(self, status: str) -> None:
        """Record how it ended without raising: complete, partial, waiting or failed."""
        self.attributes[_STATUS] = status
        if status == "failed":
            self.outcome, self.fault = FAILED, "pipeline_failed"
        elif status == "waiting":
            self.outcome = PAUSED


class AgentSpan(Span):
    """One try of an agent; in a pipeline, under the path of names that leads to it."""

    is_authored = True
    metric, labels = "gen_ai.invoke_agent.duration", (AGENT, OUTCOME)

    def __init__(self, path: str, timeout: float | None = None) -> None:
        """Make the span of a try.

        Args:
            timeout: The seconds that it has; who cancels it then does so because its time is up.
        """
        name = path.rpartition("/")[2]
        attributes = {OPERATION: "invoke_agent", AGENT: name, _PATH: path, **pathway_here()}
        super().__init__("agent", f"invoke_agent {name}", attributes, label=path)
        self._timeout = timeout
        self._mask: Callable[[str], str] | None = None

    def gave(self, values: Mapping[str, Any], mask: Callable[[str], str] | None) -> None:
        """Keep its words for its step of the audit; no span has them.

        Args:
            values: Its outputs; without a response, their names with short values are its words.
            mask: Takes personal data out of words, where replies are checked.
        """
        said = values.get("response")
        if not isinstance(said, str) or not said:
            said = ", ".join(
                f"{name}: {str(value)[:_LEAST_STEP_WORDS]}"
                for name, value in values.items()
                if isinstance(value, (str, int, float)) and value != ""
            )
        self.words, self._mask = said, mask

    def step_details(self, reply: str, most: int) -> dict[str, Any]:
        """Return the details of its step, with its words."""
        details = super().step_details(reply, most)
        return details | self._words_in(reply, most) if self.words else details

    def _words_in(self, reply: str, most: int) -> dict[str, Any]:
        if (found := _place_in(reply, self.words)) is not None:
            return {"words": found}
        words = self.words[:most]
        if self._mask and words:  # what is behind the end may be the rest of a number
            words = self._mask(self.words[: most + _BEHIND])[:most]
        cut = {"cut": True} if len(self.words) > most else {}
        return {"words": _place_in(reply, words) or words, **cut} if words else cut

    def failed(self, error: BaseException) -> None:
        """Record what it raised, or that it had no time any more."""
        super().failed(error)
        overdue = self._timeout is not None and self.seconds + SLACK >= self._timeout
        if self.outcome == CANCELLED and overdue:
            self.outcome, self.fault = FAILED, "timeout"

    def log(self) -> None:
        """Write which agent failed, and how; never why, for that may be in the user's words."""
        if self.outcome == FAILED:
            details = {"error": self.fault, "seconds": round(self.seconds, 4)}
            report(logging.WARNING, "agent_failed", agent=self.label, **details)


def _place_in(reply: str, words: str) -> list[int] | None:
    start = reply.find(words)
    return None if start < 0 else [start, start + len(words)]


class ToolSpan(Span):
    """One call of a tool by an agent's model, or of a retriever, whose kind is "datastore"."""

    is_authored = True
    metric, labels = "gen_ai.execute_tool.duration", (_TOOL, AGENT)

    def __init__(self, tool: str, agent: str, *, kind: str = "function") -> None:
        attributes = {OPERATION: "execute_tool", _TOOL: tool, AGENT: agent}
        attributes["gen_ai.tool.type"] = kind
        step = "tool" if kind == "function" else "retriever"
        super().__init__(step, f"execute_tool {tool}", attributes)


def pathway_here() -> dict[str, str]:
    """Return the attribute of the pathway that runs here; nothing outside of a journey."""
    pathway = scope.get().get("pathway")
    return {PATHWAY: pathway} if pathway else {}
