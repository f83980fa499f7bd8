"""Check the reply before or after it is sent; close the turn with the allowed text.

Personal data, and what guidelines forbid and require, are found without a model, always. A model
judges the reply against the guidelines of the turn, and rewrites an invalid one, once. Of a
session, a reply that is checked after it is sent is judged after its turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from journeygraph.journeys import JourneySpec, Validation
from journeygraph.journeys.declarations.guidelines import GuidelineSpec
from journeygraph.nodes.guidelines.index import index_of
from journeygraph.nodes.journal import Usage
from journeygraph.nodes.llm.call import limited, seconds_for
from journeygraph.nodes.llm.models import CHECK
from journeygraph.nodes.llm.replies import Examiner
from journeygraph.nodes.replies.examination import Examination, Finding
from journeygraph.nodes.replies.pii import load as load
from journeygraph.nodes.replies.scope import (
    counting,
    is_own_voice,
    place_of,
    safe_reply_of,
    validation_of,
)
from journeygraph.nodes.replies.wording import broken
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.session import PARTING, ReplyCheck, SessionState, Turn, Update
from journeygraph.nodes.telemetry import JOURNEY, measure
from journeygraph.nodes.turn.settle import closed

if TYPE_CHECKING:
    from journeygraph.nodes.capability import Capabilities

BYPASSED = "validation_bypassed"
"""Flag of a turn whose reply a model should have judged, and could not."""


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Final reply, and the check of the first version."""

    reply: str
    first: Finding
    outcome: str
    review: bool
    bypassed: bool


async def validate(state: SessionState, services: Services, capabilities: Capabilities) -> Update:
    """Check the reply of the turn, and close it with the allowed text.

    Before it is sent, an invalid reply is rewritten once, and then replaced. After it was sent,
    what is wrong with it is recorded alone; what is personal never went out. What was wrong with
    the reply before is corrected first.
    """
    turn = state["turn"]
    if services.outlet is not None and not services.holds:
        _tell(services, services.outlet.rest())
    validation = validation_of(services.spec, place_of(turn)) if turn["replies"] else None
    if validation is not None and not _is_own_voice(services, turn):
        turn = await _checked(services, turn, validation)
    turn = _corrected(turn)
    if services.holds:
        _tell(services, PARTING.join(turn["replies"]))
    return closed(services, state, turn, capabilities)


def _tell(services: Services, text: str) -> None:
    if text:
        services.emit({"type": "token", "text": text})


def _corrected(turn: Turn) -> Turn:
    """Return the turn with the correction that is due, if the assistant has a say in it."""
    correction, replies = turn.get("correction"), turn["replies"]
    if not correction or not replies or turn["kind"] in ("operator", "release"):
        return turn
    worded = [0, *(place + 1 for place in turn.get("worded", ()))]
    return {**turn, "replies": [correction, *replies], "worded": worded}


def _is_own_voice(services: Services, turn: Turn) -> bool:
    """Return whether the runtime itself speaks, in texts that its operator wrote."""
    if turn["kind"] == "operator":
        return True  # a person's words are their own
    if turn["kind"] == "failure":
        return turn.get("worded") == [0]
    if turn["kind"] == "waiting":
        return False  # an agent asks
    return is_own_voice(services.spec, services.texts, turn)


async def _checked(services: Services, turn: Turn, validation: Validation) -> Turn:
    now = asyncio.get_running_loop().time
    begun, place = now(), place_of(turn)
    checks = services.checks
    assert checks is not None, "a graph has this step only where something is checked"
    guidelines = in_force(services.spec, turn, place)
    until = begun + seconds_for(turn, services.config, validation.timeout_seconds)
    examiner = _examiner(services, turn, guidelines, until)
    # Without a session there is no place where a check could be left for later.
    later = checks.mode == "after_send" and services.effects is not None
    examination = Examination(checks, guidelines, None if later else examiner)
    made = PARTING.join(turn["replies"])
    if checks.mode == "after_send":
        ended = await _after(examination, made)
    else:
        safe = safe_reply_of(services.spec, place) or services.texts_in(place).unsafe
        ended = await _before(examination, made, validation.confidence, safe)
    row = ReplyCheck(
        pathway=place,
        is_valid=ended.first.is_valid,
        violations=ended.first.violations,
        confidence=ended.first.judgement.confidence if ended.first.judgement else None,
        latency_ms=round((now() - begun) * 1000, 3),
        outcome=ended.outcome,
        bypassed=ended.bypassed,
        review=ended.review,
    )
    if later and examiner is not None:
        row["pending"] = True
    else:
        _measured(services, row)
    return {
        **turn,
        "replies": turn["replies"] if ended.reply == made else [ended.reply],
        "worded": turn.get("worded", []) if ended.reply == made else [],
        "checks": [*turn.get("checks", ()), row],
        "flags": [*turn["flags"], *([BYPASSED] if ended.bypassed else [])],
    }


