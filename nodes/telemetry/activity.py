"""Pieces of work as blocks: their span, their time, and how they ended; turns, agents, models.

Each is measured once: its span, its metrics and its step in the audit are of one measurement.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, Token
from functools import lru_cache
from threading import Lock
from types import TracebackType
from typing import Any, ClassVar, Self, TypeVar

from journeygraph.journeys import ModelError
from journeygraph.nodes.telemetry.otel import (
    JOURNEY,
    Telemetry,
    is_reported,
    measure,
    part_raised,
    report,
    scope,
    telemetry,
    turn_flagged,
    watcher,
)

OK, FAILED, CANCELLED, PAUSED = "ok", "failed", "cancelled", "paused"
"""Outcome of a span."""

# By name, for the steps do not know LangGraph: it pauses a run, or leads it elsewhere, by raising.
_NO_FAULTS = frozenset({"GraphInterrupt", "GraphDrained", "ParentCommand"})
_T = TypeVar("_T")

_AGENT_PATH, _PATTERN = "journeygraph.agent.path", "journeygraph.pattern"
_PURPOSE, _TRY, _STATUS = "journeygraph.purpose", "journeygraph.try", "journeygraph.pipeline.status"
MOST_STEPS = 1000
"""Most steps of a turn that its audit keeps; the first ones."""
MOST_STEP_WORDS = 2_000
"""Most characters of an agent's words in a step; fewer where there are many agents."""
_MOST_WORDS, _LEAST_STEP_WORDS = 64_000, 100
_BEHIND = 100
_MOST_LABEL = 200


