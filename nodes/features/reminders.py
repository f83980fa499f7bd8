"""Timers of a session in which the user sends no message: the next one, reminders, the end."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from journeygraph.journeys import JourneySpec, TimeTrigger
from journeygraph.nodes.capability import Capability
from journeygraph.nodes.draft import TurnDraft
from journeygraph.nodes.json_data import stamp
from journeygraph.nodes.state.session import Position, Update
from journeygraph.nodes.steer import allowed_transitions

CLOSE = "close"
"""Id of the timer that closes a session."""
_REMINDER = "reminder:"


class Due(NamedTuple):
    """A timer and its time, ISO 8601 in UTC."""

    at: str
    timer: str


def next_timer(
    spec: JourneySpec, position: Position, since: str, moved: str, taken: Collection[str]
) -> Due | None:
    """Return the first timer of a session that was not taken since the last message.

    Args:
        spec: The journey.
        position: The position of the session.
        since: The time of the last message.
        moved: The time from which transitions count.
        taken: Ids of the timers that were taken since the last message.
    """
    found = [due for due in _timers(spec, position, since, moved) if due.timer not in taken]
    return min(found, key=lambda due: due.at, default=None)


def _timers(spec: JourneySpec, position: Position, since: str, moved: str) -> Iterator[Due]:
    for transition in allowed_transitions(spec, position):
        if isinstance(transition.trigger, TimeTrigger):
            yield Due(_later(moved, transition.trigger.after), transition.id)
    if silence := spec.silence_in(position["pathway"]):
        for number, reminder in enumerate(silence.reminders):
            yield Due(_later(since, reminder.after), f"{_REMINDER}{number}")
        if silence.close_after is not None:
            yield Due(_later(since, silence.close_after), CLOSE)


def _later(time: str, seconds: int) -> str:
    return stamp(datetime.fromisoformat(time) + timedelta(seconds=seconds))


class SilenceReminders(Capability):
    """Reminders, and the end of a session by silence."""

    async def hold(self, draft: TurnDraft) -> Update | None:
        """Open a closed session again if the user sends a message; the turn continues."""
        if draft.position["status"] == "closed" and draft.turn["message"] is not None:
            draft.note("reopened", reason="the user sent a message")
            draft.position = {**draft.position, "status": "active"}
        return None

    def remind(self, draft: TurnDraft, timer: str) -> None:
        """Remind the user, or close the session; nothing if this timer is no longer declared."""
        silence = draft.spec.silence_in(draft.position["pathway"])
        if silence is None:
            return
        if timer == CLOSE and silence.close_after is not None:
            draft.replies.append(silence.closing or draft.text("closed"))
            draft.note("closed", reason="the user sent no message")
            draft.position = {**draft.position, "status": "closed"}
        elif timer.startswith(_REMINDER):
            number = int(timer.removeprefix(_REMINDER))
            if number < len(silence.reminders):
                draft.replies.append(silence.reminders[number].say or draft.text("reminder"))
