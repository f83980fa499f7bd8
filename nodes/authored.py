"""Run what authors wrote, so that a `sys.exit()` in it ends that part and not the process."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from contextvars import Context, ContextVar, copy_context
from typing import Any

Overdue = Callable[[str], Callable[[], None]]
"""Callback for an agent whose thread is left behind; returns the callback for its end."""
FAILURES = (Exception, SystemExit)
"""Failures of a plain function of an author. `KeyboardInterrupt` is the operator's, not its own."""
_inside: ContextVar[bool] = ContextVar("inside_authored", default=False)


class ExitedError(RuntimeError):
    """A part of an author called `sys.exit()`, which fails that part alone."""

    def __init__(self, exit_: SystemExit) -> None:
        super().__init__(f"it called sys.exit({exit_.code!r:.100})")


class BreakerOpenError(RuntimeError):
    """A part is not called, because it failed too often recently."""

    def __init__(self) -> None:
        super().__init__("it failed too often recently; it is tried again after a pause")


class contained:
    """Turn a `SystemExit` in this block, and in the tasks that are made in it, into an error.

    An event loop ends with the first task that raises `SystemExit`, even if another task waits for
    it. Libraries make tasks as well: LangGraph for each node, LangChain for each async tool. So it
    is caught within each task.
    """

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        factory = loop.get_task_factory()
        if type(factory) is not _TaskFactory:
            loop.set_task_factory(_TaskFactory(factory))
        self._token = _inside.set(True)

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        try:  # noqa: SIM105 - suppress() costs more than all else here
            _inside.reset(self._token)
        except ValueError:  # a coroutine may be closed in another context
            pass
        if isinstance(error, SystemExit):
            raise ExitedError(error) from error


class _TaskFactory:
    """Makes tasks as before, except those of an author's part."""

    def __init__(self, before: Callable[..., Any] | None) -> None:
        self._before = before

    def __call__(
        self,
        loop: asyncio.AbstractEventLoop,
        coro: Any,
        context: Context | None = None,
        **options: Any,
    ) -> asyncio.Future[Any]:
        if _inside.get() or (context is not None and context.get(_inside)):
            coro = _Contained(coro)
        if context is not None:
            options["context"] = context
        if self._before is None:
            return asyncio.Task(coro, loop=loop, **options)
        made: asyncio.Future[Any] = self._before(loop, coro, **options)
        return made


class _Contained(Coroutine[Any, Any, Any]):
    """A coroutine that raises `ExitedError` for `SystemExit`.

    It is no coroutine around the other one: a task that is cancelled before it begins would never
    begin that one, and Python would warn of it.
    """

    def __init__(self, coro: Coroutine[Any, Any, Any]) -> None:
        self._coro = coro

    def send(self, value: Any) -> Any:
        try:
            return self._coro.send(value)
        except SystemExit as error:
            raise ExitedError(error) from error

    def throw(self, *error: Any) -> Any:
        try:
            return self._coro.throw(*error)
        except SystemExit as exit_:
            raise ExitedError(exit_) from exit_

    def close(self) -> None:
        self._coro.close()

    def __await__(self) -> Iterator[Any]:  # type: ignore[override]
        return self._coro.__await__()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._coro, name)  # its code and frame, for whoever shows tasks


async def in_thread(name: str, call: Callable[[Any], Any], payload: Any, overdue: Overdue) -> Any:
    """Call a sync function in a separate thread; a result after cancellation is only reported.

    Not a pool: a call that hangs would hold its place for ever, and the process at exit.
    """
    done: Future[Any] = Future()
    done.set_running_or_notify_cancel()  # from here on it cannot be cancelled, only left behind
    context = copy_context()
    thread = threading.Thread(
        target=_settle, args=(done, context, call, payload), name=f"agent-{name}", daemon=True
    )
    thread.start()
    try:
        return await asyncio.wrap_future(done)
    except asyncio.CancelledError:
        _leave(done, asyncio.get_running_loop(), overdue(name))
        raise


async def called(name: str, function: Callable[..., Any], *given: Any) -> Any:
    """Call a plain function of an author, async or in a thread, and return its result."""
    with contained():
        if inspect.iscoroutinefunction(function):
            return await function(*given)
        result = await in_thread(name, lambda own: function(*own), given, lambda _: lambda: None)
        return await result if inspect.isawaitable(result) else result


def _settle(done: Future[Any], context: Context, call: Callable[..., Any], payload: Any) -> None:
    try:
        done.set_result(context.run(call, payload))
    except BaseException as error:
        # An agent may end its thread, not the process; no future takes a StopIteration, so the
        # turn would wait until its time is over; and one with a CancelledError counts as cancelled.
        if isinstance(error, Exception) and not isinstance(error, (StopIteration, CancelledError)):
            done.set_exception(error)
        else:
            failure = (
                ExitedError(error)
                if isinstance(error, SystemExit)
                else RuntimeError(f"{type(error).__name__}: {error}")
            )
            failure.__cause__ = error
            done.set_exception(failure)


def _leave(done: Future[Any], loop: asyncio.AbstractEventLoop, late: Callable[[], None]) -> None:
    def tell(_: Future[Any]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop may be closed by then
            loop.call_soon_threadsafe(late)

    done.add_done_callback(tell)
