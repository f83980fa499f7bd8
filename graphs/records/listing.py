"""Pages of lists: each continues by key after the previous one, at constant cost."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import JSON, ColumnElement, String, bindparam, cast, func, select

from journeygraph.graphs.storage import statements
from journeygraph.graphs.storage.sealing import is_sealed
from journeygraph.graphs.storage.statements import Row, Sql, now, of_tenant
from journeygraph.graphs.storage.store import Store
from journeygraph.graphs.storage.tables import sessions
from journeygraph.journeys import ConfigurationError, InvalidCursorError, Page
from journeygraph.nodes.json_data import stamp

LIVE, EXPIRED = "", "expired"
"""LIVE means every status except expired."""
MOST = 1_000
"""Maximum number of entries of a page."""
MOST_BYTES = 1_000_000
"""Bytes of text after which a page of turns ends; one turn may have more."""
END_OF_TIME = "9999"
"""A time after all others, as stored times compare."""
_LONGEST = 2_000
_LAST = 2**63
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")
_T = TypeVar("_T")


def _heads(ids: Any) -> Sql:
    """Return the heads of the sessions in a list, which is one parameter of any length."""
    names = (sessions.c[name] for name in ("session_id", "version", "status", "expires_at"))
    return Sql.of(select(*names).where(of_tenant(sessions), sessions.c.session_id.in_(ids)))


_IDS: ColumnElement[str] = bindparam("sessions", type_=String)
HEADS = Sql(
    _heads(select(func.json_each(_IDS).table_valued("value").c.value)).sqlite,
    _heads(select(func.json_array_elements_text(cast(_IDS, JSON)))).postgres,
)


class PageEnd(NamedTuple):
    """The end of a page: the last session on it."""

    updated_at: str
    journey_id: str
    session_id: str


@dataclass(frozen=True, slots=True)
class SessionListing:
    """A session in a list, with its current status.

    Attributes:
        journey_version: The version of the journey that the session belongs to.
        version: The version of the session: the number of its last turn.
        last_message: In lists, the beginning of the last message of the user. It is empty if there
            is none, and in sensitive journeys.
    """

    session_id: str
    journey_id: str
    journey_version: str
    status: str
    pathway_id: str
    version: int
    created_at: str
    updated_at: str
    last_message: str = ""

    @property
    def place(self) -> PageEnd:
        """Return the cursor of a page that ends with this session."""
        return PageEnd(self.updated_at, self.journey_id, self.session_id)


class Head(NamedTuple):
    """The newest version of a session.

    Attributes:
        version: Its number.
        is_over: True if the session has expired.
    """

    version: int
    is_over: bool


async def read_heads(store: Store, session_ids: Sequence[str]) -> dict[str, Head]:
    """Return the newest versions of sessions by one query; those that do not exist are missing.

    Raises:
        StateError: The store failed.
    """
    rows = await store.read(HEADS, sessions=json.dumps(list(session_ids)))
    late = stamp(now())
    return {
        row["session_id"]: Head(
            row["version"], row["status"] == EXPIRED or row["expires_at"] < late
        )
        for row in rows
    }


async def read_sessions(
    store: Store,
    journeys: Sequence[str],
    status: str,
    after: PageEnd | None,
    limit: int,
    pathway: str = "",
    text: str = "",
) -> list[SessionListing]:
    """Return sessions of these journeys, newest activity first.

    Args:
        store: Their store.
        journeys: Ids of journeys.
        status: active, complete or expired; LIVE for all that have not expired.
        after: End of the previous page.
        limit: Maximum number of sessions.
        pathway: Pathway that they are in; default: any.
        text: Part of their id, or of a message or a reply, in any case; default: any. What is
            sealed is not searched.

    Raises:
        StateError: The store failed.
    """
    rows: list[Row] = []
    for journey in sorted(journeys):
        wanted = {"journey": journey, "now": stamp(now()), "most": limit, **_bounds(journey, after)}
        wanted |= {"status": status, "pathway": pathway, "text": statements.containing(text)}
        for query in _queries(status, pathway):
            rows += await store.read(query, **wanted)
    # Stable: sessions of one journey stay in the order in which the store sorts their ids.
    newest = sorted(rows, key=lambda row: str(row["updated_at"]), reverse=True)[:limit]
    return [
        SessionListing(**{**row, "last_message": readable(row["last_message"])}) for row in newest
    ]


def readable(stored: str | None) -> str:
    """Return a text of a list; nothing if there is none, or if it is sealed."""
    return "" if stored is None or is_sealed(stored) else stored


def _queries(status: str, pathway: str) -> list[Sql]:
    """Return the statements of a list."""
    if status == EXPIRED:
        # What is over by time is marked as expired only once somebody comes upon it.
        if pathway:
            return [statements.PAGE_AT_MARKED, statements.PAGE_AT_OVER]
        return [statements.PAGE_MARKED, statements.PAGE_OVER]
    if pathway:
        return [statements.PAGE_AT_OF if status else statements.PAGE_AT]
    return [statements.PAGE_OF if status else statements.PAGE]


def _bounds(journey: str, after: PageEnd | None) -> Row:
    """Return the condition for one journey's sessions after a place.

    Sessions with the same time of activity are ordered by journey: earlier journeys are on previous
    pages, later ones are not.
    """
    if after is None:
        return {"before": END_OF_TIME, "tie": "", "above": ""}
    ties = after.updated_at if journey >= after.journey_id else ""
    above = after.session_id if journey == after.journey_id else ""
    return {"before": after.updated_at, "tie": ties, "above": above}


def span_after(after: str | None, limit: int | None, head: int) -> tuple[Row, str | None]:
    """Return the range of turns of a page for statements, and the start of the next page.

    Args:
        after: End of the previous page; None for the first one.
        limit: Maximum number of turns; None for all.
        head: Number of the session's last turn.

    Raises:
        ConfigurationError: The limit is not from 1 to 1000.
        InvalidCursorError: `after` is not a cursor of a page.
    """
    low = statements.ALL_TURNS["low"] if after is None else number_of(after) - 1
    if limit is None or low + checked_limit(limit) >= head:
        return {**statements.ALL_TURNS, "low": low}, None
    high = low + limit
    return {"low": low, "high": high}, cursor_behind(high + 1)  # turns begin at 0, cursors at 1


async def page_of_turns(
    store: Store, session_id: str, head: int, after: str | None, limit: int | None, sizes: Sql
) -> tuple[Row, str | None]:
    """Return the range of turns of a page as `span_after` does, ended at `MOST_BYTES`.

    Without a limit it is not ended there either.

    Args:
        store: The store.
        session_id: The session.
        head: Number of its last turn.
        after: End of the previous page; None for the first one.
        limit: Maximum number of turns; None for all.
        sizes: As `last_fitting` returns it, for what is read.

    Raises:
        ConfigurationError: As of `span_after`.
        InvalidCursorError: The same.
        StateError: The store failed.
    """
    span, more = span_after(after, limit, head)
    if limit is None:
        return span, more
    last = await last_that_fits(store, session_id, span, sizes)
    if last >= min(span["high"], head):
        return span, more
    return {**span, "high": last}, cursor_behind(last + 1)


async def last_that_fits(store: Store, session_id: str, span: Row, sizes: Sql) -> int:
    """Return the last of a range of turns up to `MOST_BYTES`, but at least the first.

    Args:
        store: The store.
        session_id: The session.
        span: The turns: `low` and `high`.
        sizes: As `last_fitting` returns it, for what is read.
    """
    [row] = await store.read(sizes, session=session_id, **span, most=MOST_BYTES)
    return int(span["low"]) + 1 if row["last"] is None else int(row["last"])


def paged(found: Sequence[_T], limit: int, cursor: Callable[[_T], str]) -> Page[_T]:
    """Return a page of a result with one surplus row if there is another page."""
    return Page(found[:limit], cursor(found[limit - 1]) if len(found) > limit else None)


def checked_limit(limit: Any) -> int:
    """Return the checked limit of a page.

    Raises:
        ConfigurationError: The limit is not from 1 to 1000.
    """
    if type(limit) is int and 1 <= limit <= MOST:
        return limit
    raise ConfigurationError(f"limit is {limit!r:.80}; it must be a whole number, 1 to {MOST}.")


def cursor_of(place: PageEnd) -> str:
    """Return the cursor of a place."""
    return _written(list(place))


def cursor_behind(number: int) -> str:
    """Return the cursor of a page that ends with a number."""
    return _written([number])


def _written(parts: list[Any]) -> str:
    text = json.dumps(parts, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def number_of(cursor: str) -> int:
    """Return the number that a page ended with.

    Raises:
        InvalidCursorError: The cursor is not one of ours.
    """
    [number] = _read(cursor, 1)
    if type(number) is not int or not 0 < number < _LAST or cursor_behind(number) != cursor:
        raise InvalidCursorError
    return number


def place_of(cursor: str) -> PageEnd:
    """Return the place of a cursor.

    Raises:
        InvalidCursorError: The cursor is not one of ours.
    """
    place = PageEnd(*_read(cursor, 3))
    # What does not come back as it was sent is no cursor of ours: other types, blanks, names.
    if not all(isinstance(part, str) and part.isprintable() for part in place):
        raise InvalidCursorError
    if not _TIME.fullmatch(place.updated_at) or cursor_of(place) != cursor:
        raise InvalidCursorError
    return place


def _read(cursor: str, length: int) -> list[Any]:
    try:
        padded = cursor[:_LONGEST] + "=" * (-len(cursor) % 4)
        parts = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (binascii.Error, ValueError, TypeError, AttributeError, RecursionError):
        raise InvalidCursorError from None
    if not isinstance(parts, list) or len(parts) != length:
        raise InvalidCursorError
    return parts
