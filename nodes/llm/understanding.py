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
from nodes.llm.form import Asking
from nodes.llm.form_prompt import form_told
from nodes.llm.models import UNDERSTANDING, Models
from nodes.llm.prompts import as_data, understanding
from nodes.llm.resting import resting
from nodes.llm.sifting import sifted
from nodes.llm.structured import Misfit
from nodes.llm.usage import Usage
from nodes.llm.verdicts import Understood, schema_for, understood_in
from nodes.state import Position
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
        candidates: The transitions that a model may judge now.
        guidelines: The guidelines that it is asked about.
        form: The form that is open, and what was asked of it.
    """

    spec: JourneySpec
    position: Position
    said: str
    message: str
    candidates: Sequence[TransitionSpec]
    guidelines: Sequence[GuidelineSpec] = ()
    form: Asking | None = None

    def data(self) -> dict[str, Any]:
        """Return what the model is given, as data."""
        stack = self.position["stack"]
        here = self.spec.pathways[self.position["pathway"]]
        given: dict[str, Any] = {
            "conversation": self.spec.part_of(here.id).purpose or self.spec.purpose,
            "it_stands_in": {"part": here.id, "purpose": here.purpose},
            "assistant_said_last": self.said,
            "question_still_open": stack[-1]["question"] if stack else None,
            "user_message": self.message,
        }
        if self.candidates:
            given["questions"] = [_question(transition) for transition in self.candidates]
        if self.guidelines:
            given["rules"] = [{"rule": g.id, "when": g.condition} for g in self.guidelines]
        if self.form:
            given["form"] = self.form.data()
        return given

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
    commands, dropped = sifted(answer.commands, config.intent_confidence_threshold)
    reply = None if dropped else answer.reply  # it answers what does not count as well
    answer = replace(answer, commands=commands, dropped=dropped, reply=reply)
    if ttl:
        models.cache[key] = (ttl, [_remembered(command) for command in answer.commands])
    return answer


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
    schema = schema_for(moment.candidates, moment.guidelines, moment.form)
    question = Question(messages, "understanding", schema, strict=True)
    until = asyncio.get_running_loop().time() + seconds
    answer = await ask(chat, question, until, usage)
    try:
        return understood_in(answer.text, moves=bool(moment.candidates), form=bool(moment.form))
    except Misfit as fault:
        raise ModelError("malformed", f"the model's verdicts cannot be read: {fault}") from fault


def _told(moment: Moment) -> str:
    targets = [transition.target for transition in moment.candidates]
    collecting = form_told(moment.form, targets) if moment.form else ""
    return understanding(moment.candidates, moment.guidelines, collecting)


def _remembered(command: Command) -> Command:
    """Return a command as it may be given in other sessions: without the words of this one."""
    if isinstance(command, Verdict):
        return Verdict(command.question, command.holds, "cache", command.confidence, CACHED)
    return replace(command, tier="cache") if isinstance(command, Go) else command
