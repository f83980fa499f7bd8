"""Where a page of sessions ended, as a text that clients hand back unread."""

from __future__ import annotations

import base64
import binascii
import json
import re
from http import HTTPStatus

from graphs.directory import Place
from server.problems import Problem

_LONGEST = 2_000
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")


def cursor_of(place: Place) -> str:
    """Return the cursor of a place."""
    text = json.dumps(list(place), separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def place_of(cursor: str) -> Place:
    """Return the place of a cursor.

    Raises:
        Problem: 422 `invalid_cursor` for what is none of ours.
    """
    try:
        padded = cursor[:_LONGEST] + "=" * (-len(cursor) % 4)
        text = base64.b64decode(padded, altchars=b"-_", validate=True)
        place = Place(*json.loads(text))
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
