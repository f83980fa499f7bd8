"""Answers to what the user was asked last, where that was not simply a field."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
    decline_all,
    decline_return,
    go_on_elsewhere,
    is_changed,
    keep_value,
    postpone,
    reset,
    start_over,
)
from journeygraph.nodes.state.dialogue_state import IN_TURN, UNREAD, Asked, Option
from journeygraph.nodes.state.effects import try_unsure_again

GO_ON, BEGIN_ANEW = "go_on", "begin_anew"
"""Options for a task that is requested again, by id."""
Answer = Callable[[TurnDraft, Asked, Sequence[Command]], list[Verdict] | None]


def answered(draft: TurnDraft, commands: Sequence[Command]) -> list[Verdict] | None:
    """Take a yes, a no or a choice for what was asked.

    Returns:
        Verdicts that the answer amounts to, such as the transition that was chosen; None if the
        commands do not answer what was asked.
    """
    asked = draft.dialogue.asked
    if asked is None or asked["kind"] not in _ANSWERS:
        return None
    return _ANSWERS[asked["kind"]](draft, asked, commands)


def _said(commands: Sequence[Command]) -> bool | None:
    """Return whether the user answered yes or no; None for neither."""
    for command in commands:
        if isinstance(command, Confirm):
            return True
        if isinstance(command, Deny) and not command.option:
            return False
    return None


def _summary(draft: TurnDraft, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    said = _said(commands)
    if said is None:
        return None
    form_state = draft.form_state(draft.spec.pathways[asked["about"]])
    if said:
        if draft.resumed or form_state.open:
            draft.note("dropped", trigger="confirm", reason="the confirmed values may be outdated")
            return []
        draft.dialogue.confirmed = [*draft.dialogue.confirmed, asked["about"]]
        for name in [UNREAD, *(field.name for field, _ in form_state.read_back)]:
            draft.dialogue.guess(name, False)
        return []
    if not _has_values(commands):
        known = form_state.read_back
        options = [Option(id=field.name, label=field.title) for field, _ in known]
        draft.close(Asked(kind="wrong", about=asked["about"], options=options), "summary_wrong")
    return []


def _wrong(draft: TurnDraft, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    chosen = _chosen(asked, commands)
    if chosen is not None:
        taken_back(draft, Clear(chosen))
        return []
    return None if _said(commands) is None else []


def _correction(
    draft: TurnDraft, asked: Asked, commands: Sequence[Command]
) -> list[Verdict] | None:
    name, said = asked["about"], _said(commands)
    pending = draft.dialogue.corrections.get(name)
    if said is None or pending is None:
        return None
    field = draft.field(name)
    if said:
        return None  # kept by `confirmed_corrections`, which checks again what depends on it
    draft.dialogue.drop_correction(name)
    if not _has_values(commands):
        draft.say("kept", field=field.title, value=draft.shown(field, draft.value(name)))
    return []


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


def _return(draft: TurnDraft, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    said = _said(commands)
    if said is None:
        return None
    draft.goes_on = said
    if not said:
        decline_return(draft, "declined by the user")
    return []


def _paused(draft: TurnDraft, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    chosen = _chosen(asked, commands)
    if chosen is None:
        if _said(commands) is False:
            decline_all(draft, "declined by the user")
            return []
        return None
    if all(frame["pathway"] != chosen for frame in draft.position["stack"]):
        return None
    bring_up(draft, chosen)
    draft.goes_on = True
    return []


def _clarify(draft: TurnDraft, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    chosen = _chosen(asked, commands)
    if chosen is not None:
        draft.note("clarified", trigger=chosen)
        draft.dialogue.unclear = 0
        if asked["about"] == IN_TURN:
            for option in asked["options"]:
                if option["id"] != chosen:
                    postpone(draft, None, queue=option["id"])
        return [Verdict(chosen, True, "chosen", reason="chosen by the user")]
    denied = {c.option for c in commands if isinstance(c, Deny) and c.option}
    if denied:
        return narrowed(draft, asked, denied)
    if _said(commands) is False:
        draft.dialogue.unclear = 0
        if cannot_reply(draft):
            go_on_elsewhere(draft)
        return []
    return None


def _restart(draft: TurnDraft, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    chosen = _chosen(asked, commands) or (GO_ON if _said(commands) else None)
    if chosen is None:
        return None
    draft.goes_on = True
    if chosen == BEGIN_ANEW and not asked_to_restart(draft, draft.here):
        reset(draft, draft.here, "started again")
    return []


def _start_over(
    draft: TurnDraft, asked: Asked, commands: Sequence[Command]
) -> list[Verdict] | None:
    said = _said(commands)
    if said:
        start_over(draft, draft.spec.pathways[asked["about"]])
    elif said is False and draft.form_state().is_closed:
        if draft.dialogue.queued:
            draft.ask(MORE)  # what waits begins
            draft.rest()
        else:
            draft.close(MORE, "more")
    return None if said is None else []


def _field(draft: TurnDraft, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    said, name = _said(commands), asked["about"]
    if said is None or not is_changed(draft, name) or (said and draft.value(name) is None):
        return None
    keep_value(draft, asked["about"])
    return []


def _change(draft: TurnDraft, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    chosen = _chosen(asked, commands)
    ids = [option["id"] for option in asked["options"]]
    if chosen is None and (said := _said(commands)) is not None:
        chosen = ids[0] if said else ids[-1]
    if chosen is None:
        return None
    if chosen == PERSON:
        call_person(draft, f"change:{asked['about']}")
    elif chosen == CHANGE:
        draft.changing = asked["about"]
    else:
        field = draft.field(asked["about"])
        value = draft.shown(field, draft.value(field.name))
        draft.say("kept", field=field.title, value=value)
        draft.ask(None)
    return []


def _human(draft: TurnDraft, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    said = _said(commands)
    if said is None:
        return None
    if said:
        call_person(draft, asked["about"] or "offered")
        return []
    draft.dialogue.try_again()
    if asked["about"] != "effect_unsure":
        draft.say("human_declined")
    elif draft.leads_to is None:  # nothing is tried again; it may be known by now
        draft.ask(MORE)
        draft.run = draft.here.id
        draft.settled = True
    return []


def _retry(draft: TurnDraft, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    said = _said(commands)
    if said is None:
        return None
    pathway = draft.spec.pathways[asked["about"]]
    if said:
        try_unsure_again(draft.dialogue, pathway)
    else:
        draft.note("cancelled", to=pathway.id, reason="not tried again")
        reset(draft, pathway, "cancelled")
        draft.say("left", task=pathway.title)
        go_on_elsewhere(draft)
    return []


def _leave(draft: TurnDraft, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    said = _said(commands)
    if said is None:
        return None
    if said:
        cancel(draft, everything=asked["about"] == EVERYTHING)
    return []


def _more(draft: TurnDraft, asked: Asked, commands: Sequence[Command]) -> list[Verdict] | None:
    said = _said(commands)
    if said is False:
        draft.close(None, "closing")
    elif said and (cannot_reply(draft) or _is_collected(draft)):
        draft.close(None, "which", journeys=tasks_of(draft))
    else:
        return None
    return []


def _is_collected(draft: TurnDraft) -> bool:
    """Return whether a pathway without agents has nothing left to ask."""
    place = draft.here
    return place.form is not None and place.pipeline is None and draft.form_state().is_closed


def _has_values(commands: Sequence[Command]) -> bool:
    return any(isinstance(command, (Fill, Correct)) for command in commands)


def _chosen(asked: Asked, commands: Sequence[Command]) -> str | None:
    """Return what was chosen of what was offered; another choice is ignored."""
    offered = {option["id"] for option in asked["options"]}
    chosen = [c.option for c in commands if isinstance(c, Choose) and c.option in offered]
    return chosen[-1] if chosen else None


_ANSWERS: dict[str, Answer] = {
    "summary": _summary,
    "wrong": _wrong,
    "correction": _correction,
    "return": _return,
    "paused": _paused,
    "clarify": _clarify,
    "restart": _restart,
    "start_over": _start_over,
    "field": _field,
    "change": _change,
    "human": _human,
    "retry": _retry,
    "leave": _leave,
    "more": _more,
}
