"""The closed schema in which a model gives its verdicts, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from journeys import GuidelineSpec, TransitionSpec
from nodes.commands import Command, Verdict
from nodes.llm.command_schema import (
    SHARE,
    command_in,
    command_list,
    confidence_in,
    nullable,
    text_in,
)
from nodes.llm.form import Asking
from nodes.llm.sifting import Dropped
from nodes.llm.structured import Misfit, object_in
from nodes.plain import MOST_WORDS, cleaned

_REASON: Mapping[str, Any] = {"type": "string", "description": "Why, in a few words."}
_REPLY: Mapping[str, Any] = {
    "anyOf": [{"type": "string"}, {"type": "null"}],
    "description": "What is said to the user.",
}


MOST_REPLY = 4096
"""Longest reply, in characters; a longer one is not said."""


@dataclass(frozen=True, slots=True)
class Understood:
    """What a model said of a message.

    Attributes:
        commands: Where it leads, and what else it asks for; verdicts on transitions among it.
        guidelines: Which of the rules hold.
        reply: What could be said to the user; None where nothing is worded.
        asks: Name of the field that this reply asks for; None: it asks for none. What was
            collected is read back by the runtime alone, for the user says yes to that.
        dropped: Commands that do not count.
    """

    commands: list[Command] = field(default_factory=list)
    guidelines: list[Verdict] = field(default_factory=list)
    reply: str | None = None
    asks: str | None = None
    dropped: list[Dropped] = field(default_factory=list)


def schema_for(
    candidates: Sequence[TransitionSpec],
    guidelines: Sequence[GuidelineSpec] = (),
    form: Asking | None = None,
) -> dict[str, Any]:
    """Return the JSON schema of an answer.

    It holds verdicts on these questions, the commands that make sense now, and which of these rules
    hold: of rules, which may be many, only those that do are named. The reply comes last, when all
    else is decided.
    """
    targets = list(dict.fromkeys(transition.target for transition in candidates))
    answer: dict[str, Any] = {}
    if candidates:
        answer["verdicts"] = _verdicts(candidates)
    if candidates or form:
        answer["commands"] = command_list(form, targets)
    if guidelines:
        rule = {
            "rule": {"type": "string", "enum": [guideline.id for guideline in guidelines]},
            "confidence": SHARE,
            "reason": _REASON,
        }
        answer["rules_that_hold"] = _list_of(rule)
    if form and form.worded:
        answer["asks"] = nullable(form.names, "The field that the reply asks for; null: none.")
        answer["reply"] = _REPLY
    return _object(answer)


def _verdicts(candidates: Sequence[TransitionSpec]) -> dict[str, Any]:
    return _list_of(
        {
            "question": {"type": "string", "enum": [transition.id for transition in candidates]},
            "holds": {"type": "boolean"},
            "confidence": SHARE,
            "reason": _REASON,
        }
    )


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _list_of(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": _object(properties)}


def understood_in(text: str, *, moves: bool = True, form: bool = False) -> Understood:
    """Return what a model's answer says.

    Two verdicts on one question contradict each other if they differ, and count as none. What is
    not of the schema fails the whole answer: half of a verdict is no ground to move anybody. A
    command that names what is not there is left for the steps to drop and audit.

    Args:
        text: The answer.
        moves: Whether it was asked where the message leads.
        form: Whether it was asked what the message does to a form.

    Raises:
        Misfit: The answer is not of the schema.
    """
    answer = object_in(text)
    verdicts: Any = answer.get("verdicts", None if moves else [])
    commands: Any = answer.get("commands", None if form else [])
    rules: Any = answer.get("rules_that_hold", [])
    for name, listed in (("verdicts", verdicts), ("commands", commands), ("rules", rules)):
        if not isinstance(listed, list):
            raise Misfit(f"it has no list of {name}")
    read: list[Command] = [*_agreeing([_verdict(item) for item in verdicts])]
    return Understood(
        [*read, *(command_in(item) for item in commands)],
        [_rule(item) for item in rules],
        _reply(answer),
        text_in(answer, "asks") or None,
    )


def _reply(answer: Mapping[str, Any]) -> str | None:
    said = text_in(answer, "reply", MOST_REPLY + 1).strip()
    return said if 0 < len(said) <= MOST_REPLY else None


def _agreeing(verdicts: Sequence[Verdict]) -> list[Verdict]:
    answers: dict[str, set[bool]] = {}
    for verdict in verdicts:
        answers.setdefault(verdict.question, set()).add(verdict.holds)
    last = {
        verdict.question: verdict for verdict in verdicts if len(answers[verdict.question]) == 1
    }
    return list(last.values())


def _verdict(item: Any) -> Verdict:
    given = _fields(item, "verdict")
    return _read(given, given.get("question"), given.get("holds"))


def _rule(item: Any) -> Verdict:
    given = _fields(item, "rule")
    return _read(given, given.get("rule"), True)


def _read(given: Mapping[str, Any], question: Any, holds: Any) -> Verdict:
    reason = given.get("reason", "")
    if not isinstance(question, str) or not isinstance(holds, bool) or not isinstance(reason, str):
        raise Misfit("a verdict must have a question, holds and a reason")
    words = cleaned(reason)[:MOST_WORDS]
    return Verdict(cleaned(question)[:MOST_WORDS], holds, "model", confidence_in(given), words)


def _fields(item: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(item, dict):
        raise Misfit(f"a {what} must be an object")
    return item
