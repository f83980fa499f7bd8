"""Understand the message: what holds without a model, and where that leads."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from journeys import (
    AlwaysTrigger,
    BaseTrigger,
    ConditionTrigger,
    IntentTrigger,
    JourneySpec,
    MaxPathwayDepthError,
    PathwayNotFoundError,
    TransitionSpec,
)
from nodes.commands import Verdict
from nodes.context import Op, checked
from nodes.moves import Standing, pruned
from nodes.plain import copied, stamp, words_of
from nodes.services import Services
from nodes.state import Position, SessionState, Turn, Update, last_said
from nodes.steer import Limits, Steering, legal, steer, wants_model


async def understand(state: SessionState, services: Services) -> Update:
    """Decide what this turn runs.

    Raises:
        MaxPathwayDepthError: Under fail_fast, when a detour would exceed the depth limit.
        PathwayNotFoundError: The session stands in a pathway that this journey does not have.
    """
    position: Position = state.get("position") or beginning(services.spec)
    turn = _opened(state, position)
    if turn["kind"] != "turn" or turn["message"] is None:
        return {"position": _counted(position, turn), "turn": turn}
    _check_known(services.spec, position)
    standing = Standing(position, state["context"], last_said(state["messages"]), turn["number"])
    verdicts = await _verdicts(services, position, turn["message"], state["context"])
    limits = Limits(services.config.max_pathway_depth, services.config.intent_confidence_threshold)
    steering = steer(services.spec, standing, verdicts, limits)
    if steering.refused_depth and services.fails_fast:
        raise MaxPathwayDepthError(*steering.refused_depth)
    undecided = not any(v.holds for v in verdicts) and wants_model(services.spec, position)
    flags = ["model_not_configured"] if undecided else []
    return _update(services, state, {**turn, "flags": flags}, steering)


def _check_known(spec: JourneySpec, position: Position) -> None:
    """Refuse a position of another version of the journey, which may have had other pathways."""
    for pathway in (position["pathway"], *(frame["pathway"] for frame in position["stack"])):
        if pathway not in spec.reachable:
            raise PathwayNotFoundError(pathway, sorted(spec.reachable))


def beginning(spec: JourneySpec) -> Position:
    """Return the position in which a session begins: at the entry, with an empty stack."""
    return Position(
        journey=spec.id,
        version=spec.version,
        pathway=spec.entry,
        stack=[],
        returning=False,
        status="active",
        fired=[],
        failures=0,
    )


def new_turn(number: int, *, kind: Any = "turn", message: str | None = None) -> Turn:
    """Return the empty record of a turn."""
    return Turn(
        number=number,
        kind=kind,
        at=stamp(datetime.now(UTC)),
        message=message,
        begun_in="",
        run=None,
        entered="stay",
        moved=False,
        ran=[],
        replies=[],
        ops=[],
        audit=[],
        transition=None,
        flags=[],
        error=None,
        done=False,
    )


def _opened(state: SessionState, position: Position) -> Turn:
    """Return the turn that the manager opened; without a manager, as in Studio, open it here."""
    turn: Turn | None = state.get("turn")
    # One that was begun before is over: done, or left behind by a run that failed.
    if turn is None or turn["begun_in"]:
        turn = new_turn(turn["number"] + 1 if turn else 1, message=_unanswered(state))
    return {**turn, "begun_in": position["pathway"]}


def _unanswered(state: SessionState) -> str | None:
    """Return what the user said last, if nobody answered it yet."""
    messages = state["messages"]
    return messages[-1]["content"] if messages and messages[-1]["role"] == "user" else None


def _counted(position: Position, turn: Turn) -> Position:
    if turn["kind"] == "failure":
        return {**position, "failures": position["failures"] + 1}
    return position


async def _verdicts(
    services: Services, position: Position, message: str, context: Mapping[str, Any]
) -> list[Verdict]:
    """Answer every question that needs no model.

    Conditions are judged wherever the session stands, so that being seen false arms them again.
    """
    answered = services.matcher.match(message)
    open_now = legal(services.spec, position)
    conditions = [t for t in services.spec.transitions if t.is_condition]
    others = [t for t in open_now if _judges_itself(t.trigger)]
    intents = [t for t in open_now if t.id in answered and not _judges_itself(t.trigger)]
    # A judge gets a copy: what it does to the context must change nothing.
    context = copied(context) if conditions or others else {}
    verdicts = [await _evaluated(services, t, "condition", message, context) for t in conditions]
    verdicts += [Verdict(t.id, True, "pattern", reason=f"said '{answered[t.id]}'") for t in intents]
    for transition in others:
        tier = "always" if isinstance(transition.trigger, AlwaysTrigger) else "own"
        verdicts.append(await _evaluated(services, transition, tier, message, context))
    return verdicts


def _judges_itself(trigger: BaseTrigger) -> bool:
    """Whether it is an author's own, perhaps on the ground of an intent, or holds always."""
    by_pattern = type(trigger).evaluate is IntentTrigger.evaluate
    return not by_pattern and not isinstance(trigger, ConditionTrigger)


async def _evaluated(
    services: Services,
    transition: TransitionSpec,
    tier: str,
    message: str,
    context: Mapping[str, Any],
) -> Verdict:
    """Ask a trigger; one that raises, or takes longer than a pathway may, is false and says so."""
    try:
        async with asyncio.timeout(services.config.pathway_timeout_seconds):
            result = transition.trigger.evaluate(message, context)
            holds = bool(await result if inspect.isawaitable(result) else result)
    except Exception as error:
        return Verdict(transition.id, False, tier, error=words_of(error))
    reason = "became true" if isinstance(transition.trigger, ConditionTrigger) else tier
    return Verdict(transition.id, holds, tier, reason=reason)


def _update(services: Services, state: SessionState, turn: Turn, steering: Steering) -> Update:
    """Write the decision into the state; nothing of it if the context would not take it."""
    ops: list[Op] = [[*op, turn["begun_in"]] for op in steering.ops]
    config = services.config
    _, pruning = checked(state["context"], ops, config.max_context_size_bytes, config.prunable)
    ops += [[*op, turn["begun_in"]] for op in pruning]
    audit = [*turn["audit"], *steering.audit, *pruned(steering.position, pruning)]
    flags = list(turn["flags"])
    if any(event["kind"] == "condition_raised" for event in audit):
        flags.append("condition_raised")
    if steering.refused_depth:
        flags.append("depth_refused")
    said = getattr(config.texts, steering.say) if steering.say else ""
    heard: Turn = {
        **turn,
        "run": steering.run,
        "entered": steering.entered,
        "moved": steering.moved,
        "replies": [said] if said else [],
        "ops": ops,
        "audit": audit,
        "transition": steering.transition,
        "flags": flags,
    }
    _announce(services, heard)
    position: Position = {
        **steering.position,
        "version": services.spec.version,
        "failures": 0,
    }
    return {"position": position, "context": ops, "turn": heard}


def _announce(services: Services, turn: Turn) -> None:
    if fired := turn["transition"]:
        moved = {"from": fired["source"], "to": fired["target"], "intent": fired["intent"]}
        services.emit({"type": "transition", **moved})
    if turn["run"]:
        services.emit({"type": "pathway", "pathway": turn["run"]})
    for reply in turn["replies"]:
        services.emit({"type": "token", "text": reply})