class Trail:
    """The activities of a turn, in the order of their beginning: the steps of its audit."""

    __slots__ = ("_alone", "_steps", "dropped")

    def __init__(self) -> None:
        self.dropped = 0
        self._alone = Lock()  # a pipeline that an agent runs in a thread has steps here as well
        self._steps: list[tuple[Activity, int | None]] = []

    def add(self, activity: Activity, parent: int | None) -> int | None:
        """Add an activity that begins; return its number, or its parent's if there are too many."""
        with self._alone:
            number = len(self._steps)
            if number >= MOST_STEPS:
                self.dropped += 1
                return parent
            self._steps.append((activity, parent))
            return number

    def plain(
        self, reply: str, failure: str | None = None, *, is_refused: bool = False
    ) -> dict[str, Any]:
        """Return the steps as plain data: kind, name, parent, start and duration in ms, details.

        Words that are in the reply are kept there alone: the step has their place in it.

        Args:
            reply: The reply of the turn.
            failure: The kind of error that the turn failed with.
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
            is_plain = one.is_over and one.outcome == OK and not one.shown and not one.words
            if not is_plain and (details := one.step_details(reply, most)):
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


class Activity:
    """A piece of work, open as a block.

    Subclasses define the data that is known at its beginning, and the data at its end.

    Attributes:
        kind: Its kind among the steps of the audit.
        is_client: True if another process does it.
        shown: Attributes that its step has as well, and their names there.
        names: Data for all log lines within it.
        outcome: The outcome: "ok", "failed", "cancelled", or "paused" by LangGraph.
        fault: The kind of its error; None without one.
        found: Attributes that became known while it ran.
        seconds: The duration.
        begun: Its beginning, on the clock of `time.perf_counter`.
        is_over: True if it has ended.
        words: The words of an agent.
    """

    kind = ""
    is_client = False
    shown: ClassVar[Mapping[str, str]] = {}
    words = ""

    def __init__(self, name: str, attributes: dict[str, Any], **names: Any) -> None:
        self.names = names
        self.outcome = OK
        self.fault: str | None = None
        self.found: dict[str, Any] = {}
        self.seconds = 0.0
        self._name = name
        self._attributes = attributes
        self._seen: Telemetry | None = None
        self._span: Any = None
        self._places: _Places = (None, None, None)
        self._step: tuple[Trail, int | None] | None = None
        self.begun = 0.0
        self.is_over = False

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
            places = self._enter()
            try:
                item = await anext(items)
            except StopAsyncIteration:
                return
            finally:
                self._leave(places)
            yield item

    def write_log(self) -> None:
        """Write what there is to say of it into the log."""

    def measured(self) -> None:
        """Take it into the metrics; called where an application takes spans or metrics."""

    def took(self, metric: str, labels: dict[str, Any]) -> None:
        """Take its time into a metric, with the kind of its error."""
        if self.fault:
            labels = {**labels, "error.type": self.fault}
        measure(metric, self.seconds, labels)

    def failed(self, error: BaseException) -> None:
        """Record what it raised."""
        if isinstance(error, (asyncio.CancelledError, GeneratorExit)):
            self.outcome = CANCELLED
        elif type(error).__name__ in _NO_FAULTS:
            self.outcome = PAUSED
        else:
            self.outcome, self.fault = FAILED, kind_of(error)

    @property
    def label(self) -> str:
        """Name of its step: the path of an agent, or else the name of what it is about."""
        path: str | None = self._attributes.get(_AGENT_PATH)
        return path or self._name.partition(" ")[2]

    def step_details(self, reply: str, most: int) -> dict[str, Any]:
        """Return the details of its step; empty if there are none.

        Args:
            reply: The reply of the turn, in which words are looked for.
            most: Most characters of words that are not in it.
        """
        details: dict[str, Any] = {}
        for key, name in self.shown.items():
            value = self.found.get(key)
            if value is None:
                value = self._attributes.get(key)
            if value is not None:
                details[name] = value
        if not self.is_over:
            details["outcome"] = "open"
        elif self.outcome != OK:
            details["outcome"] = self.outcome
        if self.fault:
            details["error"] = self.fault[:_MOST_LABEL]
        if self.words:
            details |= self._words_in(reply, most)
        return details

    def _words_in(self, reply: str, most: int) -> dict[str, Any]:
        return {}

    def _follow(self) -> None:
        """Take its place among the steps of the turn that runs here, if one does."""
        if here := _place.get():
            self._step = (here[0], here[0].add(self, here[1]))

    def _begin(self) -> None:
        if seen := watcher():
            self._seen = seen
            self._span = seen.begin(self._name, self._attributes, is_client=self.is_client)
        self.begun = time.perf_counter()
        self._follow()

    def _end(self, error: BaseException | None) -> None:
        self.seconds = time.perf_counter() - self.begun
        self.is_over = True
        if error is not None:
            self.failed(error)
        self.write_log()
        if seen := self._seen:
            self.measured()
            seen.end(self._span, {**self.found, "journeygraph.outcome": self.outcome}, self.fault)

    def _enter(self) -> _Places:
        names = scope.set({**scope.get(), **self.names}) if self.names else None
        step = _place.set(self._step) if self._step else None
        return names, self._seen.enter(self._span) if self._seen else None, step

    def _leave(self, places: _Places) -> None:
        names, place, step = places
        if step is not None:
            _place.reset(step)
        if self._seen:
            self._seen.leave(place)
        if names is not None:
            scope.reset(names)


_Places = tuple[Any, Any, "Token[tuple[Trail, int | None] | None] | None"]


class Phase(Activity):
    """A part of a turn that is no span: understanding, a form, effects, settling, the check."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.fault = None
        self.outcome = OK
        self.seconds = 0.0
        self.is_over = False
        self._name, self._attributes, self.found = kind, {}, {}

    def __enter__(self) -> Self:
        self.begun = time.perf_counter()
        self._follow()
        self._token = _place.set(self._step)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.seconds = time.perf_counter() - self.begun
        self.is_over = True
        if error is not None:
            self.failed(error)
        _place.reset(self._token)


_NO_PHASE = nullcontext()


def phase(kind: str) -> AbstractContextManager[Any]:
    """Return a block for a part of the turn that runs here; empty outside of one."""
    return Phase(kind) if kind and _place.get() else _NO_PHASE


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


_KINDS = {"BreakerOpenError": "unavailable"}
"""Names of errors in pipelines that are not their types."""


_OPERATION, _WORKFLOW = "gen_ai.operation.name", "gen_ai.workflow.name"
PATHWAY = "journeygraph.pathway.id"
_DIGITS = 12
"""Digits of a journey's version in the log, which is a hash."""
_LEVELS = {OK: logging.INFO, FAILED: logging.WARNING, CANCELLED: logging.INFO}


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


