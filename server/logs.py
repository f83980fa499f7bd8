"""Log of the server: one event a line on standard error, JSON unless it is a terminal.

The text of an error may contain words of a user, or a key. So the log has only the types and places
of an error; `--debug` also shows its text.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Iterator, MutableMapping
from typing import Any, Literal

import orjson
import structlog

from journeygraph.nodes.telemetry.otel import DATA, ROOT

Level = Literal["debug", "info", "warning", "error"]
MOST_PLACES = 15
"""Number of logged places of an error; the innermost is the last."""
_Event = MutableMapping[str, Any]


def write_logs(level: Level) -> None:
    """Write the log of this process only to standard error.

    Args:
        level: Lowest level of our own events; for libraries it is "warning".
    """
    wanted = logging.getLevelNamesMapping()[level.upper()]
    handler = logging.StreamHandler()
    handler.setFormatter(formatter(for_people=sys.stderr.isatty()))
    handler.addFilter(_ours_or_a_warning)
    logging.basicConfig(level=max(wanted, logging.WARNING), handlers=[handler], force=True)
    logging.getLogger(ROOT).setLevel(wanted)


def _ours_or_a_warning(record: logging.LogRecord) -> bool:
    """Return whether to write a record: some libraries set a lower level for themselves."""
    return record.name == ROOT or record.levelno >= logging.WARNING


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


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes; stop at a cycle."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        hidden = one.__suppress_context__
        one = one.__cause__ or (None if hidden else one.__context__)


def _as_data(_: Any, __: str, event: _Event) -> _Event:
    """Replace the line of our own records by their data; add the logger's name to others."""
    record = event["_record"]
    data = getattr(record, DATA, None)
    return {**event, **data} if data else {**event, "logger": record.name}


def _without_words(_: Any, __: str, event: _Event) -> _Event:
    info = event.pop("exc_info", None)
    event.pop("stack_info", None)
    return {**event, **places_of(info[1])} if info and info[1] else event


def _json(event: Any, **_: Any) -> str:
    return orjson.dumps(event, default=str).decode()
