"""The one call that understands a message: every open question in, verdicts and commands out."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from journeys import (
    GuidelineSpec,
    IntentTrigger,
    JourneyConfig,
    JourneySpec,
    ModelError,
    TransitionSpec,
)
from nodes.commands import Command, Go, Verdict
from nodes.llm.asking import Question, ask
from nodes.llm.chat import Chat
from nodes.llm.command_schema import offered
from nodes.llm.form import Asking
from nodes.llm.form_prompt import form_told, here_told
from nodes.llm.models import UNDERSTANDING, Models
from nodes.llm.prompts import as_data, understanding
from nodes.llm.resting import resting
from nodes.llm.sifting import Dropped, open_now, sifted
from nodes.llm.structured import Misfit
from nodes.llm.usage import Usage
from nodes.llm.verdicts import Understood, names_in, schema_for, understood_in
from nodes.state import Position
from nodes.steer import asks_model, legal
from nodes.telemetry import cache_read

CACHED = "judged before, of the same message at the same point"


@dataclass(frozen=True, slots=True)
class Moment:
    """All that a model is told of the moment in which a message came.

    The cache key is made of nothing else, so that what was judged in one moment never answers in
    another, and a verdict never carries anything of another session.

    Attributes:
        spec: The journey.
        position: Where the session stands.
        said: What the assistant said last.
        message: What the user says.
        candidates: The transitions that it is to judge.
        guidelines: The guidelines that it is asked about.
        form: The form that is open, and what was asked of it.
        rules_here: The guidelines that it may be asked about as long as the session stands here;
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
        judged = [t for t in legal(self.spec, self.position) if asks_model(t)]
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
        """Whether a reply is wanted with it."""
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
    moment: Moment,
    models: Models,
    config: JourneyConfig,
    usage: Usage,
    seconds: float | None = None,
) -> Understood:
    """Return what a model makes of a message: where it leads, which rules hold, what it fills in.

    Where it is asked for the way alone, what it said before of the same moment is an answer; what
    holds of the rules, and what is meant for a form, is asked anew every time (DESIGN section 4,
    intent cache).

    Args:
        moment: What is asked.
        models: The models of the journey.
        config: Its settings.
        usage: Counts the call.
        seconds: Longest wait, retries included; None takes `intent_timeout_seconds`.

    Raises:
        ModelError: There is no usable answer in time.
    """
    chat = _chat_of(moment.candidates, models, config)
    key = moment.key(chat.called)
    ttl = 0.0 if moment.guidelines or moment.form else config.intent_cache_ttl_seconds
    if ttl:
        entry = models.cache.get(key)
        cache_read("intent", hit=entry is not None)
        if entry:
            return Understood(list(entry[1]))
    limit = config.intent_timeout_seconds if seconds is None else seconds
    answer = await _asked(moment, resting(chat, config), limit, usage)
    answer = _counting(answer, moment, config.intent_confidence_threshold)
    if ttl:
        models.cache[key] = (ttl, [_remembered(command) for command in answer.commands])
    return answer


def _counting(answer: Understood, moment: Moment, least: float) -> Understood:
    """Return an answer without what is not open now, and without what a model is not sure of."""
    commands, closed = open_now(answer.commands, moment.candidates, moment.form)
    commands, unsure = sifted(commands, least)
    if answer.reply and not moment.is_worded:
        closed.append(Dropped("reply", "no reply is asked for here", is_open=False))
    dropped = [*closed, *unsure]
    reply = None if dropped else answer.reply  # it answers what does not count as well
    return replace(answer, commands=commands, dropped=dropped, reply=reply)


def _chat_of(candidates: Sequence[TransitionSpec], models: Models, config: JourneyConfig) -> Chat:
    """Return the model that all candidates agree on, else the config's: there is one call."""
    names = {getattr(transition.trigger, "llm_model", None) for transition in candidates}
    if len(names) == 1 and (name := names.pop()):
        return models.named(name)
    return models.step(config.intent_detection_model, UNDERSTANDING)


async def _asked(moment: Moment, chat: Chat, seconds: float, usage: Usage) -> Understood:
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
    except Misfit as fault:
        raise ModelError("malformed", f"the model's verdicts cannot be read: {fault}") from fault


def _told(moment: Moment) -> str:
    names = names_in(moment.spec)
    return understanding(
        moves=bool(names.questions),
        rules=bool(names.rules),
        form=form_told(names.commands) if {*names.commands} - {"go"} else "",
        here=here_told(moment.form) if moment.form else "",
    )


def _remembered(command: Command) -> Command:
    """Return a command as it may be given in other sessions: without the words of this one."""
    if isinstance(command, Verdict):
        return Verdict(command.question, command.holds, "cache", command.confidence, CACHED)
    return replace(command, tier="cache") if isinstance(command, Go) else command
