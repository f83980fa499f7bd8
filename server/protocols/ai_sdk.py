"""/v1/ai-sdk/{model}: the UI message stream of the AI SDK 5 and later, for `useChat`.

The chat is the session, and its last message is a turn.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response, StreamingResponse

from journeygraph.server.http.deps import Asking, IdempotencyKey, RequestId, SessionName, Wired
from journeygraph.server.http.routing import session_name
from journeygraph.server.protocols.client_messages import TextPart, digest_of, last_of, text_of
from journeygraph.server.protocols.client_turns import (
    AS_STREAM,
    BusyRule,
    Conversation,
    Heard,
    HistoryRoute,
    ModelName,
    event_stream,
    server_sent,
)

_HEADER = {"x-vercel-ai-ui-message-stream": "v1"}
_TEXT = "text-1"
"""Id of the text in a message."""
_SHOWN = ("version", "phase", "asked", "waiting", "sources", "usage")
"""Metadata of a reply that a message in the page has."""


class ChatTurn(BaseModel):
    """A message of the user in a page."""

    model_config = ConfigDict(extra="ignore", strict=True)

    id: str = Field(min_length=1, description="Id of the message; sent again, it is no new turn.")
    role: Literal["user"]
    parts: list[TextPart] = Field(min_length=1)


class EarlierMessage(BaseModel):
    """A message of the assistant, or instructions, which are not read."""

    model_config = ConfigDict(extra="ignore", strict=True)

    role: Literal["assistant", "system"]


class Chat(BaseModel):
    """A chat whose last message is a turn."""

    model_config = ConfigDict(
        extra="ignore",
        strict=True,
        json_schema_extra={
            "examples": [
                {
                    "id": "web-17",
                    "messages": [
                        {
                            "id": "m-1",
                            "role": "user",
                            "parts": [{"type": "text", "text": "It is P-1042"}],
                        }
                    ],
                }
            ]
        },
    )

    id: str = Field(min_length=1, description="Id of the session; a new one begins.")
    messages: list[ChatTurn | EarlierMessage] = Field(
        max_length=10_000,
        description="The chat. Only the last message, which must be the user's, is read.",
    )

    def message(self) -> ChatTurn:
        """Return the last message.

        Raises:
            Problem: It is not the user's.
        """
        return last_of(self.messages, ChatTurn)


router = APIRouter(prefix="/v1/ai-sdk", tags=["ai-sdk"], route_class=HistoryRoute)


@router.post("/{model}", response_class=StreamingResponse, responses=AS_STREAM)
async def chat(
    model: ModelName,
    given: Chat,
    wiring: Wired,
    caller: Asking,
    request_id: RequestId,
    key: IdempotencyKey,
    when_busy: BusyRule = None,
) -> StreamingResponse:
    """Take the last message of a chat as a turn, for `useChat` of the AI SDK.

    The events are `start`, `start-step`, `text-start`, `text-delta` and `text-end`, `finish-step`
    and `finish`, or `error`, then `[DONE]`. The metadata of the message has `session_id`,
    `is_journey_complete` and the open question, `asked`. A text that was streamed stays: if the
    reply is another one, it follows after an empty line. A message that is sent again with its id,
    as to regenerate its reply, gets the same reply and is no second turn.
    """
    conversation = Conversation(wiring, caller, model, session_name(given.id), when_busy)
    message = given.message()
    once = key or f"message:{digest_of(message.id)}"
    heard = await conversation.streamed(text_of(message.parts), once, request_id)
    return event_stream(_events(heard), {**heard.headers, **_HEADER})


@router.get(
    "/{model}/{session_id}/stream",
    response_class=StreamingResponse,
    responses={**AS_STREAM, 204: {"description": "No turn runs."}},
)
async def resume(
    model: ModelName, session_id: SessionName, wiring: Wired, caller: Asking, request_id: RequestId
) -> Response:
    """Get the message that is being written, from its beginning, for `useChat` with `resume`.

    204 if no turn of the chat runs, or there is no such chat. A process that does not run the turn
    sends the whole reply after its end.
    """
    heard = await Conversation(wiring, caller, model, session_id).running(request_id)
    if heard is None:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return event_stream(_events(heard), {**heard.headers, **_HEADER})


async def _events(heard: Heard) -> AsyncIterator[bytes]:
    """Yield the events of a message."""
    is_open = False
    yield _event("start", messageId=f"msg-{os.urandom(8).hex()}") + _event("start-step")
    async for kind, data in heard.pieces():
        if kind == "text":
            start = b"" if is_open else _event("text-start", id=_TEXT)
            is_open = True
            yield start + _event("text-delta", id=_TEXT, delta=data)
            continue
        if is_open:
            is_open = False
            yield _event("text-end", id=_TEXT)
        if kind == "error":
            yield _event("error", errorText=data["detail"])
        elif kind == "done":
            yield _event("finish-step") + _event("finish", messageMetadata=_metadata(data))
    yield b"data: [DONE]\n\n"


def _event(name: str, **data: Any) -> bytes:
    return server_sent({"type": name, **data})


def _metadata(reply: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a message."""
    names = ("session_id", "pathway_id", "is_journey_complete")
    shown = {name: reply["metadata"][name] for name in _SHOWN}
    return {**{name: reply[name] for name in names}, **shown}
