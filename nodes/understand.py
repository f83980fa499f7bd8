"""Understand the message: what holds, asked of a model only if it must be, and where that leads."""

from __future__ import annotations

import asyncio

from journeys import MaxPathwayDepthError
from nodes.asking import ask_model, guided, weighed_for
from nodes.consent import asked_before, before_a_pause
from nodes.conversing import converse
from nodes.greeting import greeted
from nodes.hearing import is_loaded, load
from nodes.limits import limits_of
from nodes.messages import last_said
from nodes.moves import Standing, note
from nodes.opening import beginning, check_known, counted, migrated, opened
from nodes.services import Services
from nodes.state import Position, SessionState, Turn, Update
from nodes.steer import steer, unsettled
from nodes.triggers import free_verdicts
from nodes.with_person import with_person
from nodes.writing import written


async def understand(state: SessionState, services: Services) -> Update:
    """Decide what this turn runs.

    Raises:
        MaxPathwayDepthError: Under fail_fast, when a detour would exceed the depth limit.
        PathwayNotFoundError: The session stands in a pathway that this journey does not have.
    """
    position = migrated(
        services.spec, state.get("position") or beginning(services.spec, state.get("turn"))
    )
    turn = opened(state, position)
    await _ready_to_hear(services, position)
    held = with_person(services, state, position, turn)
    if held is not None:
        return held
    if turn["kind"] == "start":
        return greeted(state, services, turn, position)
    if turn["kind"] != "turn" or turn["message"] is None:
        return {"position": counted(position, turn), "turn": turn}
    check_known(services.spec, position)
    position, asked_about = asked_before(position)
    old = before_a_pause(asked_about, turn["at"], services.config.resume_after_seconds)
    turn["asked"] = [call for call in asked_about if call not in old]
    for call in old:
        reason = "the user was asked about it before a pause"
        turn["audit"].append(note("dropped", position, trigger=call["tool"], reason=reason))
    if services.spec.converses:
        return await converse(state, services, turn, position)
    return await _led(state, services, turn, position)


async def _ready_to_hear(services: Services, position: Position) -> None:
    """Load the language of a session that brought its own, which would hold up all others."""
    if not services.spec.converses or services.locale.language is None:
        return
    language = services.locale_in(position["pathway"]).language or "en"
    if not is_loaded(language):
        await asyncio.to_thread(load, language)


async def _led(state: SessionState, services: Services, turn: Turn, position: Position) -> Update:
    """Decide where a message leads in a journey that collects nothing by itself."""
    standing = Standing(position, state["context"], last_said(state["messages"]), turn["number"])
    free = await free_verdicts(services, position, turn["message"] or "", state["context"])
    questions = unsettled(services.spec, position, free)
    limits = limits_of(services.config)
    weighed = await weighed_for(services, standing, turn, free, questions, limits)
    turn, answer, weighed = await ask_model(services, standing, turn, questions, weighed)
    steering = steer(services.spec, standing, [*free, *answer.commands], limits)
    if steering.refused_depth and services.fails_fast:
        raise MaxPathwayDepthError(*steering.refused_depth)
    turn = guided(services.spec, turn, weighed, steering.run, steering.position)
    said = getattr(services.texts_in(turn["begun_in"]), steering.say) if steering.say else ""
    return written(services, state, turn, steering, [said] if said else [])
