"""Ask a model once, within a deadline; this is the one place that tries again."""

from __future__ import annotations

import asyncio
import email.utils
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from journeygraph.journeys import JourneyConfig, ModelError
from journeygraph.nodes.authored import BreakerOpenError, contained
from journeygraph.nodes.breaker import breaker_of
from journeygraph.nodes.journal import Usage
from journeygraph.nodes.json_data import cleaned
from journeygraph.nodes.llm.client import RUN_CONFIG, ChatAnswer, ChatClient, Message
from journeygraph.nodes.llm.structured import REPLY, SchemaMisfit, object_in
from journeygraph.nodes.state.messages import text_of
from journeygraph.nodes.state.session import Turn
from journeygraph.nodes.telemetry.model_span import ModelSpan, breaker_changed

_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses after which the same request may well succeed a moment later."""
_WHY = {400: "it refused the request", 401: "it refused the key", 403: "it refused the key"}
_FINISHED = frozenset({"stop", "tool_calls", "function_call", "end_turn", "tool_use"})
_CUT_OFF = frozenset({"length", "max_tokens", "MAX_TOKENS"})
_REFUSED = frozenset({"content_filter", "refusal", "safety", "SAFETY"})


def stated(error: Exception) -> ModelError:
    """Return what a client library raised as one of our errors.

    The text does not contain the words of the other side, which may repeat a key or a prompt.
    """
    if isinstance(error, ModelError):
        return error
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status >= 400:
        why = _WHY.get(status, "it is overloaded" if status == 429 else "it failed")
        kind = "unavailable" if status in _AGAIN else "rejected"
        return ModelError(kind, f"the model answered {status}: {why}")
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return ModelError("timeout", "the model did not answer in time")
    if "Connection" in type(error).__name__ or isinstance(error, OSError):
        return ModelError("unavailable", "the model cannot be reached, or closed the connection")
    return ModelError("unreadable", f"the model's answer cannot be read ({type(error).__name__})")


def may_pass(failure: ModelError) -> bool:
    """Return whether the same request may succeed a moment later."""
    return failure.kind in ("unavailable", "unreadable")


def asked_to_wait(error: Exception) -> float | None:
    """Return the seconds that a `Retry-After` asks to wait for; None if nothing does."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    said = headers.get("retry-after") if headers is not None else None
    if said is None:
        return None
    try:
        return max(0.0, float(said))
    except ValueError:
        return _until(said)


def _until(date: str) -> float | None:
    try:
        when = email.utils.parsedate_to_datetime(date)
    except ValueError:
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


_REASONS = ("finish_reason", "stop_reason", "done_reason", "stopReason")
"""Names under which providers tell why an answer ended."""


def check_finished(message: Any, most: int, *, says_so: bool) -> None:
    """Refuse an answer that was cut off or withheld.

    Args:
        says_so: True if this kind of model always tells why it stopped, so that an answer without a
            reason was cut off on its way.

    Raises:
        ModelError: With kind "cut_off" or "refused".
    """
    metadata: Mapping[str, Any] = message.response_metadata
    reason = next(filter(None, map(metadata.get, _REASONS)), None)
    if reason in _REFUSED or message.additional_kwargs.get("refusal"):
        raise ModelError("refused", "the model, or a filter before it, refused to answer")
    used = (message.usage_metadata or {}).get("output_tokens", 0)
    if reason in _CUT_OFF or (reason is None and used >= most):
        raise ModelError("cut_off", f"the model's answer reached its limit of {most} tokens")
    if says_so and reason not in _FINISHED:
        raise ModelError("cut_off", "the model's answer broke off before its end")


_SILENT = frozenset({"timeout", "unavailable", "unreadable"})
"""Failures of a model that does not answer. A wrong answer costs no waiting time."""
_PLACES = ("openai_api_base", "azure_endpoint", "base_url", "anthropic_api_url", "endpoint")
"""Attributes of providers' classes with the address of the server; None is the provider's own."""
# By identity: LangChain's models compare by value. Not the identity itself, which is used again.
_own: dict[int, object] = {}


