"""Build the first message of a session: the greeting, and the first question of a form.

A graph without a manager, as in Studio, has no such moment: its first turn is a message.
"""

from __future__ import annotations

from nodes.draft import TurnDraft
from nodes.forms.questions import question_of


def greet(draft: TurnDraft) -> None:
    """Say the greeting in the turn that begins a session; nothing if none is declared."""
    greeting = draft.spec.personality.greeting
    if not greeting:
        return
    draft.turn["replies"] = [greeting]
    if draft.here.form is not None:
        _ask_first(draft)


def _ask_first(draft: TurnDraft) -> None:
    """Ask for the first field that the context does not know already.

    Where only what the context knows makes that field count, it is asked in the first turn, which
    takes over what is known.
    """
    live = [field.name for field in draft.form_state().live]
    for field in draft.here.form.fields if draft.here.form else ():
        # Taken for collected here; the first turn checks it, and writes it down.
        if (value := draft.context.get(field.name)) is not None:
            draft.keep(field.name, "valid", value=value, source="tool")
    asked = draft.form_state().asked()
    if asked is not None and asked["kind"] == "field" and asked["about"] in live:
        draft.ask(asked)
        draft.turn["replies"].append(question_of(draft, asked))
