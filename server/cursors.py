"""Where a page of sessions ended, as a text that clients hand back unread."""

from __future__ import annotations

import base64
import binascii
import json
import re
from http import HTTPStatus
from typing import Any

from graphs.directory import Place
from server.problems import Problem

_LONGEST = 2_000
_MOST = 2**31
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")


def cursor_of(place: Place) -> str:
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
        Problem: 422 `invalid_cursor` for what is none of ours.
    """
    try:
        [number] = _read(cursor)
    except (binascii.Error, ValueError, TypeError, RecursionError):
        raise _invalid() from None
    if type(number) is not int or not 0 < number < _MOST or cursor_behind(number) != cursor:
        raise _invalid()
    return number


def _read(cursor: str) -> Any:
    padded = cursor[:_LONGEST] + "=" * (-len(cursor) % 4)
    return json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))


def place_of(cursor: str) -> Place:
    """Return the place of a cursor.

    Raises:
        Problem: 422 `invalid_cursor` for what is none of ours.
    """
    try:
        place = Place(*_read(cursor))
    except (binascii.Error, ValueError, TypeError, RecursionError):
        raise _invalid() from None
    # What does not come back as it was sent is no cursor of ours: other types, blanks, names.
    if not all(isinstance(part, str) and part.isprintable() for part in place):
        raise _invalid()
    if not _TIME.fullmatch(place.updated_at) or cursor_of(place) != cursor:
        raise _invalid()
    return place


def _invalid() -> Problem:
    return Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid_cursor",
        "The cursor is not one that this server gave. Begin without it.",
    )
