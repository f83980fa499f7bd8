"""The OpenAI API: chat completions, responses, models. Each request is a turn of a journey."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from http import HTTPStatus
from itertools import count
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse

from journeygraph.graphs.records.idempotency import HistoryKey, new_id
from journeygraph.server.http.app_state import AppState
from journeygraph.server.http.deps import UpToDate, known_version
from journeygraph.server.http.problems import Problem, problem_of
from journeygraph.server.http.routing import EVENTS, session_name
from journeygraph.server.protocols.client_messages import (
    UNSUPPORTED,
    Content,
    NoTools,
    Sent,
    digest_of,
    never,
    no_message,
    text_of,
)
from journeygraph.server.protocols.client_turns import (
    SESSION_HEADER,
    Asked,
    ClientRequest,
    HistoryRoute,
    NamedConversation,
    Writer,
    event_stream,
    server_sent,
)

SessionHeader = Annotated[
    str | None,
    Header(
        alias=SESSION_HEADER,
        description="Id of the session. A session that does not exist begins. Every answer has "
        "this header too.",
    ),
]
_NO_AUDIO = never("leave it out: replies are texts.")
_NO_LOGPROBS = never("leave it out: replies have no probabilities.")
_NO_BACKGROUND = never("leave it out: a turn continues by itself if the client disconnects.")
_NO_PROMPT = never("leave it out: the journey has its own instructions.")
_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_FINAL = (HTTPStatus.CONFLICT, HTTPStatus.REQUEST_TIMEOUT)
"""Statuses of errors that the clients of this protocol would send again without a reason."""
ERRORS: dict[int | str, dict[str, Any]] = {
    kind: {
        "description": "An error of the OpenAI API: `error` with `message`, `type`, `param` and "
        "`code`, which is that of a problem."
    }
    for kind in ("4XX", "5XX")
}
"""API description of the errors of these routes."""


def _described(text: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": text, "content": {EVENTS: {"schema": {"type": "string"}}}}}


def _error_of(problem: Mapping[str, Any]) -> dict[str, Any]:
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
    problem = problem_of(error, request_id)
    status = problem.status_code
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        status = HTTPStatus.BAD_REQUEST  # which this protocol has for each invalid request
    headers = dict(problem.headers or {})
    if status in _FINAL:
        headers["x-should-retry"] = "false"
    return JSONResponse({"error": _error_of(problem.body(request_id))}, status, headers)


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


router = APIRouter(prefix="/v1", tags=["openai"], route_class=OpenAIRoute)


# --- Requests -------------------------------------------------------------------------------------


class ChatMessage(Sent):
    """A message of a conversation."""

    role: Literal["system", "developer", "user", "assistant"] = Field(
        description="Messages of `system` and `developer` have no effect: the journey has its own "
        "instructions."
    )
    content: Content = None


class Format(Sent):
    """The format of a reply."""

    type: Literal["text"] = Field(description="A reply is the text that the journey decides on.")


class Options(Sent):
    """Options that both routes have.

    Options that are not named here have no effect: the journey decides how its models are called.
    """

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
    tools: NoTools = None


class StreamOptions(Sent):
    """Options of a stream."""

    include_usage: bool | None = Field(
        default=None, description="True: the tokens of the turn in a last chunk without choices."
    )


class ChatAsked(Options):
    """A conversation whose last message is a turn."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "model": "parcel_refund",
                    "user": "call-17",
                    "messages": [{"role": "user", "content": "It is P-1042"}],
                }
            ]
        }
    )

    messages: list[ChatMessage] = Field(
        min_length=1,
        max_length=10_000,
        description="The conversation. Only its last message, which must be the user's, is read; "
        "the session has the others.",
    )
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = Field(default=None, description="A turn has one reply.")
    functions: NoTools = None
    audio: Annotated[Any, _NO_AUDIO, UNSUPPORTED] = None
    logprobs: Annotated[Any, _NO_LOGPROBS, UNSUPPORTED] = None
    modalities: list[Literal["text"]] | None = Field(default=None, description="Replies are texts.")
    response_format: Format | None = None


class InputItem(ChatMessage):
    """A message of the input."""

    type: Literal["message"] = Field(
        default="message", description="Other items, such as calls of functions, are not supported."
    )


class ConversationName(Sent):
    """The conversation of a response."""

    id: str = Field(description="Id of the session.")


class TextOptions(Sent):
    """Options of the text of a reply."""

    format: Format | None = None


