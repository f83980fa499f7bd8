"""Go where a message leads: now, later, or instead of what was begun."""

from __future__ import annotations

from typing import Any

from journeys import PathwaySpec, TransitionSpec
from journeys.notions.transitions import AlwaysTrigger
from journeys.spec.spec import MOVE
from nodes.draft import TurnDraft
from nodes.handoff.offer import effect_of
from nodes.repair.leaving import begin_anew, reset
from nodes.state.dialogue_state import Asked, Option
from nodes.state.stack import move
from nodes.steer import Limits, Steering

MOST_QUEUED = 5
"""Most moves that wait for the present pathway to be complete."""
_UNBLOCKED = ("condition", "always")
"""Tiers of moves that an author's code decides, which no pathway keeps from happening."""


def adopt(draft: TurnDraft, steering: Steering) -> None:
    """Take a decision over into the turn, and begin anew what is entered again."""
    paused = {frame["pathway"] for frame in draft.position["stack"]}
    was_settled = draft.settled
    _leave_journey(draft, steering)
    draft.adopt(steering)
    if not was_settled and steering.transition and steering.run:
        draft.ask(None)
        fired = steering.transition["id"]
        updates = [u for t in draft.spec.transitions if t.id == fired for u in t.updates]
        cleared = [update.target for update in updates if update.how == "clear"]
        if steering.run not in paused:
            begin_anew(draft, draft.spec.pathways[steering.run], cleared)
        for update in updates:
            if update.target not in cleared:
                draft.dialogue.forget(update.target)  # it has its value now


def _leave_journey(draft: TurnDraft, steering: Steering) -> None:
    """Take back what other journeys of a concierge have collected, and what one did before."""
    entered = draft.spec.active_in(steering.position["pathway"])
    if not draft.spec.parts or entered == draft.spec.active_in(draft.position["pathway"]):
        return
    finished = draft.dialogue.finished
    for pathway in draft.spec.pathways.values():
        if pathway.journey and (pathway.journey != entered or pathway.id in finished):
            reset(draft, pathway, "its journey was left")


def switch(draft: TurnDraft, steering: Steering, *, everything: bool) -> None:
    """Give up what was begun for something else; values that both need stay."""
    assert steering.transition is not None
    target = draft.spec.pathways[steering.transition["target"]]
    keep = {field.name for field in target.form.fields} if target.form else set()
    stack = draft.position["stack"]
    given_up = [draft.position["pathway"]]
    given_up += [frame["pathway"] for frame in reversed(stack)] if everything else []
    for id_ in given_up:
        draft.note("cancelled", to=id_, reason="given up for something else")
        reset(draft, draft.spec.pathways[id_], "cancelled", keep)
    draft.settled = False
    adopt(draft, steering)
    left = [frame for frame in draft.position["stack"] if frame["pathway"] not in given_up]
    draft.position = {**draft.position, "stack": left}


def is_blocked(draft: TurnDraft, steering: Steering) -> bool:
    """Say whether the pathway at hand is not to be interrupted now (T29)."""
    assert steering.transition is not None
    kinds = {t.id: t.kind for t in draft.spec.transitions}
    if steering.transition["tier"] in _UNBLOCKED or kinds.get(steering.transition["id"]) != MOVE:
        return False
    if draft.here.form is None or draft.sheet().is_closed:
        return False
    asked = draft.sheet().asked()
    at = asked["about"] if asked and asked["kind"] == "field" else ""
    return not interruptible(draft.here, at)


def interruptible(pathway: PathwaySpec, field: str) -> bool:
    """Say whether a pathway may be interrupted while it asks for a field."""
    if isinstance(pathway.interruptible, bool):
        return pathway.interruptible
    return field in pathway.interruptible


def postpone(
    draft: TurnDraft, steering: Steering | None, *, blocked: bool = False, queue: str = ""
) -> None:
    """Take a move as soon as the pathway at hand is complete."""
    id_ = queue or (steering.transition["id"] if steering and steering.transition else "")
    waiting = draft.dialogue.queued
    if id_ not in waiting and len(waiting) < MOST_QUEUED:
        draft.dialogue.queued = [*waiting, id_]
        draft.note("queued", trigger=id_)
    if steering is None:
        return
    if blocked:
        draft.note("blocked", trigger=id_)
        draft.repair("blocked", "blocked")
    draft.run, draft.entered, draft.settled = draft.here.id, "stay", True


def put_off(draft: TurnDraft, steering: Steering) -> None:
    """Say that a question has to wait, since too many tasks are paused; it counts as no failure."""
    draft.audit += steering.audit
    draft.flags += steering.flags
    draft.refused_depth = steering.refused_depth
    draft.say("too_deep")


def begun_already(draft: TurnDraft) -> bool:
    """Ask whether to go on with the task at hand or to begin it anew (T18)."""
    options = [Option(id=id_, label=draft.text(id_)) for id_ in ("go_on", "begin_anew")]
    draft.note("unclear", reason="the task is under way already")
    draft.repair("clarify", "restart", task=draft.here.title, options=draft.listed(options))
    draft.ask(Asked(kind="restart", about=draft.here.id, options=options))
    draft.rest()
    return True


def change_instead(draft: TurnDraft, limits: Limits) -> None:
    """Go to the pathway that changes what an effect did (T13)."""
    field = draft.field(draft.changing)
    used = effect_of(draft, field)
    if used is None or not used[1].change:
        return
    target = draft.spec.pathways[used[1].change]
    moved = move(draft.spec, draft.standing, way_to(target), limits.depth)
    if moved.refused_depth:
        draft.note("depth_refused", to=target.id, reason="asked for by the user")
        draft.refused_depth = moved.refused_depth
        draft.say("too_deep")
        draft.rest()
        return
    draft.note("changing", to=target.id, trigger=field.name)
    draft.position = moved.position
    draft.change(*moved.ops)
    draft.audit += moved.audit
    draft.ask(None)
    begin_anew(draft, target)
    draft.run, draft.entered, draft.settled = target.id, "transition", True


def way_to(pathway: PathwaySpec, **details: Any) -> TransitionSpec:
    """Return a move to a pathway that no author declared."""
    return TransitionSpec(f"to:{pathway.id}", AlwaysTrigger(), ("*",), pathway.id, **details)
