"""Write what was decided into the state, and let listeners know."""

from __future__ import annotations

from collections.abc import Sequence

from nodes.context import Op, checked
from nodes.moves import pruned
from nodes.parts import dated
from nodes.services import Services
from nodes.state import PARTING, Position, SessionState, Turn, Update
from nodes.steer import Steering


def written(
    services: Services,
    state: SessionState,
    turn: Turn,
    steering: Steering,
    words: Sequence[str],
) -> Update:
    """Write a decision into the state; nothing of it if the context would not take it.

    Args:
        services: What the turn works with.
        state: The state in which it began.
        turn: Its record.
        steering: What was decided.
        words: What the runtime says before anything runs.

    Raises:
        ContextSizeExceededError: The context would be too large.
    """
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
    heard: Turn = {
        **turn,
        "run": steering.run,
        "entered": steering.entered,
        "moved": steering.moved,
        "replies": list(words),
        "ops": ops,
        "audit": audit,
        "transition": steering.transition,
        "judged": steering.judged,
        "flags": flags,
        "near": list(steering.near),
    }
    if words and not turn.get("asks"):  # else a model worded them
        heard["worded"] = list(range(len(words)))
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
    for place, reply in enumerate(turn["replies"]):
        services.say(PARTING + reply if place else reply)
