"""Routes of sessions: start, list, read, roll back, fork, delete."""

from __future__ import annotations

import asyncio
from functools import partial
from http import HTTPStatus
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from journeygraph.graphs.records.idempotency import new_id
from journeygraph.graphs.records.listing import cursor_of, paged, place_of
from journeygraph.journeys import JourneySession, SessionExistsError, SessionExpiredError
from journeygraph.server.access.callers import Caller
from journeygraph.server.discover.errors import CommandError
from journeygraph.server.http.app_state import AppState
from journeygraph.server.http.auth import is_loopback
from journeygraph.server.http.deps import (
    REPLAYED,
    Client,
    CurrentCaller,
    Cursor,
    Deps,
    IdempotencyKey,
    Limit,
    OpenSession,
    PathwayId,
    StandingSession,
    Text,
    Turns,
    UpToDate,
    known_journey,
    served_of,
)
from journeygraph.server.http.problems import Problem, no_session
from journeygraph.server.http.routing import ApiRoute, ContextRoute
from journeygraph.server.http.schemas import (
    Audit,
    Context,
    Fork,
    History,
    NewSession,
    Rollback,
    Session,
    Sessions,
    Status,
    Version,
    Versions,
)

_YAML = "application/yaml"

beginning = APIRouter(prefix="/v1/sessions", tags=["sessions"], route_class=ContextRoute)
router = APIRouter(prefix="/v1/sessions", tags=["sessions"], route_class=ApiRoute)


@beginning.post("", status_code=HTTPStatus.CREATED)
async def begin(
    new: NewSession,
    app_state: UpToDate,
    caller: CurrentCaller,
    client: Client,
    key: IdempotencyKey,
    response: Response,
) -> Session:
    """Start a session.

    It belongs to the user of the key. With a key of no user it belongs to `user`, if that is given.
    """
    user = _owner_of(new, caller)
    # Without an id, the key stands for one: keys of another client stand for others.
    session_id = caller.session or new.session_id or new_id(client, key)
    served = app_state.journeys[_journey_of(new, app_state)]
    async with app_state.session(served, session_id) as session:
        try:
            begun = await session.start_session(
                new.context, locale=new.own_locale(), user=user, idempotency_key=key
            )
        except (SessionExistsError, SessionExpiredError):
            found = await app_state.directory.found(session_id)
            if found and not caller.reaches(session_id, found.user):
                raise no_session() from None
            raise
    response.headers["Location"] = f"/v1/sessions/{session_id}"
    return _shown(begun, response)


def _owner_of(new: NewSession, caller: Caller) -> str | None:
    """Return the owner of a new session.

    Raises:
        Problem: 403 `out_of_reach`: the key of a user is to start a session of another user, or
            one with an id of its choice, which would show that a session of another user exists.
    """
    if caller.user is None:
        return new.user
    if new.user not in (None, caller.user) or new.session_id not in (None, caller.session):
        raise Problem(
            HTTPStatus.FORBIDDEN,
            "out_of_reach",
            "This key belongs to one user: it starts sessions of that user, and their ids come "
            "from the server or the key. Leave out `user` and `session_id`.",
        )
    return caller.user


def _shown(session: JourneySession, response: Response) -> Session:
    if session.replayed:
        response.headers.update(REPLAYED)
    return Session.model_validate(session, from_attributes=True)


