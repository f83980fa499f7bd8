"""Ask a model about a message: where it leads, which guidelines hold, what is filled."""

from __future__ import annotations

import asyncio
import logging

from journeygraph.journeys import ModelError
from journeygraph.nodes.draft import TurnDraft
from journeygraph.nodes.features.guidance import BYPASSED, bypassed, judged, rules_here
from journeygraph.nodes.journal import Usage
from journeygraph.nodes.llm.call import seconds_for, spent
from journeygraph.nodes.llm.understanding_call import MessageSituation, understood
from journeygraph.nodes.state.interpretation import Interpretation, Understood
from journeygraph.nodes.state.session import Position
from journeygraph.nodes.state.stack import note
from journeygraph.nodes.steer import OUTSIDE, UNSURE
from journeygraph.nodes.telemetry import report
from journeygraph.nodes.turn.speculate import may_speculate, speculate

_MOST_TOLD = 20
"""Most commands that do not count which the audit of a turn names."""


async def ask_model(draft: TurnDraft, reading: Interpretation) -> None:
    """Put all that is open to a model: where to go, which guidelines hold, what is filled.

    The agent that answers if nothing moves is asked meanwhile. Without an answer the turn continues
    as it is, under the guidelines that need no model.
    """
    services, config = draft.services, draft.services.config
    turn, position = draft.turn, reading.position
    assert services.models is not None
    moment = MessageSituation(
        services.spec,
        position,
        draft.question,
        draft.message,
        reading.questions,
        reading.guideline_candidates.asked,
        reading.form,
        rules_here(draft.spec, position, config.guideline_candidates),
    )
    begun = asyncio.get_running_loop().time()
    seconds = seconds_for(turn, config, config.intent_timeout_seconds)
    usage = services.usage or Usage()
    if may_speculate(services):
        speculate(draft, reading)
    try:
        answer = await understood(moment, services.models, config, usage, seconds)
    except ModelError as failure:
        event = note("model_failed", position, trigger="understanding", reason=str(failure))
        turn["audit"].append(event)
        turn["flags"].append(f"understanding_failed:{failure.kind}")
        draft.turn = spent(turn, begun)
        if reading.guideline_candidates.asked:
            report(logging.WARNING, BYPASSED, kind=failure.kind)
            reading.guideline_candidates = bypassed(reading.guideline_candidates)
        return
    draft.turn = spent(turn, begun)
    _note_doubts(draft, answer, position)
    least = config.guideline_confidence_threshold
    reading.guideline_candidates = judged(
        reading.guideline_candidates, answer.guidelines, position, least
    )
    reading.answer = answer


def _note_doubts(draft: TurnDraft, answer: Understood, position: Position) -> None:
    draft.turn["flags"] += dict.fromkeys(UNSURE if d.is_open else OUTSIDE for d in answer.dropped)
    draft.turn["audit"] += [
        note("dropped", position, trigger=d.command, reason=d.reason, confidence=d.confidence)
        for d in answer.dropped[:_MOST_TOLD]
    ]
    if len(answer.dropped) > _MOST_TOLD:
        reason = f"{len(answer.dropped) - _MOST_TOLD} more commands were ignored"
        draft.turn["audit"].append(note("dropped", position, reason=reason))