class ResponseAsked(Options):
    """A message, alone or at the end of its conversation."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"model": "parcel_refund", "conversation": "chat-17", "input": "It is P-1042"}
            ]
        }
    )

    input: str | Annotated[list[InputItem], Field(min_length=1, max_length=10_000)] = Field(
        description="The message, or a conversation that ends with it. Only the message is read; "
        "the session has the others."
    )
    conversation: str | ConversationName | None = Field(
        default=None, description="Id of the session. One that does not exist begins."
    )
    previous_response_id: str | None = Field(
        default=None,
        description="A response of the session, in place of the session's id. No session begins.",
    )
    background: Annotated[Any, _NO_BACKGROUND, UNSUPPORTED] = None
    prompt: Annotated[Any, _NO_PROMPT, UNSUPPORTED] = None
    text: TextOptions | None = None

    def session_names(self) -> list[str]:
        """Return the names of the session in the body, without `user`."""
        given = self.conversation
        own = given.id if isinstance(given, ConversationName) else given
        before = self.previous_response_id and _session(self.previous_response_id)
        return [name for name in (own, before) if name]


Said = tuple[str, str]
"""Role and text of a message."""


def _spoken(messages: str | Sequence[ChatMessage], param: str) -> list[Said]:
    if isinstance(messages, str):
        return [("user", messages)]
    speakers = ("user", "assistant")
    said = [(one.role, text_of(one.content)) for one in messages if one.role in speakers]
    if not said or said[-1][0] != "user":
        raise no_message(param)
    return [*said]


def _session_of(names: Sequence[str | None], said: Sequence[Said], asked: ClientRequest) -> str:
    """Return the session that a conversation names, or a new one for its first message.

    Sent again with its idempotency key, a request gets the same new name.
    """
    if name := next(filter(None, [*names, asked.caller.session]), None):
        return session_name(name)
    if any(role == "assistant" for role, _ in said):
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "session_required",
            "The request has earlier replies but names no session, so that they are not known "
            "here. Send the 'X-Session-Id' of the first answer, or a 'user' of this conversation "
            "alone.",
        )
    return new_id(asked.client, asked.key)


def _history_key(said: Sequence[Said]) -> HistoryKey:
    return HistoryKey(digest_of(said), is_first=len(said) == 1)


# --- Chat completions -----------------------------------------------------------------------------


@router.post(
    "/chat/completions",
    responses=_described(
        "The reply, a `chat.completion`; with `stream`, `chat.completion.chunk` events, then "
        "`[DONE]`. An error after the first event is an event with `error`."
    ),
)
async def complete(body: ChatAsked, asked: Asked, session: SessionHeader = None) -> Response:
    """Take the last message of a conversation as a turn, for clients of the OpenAI API.

    The session is `X-Session-Id`, else `user`; a request with neither begins a session, whose id is
    in the header of the answer. The same conversation sent again right after its turn gets the same
    reply and is no second turn; with `Idempotency-Key` also later, for 24 hours. A text that was
    streamed stays: if the reply is another one, it follows after an empty line.
    """
    said = _spoken(body.messages, "messages")
    name = _session_of([session, body.user], said, asked)
    conversation, writer = NamedConversation(asked, body.model, name), _ChunkWriter(body)
    message, once = said[-1][1], _history_key(said)
    if body.stream:
        return event_stream(writer, await conversation.said(message, once))
    reply, headers = await conversation.reply(message, once)
    return JSONResponse(writer.whole(reply), headers=dict(headers))


class _ChunkWriter(Writer):
    end = b"data: [DONE]\n\n"

    def __init__(self, body: ChatAsked) -> None:
        self._has_usage = body.stream_options and body.stream_options.include_usage
        self._head = {
            "id": f"chatcmpl-{_random()}",
            "object": "chat.completion.chunk",
            "created": int(time.time()),
            "model": body.model,
        }

    def whole(self, reply: Mapping[str, Any]) -> dict[str, Any]:
        message = {"role": "assistant", "content": reply["message"], "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        usage = _usage(reply, "prompt", "completion")
        return {**self._head, "object": "chat.completion", "choices": [choice], "usage": usage}

    def begun(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def text(self, text: str, *, is_first: bool) -> bytes:
        return self._chunk({"content": text})

    def failed(self, problem: Mapping[str, Any]) -> bytes:
        return server_sent({"error": _error_of(problem)})

    def done(self, reply: Mapping[str, Any], text: str) -> bytes:
        usage = {**self._head, "choices": [], "usage": _usage(reply, "prompt", "completion")}
        return self._chunk({}, "stop") + (server_sent(usage) if self._has_usage else b"")

    def _chunk(self, delta: Mapping[str, str], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return server_sent({**self._head, "choices": [choice]})


def _usage(reply: Mapping[str, Any], read: str, written: str) -> dict[str, int]:
    counted = reply["metadata"]["usage"]
    total = counted["input_tokens"] + counted["output_tokens"]
    return {
        f"{read}_tokens": counted["input_tokens"],
        f"{written}_tokens": counted["output_tokens"],
        "total_tokens": total,
    }


# --- Responses ------------------------------------------------------------------------------------


@router.post(
    "/responses",
    responses=_described(
        "The reply, a `response`, whose `conversation` is the session; with `stream`, its events: "
        "`response.created`, `response.in_progress`, `response.output_item.added`, "
        "`response.content_part.added`, `response.output_text.delta`, ..., `response.completed`; "
        "or `error`."
    ),
)
async def respond(body: ResponseAsked, asked: Asked, session: SessionHeader = None) -> Response:
    """Take a message as a turn, for clients of the OpenAI API.

    The session is `X-Session-Id`, `conversation` or that of `previous_response_id`, else `user`; a
    request with none of them begins a session, which is the `conversation` of the answer. 404
    `session_not_found`: that of `previous_response_id` does not exist any more. The same message
    after the same response, and the same conversation sent again right after its turn, get the same
    reply and are no second turn; with `Idempotency-Key` for 24 hours.
    """
    said, before = _spoken(body.input, "input"), body.previous_response_id
    names = [name for name in (session, *body.session_names()) if name]
    if len(set(names)) > 1:
        raise Problem(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            "several_sessions",
            "'X-Session-Id', 'conversation' and 'previous_response_id' name different sessions. "
            "Send one of them.",
        )
    name = _session_of([*names, body.user], said, asked)
    conversation = NamedConversation(asked, body.model, name, may_begin=before is None)
    once = _history_key(said) if before is None else f"response:{digest_of(before, said)}"
    if body.stream:
        heard = await conversation.said(said[-1][1], once)
        return event_stream(_ResponseWriter(body, conversation.session_id), heard)
    reply, headers = await conversation.reply(said[-1][1], once)
    writer = _ResponseWriter(body, conversation.session_id)
    return JSONResponse(writer.whole(reply, reply["message"]), headers=dict(headers))


def _session(response_id: str) -> str:
    """Return the session of a response, which its id begins with."""
    session, _, _ = response_id.removeprefix("resp_").rpartition("_")
    if session and response_id.startswith("resp_"):
        return session
    raise Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid_response_id",
        "'previous_response_id' is no id of a response of this server. Send the id of the last "
        "response, or the session as 'conversation'.",
    )


def _random() -> str:
    return os.urandom(12).hex()


class _ResponseWriter(Writer):
    def __init__(self, body: ResponseAsked, session_id: str) -> None:
        self._numbers = count()
        self._item = f"msg_{_random()}"
        self._place = {"item_id": self._item, "output_index": 0, "content_index": 0}
        self._head: dict[str, Any] = {
            "id": f"resp_{session_id}_{_random()}",
            "object": "response",
            "created_at": int(time.time()),
            "model": body.model,
            "conversation": {"id": session_id},
            "previous_response_id": body.previous_response_id,
            "metadata": {},
            "parallel_tool_calls": False,
            "tool_choice": "none",
            "tools": [],
            **dict.fromkeys(("error", "incomplete_details", "instructions"), None),
            **dict.fromkeys(("temperature", "top_p"), None),
        }

    def whole(self, reply: Mapping[str, Any], text: str) -> dict[str, Any]:
        usage = {
            **_usage(reply, "input", "output"),
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens_details": {"reasoning_tokens": 0},
        }
        output = [self._message("completed", _part(text))]
        return {**self._head, "status": "completed", "output": output, "usage": usage}

    def begun(self) -> bytes:
        begun = {**self._head, "status": "in_progress", "output": [], "usage": None}
        item = self._message("in_progress")
        return (
            self._event("response.created", response=begun)
            + self._event("response.in_progress", response=begun)
            + self._event("response.output_item.added", output_index=0, item=item)
            + self._event("response.content_part.added", **self._place, part=_part(""))
        )

    def text(self, text: str, *, is_first: bool) -> bytes:
        return self._event("response.output_text.delta", **self._place, delta=text, logprobs=[])

    def failed(self, problem: Mapping[str, Any]) -> bytes:
        error = _error_of(problem)
        return self._event("error", **{name: error[name] for name in ("code", "message", "param")})

    def done(self, reply: Mapping[str, Any], text: str) -> bytes:
        part, item = _part(text), self._message("completed", _part(text))
        return (
            self._event("response.output_text.done", **self._place, text=text, logprobs=[])
            + self._event("response.content_part.done", **self._place, part=part)
            + self._event("response.output_item.done", output_index=0, item=item)
            + self._event("response.completed", response=self.whole(reply, text))
        )

    def _message(self, status: str, *content: Mapping[str, Any]) -> dict[str, Any]:
        fixed = {"id": self._item, "type": "message", "role": "assistant"}
        return {**fixed, "status": status, "content": [*content]}

    def _event(self, name: str, **data: Any) -> bytes:
        numbered = {"type": name, "sequence_number": next(self._numbers), **data}
        return server_sent(numbered, event=name)


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


# --- Models ---------------------------------------------------------------------------------------


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


@router.get("/models")
async def models(app_state: UpToDate) -> Models:
    """List the journeys as models: each by its id, and its other versions as JOURNEY@VERSION."""
    return Models(
        data=[Model(id=name) for id_ in app_state.journeys for name in _names(app_state, id_)]
    )


def _names(app_state: AppState, journey_id: str) -> list[str]:
    _, *others = app_state.versions_of(journey_id)
    return [journey_id, *(f"{journey_id}@{version}" for version in others)]


@router.get("/models/{model}")
async def model(model: str, app_state: UpToDate) -> Model:
    """Return one journey as a model."""
    journey_id, _, version = model.partition("@")
    await known_version(app_state, journey_id, version or None)
    return Model(id=model)
