"""Log of the server: one event a line on standard error, JSON unless it is a terminal.

The text of an error may contain words of a user, or a key. So the log has only the types and places
of an error. The developer of a journey gets its text and traceback: in `chat`, and from a server
with `--reload` or `--debug`.
"""

from __future__ import annotations

import logging
import sys
import sysconfig
import traceback
from collections import deque
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from itertools import dropwhile
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

import orjson
import structlog

import journeygraph
from journeygraph.journeys import examples
from journeygraph.nodes.json_data import words_of
from journeygraph.nodes.telemetry.otel import AUDIT, DATA, ROOT

Level = Literal["debug", "info", "warning", "error"]
MOST_PLACES = 15
"""Number of logged places of an error; the innermost is the last."""
MOST_ERRORS = 100
"""Number of errors that are kept for a developer; the last ones."""
_Event = MutableMapping[str, Any]
_LIBRARIES = (
    *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
    *journeygraph.__path__,
)
_EXAMPLES = str(Path(examples.__file__).parent)


def debug_log() -> None:
    """Write our log to standard error in Python's format, with tracebacks."""
    _write(logging.StreamHandler(), logging.DEBUG)


def is_debugged() -> bool:
    """Return whether all our events are read, as after `debug_log`."""
    return logging.getLogger(ROOT).level == logging.DEBUG


def write_logs(level: Level) -> None:
    """Write the log of this process only to standard error.

    Args:
        level: Lowest level of our own events; for libraries it is "warning".
    """
    handler = logging.StreamHandler()
    handler.setFormatter(formatter(for_people=sys.stderr.isatty()))
    _write(handler, logging.getLevelNamesMapping()[level.upper()])


def _write(handler: logging.Handler, wanted: int) -> None:
    def is_read(record: logging.LogRecord) -> bool:  # some libraries set a lower level themselves
        if record.name == AUDIT:
            return True
        return record.levelno >= (wanted if record.name == ROOT else logging.WARNING)

    handler.addFilter(is_read)
    logging.basicConfig(level=max(wanted, logging.WARNING), handlers=[handler], force=True)
    logging.getLogger(ROOT).setLevel(wanted)


def formatter(*, for_people: bool) -> logging.Formatter:
    """Return the formatter for records, ours or a library's."""
    renderer: Any = structlog.processors.JSONRenderer(_json)
    if for_people:
        renderer = structlog.dev.ConsoleRenderer(colors=False)
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.stdlib.add_log_level,
            structlog.contextvars.merge_contextvars,
            _as_data,
            _without_words,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
        ],
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
    )


def places_of(error: BaseException) -> dict[str, Any]:
    """Return the types of an error and of its causes, and the place of the first one; no text."""
    chain = list(_chain(error))
    walked = traceback.walk_tb(chain[-1].__traceback__)
    frames = traceback.StackSummary.extract(walked, lookup_lines=False)
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    types = [type(one).__name__ for one in chain]
    return {"error": " from ".join(types), "places": places[-MOST_PLACES:]}


class Raised(NamedTuple):
    """An error of a part of a journey, with its text.

    Attributes:
        session: The pseudonym of the session; empty outside of a turn.
        turn: The number of the turn; 0 outside of one.
        name: The name of the part, such as an agent or a tool; empty if it is not known.
        words: The type of the error, and what it says.
        traceback: The traceback, from the author's code on.
    """

    session: str
    turn: int
    name: str
    words: str
    traceback: str


class ErrorLog(logging.Handler):
    """Takes the errors of a journey with their texts, for its developer; not for production.

    Args:
        show: Writes an error for the developer as it comes; None: it is only kept.
    """

    def __init__(self, show: Callable[[Raised], None] | None = None) -> None:
        super().__init__()
        self._show = show
        self._kept: deque[Raised] = deque(maxlen=MOST_ERRORS)

    @contextmanager
    def listening(self) -> Iterator[Self]:
        """Take the errors while the block runs."""
        log = logging.getLogger(ROOT)
        level = log.level
        log.addHandler(self)
        log.setLevel(logging.DEBUG)
        try:
            yield self
        finally:
            log.removeHandler(self)
            log.setLevel(level)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the error of a record, if it has one that was not in the one before."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return
        data = getattr(record, DATA, {})
        session, turn, name = data.get("session", ""), data.get("turn", 0), data.get("name", "")
        raised = Raised(session, turn, name, words_of(error), traceback_of(error))
        before = self.of(session, turn)
        if before and before[-1].traceback in raised.traceback:  # its cause, or a second try
            return
        self._kept.append(raised)
        if self._show:
            self._show(raised)

    def taken(self) -> list[Raised]:
        """Return the errors since the last call."""
        taken = [*self._kept]
        self._kept.clear()
        return taken

    def of(self, session: str, turn: int) -> list[Raised]:
        """Return the errors of a turn, by the session's pseudonym."""
        return [one for one in self._kept if (one.session, one.turn) == (session, turn)]


def traceback_of(error: BaseException) -> str:
    """Return an error as Python writes it, without the lines that lead to the author's code."""
    told = traceback.TracebackException.from_exception(error)
    _cut(told)
    return "".join(told.format()).rstrip()


def _cut(told: traceback.TracebackException) -> None:
    own = list(dropwhile(_is_library, told.stack)) or told.stack[-1:]
    told.stack = traceback.StackSummary.from_list(own)
    for cause in (told.__cause__, told.__context__, *(told.exceptions or ())):
        if cause is not None:
            _cut(cause)


def _is_library(frame: traceback.FrameSummary) -> bool:
    return frame.filename.startswith(_LIBRARIES) and not frame.filename.startswith(_EXAMPLES)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        hidden = one.__suppress_context__
        one = one.__cause__ or (None if hidden else one.__context__)


def _as_data(_: Any, __: str, event: _Event) -> _Event:
    record = event["_record"]
    data = getattr(record, DATA, None)
    return {**event, **data} if data else {**event, "logger": record.name}


def _without_words(_: Any, __: str, event: _Event) -> _Event:
    info = event.pop("exc_info", None)
    event.pop("stack_info", None)
    return {**event, **places_of(info[1])} if info and info[1] else event


def _json(event: Any, **_: Any) -> str:
    return orjson.dumps(event, default=str).decode()
