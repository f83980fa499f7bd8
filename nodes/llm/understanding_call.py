"""Understand a message by one call of a model: verdicts, commands of a form, rules that hold."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import orjson
from cachetools import LRUCache, cached

from journeygraph.journeys import (
    GuidelineSpec,
    IntentTrigger,
    JourneyConfig,
    JourneySpec,
    ModelError,
    TransitionSpec,
)
from journeygraph.nodes.commands import (
    Choose,
    Clear,
    Command,
    Correct,
    Deny,
    Explain,
    Fill,
    Go,
    Human,
    Noise,
    Verdict,
    command_name,
)
from journeygraph.nodes.journal import Usage
from journeygraph.nodes.json_data import MOST_WORDS, cleaned
from journeygraph.nodes.llm.call import Question, ask, limited
from journeygraph.nodes.llm.client import ChatClient
from journeygraph.nodes.llm.command_schema import (
    READ,
    SHARE,
    command_in,
    command_list,
    confidence_in,
    name_of,
    nullable,
    offered,
    targets_of,
    text_in,
)
from journeygraph.nodes.llm.form_prompt import Asking, form_instructions, form_told
from journeygraph.nodes.llm.models import UNDERSTANDING, Models
from journeygraph.nodes.llm.prompts import as_data, understanding
from journeygraph.nodes.llm.structured import SchemaMisfit, object_in
from journeygraph.nodes.state.interpretation import Dropped, Understood
from journeygraph.nodes.state.session import Position
from journeygraph.nodes.steer import allowed_transitions, asks_model, is_share
from journeygraph.nodes.telemetry import measure

_JUDGED_LATER = (Verdict, Go, Noise)
"""Commands whose confidence is judged where it is known what they lead to."""


def accepted_commands(
    commands: Sequence[Command], least: float
) -> tuple[list[Command], list[Dropped]]:
    """Return the commands that count, in their order, and what does not.

    A value needs no more than a confidence: whether it is enough depends on what was asked.

    Args:
        least: Least confidence of what is not a value.
    """
    kept: list[Command] = []
    dropped: list[Dropped] = []
    for command in commands:
        if isinstance(command, _JUDGED_LATER):
            kept.append(command)
        elif not is_share(sure := command.confidence):
            reason = "its confidence is not from 0 to 1"
            dropped.append(Dropped(command_name(type(command)), reason))
        elif sure < least and not isinstance(command, Fill):
            dropped.append(Dropped(command_name(type(command)), "confidence too low", sure))
        else:
            kept.append(command)
    return kept, dropped


def open_now(
    commands: Sequence[Command], candidates: Sequence[TransitionSpec], form: Asking | None
) -> tuple[list[Command], list[Dropped]]:
    """Return the commands that are open now, in their order, and those that are not.

    A model may name all parts of the journey, for the schema of its answer is the same in all of
    it. A verdict on a closed question that says no asks for nothing, and is passed by.
    """
    moment = _Moment(candidates, form)
    kept: list[Command] = []
    dropped: list[Dropped] = []
    for command in commands:
        if not (reason := moment.why_closed(command)):
            kept.append(command)
        elif not isinstance(command, Verdict) or command.holds:
            dropped.append(Dropped(command_name(type(command)), reason, is_open=False))
    return kept, dropped


class _Moment:
    """All that is open in a moment."""

    def __init__(self, candidates: Sequence[TransitionSpec], form: Asking | None) -> None:
        targets = [transition.target for transition in candidates]
        self._questions = {transition.id for transition in candidates}
        self._commands = set(offered(form, targets))
        self._fields = set(form.names) if form and form.is_asked else set()
        self._targets = set(targets_of(form, targets))

    def why_closed(self, command: Command) -> str:
        """Return why a command is not open; empty if it is."""
        if isinstance(command, Verdict):
            known = command.question in self._questions
            return "" if known else f"'{command.question:.80}' is not open here"
        if isinstance(command, (Fill, Correct, Clear, Explain)):
            return self._why_no_field(command)
        if command_name(type(command)) not in self._commands:
            return f"the command '{command_name(type(command))}' is not possible here"
        if isinstance(command, Go):
            target = command.target
        elif isinstance(command, (Choose, Deny)):
            target = command.option
        else:
            target = command.reason if isinstance(command, Human) else ""
        return "" if not target or target in self._targets else f"'{target:.80}' is not open here"

    def _why_no_field(self, command: Fill | Correct | Clear | Explain) -> str:
        if isinstance(command, Explain) and not command.field and "explain" in self._commands:
            return ""
        known = command.field in self._fields
        return "" if known else f"no field '{command.field:.80}' is open here"


_REASON: Mapping[str, Any] = {"type": "string", "description": "Why, in a few words."}
_REPLY: Mapping[str, Any] = {
    "anyOf": [{"type": "string"}, {"type": "null"}],
    "description": "The reply to the user.",
}

MOST_NAMES = 200
"""Most names of a journey that its schema lists; with more, a name is any text in it."""
MOST_REPLY = 4096
"""Longest reply, in characters; a longer one is not sent."""


@dataclass(frozen=True, slots=True)
class JourneyNames:
    """All that a model may name in a journey, at any position of the session.

    Attributes:
        questions: The transitions that a model may judge.
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


