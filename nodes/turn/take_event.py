"""Take an event from outside, or a timer that is due: no message, but maybe a transition."""

from __future__ import annotations

from collections.abc import Sequence

from journeygraph.journeys import EventTrigger, TransitionSpec
from journeygraph.journeys.spec.capability_table import part
from journeygraph.nodes.capability import Capabilities
from journeygraph.nodes.commands import Verdict
from journeygraph.nodes.draft import TurnDraft, check_known
from journeygraph.nodes.state.context import kept
from journeygraph.nodes.state.escalation import WITH_PERSON, takeover_of
from journeygraph.nodes.state.interpretation import Interpretation
from journeygraph.nodes.state.session import OutsideEvent, Timer, Update
from journeygraph.nodes.steer import Steering, allowed_transitions, rearmed
from journeygraph.nodes.turn.understand import decision_of, free_verdicts


async def take_outside(draft: TurnDraft, capabilities: Capabilities) -> Update:
    """Take an event from outside, or a timer that is due: no message, but maybe a transition.

    The data of an event goes into the context; conditions are judged too, since it has changed.
    Nothing is read, and no model is asked where it leads. Without a transition, and while a person
    has the conversation, nothing runs; the reply is empty, or it is a reminder.
    """
    if event := draft.turn.get("event"):
        _take_data(draft, event)
    draft.rest()
    if draft.spec.can_escalate and takeover_of(draft.position) is not None:
        draft.flags.append(WITH_PERSON)
        return draft.update()
    if draft.position["version"] == draft.spec.version:
        check_known(draft.spec, draft.position)
    elif await part("upgrade").has_moved(draft):
        return draft.update()
    reading = await _reading_of_outside(draft, capabilities)
    steering = draft.steered(reading.verdicts)
    if steering.transition is None:
        draft.position = rearmed(draft.spec, draft.position, reading.verdicts)
        # Nothing returns without a message.
        draft.audit += [event for event in steering.audit if event["kind"] in _NOT_MADE]
    else:
        await _follow(draft, steering, reading, capabilities)
    if journal := draft.services.running.journal:
        journal.decision = decision_of(draft, reading)
    return draft.update()


_NOT_MADE = ("dropped", "depth_refused", "condition_raised")
"""Kinds of audit events of moves that were not made."""


async def _follow(
    draft: TurnDraft, steering: Steering, reading: Interpretation, capabilities: Capabilities
) -> None:
    for one in capabilities:
        await one.ask(draft, reading)
    draft.settled = False
    draft.adopt(steering)
    for one in capabilities:
        one.complete(draft, reading)


def _take_data(draft: TurnDraft, event: OutsideEvent) -> None:
    draft.note("event", trigger=event["name"], reason=f"it set: {', '.join(event['data'])}")
    draft.change(*(kept(name, value) for name, value in event["data"].items()))


async def _reading_of_outside(draft: TurnDraft, capabilities: Capabilities) -> Interpretation:
    services, reading = draft.services, Interpretation(draft.position)
    reading.open_now = allowed_transitions(services.spec, draft.position)
    if timer := draft.turn.get("timer"):
        reading.verdicts = _take_timer(draft, timer, reading.open_now, capabilities)
        return reading
    event = draft.turn["event"]["name"]
    reading.verdicts = await free_verdicts(services, (), draft.position, "", draft.context)
    reading.verdicts += [
        Verdict(transition.id, True, "event", reason="it came from outside")
        for transition in reading.open_now
        if isinstance(transition.trigger, EventTrigger) and transition.trigger.event == event
    ]
    return reading


def _take_timer(
    draft: TurnDraft,
    timer: Timer,
    open_now: Sequence[TransitionSpec],
    capabilities: Capabilities,
) -> list[Verdict]:
    moves = [transition for transition in open_now if transition.id == timer["id"]]
    reason = f"no message since {timer['since']}"
    draft.note("timer", trigger=moves[0].label if moves else timer["id"], reason=reason)
    for one in capabilities if not moves else ():
        one.remind(draft, timer["id"])
    return [Verdict(transition.id, True, "timer", reason=reason) for transition in moves]
