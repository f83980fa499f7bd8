"""Dependencies of routes."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated, NamedTuple

from fastapi import Depends, Header, Query, Request

from journeygraph.graphs.records.idempotency import KEY_PATTERN
from journeygraph.graphs.records.listing import SessionListing
from journeygraph.graphs.session.directory import FoundSession
from journeygraph.graphs.session.manager import PathwayManager
from journeygraph.graphs.session.session import SessionContext
from journeygraph.journeys import JourneySpec
from journeygraph.journeys.faults import REMEDIES
from journeygraph.server.access.callers import Caller
from journeygraph.server.discover.journeys import Served
from journeygraph.server.http.app_state import AppState
from journeygraph.server.http.event_logs import EventId
from journeygraph.server.http.problems import Problem, no_session
from journeygraph.server.http.routing import idempotency_key, session_name


async def _whole(request: Request) -> AppState:
    app_state: AppState = request.app.state.app_state
    return app_state


AnyonesWiring = Annotated[AppState, Depends(_whole)]
"""The state of the app for a route without a key."""


async def _app_state(request: Request, whole: AnyonesWiring) -> AppState:
    return whole.of(request.state.caller.tenant)


Deps = Annotated[AppState, Depends(_app_state)]
"""The state of the app for the tenant of the client."""


async def _request_id(request: Request) -> str:
    request_id: str = request.state.request_id
    return request_id


async def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


CurrentCaller = Annotated[Caller, Depends(_caller)]
"""The client of the request, by its key."""


async def _client(request: Request, caller: CurrentCaller) -> str:
    """Return the digest of the client's API key, or of its person, whose tokens change."""
    name = request.headers.get("authorization", "")
    if caller.user is not None:
        name = f"{caller.tenant}|{caller.user}"
    elif caller.is_signed:
        name = f"{caller.tenant}|\0{caller.key_id}"
    return hashlib.sha256(name.encode()).hexdigest()


async def _followed(app_state: Deps) -> AppState:
    await app_state.follow()
    return app_state


UpToDate = Annotated[AppState, Depends(_followed)]


async def _named(session_id: str) -> str:
    return session_name(session_id)


SessionName = Annotated[str, Depends(_named)]


async def _listed(
    session_id: SessionName, app_state: Deps, caller: CurrentCaller
) -> SessionListing:
    found = await app_state.directory.found(session_id)
    if found:
        await app_state.follow(found.epoch)
    return _there(found, caller).listed


def _there(found: FoundSession | None, caller: Caller) -> FoundSession:
    """Return a session; one that is not for the caller is as one that does not exist."""
    if found is None or not caller.reaches(found.listed.session_id, found.user):
        raise no_session()
    return found


ListedSession = Annotated[SessionListing, Depends(_listed)]
"""A session that is served here, in any status; its state is not read."""


async def _opened(listed: ListedSession, app_state: Deps) -> AsyncIterator[PathwayManager]:
    async with app_state.session(await served_of(listed, app_state), listed.session_id) as session:
        yield session


async def served_of(listed: SessionListing, app_state: AppState) -> Served:
    """Return the version of a journey that a session belongs to, as `AppState.serving`."""
    return await app_state.serving(listed.session_id, listed.journey_id, listed.journey_version)


class SessionView(NamedTuple):
    """A session with its context."""

    listed: SessionListing
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


async def session_view(app_state: AppState, session_id: str, caller: Caller) -> SessionView:
    """Return the context of a session, from the cache if it has the database's version.

    Raises:
        Problem: There is no such session.
        NeedsMigrationError: Its journey is not served here.
        SessionExpiredError: The session has expired.
    """
    looked = await app_state.directory.found(session_id)
    if looked:
        await app_state.follow(looked.epoch)
    found = _there(looked, caller)
    listed = found.listed
    served = await served_of(listed, app_state)
    is_cached = app_state.cache is not None and not served.journey.spec.sensitive
    contexts = app_state.contexts if is_cached else None
    if contexts and listed.status != "expired" and (context := await contexts.get(found)):
        return SessionView(listed, context)
    async with app_state.session(served, session_id) as session:
        context = await session.session_context()
    if contexts:
        contexts.keep(context, found.expires_at)
    return SessionView(listed, context)


async def _standing(session_id: SessionName, app_state: Deps, caller: CurrentCaller) -> SessionView:
    return await session_view(app_state, session_id, caller)


StandingSession = Annotated[SessionView, Depends(_standing)]


def known_journey(app_state: AppState, journey_id: str) -> JourneySpec:
    """Return the spec of a journey.

    Raises:
        Problem: 404 `journey_not_found`, or `definition_refused` with the faults of its definition.
    """
    if served := app_state.journeys.get(journey_id):
        return served.journey.spec
    if app_state.catalogue and (faults := app_state.catalogue.faults.get(journey_id)):
        raise Problem(
            HTTPStatus.NOT_FOUND,
            "definition_refused",
            "The definition of this journey is not valid; `faults` has each fault.",
            faults=faults,
        )
    raise Problem(
        HTTPStatus.NOT_FOUND,
        "journey_not_found",
        f"There is no journey with this id. Journeys: {', '.join(app_state.journeys)}.",
    )


async def known_version(app_state: AppState, journey_id: str, version: str | None) -> Served:
    """Return a version of a journey; None: the one in which new sessions begin.

    Raises:
        Problem: As of `known_journey`, and if this version is not served.
    """
    current = app_state.journeys[known_journey(app_state, journey_id).id]
    if version is None:
        return current
    if served := await app_state.version_of(journey_id, version):
        return served
    raise Problem(
        HTTPStatus.NOT_FOUND,
        "journey_not_found",
        "This version of the journey is not served. GET /v1/journeys lists the versions.",
    )