@cached(LRUCache[JourneySpec, JourneyNames](512), lock=Lock())
def names_in(spec: JourneySpec) -> JourneyNames:
    """Return what a model may name in a journey."""
    judged = [transition for transition in spec.transitions if asks_model(transition)]
    forms = [pathway.form for pathway in spec.pathways.values() if pathway.form]
    every = [name for name in READ if name != "ask" or spec.has_knowledge]
    commands = every if spec.uses_dialogue else ["human", "go"] if spec.can_escalate else ["go"]
    return JourneyNames(
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

    It is the first part of a request, so providers can cache a request only as long as it
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
    not of the schema fails the whole answer: half of a verdict must not move a session. A
    command that names what is not there is left for the steps to drop and audit.

    Raises:
        Misfit: The answer is not of the schema.
    """
    answer = object_in(text)
    verdicts: Any = answer.get("verdicts", None if moves else [])
    commands: Any = answer.get("commands", None if form else [])
    rules: Any = answer.get("rules_that_hold", [])
    for name, listed in (("verdicts", verdicts), ("commands", commands), ("rules", rules)):
        if not isinstance(listed, list):
            raise SchemaMisfit(f"it has no list of {name}")
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
        raise SchemaMisfit("a verdict must have a question, holds and a reason")
    words = cleaned(reason)[:MOST_WORDS]
    return Verdict(cleaned(question)[:MOST_WORDS], holds, "model", confidence_in(given), words)


def _fields(item: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(item, dict):
        raise SchemaMisfit(f"a {what} must be an object")
    return item


CACHED = "judged before, for the same message in the same situation"


@dataclass(frozen=True, slots=True)
class MessageSituation:
    """The situation of a message, for a model.

    The cache key is made of nothing else, so that what was judged in one moment never answers in
    another, and a verdict never carries anything of another session.

    Attributes:
        said: The last words of the assistant.
        candidates: The transitions that it is to judge.
        form: The form that is open, and what was asked of it.
        rules_here: The guidelines that it may be asked about in the current pathway;
            none where they are many.
    """

    spec: JourneySpec
    position: Position
    said: str
    message: str
    candidates: Sequence[TransitionSpec]
    guidelines: Sequence[GuidelineSpec] = ()
    form: Asking | None = None
    rules_here: Sequence[GuidelineSpec] = ()

    def data(self) -> dict[str, Any]:
        """Return what the model is given, as data: what changes least comes first.

        Providers keep the beginning that a request has in common with the one before.
        """
        here = self.spec.pathways[self.position["pathway"]]
        given: dict[str, Any] = {
            "conversation": self.spec.part_of(here.id).purpose or self.spec.purpose,
            "it_stands_in": {"part": here.id, "purpose": here.purpose},
        }
        judged = [t for t in allowed_transitions(self.spec, self.position) if asks_model(t)]
        if judged:
            given["questions"] = [_question(transition) for transition in judged]
        if self.rules_here:
            given["rules_here"] = [{"rule": g.id, "when": g.condition} for g in self.rules_here]
        if self.form:
            given["form"] = self.form.data()
        return {**given, **self._now()}

    def _now(self) -> dict[str, Any]:
        """Return what may be another in each turn."""
        stack = self.position["stack"]
        asks_form = self.form is not None and self.form.is_asked
        parts = {
            "verdicts": bool(self.candidates),
            "commands": bool(self.candidates) or asks_form,
            "rules_that_hold": bool(self.guidelines),
            "asks": asks_form and self.is_worded,
            "reply": asks_form and self.is_worded,
        }
        given: dict[str, Any] = {"give": [name for name, wanted in parts.items() if wanted]}
        if self.guidelines:
            given["rules"] = [self._rule(guideline) for guideline in self.guidelines]
        if asks_form:
            targets = [transition.target for transition in self.candidates]
            given["commands"] = offered(self.form, targets)
            given["form_now"] = self.form.now() if self.form else {}
        return {
            **given,
            "question_still_open": stack[-1]["question"] if stack else None,
            "assistant_said_last": self.said,
            "user_message": self.message,
        }

    @property
    def is_worded(self) -> bool:
        """Return whether a reply is wanted with it."""
        return self.form is not None and self.form.is_asked and self.form.worded

    def _rule(self, guideline: GuidelineSpec) -> dict[str, Any]:
        known = any(guideline.id == one.id for one in self.rules_here)
        return {"rule": guideline.id, **({} if known else {"when": guideline.condition})}

    def key(self, model: str) -> bytes:
        """Return what the moment is known by in the cache (DESIGN section 4, intent cache)."""
        place = [self.spec.id, self.spec.version, self.position["returning"], model]
        known = orjson.dumps([place, self.data()], option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(known).digest()


def _question(transition: TransitionSpec) -> dict[str, Any]:
    trigger = transition.trigger
    assert isinstance(trigger, IntentTrigger)
    return {
        "question": transition.id,
        "the_user": trigger.description or trigger.label,
        "examples": list(trigger.patterns),
        "leads_to": transition.target,
    }


async def understood(
    moment: MessageSituation,
    models: Models,
    config: JourneyConfig,
    usage: Usage,
    seconds: float | None = None,
) -> Understood:
    """Return what a model makes of a message: where it leads, which rules hold, what it fills in.

    If it is asked only about transitions, its earlier answer for the same situation is used; what
    holds of the rules, and what is meant for a form, is asked every time (DESIGN section 4,
    intent cache).

    Args:
        seconds: Longest wait, retries included; None takes `intent_timeout_seconds`.
    """
    chat = _chat_of(moment.candidates, models, config)
    key = moment.key(chat.called)
    ttl = 0.0 if moment.guidelines or moment.form else config.intent_cache_ttl_seconds
    if ttl:
        entry = models.cache.get(key)
        result = {"journeygraph.cache.result": "hit" if entry else "miss"}
        measure("journeygraph.cache.read", {"journeygraph.cache.name": "intent", **result})
        if entry:
            return Understood(list(entry[1]))
    limit = config.intent_timeout_seconds if seconds is None else seconds
    chat = limited(chat, config, config.intent_max_tokens)
    answer = await _asked(moment, chat, limit, usage)
    answer = _counting(answer, moment, config.intent_confidence_threshold)
    if ttl:
        models.cache[key] = (ttl, [_remembered(command) for command in answer.commands])
    return answer


def _counting(answer: Understood, moment: MessageSituation, least: float) -> Understood:
    """Return an answer without what is not open now, and without what a model is not sure of."""
    commands, closed = open_now(answer.commands, moment.candidates, moment.form)
    commands, unsure = accepted_commands(commands, least)
    if answer.reply and not moment.is_worded:
        closed.append(Dropped("reply", "no reply is asked for here", is_open=False))
    dropped = [*closed, *unsure]
    reply = None if dropped else answer.reply  # it answers what does not count as well
    return replace(answer, commands=commands, dropped=dropped, reply=reply)


def _chat_of(
    candidates: Sequence[TransitionSpec], models: Models, config: JourneyConfig
) -> ChatClient:
    """Return the model that all candidates agree on, else the config's: there is one call."""
    names = {getattr(transition.trigger, "llm_model", None) for transition in candidates}
    if len(names) == 1 and (name := names.pop()):
        return models.named(name)
    return models.step(config.intent_detection_model, UNDERSTANDING)


async def _asked(
    moment: MessageSituation, chat: ChatClient, seconds: float, usage: Usage
) -> Understood:
    messages = [
        {"role": "system", "content": _told(moment)},
        {"role": "user", "content": as_data(moment.data())},
    ]
    question = Question(messages, "understanding", schema_for(moment.spec), strict=True)
    until = asyncio.get_running_loop().time() + seconds
    answer = await ask(chat, question, until, usage)
    try:
        asks_form = moment.form is not None and moment.form.is_asked
        return understood_in(answer.text, moves=bool(moment.candidates), form=asks_form)
    except SchemaMisfit as fault:
        raise ModelError("malformed", f"the model's verdicts cannot be read: {fault}") from fault


def _told(moment: MessageSituation) -> str:
    names = names_in(moment.spec)
    return understanding(
        moves=bool(names.questions),
        rules=bool(names.rules),
        form=form_told(names.commands) if {*names.commands} - {"go"} else "",
        here=form_instructions(moment.form) if moment.form else "",
    )


def _remembered(command: Command) -> Command:
    """Return a command as it may be given in other sessions: without the words of this one."""
    if isinstance(command, Verdict):
        return Verdict(command.question, command.holds, "cache", command.confidence, CACHED)
    return replace(command, tier="cache") if isinstance(command, Go) else command
