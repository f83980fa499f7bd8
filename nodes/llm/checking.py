"""A model judges a reply against the rules of its turn, and writes an invalid one anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from journeys import ModelError
from nodes.llm.asking import Question, ask
from nodes.llm.chat import Chat
from nodes.llm.prompts import JUDGING_REPLY, REWRITING, as_data
from nodes.llm.structured import REPLY, Misfit, object_in
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
_REWRITTEN = {
    "type": "object",
    "properties": {REPLY: {"type": "string"}},
    "required": [REPLY],
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
        return judgement_in(await self._asked("validation", JUDGING_REPLY, _VERDICT, given))

    async def rewrite(self, reply: str, violations: Sequence[str], fixes: Sequence[str]) -> str:
        """Return the reply without what is wrong with it.

        Raises:
            ModelError: There is no usable answer in time.
        """
        wrong = {"violations": list(violations), "suggested_fixes": list(fixes)}
        given = {**self.about, "reply": reply, **wrong}
        said = (await self._asked("rewriting", REWRITING, _REWRITTEN, given)).get(REPLY)
        if not isinstance(said, str) or not said.strip():
            raise ModelError("malformed", "the model's answer has no reply")
        return cleaned(said)

    async def _asked(
        self, name: str, system: str, schema: Mapping[str, Any], given: Mapping[str, Any]
    ) -> dict[str, Any]:
        messages = [
            {"role": "system", "content": system},
            {"role": "user", "content": as_data(given)},
        ]
        question = Question(messages, name, schema, strict=True)
        answer = await ask(self.chat, question, self.until, self.usage)
        try:
            return object_in(answer.text)
        except Misfit as fault:
            raise ModelError("malformed", f"the model's answer cannot be read: {fault}") from fault


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
