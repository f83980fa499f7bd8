"""Which commands may be followed now, whoever gave them; the rest is dropped and audited."""

from __future__ import annotations

from collections.abc import Sequence

from journeys import JourneySpec
from nodes.commands import Choose, Clear, Command, Confirm, Correct, Deny, Go, Human
from nodes.draft import TurnDraft
from nodes.forms.sheet import owners
from nodes.legal import asks_model, legal
from nodes.repair.people import policy_of
from nodes.steer import OUTSIDE


def lawful(draft: TurnDraft, commands: Sequence[Command]) -> list[Command]:
    """Return the commands that answer, change or ask for something that is there.

    Values for fields, and moves that a transition leads to, are judged where they are made.
    """
    kept: list[Command] = []
    for command in commands:
        if reason := _why_not(draft, command):
            draft.note("dropped", trigger=type(command).__name__.lower(), reason=reason)
            draft.flags.append(OUTSIDE)
        else:
            kept.append(command)
    return kept


def _why_not(draft: TurnDraft, command: Command) -> str:
    if isinstance(command, (Confirm, Deny, Choose)):
        return _why_no_answer(draft, command)
    if isinstance(command, (Correct, Clear)):
        elsewhere = owners(draft.spec, command.field) and not is_active(draft, command.field)
        return f"'{command.field:.80}' belongs to another journey" if elsewhere else ""
    if isinstance(command, Go):
        return "" if _leads(draft, command) else f"nothing leads to '{command.target:.80}' here"
    if isinstance(command, Human) and command.reason != "asked":
        policy = policy_of(draft)
        return "" if policy and policy.sentiment else "nobody is called for a mood here"
    return ""


def _why_no_answer(draft: TurnDraft, command: Confirm | Deny | Choose) -> str:
    asked = draft.dialogue.asked
    option = "" if isinstance(command, Confirm) else command.option
    if option or isinstance(command, Choose):
        offered = [one["id"] for one in asked["options"]] if asked else []
        return "" if option in offered else f"'{option:.80}' was not offered"
    return "" if asked and asked["kind"] != "field" else "nothing was asked that this answers"


def _leads(draft: TurnDraft, command: Go) -> bool:
    """Say whether a message may lead there: by what an author does not keep from models."""
    open_now = legal(draft.spec, draft.position)
    return any(asks_model(t) and t.target == command.target for t in open_now)


def is_active(draft: TurnDraft, name: str) -> bool:
    """Say whether a field belongs to the journey that is active, and so may be spoken of."""
    return belongs(draft.spec, name, draft.spec.part_of(draft.here.id).id)


def belongs(spec: JourneySpec, name: str, part: str) -> bool:
    """Say whether a field belongs to a journey, which may be one of several in a concierge."""
    return any(spec.part_of(owner.id).id == part for owner in owners(spec, name))
