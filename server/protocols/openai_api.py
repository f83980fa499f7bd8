"""Parts of the OpenAI API that its routes share: errors, refused options, the list of models."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse

from journeygraph.server.http.deps import UpToDate, known_version
from journeygraph.server.http.problems import Problem, problem_of
from journeygraph.server.http.wiring import Wiring
from journeygraph.server.protocols.client_messages import (
    NO_TOOLS,
    UNSUPPORTED,
    Content,
    Said,
    no_message,
    text_of,
)
from journeygraph.server.protocols.client_turns import SESSION_HEADER, HistoryRoute, named_session

_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
SessionHeader = Annotated[
    str | None,
    Header(
        alias=SESSION_HEADER,
        description="Id of the session. A session that does not exist begins. Every answer has "
        "this header too.",
    ),
]
_SPEAKERS = ("user", "assistant")
_FINAL = (HTTPStatus.CONFLICT, HTTPStatus.REQUEST_TIMEOUT)
"""Statuses of errors that the clients of this protocol would send again without a reason."""


class ErrorDetail(BaseModel):
    """An error of the OpenAI API."""

    message: str = Field(description="What is wrong, and the way out.")
    type: str = Field(description="invalid_request_error, authentication_error, server_error, ...")
    param: str | None = Field(description="The part of the body that is wrong.")
    code: str = Field(description="The `code` of a problem, stable between releases.")


class ErrorBody(BaseModel):
    """The body of an error of the OpenAI API."""

    error: ErrorDetail


ERRORS: dict[int | str, dict[str, Any]] = {
    kind: {"description": "An error of the OpenAI API.", "model": ErrorBody}
    for kind in ("4XX", "5XX")
}
"""API description of the errors of these routes."""


def error_of(problem: dict[str, Any]) -> dict[str, Any]:
    """Return the error for the body of a problem."""
    faults = problem.get("faults") or []
    kind = "server_error" if problem["status"] >= 500 else "invalid_request_error"
    path = [str(step) for step in faults[0]["path"] if step != "body"] if faults else []
    said = " ".join(fault["text"] for fault in faults)
    return {
        "message": said or problem["detail"],
        "type": _TYPES.get(problem["status"], kind),
        "param": ".".join(path) or None,
        "code": problem["code"],
    }


def _refusal(error: Exception, request_id: str) -> Response:
    """Return the response for an error of a route."""
    problem = problem_of(error, request_id)
    status = problem.status_code
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        status = HTTPStatus.BAD_REQUEST  # which this protocol has for each invalid request
    headers = dict(problem.headers or {})
    if status in _FINAL:
        headers["x-should-retry"] = "false"
    return JSONResponse({"error": error_of(problem.body(request_id))}, status, headers)


class OpenAIRoute(HistoryRoute):
    """A route whose errors are those of the OpenAI API."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of a request."""
        answer = super().get_route_handler()

        async def answered(request: Request) -> Response:
            try:
                return await answer(request)
            except Exception as error:
                return _refusal(error, request.state.request_id)

        return answered


class Asked(BaseModel):
    """Options that both routes have.

    Options that are not named here have no effect: the journey decides how its models are called.
    """

    model_config = ConfigDict(extra="ignore", strict=True)

    model: str = Field(
        min_length=1,
        max_length=400,
        description="The journey, as JOURNEY or JOURNEY@VERSION; GET /v1/models lists them.",
    )
    stream: bool | None = Field(default=None, description="True: the reply as events.")
    user: str | None = Field(
        default=None,
        description="Id of the session, if no other part of the request has it: a value of this "
        "conversation alone, such as the id of a call.",
    )
    tools: Annotated[Any, NO_TOOLS] = Field(default=None, description=UNSUPPORTED)


class ChatMessage(BaseModel):
    """A message of the conversation."""

    model_config = ConfigDict(extra="ignore", strict=True)

    role: Literal["system", "developer", "user", "assistant"] = Field(
        description="Messages of `system` and `developer` have no effect: the journey has its own "
        "instructions."
    )
    content: Content = None


def spoken(messages: Sequence[ChatMessage], param: str) -> list[Said]:
    """Return role and text of each message of the user and the assistant.

    Args:
        messages: The conversation.
        param: Its name in the body, for the error.

    Raises:
        Problem: The last one is not the user's.
    """
    said: list[Said] = [
        (one.role, text_of(one.content)) for one in messages if one.role in _SPEAKERS
    ]
    if not said or said[-1][0] != "user":
        raise no_message(param)
    return said


def session_of(
    names: Sequence[str | None], said: Sequence[Said], client: str, key: str | None
) -> str:
    """Return the session that a conversation names, or a new one for its first message.

    Args:
        names: As of `named_session`.
        said: The conversation.
        client: As of `named_session`.
        key: As of `named_session`.

    Raises:
        Problem: It has earlier replies, but no name of a session.
    """
    if not any(names) and any(role == "assistant" for role, _ in said):
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "session_required",
            "The request has earlier replies but names no session, so that they are not known "
            "here. Send the 'X-Session-Id' of the first answer, or a 'user' of this conversation "
            "alone.",
        )
    return named_session(names, client, key)


class Format(BaseModel):
    """The format of a reply."""

    model_config = ConfigDict(extra="ignore", strict=True)

    type: Literal["text"] = Field(description="A reply is the text that the journey decides on.")


class Model(BaseModel):
    """A journey, as a model."""

    id: str
    object: Literal["model"] = "model"
    created: int = Field(default=0, description="Always 0.")
    owned_by: Literal["journeygraph"] = "journeygraph"


class Models(BaseModel):
    """The journeys of this server, as models."""

    object: Literal["list"] = "list"
    data: list[Model]


router = APIRouter(prefix="/v1/models", tags=["openai"], route_class=OpenAIRoute)


@router.get("")
async def models(wiring: UpToDate) -> Models:
    """List the journeys as models: each by its id, and its other versions as JOURNEY@VERSION."""
    return Models(data=[Model(id=name) for id_ in wiring.journeys for name in _names(wiring, id_)])


def _names(wiring: Wiring, journey_id: str) -> list[str]:
    _, *others = wiring.versions_of(journey_id)
    return [journey_id, *(f"{journey_id}@{version}" for version in others)]


@router.get("/{model}")
async def model(model: str, wiring: UpToDate) -> Model:
    """Return one journey as a model."""
    journey_id, _, version = model.partition("@")
    await known_version(wiring, journey_id, version or None)
    return Model(id=model)
