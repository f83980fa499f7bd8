"""What routes ask for by type."""

from __future__ import annotations

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Request

from graphs.directory import Listed
from graphs.inbox import checked_id, read
from graphs.manager import PathwayManager
from journeys import ConfigurationError, JourneySpec
from server.problems import Problem, no_session
from server.schemas import Message
from server.turns import Turns
from server.wiring import Wiring


async def _wiring(request: Request) -> Wiring:
    wiring: Wiring = request.app.state.wiring
    return wiring


Wired = Annotated[Wiring, Depends(_wiring)]


async def _turns(wiring: Wired) -> Turns:
    return wiring.turns


async def _request_id(request: Request) -> str:
    request_id: str = request.state.request_id
    return request_id


async def _spoken(said: Message) -> str:
    """Read the message before anything is begun."""
    return read(said.message)


async def _spec(journey_id: str, wiring: Wired) -> JourneySpec:
    return known_journey(wiring, journey_id)


async def _listed(session_id: str, wiring: Wired) -> Listed:
    try:
        listed = await wiring.directory.find(checked_id(session_id))
    except ConfigurationError:
        raise no_session() from None
    # One of a journey that is not served here is none of ours.
    if listed is None or listed.journey_id not in wiring.journeys:
        raise no_session()
    return listed


_ListedSession = Annotated[Listed, Depends(_listed)]


async def _known(listed: _ListedSession, wiring: Wired) -> PathwayManager:
    """Find the session; who takes it closes it."""
    return wiring.manager(listed.journey_id, listed.session_id)


_KnownSession = Annotated[PathwayManager, Depends(_known)]


async def _live(session: _KnownSession, listed: _ListedSession) -> PathwayManager:
    """Find a session that has not expired: a stream that has begun cannot say so any more."""
    if listed.status == "expired":
        try:
            await session.restore()
        finally:
            await session.close()
    return session


RunningTurns = Annotated[Turns, Depends(_turns)]
RequestId = Annotated[str, Depends(_request_id)]
Spoken = Annotated[str, Depends(_spoken)]
KnownJourney = Annotated[JourneySpec, Depends(_spec)]
LiveSession = Annotated[PathwayManager, Depends(_live)]


async def _opened(session: _KnownSession) -> AsyncIterator[PathwayManager]:
    try:
        yield session
    finally:
        await session.close()


OpenSession = Annotated[PathwayManager, Depends(_opened)]


def known_journey(wiring: Wiring, journey_id: str) -> JourneySpec:
    """Return the spec of a journey.

    Raises:
        Problem: 404 `journey_not_found`.
    """
    if served := wiring.journeys.get(journey_id):
        return served.journey.spec
    raise Problem(
        HTTPStatus.NOT_FOUND,
        "journey_not_found",
        f"There is no journey of this id. There are: {', '.join(wiring.journeys)}.",
    )
