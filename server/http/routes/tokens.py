"""Route of tokens: short keys of one user, for browsers."""

from __future__ import annotations

from http import HTTPStatus

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from journeygraph.server.access.callers import Scope
from journeygraph.server.access.keys import TOKEN_SECONDS, KeyRequest, StoredKeys, UnknownKeyError
from journeygraph.server.http.deps import CurrentCaller, Deps
from journeygraph.server.http.problems import Problem, unauthorized
from journeygraph.server.http.routing import ApiRoute
from journeygraph.server.http.schemas import SessionId, UserId


class NewToken(BaseModel):
    """The user of a new token."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"examples": [{"user": "ann"}]}
    )

    user: UserId = Field(
        description="Id of the user. The token reaches the sessions of this user, and no others."
    )
    session_id: SessionId | None = Field(
        default=None,
        description="The only session that the token reaches; it may begin later. Default: all "
        "sessions of the user.",
    )


class Token(BaseModel):
    """A token. It is sent as `Authorization: Bearer TOKEN`, and has the scope `talk`."""

    token: str
    user: str
    session_id: str | None
    expires_at: str = Field(
        description="15 minutes after it was made, or the end of the key, in UTC."
    )


router = APIRouter(prefix="/v1/tokens", tags=["tokens"], route_class=ApiRoute)


@router.post("", status_code=HTTPStatus.CREATED)
async def make(new: NewToken, app_state: Deps, caller: CurrentCaller) -> Token:
    """Make a token of a user for 15 minutes, to be given to the browser of this user.

    A server of yours asks for it, after it has checked the user. 409 `session_of_another`: the
    session exists, and does not belong to this user. It ends with the key that asked for it,
    also when that is revoked. Each request makes another token: no secret is stored for an
    `Idempotency-Key`.
    """
    if new.session_id is not None:
        found = await app_state.directory.found(new.session_id)
        if found and found.user != new.user:
            raise Problem(
                HTTPStatus.CONFLICT,
                "session_of_another",
                "The session exists, and does not belong to this user. Name another session, or "
                "leave out `session_id`.",
            )
    keys = StoredKeys(app_state.directory.store)
    wanted = KeyRequest(
        (Scope.TALK,),
        user=new.user,
        session=new.session_id,
        seconds=TOKEN_SECONDS,
        made_by=caller.key_id,
    )
    try:
        made = await keys.create(wanted, caller.tenant)
    except UnknownKeyError:  # it is over, and this process still knows it
        raise unauthorized() from None
    ends = made.key.expires_at or ""
    return Token(token=made.secret, user=new.user, session_id=new.session_id, expires_at=ends)