async def _before(examination: Examination, reply: str, threshold: float, safe: str) -> _Outcome:
    first = await examination.finding(reply)
    if not first.is_refused(threshold):
        return _sent(first, review=first.is_unsure(threshold))
    again = await examination.rewritten(first)
    if again is None or again.is_refused(threshold):
        return _Outcome(safe, first, "replaced", review=True, bypassed=False)
    bypassed = again.failure is not None
    review = bypassed or again.is_unsure(threshold)
    return _Outcome(again.text, first, "rewritten", review, bypassed)


async def _after(examination: Examination, reply: str) -> _Outcome:
    """Return what was sent; what is wrong with it besides personal data is for a review."""
    found = await examination.finding(reply, asks_always=True)
    return _sent(found, review=found.is_refused(0.0) or found.is_unsure(0.0))


async def judged(services: Services, turn: Turn) -> ReplyCheck:
    """Return the row of a reply that was sent, now that a model has judged it or could not."""
    now = asyncio.get_running_loop().time
    begun, place, sent = now(), place_of(turn), turn["checks"][-1]
    found, is_asked = Finding(""), False
    if (validation := _validation_at(services.spec, place)) is not None:
        guidelines = in_force(services.spec, turn, place)
        until = begun + validation.timeout_seconds
        examiner = _examiner(services, turn, guidelines, until)
        is_asked = examiner is not None
        examination = Examination(services.checks or validation, guidelines, examiner)
        found = await examination.finding(_own_words(turn), asks_always=True)
    bypassed = not is_asked or found.failure is not None
    row = ReplyCheck(
        pathway=sent["pathway"],
        is_valid=sent["is_valid"] and found.is_valid,
        violations=list(dict.fromkeys([*sent["violations"], *found.violations])),
        confidence=found.judgement.confidence if found.judgement else None,
        latency_ms=round(sent["latency_ms"] + (now() - begun) * 1000, 3),
        outcome=sent["outcome"],
        bypassed=bypassed,
        review=sent["review"] or bypassed or found.is_refused(0.0) or found.is_unsure(0.0),
    )
    _measured(services, row)
    return row


def _measured(services: Services, check: ReplyCheck) -> None:
    labels = {
        JOURNEY: services.spec.id,
        "journeygraph.check.outcome": check["outcome"],
        "journeygraph.check.bypassed": check["bypassed"],
    }
    measure("journeygraph.reply.checked", labels)


def is_refused(
    spec: JourneySpec, turn: Turn, violations: Sequence[str], confidence: float | None
) -> bool:
    """Return whether a reply that was sent would not have been, had it been held back.

    Args:
        confidence: The confidence of that model; None if no model judged it.
    """
    validation = _validation_at(spec, place_of(turn))
    if validation is None or not turn.get("checks"):
        return False
    if broken(_own_words(turn), in_force(spec, turn, place_of(turn))):
        return True
    is_doubted = len(violations) > len(turn["checks"][-1]["violations"])
    return is_doubted and confidence is not None and confidence > validation.confidence


def _validation_at(spec: JourneySpec, place: str) -> Validation | None:
    return validation_of(spec, place) if place in spec.pathways else None


def _own_words(turn: Turn) -> str:
    replies = turn["replies"]
    is_corrected = bool(replies) and replies[0] == turn.get("correction")
    return PARTING.join(replies[1:] if is_corrected else replies)


def _sent(found: Finding, *, review: bool) -> _Outcome:
    bypassed = found.failure is not None
    outcome = "masked" if found.masked else "sent"
    return _Outcome(found.text, found, outcome, review or bypassed, bypassed)


def _examiner(
    services: Services, turn: Turn, guidelines: Sequence[GuidelineSpec], until: float
) -> Examiner | None:
    models, config = services.models, services.config
    if models is None or not guidelines:
        return None
    part = services.spec.part_of(place_of(turn))
    if config.validation_model is None and part.model and CHECK not in models.own:
        chat = models.named(part.model)
    else:
        chat = models.step(config.validation_model or config.agent_model, CHECK)
    about = {
        "conversation": part.purpose,
        "user_message": turn["message"],
        "rules": [_rule(guideline) for guideline in guidelines],
    }
    judge = limited(chat, config, config.validation_max_tokens)
    writer = limited(chat, config, config.wording_max_tokens)
    return Examiner(judge, writer, services.usage or Usage(), until, about)


def _rule(guideline: GuidelineSpec) -> Mapping[str, Any]:
    told = {
        "rule": guideline.id,
        "when": guideline.condition,
        "then": guideline.action,
        "must_not_contain": list(guideline.forbids),
        "must_contain_one_of": list(guideline.requires),
    }
    return {name: value for name, value in told.items() if value}


def in_force(spec: JourneySpec, turn: Turn, pathway: str) -> list[GuidelineSpec]:
    """Return the guidelines that a reply is held against, those that count first at the front.

    They are those that hold in what ran in this turn. If they could not be judged, the critical
    ones.
    """
    if (holding := turn.get("guidelines")) is not None:
        return index_of(spec.guidelines).named(one["id"] for one in counting(turn, holding))
    journey = spec.part_of(pathway).id
    return [
        guideline
        for guideline in spec.guidelines
        if guideline.critical and guideline.enabled and guideline.applies_in(pathway, journey)
    ]
