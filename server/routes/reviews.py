"""Checks of replies that somebody should look at."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from server.cursors import cursor_behind, number_of
from server.deps import Wired, known_journey
from server.routing import ApiRoute
from server.schemas import Reviews

router = APIRouter(prefix="/v1/reviews", tags=["reviews"], route_class=ApiRoute)


@router.get("")
async def listed(
    wiring: Wired,
    journey_id: str | None = None,
    cursor: Annotated[str | None, Query(description="`next_cursor` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> Reviews:
    """List replies that were replaced, judged invalid, or could not be judged, newest first."""
    journeys = list(wiring.journeys)
    if journey_id is not None:
        journeys = [known_journey(wiring, journey_id).id]
    before = None if cursor is None else number_of(cursor)
    # One more than asked for tells whether there is another page.
    found = await wiring.directory.reviews(journeys, before=before, limit=limit + 1)
    more = cursor_behind(found[limit - 1].number) if len(found) > limit else None
    return Reviews(reviews=[review.check for review in found[:limit]], next_cursor=more)
