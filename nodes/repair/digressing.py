"""Answer what leads off or asks about the question, and come back to the same question."""

from __future__ import annotations

from collections.abc import Sequence

from nodes.commands import Command, Explain, Noise, OffTopic, Repeat, Status, Wait
from nodes.draft import TurnDraft
from nodes.forms.sheet import owners
from nodes.language.greetings import is_greeting
from nodes.language.questions import may_be_about, questions_in
from nodes.repair.clarifying import MOST_UNCLEAR, clarify, tasks_of
from nodes.repair.knowledge import BESIDE
from nodes.repair.people import offer_person, policy_of
from nodes.repair.reviewing import status
from nodes.talk import Option

MOST_OFF_TOPIC = 3
"""Messages in a row that lead off, after which it is said what this is about (T19)."""


def digressed(draft: TurnDraft, commands: Sequence[Command]) -> bool:
    """Answer a message that asks about the talk itself or leads off; say whether it did.

    None of it counts as an attempt at what was asked (T06, T19, T23, T33).
    """
    for command in commands:
        if draft.query and isinstance(command, BESIDE):
            continue
        if isinstance(command, Repeat):
            _repeat(draft)
        elif isinstance(command, Explain):
            _explain(draft, command)
        elif isinstance(command, OffTopic):
            _off_topic(draft, command)
        elif isinstance(command, Status):
            status(draft)
        elif isinstance(command, (Wait, Noise)):
            name = "wait" if isinstance(command, Wait) else "noise"
            draft.repair(name, name)
        else:
            continue
        return True
    return False


def _repeat(draft: TurnDraft) -> None:
    if draft.question and not draft.spec.pattern_in(draft.here.id, "repeat"):
        draft.note("repaired", trigger="repeat")
        draft.replies.append(draft.question)
    else:
        draft.repair("repeat", "noise")
    draft.rest()


def _explain(draft: TurnDraft, command: Explain) -> None:
    asked = draft.dialogue.asked
    name = command.field or (asked["about"] if asked and asked["kind"] == "field" else "")
    known = owners(draft.spec, name)
    if not known:
        draft.repair("explain", "explain", description=draft.here.purpose)
        return
    field = draft.field(name)
    if field.description:
        draft.repair("explain", "explain", description=field.description, field=field.title)
    else:
        draft.repair("explain", "explain_plain", field=field.title)


def _off_topic(draft: TurnDraft, command: OffTopic) -> None:
    times = draft.dialogue.off_topic + 1
    draft.dialogue.off_topic = times
    if times >= MOST_OFF_TOPIC:
        draft.repair("off_topic", "off_topic_again", tasks=tasks_of(draft))
        if policy_of(draft):
            offer_person(draft, "off_topic")
    elif command.unsupported:
        draft.repair("unsupported", "unsupported", tasks=tasks_of(draft))
    else:
        _beside_the_point(draft, "off_topic", "off_topic", attempted=command.guessed)


def _beside_the_point(draft: TurnDraft, pattern: str, name: str, *, attempted: bool) -> None:
    """Answer what gives no answer: a question, an attempt at the value, or anything else.

    Args:
        draft: The turn.
        pattern: The repair pattern.
        name: The text for anything else.
        attempted: Whether it may be an attempt.
    """
    asked = draft.dialogue.asked
    if questions_in(draft.message, draft.setting.language):
        draft.repair(pattern, "cannot_answer")
        return
    field = draft.field(asked["about"]) if asked and asked["kind"] == "field" else None
    if field and attempted and may_be_about(draft.message, field, draft.setting.language):
        draft.repair(pattern, "not_read", field=field.title)
    else:
        draft.repair(pattern, name)


def not_understood(draft: TurnDraft) -> None:
    """Answer what nothing could be made of: ask the same again, then offer a person.

    Who greets back, or says first what they are here for, is simply asked.
    """
    asked = draft.dialogue.asked
    if draft.dialogue.last_at is None or is_greeting(draft.turn["message"] or ""):
        return
    if asked and len(asked["options"]) > 1:
        _clarify_as(draft, asked["options"], asked["kind"], asked["about"])
        return
    times = draft.dialogue.unclear + 1
    draft.dialogue.unclear = times
    _beside_the_point(draft, "noise", "noise", attempted=True)
    if times >= MOST_UNCLEAR and policy_of(draft):
        offer_person(draft, "not_understood")


def _clarify_as(draft: TurnDraft, options: Sequence[Option], kind: str, about: str) -> None:
    """Ask again which of the options is meant, whatever they are for."""
    clarify(draft, options)
    now = draft.dialogue.asked
    if now and now["kind"] == "clarify":
        draft.ask({**now, "kind": kind, "about": about})
