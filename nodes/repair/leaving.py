"""Give up what was begun: this task, or all of them (T03, T14)."""

from __future__ import annotations

from collections.abc import Collection

from journeys import PathwaySpec
from nodes.draft import TurnDraft
from nodes.effect_outcome import begin_effects_anew
from nodes.forms.filling import emptied
from nodes.forms.sheet import settled
from nodes.moves import left
from nodes.repair.people import after_effect
from nodes.talk import Asked
from nodes.visits import entered

EVERYTHING = "everything"
"""What is given up where all tasks are, in place of the id of a pathway."""


def reset(draft: TurnDraft, pathway: PathwaySpec, reason: str, keep: Collection[str] = ()) -> None:
    """Take back what a pathway has collected, but for what is shared and what others still need.

    Args:
        draft: The turn.
        pathway: Whose fields are taken back.
        reason: Why, for the history.
        keep: Names of fields that stay, such as those of the task that comes next.
    """
    part = draft.spec.part_of(pathway.id)
    spared = {*part.shared, *draft.spec.shared, *keep}
    for field in pathway.form.fields if pathway.form else ():
        if field.name in spared:
            continue
        if draft.value(field.name) is not None:
            emptied(draft, field, reason=reason)
        draft.dialogue.forget(field.name)
    begin_effects_anew(draft.dialogue, pathway)
    draft.dialogue.unconfirm([pathway.id])
    draft.dialogue.finished = [id_ for id_ in draft.dialogue.finished if id_ != pathway.id]


def begin_anew(draft: TurnDraft, pathway: PathwaySpec) -> None:
    """Take back what a form that is entered again has collected, but for what others know of."""
    if pathway.id not in draft.dialogue.finished:
        return
    attempts = {name: settled(draft.fields.get(name, ())) for name in draft.fields}
    known = [name for name, last in attempts.items() if last and last["source"] == "tool"]
    reset(draft, pathway, "begun anew", known)


def cancel(draft: TurnDraft, *, everything: bool, keep: Collection[str] = ()) -> None:
    """Give up the task at hand, or all; a detour alone leaves what it interrupted."""
    position = draft.position
    draft.dialogue.queued = []
    if position["stack"] and not everything:
        _end_detour(draft)
        return
    if not everything and _is_done(draft):
        return
    given_up = [position["pathway"], *(f["pathway"] for f in reversed(position["stack"]))]
    for id_ in given_up:
        pathway = draft.spec.pathways[id_]
        draft.note("cancelled", to=id_, reason="cancelled by the user")
        reset(draft, pathway, "cancelled", keep)
    draft.repair("cancel", "cancelled_all" if len(given_up) > 1 else "cancelled")
    to_the_beginning(draft)


def asked_to_leave(draft: TurnDraft, *, everything: bool) -> None:
    """Ask whether the task at hand is given up, where a message says so and something else."""
    draft.say("ask_leave", task=draft.here.title)
    about = EVERYTHING if everything else draft.here.id
    draft.ask(Asked(kind="leave", about=about, options=[]))
    draft.rest()


def _is_done(draft: TurnDraft) -> bool:
    """Say whether the task at hand is done, which no word undoes: what is left is offered (T13)."""
    fields = draft.here.form.fields if draft.here.form else ()
    known = (field for field in fields if draft.value(field.name) is not None)
    return any(after_effect(draft, field) for field in known)


def _end_detour(draft: TurnDraft) -> None:
    """Leave a detour; what it interrupted is offered again, and given up if that is stopped too."""
    asked = draft.dialogue.asked
    if asked and asked["kind"] == "return" and draft.dialogue.unclear:
        decline_return(draft, "cancelled by the user")
        return
    detour = draft.spec.pathways[draft.position["pathway"]]
    draft.note("cancelled", to=detour.id, reason="cancelled by the user")
    reset(draft, detour, "cancelled")
    if draft.position["returning"]:
        draft.dialogue.unclear = 1
    draft.position = {**draft.position, "returning": True}
    draft.repair("cancel", "left", task=detour.title)
    draft.say("ask_return", task=draft.here.title)
    draft.ask(Asked(kind="return", about=draft.here.id, options=[]))
    draft.rest()


def decline_return(draft: TurnDraft, reason: str) -> None:
    """Give up the task that was interrupted; the ones below it are offered then."""
    _give_up_paused(draft, reason)
    if draft.position["stack"]:
        draft.say("ask_return", task=draft.here.title)
        draft.ask(Asked(kind="return", about=draft.here.id, options=[]))
        draft.rest()
        return
    to_the_beginning(draft)
    draft.say("more")


def decline_all(draft: TurnDraft, reason: str) -> None:
    """Give up every task that was interrupted, the top one first."""
    while draft.position["stack"]:
        _give_up_paused(draft, reason)
    to_the_beginning(draft)
    draft.say("more")


def _give_up_paused(draft: TurnDraft, reason: str) -> None:
    """Give up the task that was interrupted last."""
    *below, paused = draft.position["stack"]
    pathway = draft.spec.pathways[paused["pathway"]]
    draft.note("cancelled", to=pathway.id, reason=reason)
    reset(draft, pathway, "cancelled")
    draft.repair("cancel", "left", task=pathway.title)
    draft.position = {**draft.position, "stack": below}


def to_the_beginning(draft: TurnDraft) -> None:
    """Stand where the session began, ready for a new task; the user is asked what else there is."""
    place = draft.position["pathway"]
    if place != draft.spec.entry or draft.position["stack"]:
        draft.note("restarted", to=draft.spec.entry)
    draft.position = entered(
        {
            **draft.position,
            "pathway": draft.spec.entry,
            "stack": [],
            "returning": False,
            "status": "active",
        },
        draft.spec.entry,
    )
    if draft.spec.parts:
        draft.position = left(draft.spec, draft.position, place)
    draft.ask(Asked(kind="more", about="", options=[]))
    draft.rest()