class TurnRun(Activity):
    """A turn: what a message causes, up to its commit.

    Args:
        journey: Id of the journey.
        version: Its version.
        session: Pseudonym of the session.
        turn: Its number.
        tenant: Its tenant; empty: the one of programs that name none.
        sensitive: True: no text of an error is reported, not even to a developer.

    Attributes:
        trail: Its steps, itself the first of them.
    """

    kind = "turn"

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
        known = {"tenant": tenant} if tenant else {}
        super().__init__(
            f"invoke_workflow {journey}",
            {
                _OPERATION: "invoke_workflow",
                _WORKFLOW: journey,
                "gen_ai.conversation.id": session,
                "journeygraph.journey.version": version,
                **{f"journeygraph.{name}": value for name, value in known.items()},
            },
            journey=journey,
            journey_version=version[:_DIGITS],
            session=session,
            turn=turn,
            **known,
            **({"sensitive": True} if sensitive else {}),
        )
        self.trail = Trail()
        self._journey = journey
        self._pathway = ""
        self._metadata: Mapping[str, Any] | None = None

    def step_details(self, reply: str, most: int) -> dict[str, Any]:
        """Return nothing: it is not over when its steps are kept, and its row has the rest."""
        return {}

    def _begin(self) -> None:
        super()._begin()
        self._count(1)

    def _count(self, number: int) -> None:
        if self._seen:
            self._seen.rise("journeygraph.turn.active", {JOURNEY: self._journey}, number)

    def _follow(self) -> None:
        # A turn within an agent of another one has steps of its own.
        self._step = (self.trail, self.trail.add(self, None))

    def answered(self, pathway: str, metadata: Mapping[str, Any]) -> None:
        """Record the response: the position of the session, and the data of the turn."""
        self._pathway, self._metadata = pathway, metadata
        if metadata["error"]:
            self.outcome, self.fault = FAILED, metadata["error"]["type"]

    def write_log(self) -> None:
        """Say of every turn how it ended; one that failed, or did without a part, is a warning."""
        event = f"turn_{_ENDED.get(self.outcome, 'failed')}"
        level = _LEVELS.get(self.outcome, logging.WARNING)
        if self.outcome == OK and any(flag.endswith(_BYPASSED) for flag in self._flags):
            event, level = "turn_degraded", logging.WARNING
        if is_reported(level):
            error = {"error": self.fault} if self.fault else {}
            report(level, event, **self._summary, seconds=round(self.seconds, 4), **error)

    def measured(self) -> None:
        """Take it as a workflow of the conventions, and as a turn of ours."""
        self._count(-1)
        known = {name: value for name, value in self._summary.items() if value not in (None, [])}
        self.found = {_attribute(name): value for name, value in known.items()}
        self.took("gen_ai.workflow.duration", {_WORKFLOW: self._journey})
        tier = self._summary.get("tier")
        labels = {JOURNEY: self._journey, "journeygraph.outcome": self.outcome}
        if tier:
            labels["journeygraph.turn.tier"] = tier
        self.took("journeygraph.turn.duration", labels)
        turn_flagged(self._journey, self._flags)

    @property
    def _summary(self) -> dict[str, Any]:
        """Return the data of the turn; empty if it got no reply."""
        metadata = self._metadata
        if metadata is None:
            return {}
        usage = metadata["usage"]
        return {
            "turn": metadata["version"],
            "pathway": self._pathway,
            "ran": list(metadata["ran"]),
            "tier": metadata["tier"],
            "flags": self._flags,
            "guidelines": list(metadata.get("guidelines", ())),
            "model_calls": usage["model_calls"],
            "input_tokens": usage["input_tokens"],
            "output_tokens": usage["output_tokens"],
        }

    @property
    def _flags(self) -> list[str]:
        # What stands behind a colon may be a name that is not an author's.
        flags = self._metadata["flags"] if self._metadata else ()
        return [flag.partition(":")[0] for flag in flags]


_BYPASSED = "_bypassed"
"""Suffixes of flags for turns without one of their checking parts."""
_ENDED = {OK: "finished", CANCELLED: "cancelled"}


def _pattern(pattern: str) -> dict[str, str]:
    return {_PATTERN: pattern} if pattern else {}


def _attribute(name: str) -> str:
    if name == "pathway":
        return PATHWAY
    return "journeygraph.turn.number" if name == "turn" else f"journeygraph.turn.{name}"


class PathwayRun(Activity):
    """One run of a pathway within a turn, all tries of its agents included."""

    kind = "pathway"
    shown: ClassVar[Mapping[str, str]] = {_PATTERN: "pattern"}

    def __init__(self, pathway: str, pattern: str) -> None:
        super().__init__(
            f"pathway {pathway}",
            {PATHWAY: pathway, **_pattern(pattern)},
            pathway=pathway,
        )


