"""POST /v1/responses of the OpenAI API: each request is a turn of a journey."""

from __future__ import annotations

import binascii
import os
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from itertools import count
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse

from journeygraph.graphs.records.idempotency import HistoryKey
from journeygraph.server.http.deps import Asking, Client, IdempotencyKey, RequestId, Wired
from journeygraph.server.http.problems import Problem
from journeygraph.server.http.routing import EVENTS
from journeygraph.server.protocols.client_messages import (
    UNSUPPORTED,
    Said,
    digest_of,
    history_key,
    never,
)
from journeygraph.server.protocols.client_turns import (
    BusyRule,
    Conversation,
    Heard,
    event_stream,
    server_sent,
)
from journeygraph.server.protocols.openai_api import (
    Asked,
    ChatMessage,
    Format,
    OpenAIRoute,
    SessionHeader,
    error_of,
    session_of,
    spoken,
)

_NO_BACKGROUND = never("leave it out: a turn continues by itself if the client disconnects.")
_NO_PROMPT = never("leave it out: the journey has its own instructions.")


class InputItem(ChatMessage):
    """A message of the input."""

    type: Literal["message"] = Field(
        default="message", description="Other items, such as calls of functions, are not supported."
    )


class ConversationName(BaseModel):
    """The conversation of a response."""

    model_config = ConfigDict(extra="ignore", strict=True)

    id: str = Field(description="Id of the session.")


class TextOptions(BaseModel):
    """Options of the text of a reply."""

    model_config = ConfigDict(extra="ignore", strict=True)

    format: Format | None = None


class ResponseAsked(Asked):
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
    background: Annotated[Any, _NO_BACKGROUND] = Field(default=None, description=UNSUPPORTED)
    prompt: Annotated[Any, _NO_PROMPT] = Field(default=None, description=UNSUPPORTED)
    text: TextOptions | None = None

    def said(self) -> list[Said]:
        """Return role and text of each message of the user and the assistant.

        Raises:
            Problem: The last one is not the user's.
        """
        if isinstance(self.input, str):
            return [("user", self.input)]
        return spoken(self.input, "input")

    def session_names(self, header: str | None) -> list[str | None]:
        """Return the names of the session in the request; `user` counts only if it is alone.

        Raises:
            Problem: There are several sessions, or `previous_response_id` is not valid.
        """
        given = self.conversation
        own = given.id if isinstance(given, ConversationName) else given
        before = None if self.previous_response_id is None else _session(self.previous_response_id)
        names = [name for name in (header, own, before) if name]
        if len(set(names)) > 1:
            raise Problem(
                HTTPStatus.UNPROCESSABLE_ENTITY,
                "several_sessions",
                "'X-Session-Id', 'conversation' and 'previous_response_id' name different "
                "sessions. Send one of them.",
            )
        return [*names, self.user]


class ResponseBody(BaseModel):
    """The reply of a turn."""

    model_config = ConfigDict(extra="allow")

    id: str = Field(description="For `previous_response_id` of the next request.")
    object: Literal["response"] = "response"
    created_at: int = Field(description="Seconds since 1970.")
    status: Literal["in_progress", "completed"]
    model: str
    output: list[dict[str, Any]] = Field(description="The message of the assistant.")
    conversation: ConversationName
    previous_response_id: str | None
    usage: dict[str, Any] | None = Field(
        description="Tokens of the model calls of the turn; 0 if it called no model."
    )
    error: None = None
    incomplete_details: None = None
    instructions: None = None
    metadata: dict[str, str] = {}
    parallel_tool_calls: bool = False
    temperature: None = None
    tool_choice: Literal["none"] = "none"
    tools: list[Any] = []
    top_p: None = None


_AS_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "model": ResponseBody,
        "description": "The reply; with `stream`, its events: `response.created`, "
        "`response.in_progress`, `response.output_item.added`, `response.content_part.added`, "
        "`response.output_text.delta`, ..., `response.completed`; or `error`.",
        "content": {EVENTS: {"schema": {"type": "string"}}},
    }
}

router = APIRouter(prefix="/v1/responses", tags=["openai"], route_class=OpenAIRoute)


