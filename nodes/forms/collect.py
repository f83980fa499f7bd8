"""Collect the fields that a pathway needs, one question at a time."""

from __future__ import annotations

from typing import Any

from journeys import Field, PathwaySpec
from nodes.draft import TurnDraft, draft_of
from nodes.forms.filling import reason_of, refused
from nodes.forms.questions import question_of
from nodes.services import Services
from nodes.state.session import PathwayState, Update
from nodes.values import Unreadable, refusal_of, value_of

FORM = "form"
"""Name of what a pathway's progress has of its form."""


async def collect(state: PathwayState, services: Services) -> Update:
    """Ask for the next field of the pathway that runs, unless nothing is left to ask.

    A value that the context has already, from the start or from a tool, is not asked for: it is
    checked, and written down as an attempt. `settle` keeps what this comes to.
    """
    turn = state["turn"]
    assert turn["run"] is not None
    draft = draft_of(services, state, turn, state["position"])
    await _known_already(draft, draft.spec.pathways[turn["run"]])
    await _held_for(draft, draft.spec.pathways[turn["run"]])
    sheet = draft.sheet(draft.spec.pathways[turn["run"]])
    asked = sheet.asked()
    if asked is not None and turn.get("asks") != asked["about"]:
        draft.replies.append(question_of(draft, asked, sheet))
    draft.note_late()
    outcome: dict[str, Any] = {
        "asked": asked,
        "said": draft.replies,
        "attempts": draft.attempts,
        "ops": draft.ops,
        "audit": draft.audit,
    }
    return {"progress": {FORM: outcome}, "context": dict(draft.context)}


def is_collected(progress: Any) -> bool:
    """Say whether a pathway's form has nothing left to ask."""
    return FORM not in progress or progress[FORM]["asked"] is None


async def _known_already(draft: TurnDraft, pathway: PathwaySpec) -> None:
    """Take over what the context knows of fields beyond what the user said."""
    reopened = draft.dialogue.reopened
    for field in pathway.form.fields if pathway.form else ():
        known = draft.context.get(field.name)
        if known is None or known == draft.value(field.name) or field.name in reopened:
            continue
        if field in draft.sheet(pathway).live:  # what was taken over just now may decide that
            await _take_over(draft, field, known)


async def _held_for(draft: TurnDraft, pathway: PathwaySpec) -> None:
    """Take the values that were said for this pathway before it began."""
    held = draft.dialogue.held.get(pathway.id, {})
    for field in pathway.form.fields if held and pathway.form else ():
        given = held.get(field.name)
        if given is None or field not in draft.sheet(pathway).live:
            continue
        details: dict[str, Any] = {**given, "source": "user_provided"}
        refusal = await refused(draft, field, given["value"])
        if refusal is None:
            draft.keep(field.name, "valid", **details)
            draft.note("field_set", trigger=field.name, reason="said before this began")
        else:
            reason = reason_of(draft, refusal)
            draft.keep(field.name, "invalid", **{**details, "reason": reason})
            draft.note("field_refused", trigger=field.name, reason=reason)
            draft.replies.append(reason)
        draft.synced(field.name)


async def _take_over(draft: TurnDraft, field: Field, known: Any) -> None:
    said = known if isinstance(known, str) else None
    seconds = draft.services.config.pathway_timeout_seconds
    try:
        value = known if said is None else value_of(field, said, draft.setting)
        refusal = await refusal_of(field, value, draft.context, draft.setting, seconds=seconds)
    except Unreadable as unreadable:
        value, refusal = known, unreadable
    if refusal is None:
        draft.keep(field.name, "valid", value=value, raw=said or "", source="tool")
        draft.note("field_set", trigger=field.name, reason="known already")
    else:
        reason = refusal.sentence or draft.text(refusal.text, **refusal.values)
        draft.keep(field.name, "invalid", value=known, raw=said or "", source="tool", reason=reason)
        draft.replies.append(reason)
        draft.note("field_refused", trigger=field.name, reason=reason)
    draft.synced(field.name)
