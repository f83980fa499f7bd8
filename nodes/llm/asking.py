"""Ask a model once, within a deadline; this is the one place that tries again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from journeys import ModelError
from nodes.authored import contained
from nodes.llm.chat import RUN_CONFIG, Answer, Chat, Message
from nodes.llm.faults import asked_to_wait, check_finished, may_pass, stated
from nodes.llm.resting import rested
from nodes.llm.usage import Usage
from nodes.messages import text_of
from nodes.telemetry import ModelCall

MOST_TRIES = 3
FIRST_PAUSE = 0.5
"""Seconds before the second try; doubled before the third."""
MOST_TEXT = 64 * 1024
"""Longest answer, in characters; what tools are called with counts as well."""

Hear = Callable[[str], bool]
"""Takes a piece of an answer while it is written; an empty one follows where it broke off. Says
whether the user has heard any of it so far."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked.

    Attributes:
        messages: The conversation, as OpenAI writes messages.
        schema: JSON schema of the answer, and whether it is closed enough to be held to strictly.
        schema_name: What the schema is called.
        tools: What it may call, as OpenAI writes functions.
    """

    messages: Sequence[Message]
    schema_name: str
    schema: Mapping[str, Any]
    strict: bool
    tools: Sequence[Mapping[str, Any]] = ()


async def ask(
    chat: Chat,
    question: Question,
    until: float,
    usage: Usage,
    listen: Callable[[], Hear] | None = None,
) -> Answer:
    """Return a whole, finished answer.

    What may pass (429, 5xx, a broken connection, an unreadable body) is tried up to twice more,
    after the pause that `Retry-After` asks for, as long as the deadline allows it, and unless
    something of the answer was heard already. A model that was handed in with retries of its own
    keeps them, and is asked once: a failure has one owner. One that did not answer of late is not
    asked at all for a while.

    Args:
        chat: The model.
        question: What to ask.
        until: The deadline, on the event loop's clock.
        usage: Counts the calls and the tokens.
        listen: Called at the beginning of each try, for what takes its answer piece by piece.

    Raises:
        ModelError: There is no usable answer; `kind` says why.
    """
    if until <= asyncio.get_running_loop().time():  # which says nothing of the model
        raise ModelError("timeout", "no time was left for the model")
    with rested(chat):
        return await _tried(chat, question, until, usage, listen)


async def _tried(
    chat: Chat,
    question: Question,
    until: float,
    usage: Usage,
    listen: Callable[[], Hear] | None,
) -> Answer:
    for number in range(MOST_TRIES):
        hear = listen() if listen else None
        call = ModelCall(chat.model, chat.name, purpose=question.schema_name, number=number + 1)
        try:
            with call:
                async with asyncio.timeout_at(until):
                    with contained():
                        return await _once(chat, question, usage, hear, until, call)
        except Exception as error:  # whatever a client library raises, and all of them differ
            failure = stated(error)
            was_heard = hear is not None and hear("")
            final = number + 1 >= MOST_TRIES or was_heard
            pause = None if final else _pause(chat, error, failure, number)
            if pause is None or asyncio.get_running_loop().time() + pause >= until:
                raise failure from error
        await asyncio.sleep(pause)
    raise AssertionError("the last try either answers or raises")


def _pause(chat: Chat, error: Exception, failure: ModelError, number: int) -> float | None:
    """Return the seconds before the next try; None if there is none."""
    if chat.retries_itself or not may_pass(failure):
        return None
    wanted = asked_to_wait(error)
    return FIRST_PAUSE * 2**number if wanted is None else wanted


async def _once(
    chat: Chat,
    question: Question,
    usage: Usage,
    hear: Hear | None,
    until: float,
    call: ModelCall,
) -> Answer:
    model, options = chat.prepared(question, streams=hear is not None)
    messages = list(question.messages)
    usage.model_calls += 1
    if hear is None:
        message = await model.ainvoke(messages, RUN_CONFIG, **options)
    else:
        call.streams()
        chunks = model.astream(messages, RUN_CONFIG, **options)
        message = await _streamed(chunks, chat.listener(question), hear, until)
    usage.add_tokens(message.usage_metadata)
    call.answered(message)
    check_finished(message, says_so=chat.is_openai)
    answer = chat.read(question, message)
    _check_length(len(answer.text) + sum(len(str(call.arguments)) for call in answer.calls))
    if not answer.text.strip() and not answer.calls:
        raise ModelError("empty", "the model answered with nothing")
    return answer


async def _streamed(chunks: Any, piece_in: Callable[[Any], str], hear: Hear, until: float) -> Any:
    """Return the whole message of a stream, each piece of which is heard as it comes."""
    parts: list[Any] = []
    length = 0
    now = asyncio.get_running_loop().time
    async with aclosing(chunks):
        async for chunk in chunks:
            # A client with a timeout of its own may swallow ours, and a fast stream never waits.
            if now() > until:
                raise TimeoutError
            parts.append(chunk)
            piece = piece_in(chunk)
            length += _length(chunk)
            _check_length(length)
            if piece:
                hear(piece)
    if not parts:
        raise ModelError("cut_off", "the model's answer broke off before its beginning")
    return _joined(parts)


def _length(chunk: Any) -> int:
    calls = getattr(chunk, "tool_call_chunks", ())
    return len(text_of(chunk.content)) + sum(len(call["args"] or "") for call in calls)


def _joined(parts: Sequence[Any]) -> Any:
    """Return the message of all parts; a reason to stop that each of them tells is one reason."""
    whole = parts[0] + parts[1:] if parts[1:] else parts[0]
    reasons = [part.response_metadata.get("finish_reason") for part in parts]
    if told := [reason for reason in reasons if reason]:
        whole.response_metadata["finish_reason"] = told[-1]
    return whole


def _check_length(length: int) -> None:
    if length > MOST_TEXT:
        raise ModelError("too_long", f"the model's answer is over {MOST_TEXT} characters")
