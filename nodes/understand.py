"""Understand the message: what holds, asked of a model only if it must be, and where that leads."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import Any

from journeys import (
    JourneyConfig,
    JourneySpec,
    MaxPathwayDepthError,
    ModelError,
    PathwayNotFoundError,
    TransitionSpec,
)
from nodes.commands import Command, Verdict
from nodes.consent import asked_before
from nodes.context import Op, checked
from nodes.guidance import Weighed, bypassed, guidance_of, judged, places_of, watched, weigh
from nodes.llm.understanding import Moment, understood
from nodes.llm.usage import Usage
from nodes.messages import last_said
from nodes.moves import Standing, note, pruned
from nodes.parts import dated
from nodes.plain import stamp
from nodes.services import Services
from nodes.state import Position, SessionState, Turn, Update
from nodes.steer import Limits, Steering, steer, unsettled
from nodes.triggers import free_verdicts


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
    position, asked_about = asked_before(position)
    turn["asked"] = asked_about
    standing = Standing(position, state["context"], last_said(state["messages"]), turn["number"])
    free = await free_verdicts(services, position, turn["message"], state["context"])
    questions = unsettled(services.spec, position, free)
    limits = _limits(services.config)
    weighed = await _weighed(services, standing, turn, free, questions, limits)
    turn, asked, weighed = await _asked(services, standing, turn, questions, weighed)
    steering = steer(services.spec, standing, [*free, *asked], limits)
    if steering.refused_depth and services.fails_fast:
        raise MaxPathwayDepthError(*steering.refused_depth)
    return _update(services, state, _guided(services.spec, turn, weighed, steering), steering)


async def _weighed(
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


async def _asked(
    services: Services,
    standing: Standing,
    turn: Turn,
    questions: Sequence[TransitionSpec],
    weighed: Weighed,
) -> tuple[Turn, list[Command], Weighed]:
    """Put to a model, in one call, where to go if no free trigger settled it, and which rules hold.

    Without an answer the turn goes on as it is, under the rules that need no model.
    """
    spec, position, config = services.spec, standing.position, services.config
    if not questions and not weighed.asked:
        return turn, [], weighed
    if services.models is None:
        return {**turn, "flags": ["model_not_configured"]}, [], weighed
    message = turn["message"] or ""
    moment = Moment(spec, position, standing.question, message, questions, weighed.asked)
    try:
        with watched(spec, config) if weighed.asked else nullcontext():
            usage = services.usage or Usage()
            answer = await understood(moment, services.models, config, usage)
    except ModelError as failure:
        event = note("model_failed", position, trigger="understanding", reason=str(failure))
        flag = f"understanding_failed:{failure.kind}"
        turn = {**turn, "flags": [flag], "audit": [*turn["audit"], event]}
        return turn, [], bypassed(weighed) if weighed.asked else weighed
    least = config.guideline_confidence_threshold
    return turn, answer.commands, judged(weighed, answer.guidelines, position, least)


def _guided(spec: JourneySpec, turn: Turn, weighed: Weighed, steering: Steering) -> Turn:
    """Write into the turn which guidelines hold where it leads."""
    if not spec.guidelines:
        return turn
    places = places_of(spec, [steering.run] if steering.run else [])
    found = guidance_of(spec, weighed, steering.position, places)
    return {
        **turn,
        "guidelines": found.guidelines,
        "audit": [*turn["audit"], *found.audit],
        "flags": [*turn["flags"], *found.flags],
    }


def _limits(config: JourneyConfig) -> Limits:
    sure, starts = config.intent_confidence_threshold, config.activation_confidence_threshold
    return Limits(config.max_pathway_depth, sure, starts)


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
        judged=None,
        usage=None,
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
        # What the user was asked about may have been done by the turn that failed.
        emptied, _ = asked_before(position)
        return {**emptied, "failures": position["failures"] + 1}
    return position


def _update(services: Services, state: SessionState, turn: Turn, steering: Steering) -> Update:
    """Write the decision into the state; nothing of it if the context would not take it."""
    ops: list[Op] = [[*op, turn["begun_in"]] for op in steering.ops]
    config = services.config
    _, pruning = checked(state["context"], ops, config.max_context_size_bytes, config.prunable)
    ops += [[*op, turn["begun_in"]] for op in pruning]
    audit = [*turn["audit"], *steering.audit, *pruned(steering.position, pruning)]
    flags = [*turn["flags"], *steering.flags]
    if any(event["kind"] == "condition_raised" for event in audit):
        flags.append("condition_raised")
    if steering.refused_depth:
        flags.append("depth_refused")
    texts = services.texts_in(turn["begun_in"])
    said = getattr(texts, steering.say) if steering.say else ""
    heard: Turn = {
        **turn,
        "run": steering.run,
        "entered": steering.entered,
        "moved": steering.moved,
        "replies": [said] if said else [],
        "ops": ops,
        "audit": audit,
        "transition": steering.transition,
        "judged": steering.judged,
        "flags": flags,
        "near": list(steering.near),
    }
    if said:
        heard["worded"] = [0]
    _announce(services, heard)
    position: Position = {
        **dated(services.spec, steering.position, turn),
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
        services.say(reply)
