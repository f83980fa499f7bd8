"""Understand a message: interpret it, decide where it leads, and draft the turn."""

from __future__ import annotations

from datetime import datetime, timedelta

from journeys import MaxPathwayDepthError
from nodes.draft import Reading, TurnDraft, check_known, open_draft
from nodes.features.greeting import greet
from nodes.services import Services
from nodes.state.session import Position, SessionState, Update
from nodes.state.stack import note
from nodes.steer import limits_of, steer
from nodes.turn.features import Features
from nodes.turn.interpret import interpret
from nodes.turn.upgrade import has_moved


async def understand(state: SessionState, services: Services, features: Features) -> Update:
    """Decide what this turn runs.

    Raises:
        ContextSizeExceededError: The context would be too large.
        MaxPathwayDepthError: Under fail_fast, when a detour would exceed the depth limit.
        PathwayNotFoundError: The session stands in a pathway that this version never had.
    """
    draft = open_draft(state, services)
    for hold in features.holds:
        if (held := await hold(draft)) is not None:
            return held
    if draft.turn["kind"] != "turn" or draft.turn["message"] is None:
        if draft.turn["kind"] == "start":
            greet(draft)
        return draft.undecided()
    if await _is_stopped(draft, features):
        return draft.update()
    reading = await interpret(draft, features)
    await _decide(draft, reading, features)
    _check_ahead(draft)
    for complete in features.completes:
        complete(draft, reading)
    return draft.update()


async def _is_stopped(draft: TurnDraft, features: Features) -> bool:
    """Return whether the turn is decided before its message is interpreted."""
    if draft.position["version"] == draft.spec.version:
        check_known(draft.spec, draft.position)
    elif await has_moved(draft):
        return True
    if "pending" in draft.position:
        _take_pending(draft)
    return any(stop(draft) for stop in features.stops)


def _check_ahead(draft: TurnDraft) -> None:
    """Stop what was asked ahead of an agent that has no say in this turn."""
    ahead = draft.services.running.speculation
    if ahead and (draft.run, draft.entered) != (ahead.place[0], "stay"):
        ahead.discard(draft.services.usage)


async def _decide(draft: TurnDraft, reading: Reading, features: Features) -> None:
    """Decide where the message leads, and answer what it asks next to that.

    A feature that has the floor decides, or else triggers do.
    """
    for decide in features.decides:
        if await decide(draft, reading):
            break
    else:
        limits = limits_of(draft.services.config)
        draft.adopt(steer(draft.spec, draft.situation, reading.commands, limits))
    if draft.refused_depth and draft.services.fails_fast:
        raise MaxPathwayDepthError(*draft.refused_depth)
    for answer in features.answers:
        await answer(draft)


def _take_pending(draft: TurnDraft) -> None:
    """Let the agents of this turn do what the user was asked about; after a pause a yes is void."""
    emptied: Position = {**draft.position}
    asked = emptied.pop("pending")
    draft.position = emptied
    pause = timedelta(seconds=draft.services.config.resume_after_seconds)
    since = datetime.fromisoformat(draft.turn["at"]) - pause
    old = [one for one in asked if "at" in one and datetime.fromisoformat(one["at"]) < since]
    draft.turn["asked"] = [one for one in asked if one not in old]
    for one in old:
        reason = "the user was asked about it before a pause"
        draft.turn["audit"].append(note("dropped", emptied, trigger=one["tool"], reason=reason))
