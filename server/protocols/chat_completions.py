"""POST /v1/chat/completions of the OpenAI API: each request is a turn of a journey."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import JSONResponse

from journeygraph.server.http.deps import Asking, Client, IdempotencyKey, RequestId, Wired
from journeygraph.server.http.routing import EVENTS
from journeygraph.server.protocols.client_messages import NO_TOOLS, UNSUPPORTED, history_key, never
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

_NO_AUDIO = never("leave it out: replies are texts.")
_NO_LOGPROBS = never("leave it out: replies have no probabilities.")


class StreamOptions(BaseModel):
    """Options of a stream."""

    model_config = ConfigDict(extra="ignore", strict=True)

    include_usage: bool | None = Field(
        default=None, description="True: the tokens of the turn in a last chunk without choices."
    )


class ChatAsked(Asked):
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
    functions: Annotated[Any, NO_TOOLS] = Field(default=None, description=UNSUPPORTED)
    audio: Annotated[Any, _NO_AUDIO] = Field(default=None, description=UNSUPPORTED)
    logprobs: Annotated[Any, _NO_LOGPROBS] = Field(default=None, description=UNSUPPORTED)
    modalities: list[Literal["text"]] | None = Field(default=None, description="Replies are texts.")
    response_format: Format | None = None


class Usage(BaseModel):
    """Tokens of the model calls of the turn; 0 if it called no model."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatReply(BaseModel):
    """The message of the assistant."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None


class Choice(BaseModel):
    """The only choice."""

    index: Literal[0] = 0
    message: ChatReply
    finish_reason: Literal["stop"] = "stop"
    logprobs: None = None


class ChatCompletion(BaseModel):
    """The reply of a turn."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int = Field(description="Seconds since 1970.")
    model: str
    choices: list[Choice]
    usage: Usage


_AS_CHUNKS: dict[int | str, dict[str, Any]] = {
    200: {
        "model": ChatCompletion,
        "description": "The reply; with `stream`, `chat.completion.chunk` events, then `[DONE]`. "
        "An error after the first event is an event with `error`.",
        "content": {EVENTS: {"schema": {"type": "string"}}},
    }
}

router = APIRouter(prefix="/v1/chat/completions", tags=["openai"], route_class=OpenAIRoute)


@router.post("", responses=_AS_CHUNKS)
async def complete(
    asked: ChatAsked,
    wiring: Wired,
    caller: Asking,
    client: Client,
    request_id: RequestId,
    key: IdempotencyKey,
    when_busy: BusyRule = None,
    session: SessionHeader = None,
) -> Response:
    """Take the last message of a conversation as a turn, for clients of the OpenAI API.

    The session is `X-Session-Id`, else `user`; a request with neither begins a session, whose id is
    in the header of the answer. The same conversation sent again right after its turn gets the same
    reply and is no second turn; with `Idempotency-Key` also later, for 24 hours. A text that was
    streamed stays: if the reply is another one, it follows after an empty line.
    """
    said = spoken(asked.messages, "messages")
    name = session_of([session, asked.user, caller.session], said, client, key)
    conversation = Conversation(wiring, caller, asked.model, name, when_busy)
    message, once = said[-1][1], key or history_key(said)
    if asked.stream:
        heard = await conversation.streamed(message, once, request_id)
        return event_stream(_chunks(asked, heard), heard.headers)
    reply, headers = await conversation.reply(message, once)
    return JSONResponse(_completion(asked.model, reply), headers=dict(headers))


def _completion(model: str, reply: Mapping[str, Any]) -> dict[str, Any]:
    return ChatCompletion(
        id=_new_id(),
        created=int(time.time()),
        model=model,
        choices=[Choice(message=ChatReply(content=reply["message"]))],
        usage=_usage(reply),
    ).model_dump()


def _new_id() -> str:
    return f"chatcmpl-{os.urandom(12).hex()}"


def _usage(reply: Mapping[str, Any]) -> Usage:
    counted = reply["metadata"]["usage"]
    read, written = counted["input_tokens"], counted["output_tokens"]
    return Usage(prompt_tokens=read, completion_tokens=written, total_tokens=read + written)


async def _chunks(asked: ChatAsked, heard: Heard) -> AsyncIterator[bytes]:
    """Yield the chunks of a turn."""
    head = {
        "id": _new_id(),
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": asked.model,
    }

    def chunk(delta: dict[str, str], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return server_sent({**head, "choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    async for kind, data in heard.pieces():
        if kind == "text":
            yield chunk({"content": data})
        elif kind == "error":
            yield server_sent({"error": error_of(data)})
        elif kind == "done":
            yield chunk({}, "stop")
            if asked.stream_options and asked.stream_options.include_usage:
                usage = _usage(data).model_dump()
                yield server_sent({**head, "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"
