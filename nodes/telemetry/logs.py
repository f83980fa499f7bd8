"""The log of the library: events with data, through Python's own logging.

Nothing is set up here. An application hears us as it hears any library, by the loggers beneath
`journeygraph`; each record is a line for whoever formats lines, and holds the event as data in
`record.journeygraph` for whoever wants that.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, MutableMapping
from contextvars import ContextVar
from typing import Any

import structlog

from nodes.telemetry.otel import telemetry

ROOT = "journeygraph"
DATA = "journeygraph"
"""The attribute of a record that holds its event as data."""

scope: ContextVar[Mapping[str, str]] = ContextVar("journeygraph_scope", default={})  # noqa: B039 - read only
"""Names of what runs here, such as the journey and the pathway; all that is reported has them."""
_line = structlog.processors.LogfmtRenderer(key_order=["event"], bool_as_flag=False)

Event = MutableMapping[str, Any]


def report(level: int, event: str, **details: Any) -> None:
    """Write an event into the log.

    Args:
        level: As logging has them.
        event: What happened, as one word that does not change between releases.
        **details: Names, kinds, counts and times: nothing that anybody said. An error as
            `exc_info` goes along with the record, for whoever may see what it says.
    """
    if _log.isEnabledFor(level):
        _events.log(level, event, **details)


def _placed(_: Any, __: str, event: Event) -> Event:
    """Add the turn and the span in which it happened."""
    seen = telemetry()
    return {**scope.get(), **event, **(seen.place() if seen else {})}


def _handed_over(_: Any, __: str, event: Event) -> tuple[tuple[str], dict[str, Any]]:
    error = {"exc_info": event.pop("exc_info")} if "exc_info" in event else {}
    return (_line(None, "", dict(event)),), {"extra": {DATA: event}, **error}


_log = logging.getLogger(ROOT)
# With processors of its own: what an application configures in structlog is the application's.
_events = structlog.wrap_logger(
    _log,
    processors=[structlog.contextvars.merge_contextvars, _placed, _handed_over],
    wrapper_class=structlog.stdlib.BoundLogger,
    context_class=dict,
)
