"""Offer a person, or call one; and offer what is left when something is done already."""

from __future__ import annotations

from journeys import Effect, Escalation, Field, PathwaySpec
from journeys.patterns import said
from nodes.course import Course
from nodes.escalating import escalated, escalation_of
from nodes.forms.sheet import owners
from nodes.talk import Asked, Option

CHANGE, PERSON, LEAVE = "change", "person", "leave"
"""What can be done about what is done already, by id."""


def policy_of(course: Course) -> Escalation | None:
    """Return when a person is called; None where there is none to call."""
    return escalation_of(course.spec, course.position)


def call_person(course: Course, reason: str) -> None:
    """Hand the conversation to a person; where it stands does not change (T24)."""
    course.repair("human", "human_called")
    course.position, events = escalated(course.spec, course.position, reason, course.turn)
    course.audit += events
    course.talk = {**course.position.get("talk", {}), **course.talk, "asked": None}
    course.talk["takeover"] = course.position.get("talk", {}).get("takeover")
    course.rest()


def called_by_word(course: Course) -> bool:
    """Call a person at once if the message has a word that is enough for it; say whether it has."""
    policy, message = policy_of(course), course.turn["message"] or ""
    if policy is None or not any(said(word, message) for word in policy.keywords):
        return False
    call_person(course, "keyword")
    return True


def offer_person(course: Course, reason: str) -> None:
    """Ask whether the user would like to speak to a person (T25)."""
    course.say("offer_human")
    course.ask(Asked(kind="human", about=reason, options=[]))
    course.rest()


def asked_for(course: Course, reason: str) -> None:
    """Answer somebody who asks for a person."""
    policy = policy_of(course)
    if policy is None or (reason == "asked" and not policy.on_request):
        course.repair("human", "no_human")
    elif reason == "sentiment" and not policy.sentiment:
        course.note("dropped", reason="nobody is called for the sake of a mood here")
    else:
        call_person(course, reason)


def give_up(course: Course, reason: str) -> None:
    """Stop trying: a person is called or offered, where there is one."""
    course.note("given_up", reason=reason)
    course.flags.append(reason)
    policy = policy_of(course)
    if policy is None:
        return
    if policy.attempts_exhausted and reason.startswith("max_attempts:"):
        call_person(course, reason)
    else:
        offer_person(course, reason)


def after_effect(course: Course, field: Field) -> bool:
    """Offer what is left where a value was used for what is done already; say whether it was.

    Source: reference traces, T13.
    """
    used = effect_of(course, field)
    if used is None:
        return False
    pathway, effect = used
    labels = {CHANGE: "change_it", PERSON: "ask_person", LEAVE: "leave_it"}
    ways = [CHANGE] if effect.change else []
    ways += [PERSON] if policy_of(course) else []
    options = [Option(id=way, label=course.text(labels[way])) for way in [*ways, LEAVE]]
    course.say(
        "after_effect",
        task=pathway.title,
        field=field.title,
        value=course.shown(field, course.value(field.name)),
        options=course.listed(options),
    )
    course.note("done_already", trigger=field.name, reason=f"'{effect.tool}' was done with it")
    course.ask(Asked(kind="change", about=field.name, options=options))
    course.rest()
    return True


def effect_of(course: Course, field: Field) -> tuple[PathwaySpec, Effect] | None:
    """Return the effect that was taken with a value, and its pathway; None: none was."""
    finished = course.talk.get("finished", [])
    if course.here.form and field.name in course.here.form and course.here.id not in finished:
        return None  # the task at hand has it as well, and that is not done yet
    for pathway in owners(course.spec, field.name):
        if pathway.id not in finished:
            continue
        for effect in pathway.effects:
            if course.talk.get("done", {}).get(f"{pathway.id}.{effect.tool}"):
                return pathway, effect
    return None
