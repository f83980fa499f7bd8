"""Call an agent of any kind: a function, a Runnable, a graph, an object with `run`."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from cachetools import LRUCache

from journeygraph.journeys import ConfigurationError, PatternPipeline, Pipeline
from journeygraph.journeys.agents.agent import AgentCall, call_of
from journeygraph.journeys.agents.signature import SignatureSpec
from journeygraph.journeys.locale import NOWHERE, Locale
from journeygraph.nodes.authored import Overdue, contained, in_thread
from journeygraph.nodes.payloads import is_message, named, text_in

if TYPE_CHECKING:
    from journeygraph.nodes.agents.model_agent import OutputSink

Payload = dict[str, Any]
MAX_STEPS = 10_000
"""Most steps of an agent that is a graph, unless its own configuration says otherwise."""


class PipelineFailed(RuntimeError):
    """A pipeline that is an agent failed as a whole."""


CallAgent = Callable[[Payload, "OutputSink"], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Callee:
    """Call of an agent, with a payload and a sink for streamed text.

    Attributes:
        signature: Its contract, if it is not the pathway's.
        asked: Gives how to call it with what its pattern asks of a model; None if it is not one.
        localized: Gives it as it is for the locale that a session brought; None: it is the same.
    """

    name: str
    call: CallAgent
    signature: SignatureSpec | None = None
    asked: Callable[[Any], CallAgent] | None = None
    localized: Callable[[Locale], Callee] | None = None

    def at(self, locale: Locale) -> Callee:
        """Return the agent for the locale that a session brought."""
        return self if self.localized is None or locale == NOWHERE else self.localized(locale)


def as_agent(name: str, given: Any, overdue: Overdue) -> Callee:
    """Return how to call what an author registered.

    Args:
        given: A function, async function, async generator of text, Runnable, compiled graph, or an
            object with `arun` or `run`; see `call_of` for what it may take.
        overdue: Called when a turn continues without a thread; returns the callback for its end.
    """
    if isinstance(given, Pipeline):
        return Callee(name, _pipeline(name, given, overdue))
    if isinstance(given, type):
        raise ConfigurationError(
            f"Agent '{name}' is the class {given.__name__}. Give an instance of it."
        )
    if hasattr(given, "ainvoke"):
        return Callee(name, _runnable(given))
    if callable(given) or any(callable(getattr(given, way, None)) for way in ("arun", "run")):
        return Callee(name, _function(name, _call_of(name, given), overdue))
    raise ConfigurationError(
        f"Agent '{name}' is {given!r}, which cannot be called. Register a function, a Runnable, "
        "a compiled graph, an object with run() or arun(), or a ModelAgent."
    )


# By identity, which lasts as long as the entry: what a function takes is slow to find out.
_calls: LRUCache[int, tuple[Any, AgentCall]] = LRUCache(4096)


def _call_of(name: str, given: Any) -> AgentCall:
    if id(given) not in _calls:
        _calls[id(given)] = (given, call_of(name, given))
    return _calls[id(given)][1]


def _function(name: str, call: AgentCall, overdue: Overdue) -> CallAgent:
    own = call.function
    body = own if inspect.isroutine(own) else getattr(own, "__call__", own)  # noqa: B004

    streams, is_async = inspect.isasyncgenfunction(body), inspect.iscoroutinefunction(body)
    run = partial(_called, call)

    async def answer(payload: Payload, say: OutputSink) -> Any:
        with contained():
            if is_async:
                return await run(payload)
            if streams:
                return await _gathered(run(payload), say)
            result = await in_thread(name, run, payload, overdue)
            if hasattr(result, "__aiter__"):
                return await _gathered(result, say)
            return await result if inspect.isawaitable(result) else result

    return answer


def _called(call: AgentCall, payload: Payload) -> Any:
    if call.names is None or (call.first and call.first not in payload):
        return call.function(payload)
    if missing := [name for name in call.required if name not in payload]:
        raise TypeError(
            f"it takes {', '.join(missing)}, which have no values here; it was given: "
            f"{', '.join(payload)}"
        )
    taken = payload if call.open else [name for name in call.names if name in payload]
    return call.function(**{name: payload[name] for name in taken})


async def _gathered(parts: AsyncIterator[Any], say: OutputSink) -> Any:
    """Stream the text of an async generator, or of its messages; a dict in it adds outputs."""
    outputs: dict[str, Any] = {}
    text: list[str] = []
    async for part in parts:
        if isinstance(part, str) or is_message(part):
            text.append(text_in(part))
            say(text[-1])
        else:
            outputs.update(named(part))
    return {**outputs, "response": "".join(text)} if text else outputs


def _pipeline(name: str, given: Pipeline, overdue: Overdue) -> CallAgent:
    """Return how to call a pipeline that is run as a whole, and takes its inputs by their names.

    How it came about is its own affair, and failing as a whole is a failure.
    """
    run = _function(name, _call_of(name, given), overdue)

    async def answer(payload: Payload, say: OutputSink) -> Any:
        result = await run(payload, say)
        story = result.get("pipeline") if isinstance(result, Mapping) else None
        if isinstance(story, Mapping) and story.get("status") == "failed":
            raise PipelineFailed(str(result.get("error") or "it failed"))
        if not isinstance(given, PatternPipeline):
            return result
        return {name: value for name, value in result.items() if name != "pipeline"}

    return answer


def _runnable(given: Any) -> Any:
    # Otherwise a graph would inherit the limit of our turn, which is far below its own.
    own = getattr(given, "config", None)
    limited = isinstance(own, Mapping) and own.get("recursion_limit")
    config = {} if limited else {"recursion_limit": MAX_STEPS}

    async def answer(payload: Payload, say: OutputSink) -> Any:
        with contained():
            return await given.ainvoke(_input_of(given, payload), config)

    return answer


def _input_of(given: Any, payload: Payload) -> Any:
    """Return what a Runnable is given: messages where it wants them, else the payload."""
    messages = [*payload["history"], {"role": "user", "content": payload["message"]}]
    if _is_model(given):
        return messages
    return {**payload, "messages": messages}


def _is_model(given: Any) -> bool:
    """Return whether a Runnable is a model, or begins with one, as `model | parser` does."""
    if hasattr(given, "generate_prompt"):
        return True
    held = (getattr(given, name, None) for name in ("first", "bound", "runnable"))
    return any(_is_model(inner) for inner in held if inner is not None)
