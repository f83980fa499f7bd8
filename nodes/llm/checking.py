"""A model judges a reply against the rules of its turn, and writes an invalid one anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from journeys import ModelError
from nodes.llm.asking import Question
from nodes.llm.chat import Chat
from nodes.llm.objects import object_asked, reply_asked
from nodes.llm.prompts import JUDGING_REPLY, REWRITING, as_data
from nodes.llm.usage import Usage
from nodes.plain import MOST_WORDS, cleaned

_MOST = 20
"""Violations and fixes that are kept of one answer."""
_LIST = {"type": "array", "items": {"type": "string"}}
_VERDICT = {
    "type": "object",
    "properties": {
        "is_valid": {"type": "boolean"},
        "violations": {**_LIST, "description": "What breaks which rule, each in one sentence."},
        "suggested_fixes": {**_LIST, "description": "How to mend it, each in one sentence."},
        "confidence": {"type": "number", "description": "From 0 (a guess) to 1 (certain)."},
    },
    "required": ["is_valid", "violations", "suggested_fixes", "confidence"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a model says of a reply.

    Attributes:
        is_valid: Whether it follows all rules.
        violations: What breaks them.
        fixes: How to mend it.
        confidence: How sure the model is, from 0 to 1.
    """

    is_valid: bool
    violations: tuple[str, ...]
    fixes: tuple[str, ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class Examiner:
    """A model that checks the reply of one turn.

    Attributes:
        chat: The model.
        usage: Counts its calls.
        until: The deadline of all its answers, on the event loop's clock.
        about: What it is told besides the reply: the conversation, the message and the rules.
    """

    chat: Chat
    usage: Usage
    until: float
    about: Mapping[str, Any]

    async def judge(self, reply: str) -> Judgement:
        """Return what the model says of a reply.

        Raises:
            ModelError: There is no usable answer in time.
        """
        given = {**self.about, "reply": reply}
        question = Question(_told(JUDGING_REPLY, given), "validation", _VERDICT, strict=True)
        return judgement_in(await object_asked(self.chat, question, self.until, self.usage))

    async def rewrite(self, reply: str, violations: Sequence[str], fixes: Sequence[str]) -> str:
        """Return the reply without what is wrong with it.

        Raises:
            ModelError: There is no usable answer in time.
        """
        wrong = {"violations": list(violations), "suggested_fixes": list(fixes)}
        given = {**self.about, "reply": reply, **wrong}
        told = _told(REWRITING, given)
        return await reply_asked(self.chat, "rewriting", told, self.until, self.usage)


def _told(system: str, given: Mapping[str, Any]) -> list[dict[str, str]]:
    return [
        {"role": "system", "content": system},
        {"role": "user", "content": as_data(given)},
    ]


def judgement_in(answer: Mapping[str, Any]) -> Judgement:
    """Return the judgement in a model's answer.

    Raises:
        ModelError: It is not of the schema.
    """
    is_valid, confidence = answer.get("is_valid"), answer.get("confidence")
    number = isinstance(confidence, (int, float)) and not isinstance(confidence, bool)
    if not isinstance(is_valid, bool) or not number or not 0 <= float(confidence or 0) <= 1:
        raise ModelError("malformed", "the model's answer has no verdict with a confidence")
    said = [_texts(answer.get(name, [])) for name in ("violations", "suggested_fixes")]
    return Judgement(is_valid, said[0], said[1], float(confidence or 0))


def _texts(given: Any) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise ModelError("malformed", "the model's answer has no list of what is wrong")
    return tuple(cleaned(text)[:MOST_WORDS] for text in given[:_MOST])
