"""What the user is asked, in words."""

from __future__ import annotations

from journeys import Field
from nodes.draft import TurnDraft
from nodes.forms.sheet import Sheet
from nodes.talk import IN_TURN, Asked


def question_of(draft: TurnDraft, asked: Asked, sheet: Sheet | None = None) -> str:
    """Return the words of a question.

    Args:
        draft: The turn.
        asked: What is asked.
        sheet: The form that it belongs to; default: that of the pathway that is talked about.
    """
    kind, about = asked["kind"], asked["about"]
    if kind == "field":
        return _field_question(draft, draft.field(about))
    if kind == "summary":
        return draft.text("summary", fields=lines_of(draft, sheet or draft.sheet()))
    if kind == "correction":
        field = draft.field(about)
        pending = draft.dialogue.corrections[about]
        value = draft.shown(field, pending["value"])
        return draft.text("confirm_correction", field=field.title, value=value)
    if kind == "leave":
        return draft.text("ask_leave", task=draft.spec.pathways.get(about, draft.here).title)
    listed = draft.listed(asked["options"])
    if kind == "paused":
        return draft.text("which_paused", options=listed)
    if kind in _OF_TASK:
        return draft.text(_OF_TASK[kind], task=draft.spec.pathways[about].title, options=listed)
    if kind in _FIXED:
        return draft.text(_FIXED[kind])
    return draft.text("which_first" if about == IN_TURN else "clarify", options=listed)


_OF_TASK = {"return": "ask_return", "restart": "restart", "start_over": "ask_restart"}
_FIXED = {
    "human": "offer_human",
    "unclaimed": "unclaimed",
    "more": "more",
    "retry": "retry",
    "wrong": "summary_wrong",
}


def _field_question(draft: TurnDraft, field: Field) -> str:
    question = field.ask or draft.text("ask", field=field.title)
    if field.type != "enum":
        return question
    return draft.text("ask_choice", question=question, choices=", ".join(field.ways))


def lines_of(draft: TurnDraft, sheet: Sheet) -> str:
    """Return what a form has collected, a line a field."""
    values = sheet.values
    known = [(field, values[field.name]) for field in sheet.live if field.name in values]
    lines = [
        draft.text("summary_line", field=field.title, value=draft.shown(field, value))
        for field, value in known
    ]
    return "\n".join(lines)


def ask_again(draft: TurnDraft) -> None:
    """Say once more what was asked last; nothing runs."""
    if asked := draft.dialogue.asked:
        draft.replies.append(question_of(draft, asked))
    draft.rest()
