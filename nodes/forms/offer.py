"""Offer a person, or call one; and offer what is left when something is done already."""

from __future__ import annotations

from collections.abc import Sequence

from journeygraph.journeys import Effect, Escalation, Field, PathwaySpec
from journeygraph.journeys.phrases import normal
from journeygraph.nodes.commands import Human, Verdict
from journeygraph.nodes.draft import TurnDraft
from journeygraph.nodes.language.expected import Expected
from journeygraph.nodes.language.proposals import read_message
from journeygraph.nodes.state.dialogue_state import Asked, Option
from journeygraph.nodes.state.escalation import escalate, escalation_of
from journeygraph.nodes.state.form_state import owners

MORE = Asked(kind="more", about="", options=[])
"""The question what else there is."""
CHANGE, PERSON, LEAVE = "change", "person", "leave"
"""Options after a completed effect, by id."""


def policy_of(draft: TurnDraft) -> Escalation | None:
    """Return when a person is called; None if there is none to call."""
    return escalation_of(draft.spec, draft.position, draft.dialogue.takeover)


def call_person(draft: TurnDraft, reason: str) -> None:
    """Hand the conversation to a person; its position does not change (T24)."""
    draft.repair("human", "human_called")
    draft.audit += escalate(draft.spec, draft.position, draft.dialogue, reason, draft.turn)
    draft.ask(None)
    draft.rest()


def offer_person(draft: TurnDraft, reason: str) -> None:
    """Ask whether the user would like to speak to a person (T25)."""
    draft.close(Asked(kind="human", about=reason, options=[]), "offer_human")


def asked_for(draft: TurnDraft, reason: str) -> None:
    """Answer a request for a person."""
    policy = policy_of(draft)
    if policy is None or (reason == "asked" and not policy.on_request):
        draft.repair("human", "no_human")
    elif reason == "sentiment" and not policy.sentiment:
        draft.note("dropped", reason="escalation by sentiment is not enabled here")
    else:
        call_person(draft, reason)


def give_up(draft: TurnDraft, reason: str) -> None:
    """Stop trying: a person is called or offered, if there is one."""
    draft.note("given_up", reason=reason)
    draft.flags.append(reason)
    policy = policy_of(draft)
    if policy is None:
        return
    if policy.attempts_exhausted and reason.startswith("max_attempts:"):
        call_person(draft, reason)
    else:
        offer_person(draft, reason)


def takes_person(draft: TurnDraft, verdicts: Sequence[Verdict]) -> bool:
    """Return whether an author's own trigger takes the words that may ask for a person."""
    own = [verdict for verdict in verdicts if verdict.takes_words]
    left = normal(draft.message)
    for verdict in own:
        if not verdict.phrase:
            return True
        left = left.replace(normal(verdict.phrase), " ")
    rest = read_message(left, Expected(None, (), {}, (), draft.setting)).commands if own else []
    return bool(own) and not any(isinstance(command, Human) for command in rest)


def after_effect(draft: TurnDraft, field: Field) -> bool:
    """Offer what is left where a value was used for what is done already; return whether it was.

    Source: reference traces, T13.
    """
    used = effect_of(draft, field)
    if used is None:
        return False
    pathway, effect = used
    labels = {CHANGE: "change_it", PERSON: "ask_person", LEAVE: "leave_it"}
    ways = [CHANGE] if effect.change else []
    ways += [PERSON] if policy_of(draft) else []
    options = [Option(id=way, label=draft.text(labels[way])) for way in [*ways, LEAVE]]
    value = draft.shown(field, draft.value(field.name))
    done = {"task": pathway.title, "field": field.title, "value": value}
    draft.note("done_already", trigger=field.name, reason=f"'{effect.tool}' was done with it")
    target, asked = draft.leads_to, draft.dialogue.asked
    if draft.settled and asked and asked["kind"] == "change":  # for another value of the message
        draft.replies.insert(len(draft.replies) - 1, draft.text("stays_done", **done))
    elif ways and (target is None or target.form is None):
        draft.say("after_effect", **done, options=draft.listed(options))
        draft.ask(Asked(kind="change", about=field.name, options=options))
        if target is None:
            draft.rest()
    else:
        draft.say("stays_done", **done)
        draft.close(MORE, "more")
    return True


def effect_of(draft: TurnDraft, field: Field) -> tuple[PathwaySpec, Effect] | None:
    """Return the effect that was taken with a value, and its pathway; None: none was."""
    finished = draft.dialogue.finished
    if draft.here.form and field.name in draft.here.form and draft.here.id not in finished:
        return None  # the task at hand has it as well, and that is not done yet
    for pathway in owners(draft.spec, field.name):
        if pathway.id not in finished:
            continue
        for effect in pathway.effects:
            if draft.dialogue.done.get(f"{pathway.id}.{effect.tool}"):
                return pathway, effect
    return None
