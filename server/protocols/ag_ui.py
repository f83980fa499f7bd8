"""POST /v1/ag-ui/{model}: runs of the Agent User Interaction Protocol (AG-UI 1.0).

The thread is the session, and a run is a turn for its last message.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import StreamingResponse

from journeygraph.graphs.session.turn import Given
from journeygraph.journeys.config import ANSWER_RULES
from journeygraph.server.http.deps import Asking, IdempotencyKey, RequestId, Wired
from journeygraph.server.http.routing import session_name
from journeygraph.server.protocols.client_messages import (
    NO_TOOLS,
    UNSUPPORTED,
    TextPart,
    digest_of,
    last_of,
    text_of,
)
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


class UserMessage(BaseModel):
    """A message of the user."""

    model_config = ConfigDict(extra="allow", strict=True)

    id: str = Field(min_length=1, description="Id of the message; sent again, it is no new turn.")
    role: Literal["user"]
    content: str | list[TextPart]


class OtherMessage(BaseModel):
    """A message of another role, which is not read."""

    model_config = ConfigDict(extra="allow", strict=True)

    role: Literal["assistant", "system", "developer", "tool", "activity", "reasoning"]


class _Sent(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class ResumeEntry(_Sent):
    """The answer to an interrupt."""

    interrupt_id: str = Field(alias="interruptId")
    status: Literal["resolved"] = Field(
        description="`cancelled` is not supported: send a message that asks to stop."
    )
    payload: Any = None


class RunInput(_Sent):
    """A conversation whose last message is a turn, or answers to an agent's questions.

    `state`, `context` and `forwardedProps` have no effect: the journey has its own state.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "threadId": "web-17",
                    "runId": "run-1",
                    "messages": [{"id": "m-1", "role": "user", "content": "It is P-1042"}],
                }
            ]
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
    tools: Annotated[Any, NO_TOOLS] = Field(default=None, description=UNSUPPORTED)

    def message(self) -> UserMessage:
        """Return the last message.

        Raises:
            Problem: It is not the user's.
        """
        return last_of(self.messages, UserMessage)


router = APIRouter(prefix="/v1/ag-ui", tags=["ag-ui"], route_class=HistoryRoute)


@router.post("/{model}", response_class=StreamingResponse, responses=AS_STREAM)
async def run(
    model: ModelName,
    given: RunInput,
    wiring: Wired,
    caller: Asking,
    request_id: RequestId,
    key: IdempotencyKey,
    when_busy: BusyRule = None,
) -> StreamingResponse:
    """Take the last message of a thread as a turn, for clients of AG-UI.

    The events are RUN_STARTED, TEXT_MESSAGE_START, TEXT_MESSAGE_CONTENT and TEXT_MESSAGE_END,
    STATE_SNAPSHOT with the context and the open question, and RUN_FINISHED, or RUN_ERROR. If an
    agent asks by `interrupt()`, the outcome of the run is `interrupt`, and `resume` or a message
    answers it. If the reply is not what was streamed, MESSAGES_SNAPSHOT has it. A message that is
    sent again with its id gets the same reply and is no second turn.
    """
    thread, may_begin = session_name(given.thread_id), not given.resume
    conversation = Conversation(wiring, caller, model, thread, when_busy, may_begin)
    if given.resume:
        answers = {entry.interrupt_id: entry.payload for entry in given.resume}
        once = key or f"resume:{digest_of(answers)}"
        answer = Given.answer(answers, once, conversation.rule(ANSWER_RULES))
        heard = await conversation.streaming(answer, request_id)
    else:
        message = given.message()
        once = key or f"message:{digest_of(message.id)}"
        heard = await conversation.streamed(text_of(message.content), once, request_id)
    return event_stream(_events(given, heard), heard.headers)


async def _events(given: RunInput, heard: Heard) -> AsyncIterator[bytes]:
    """Yield the events of a run."""
    run = {"threadId": given.thread_id, "runId": given.run_id}
    message_id = f"msg-{os.urandom(8).hex()}"
    message = {"messageId": message_id}
    is_open = False
    yield _event("RUN_STARTED", run)
    async for kind, data in heard.pieces():
        if kind == "text":
            start = {**message, "role": "assistant"}
            begun = b"" if is_open else _event("TEXT_MESSAGE_START", start)
            is_open = True
            yield begun + _event("TEXT_MESSAGE_CONTENT", {**message, "delta": data})
            continue
        if is_open:
            is_open = False
            yield _event("TEXT_MESSAGE_END", message)
        if kind == "replaced":
            reply = {"id": message_id, "role": "assistant", "content": data}
            before = [each.model_dump(exclude_unset=True) for each in given.messages]
            yield _event("MESSAGES_SNAPSHOT", {"messages": [*before, reply]})
        elif kind == "error":
            yield _event("RUN_ERROR", {"message": data["detail"], "code": data["code"]})
        else:
            yield _event("STATE_SNAPSHOT", {"snapshot": _state(data)})
            yield _event("RUN_FINISHED", {**run, **_ending(data["metadata"])})


def _event(name: str, data: Mapping[str, Any]) -> bytes:
    return server_sent({"type": name, **data})


def _state(reply: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state after a turn."""
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
    """Return the outcome of a run, and the tokens of its model calls."""
    counted = metadata["usage"]
    names = {"inputTokens": "input_tokens", "outputTokens": "output_tokens"}
    usage = [{name: counted[own] for name, own in names.items()}]
    asks = [_interrupt(ask) for ask in metadata["waiting"]]
    outcome = {"type": "interrupt", "interrupts": asks} if asks else {"type": "success"}
    return {"outcome": outcome, "usage": usage}


def _interrupt(ask: Mapping[str, Any]) -> dict[str, Any]:
    """Return the question of an agent as an interrupt."""
    shown = {"id": ask["id"], "reason": "question"}
    if isinstance(ask["value"], str):
        shown["message"] = ask["value"]
    if "schema" in ask:
        shown["responseSchema"] = ask["schema"]
    place = {name: ask[name] for name in ("value", "pathway", "agent")}
    return {**shown, "metadata": place}