def limited(chat: ChatClient, config: JourneyConfig, most_tokens: int) -> ChatClient:
    """Return a model whose answers have a limit, and that rests after failures in a row.

    Args:
        config: Says when it rests, in all sessions of the process.
    """
    chat = replace(chat, most_tokens=most_tokens)
    if chat.cassette is not None and chat.cassette.is_offline:
        return chat
    limits = config.breaker_failures, config.breaker_seconds
    return replace(chat, breaker=breaker_of(identity_of(chat), *limits, in_a_row=True))


def identity_of(chat: ChatClient) -> Hashable:
    """Return the identity of a model: its provider, its name and its server's address.

    A model of a class that has no address, as those of tests, is itself alone.
    """
    model = chat.model
    client = getattr(model, "root_async_client", None)  # knows the address of the environment
    places = [str(place) for name in _PLACES if (place := getattr(model, name, None))]
    if not places and client is None and not any(hasattr(model, name) for name in _PLACES):
        return _own_of(model), chat.name
    if client is not None:
        places = [str(client.base_url)]
    name = chat.name or getattr(model, "model_name", None) or getattr(model, "model", None)
    return "model", _provider_of(model), name, *places


def _provider_of(model: Any) -> str:
    """Return the package that a model's class comes from, or that the class is derived from."""
    packages = [kind.__module__.partition(".")[0] for kind in type(model).__mro__]
    theirs = [
        name for name in packages if name.startswith("langchain_") and name != "langchain_core"
    ]
    return theirs[0] if theirs else packages[0]


def _own_of(model: Any) -> object:
    key = id(model)
    if key not in _own:
        _own[key] = object()
        weakref.finalize(model, _own.pop, key, None)
    return _own[key]


@contextmanager
def rested(chat: ChatClient) -> Iterator[None]:
    """Call a model unless its breaker is open, and record whether it answers."""
    if chat.breaker is None:
        yield
        return
    name = str(chat.name or getattr(chat.model, "model_name", "") or "")
    try:
        with chat.breaker.guarding(
            _is_silent, lambda opened: breaker_changed(opened=opened, model=name)
        ):
            yield
    except BreakerOpenError as rests:
        raise ModelError("unavailable", f"the model is not called: {rests}") from rests


def _is_silent(error: BaseException) -> bool | None:
    return error.kind in _SILENT if isinstance(error, ModelError) else None


MOST_TRIES = 3
FIRST_PAUSE = 0.5
"""Seconds before the second try; doubled before the third."""
MOST_TEXT = 64 * 1024
"""Longest answer, in characters; what tools are called with counts as well."""

Hear = Callable[[str], bool]
"""Takes a piece of an answer while it is written; an empty one follows where it broke off.

Returns whether any of it was streamed to the user.
"""


@dataclass(frozen=True, slots=True)
class Question:
    """Request to a model.

    Attributes:
        messages: The conversation, as OpenAI writes messages.
        schema: JSON schema of the answer, and whether it is closed enough to be held to strictly.
    """

    messages: Sequence[Message]
    schema_name: str
    schema: Mapping[str, Any]
    strict: bool
    tools: Sequence[Mapping[str, Any]] = ()


async def ask(
    chat: ChatClient,
    question: Question,
    until: float,
    usage: Usage,
    listen: Callable[[], Hear] | None = None,
) -> ChatAnswer:
    """Return a whole, finished answer.

    What may pass (429, 5xx, a broken connection, an unreadable body) is tried up to twice more,
    after the pause that `Retry-After` asks for, as long as the deadline allows it, and unless a
    part of the answer was already streamed. A model that was passed with its own retries
    keeps them, and is asked once: a failure has one owner. One that did not answer recently is not
    asked at all for a while.

    Args:
        until: The deadline, on the event loop's clock.
        listen: Called at the beginning of each try, for what takes its answer piece by piece.
    """
    if until <= asyncio.get_running_loop().time():  # which says nothing of the model
        raise ModelError("timeout", "no time was left for the model")
    if chat.cassette is None:
        return await _asked(chat, question, until, usage, listen)
    live = partial(_asked, chat, question, until, usage)
    return await chat.cassette.answer(question, usage, until, listen, live)


