"""Run the tests in several processes, forked from one that has imported and collected them all.

`--processes N` forks N workers once the collection is done. A pipe holds the numbers of all tests;
each worker reads the next of them when it has time, and sends its reports back.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import random
import signal
import struct
import sys
import traceback
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any

import pytest

_RANGE = struct.Struct("II")
_CAPTURED = pytest.StashKey[Any]()
_LARGEST = 30
"""Tests that a worker takes at once; neighbours share the fixtures of their module."""


class Parallel:
    """The tests of a session, and the processes that run them.

    Attributes:
        leave: Is called in each worker after its last test.
    """

    def __init__(self, processes: int, leave: Callable[[], None]):
        self.processes = processes
        self.leave = leave

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        _reporter(session).write_line("Collecting the tests ...")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed or session.config.option.collectonly:
            return None
        reporter = _reporter(session)
        reporter.showfspath = False
        reporter.write_line(f"{len(session.items):,} tests in {self.processes} processes")
        # The workers share the folder of all tests, each with a part of its own.
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        queue = _queue(session.items)
        sys.stdout.flush()
        sys.stderr.flush()
        workers: dict[Any, _Worker] = {}
        try:
            for number in range(self.processes):
                self._fork(session, queue, number, [], workers)
            while workers:
                for connection in wait(list(workers)):
                    self._read(session, queue, connection, workers)
                if session.shouldfail or session.shouldstop:
                    raise session.Failed(session.shouldfail or session.shouldstop)
        finally:
            os.close(queue)
            for worker in workers.values():
                worker.end()
        return True

    def _read(
        self, session: pytest.Session, queue: int, connection: Any, workers: dict[Any, _Worker]
    ) -> None:
        """Take a report of a worker; another takes the place of one that died."""
        worker = workers[connection]
        if worker.reports(session):
            return
        del workers[connection]
        if worker.died(session):
            self._fork(session, queue, worker.number, worker.left, workers)

    def _fork(
        self,
        session: pytest.Session,
        queue: int,
        number: int,
        left: list[int],
        workers: dict[Any, _Worker],
    ) -> None:
        ours, theirs = Pipe(duplex=False)
        if pid := os.fork():
            theirs.close()
            workers[ours] = _Worker(pid, number, ours, left)
            return
        status = 1
        try:
            ours.close()
            for connection in workers:
                connection.close()
            _become_worker(session, number, theirs)
            try:
                _run(session, _taken(queue, theirs, left))
            finally:
                self.leave()
            _save_coverage()
            status = 0
        except KeyboardInterrupt:
            pass
        except BaseException:
            theirs.send(("broken", traceback.format_exc()))
        finally:
            os._exit(status)


def _reporter(session: pytest.Session) -> Any:
    return session.config.pluginmanager.getplugin("terminalreporter")


class _Worker:
    """A process that runs tests, as its parent sees it.

    Attributes:
        pid: Of the process.
        number: Of the worker: the first has 0.
        left: The tests that it has taken and not begun.
    """

    def __init__(self, pid: int, number: int, connection: Connection, left: list[int]) -> None:
        self.pid = pid
        self.number = number
        self.left = [*left]
        self._connection = connection
        self._running: tuple[str, Any] | None = None

    def reports(self, session: pytest.Session) -> bool:
        """Pass on what the worker sends; return whether more can come."""
        try:
            kind, data = self._connection.recv()
        except EOFError:
            return False
        hook = session.config.hook
        if kind == "taken":
            self.left.extend(range(*data))
        elif kind == "begun":
            self._running = data
            self.left.pop(0)
        elif kind == "ended":
            self._running = None
        elif kind == "broken":
            raise RuntimeError(f"A process of the tests failed outside of them:\n{data}")
        else:
            report = hook.pytest_report_from_serializable(config=session.config, data=data)
            hook.pytest_runtest_logreport(report=report)
        return True

    def died(self, session: pytest.Session) -> bool:
        """Report the test in which the worker died, if it died in one."""
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self._connection.close()
        if self._running is None:
            if status:
                raise RuntimeError(f"A process of the tests ended with status {status}.")
            return False
        nodeid, location = self._running
        text = f"The process of this test died (status {status})."
        report = pytest.TestReport(nodeid, location, {}, "failed", text, "call")
        session.config.hook.pytest_runtest_logreport(report=report)
        return True

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGINT)
        while True:  # so that it never waits for somebody to read
            try:
                self._connection.recv_bytes()
            except (EOFError, OSError):
                break
        self._connection.close()
        os.waitpid(self.pid, 0)


class _Reporter:
    """Send the reports of a worker to its parent."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self._config = config
        self._connection = connection

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        self._connection.send(("begun", (nodeid, location)))

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._connection.send(("ended", nodeid))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self._is_needless(report):
            return
        hook = self._config.hook
        data = hook.pytest_report_to_serializable(config=self._config, report=report)
        self._connection.send(("report", data))

    def _is_needless(self, report: pytest.TestReport) -> bool:
        """Return whether nobody reads it: two of three reports are of a set-up or its end."""
        timed = self._config.option.durations is not None
        return report.passed and report.when != "call" and not (timed or report.sections)


def _become_worker(session: pytest.Session, number: int, connection: Connection) -> None:
    """Keep away from the terminal, the captured output and the folders of other processes."""
    config: Any = session.config
    random.seed()
    reporter = config.pluginmanager.getplugin("terminalreporter")
    reporter._tw._file = io.StringIO()
    capture = config.pluginmanager.getplugin("capturemanager")
    # Imported modules may hold the parent's `sys.stderr`: it stays open, and leads nowhere.
    capture.suspend_global_capture(in_=True)
    config.stash[_CAPTURED] = held = capture._global_capturing
    for stream in (held.out, held.err):
        if file := getattr(stream, "tmpfile", None):
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), file.fileno())
    capture._global_capturing = None
    capture.start_global_capturing()
    capture.suspend_global_capture(in_=True)
    factory = config._tmp_path_factory
    factory._basetemp = factory.mktemp(f"process-{number}-")
    config.pluginmanager.register(_Reporter(config, connection))
    gc.freeze()


def _run(session: pytest.Session, numbers: Iterator[int]) -> None:
    """Run tests until none is left; pytest has to know which one follows."""
    item: pytest.Item | None = None
    for number in numbers:
        following = session.items[number]
        if item:
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
        item = following
    if item:
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)


def _taken(queue: int, connection: Connection, left: list[int]) -> Iterator[int]:
    """Yield the numbers of tests: those that a dead worker left, then those of the queue."""
    yield from left
    while taken := os.read(queue, _RANGE.size):
        portion = _RANGE.unpack(taken)
        connection.send(("taken", portion))
        yield from range(*portion)


def _save_coverage() -> None:
    if (module := sys.modules.get("coverage")) and (measured := module.Coverage.current()):
        measured.stop()
        measured.save()


def _queue(items: list[pytest.Item]) -> int:
    """Return a pipe from which processes read the numbers of the tests, each of them once."""
    queue, end = os.pipe()
    os.set_blocking(end, False)
    for first, last in _ranges(items):
        os.write(end, _RANGE.pack(first, last))
    os.close(end)
    return queue


def _ranges(items: list[pytest.Item]) -> Iterator[tuple[int, int]]:
    """Yield the tests in portions: long ones one by one, and smaller portions towards the end."""
    first = 0
    while first < len(items):
        left = len(items) - first
        alone = items[first].get_closest_marker("slow") or items[first].get_closest_marker("long")
        last = first + (1 if alone else max(1, min(_LARGEST, left // 40)))
        yield first, last
        first = last
