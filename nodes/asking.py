"""Put the open questions of a turn to a model, in one call, and write down which rules hold."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from journeys import JourneySpec, ModelError, TransitionSpec
from nodes.commands import Verdict
from nodes.guidance import BYPASSED, Weighed, bypassed, guidance_of, judged, places_of, weigh
from nodes.limits import Limits
from nodes.llm.budget import seconds_for, spent
from nodes.llm.form import Asking
from nodes.llm.understanding import Moment, understood
from nodes.llm.usage import Usage
from nodes.llm.verdicts import Understood
from nodes.moves import Standing, note
from nodes.services import Services
from nodes.state import Position, Turn
from nodes.steer import UNSURE, steer
from nodes.telemetry import report


async def weighed_for(
    services: Services,
    standing: Standing,
    turn: Turn,
    free: Sequence[Verdict],
    questions: Sequence[TransitionSpec],
    limits: Limits,
) -> Weighed:
    """Find the guidelines that may hold wherever this turn can still lead."""
    if not services.spec.guidelines:
        return Weighed()
    likely = steer(services.spec, standing, free, limits).run
    targets = {transition.target for transition in questions} | ({likely} if likely else set())
    places = places_of(services.spec, targets)
    message = turn["message"] or ""
    return await weigh(services, standing, message, places, anyway=bool(questions))


async def ask_model(
    services: Services,
    standing: Standing,
    turn: Turn,
    questions: Sequence[TransitionSpec],
    weighed: Weighed,
    form: Asking | None = None,
) -> tuple[Turn, Understood, Weighed]:
    """Put to a model, in one call, all that is open: where to go, which rules hold, what is filled.

    Without an answer the turn goes on as it is, under the rules that need no model.
    """
    spec, position, config = services.spec, standing.position, services.config
    if not questions and not weighed.asked and form is None:
        return turn, Understood(), weighed
    if services.models is None:
        return {**turn, "flags": [*turn["flags"], "model_not_configured"]}, Understood(), weighed
    message = turn["message"] or ""
    moment = Moment(spec, position, standing.question, message, questions, weighed.asked, form)
    begun = asyncio.get_running_loop().time()
    seconds = seconds_for(turn, config, config.intent_timeout_seconds)
    try:
        usage = services.usage or Usage()
        answer = await understood(moment, services.models, config, usage, seconds)
    except ModelError as failure:
        event = note("model_failed", position, trigger="understanding", reason=str(failure))
        flag = f"understanding_failed:{failure.kind}"
        turn = {**turn, "flags": [*turn["flags"], flag], "audit": [*turn["audit"], event]}
        if weighed.asked:
            report(logging.WARNING, BYPASSED, kind=failure.kind)
            weighed = bypassed(weighed)
        return spent(turn, begun), Understood(), weighed
    turn = _doubted(spent(turn, begun), answer, position)
    least = config.guideline_confidence_threshold
    return turn, answer, judged(weighed, answer.guidelines, position, least)


def _doubted(turn: Turn, answer: Understood, position: Position) -> Turn:
    """Audit the commands that a model was not sure enough of."""
    if not answer.dropped:
        return turn
    rows = [
        note("dropped", position, trigger=d.command, reason=d.reason, confidence=d.confidence)
        for d in answer.dropped
    ]
    return {**turn, "flags": [*turn["flags"], UNSURE], "audit": [*turn["audit"], *rows]}


def guided(
    spec: JourneySpec, turn: Turn, weighed: Weighed, run: str | None, position: Position
) -> Turn:
    """Write into the turn which guidelines hold where it leads."""
    if not spec.guidelines:
        return turn
    places = places_of(spec, [run] if run else [])
    found = guidance_of(spec, weighed, position, places)
    return {
        **turn,
        "guidelines": found.guidelines,
        "audit": [*turn["audit"], *found.audit],
        "flags": [*turn["flags"], *found.flags],
    }
