"""Settle what a pathway gave: outputs checked and kept, the way on decided, the turn recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from journeys import JourneySpec, PathwayExecutionError, PathwaySpec
from nodes.call_tools import saved
from nodes.checking.scope import is_own_voice
from nodes.closing import closed
from nodes.consent import waiting
from nodes.context import Context, Op, apply_ops, checked, how_to_merge
from nodes.forms.attempts import by_field
from nodes.moves import note, pruned
from nodes.onward import onward
from nodes.parts import finished
from nodes.patterns import conclude
from nodes.patterns.reports import flags_of, leaves
from nodes.patterns.work import Conclusion, Work
from nodes.rewording import reworded
from nodes.services import Services
from nodes.state import PARTING, Output, Position, SessionState, Turn, Update
from nodes.talk import add_attempts
from nodes.talking import (
    attempts_in,
    gathered,
    grown,
    is_complete,
    is_idle,
    known_already,
    led_on,
    remembered,
    told,
)
from nodes.visits import overwritten, written_names, wrote


async def settle(state: SessionState, services: Services) -> Update:
    """Keep what the pathway gave, and decide whether the turn goes on or ends.

    Raises:
        ContextMergeError: An output does not fit its merge strategy.
        ContextSizeExceededError: The context would be too large.
        PathwayExecutionError: The pathway's pipeline came to nothing.
    """
    turn = state["turn"]
    if turn["run"] is None:
        return await _ended(state, services, turn)
    pathway = services.spec.pathways[turn["run"]]
    given: Mapping[str, Any] = state
    results: list[Output] = given.get("results") or []
    progress: Mapping[str, Any] = given.get("progress") or {}
    ended = _concluded(services, pathway, results, progress)
    ops = gathered(pathway, progress)
    ops += [["replace", name, value, pathway.id] for name, value in saved(pathway, progress)]
    ops += _accumulated(services.spec, pathway, ended.values)
    own = [name for name in written_names(ops) if name not in known_already(progress)]
    config = services.config
    context, pruning = checked(
        state["context"], ops, config.max_context_size_bytes, config.prunable
    )
    ops += [[*op, pathway.id] for op in pruning]
    asked = told(turn, progress)
    quiet = len(asked["replies"]) > len(turn["replies"]) or pathway.form is not None
    heard = _heard(asked, results, pathway, ended, ops, quiet=quiet)
    failed = [
        _failure(state["position"], result) for result in leaves(results) if "error" in result
    ]
    done = services.running.journal.unwritten() if services.running.journal else []
    heard["audit"] = [*heard["audit"], *done, *failed, *pruned(state["position"], pruning)]
    if is_own_voice(services.spec, services.texts, heard):
        heard["worded"] = [*range(len(heard["replies"]))]
    changes = turn["entered"] == "transition"
    position = wrote(services.spec, state["position"], pathway, own, changes=changes)
    position = waiting(position, leaves(results), turn["at"])
    update: Update = {"context": ops}
    if services.spec.converses:
        position, heard, update = _talked(services, state, pathway, context, heard, position, ops)
    else:
        position, heard = onward(services.spec, pathway, position, context, heard)
    position, heard, forgotten = finished(services.spec, pathway, position, context, heard)
    position = overwritten(position, written_names(forgotten))
    update["context"] = [*update["context"], *forgotten]
    _tell(services, turn, heard, results)
    if heard["run"]:
        services.emit({"type": "pathway", "pathway": heard["run"]})
    update |= {"position": position, "turn": heard}
    if heard["run"]:
        return update
    rest = update["context"][len(ops) :]  # what came before is in the context already
    context = apply_ops(context, rest) if rest else context
    return {**update, **await _ended(_after(state, update, context), services, heard)}


def _after(state: SessionState, update: Update, context: Context) -> SessionState:
    """Return the state as an update leaves it, with the context as that leaves it."""
    fields = add_attempts(state.get("fields", {}), update.get("fields", {}))
    return {**state, "context": context, "fields": fields, "position": update["position"]}


def _talked(
    services: Services,
    state: SessionState,
    pathway: PathwaySpec,
    context: Context,
    heard: Turn,
    position: Position,
    ops: list[Op],
) -> tuple[Position, Turn, Update]:
    """Lead the talk on in a journey that collects: what waited, what was interrupted."""
    given: Mapping[str, Any] = state
    progress: Mapping[str, Any] = given.get("progress") or {}
    attempts = attempts_in(progress)
    if "aside" in heard:
        heard = {**heard, "run": heard["aside"]}
        del heard["aside"]
        return position, heard, grown({"context": ops}, attempts)
    before = position
    position = remembered(position, progress)
    position, heard = onward(
        services.spec, pathway, position, context, heard, ended_well=not is_idle(progress)
    )
    if not is_complete(pathway, before, position):
        return position, heard, grown({"context": ops}, attempts)
    known: SessionState = {
        **state,
        "fields": add_attempts(state.get("fields", {}), by_field(attempts)),
    }
    position, heard, more, course = led_on(services, known, pathway, position, heard, context)
    return position, heard, grown({"context": [*ops, *more]}, attempts, course.attempts)


def _concluded(
    services: Services,
    pathway: PathwaySpec,
    results: list[Output],
    progress: Mapping[str, Any],
) -> Conclusion:
    """Return what the pathway's pipeline came to."""
    if pathway.pipeline is None or is_idle(progress):
        return Conclusion([result["values"] for result in results])
    ended = conclude(Work(pathway.pipeline, results, progress, services.registered))
    if ended.blame is not None:
        raise PathwayExecutionError(pathway.id, ended.blame, ended.error)
    return ended


