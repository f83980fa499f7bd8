"""Processes forked from one that has imported the product: there in milliseconds."""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib
import io
import multiprocessing
import os
import runpy
import socket
import subprocess
import sys
import time
from multiprocessing import connection, forkserver, reduction, resource_tracker
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_PRELOADED = "tests.support.preloaded"


@functools.cache
def _context() -> Any:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([_PRELOADED])
    with contextlib.chdir(ROOT):  # from where it finds what it imports
        forkserver.ensure_running()
    return context


def share() -> None:
    """Fork the server of such processes from this one, for it and for those forked from it."""
    resource_tracker.ensure_running()
    server: Any = forkserver._forkserver
    address = connection.arbitrary_address("AF_UNIX")  # type: ignore[attr-defined]
    alive, server._forkserver_alive_fd = os.pipe()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        if not os.fork():
            _serve(listener.detach(), alive, server._forkserver_alive_fd)
    os.close(alive)
    server._forkserver_address = address
    server.ensure_running = resource_tracker.ensure_running
    atexit.register(_remove, address, os.getpid())


def _serve(listener: int, alive: int, ours: int) -> None:
    try:
        os.close(ours)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nowhere, number)
        sys.settrace(None)
        importlib.import_module(_PRELOADED)
        forkserver.main(listener, alive, [])
    finally:
        os._exit(0)


def _remove(address: str, owner: int) -> None:
    if os.getpid() == owner:
        Path(address).unlink(missing_ok=True)


def process(target: Any, *args: Any) -> Any:
    """Return a process that will call a function with these arguments; `start` begins it."""
    return _context().Process(target=target, args=args, daemon=True)


def event() -> Any:
    """Return an event that such processes share."""
    return _context().Event()


class Command(subprocess.Popen[bytes]):
    """`python -P -m MODULE WORDS...` in a process of its own, as `subprocess` would start it."""

    def _execute_child(self, args: list[str], *given: Any) -> None:
        cwd, env, pipes = given[4], given[5], given[9:15]
        streams = [_Stream(pipes[number]) for number in (0, 3, 5)]
        self._process = process(_run, args, str(cwd), env, streams)
        self._process.start()
        self.pid = self._process.pid
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None:
            self.returncode = self._process.exitcode
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        self._process.join(timeout)
        if self._internal_poll() is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self.returncode


class _Stream:
    """One end of a pipe, on its way to another process."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> Any:
        return _detached, (reduction.DupFd(self.number),)


def _detached(sent: Any) -> int:
    number: int = sent.detach()
    return number


def _unbuffered(number: int, errors: str) -> io.TextIOWrapper:
    raw = os.fdopen(number, "wb", buffering=0, closefd=False)
    return io.TextIOWrapper(raw, encoding="utf-8", errors=errors, write_through=True)


def _run(words: list[str], folder: str, environment: dict[str, str], streams: list[int]) -> None:
    """Become what a new interpreter would be, with these words on its command line."""
    # Else it could start no process of its own.
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = _unbuffered(1, "strict")
    sys.stderr = _unbuffered(2, "backslashreplace")
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    os.chdir(folder)
    sys.path[:] = [str(ROOT), *(place for place in sys.path if place not in ("", str(ROOT)))]
    module, sys.argv[1:] = words[0], words[1:]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
