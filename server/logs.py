"""Log of the server: one event a line on standard error, JSON unless it is a terminal.

What an error says may be in a user's words, or hold a key. So of an error in the log there are its
types and its places, and never its text; `--debug` alone shows that.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Iterator, MutableMapping
from typing import Any, Literal

import orjson
import structlog

from nodes.telemetry.otel import DATA, ROOT

Level = Literal["debug", "info", "warning", "error"]
MOST_PLACES = 15
"""Places of an error that are told, the innermost last."""
_Event = MutableMapping[str, Any]


def write_logs(level: Level) -> None:
    """Write the log of this process to standard error, and to nothing that was set up before.

    Args:
        level: From where on our own events are written; those of libraries are from warnings on.
    """
    wanted = logging.getLevelNamesMapping()[level.upper()]
    handler = logging.StreamHandler()
    handler.setFormatter(formatter(for_people=sys.stderr.isatty()))
    handler.addFilter(_ours_or_a_warning)
    logging.basicConfig(level=max(wanted, logging.WARNING), handlers=[handler], force=True)
    logging.getLogger(ROOT).setLevel(wanted)


def _ours_or_a_warning(record: logging.LogRecord) -> bool:
    """Whether to write a record: some libraries set a lower level for themselves."""
    return record.name == ROOT or record.levelno >= logging.WARNING


def formatter(*, for_people: bool) -> logging.Formatter:
    """Return what makes a line of a record, ours or a library's."""
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
    """Return the types of an error and of what caused it, and where it all began; no words."""
    chain = list(_chain(error))
    walked = traceback.walk_tb(chain[-1].__traceback__)
    frames = traceback.StackSummary.extract(walked, lookup_lines=False)
    places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    types = [type(one).__name__ for one in chain]
    return {"error": " from ".join(types), "places": places[-MOST_PLACES:]}


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what it was raised from; one that leads back to itself ends there."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        hidden = one.__suppress_context__
        one = one.__cause__ or (None if hidden else one.__context__)


def _as_data(_: Any, __: str, event: _Event) -> _Event:
    """Take the data of our own records in place of their line; of others, say whose they are."""
    record = event["_record"]
    data = getattr(record, DATA, None)
    return {**event, **data} if data else {**event, "logger": record.name}


def _without_words(_: Any, __: str, event: _Event) -> _Event:
    info = event.pop("exc_info", None)
    event.pop("stack_info", None)
    return {**event, **places_of(info[1])} if info and info[1] else event


def _json(event: Any, **_: Any) -> str:
    return orjson.dumps(event, default=str).decode()
