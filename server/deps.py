"""What routes ask for by type."""

from __future__ import annotations

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated, NamedTuple

from fastapi import Depends, Request

from graphs.directory import Found, Listed
from graphs.inbox import checked_id, read
from graphs.manager import PathwayManager
from graphs.session_context import SessionContext
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


async def _followed(wiring: Wired) -> Wiring:
    await wiring.follow()
    return wiring


UpToDate = Annotated[Wiring, Depends(_followed)]


async def _spec(journey_id: str, wiring: UpToDate) -> JourneySpec:
    return known_journey(wiring, journey_id)


async def _named(session_id: str) -> str:
    try:
        return checked_id(session_id)
    except ConfigurationError:
        raise no_session() from None


_SessionName = Annotated[str, Depends(_named)]


async def _listed(session_id: _SessionName, wiring: Wired) -> Listed:
    found = await wiring.directory.found(session_id)
    if found:
        wiring.contexts.saw(found.epoch)
        await wiring.follow(found.epoch)
    return _ours(found, wiring).listed


def _ours(found: Found | None, wiring: Wiring) -> Found:
    # One of a journey that is not served here is none of ours.
    if found is None or found.listed.journey_id not in wiring.journeys:
        raise no_session()
    return found


_ListedSession = Annotated[Listed, Depends(_listed)]


async def _known(listed: _ListedSession, wiring: Wired) -> PathwayManager:
    """Find the session; who takes it closes it."""
    if listed.journey_id not in wiring.journeys:  # retired a moment ago
        raise no_session()
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


class Standing(NamedTuple):
    """A session, and what it knows."""

    listed: Listed
    context: SessionContext


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


async def standing_of(wiring: Wiring, session_id: str) -> Standing:
    """Find out what a session knows: from the cache, if that is as new as the database.

    Raises:
        Problem: There is no such session.
        SessionExpiredError: It is over.
        StateError: The store failed.
    """
    looked, kept = await wiring.contexts.look(wiring.directory, session_id)
    if looked:
        await wiring.follow(looked.epoch)
    found = _ours(looked, wiring)
    listed = found.listed
    cached = not wiring.journeys[listed.journey_id].journey.spec.sensitive
    is_live = cached and listed.status != "expired"
    if is_live and (context := wiring.contexts.judged(found, kept)):
        return Standing(listed, context)
    manager = wiring.manager(listed.journey_id, session_id)
    try:
        context = await manager.session_context()
    finally:
        await manager.close()
    if cached:
        wiring.contexts.keep(context, found.expires_at)
    return Standing(listed, context)


async def _standing(session_id: _SessionName, wiring: Wired) -> Standing:
    return await standing_of(wiring, session_id)


StandingSession = Annotated[Standing, Depends(_standing)]


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