def _failure(position: Position, result: Output) -> dict[str, Any]:
    return note("agent_failed", position, agent=result["agent"], reason=result["error"]["message"])


def _accumulated(
    spec: JourneySpec, pathway: PathwaySpec, values: Sequence[Mapping[str, Any]]
) -> list[Op]:
    journey = spec.part_of(pathway.id)
    names = set(pathway.accumulate) | journey.kept
    return [
        [how_to_merge(journey.strategies.get(name)), name, value, pathway.id]
        for given in values
        for name, value in given.items()
        if name in names
    ]


def _heard(
    turn: Turn,
    results: list[Output],
    pathway: PathwaySpec,
    ended: Conclusion,
    ops: list[Op],
    *,
    quiet: bool,
) -> Turn:
    """Write the hop into the record of the turn; one that may be quiet is not flagged for it."""
    said = [str(given["response"]) for given in ended.values if given.get("response")]
    flags = [*flags_of(results), *ended.report.get("flags", ())]
    if not said and not quiet:
        flags.append(f"no_reply:{pathway.id}")
    return {
        **turn,
        "ran": [*turn["ran"], pathway.id],
        "replies": [*turn["replies"], PARTING.join(said)] if said else turn["replies"],
        "ops": [*turn["ops"], *ops],
        "flags": list(dict.fromkeys([*turn["flags"], *flags])),
    }


def _tell(services: Services, turn: Turn, heard: Turn, results: list[Output]) -> None:
    """Let listeners hear the reply of this hop, unless they heard it while it was made."""
    news = heard["replies"][len(turn["replies"]) :]
    if any(result["streamed"] for result in results):
        return
    worded = heard.get("worded", [])
    for place, reply in enumerate(news, len(turn["replies"])):
        parting = PARTING if place else ""
        services.say(parting + reply, None if place in worded else heard["ran"][-1])


async def _ended(state: SessionState, services: Services, turn: Turn) -> Update:
    """Close the turn, unless its reply is checked first."""
    turn = await reworded(state, services, turn)
    if services.checks:
        return {"turn": turn}
    if services.holds and turn["replies"]:
        services.emit({"type": "token", "text": PARTING.join(turn["replies"])})
    return closed(services, state, turn)
