"""Answers to what the user was asked last, where that was not simply a field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from journeygraph.nodes.commands import (
    Choose,
    Clear,
    Command,
    Confirm,
    Correct,
    Deny,
    Fill,
    Verdict,
)
from journeygraph.nodes.draft import TurnDraft
from journeygraph.nodes.forms.collect import reason_of, refuse, refused, replaced, taken_back
from journeygraph.nodes.forms.offer import CHANGE, MORE, PERSON, call_person
from journeygraph.nodes.repair.clarify import narrowed, tasks_of
from journeygraph.nodes.repair.tasks import (
    EVERYTHING,
    asked_to_restart,
    bring_up,
    cancel,
    cannot_reply,
    change_instead,
    decline_all,
    decline_return,
    go_on_elsewhere,
    is_changed,
    keep_value,
    reset,
    start_over,
)
from journeygraph.nodes.state.dialogue_state import UNREAD, Asked, Option
from journeygraph.nodes.state.effects import try_unsure_again

GO_ON, BEGIN_ANEW = "go_on", "begin_anew"
"""Options for a task that is requested again, by id."""


def answered(draft: TurnDraft, commands: Sequence[Command]) -> list[Verdict] | None:
    """Take a yes, a no or a choice for what was asked.

    Returns:
        Verdicts that the answer amounts to, such as the transition that was chosen; None if the
        commands do not answer what was asked.
    """
    asked = draft.dialogue.asked
    if asked is None:
        return None
    yes, chosen = _said(commands), _chosen(asked, commands)
    if chosen is None and yes is not None:
        chosen = _meant(asked, yes=yes)
    if chosen is not None and asked["kind"] in _CHOSEN:
        return _CHOSEN[asked["kind"]](draft, asked, chosen)
    denied = {c.option for c in commands if isinstance(c, Deny) and c.option}
    if denied and asked["kind"] == "clarify":
        return narrowed(draft, asked, denied)
    if yes is None or asked["kind"] not in _SAID:
        return None
    given = any(isinstance(command, (Fill, Correct)) for command in commands)
    return [] if _SAID[asked["kind"]](draft, asked["about"], yes, given) else None


def _said(commands: Sequence[Command]) -> bool | None:
    """Return whether the user answered yes or no; None for neither."""
    for command in commands:
        if isinstance(command, Confirm):
            return True
        if isinstance(command, Deny) and not command.option:
            return False
    return None


def _chosen(asked: Asked, commands: Sequence[Command]) -> str | None:
    """Return what was chosen of what was offered; another choice is ignored."""
    offered = {option["id"] for option in asked["options"]}
    chosen = [c.option for c in commands if isinstance(c, Choose) and c.option in offered]
    return chosen[-1] if chosen else None


def _meant(asked: Asked, *, yes: bool) -> str | None:
    """Return the option that a yes or a no chooses; None without one."""
    if asked["kind"] == "change":
        return asked["options"][0 if yes else -1]["id"]
    return GO_ON if asked["kind"] == "restart" and yes else None


# --- Yes or no: each takes the answer, and returns whether it is one ---


def _summary(draft: TurnDraft, about: str, yes: bool, given: bool) -> bool:
    form_state = draft.form_state(draft.spec.pathways[about])
    if yes and (draft.resumed or form_state.open):
        draft.note("dropped", trigger="confirm", reason="the confirmed values may be outdated")
    elif yes:
        draft.dialogue.confirmed = [*draft.dialogue.confirmed, about]
        for name in [UNREAD, *(field.name for field, _ in form_state.read_back)]:
            draft.dialogue.guess(name, False)
    elif not given:
        known = form_state.read_back
        options = [Option(id=field.name, label=field.title) for field, _ in known]
        draft.close(Asked(kind="wrong", about=about, options=options), "summary_wrong")
    return True


def _wrong(draft: TurnDraft, about: str, yes: bool, given: bool) -> bool:
    return True


def _correction(draft: TurnDraft, about: str, yes: bool, given: bool) -> bool:
    if yes or about not in draft.dialogue.corrections:
        return False  # `confirmed_corrections` makes it
    draft.dialogue.drop_correction(about)
    if not given:
        _kept(draft, about)
    return True


def _return(draft: TurnDraft, about: str, yes: bool, given: bool) -> bool:
    draft.goes_on = yes
    if not yes:
        decline_return(draft, "declined by the user")
    return True


def _paused(draft: TurnDraft, about: str, yes: bool, given: bool) -> bool:
    if not yes:
        decline_all(draft, "declined by the user")
    return not yes


def _clarify(draft: TurnDraft, about: str, yes: bool, given: bool) -> bool:
    if not yes:
        draft.dialogue.unclear = 0
        if cannot_reply(draft):
            go_on_elsewhere(draft)
    return not yes


def _start_over(draft: TurnDraft, about: str, yes: bool, given: bool) -> bool:
    if yes:
        start_over(draft, draft.spec.pathways[about])
    elif draft.form_state().is_closed and draft.dialogue.queued:
        draft.ask(MORE)  # what waits begins
        draft.rest()
    elif draft.form_state().is_closed:
        draft.close(MORE, "more")
    return True


def _field(draft: TurnDraft, about: str, yes: bool, given: bool) -> bool:
    if not is_changed(draft, about) or (yes and draft.value(about) is None):
        return False
    keep_value(draft, about)
    return True


def _human(draft: TurnDraft, about: str, yes: bool, given: bool) -> bool:
    if yes:
        call_person(draft, about or "offered")
        return True
    draft.dialogue.try_again()
    if about != "effect_unsure":
        draft.say("human_declined")
    elif draft.leads_to is None:  # nothing is tried again; it may be known by now
        draft.ask(MORE)
        draft.run = draft.here.id
        draft.settled = True
    return True


def _retry(draft: TurnDraft, about: str, yes: bool, given: bool) -> bool:
    pathway = draft.spec.pathways[about]
    if yes:
        try_unsure_again(draft.dialogue, pathway)
    else:
        draft.note("cancelled", to=pathway.id, reason="not tried again")
        reset(draft, pathway, "cancelled")
        draft.say("left", task=pathway.title)
        go_on_elsewhere(draft)
    return True


def _leave(draft: TurnDraft, about: str, yes: bool, given: bool) -> bool:
    if yes:
        cancel(draft, everything=about == EVERYTHING)
    return True


def _more(draft: TurnDraft, about: str, yes: bool, given: bool) -> bool:
    place = draft.here
    is_over = place.form and place.pipeline is None and draft.form_state().is_closed
    if yes and not (cannot_reply(draft) or is_over):
        return False
    if yes:
        draft.close(None, "which", journeys=tasks_of(draft))
    else:
        draft.close(None, "closing")
    return True


def _kept(draft: TurnDraft, name: str) -> None:
    field = draft.field(name)
    draft.say("kept", field=field.title, value=draft.shown(field, draft.value(name)))


# --- One of several options ---


def _wrong_field(draft: TurnDraft, asked: Asked, chosen: str) -> list[Verdict]:
    taken_back(draft, Clear(chosen))
    return []


def _paused_task(draft: TurnDraft, asked: Asked, chosen: str) -> list[Verdict] | None:
    if all(frame["pathway"] != chosen for frame in draft.position["stack"]):
        return None
    bring_up(draft, chosen)
    draft.goes_on = True
    return []


def _meaning(draft: TurnDraft, asked: Asked, chosen: str) -> list[Verdict]:
    draft.note("clarified", trigger=chosen)
    draft.dialogue.unclear = 0
    return [Verdict(chosen, True, "chosen", reason="chosen by the user")]


def _restart(draft: TurnDraft, asked: Asked, chosen: str) -> list[Verdict]:
    draft.goes_on = True
    if chosen == BEGIN_ANEW and not asked_to_restart(draft, draft.here):
        reset(draft, draft.here, "started again")
    return []


def _change(draft: TurnDraft, asked: Asked, chosen: str) -> list[Verdict]:
    if chosen == PERSON:
        call_person(draft, f"change:{asked['about']}")
    elif chosen == CHANGE:
        change_instead(draft, asked["about"])
    else:
        _kept(draft, asked["about"])
        draft.ask(None)
    return []


_SAID: Mapping[str, Callable[[TurnDraft, str, bool, bool], bool]] = {
    "summary": _summary,
    "wrong": _wrong,
    "correction": _correction,
    "return": _return,
    "paused": _paused,
    "clarify": _clarify,
    "start_over": _start_over,
    "field": _field,
    "human": _human,
    "retry": _retry,
    "leave": _leave,
    "more": _more,
}
_CHOSEN: Mapping[str, Callable[[TurnDraft, Asked, str], list[Verdict] | None]] = {
    "wrong": _wrong_field,
    "paused": _paused_task,
    "clarify": _meaning,
    "restart": _restart,
    "change": _change,
}


async def confirmed_corrections(draft: TurnDraft, commands: Sequence[Command]) -> bool:
    """Make the change that the user just confirmed; return whether there was one (T11)."""
    asked = draft.dialogue.asked
    if not asked or asked["kind"] != "correction" or not _said(commands):
        return False
    pending = draft.dialogue.corrections.get(asked["about"])
    if pending is None:
        return False
    field = draft.field(asked["about"])
    details = {key: pending[key] for key in ("value", "raw", "confidence")}
    if refusal := await refused(draft, field, pending["value"]):
        draft.dialogue.drop_correction(field.name)
        refuse(draft, field, reason_of(draft, refusal), **details)
        return True
    await replaced(draft, field, source="corrected", **details)
    return True
