"""/v1/ai-sdk/{model}: the UI message stream of the AI SDK 5 and later, for `useChat`.

The chat is the session, and its last message is a turn.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response, StreamingResponse

from journeygraph.server.http.deps import Client, CurrentCaller, Deps, RequestId, SessionName
from journeygraph.server.http.routing import session_name
from journeygraph.server.protocols.client_messages import (
    MESSAGE_ID,
    Sent,
    TextPart,
    last_of,
    message_key,
    text_of,
)
from journeygraph.server.protocols.client_turns import (
    AS_STREAM,
    Asked,
    ClientRequest,
    HistoryRoute,
    ModelName,
    NamedConversation,
    Writer,
    event_stream,
    server_sent,
)

_HEADER = {"x-vercel-ai-ui-message-stream": "v1"}
_TEXT = "text-1"
"""Id of the text in a message."""
_SHOWN = ("version", "phase", "asked", "waiting", "sources", "usage")
"""Metadata of a reply that a message in the page has."""


class ChatTurn(Sent):
    """A message of the user in a page."""

    id: str = Field(min_length=1, description=MESSAGE_ID)
    role: Literal["user"]
    parts: list[TextPart] = Field(min_length=1)


class EarlierMessage(Sent):
    """A message of the assistant, or instructions, which are not read."""

    role: Literal["assistant", "system"]


_MESSAGE: Any = {"id": "m-1", "role": "user", "parts": [{"type": "text", "text": "It is P-1042"}]}


class Chat(BaseModel):
    """A chat whose last message is a turn."""

    model_config = ConfigDict(
        extra="ignore",
        strict=True,
        json_schema_extra={"examples": [{"id": "web-17", "messages": [_MESSAGE]}]},
    )

    id: str = Field(min_length=1, description="Id of the session; a new one begins.")
    messages: list[ChatTurn | EarlierMessage] = Field(
        max_length=10_000,
        description="The chat. Only the last message, which must be the user's, is read.",
    )


router = APIRouter(prefix="/v1/ai-sdk", tags=["ai-sdk"], route_class=HistoryRoute)


@router.post("/{model}", response_class=StreamingResponse, responses=AS_STREAM)
async def chat(model: ModelName, given: Chat, asked: Asked) -> StreamingResponse:
    """Take the last message of a chat as a turn, for `useChat` of the AI SDK.

    The events are `start`, `start-step`, `text-start`, `text-delta` and `text-end`, `finish-step`
    and `finish`, or `error`, then `[DONE]`. The metadata of the message has `session_id`,
    `is_journey_complete` and the open question, `asked`. A text that was streamed stays: if the
    reply is another one, it follows after an empty line. A message that is sent again with its id,
    as to regenerate its reply, gets the same reply and is no second turn.
    """
    message = last_of(given.messages, ChatTurn)
    conversation = NamedConversation(asked, model, session_name(given.id))
    heard = await conversation.said(text_of(message.parts), message_key(message.id))
    return event_stream(_ChatWriter(), heard, _HEADER)


@router.get(
    "/{model}/{session_id}/stream",
    response_class=StreamingResponse,
    responses={**AS_STREAM, 204: {"description": "No turn runs."}},
)
async def resume(
    model: ModelName,
    session_id: SessionName,
    app_state: Deps,
    caller: CurrentCaller,
    client: Client,
    request_id: RequestId,
) -> Response:
    """Get the message that is being written, from its beginning, for `useChat` with `resume`.

    204 if no turn of the chat runs, or there is no such chat. A process that does not run the turn
    sends the whole reply after its end.
    """
    asked = ClientRequest(app_state, caller, client, request_id, key=None)
    heard = await NamedConversation(asked, model, session_id).running()
    if heard is None:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return event_stream(_ChatWriter(), heard, _HEADER)


class _ChatWriter(Writer):
    end = b"data: [DONE]\n\n"

    def begun(self) -> bytes:
        return _event("start", messageId=f"msg-{os.urandom(8).hex()}") + _event("start-step")

    def text(self, text: str, *, is_first: bool) -> bytes:
        start = _event("text-start", id=_TEXT) if is_first else b""
        return start + _event("text-delta", id=_TEXT, delta=text)

    def text_ended(self) -> bytes:
        return _event("text-end", id=_TEXT)

    def failed(self, problem: Mapping[str, Any]) -> bytes:
        return _event("error", errorText=problem["detail"])

    def done(self, reply: Mapping[str, Any], text: str) -> bytes:
        metadata = {name: reply["metadata"][name] for name in _SHOWN}
        for name in ("session_id", "pathway_id", "is_journey_complete"):
            metadata[name] = reply[name]
        return _event("finish-step") + _event("finish", messageMetadata=metadata)


def _event(name: str, **data: Any) -> bytes:
    return server_sent({"type": name, **data})
