"""While a person has the conversation: the assistant is silent, and operators act."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from nodes.commands import Confirm, Deny
from nodes.draft import TurnDraft
from nodes.escalating import escalation_of, release, takeover_of
from nodes.forms.questions import question_of
from nodes.language import Expected, read_message, ready_to_read
from nodes.messages import GIVEN_BACK, mark
from nodes.moves import note
from nodes.state import PARTING, Update
from nodes.talk import Asked, EscalationChange, Takeover

WITH_PERSON = "with_person"
"""Flag of a turn in which the assistant was silent, since a person has the conversation."""


async def with_person(draft: TurnDraft) -> Update | None:
    """Return what becomes of a turn in which the assistant has no say; None if it has.

    What the user writes meanwhile is kept for the person; no model is asked.
    """
    turn = draft.turn
    if "operator" in turn:
        return _acted(draft)
    takeover = takeover_of(draft.position)
    if takeover is None or turn["kind"] != "turn" or turn["message"] is None:
        return None
    draft.dialogue.last_at = turn["at"]
    turn["flags"].append(WITH_PERSON)
    if takeover["by"] is None:
        return await _unclaimed(draft, takeover)
    return draft.undecided()


async def _unclaimed(draft: TurnDraft, takeover: Takeover) -> Update:
    """Offer to go on meanwhile once nobody has come for long, and take the answer to that."""
    dialogue = draft.dialogue
    asked = dialogue.asked
    if asked and asked["kind"] == "unclaimed":
        dialogue.asked = None
        answer = await _answer(draft, asked)
        if answer is True:
            return _resumed(draft, takeover, reason="unclaimed", status="expired")
        return draft.undecided() if answer is None else _said(draft, "human_called")
    policy = escalation_of(draft.spec, draft.position, takeover)
    waited = _seconds(takeover.get("offered_at", takeover["since"]), draft.turn["at"])
    if policy is None or waited < policy.unclaimed_seconds:
        return draft.undecided()
    dialogue.takeover = {**takeover, "offered_at": draft.turn["at"]}
    dialogue.asked = Asked(kind="unclaimed", about=takeover["id"], options=[])
    return _said(draft, "unclaimed")


async def _answer(draft: TurnDraft, asked: Asked) -> bool | None:
    """Return whether the user said yes or no; None for neither."""
    await ready_to_read(draft.setting.language)
    for command in read_message(draft.message, Expected(asked, (), {}, (), draft.setting)).commands:
        if isinstance(command, Confirm):
            return True
        if isinstance(command, Deny):
            return False
    return None


def _acted(draft: TurnDraft) -> Update:
    """Do what an operator does; the manager has seen to it that they may."""
    act, takeover = draft.turn["operator"], draft.dialogue.takeover
    assert takeover is not None, "the manager lets nobody act on a conversation of the assistant's"
    if act["act"] == "release":
        return _resumed(draft, takeover, reason=act["by"], status="released")
    if takeover["by"] is None:
        _claim(draft, takeover, act["by"])
    if act["act"] == "say":
        draft.turn["replies"] = [act["text"]]
    return draft.undecided()


def _claim(draft: TurnDraft, takeover: Takeover, by: str) -> None:
    """Give the conversation to the operator who takes it."""
    taken: Takeover = {**takeover, "by": by}
    draft.turn["audit"].append(note("claimed", draft.position, reason=by))
    draft.dialogue.takeover, draft.dialogue.asked = taken, None
    _change(draft, taken, "claimed")


def _resumed(draft: TurnDraft, takeover: Takeover, *, reason: str, status: Any) -> Update:
    """Give the conversation back to the assistant, which goes on where it was paused."""
    draft.turn["audit"] += release(draft.position, draft.dialogue, reason)
    draft.position = {**draft.position, "failures": 0}
    _change(draft, takeover, status)
    question = _open_question(draft)
    texts = draft.services.texts_in(draft.position["pathway"])
    _say(draft, texts.released, *([question] if question else []))
    return {**draft.undecided(), "messages": [mark(GIVEN_BACK, draft.turn)]}


def _open_question(draft: TurnDraft) -> str:
    """Return what is asked where the conversation is taken up again, and remember that it is."""
    if draft.position["pathway"] not in draft.spec.pathways:
        return ""  # of an older version, in which nothing can be asked now
    asked = draft.dialogue.asked or draft.sheet().asked()
    if asked is None:
        return ""
    draft.ask(asked)
    return question_of(draft, asked)


def _said(draft: TurnDraft, name: str) -> Update:
    """Say a text of the catalogue, and nothing else."""
    _say(draft, draft.text(name))
    return draft.undecided()


def _say(draft: TurnDraft, *replies: str) -> None:
    for place, text in enumerate(replies):
        draft.services.say(text if place == 0 else PARTING + text)
    draft.turn["replies"] = list(replies)
    draft.turn["worded"] = list(range(len(replies)))


def _change(draft: TurnDraft, takeover: Takeover, status: Any) -> None:
    change = EscalationChange(
        id=takeover["id"],
        status=status,
        by=takeover["by"],
        reason=takeover["reason"],
        payload=None,
    )
    draft.turn["escalations"] = [*draft.turn.get("escalations", ()), change]


def _seconds(since: str, until: str) -> float:
    return (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds()