@router.get("")
async def listed(
    app_state: Deps,
    journey_id: str | None = None,
    status: Status | None = None,
    pathway_id: PathwayId = None,
    text: Text = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Sessions:
    """List sessions, newest activity first; expired ones only on request."""
    journeys = list(app_state.journeys)
    if journey_id is not None:
        journeys = [known_journey(app_state, journey_id).id]
    after = None if cursor is None else place_of(cursor)
    # One more than asked for tells whether there is another page.
    found = await app_state.directory.page(
        journeys,
        status=status or "",
        pathway=pathway_id or "",
        text=text or "",
        after=after,
        limit=limit + 1,
    )
    page = paged(found, limit, lambda listed: cursor_of(listed.place))
    return Sessions(sessions=page, next_cursor=page.next)


@router.get("/{session_id}")
async def shown(session: OpenSession) -> Session:
    """Return the state of a session."""
    return Session.model_validate(await session.restore(), from_attributes=True)


@router.get("/{session_id}/history")
async def history(session: OpenSession, cursor: Cursor = None, limit: Turns = 200) -> History:
    """Return the messages, oldest first, including those before a rollback."""
    page = await session.transcript(limit, cursor)
    return History(session_id=session.session_id, entries=page, next_cursor=page.next)


@router.get("/{session_id}/context")
async def context(
    session: StandingSession,
    app_state: Deps,
    name: str | None = None,
    cursor: Cursor = None,
    limit: Turns = 200,
) -> Context:
    """Return the context; with `name` only that value, and its values in a number of turns."""
    whole = Context.model_validate(session.context, from_attributes=True)
    if name is None:
        return whole
    named = {name: whole.context[name]} if name in whole.context else {}
    served = await served_of(session.listed, app_state)
    async with app_state.session(served, session.listed.session_id) as opened:
        past = await opened.context_history(name, limit, cursor)
    found = {"context": named, "history": past, "next_cursor": past.next}
    return whole.model_copy(update=found)


@router.get("/{session_id}/versions")
async def versions(session: OpenSession, cursor: Cursor = None, limit: Turns = 200) -> Versions:
    """List the versions of a session, oldest first: its start, turns, failures and rollbacks."""
    page = await session.versions(limit, cursor)
    return Versions(session_id=session.session_id, versions=page, next_cursor=page.next)


@router.get("/{session_id}/versions/{version}")
async def version(session: OpenSession, version: int) -> Version:
    """Return the context at a version, and its difference to the version before."""
    return Version.of(session.session_id, await session.state_at(version))


@router.get("/{session_id}/audit")
async def audit(
    session: OpenSession,
    app_state: Deps,
    request: Request,
    cursor: Cursor = None,
    limit: Turns = 200,
) -> Audit:
    """Return turns with their transitions, guidelines and checks, their decision and steps."""
    page = await session.turns(limit, cursor)
    is_here = request.client is not None and is_loopback(request.client.host)
    errors = (
        partial(app_state.raised_in, session.session_id) if app_state.errors and is_here else None
    )
    return Audit.of(session.session_id, page, page.next, errors)


@router.post("/{session_id}/rollback")
async def rollback(
    session: OpenSession, to: Rollback, key: IdempotencyKey, response: Response
) -> Session:
    """Create a new version with the state of an older one; the versions between remain."""
    return _shown(await session.rollback(to.version, idempotency_key=key), response)


@router.post("/{session_id}/fork", status_code=HTTPStatus.CREATED)
async def fork(session: OpenSession, of: Fork, key: IdempotencyKey, response: Response) -> Session:
    """Start another session in the state of a version of this one, which stays as it is.

    The fork has the turns up to this version. Effects that this session has taken are not taken
    again in the fork.
    """
    begun = await session.fork(of.version, of.session_id, idempotency_key=key)
    response.headers["Location"] = f"/v1/sessions/{begun.session_id}"
    return _shown(begun, response)


@router.post(
    "/{session_id}/recording",
    response_class=Response,
    responses={
        200: {
            "description": "The file of a conversation, for `journeygraph test`.",
            "content": {_YAML: {"schema": {"type": "string"}}},
        }
    },
)
async def recording(session: OpenSession, app_state: Deps, key: IdempotencyKey) -> Response:
    """Write the conversation of a session as a test, as `journeygraph record` does.

    It is played again in memory: agents are called again, the tools of effects are not. 409
    `not_recordable`: it cannot be played again without a model, or ends elsewhere now.
    """
    # Loaded by the first request: most servers never get one.
    from journeygraph.server.conversations.recorder import default_file, record  # noqa: PLC0415

    served = await app_state.serving(session.session_id, session.spec.id, session.spec.version)
    found, file = served.found, default_file(session.session_id)

    async def written() -> str:
        if found is None:
            raise _not_recordable(
                "Its journey is not in a module or a file, which a test has to name. Serve the "
                "journey from a file."
            )
        try:
            # In a loop of its own: the conversation is played as a whole, and files are read.
            recorded = await asyncio.to_thread(
                lambda: asyncio.run(record(found, session.session_id, app_state.config, file))
            )
        except CommandError as error:
            raise _not_recordable(" ".join(error.lines)) from None
        return "".join(f"# {note}\n" for note in recorded.notes) + recorded.text

    text, replayed = await session.answer_once(written, key, "recording")
    disposition = f"attachment; filename*=UTF-8''{quote(file.name)}"
    headers = {"Content-Disposition": disposition, **(REPLAYED if replayed else {})}
    return Response(text, media_type=_YAML, headers=headers)


def _not_recordable(reason: str) -> Problem:
    said = f"This conversation cannot be written as a test. {reason}"
    return Problem(HTTPStatus.CONFLICT, "not_recordable", said)


@router.delete("/{session_id}", status_code=HTTPStatus.NO_CONTENT)
async def delete(session: OpenSession, app_state: Deps) -> None:
    """Delete a session with its history and its audit; refused while a turn runs."""
    await session.delete()
    app_state.forget(session.session_id)


def _journey_of(new: NewSession, app_state: AppState) -> str:
    if new.journey_id is not None:
        return known_journey(app_state, new.journey_id).id
    if len(app_state.journeys) == 1:
        return next(iter(app_state.journeys))
    raise Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "journey_id_required",
        _which(list(app_state.journeys)),
    )


def _which(journeys: list[str]) -> str:
    if not journeys:
        return "This server has no journey yet. Store one with: journeygraph load PATH"
    return f"This server has several journeys. Send one as `journey_id`: {', '.join(journeys)}."
