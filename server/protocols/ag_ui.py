"""POST /v1/ag-ui/{model}: runs of the Agent User Interaction Protocol (AG-UI 1.0).

The thread is the session, and a run is a turn for its last message.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import ConfigDict, Field
from starlette.responses import StreamingResponse

from journeygraph.graphs.session.turn import TurnRequest
from journeygraph.server.http.routing import session_name
from journeygraph.server.protocols.client_messages import (
    MESSAGE_ID,
    NoTools,
    Sent,
    TextPart,
    digest_of,
    last_of,
    message_key,
    text_of,
)
from journeygraph.server.protocols.client_turns import (
    AS_STREAM,
    Asked,
    HistoryRoute,
    ModelName,
    NamedConversation,
    Writer,
    event_stream,
    server_sent,
)


class UserMessage(Sent):
    """A message of the user."""

    model_config = ConfigDict(extra="allow")

    id: str = Field(min_length=1, description=MESSAGE_ID)
    role: Literal["user"]
    content: str | list[TextPart]


class OtherMessage(Sent):
    """A message of another role, which is not read."""

    model_config = ConfigDict(extra="allow")

    role: Literal["assistant", "system", "developer", "tool", "activity", "reasoning"]


class ResumeEntry(Sent):
    """The answer to an interrupt."""

    interrupt_id: str = Field(alias="interruptId")
    status: Literal["resolved"] = Field(
        description="`cancelled` is not supported: send a message that asks to stop."
    )
    payload: Any = None


_MESSAGE: Any = {"id": "m-1", "role": "user", "content": "It is P-1042"}


class RunInput(Sent):
    """A conversation whose last message is a turn, or answers to an agent's questions.

    `state`, `context` and `forwardedProps` have no effect: the journey has its own state.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"threadId": "web-17", "runId": "run-1", "messages": [_MESSAGE]}]
        }
    )

    thread_id: str = Field(
        alias="threadId", min_length=1, description="Id of the session; a new one begins."
    )
    run_id: str = Field(alias="runId", min_length=1)
    messages: list[UserMessage | OtherMessage] = Field(
        max_length=10_000,
        description="The conversation. Only the last message, which must be the user's, is read.",
    )
    resume: list[ResumeEntry] | None = Field(
        default=None, description="Answers to the interrupts of the last run, without a message."
    )
    tools: NoTools = None


router = APIRouter(prefix="/v1/ag-ui", tags=["ag-ui"], route_class=HistoryRoute)


@router.post("/{model}", response_class=StreamingResponse, responses=AS_STREAM)
async def run(model: ModelName, given: RunInput, asked: Asked) -> StreamingResponse:
    """Take the last message of a thread as a turn, for clients of AG-UI.

    The events are RUN_STARTED, TEXT_MESSAGE_START, TEXT_MESSAGE_CONTENT and TEXT_MESSAGE_END,
    STATE_SNAPSHOT with the context and the open question, and RUN_FINISHED, or RUN_ERROR. If an
    agent asks by `interrupt()`, the outcome of the run is `interrupt`, and `resume` or a message
    answers it. If the reply is not what was streamed, MESSAGES_SNAPSHOT has it. A message that is
    sent again with its id gets the same reply and is no second turn.
    """
    thread = session_name(given.thread_id)
    conversation = NamedConversation(asked, model, thread, may_begin=not given.resume)
    if given.resume:
        answers = {entry.interrupt_id: entry.payload for entry in given.resume}
        once = asked.key or f"resume:{digest_of(answers)}"
        answer = TurnRequest.answer(answers, once, conversation.rule())
        return event_stream(_RunWriter(given), await conversation.streamed(answer))
    message = last_of(given.messages, UserMessage)
    heard = await conversation.said(text_of(message.content), message_key(message.id))
    return event_stream(_RunWriter(given), heard)


class _RunWriter(Writer):
    def __init__(self, given: RunInput) -> None:
        self._given = given
        self._run = {"threadId": given.thread_id, "runId": given.run_id}
        self._message = {"messageId": f"msg-{os.urandom(8).hex()}"}

    def begun(self) -> bytes:
        return _event("RUN_STARTED", self._run)

    def text(self, text: str, *, is_first: bool) -> bytes:
        start = _event("TEXT_MESSAGE_START", {**self._message, "role": "assistant"})
        said = _event("TEXT_MESSAGE_CONTENT", {**self._message, "delta": text})
        return start + said if is_first else said

    def text_ended(self) -> bytes:
        return _event("TEXT_MESSAGE_END", self._message)

    def replaced(self, reply: str) -> bytes:
        said = {"id": self._message["messageId"], "role": "assistant", "content": reply}
        before = [each.model_dump(exclude_unset=True) for each in self._given.messages]
        return _event("MESSAGES_SNAPSHOT", {"messages": [*before, said]})

    def failed(self, problem: Mapping[str, Any]) -> bytes:
        return _event("RUN_ERROR", {"message": problem["detail"], "code": problem["code"]})

    def done(self, reply: Mapping[str, Any], text: str) -> bytes:
        ended = {**self._run, **_ending(reply["metadata"])}
        return _event("STATE_SNAPSHOT", {"snapshot": _state(reply)}) + _event("RUN_FINISHED", ended)


def _event(name: str, data: Mapping[str, Any]) -> bytes:
    return server_sent({"type": name, **data})


def _state(reply: Mapping[str, Any]) -> dict[str, Any]:
    metadata = reply["metadata"]
    return {
        "session_id": reply["session_id"],
        "journey_id": metadata["journey_id"],
        "pathway_id": reply["pathway_id"],
        "is_journey_complete": reply["is_journey_complete"],
        "context": reply["accumulated_context"],
        "asked": metadata["asked"],
        "version": metadata["version"],
    }


def _ending(metadata: Mapping[str, Any]) -> dict[str, Any]:
    counted = metadata["usage"]
    names = {"inputTokens": "input_tokens", "outputTokens": "output_tokens"}
    usage = [{name: counted[own] for name, own in names.items()}]
    asks = [_interrupt(ask) for ask in metadata["waiting"]]
    outcome = {"type": "interrupt", "interrupts": asks} if asks else {"type": "success"}
    return {"outcome": outcome, "usage": usage}


def _interrupt(ask: Mapping[str, Any]) -> dict[str, Any]:
    shown = {"id": ask["id"], "reason": "question"}
    if isinstance(ask["value"], str):
        shown["message"] = ask["value"]
    if "schema" in ask:
        shown["responseSchema"] = ask["schema"]
    place = {name: ask[name] for name in ("value", "pathway", "agent")}
    return {**shown, "metadata": place}