@router.post("", responses=_AS_EVENTS)
async def respond(
    asked: ResponseAsked,
    wiring: Wired,
    caller: Asking,
    client: Client,
    request_id: RequestId,
    key: IdempotencyKey,
    when_busy: BusyRule = None,
    session: SessionHeader = None,
) -> Response:
    """Take a message as a turn, for clients of the OpenAI API.

    The session is `X-Session-Id`, `conversation` or that of `previous_response_id`, else `user`; a
    request with none of them begins a session, which is the `conversation` of the answer. 404
    `session_not_found`: that of `previous_response_id` does not exist any more. The same message
    after the same response, and the same conversation sent again right after its turn, get the same
    reply and are no second turn; with `Idempotency-Key` for 24 hours.
    """
    said = asked.said()
    name = session_of([*asked.session_names(session), caller.session], said, client, key)
    may_begin = asked.previous_response_id is None
    conversation = Conversation(wiring, caller, asked.model, name, when_busy, may_begin)
    message = said[-1][1]
    if asked.stream:
        heard = await conversation.streamed(message, key or _key(asked, said), request_id)
        written = _Written(asked, conversation.session_id)
        return event_stream(written.events(heard), heard.headers)
    reply, headers = await conversation.reply(message, key or _key(asked, said))
    written = _Written(asked, conversation.session_id)
    return JSONResponse(written.whole(reply), headers=dict(headers))


def _key(asked: ResponseAsked, said: list[Said]) -> str | HistoryKey:
    if asked.previous_response_id is None:
        return history_key(said)
    return f"response:{digest_of(asked.previous_response_id, said)}"


def _response_id(session_id: str) -> str:
    """Return a new id of a response, from which its session can be read."""
    return f"resp_{urlsafe_b64encode(session_id.encode()).decode().rstrip('=')}_{_random()}"


def _session(response_id: str) -> str:
    """Return the session of a response.

    Raises:
        Problem: It is no id of a response of this server.
    """
    try:
        head, _, _ = response_id.removeprefix("resp_").rpartition("_")
        if head and response_id.startswith("resp_"):
            return urlsafe_b64decode(head + "=" * (-len(head) % 4)).decode()
    except (binascii.Error, ValueError):
        pass
    raise Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid_response_id",
        "'previous_response_id' is no id of a response of this server. Send the id of the last "
        "response, or the session as 'conversation'.",
    )


def _random() -> str:
    return os.urandom(8).hex()


class _Written:
    """The response to one request, as a whole or as events."""

    def __init__(self, asked: ResponseAsked, session_id: str) -> None:
        self._item = f"msg_{_random()}"
        self._fixed: dict[str, Any] = {
            "id": _response_id(session_id),
            "created_at": int(time.time()),
            "model": asked.model,
            "conversation": ConversationName(id=session_id),
            "previous_response_id": asked.previous_response_id,
        }
        self._numbers = count()

    def whole(self, reply: Mapping[str, Any], text: str | None = None) -> dict[str, Any]:
        """Return the response of a turn; its text is that of the reply, or what was streamed."""
        said = reply["message"] if text is None else text
        counted = reply["metadata"]["usage"]
        read, written = counted["input_tokens"], counted["output_tokens"]
        usage = {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": read + written,
        }
        return self._body("completed", [self._message("completed", said)], usage)

    async def events(self, heard: Heard) -> AsyncIterator[bytes]:
        """Yield the events of the response."""
        begun = self._body("in_progress", [], None)
        place = {"item_id": self._item, "output_index": 0, "content_index": 0}
        item = self._message("in_progress")
        yield (
            self._event("response.created", response=begun)
            + self._event("response.in_progress", response=begun)
            + self._event("response.output_item.added", output_index=0, item=item)
            + self._event("response.content_part.added", **place, part=_part(""))
        )
        text = ""
        async for kind, data in heard.pieces():
            if kind == "text":
                text += data
                yield self._event("response.output_text.delta", **place, delta=data, logprobs=[])
            elif kind == "error":
                error = error_of(data)
                yield self._event("error", **{name: error[name] for name in _IN_ERROR})
            elif kind == "done":
                yield self._event("response.output_text.done", **place, text=text, logprobs=[])
                yield self._event("response.content_part.done", **place, part=_part(text))
                item = self._message("completed", text)
                yield self._event("response.output_item.done", output_index=0, item=item)
                yield self._event("response.completed", response=self.whole(data, text))

    def _body(self, status: str, output: list[Any], usage: dict[str, Any] | None) -> dict[str, Any]:
        body = ResponseBody(**self._fixed, status=status, output=output, usage=usage)  # type: ignore[arg-type]
        return body.model_dump()

    def _message(self, status: str, text: str | None = None) -> dict[str, Any]:
        content = [] if text is None else [_part(text)]
        fixed = {"id": self._item, "type": "message", "role": "assistant"}
        return {**fixed, "status": status, "content": content}

    def _event(self, name: str, **data: Any) -> bytes:
        numbered = {"type": name, "sequence_number": next(self._numbers), **data}
        return server_sent(numbered, event=name)


_IN_ERROR = ("code", "message", "param")


def _part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
