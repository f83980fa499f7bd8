"""Answer without the journey: one call, no tools, nothing of what the session knows."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from journeys import ModelError
from nodes.llm.asking import Question, ask
from nodes.llm.prompts import FREEFORM
from nodes.llm.structured import REPLY, Misfit, object_in
from nodes.llm.usage import Usage
from nodes.plain import cleaned
from nodes.services import Services

_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {REPLY: {"type": "string", "description": "What is said to the user."}},
    "required": [REPLY],
    "additionalProperties": False,
}


async def freeform(
    services: Services, message: str, history: Sequence[Mapping[str, str]] = ()
) -> str | None:
    """Return a model's answer to a message; None where there is no model, or no usable answer.

    Args:
        services: What the turn works with.
        message: What the user says.
        history: What was said before, where that may be told.

    Source: flow control, journey engine failure; DESIGN section 4.
    """
    if services.models is None:
        return None
    config = services.config
    messages = [
        {"role": "system", "content": FREEFORM},
        *history,
        {"role": "user", "content": message},
    ]
    question = Question(messages, "freeform", _SCHEMA, strict=True)
    until = asyncio.get_running_loop().time() + config.intent_timeout_seconds
    chat = services.models.step(config.agent_model)
    try:
        answer = await ask(chat, question, until, services.usage or Usage())
        said = object_in(answer.text).get(REPLY)
    except (ModelError, Misfit):
        return None
    return cleaned(said).strip() or None if isinstance(said, str) else None
