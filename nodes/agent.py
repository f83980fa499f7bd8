"""Run one agent: fill its inputs, call it whatever it is, take its outputs as plain data."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from journeys import ConfigurationError, PathwaySpec
from nodes.inputs import payload_of
from nodes.plain import plain
from nodes.state import PARTING, Output, PathwayState, Update, text_of

if TYPE_CHECKING:
    from nodes.services import Services

Payload = dict[str, Any]
MAX_STEPS = 10_000
"""Most steps of an agent that is a graph, unless its own configuration says otherwise."""


@dataclass(frozen=True, slots=True)
class Agent:
    """How to call an agent: with a payload, and a place for what it says while it works."""

    name: str
    call: Callable[[Payload, Callable[[str], None]], Awaitable[Any]]


async def run_agent(
    state: PathwayState, services: Services, pathway: PathwaySpec, name: str
) -> Update:
    """Give an agent the pathway's inputs; add its outputs to the pathway's.

    Raises:
        Exception: Whatever the agent raises; the node that calls this names pathway and agent.
        TypeError: It returned what no agent may return.
        ValueError: It returned something that is not JSON.
    """
    payload, flags = payload_of(pathway, state)
    # Only the last of a sequence surely has the word; what others say is known when all are done.
    live = pathway.pipeline == "sequential" and pathway.agents[-1] == name
    parting = PARTING if state["turn"]["replies"] else ""
    say = _Speaker(services.emit if live else None, parting)
    values = _outputs(await services.agents[name].call(payload, say))
    place = pathway.agents.index(name)
    output = Output(place=place, values=values, flags=flags, streamed=say.spoke)
    return {"outputs": [output]}


class _Speaker:
    """Passes on what an agent says while it works; the first words are parted from those before."""

    def __init__(
        self, emit: Callable[[Mapping[str, Any]], None] | None = None, parting: str = ""
    ) -> None:
        self._emit = emit
        self._parting = parting
        self.spoke = False

    def __call__(self, text: str) -> None:
        if self._emit and text:
            self._emit({"type": "token", "text": text if self.spoke else self._parting + text})
            self.spoke = True


def _outputs(result: Any) -> dict[str, Any]:
    """Return what an agent gave back as named values; None values are skipped.

    Raises:
        TypeError: It is neither a dict, text, a message, nor a model with fields.
        ValueError: Something in it is not JSON; the text names the path to it.
    """
    kept = {name: value for name, value in _named(result).items() if value is not None}
    if not isinstance(kept.get("response", ""), (str, int, float)):
        kept["response"] = _text(kept["response"])
    clean: dict[str, Any] = plain(kept, "outputs")
    return clean


def _named(result: Any) -> Mapping[str, Any]:
    if result is None:
        return {}
    if isinstance(result, str) or _is_message(result):
        return {"response": _text(result)}
    if hasattr(result, "model_dump"):
        result = result.model_dump(mode="json")
    if not isinstance(result, Mapping):
        raise TypeError(
            f"it returned {type(result).__name__}; return a dict, text or a message instead"
        )
    if result.get("messages") and "response" not in result:
        return {**result, "response": _reply_in(result["messages"]), "messages": None}
    return result


def _is_message(value: Any) -> bool:
    """Say whether a value is a message of LangChain, or the plain dict of one."""
    if isinstance(value, Mapping):
        return {"role", "content"} <= value.keys() <= {"role", "content", "id", "name"}
    return hasattr(value, "content") and hasattr(value, "type")


def _text(value: Any) -> str:
    """Return what a reply says: text, a message, or the content of one, which may be blocks."""
    if _is_message(value):
        value = value["content"] if isinstance(value, Mapping) else value.content
    if isinstance(value, (str, list)):
        return text_of(value)
    raise TypeError(f"its response is of type {type(value).__name__}; give text or a message")


def _reply_in(messages: Sequence[Any]) -> str | None:
    """Return what was said last in answer to the user; None if nothing was."""
    for message in reversed(messages):
        given = message if isinstance(message, Mapping) else getattr(message, "__dict__", {})
        if "content" not in given:
            raise TypeError(f"its messages hold {type(message).__name__}; give messages or text")
        role = given.get("role") or given.get("type")
        if role in ("user", "human"):
            break
        if role in ("assistant", "ai", "AIMessageChunk") and (said := text_of(given["content"])):
            return said
    return None


def as_agent(name: str, given: Any, report: Callable[[Mapping[str, Any]], None]) -> Agent:
    """Return how to call what an author registered.

    Args:
        name: The agent's name.
        given: A function, async function, async generator of text, Runnable, compiled graph, or an
            object with `arun` or `run`.
        report: Takes an audit event when a thread gives its result too late.

    Raises:
        ConfigurationError: It is none of these.
    """
    if isinstance(given, type):
        raise ConfigurationError(f"Agent '{name}' is the class {given.__name__}; give an instance.")
    if hasattr(given, "ainvoke"):
        return Agent(name, _runnable(given))
    for method in ("arun", "run"):
        if callable(getattr(given, method, None)):
            return Agent(name, _function(name, getattr(given, method), report))
    if callable(given):
        return Agent(name, _function(name, given, report))
    raise ConfigurationError(
        f"Agent '{name}' is {given!r}, which cannot be called. Register a function, a Runnable, "
        "a compiled graph, or an object with run() or arun()."
    )


def _function(name: str, call: Callable[..., Any], report: Callable[..., None]) -> Any:
    body = call if inspect.isroutine(call) else getattr(call, "__call__", call)  # noqa: B004

    async def answer(payload: Payload, say: Callable[[str], None]) -> Any:
        if inspect.isasyncgenfunction(body):
            return await _gathered(call(payload), say)
        if inspect.iscoroutinefunction(body):
            return await call(payload)
        result = await _in_thread(name, call, payload, report)
        if hasattr(result, "__aiter__"):
            return await _gathered(result, say)
        return await result if inspect.isawaitable(result) else result

    return answer


async def _gathered(parts: AsyncIterator[Any], say: Callable[[str], None]) -> Any:
    """Stream the text of an async generator, or of its messages; a dict in it adds outputs."""
    outputs: dict[str, Any] = {}
    text: list[str] = []
    async for part in parts:
        if isinstance(part, str) or _is_message(part):
            text.append(_text(part))
            say(text[-1])
        else:
            outputs.update(_named(part))
    return {**outputs, "response": "".join(text)} if text else outputs


def _runnable(given: Any) -> Any:
    # Otherwise a graph would inherit the limit of our turn, which is far below its own.
    own = getattr(given, "config", None)
    limited = isinstance(own, Mapping) and own.get("recursion_limit")
    config = {} if limited else {"recursion_limit": MAX_STEPS}

    async def answer(payload: Payload, say: Callable[[str], None]) -> Any:
        return await given.ainvoke(_input_of(given, payload), config)

    return answer


def _input_of(given: Any, payload: Payload) -> Any:
    """Return what a Runnable is given: messages where it wants them, else the payload."""
    messages = [*payload["history"], {"role": "user", "content": payload["message"]}]
    if _is_model(given):
        return messages
    return {**payload, "messages": messages}


def _is_model(given: Any) -> bool:
    """Say whether a Runnable is a model, or begins with one, as `model | parser` does."""
    if hasattr(given, "generate_prompt"):
        return True
    held = (getattr(given, name, None) for name in ("first", "bound", "runnable"))
    return any(_is_model(inner) for inner in held if inner is not None)


async def _in_thread(
    name: str, call: Callable[[Payload], Any], payload: Payload, report: Callable[..., None]
) -> Any:
    """Call a sync agent in a thread of its own; a result after cancellation is only reported.

    Not a pool: a call that hangs would hold its place for ever, and the process at exit.
    """
    done: Future[Any] = Future()
    done.set_running_or_notify_cancel()  # from here on it cannot be cancelled, only left behind
    context = contextvars.copy_context()
    thread = threading.Thread(
        target=_settle, args=(done, context, call, payload), name=f"agent-{name}", daemon=True
    )
    thread.start()
    try:
        return await asyncio.wrap_future(done)
    except asyncio.CancelledError:
        loop = asyncio.get_running_loop()
        done.add_done_callback(lambda _: _tell(loop, report, name))
        raise


def _settle(
    done: Future[Any], context: contextvars.Context, call: Callable[..., Any], payload: Payload
) -> None:
    try:
        done.set_result(context.run(call, payload))
    except BaseException as error:
        # An agent may end its thread, not the process; no future takes a StopIteration, so the
        # turn would wait until its time is over; and one with a CancelledError counts as cancelled.
        if isinstance(error, Exception) and not isinstance(error, (StopIteration, CancelledError)):
            done.set_exception(error)
        else:
            failure = RuntimeError(f"{type(error).__name__}: {error}")
            failure.__cause__ = error
            done.set_exception(failure)


def _tell(loop: asyncio.AbstractEventLoop, report: Callable[..., None], name: str) -> None:
    event = {
        "kind": "late_result",
        "trigger": name,
        "reason": "its thread ended after the turn; the result was discarded",
    }
    with contextlib.suppress(RuntimeError):  # the loop may be closed by then
        loop.call_soon_threadsafe(report, event)
