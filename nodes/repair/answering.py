"""Answers to the last question, where that was not simply a field: a function for each kind."""

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
from journeygraph.nodes.forms.collect import confirm_correction, keep_value, taken_back
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
    reset,
    start_over,
)
from journeygraph.nodes.state.dialogue_state import UNREAD, Asked, Option
from journeygraph.nodes.state.effects import try_unsure_again

YES, NO = "yes", "no"
GO_ON, BEGIN_ANEW = "go_on", "begin_anew"
"""Options for a task that is requested again, by id."""
TakeAnswer = Callable[[TurnDraft, str, str], Sequence[Verdict] | None]


async def answered(draft: TurnDraft, commands: Sequence[Command]) -> list[Verdict] | None:
    """Take a yes, a no or a choice for what was asked.

    Returns:
        Verdicts that the answer amounts to, such as the transition that was chosen; None if the
        commands do not answer what was asked.
    """
    asked = draft.dialogue.asked
    if asked is None:
        return None
    denied = {c.option for c in commands if isinstance(c, Deny) and c.option}
    if denied and asked["kind"] == "clarify":
        return narrowed(draft, asked, denied)
    answer = _answer(asked, commands)
    if answer == NO and asked["kind"] in ("summary", "correction"):
        answer = "" if any(isinstance(c, (Fill, Correct)) for c in commands) else NO
        if not answer:
            draft.dialogue.drop_correction(asked["about"])
            return []  # the value that comes with it is the change
    if answer == YES and asked["kind"] == "correction":
        return [] if await confirm_correction(draft, asked["about"]) else None
    if not answer or asked["kind"] not in _ANSWERS:
        return None
    taken = _ANSWERS[asked["kind"]](draft, asked["about"], answer)
    return None if taken is None else [*taken]


def _answer(asked: Asked, commands: Sequence[Command]) -> str:
    """Return what was chosen of what was offered, yes, or no; empty for none of them."""
    offered = [option["id"] for option in asked["options"]]
    chosen = [c.option for c in commands if isinstance(c, Choose) and c.option in offered]
    said = next((c for c in commands if isinstance(c, (Confirm, Deny))), None)
    answer = YES if isinstance(said, Confirm) else NO if said else ""
    if chosen or asked["kind"] != "change":
        return chosen[-1] if chosen else answer
    return offered[0 if answer == YES else -1] if answer else ""


def _summary(draft: TurnDraft, about: str, answer: str) -> list[Verdict]:
    form_state = draft.form_state(draft.spec.pathways[about])
    if answer == NO:
        known = form_state.read_back
        options = [Option(id=field.name, label=field.title) for field, _ in known]
        draft.close(Asked(kind="wrong", about=about, options=options), "summary_wrong")
    elif draft.resumed or form_state.open:
        draft.note("dropped", trigger="confirm", reason="the confirmed values may be outdated")
    else:
        draft.dialogue.confirmed = [*draft.dialogue.confirmed, about]
        for name in [UNREAD, *(field.name for field, _ in form_state.read_back)]:
            draft.dialogue.guess(name, False)
    return []


def _wrong(draft: TurnDraft, about: str, answer: str) -> list[Verdict]:
    if answer not in (YES, NO):
        taken_back(draft, Clear(answer))
    return []


def _correction(draft: TurnDraft, about: str, answer: str) -> list[Verdict] | None:
    if about not in draft.dialogue.corrections:
        return None
    draft.dialogue.drop_correction(about)
    keep_value(draft, about)
    return []


def _return(draft: TurnDraft, about: str, answer: str) -> list[Verdict]:
    draft.goes_on = answer == YES
    if answer == NO:
        decline_return(draft, "declined by the user")
    return []


def _paused(draft: TurnDraft, about: str, answer: str) -> list[Verdict] | None:
    if answer == NO:
        decline_all(draft, "declined by the user")
        return []
    if all(frame["pathway"] != answer for frame in draft.position["stack"]):
        return None
    bring_up(draft, answer)
    draft.goes_on = True
    return []


def _clarify(draft: TurnDraft, about: str, answer: str) -> list[Verdict] | None:
    if answer == YES:
        return None
    draft.dialogue.unclear = 0
    if answer != NO:
        draft.note("clarified", trigger=answer)
        return [Verdict(answer, True, "chosen", reason="chosen by the user")]
    if cannot_reply(draft):
        go_on_elsewhere(draft)
    return []


def _restart(draft: TurnDraft, about: str, answer: str) -> list[Verdict] | None:
    if answer == NO:
        return None
    draft.goes_on = True
    if answer == BEGIN_ANEW and not asked_to_restart(draft, draft.here):
        reset(draft, draft.here, "started again")
    return []


def _start_over(draft: TurnDraft, about: str, answer: str) -> list[Verdict]:
    if answer == YES:
        start_over(draft, draft.spec.pathways[about])
    elif draft.form_state().is_closed and draft.dialogue.queued:
        draft.ask(MORE)  # what waits begins
        draft.rest()
    elif draft.form_state().is_closed:
        draft.close(MORE, "more")
    return []


def _field(draft: TurnDraft, about: str, answer: str) -> list[Verdict] | None:
    if not is_changed(draft, about):
        return None
    keep_value(draft, about)
    return []


def _change(draft: TurnDraft, about: str, answer: str) -> list[Verdict]:
    if answer == PERSON:
        call_person(draft, f"change:{about}")
    elif answer == CHANGE:
        change_instead(draft, about)
    else:
        keep_value(draft, about)
    return []


def _human(draft: TurnDraft, about: str, answer: str) -> list[Verdict]:
    if answer == YES:
        call_person(draft, about or "offered")
        return []
    draft.dialogue.try_again()
    if about != "effect_unsure":
        draft.say("human_declined")
    elif draft.leads_to is None:  # nothing is tried again; it may be known by now
        draft.ask(MORE)
        draft.run = draft.here.id
        draft.settled = True
    return []


def _retry(draft: TurnDraft, about: str, answer: str) -> list[Verdict]:
    pathway = draft.spec.pathways[about]
    if answer == YES:
        try_unsure_again(draft.dialogue, pathway)
    else:
        draft.note("cancelled", to=pathway.id, reason="not tried again")
        reset(draft, pathway, "cancelled")
        draft.say("left", task=pathway.title)
        go_on_elsewhere(draft)
    return []


def _leave(draft: TurnDraft, about: str, answer: str) -> list[Verdict]:
    if answer == YES:
        cancel(draft, everything=about == EVERYTHING)
    return []


def _more(draft: TurnDraft, about: str, answer: str) -> list[Verdict] | None:
    place = draft.here
    is_over = place.form and place.pipeline is None and draft.form_state().is_closed
    if answer == YES and not (cannot_reply(draft) or is_over):
        return None
    if answer == YES:
        draft.close(None, "which", journeys=tasks_of(draft))
    else:
        draft.close(None, "closing")
    return []


_ANSWERS: Mapping[str, TakeAnswer] = {
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
"""Functions that take an answer, by the kind of question: they return the moves that it amounts to,
or None if it is no answer."""
