"""Questions to the user, as text and as data for clients, and values as users read them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from journeygraph.journeys import (
    ConfigurationError,
    Field,
    JourneySpec,
    PathwayExecutionError,
    Texts,
)
from journeygraph.journeys.phrases import normal
from journeygraph.nodes.commands import Choose, Command, Confirm, Deny, Fill
from journeygraph.nodes.draft import TurnDraft, talked_about
from journeygraph.nodes.language.expected import YES_OR_NO
from journeygraph.nodes.services import Services, brought_locale, setting_of
from journeygraph.nodes.state.dialogue_state import Asked
from journeygraph.nodes.state.effects import is_taken
from journeygraph.nodes.state.form_state import FormState, field_named
from journeygraph.nodes.values.checking import hint_of, shown
from journeygraph.nodes.values.setting import Setting

_OF_FIELDS = ("field", "correction", "change")
"""Kinds of questions that are about a field; others are about a pathway, or about nothing."""
_OF_PATHWAYS = ("summary", "wrong", "return", "restart", "start_over", "retry", "leave")


def question_of(draft: TurnDraft, asked: Asked, form_state: FormState | None = None) -> str:
    """Return the words of a question; its form is by default that of the pathway talked about."""
    kind, about = asked["kind"], asked["about"]
    if kind == "field":
        return _field_question(draft, draft.field(about))
    if kind == "summary":
        return draft.text("summary", fields=lines_of(draft, form_state or draft.form_state()))
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
        pathway = draft.spec.pathways[about]
        unsure = kind == "start_over" and not is_taken(draft.dialogue, pathway)
        name = "ask_restart_unsure" if unsure else _OF_TASK[kind]
        return draft.text(name, task=pathway.title, options=listed)
    if kind in _FIXED:
        return draft.text(_FIXED[kind])
    return draft.text("clarify", options=listed)


_OF_TASK = {"return": "ask_return", "restart": "restart", "start_over": "ask_restart"}
_FIXED = {
    "human": "offer_human",
    "unclaimed": "unclaimed",
    "more": "more",
    "retry": "retry",
    "wrong": "summary_wrong",
}


def _field_question(draft: TurnDraft, field: Field) -> str:
    try:
        own = field.question_in(draft.context)
    except ConfigurationError as error:
        raise PathwayExecutionError("", "", str(error)) from error
    if not callable(field.ask) and (other := _in_other_words(draft, field)):
        return other
    question, choices = own or draft.text("ask", field=field.title), ", ".join(field.ways)
    if field.type != "enum" or not choices or (own and field.asks):
        return question
    if _is_said(draft, choices):  # by the refusal of a value
        return question
    return draft.text("ask_choice", question=question, choices=choices)


def _is_said(draft: TurnDraft, words: str) -> bool:
    return any(words in reply for reply in (*draft.turn["replies"], *draft.replies))


def _in_other_words(draft: TurnDraft, field: Field) -> str:
    """Return the question for a field that two messages had no value for; empty: as before."""
    dialogue = draft.dialogue
    misses = dialogue.unclear + dialogue.off_topic + dialogue.retries.get(field.name, 0)
    hint = hint_of(field, draft.setting) if misses > 1 and not field.retry_texts else ""
    if not hint or _is_said(draft, hint):
        return ""
    skips = [] if field.required else [draft.text("may_skip")]
    return " ".join([draft.text("hint", field=field.title, hint=hint), *skips])


def lines_of(draft: TurnDraft, form_state: FormState) -> str:
    """Return what a form has collected, a line a field."""
    lines = [
        draft.text("summary_line", field=field.title, value=draft.shown(field, value))
        for field, value in form_state.read_back
    ]
    return "\n".join(lines)


def ask_again(draft: TurnDraft) -> None:
    """Say once more what was asked last; nothing runs."""
    if asked := draft.dialogue.asked:
        draft.replies.append(question_of(draft, asked))
    draft.rest()


@dataclass(frozen=True, slots=True)
class QuestionOption:
    """An option of a question.

    Attributes:
        label: The name for users.
        payload: The message that chooses this option and no other one.
        command: The command of that message; None: it is understood as any other message.
    """

    label: str
    payload: str
    command: Command | None


def offers_in(
    asked: Asked, field: Field | None, texts: Texts, context: Mapping[str, Any]
) -> list[QuestionOption]:
    """Return the options of a question, in order; none if it has to be answered in words."""
    answers = field.answers_in(context) if field and asked["kind"] == "field" else ()
    named = [(answer, None) for answer in answers] or _commands(asked, field, texts)
    if not named:
        return []
    times = Counter(normal(label) for label, _ in named)
    return [
        QuestionOption(label, label if times[normal(label)] == 1 else f"{place}. {label}", command)
        for place, (label, command) in enumerate(named, 1)
    ]


def _commands(asked: Asked, field: Field | None, texts: Texts) -> Sequence[tuple[str, Command]]:
    if asked["kind"] == "field":
        if field is None:
            return []
        if field.type == "boolean":
            named = ((texts.yes, True), (texts.no, False))
            return [(label, Fill(field.name, label, read=value)) for label, value in named]
        several = field.type == "list"
        ways = ((way, [way] if several else way) for way in field.ways)
        return [(way, Fill(field.name, way, read=value)) for way, value in ways]
    if asked["kind"] in YES_OR_NO and not asked["options"]:
        return [(texts.yes, Confirm()), (texts.no, Deny())]
    return [(option["label"], Choose(option["id"])) for option in asked["options"]]


def chosen(draft: TurnDraft) -> Command | None:
    """Return what a message asks for that is the payload of an option; None if it is of none."""
    asked = draft.dialogue.asked
    if asked is None:
        return None
    texts = draft.services.texts_in(draft.position["pathway"])
    offers = offers_in(asked, _field(draft.spec, draft.here.id, asked), texts, draft.context)
    if not offers:
        return None
    message = normal(draft.message)
    command = next((offer.command for offer in offers if normal(offer.payload) == message), None)
    return replace(command, value=draft.message) if isinstance(command, Fill) else command


def asked_after(services: Services, values: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what the user is asked after a turn, for a client; None if nothing is.

    No value of a field is in it.
    """
    position, turn = values["position"], values["turn"]
    asked: Asked | None = position.get("talk", {}).get("asked")
    spec = services.spec.at(values["context"]) if services.spec.moments else services.spec
    pathways = spec.pathways
    if asked is None or "waiting" in turn or position["pathway"] not in pathways:
        return None
    services = services.localized(brought_locale(values))
    field = _field(spec, talked_about(spec, position), asked)
    if field is None and asked["kind"] in _OF_FIELDS:
        return None  # an older version of the journey had it
    about = pathways.get(asked["about"]) if asked["kind"] in _OF_PATHWAYS else None
    asks = field if asked["kind"] == "field" else None
    texts = services.texts_in(position["pathway"])
    offers = offers_in(asked, asks, texts, values["context"])
    return {
        "field": field.name if field else None,
        "kind": asks.type if asks else asked["kind"],
        "label": field.title if field else about.title if about else "",
        "options": [{"label": offer.label, "payload": offer.payload} for offer in offers],
        "hint": hint_of(asks, setting_of(services, turn)) if asks else "",
    }


def _field(spec: JourneySpec, here: str, asked: Asked) -> Field | None:
    if asked["kind"] not in _OF_FIELDS:
        return None
    form, name = spec.pathways[here].form, asked["about"]
    try:
        return (form.get(name) if form else None) or field_named(spec, name)
    except KeyError:
        return None


def spoken(
    spec: JourneySpec, context: Mapping[str, Any], setting: Setting, hidden: str
) -> dict[str, Any]:
    """Return what is known: values of fields as users read them, all others as they are.

    A sensitive value is replaced (`hidden`).
    """
    return {
        name: _said(spec, name, value, setting, hidden)
        for name, value in context.items()
        if value is not None
    }


def _said(spec: JourneySpec, name: str, value: Any, setting: Setting, hidden: str) -> Any:
    try:
        field = field_named(spec, name)
    except KeyError:
        return value
    return hidden if field.sensitive else shown(field, value, setting)


def ask_first(draft: TurnDraft) -> None:
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
