"""Dependencies of routes."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated, NamedTuple

from fastapi import Depends, Header, Query, Request

from journeygraph.graphs.records.idempotency import KEY_PATTERN
from journeygraph.graphs.records.listing import Listed
from journeygraph.graphs.session.directory import Found
from journeygraph.graphs.session.manager import PathwayManager
from journeygraph.graphs.session.session import SessionContext
from journeygraph.journeys import JourneySpec
from journeygraph.journeys.faults import REMEDIES
from journeygraph.server.access.callers import Caller
from journeygraph.server.discover.journeys import Served
from journeygraph.server.http.event_logs import EventId
from journeygraph.server.http.problems import Problem, no_session
from journeygraph.server.http.routing import idempotency_key, session_name
from journeygraph.server.http.wiring import Wiring


async def _whole(request: Request) -> Wiring:
    wiring: Wiring = request.app.state.wiring
    return wiring


AnyonesWiring = Annotated[Wiring, Depends(_whole)]
"""The wiring for a route without a key."""


async def _wiring(request: Request, whole: AnyonesWiring) -> Wiring:
    return whole.of(request.state.caller.tenant)


Wired = Annotated[Wiring, Depends(_wiring)]
"""The wiring for the tenant of the client."""


async def _request_id(request: Request) -> str:
    request_id: str = request.state.request_id
    return request_id


async def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


Asking = Annotated[Caller, Depends(_caller)]
"""The client of the request, by its key."""


async def _client(request: Request, caller: Asking) -> str:
    """Return the digest of the client's API key, or of its person, whose tokens change."""
    name = request.headers.get("authorization", "")
    if caller.user is not None:
        name = f"{caller.tenant}|{caller.user}"
    elif caller.is_signed:
        name = f"{caller.tenant}|\0{caller.key_id}"
    return hashlib.sha256(name.encode()).hexdigest()


async def _followed(wiring: Wired) -> Wiring:
    await wiring.follow()
    return wiring


UpToDate = Annotated[Wiring, Depends(_followed)]


async def _named(session_id: str) -> str:
    return session_name(session_id)


SessionName = Annotated[str, Depends(_named)]


async def _listed(session_id: SessionName, wiring: Wired, caller: Asking) -> Listed:
    found = await wiring.directory.found(session_id)
    if found:
        await wiring.follow(found.epoch)
    return _there(found, caller).listed


def _there(found: Found | None, caller: Caller) -> Found:
    """Return a session; one that is not for the caller is as one that does not exist."""
    if found is None or not caller.reaches(found.listed.session_id, found.user):
        raise no_session()
    return found


ListedSession = Annotated[Listed, Depends(_listed)]
"""A session that is served here, in any status; its state is not read."""


async def _opened(listed: ListedSession, wiring: Wired) -> AsyncIterator[PathwayManager]:
    async with wiring.session(await served_of(listed, wiring), listed.session_id) as session:
        yield session


async def served_of(listed: Listed, wiring: Wiring) -> Served:
    """Return the version of a journey that a session belongs to, as `Wiring.serving`."""
    return await wiring.serving(listed.session_id, listed.journey_id, listed.journey_version)


class SessionView(NamedTuple):
    """A session with its context."""

    listed: Listed
    context: SessionContext


Cursor = Annotated[str | None, Query(description="`next_cursor` of the previous page.")]
_ONE_LINE = r"^[^\x00-\x1f]*$"
REMEDIES[_ONE_LINE] = "it must be one line, without control characters."
PathwayId = Annotated[
    str | None,
    Query(max_length=200, pattern=_ONE_LINE, description="Only those in this pathway."),
]
Text = Annotated[
    str | None,
    Query(
        max_length=200,
        pattern=_ONE_LINE,
        description="Only those with this in their id, a message or a reply, in any case. Those of "
        "sensitive journeys are found by their ids alone.",
    ),
]
Limit = Annotated[int, Query(ge=1, le=200)]
"""Maximum number of entries per page."""
JourneyVersion = Annotated[
    str | None, Query(description="One of the journey's `versions`; default: the first of them.")
]
_TURNS = "Maximum number of turns per page. A page also ends after 1 MB, with one turn at least."
Turns = Annotated[int, Query(ge=1, le=1_000, description=_TURNS)]