class PipelineRun(Activity):
    """One run of a pipeline, on its own or inside another one."""

    kind = "pipeline"
    shown: ClassVar[Mapping[str, str]] = {_PATTERN: "pattern", _STATUS: "status"}

    def __init__(self, path: str, pattern: str) -> None:
        name = path.rpartition("/")[2]
        super().__init__(
            f"invoke_workflow {name}",
            {
                _OPERATION: "invoke_workflow",
                _WORKFLOW: name,
                _AGENT_PATH: path,
                **_pattern(pattern),
            },
            pipeline=path,
        )
        self._workflow = name

    def ended(self, status: str) -> None:
        """Record how it ended without raising: complete, partial, waiting or failed."""
        self.found[_STATUS] = status
        if status == "failed":
            self.outcome, self.fault = FAILED, "pipeline_failed"
        elif status == "waiting":
            self.outcome = PAUSED

    def measured(self) -> None:
        """Take it as a workflow of the conventions."""
        self.took("gen_ai.workflow.duration", {_WORKFLOW: self._workflow})


_AGENT, _TOOL = "gen_ai.agent.name", "gen_ai.tool.name"
SLACK = 0.05
"""Seconds by which the clock of an agent's limit may have begun before ours."""


class AuthoredRun(Activity):
    """A call of a part that an author wrote; its errors are reported for developers."""

    def failed(self, error: BaseException) -> None:
        """Record what it raised."""
        super().failed(error)
        if self.outcome == FAILED:
            part_raised(self.kind, self.label, error)


class AgentRun(AuthoredRun):
    """One try of an agent; in a pipeline, under the path of names that leads to it."""

    kind = "agent"

    def __init__(self, path: str, timeout: float | None = None) -> None:
        """Open a try.

        Args:
            path: The path of the agent in its pipeline.
            timeout: The seconds that it has; who cancels it then does so because its time is up.
        """
        name = path.rpartition("/")[2]
        super().__init__(
            f"invoke_agent {name}",
            {
                _OPERATION: "invoke_agent",
                _AGENT: name,
                _AGENT_PATH: path,
                **_where(),
            },
        )
        self._agent = name
        self._path = path
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

    def write_log(self) -> None:
        """Say which agent failed, and how; never why, for that may be in the user's words."""
        if self.outcome == FAILED:
            details = {"error": self.fault, "seconds": round(self.seconds, 4)}
            report(logging.WARNING, "agent_failed", agent=self._path, **details)

    def measured(self) -> None:
        """Take its time, by how it ended."""
        labels = {_AGENT: self._agent, "journeygraph.outcome": self.outcome}
        self.took("gen_ai.invoke_agent.duration", labels)


def _place_in(reply: str, words: str) -> list[int] | None:
    start = reply.find(words)
    return None if start < 0 else [start, start + len(words)]


class ToolRun(AuthoredRun):
    """One call of a tool by an agent's model, or of a retriever, whose kind is "datastore"."""

    def __init__(self, tool: str, agent: str, *, kind: str = "function") -> None:
        super().__init__(
            f"execute_tool {tool}",
            {
                _OPERATION: "execute_tool",
                _TOOL: tool,
                _AGENT: agent,
                "gen_ai.tool.type": kind,
            },
        )
        self.kind = "tool" if kind == "function" else "retriever"
        self._labels = {_TOOL: tool, _AGENT: agent}

    def measured(self) -> None:
        """Take its time."""
        self.took("gen_ai.execute_tool.duration", self._labels)


def agent_rests(path: str, *, opened: bool) -> None:
    """Report that an agent failed so often that it is not called, or that it answers again."""
    _rests({"agent": path}, {_AGENT: path.rpartition("/")[2], **_where()}, opened=opened)


def model_breaker_changed(model: str, *, opened: bool) -> None:
    """Report that a model does not answer and is not called, or that it answers again."""
    _rests({"model": model}, {"gen_ai.request.model": model}, opened=opened)


def _rests(who: dict[str, str], labels: dict[str, str], *, opened: bool) -> None:
    seen = telemetry()
    if seen:
        seen.state("journeygraph.breaker.open", labels, int(opened))
    if not opened:
        report(logging.INFO, "breaker_closed", **who)
        return
    report(logging.WARNING, "breaker_opened", **who)
    if seen:
        seen.count("journeygraph.breaker.opened", labels)


def _where() -> dict[str, str]:
    """Return the pathway that runs here; nothing outside of a journey."""
    pathway = scope.get().get("pathway")
    return {PATHWAY: pathway} if pathway else {}


