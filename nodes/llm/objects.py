"""Ask a model for one JSON object, such as a reply by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from journeys import ModelError
from nodes.llm.asking import Question, ask
from nodes.llm.chat import Chat
from nodes.llm.structured import REPLY, Misfit, object_in
from nodes.llm.usage import Usage
from nodes.plain import cleaned

_REPLY: Mapping[str, Any] = {
    "type": "object",
    "properties": {REPLY: {"type": "string"}},
    "required": [REPLY],
    "additionalProperties": False,
}


async def object_asked(
    chat: Chat, question: Question, until: float, usage: Usage
) -> dict[str, Any]:
    """Return the object that a model answers with.

    Raises:
        ModelError: There is no usable answer in time.
    """
    answer = await ask(chat, question, until, usage)
    try:
        return object_in(answer.text)
    except Misfit as fault:
        raise ModelError("malformed", f"the model's answer cannot be read: {fault}") from fault


async def reply_asked(
    chat: Chat, name: str, messages: list[dict[str, str]], until: float, usage: Usage
) -> str:
    """Return what a model says to the user, which is all that it is asked for.

    Raises:
        ModelError: There is no usable answer in time.
    """
    question = Question(messages, name, _REPLY, strict=True)
    said = (await object_asked(chat, question, until, usage)).get(REPLY)
    if not isinstance(said, str) or not said.strip():
        raise ModelError("malformed", "the model's answer has no response")
    return cleaned(said)
