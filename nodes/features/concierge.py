"""The journeys of a concierge, as parts of a turn: what is near, what begins, what ends."""

from __future__ import annotations

from journeys.spec.spec import ACTIVATION
from nodes.commands import Verdict
from nodes.draft import Hop, Reading, TurnDraft
from nodes.replies.scope import is_own_voice
from nodes.state.context import Op
from nodes.state.session import Completed
from nodes.state.stack import left, note, overwritten, written_names
from nodes.steer import MODELS, allowed_transitions


def note_journey(draft: TurnDraft, reading: Reading) -> None:
    """Note which journeys a model held likely, and since when the present one has been active."""
    if draft.transition is None:
        draft.turn["near"] = _nearest(draft, reading)
    pathways = draft.spec.pathways
    active = pathways[draft.position["pathway"]].journey
    if active and active != pathways[draft.turn["begun_in"]].journey:
        draft.position = {**draft.position, "activated_at": draft.turn["at"]}


def _nearest(draft: TurnDraft, reading: Reading) -> list[str]:
    """Return the journeys that a model held likely, the likeliest first."""
    pathways = draft.spec.pathways
    starts = {
        move.id: pathways[move.target].journey
        for move in allowed_transitions(draft.spec, reading.position)
        if move.kind == ACTIVATION
    }
    judged = [c for c in reading.commands if isinstance(c, Verdict) and c.tier in MODELS]
    likely = [v for v in judged if v.holds and v.question in starts and 0 < v.confidence <= 1]
    likely.sort(key=lambda verdict: -verdict.confidence)
    return list(dict.fromkeys(starts[verdict.question] for verdict in likely))


def note_voice(hop: Hop) -> None:
    """Mark what the reception says as the runtime's own words."""
    if is_own_voice(hop.services.spec, hop.services.texts, hop.turn):
        hop.turn["worded"] = [*range(len(hop.turn["replies"]))]


def complete_journey(hop: Hop) -> None:
    """Free the session of a journey that a pathway has just completed, and forget its names."""
    pathway, spec = hop.pathway, hop.services.spec
    if not pathway.journey or hop.position["pathway"] != spec.reception:
        return
    values = {name: hop.context[name] for name in pathway.forgets if name in hop.context}
    ops: list[Op] = [["clear", name, None, pathway.id] for name in values]
    reason = f"'{pathway.journey}' is complete"
    event = note("journey_completed", hop.position, to=spec.reception, reason=reason)
    event["from"] = pathway.id
    hop.turn["audit"].append(event)
    hop.turn["completed"] = Completed(journey=pathway.journey, values=values)
    hop.change(*ops)
    hop.position = overwritten(left(spec, hop.position, pathway.id), written_names(ops))
