"""Understand a message in a journey that collects or hands over: heard, decided, written down."""

from __future__ import annotations

from collections.abc import Sequence

from journeys import MaxPathwayDepthError
from nodes.asking import ask_model, guided, weighed_for
from nodes.commands import Command, Verdict
from nodes.course import Course, course_of
from nodes.deciding import decide
from nodes.forms.attempts import by_field
from nodes.forms.claims import claimed
from nodes.guidance import Weighed
from nodes.hearing import Heard
from nodes.limits import limits_of
from nodes.listening import (
    asking_in,
    authors_first,
    guessed,
    heard_for,
    heard_in,
    in_free_text,
    welcome,
)
from nodes.llm.verdicts import Understood
from nodes.messages import last_said
from nodes.repair.people import called_by_word
from nodes.services import Services
from nodes.state import Position, SessionState, Turn, Update
from nodes.steer import Steering, unsettled
from nodes.triggers import free_verdicts
from nodes.visits import overwritten
from nodes.writing import written

ONLY_CODE = ("condition",)
"""Tiers that are judged though the message wholly answers what was asked."""


async def converse(
    state: SessionState, services: Services, turn: Turn, position: Position
) -> Update:
    """Decide what a turn runs, and what is said and collected before that.

    Raises:
        MaxPathwayDepthError: Under fail_fast, when a detour would exceed the depth limit.
    """
    course = course_of(services, state, turn, position, last_said(state["messages"]))
    if called_by_word(course):
        return _update(state, course, turn)
    await welcome(course)
    welcomed = len(course.words)
    heard = heard_in(course, turn["message"] or "")
    free = await free_verdicts(services, position, turn["message"] or "", state["context"])
    heard, free = await in_free_text(course, heard, free)
    if heard.whole:
        free = [verdict for verdict in free if verdict.tier in ONLY_CODE]
    turn, answer, weighed = await _understood(course, heard, free)
    commands = answer.commands if answer else _without_model(course, heard, free)
    course.turn = turn
    await decide(course, [*free, *commands], limits_of(services.config))
    if course.refused_depth and services.fails_fast:
        raise MaxPathwayDepthError(*course.refused_depth)
    _worded_by_model(course, answer, welcomed)
    turn = guided(services.spec, turn, weighed, course.run, course.position)
    return _update(state, course, turn)


async def _understood(
    course: Course, heard: Heard, free: Sequence[Verdict]
) -> tuple[Turn, Understood | None, Weighed]:
    """Ask a model what hearing left open, and which rules hold; None where it said nothing."""
    services, turn = course.services, course.turn
    standing, limits = course.standing, limits_of(services.config)
    questions = [] if heard.sure else unsettled(services.spec, course.position, free)
    weighed = await weighed_for(services, standing, turn, free, questions, limits)
    wants = not heard.sure and (questions or _waits(course))
    form = asking_in(course) if wants and services.models else None
    turn, answer, weighed = await ask_model(services, standing, turn, questions, weighed, form)
    if form is None or answer == Understood():
        return turn, None, weighed
    return turn, answer, weighed


def _waits(course: Course) -> bool:
    """Say whether something is open that a message may answer or change."""
    return course.here.form is not None or bool(course.talk.get("asked"))


def _without_model(course: Course, heard: Heard, free: Sequence[Verdict]) -> list[Command]:
    """Return what a message says, where no model was asked or none answered."""
    message = course.turn["message"] or ""
    said = authors_first(heard, free)
    leads = any(v.holds and not v.error for v in free if v.tier not in ("always",))
    if leads:
        known = {getattr(command, "field", None) for command in said}
        more = [c for c in heard_for(course, message, free) if getattr(c, "field", "") not in known]
        return [*said, *more]
    return said or guessed(course, message)


def _worded_by_model(course: Course, answer: Understood | None, welcomed: int) -> None:
    """Let the model's own words stand where they ask what the runtime asks next.

    They never do where anything was refused, dropped, or done, nor with a number that nobody gave
    or a value that is not to be shown.
    """
    if answer is None or not answer.reply or course.run is None or course.aside:
        return
    pathway = course.spec.pathways[course.run]
    asked = course.sheet(pathway).asked()
    dropped = any(event["kind"] == "dropped" for event in course.audit)
    refused = any(a["validation_status"] == "invalid" for a in course.attempts)
    fits = asked is not None and asked["kind"] == "field" and asked["about"] == answer.asks
    if not fits or dropped or refused or course.transition is not None:
        return
    if fault := claimed(course, answer.reply):
        course.flags.append(f"wording_refused:{fault}")
    else:
        course.words = [*course.words[:welcomed], answer.reply]
        course.asks = answer.asks or ""


def _went_wrong(course: Course) -> bool:
    """Say whether a message was not understood, or nothing of it could be taken."""
    taken = any(a["validation_status"] in ("valid", "pending") for a in course.attempts)
    kinds = {event["kind"] for event in course.audit}
    noise = any(e["kind"] == "repaired" and e["trigger"] == "noise" for e in course.audit)
    return not taken and bool(noise or kinds & {"unclear", "field_refused"})


def _update(state: SessionState, course: Course, turn: Turn) -> Update:
    """Write the course of a turn into the state."""
    course.note_late()
    failures = course.talk.get("failures", 0) + 1 if _went_wrong(course) else 0
    talk = {**course.talk, "last_at": turn["at"], "failures": failures}
    position: Position = {**course.position, "talk": talk}  # type: ignore[typeddict-item]
    given = [a["field"] for a in course.attempts if a["validation_status"] == "valid"]
    position = overwritten(position, given)
    run = course.aside or course.run
    decided = Steering(
        position,
        run,
        course.entered,
        ops=course.ops,
        moved=position["pathway"] != turn["begun_in"],
        transition=course.transition,
        audit=course.audit,
        refused_depth=course.refused_depth,
        judged=course.judged,
        flags=tuple(dict.fromkeys(course.flags)),
        near=course.near,
    )
    turn = {**turn, "attempts": course.attempts}
    if course.aside:
        turn["aside"] = course.run
    if course.asks:
        turn["asks"] = course.asks
    update = written(course.services, state, turn, decided, course.words)
    return {**update, "fields": by_field(course.attempts)} if course.attempts else update