async def _key(
    request: Request,
    key: Annotated[
        str | None,
        Header(
            alias="Idempotency-Key",
            json_schema_extra={"pattern": KEY_PATTERN},
            description="Your name for this request, such as a UUID: 1 to 200 visible ASCII "
            "characters. If the request is sent again with it within 24 hours, the answer is the "
            "same, with `Idempotent-Replay: true`, and nothing is done twice. 422 "
            "`idempotency_key_reused`: the key belongs to another request of the session.",
        ),
    ] = None,
) -> str | None:
    return idempotency_key(request.headers)


IdempotencyKey = Annotated[str | None, Depends(_key)]


async def _last_event(
    last: Annotated[
        str | None,
        Header(
            alias="Last-Event-ID",
            description="Id of the last event that you have; the stream continues after it.",
        ),
    ] = None,
) -> EventId | None:
    if not last:
        return None
    if known := EventId.of(last):
        return known
    raise Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid_event_id",
        "Last-Event-ID is not an id of an event of this server. Send the id of the last event "
        "that you have, or omit the header.",
    )


LastEvent = Annotated[EventId | None, Depends(_last_event)]
Client = Annotated[str, Depends(_client)]
REPLAYED = {"Idempotent-Replay": "true"}
"""Headers of an answer to a request that was done before."""
RequestId = Annotated[str, Depends(_request_id)]


OpenSession = Annotated[PathwayManager, Depends(_opened)]


async def session_view(wiring: Wiring, session_id: str, caller: Caller) -> SessionView:
    """Return the context of a session, from the cache if it has the database's version.

    Raises:
        Problem: There is no such session.
        NeedsMigrationError: Its journey is not served here.
        SessionExpiredError: The session has expired.
        StateError: The store failed.
    """
    looked = await wiring.directory.found(session_id)
    if looked:
        await wiring.follow(looked.epoch)
    found = _there(looked, caller)
    listed = found.listed
    served = await served_of(listed, wiring)
    is_cached = wiring.cache is not None and not served.journey.spec.sensitive
    contexts = wiring.contexts if is_cached else None
    if contexts and listed.status != "expired" and (context := await contexts.get(found)):
        return SessionView(listed, context)
    async with wiring.session(served, session_id) as session:
        context = await session.session_context()
    if contexts:
        contexts.keep(context, found.expires_at)
    return SessionView(listed, context)


async def _standing(session_id: SessionName, wiring: Wired, caller: Asking) -> SessionView:
    return await session_view(wiring, session_id, caller)


StandingSession = Annotated[SessionView, Depends(_standing)]


def known_journey(wiring: Wiring, journey_id: str) -> JourneySpec:
    """Return the spec of a journey.

    Raises:
        Problem: 404 `journey_not_found`, or `definition_refused` with the faults of its definition.
    """
    if served := wiring.journeys.get(journey_id):
        return served.journey.spec
    if wiring.catalogue and (faults := wiring.catalogue.faults.get(journey_id)):
        raise Problem(
            HTTPStatus.NOT_FOUND,
            "definition_refused",
            "The definition of this journey is not valid; `faults` has each fault.",
            faults=faults,
        )
    raise Problem(
        HTTPStatus.NOT_FOUND,
        "journey_not_found",
        f"There is no journey with this id. Journeys: {', '.join(wiring.journeys)}.",
    )


async def known_version(wiring: Wiring, journey_id: str, version: str | None) -> Served:
    """Return a version of a journey; None: the one in which new sessions begin.

    Raises:
        Problem: As of `known_journey`, and if this version is not served.
        StateError: The definition of the version could not be read.
    """
    current = wiring.journeys[known_journey(wiring, journey_id).id]
    if version is None:
        return current
    if served := await wiring.version_of(journey_id, version):
        return served
    raise Problem(
        HTTPStatus.NOT_FOUND,
        "journey_not_found",
        "This version of the journey is not served. GET /v1/journeys lists the versions.",
    )
