"""Read Accept headers (RFC 9110, section 12.5.1) as far as we have a choice to offer."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.types import Scope


def accept_of(scope: Scope) -> str:
    """Return what a request accepts; several headers of that name are one list."""
    return ",".join(Headers(scope=scope).getlist("accept"))


def preferred(accept: str, offers: Sequence[str]) -> str:
    """Return the offer that an Accept header names with the most weight.

    Of equal weights the one named first wins; where none is named, the first offer.
    """
    wanted = [(weight, name) for name, weight in map(_read, accept.split(",")) if name in offers]
    weight, name = max(wanted, key=lambda item: item[0], default=(0.0, ""))
    return name if weight > 0 else offers[0]


def _read(media_range: str) -> tuple[str, float]:
    name, *parameters = (part.strip().lower() for part in media_range.split(";"))
    weights = [value[2:] for value in parameters if value.startswith("q=")]
    try:
        return name, float(weights[0]) if weights else 1.0
    except ValueError:
        return name, 0.0