_MODEL, _PROVIDER = "gen_ai.request.model", "gen_ai.provider.name"
# LangChain's packages, and what the conventions call the providers that they talk to.
_PROVIDERS = {
    "anthropic": "anthropic",
    "aws": "aws.bedrock",
    "cohere": "cohere",
    "deepseek": "deepseek",
    "google_genai": "gcp.gemini",
    "google_vertexai": "gcp.vertex_ai",
    "groq": "groq",
    "ibm": "ibm.watsonx.ai",
    "mistralai": "mistral_ai",
    "openai": "openai",
    "perplexity": "perplexity",
    "xai": "x_ai",
}
# What a server says of itself is taken only where it can be nothing but a name.
_NAME = re.compile(r"[\w.:/@-]{1,128}", re.ASCII)


class ModelCall(Activity):
    """One request to a model; trying again is another one."""

    kind = "model"
    shown: ClassVar[Mapping[str, str]] = {
        _PURPOSE: "purpose",
        _TRY: "attempt",
        "gen_ai.usage.input_tokens": "input_tokens",
        "gen_ai.usage.output_tokens": "output_tokens",
        "gen_ai.usage.cache_read.input_tokens": "cached_tokens",
        "gen_ai.usage.reasoning.output_tokens": "reasoning_tokens",
    }

    is_client = True

    def __init__(self, model: Any, name: str | None, *, purpose: str, number: int) -> None:
        """Open a call.

        Args:
            model: The LangChain chat model.
            name: The model's name where it is not asked by its own.
            purpose: The purpose of the call, such as "understanding" or "answer".
            number: 1 for the first try.
        """
        asked = name or _own_name(model)
        labels = {_OPERATION: "chat", _PROVIDER: provider_of(model.__class__)}
        self._labels = {**labels, _MODEL: asked} if asked else labels
        super().__init__(
            f"chat {asked}".strip(),
            {
                **self._labels,
                "gen_ai.output.type": "json",
                _PURPOSE: purpose,
                _TRY: number,
            },
        )
        self._tokens: dict[str, int] = {}

    def streams(self) -> None:
        """Record that the answer is asked for piece by piece."""
        self.found["gen_ai.request.stream"] = True

    def answered(self, message: Any) -> None:
        """Record what came with an answer: its tokens, and why it ended."""
        usage: Mapping[str, Any] = message.usage_metadata or {}
        self._tokens = {
            kind: count
            for kind in ("input", "output")
            if isinstance(count := usage.get(f"{kind}_tokens"), int)
        }
        told = {f"gen_ai.usage.{kind}_tokens": count for kind, count in self._tokens.items()}
        cached = (usage.get("input_token_details") or {}).get("cache_read")
        thought = (usage.get("output_token_details") or {}).get("reasoning")
        if cached:
            told["gen_ai.usage.cache_read.input_tokens"] = cached
        if thought:
            told["gen_ai.usage.reasoning.output_tokens"] = thought
        self.found.update(told)
        self._said_of_itself(message.response_metadata)

    def measured(self) -> None:
        """Take its time, and its tokens where they were counted."""
        self.took("gen_ai.client.operation.duration", self._labels)
        for kind, count in self._tokens.items():
            labels = {**self._labels, "gen_ai.token.type": kind}
            measure("gen_ai.client.token.usage", count, labels)

    def _said_of_itself(self, said: Mapping[str, Any]) -> None:
        for attribute, key in (("response.model", "model_name"), ("response.id", "id")):
            if name := _name_in(said.get(key)):
                self.found[f"gen_ai.{attribute}"] = name
        reason = _name_in(said.get("finish_reason") or said.get("stop_reason"))
        if reason:
            self.found["gen_ai.response.finish_reasons"] = [reason]


def _own_name(model: Any) -> str:
    name = getattr(model, "model_name", None) or getattr(model, "model", None)
    return name if isinstance(name, str) else ""


def _name_in(value: Any) -> str | None:
    return value if isinstance(value, str) and _NAME.fullmatch(value) else None


@lru_cache(maxsize=256)
def provider_of(kind: type) -> str:
    """Return the provider that a class of chat models talks to, as the conventions name it."""
    for base in kind.__mro__:
        package = base.__module__.partition(".")[0].removeprefix("langchain_")
        if package in _PROVIDERS and base.__module__.startswith("langchain_"):
            is_azure = package == "openai" and base.__name__.startswith("Azure")
            return "azure.ai.openai" if is_azure else _PROVIDERS[package]
    return kind.__module__.partition(".")[0]
