"""Go on after a task is complete: with what waited, or with what was interrupted."""

from __future__ import annotations

from journeygraph.journeys import PathwaySpec, ReturnToPrevious
from journeygraph.journeys.spec.spec import MAX_HOPS
from journeygraph.nodes.draft import TurnDraft
from journeygraph.nodes.forms.offer import MORE
from journeygraph.nodes.forms.questions import question_of
from journeygraph.nodes.repair.tasks import (
    begin,
    begin_anew,
    cannot_reply,
    decline_all,
    offer_waiting,
    waiting_tasks,
)
from journeygraph.nodes.state.session import Fired


def completed(draft: TurnDraft, pathway: PathwaySpec) -> None:
    """Follow what a complete pathway leads to, beyond its own `next`."""
    if pathway.form:
        draft.dialogue.finish(pathway.id)
        if pathway.pipeline is None and not draft.turn["replies"] and draft.run is None:
            draft.say("collected")
    if pathway.next and draft.position["pathway"] == pathway.next:
        begin_anew(draft, draft.spec.pathways[pathway.next])
        if draft.spec.pathways[pathway.next].form:
            return  # it belongs to the task, and comes before what waits
    if len(draft.turn["ran"]) < MAX_HOPS and begin_next(draft):
        return
    if pathway.is_detour and draft.position["returning"] and draft.position["stack"]:
        _come_back(draft, pathway)
    elif draft.run is None:
        _end_or_offer(draft, pathway)


def left_unsure(draft: TurnDraft) -> None:
    """Continue after an effect with an unknown outcome, whose task does not end."""
    if len(draft.turn["ran"]) < MAX_HOPS and begin_next(draft):
        return
    if not offer_waiting(draft):
        draft.close(MORE, "more")


def begin_next(draft: TurnDraft) -> bool:
    """Start what waited for this to be over (T29), or was asked for in the same message (T07).

    What is paused stays paused, and so does what waits for it.

    Returns:
        Whether something waited for this alone.
    """
    dialogue, waiting = draft.dialogue, waiting_tasks(draft)
    ready = [id_ for id_ in dialogue.queued if dialogue.behind.get(id_) not in waiting]
    if not ready:
        return False
    dialogue.queued = [id_ for id_ in dialogue.queued if id_ != ready[0]]
    dialogue.behind = {id_: dialogue.behind.get(id_, "") for id_ in dialogue.queued}
    transition = next((t for t in draft.spec.transitions if t.id == ready[0]), None)
    if transition is None:  # an older version of the journey had it
        return False
    before = draft.position["pathway"]
    paused = [frame for frame in draft.position["stack"] if frame["pathway"] in waiting]
    details = {"trigger": transition.label, "reason": "it waited"}
    if not begin(draft, transition, "transition", **details):
        return True
    draft.position = {**draft.position, "status": "active"}
    if paused and not draft.position["stack"]:
        draft.audit = [row for row in draft.audit if row["kind"] != "stack_cleared"]
        draft.position = {**draft.position, "stack": paused}
    draft.transition = Fired(
        id=transition.id,
        source=before,
        target=transition.target,
        intent=transition.label,
        tier="queued",
        confidence=1.0,
        reason="it waited",
    )
    return True


def _come_back(draft: TurnDraft, detour: PathwaySpec) -> None:
    """Offer what the detour interrupted, as its policy says (T01, T04)."""
    if draft.position["status"] == "complete" and len(draft.position["stack"]) == 1:
        return
    if _is_over(draft, detour):
        draft.position = {**draft.position, "status": "complete"}
        return
    returns = detour.returns
    policy = returns.policy if isinstance(returns, ReturnToPrevious) else "return"
    if policy == "return":
        _ask_the_same(draft)
    elif policy == "end":
        decline_all(draft, "the detour ends what it interrupted")
        draft.replies = [draft.text("more")]
    else:
        offer_waiting(draft, choose=policy == "choose")


def _is_over(draft: TurnDraft, detour: PathwaySpec) -> bool:
    if draft.spec.reception or waiting_tasks(draft):
        return False
    over = draft.dialogue.finished
    paused = [draft.spec.pathways[frame["pathway"]] for frame in draft.position["stack"]]
    ended = any(each.id in over for each in (detour, *paused))
    return ended and all(each.id in over or cannot_reply(draft, each) for each in paused)


def _ask_the_same(draft: TurnDraft) -> None:
    asked = draft.form_state().asked() if draft.here.form else None
    asked = asked or draft.dialogue.asked
    if asked is None:
        return
    question = question_of(draft, asked)
    if question in draft.turn["replies"]:
        return  # it was asked before the answer
    if draft.here.form:
        draft.repair("continue", "returning", task=draft.here.title)
    draft.ask(asked)
    if draft.aside:
        draft.run = draft.here.id  # its form asks behind what answers instead of the text
    else:
        draft.replies.append(question)


def _end_or_offer(draft: TurnDraft, pathway: PathwaySpec) -> None:
    """Offer what still waits behind the last task: the end is one only where nothing does."""
    position, reception = draft.position, draft.spec.reception
    is_last = position["status"] == "complete" or position["pathway"] in (reception, pathway.next)
    if is_last and position["stack"]:
        if not offer_waiting(draft):
            draft.position = {**position, "stack": []}
    elif pathway.is_detour and position["returning"] and not position["stack"]:
        draft.position = {**position, "returning": False, "status": "complete"}
        if pathway.journey and reception:
            draft.note("advanced", to=reception)
            draft.position = {**position, "returning": False, "pathway": reception}
