"""Interpret a message: free triggers, what features read in it, and at most one model call."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from journeys import ModelError, TransitionSpec
from nodes.commands import Command, Verdict
from nodes.draft import TurnDraft
from nodes.guidance import BYPASSED, Weighed, bypassed, judged, rules_here
from nodes.language import Parse
from nodes.llm.budget import seconds_for, spent
from nodes.llm.form import Asking
from nodes.llm.understanding import Moment, understood
from nodes.llm.usage import Usage
from nodes.llm.verdicts import Understood
from nodes.moves import note
from nodes.speculating import may_speculate, speculate
from nodes.state import Position
from nodes.steer import OUTSIDE, UNSURE, unsettled
from nodes.telemetry import report
from nodes.triggers import free_verdicts, wanted

if TYPE_CHECKING:
    from nodes.features import Features

_MOST_TOLD = 20
"""Most commands that do not count which the audit of a turn names."""
_NOT_READ, _NOTHING_WEIGHED, _NO_ANSWER = Parse(), Weighed(), Understood()


@dataclass(slots=True)
class Reading:
    """What is known of a message before anything is decided.

    Attributes:
        position: Where the session stood when the message was read.
        parse: What it says of fields and of the dialogue, without a model.
        welcomed: How many replies were given to a user who comes back after a pause.
        is_certain: Whether no model is to be asked what else it may mean.
        verdicts: Which triggers hold, without a model.
        doubted: Patterns that contradict each other, which count only if no model answers.
        questions: Transitions that a model may judge.
        weighed: Guidelines that may hold.
        form: What a model is told of the form that is open; None: nothing.
        answer: What a model said.
    """

    position: Position
    parse: Parse = _NOT_READ
    is_certain: bool = False
    welcomed: int = 0
    verdicts: list[Verdict] = field(default_factory=list)
    doubted: list[Verdict] = field(default_factory=list)
    questions: list[TransitionSpec] = field(default_factory=list)
    weighed: Weighed = _NOTHING_WEIGHED
    form: Asking | None = None
    answer: Understood = _NO_ANSWER

    @property
    def is_read(self) -> bool:
        """Whether the dialogue has read the message."""
        return self.parse is not _NOT_READ

    @property
    def is_open(self) -> bool:
        """Whether there is anything to ask a model."""
        return bool(self.questions or self.weighed.asked or self.asks_form)

    @property
    def asks_form(self) -> bool:
        """Whether a model is to say what the message makes of the form."""
        return self.form is not None and self.form.is_asked

    @property
    def has_answer(self) -> bool:
        """Whether a model said what the message makes of the form."""
        return self.asks_form and self.answer != _NO_ANSWER

    @property
    def commands(self) -> list[Command]:
        """What triggers and a model made of the message."""
        return [*self.verdicts, *self.answer.commands]


async def interpret(draft: TurnDraft, features: Features) -> Reading:
    """Return what is known of the message of a turn."""
    reading = Reading(draft.position)
    for read in features.reads:
        await read(draft, reading)
    services, message = draft.services, draft.message
    verdicts = await free_verdicts(services, reading.position, message, draft.began)
    reading.verdicts = await wanted(verdicts, message, services, draft)
    for weigh in features.weighs:
        await weigh(draft, reading)
    if not reading.is_certain:
        reading.questions = unsettled(draft.spec, reading.position, reading.verdicts)
    for ask in features.asks:
        await ask(draft, reading)
    may_ask_ahead = services.models is not None and may_speculate(services)
    if reading.is_open:
        await _ask_model(draft, reading, may_ask_ahead=may_ask_ahead)
    if not reading.has_answer:
        reading.verdicts = [*reading.doubted, *reading.verdicts]
    return reading


async def _ask_model(draft: TurnDraft, reading: Reading, *, may_ask_ahead: bool) -> None:
    """Put all that is open to a model: where to go, which guidelines hold, what is filled.

    The agent that answers if nothing moves is asked meanwhile. Without an answer the turn goes on
    as it is, under the guidelines that need no model.
    """
    services, config = draft.services, draft.services.config
    turn, position = draft.turn, reading.position
    if services.models is None:
        turn["flags"].append("model_not_configured")
        return
    moment = Moment(
        services.spec,
        position,
        draft.question,
        draft.message,
        reading.questions,
        reading.weighed.asked,
        reading.form,
        rules_here(draft.spec, position, config.guideline_candidates),
    )
    begun = asyncio.get_running_loop().time()
    seconds = seconds_for(turn, config, config.intent_timeout_seconds)
    usage = services.usage or Usage()
    if may_ask_ahead:
        speculate(draft, reading)
    try:
        answer = await understood(moment, services.models, config, usage, seconds)
    except ModelError as failure:
        event = note("model_failed", position, trigger="understanding", reason=str(failure))
        turn["audit"].append(event)
        turn["flags"].append(f"understanding_failed:{failure.kind}")
        draft.turn = spent(turn, begun)
        if reading.weighed.asked:
            report(logging.WARNING, BYPASSED, kind=failure.kind)
            reading.weighed = bypassed(reading.weighed)
        return
    draft.turn = spent(turn, begun)
    _note_doubts(draft, answer, position)
    least = config.guideline_confidence_threshold
    reading.weighed = judged(reading.weighed, answer.guidelines, position, least)
    reading.answer = answer


def _note_doubts(draft: TurnDraft, answer: Understood, position: Position) -> None:
    """Audit the commands of a model that are not open now, or that it was not sure enough of."""
    draft.turn["flags"] += dict.fromkeys(UNSURE if d.is_open else OUTSIDE for d in answer.dropped)
    draft.turn["audit"] += [
        note("dropped", position, trigger=d.command, reason=d.reason, confidence=d.confidence)
        for d in answer.dropped[:_MOST_TOLD]
    ]
    if len(answer.dropped) > _MOST_TOLD:
        reason = f"{len(answer.dropped) - _MOST_TOLD} more commands do not count"
        draft.turn["audit"].append(note("dropped", position, reason=reason))
