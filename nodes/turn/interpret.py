"""Interpret a message: free triggers, what features read in it, and at most one model call."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from journeys import ModelError
from nodes.draft import Reading, TurnDraft
from nodes.features.guidance import BYPASSED, bypassed, judged, rules_here
from nodes.llm.call import seconds_for, spent
from nodes.llm.client import Usage
from nodes.llm.understand import Moment, Understood, understood
from nodes.state.session import Position
from nodes.state.stack import note
from nodes.steer import OUTSIDE, UNSURE, unsettled
from nodes.telemetry import report
from nodes.turn.speculate import may_speculate, speculate
from nodes.turn.triggers import free_verdicts, wanted

if TYPE_CHECKING:
    from nodes.turn.features import Features

_MOST_TOLD = 20
"""Most commands that do not count which the audit of a turn names."""


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
