"""Find claims about a form in a model's wording that the runtime did not make."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nodes.draft import TurnDraft
from nodes.forms.questions import lines_of
from nodes.replies.wording import says
from nodes.state.secrets import secrets_in
from nodes.values import hint_of

_FIGURES = re.compile(r"\d+")


def claimed(draft: TurnDraft, reply: str) -> str:
    """Return in a word why a model's reply must not be said: "figures", "hidden"; empty if it may.

    A number that was not in the conversation is an invented value; in other words, what a value is
    cannot be found by code. Nothing that is sensitive is said.

    Args:
        draft: The turn, with what was taken of the message.
        reply: What the model would say.
    """
    if any(says(reply, secret) for secret in secrets_in(draft.spec, draft.fields)):
        return "hidden"
    given = {figure for text in _given(draft) for figure in _figures(text)}
    return "" if set(_figures(reply)) <= given else "figures"


def _given(draft: TurnDraft) -> Iterator[str]:
    """Yield all that a number in a reply may come from."""
    yield draft.turn["message"] or ""
    yield draft.question
    yield draft.spec.part_of(draft.here.id).purpose
    for name, value in draft.context.items():
        yield f"{name} {value}"
    yield lines_of(draft, draft.form_state())
    for field in draft.here.form.fields if draft.here.form else ():
        yield " ".join([field.ask, field.title, field.description, *field.ways])
        yield hint_of(field, draft.setting)


def _figures(text: str) -> list[str]:
    return [figure.lstrip("0") for figure in _FIGURES.findall(text)]
