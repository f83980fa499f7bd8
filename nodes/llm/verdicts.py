"""The closed schema in which a model gives its verdicts, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from journeys import GuidelineSpec, TransitionSpec
from nodes.commands import Command, Go, Verdict
from nodes.llm.structured import Misfit, object_in
from nodes.plain import MOST_WORDS, cleaned

_REASON: Mapping[str, Any] = {"type": "string", "description": "Why, in a few words."}
_SHARE: Mapping[str, Any] = {"type": "number", "description": "From 0 (no) to 1 (certain)."}


@dataclass(frozen=True, slots=True)
class Understood:
    """What a model said of a message: where it leads, and which of the rules hold."""

    commands: list[Command] = field(default_factory=list)
    guidelines: list[Verdict] = field(default_factory=list)


def schema_for(
    candidates: Sequence[TransitionSpec], guidelines: Sequence[GuidelineSpec] = ()
) -> dict[str, Any]:
    """Return the JSON schema of an answer.

    It holds verdicts on these questions, moves to these pathways, and which of these rules hold:
    of rules, which may be many, only those that do are named.
    """
    answer = _moves(candidates) if candidates else {}
    if guidelines:
        rule = {
            "rule": {"type": "string", "enum": [guideline.id for guideline in guidelines]},
            "confidence": _SHARE,
            "reason": _REASON,
        }
        answer["rules_that_hold"] = _list_of(rule)
    return _object(answer)


def _moves(candidates: Sequence[TransitionSpec]) -> dict[str, Any]:
    verdict = {
        "question": {"type": "string", "enum": [transition.id for transition in candidates]},
        "holds": {"type": "boolean"},
        "confidence": _SHARE,
        "reason": _REASON,
    }
    targets = list(dict.fromkeys(transition.target for transition in candidates))
    go = {
        "kind": {"type": "string", "enum": ["go"]},
        "target": {"type": "string", "enum": targets},
        "confidence": _SHARE,
    }
    return {"verdicts": _list_of(verdict), "commands": _list_of(go)}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _list_of(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": _object(properties)}


def understood_in(text: str, *, moves: bool = True) -> Understood:
    """Return what a model's answer says.

    Two verdicts on one question contradict each other if they differ, and count as none. What is
    not of the schema fails the whole answer: half of a verdict is no ground to move anybody.

    Args:
        text: The answer.
        moves: Whether it was asked where the message leads.

    Raises:
        Misfit: The answer is not of the schema.
    """
    answer = object_in(text)
    verdicts: Any = answer.get("verdicts", None if moves else [])
    commands, rules = answer.get("commands", []), answer.get("rules_that_hold", [])
    if not all(isinstance(listed, list) for listed in (verdicts, commands, rules)):
        raise Misfit("it has no list of verdicts")
    read: list[Command] = [*_agreeing([_verdict(item) for item in verdicts])]
    named = [_rule(item) for item in rules]
    return Understood([*read, *(_go(item) for item in commands)], named)


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
    return Verdict(cleaned(question)[:MOST_WORDS], holds, "model", _confidence(given), words)


def _go(item: Any) -> Go:
    given = _fields(item, "command")
    target = given.get("target")
    if given.get("kind") != "go" or not isinstance(target, str):
        raise Misfit("a command must be of kind 'go' and have a target")
    return Go(cleaned(target)[:MOST_WORDS], _confidence(given))


def _fields(item: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(item, dict):
        raise Misfit(f"a {what} must be an object")
    return item


def _confidence(given: Mapping[str, Any]) -> float:
    """Return a confidence; one outside of 0 to 1 is left for `steer` to refuse and audit."""
    value = given.get("confidence")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Misfit("a confidence must be a number from 0 to 1")
    return float(min(max(value, -1), 2))
