"""The schema in which a model answers in a journey, and how its answer is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from cachetools import LRUCache, cached

from journeys import JourneySpec
from nodes.commands import Command, Verdict
from nodes.llm.command_schema import (
    READ,
    SHARE,
    command_in,
    command_list,
    confidence_in,
    name_of,
    nullable,
    text_in,
)
from nodes.llm.sifting import Dropped
from nodes.llm.structured import Misfit, object_in
from nodes.plain import MOST_WORDS, cleaned
from nodes.steer import asks_model

_REASON: Mapping[str, Any] = {"type": "string", "description": "Why, in a few words."}
_REPLY: Mapping[str, Any] = {
    "anyOf": [{"type": "string"}, {"type": "null"}],
    "description": "What is said to the user.",
}

MOST_NAMES = 200
"""Most names of a journey that its schema lists; with more, a name is any text in it."""
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


@dataclass(frozen=True, slots=True)
class Names:
    """All that a model may name in a journey, wherever the session stands.

    Attributes:
        questions: The transitions that a model may judge.
        targets: The pathways that they lead to.
        commands: The commands.
        fields: The fields of all forms.
        rules: The guidelines that a model may judge.
        is_worded: Whether it words replies anywhere.
    """

    questions: tuple[str, ...]
    targets: tuple[str, ...]
    commands: tuple[str, ...]
    fields: tuple[str, ...]
    rules: tuple[str, ...]
    is_worded: bool

    def closed(self, names: Sequence[str]) -> Sequence[str] | None:
        """Return names as a schema has them: a closed set, or None for any text where all are many.

        What a journey has beyond `MOST_NAMES` would fill each request, and providers refuse long
        lists.
        """
        count = len(self.questions) + len(self.targets) + len(self.fields) + len(self.rules)
        return names if count <= MOST_NAMES else None


@cached(LRUCache[JourneySpec, Names](512), lock=Lock())
def names_in(spec: JourneySpec) -> Names:
    """Return what a model may name in a journey."""
    judged = [transition for transition in spec.transitions if asks_model(transition)]
    forms = [pathway.form for pathway in spec.pathways.values() if pathway.form]
    every = [name for name in READ if name != "ask" or spec.has_knowledge]
    commands = every if spec.uses_dialogue else ["human", "go"] if spec.can_escalate else ["go"]
    return Names(
        questions=tuple(transition.id for transition in judged),
        targets=tuple(dict.fromkeys(transition.target for transition in judged)),
        commands=tuple(name for name in commands if judged or name != "go"),
        fields=tuple(dict.fromkeys(field.name for form in forms for field in form.fields)),
        rules=tuple(rule.id for rule in spec.guidelines if rule.enabled and rule.asks_model),
        is_worded=any(pathway.form and not pathway.pipeline for pathway in spec.pathways.values()),
    )


@cached(LRUCache[JourneySpec, "dict[str, Any]"](512), lock=Lock())
def schema_for(spec: JourneySpec) -> dict[str, Any]:
    """Return the JSON schema of an answer: one for the whole journey.

    It stands before all else that a model is given, so providers keep a request only as long as it
    is the same. What is not open now is dropped when the answer is read. Of rules, which may be
    many, only those that hold are named. The reply comes last, when all else is decided.
    """
    names = names_in(spec)
    answer: dict[str, Any] = {}
    if names.questions:
        answer["verdicts"] = _list_of(
            {
                "question": name_of(names.closed(names.questions)),
                "holds": {"type": "boolean"},
                "confidence": SHARE,
                "reason": _REASON,
            }
        )
    if names.commands:
        fields, targets = names.closed(names.fields), names.closed(names.targets)
        answer["commands"] = command_list(names.commands, fields, targets)
    if names.rules:
        rule = {
            "rule": name_of(names.closed(names.rules)),
            "confidence": SHARE,
            "reason": _REASON,
        }
        answer["rules_that_hold"] = _list_of(rule)
    if names.is_worded:
        fields = names.closed(names.fields)
        answer["asks"] = nullable(fields, "The field that the reply asks for; null: none.")
        answer["reply"] = _REPLY
    return _object(answer)


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
