"""What routes ask for by type."""

from __future__ import annotations

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated

from fastapi import Depends, Request

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


async def _known(session_id: str, wiring: Wired) -> PathwayManager:
    """Find the session; who takes it closes it."""
    try:
        journey_id = await wiring.directory.journey_of(checked_id(session_id))
    except ConfigurationError:
        raise no_session() from None
    # One of a journey that is not served here is none of ours.
    if journey_id not in wiring.journeys:
        raise no_session()
    return wiring.manager(journey_id, session_id)


RunningTurns = Annotated[Turns, Depends(_turns)]
RequestId = Annotated[str, Depends(_request_id)]
Spoken = Annotated[str, Depends(_spoken)]
KnownJourney = Annotated[JourneySpec, Depends(_spec)]
KnownSession = Annotated[PathwayManager, Depends(_known)]


async def _opened(session: KnownSession) -> AsyncIterator[PathwayManager]:
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
