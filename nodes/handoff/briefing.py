"""Build the payload of an escalation, except the transcript, which is read from the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from journeys import Field, JourneySpec, PathwaySpec, Texts
from nodes.services import Services, setting_of
from nodes.state.dialogue_state import DialogueState, FieldAttempt
from nodes.state.escalation import escalation_of
from nodes.state.form_state import FormState, field_named
from nodes.state.messages import last_said
from nodes.state.session import PARTING, Position, Turn
from nodes.texts import worded
from nodes.values import shown

_HIDDEN = ("value", "raw", "reason")
"""Parts of an attempt that are hidden for a sensitive field."""


def briefing_of(services: Services, state: Mapping[str, Any], turn: Turn) -> dict[str, Any]:
    """Return the payload of an escalation : why, about what, where, and what is known.

    Args:
        services: Services of the turn.
        state: The state as the turn leaves it.
        turn: Its record.
    """
    position: Position = state["position"]
    dialogue = DialogueState.of(position)
    takeover = dialogue.takeover
    here = services.spec.pathways[position["pathway"]]
    texts = services.texts_in(here.id)
    said = [reply for reply in turn["replies"] if reply != texts.human_called]
    policy = escalation_of(services.spec, position, takeover)
    fields = list(_fields(services.spec, texts, state))
    return {
        "reason": takeover["reason"] if takeover else "",
        "summary": _summary(texts, here, _readable(services, turn, fields)),
        "position": {
            "pathway": here.id,
            "title": here.title or here.id,
            "question": PARTING.join(said) or last_said(state.get("messages", ())),
            "status": position["status"],
        },
        "stack": [_frame(services, frame) for frame in position["stack"]],
        "fields": fields,
        "metadata": {
            "journey": services.spec.active_in(here.id),
            "journey_version": position["version"],
            "language": services.locale_in(here.id).language,
            "started_at": dialogue.began_at,
            "turn": turn["number"],
            "unclaimed_seconds": policy.unclaimed_seconds if policy else None,
        },
    }


def _frame(services: Services, frame: Mapping[str, Any]) -> dict[str, Any]:
    pathway = services.spec.pathways[frame["pathway"]]
    return {
        "pathway": pathway.id,
        "title": pathway.title or pathway.id,
        "question": frame["question"],
        "turn": frame["turn"],
    }


def _fields(spec: JourneySpec, texts: Texts, state: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Tell of every field that was asked for, or will be where the session stands."""
    position: Position = state["position"]
    attempts: Mapping[str, list[FieldAttempt]] = state.get("fields", {})
    places = {position["pathway"], *(frame["pathway"] for frame in position["stack"])}
    told: set[str] = set()
    for pathway in spec.pathways.values():
        form_state = FormState(
            pathway, attempts, state.get("context", {}), DialogueState.of(position)
        )
        for field in pathway.form.fields if pathway.form else ():
            known = field.name in attempts or pathway.id in places
            if known and field.name not in told:
                told.add(field.name)
                yield _field(texts, field, form_state, attempts.get(field.name, []))


def _field(
    texts: Texts, field: Field, form_state: FormState, attempts: list[FieldAttempt]
) -> dict[str, Any]:
    value = form_state.values.get(field.name)
    hidden = field.sensitive and value is not None
    told = [{**a, **dict.fromkeys(_HIDDEN)} if field.sensitive else dict(a) for a in attempts]
    return {
        "name": field.name,
        "label": field.title,
        "pathway": form_state.pathway.id,
        "type": field.type,
        "required": field.required,
        "sensitive": field.sensitive,
        "value": texts.hidden if hidden else value,
        "is_collected": value is not None,
        "validity": attempts[-1]["validation_status"] if attempts else "missing",
        "attempts": told,
    }


def _readable(
    services: Services, turn: Turn, fields: list[dict[str, Any]]
) -> list[tuple[str, str]]:
    """Return what is known, as people read it: label and value."""
    setting = setting_of(services, turn)
    told: list[tuple[str, str]] = []
    for known in fields:
        if known["is_collected"]:
            field = field_named(services.spec, known["name"])
            value = known["value"]
            told.append((field.title, value if field.sensitive else shown(field, value, setting)))
    return told


def _summary(texts: Texts, here: PathwaySpec, known: list[tuple[str, str]]) -> str:
    """Return in a few lines what the talk is about, and what is known."""
    lines = [worded(texts.summary_line, field=label, value=value) for label, value in known]
    return "\n".join([here.title or here.purpose or here.id, *lines])
