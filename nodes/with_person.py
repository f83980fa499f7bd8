"""While a person has the conversation: the assistant is silent, and operators act."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from nodes.commands import Confirm, Deny
from nodes.course import course_of
from nodes.escalating import escalation_of, released, takeover_of, with_talk
from nodes.forms.questions import question_of
from nodes.hearing import Ear, hear
from nodes.messages import GIVEN_BACK, mark
from nodes.moves import note
from nodes.services import Services
from nodes.setting import setting_of
from nodes.state import PARTING, Position, Turn, Update
from nodes.talk import Asked, EscalationChange, Takeover

WITH_PERSON = "with_person"
"""Flag of a turn in which the assistant was silent, since a person has the conversation."""


def with_person(
    services: Services, state: Mapping[str, Any], position: Position, turn: Turn
) -> Update | None:
    """Return what becomes of a turn in which the assistant has no say; None if it has.

    What the user writes meanwhile is kept for the person; no model is asked.
    """
    if "operator" in turn:
        return _acted(services, state, position, turn)
    takeover = takeover_of(position)
    if takeover is None or turn["kind"] != "turn" or turn["message"] is None:
        return None
    position = with_talk(position, last_at=turn["at"])
    silent: Turn = {**turn, "flags": [*turn["flags"], WITH_PERSON]}
    if takeover["by"] is None:
        return _unclaimed(services, state, position, silent, takeover)
    return {"position": position, "turn": silent}


def _unclaimed(
    services: Services,
    state: Mapping[str, Any],
    position: Position,
    turn: Turn,
    takeover: Takeover,
) -> Update:
    """Offer to go on meanwhile once nobody has come for long, and take the answer to that."""
    asked = (position.get("talk") or {}).get("asked")
    if asked and asked["kind"] == "unclaimed":
        position = with_talk(position, asked=None)
        answer = _answer(services, asked, turn)
        if answer is True:
            return _resumed(services, state, position, turn, reason="unclaimed", status="expired")
        if answer is False:
            return _spoken(services, position, turn, "human_called")
        return {"position": position, "turn": turn}
    policy = escalation_of(services.spec, position)
    waited = _seconds(takeover.get("offered_at", takeover["since"]), turn["at"])
    if policy is None or waited < policy.unclaimed_seconds:
        return {"position": position, "turn": turn}
    offered: Takeover = {**takeover, "offered_at": turn["at"]}
    question = Asked(kind="unclaimed", about=takeover["id"], options=[])
    position = with_talk(position, takeover=offered, asked=question)
    return _spoken(services, position, turn, "unclaimed")


def _answer(services: Services, asked: Asked, turn: Turn) -> bool | None:
    """Return whether the user said yes or no; None for neither."""
    setting = setting_of(services, turn)
    for command in hear(turn["message"] or "", Ear(asked, (), {}, (), setting)).commands:
        if isinstance(command, Confirm):
            return True
        if isinstance(command, Deny):
            return False
    return None


def _acted(services: Services, state: Mapping[str, Any], position: Position, turn: Turn) -> Update:
    """Do what an operator does; the manager has seen to it that they may."""
    act, takeover = turn["operator"], takeover_of(position)
    assert takeover is not None, "the manager lets nobody act on a conversation of the assistant's"
    if act["act"] == "release":
        return _resumed(services, state, position, turn, reason=act["by"], status="released")
    if takeover["by"] is None:
        position, turn = _claimed(position, turn, takeover, act["by"])
    if act["act"] == "say":
        turn = {**turn, "replies": [act["text"]]}
    return {"position": position, "turn": turn}


def _claimed(position: Position, turn: Turn, takeover: Takeover, by: str) -> tuple[Position, Turn]:
    """Give the conversation to the operator who takes it."""
    taken: Takeover = {**takeover, "by": by}
    event = note("claimed", position, reason=by)
    turn = {**turn, "audit": [*turn["audit"], event]}
    return with_talk(position, takeover=taken, asked=None), _changed(turn, taken, "claimed")


def _resumed(
    services: Services,
    state: Mapping[str, Any],
    position: Position,
    turn: Turn,
    *,
    reason: str,
    status: Any,
) -> Update:
    """Give the conversation back to the assistant, which goes on where it was paused."""
    takeover = takeover_of(position)
    assert takeover is not None
    position, events = released(position, reason)
    turn = _changed({**turn, "audit": [*turn["audit"], *events]}, takeover, status)
    position, question = _open_question(services, state, position, turn)
    texts = services.texts_in(position["pathway"])
    words = [texts.released, *([question] if question else [])]
    for place, text in enumerate(words):
        services.say(text if place == 0 else PARTING + text)
    turn = {**turn, "replies": words, "worded": [*range(len(words))]}
    return {"position": position, "turn": turn, "messages": [mark(GIVEN_BACK, turn)]}


def _open_question(
    services: Services, state: Mapping[str, Any], position: Position, turn: Turn
) -> tuple[Position, str]:
    """Return what is asked where the conversation is taken up again, and remember that it is."""
    if position["pathway"] not in services.spec.pathways:
        return position, ""  # of an older version, in which nothing can be asked now
    course = course_of(services, state, turn, position)  # type: ignore[arg-type]
    asked = course.talk.get("asked") or course.sheet().asked()
    if asked is None:
        return position, ""
    return with_talk(position, asked=asked), question_of(course, asked)


def _spoken(services: Services, position: Position, turn: Turn, name: str) -> Update:
    """Say a text of the catalogue, and nothing else."""
    text = getattr(services.texts_in(position["pathway"]), name)
    services.say(text)
    return {"position": position, "turn": {**turn, "replies": [text], "worded": [0]}}


def _changed(turn: Turn, takeover: Takeover, status: Any) -> Turn:
    change = EscalationChange(
        id=takeover["id"],
        status=status,
        by=takeover["by"],
        reason=takeover["reason"],
        payload=None,
    )
    return {**turn, "escalations": [*turn.get("escalations", ()), change]}


def _seconds(since: str, until: str) -> float:
    return (datetime.fromisoformat(until) - datetime.fromisoformat(since)).total_seconds()
