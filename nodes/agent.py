"""Run one agent: fill its inputs, call it whatever it is, take its outputs as plain data."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from journeys import ConfigurationError, PathwaySpec
from nodes.inputs import payload_of
from nodes.plain import plain
from nodes.state import PARTING, Output, PathwayState, Update, text_of

if TYPE_CHECKING:
    from nodes.services import Services

Payload = dict[str, Any]


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
    if result is None:
        return {}
    if isinstance(result, str):
        result = {"response": result}
    elif isinstance(result, Mapping) and "response" not in result and result.get("messages"):
        result = {**result, "response": _said(result["messages"][-1]), "messages": None}
    elif hasattr(result, "model_dump") and not hasattr(result, "content"):
        result = result.model_dump()
    elif hasattr(result, "content"):
        result = {"response": text_of(result.content)}
    if not isinstance(result, Mapping):
        raise TypeError(
            f"it returned {type(result).__name__}; return a dict, text or a message instead"
        )
    kept = {name: value for name, value in result.items() if value is not None}
    clean: dict[str, Any] = plain(kept, "outputs")
    return clean


def _said(message: Any) -> str:
    content = message.get("content", "") if isinstance(message, Mapping) else message.content
    return text_of(content)


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
    if hasattr(given, "ainvoke"):
        return Agent(name, _runnable(given))
    for method in ("arun", "run"):
        if not isinstance(given, type) and callable(getattr(given, method, None)):
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
        return await result if inspect.isawaitable(result) else result

    return answer


async def _gathered(parts: AsyncIterator[Any], say: Callable[[str], None]) -> Any:
    """Stream the text of an async generator; a dict that it yields adds outputs."""
    outputs: dict[str, Any] = {}
    text: list[str] = []
    async for part in parts:
        if isinstance(part, str):
            text.append(part)
            say(part)
        else:
            outputs.update(part)
    return {**outputs, "response": "".join(text)} if text else outputs


def _runnable(given: Any) -> Any:
    async def answer(payload: Payload, say: Callable[[str], None]) -> Any:
        return await given.ainvoke(_input_of(given, payload))

    return answer


def _input_of(given: Any, payload: Payload) -> Any:
    """Return what a Runnable is given: messages where it wants them, else the payload."""
    messages = [*payload["history"], {"role": "user", "content": payload["message"]}]
    if hasattr(given, "generate_prompt"):
        return messages
    return {**payload, "messages": messages}


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
    except Exception as error:
        done.set_exception(error)
    except BaseException as error:
        # An agent may end its thread, not the process.
        done.set_exception(RuntimeError(f"{type(error).__name__}: {error}"))


def _tell(loop: asyncio.AbstractEventLoop, report: Callable[..., None], name: str) -> None:
    event = {
        "kind": "late_result",
        "trigger": name,
        "reason": "its thread ended after the turn; the result was discarded",
    }
    with contextlib.suppress(RuntimeError):  # the loop may be closed by then
        loop.call_soon_threadsafe(report, event)