async def _asked(
    chat: ChatClient,
    question: Question,
    until: float,
    usage: Usage,
    listen: Callable[[], Hear] | None,
) -> ChatAnswer:
    with rested(chat):
        return await _tried(chat, question, until, usage, listen)


async def _tried(
    chat: ChatClient,
    question: Question,
    until: float,
    usage: Usage,
    listen: Callable[[], Hear] | None,
) -> ChatAnswer:
    for number in range(MOST_TRIES):
        hear = listen() if listen else None
        call = ModelSpan(chat.model, chat.name, purpose=question.schema_name, number=number + 1)
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


def _pause(chat: ChatClient, error: Exception, failure: ModelError, number: int) -> float | None:
    if chat.retries_itself or not may_pass(failure):
        return None
    wanted = asked_to_wait(error)
    return FIRST_PAUSE * 2**number if wanted is None else wanted


async def _once(
    chat: ChatClient,
    question: Question,
    usage: Usage,
    hear: Hear | None,
    until: float,
    call: ModelSpan,
) -> ChatAnswer:
    model, options = chat.prepared(question, streams=hear is not None)
    messages = list(question.messages)
    usage.model_calls += 1
    if hear is None:
        message = await model.ainvoke(messages, RUN_CONFIG, **options)
    else:
        call.attributes["gen_ai.request.stream"] = True
        chunks = model.astream(messages, RUN_CONFIG, **options)
        message = await _streamed(chunks, chat.listener(question), hear, until)
    usage.add_tokens(message.usage_metadata)
    call.answered(message)
    check_finished(message, chat.limit, says_so=chat.is_openai)
    answer = chat.read(question, message)
    _check_length(len(answer.text) + sum(len(str(call.arguments)) for call in answer.calls))
    if not answer.text.strip() and not answer.calls:
        raise ModelError("empty", "the model's answer is empty")
    return answer


async def _streamed(chunks: Any, piece_in: Callable[[Any], str], hear: Hear, until: float) -> Any:
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
        raise ModelError("cut_off", "the model's answer broke off before it began")
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


_REPLY: Mapping[str, Any] = {
    "type": "object",
    "properties": {REPLY: {"type": "string"}},
    "required": [REPLY],
    "additionalProperties": False,
}


async def object_asked(
    chat: ChatClient, question: Question, until: float, usage: Usage
) -> dict[str, Any]:
    """Return the object that a model answers with."""
    answer = await ask(chat, question, until, usage)
    try:
        return object_in(answer.text)
    except SchemaMisfit as fault:
        raise ModelError("malformed", f"the model's answer cannot be read: {fault}") from fault


async def reply_asked(
    chat: ChatClient, name: str, messages: list[dict[str, str]], until: float, usage: Usage
) -> str:
    """Return what a model says to the user, which is all that it is asked for."""
    question = Question(messages, name, _REPLY, strict=True)
    said = (await object_asked(chat, question, until, usage)).get(REPLY)
    if not isinstance(said, str) or not said.strip():
        raise ModelError("malformed", "the model's answer has no response")
    return cleaned(said)


_LEAST = 0.1
"""Least share of its time for a question; with less, it is not asked: it would only be cut."""


def seconds_for(turn: Turn, config: JourneyConfig, seconds: float) -> float:
    """Return how long one more question of a turn may take; 0 if it is not to be asked."""
    left = config.model_budget_seconds - turn.get("model_seconds", 0.0)
    return min(seconds, left) if left > _LEAST * min(seconds, config.model_budget_seconds) else 0.0


def spent(turn: Turn, since: float) -> Turn:
    """Return the turn with the time that a question took, from a time of the event loop's clock."""
    passed = asyncio.get_running_loop().time() - since
    return {**turn, "model_seconds": round(turn.get("model_seconds", 0.0) + passed, 6)}
