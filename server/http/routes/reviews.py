"""Route of replies that a person should review."""

from __future__ import annotations

from fastapi import APIRouter

from journeygraph.graphs.records.listing import cursor_behind, number_of, paged
from journeygraph.server.http.deps import Cursor, Deps, Limit, known_journey
from journeygraph.server.http.routing import ApiRoute
from journeygraph.server.http.schemas import Reviews

router = APIRouter(prefix="/v1/reviews", tags=["reviews"], route_class=ApiRoute)


@router.get("")
async def listed(
    app_state: Deps,
    journey_id: str | None = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Reviews:
    """List replies that were replaced, invalid, or failed to be checked, newest first."""
    journeys = list(app_state.journeys)
    if journey_id is not None:
        journeys = [known_journey(app_state, journey_id).id]
    before = None if cursor is None else number_of(cursor)
    # One more than asked for tells whether there is another page.
    found = await app_state.directory.reviews(journeys, before=before, limit=limit + 1)
    page = paged(found, limit, lambda review: cursor_behind(review.number))
    return Reviews(reviews=[review.check for review in page], next_cursor=page.next)
