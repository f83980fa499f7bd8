"""Hand a conversation over to a person, and what happens while that person has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from journeygraph.journeys import Escalation, Field, JourneyConfig, JourneySpec, PathwaySpec, Texts
from journeygraph.journeys.phrases import said as contains
from journeygraph.nodes.authored import FAILURES
from journeygraph.nodes.capability import Capability
from journeygraph.nodes.commands import Command, Confirm, Deny, Human
from journeygraph.nodes.draft import TurnDraft
from journeygraph.nodes.forms.offer import asked_for, call_person, policy_of, takes_person
from journeygraph.nodes.forms.questions import question_of
from journeygraph.nodes.json_data import words_of
from journeygraph.nodes.language.expected import Expected
from journeygraph.nodes.language.proposals import load_languages, read_message, ready_to_read
from journeygraph.nodes.llm.form_prompt import Asking
from journeygraph.nodes.services import Services, setting_of
from journeygraph.nodes.state.dialogue_state import (
    Asked,
    DialogueState,
    EscalationChange,
    FieldAttempt,
    Takeover,
    with_dialogue,
)
from journeygraph.nodes.state.escalation import (
    WITH_PERSON,
    PolicyFacts,
    active_policies,
    escalate,
    escalation_of,
    policy_met,
    release,
    takeover_of,
)
from journeygraph.nodes.state.form_state import FormState, field_named
from journeygraph.nodes.state.interpretation import Interpretation, Parse
from journeygraph.nodes.state.messages import GIVEN_BACK, last_said, mark
from journeygraph.nodes.state.session import PARTING, Position, Turn, Update
from journeygraph.nodes.state.stack import note
from journeygraph.nodes.telemetry import JOURNEY, measure, part_raised
from journeygraph.nodes.texts import worded
from journeygraph.nodes.values.checking import shown

_JUDGED = ("turn", "failure")
"""Kinds of turns after which the policies are tried."""


class Person(Capability):
    """A person who takes the conversation over: called, waiting, in charge, gone."""

    def load(self, config: JourneyConfig) -> None:
        """Load the languages in which a user may ask for a person."""
        load_languages(self.spec, config)

    async def hold(self, draft: TurnDraft) -> Update | None:
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

    def stop(self, draft: TurnDraft) -> bool:
        """Call a person at once if the message has a keyword for it; return whether it has."""
        policy = policy_of(draft)
        if policy is None or not any(contains(word, draft.message) for word in policy.keywords):
            return False
        call_person(draft, "keyword")
        draft.dialogue.last_at, draft.dialogue.failures = draft.turn["at"], 0
        return True

    async def read(self, draft: TurnDraft, reading: Interpretation) -> None:
        """Read whether the user asks for a person, where the dialogue does not read the message."""
        if reading.is_read or policy_of(draft) is None:
            return
        await ready_to_read(draft.setting.language)
        parse = read_message(draft.message, Expected(None, (), {}, (), draft.setting))
        wishes: list[Command] = [c for c in parse.commands if isinstance(c, Human)]
        if wishes:
            reading.parse = Parse(wishes, exact=parse.exact)
            reading.is_certain = parse.exact

    async def ask(self, draft: TurnDraft, reading: Interpretation) -> None:
        """Offer the command for a person to a model that is asked anyway."""
        policy = policy_of(draft)
        if policy and reading.questions and reading.form is None and draft.services.models:
            reading.form = Asking(
                task=draft.here.title,
                fields=[],
                person=True,
                sentiment=policy.sentiment,
                worded=False,
                collects=False,
            )

    async def decide(self, draft: TurnDraft, reading: Interpretation) -> bool:
        """Answer a request for a person; return whether there is one.

        A trigger of the author's own on the same words comes before what was read in them.
        """
        read = [] if takes_person(draft, reading.verdicts) else reading.parse.commands
        wishes = [c for c in (*read, *reading.answer.commands) if isinstance(c, Human)]
        if policy_of(draft) is None or not wishes:
            return False
        others: list[Command] = [c for c in reading.answer.commands if not isinstance(c, Human)]
        reading.answer = replace(reading.answer, commands=others)
        asked_for(draft, wishes[0].reason)
        draft.rest()
        return True

    def close(
        self, services: Services, state: Mapping[str, Any], turn: Turn
    ) -> tuple[Position, Turn]:
        """Call a person if a policy is met; record their payload, for every kind of call.

        Args:
            services: Services of the turn.
            state: The state as the turn leaves it.
            turn: Its record.
        """
        position: Position = state["position"]
        dialogue = DialogueState.of(position)
        dialogue.began_at = dialogue.began_at or turn["at"]
        policy = escalation_of(services.spec, position, dialogue.takeover)
        policy = policy or _of_completed(services.spec, turn)
        if policy is None:
            return with_dialogue(position, dialogue), turn
        kinds = {event["kind"] for event in turn["audit"]}
        if dialogue.takeover is None and turn["kind"] in _JUDGED and "released" not in kinds:
            turn = _judged(services, policy, state, dialogue, turn)
        position = with_dialogue(position, dialogue)
        if any(event["kind"] == "escalated" for event in turn["audit"]):
            turn = _written(services, {**state, "position": position}, turn)
        return position, turn


def _of_completed(spec: JourneySpec, turn: Turn) -> Escalation | None:
    completed = turn.get("completed")
    return spec.parts[completed["journey"]].escalation if completed else None


def _judged(
    services: Services,
    policy: Escalation,
    state: Mapping[str, Any],
    dialogue: DialogueState,
    turn: Turn,
) -> Turn:
    position: Position = state["position"]
    facts = _facts(services.spec, state, dialogue, turn)
    policy, audit = _working(policy, facts, position)
    reason = policy_met(policy, facts)
    called = active_policies(policy, facts)
    if sorted(called) != sorted(facts.called):
        dialogue.called = list(called)
    turn = {**turn, "audit": [*turn["audit"], *audit]}
    if reason is None:
        return turn
    events = escalate(services.spec, position, dialogue, reason, turn)
    text = services.texts_in(position["pathway"]).human_called
    # What came before was heard already, checked or not; this is the runtime's own voice.
    services.emit({"type": "token", "text": PARTING + text if turn["replies"] else text})
    return {
        **turn,
        "replies": [*turn["replies"], text],
        "worded": [*turn.get("worded", ()), len(turn["replies"])],
        "audit": [*turn["audit"], *events],
    }


def _working(
    policy: Escalation, facts: PolicyFacts, position: Position
) -> tuple[Escalation, list[dict[str, Any]]]:
    """Return the policies without a condition that raises, which is audited."""
    try:
        active_policies(policy, facts)
    except FAILURES as error:  # whatever an author's function raises
        part_raised("condition", "Escalation(when=)", error)
        reason = f"Escalation(when=) raised {words_of(error)}"
        without = policy.model_copy(update={"when": None})
        return without, [note("condition_raised", position, reason=reason)]
    return policy, []


def _facts(
    spec: JourneySpec, state: Mapping[str, Any], dialogue: DialogueState, turn: Turn
) -> PolicyFacts:
    began = datetime.fromisoformat(dialogue.began_at or turn["at"])
    return PolicyFacts(
        message=turn["message"] or "",
        exhausted=_exhausted(spec, dialogue.retries),
        failures=max(dialogue.failures, state["position"]["failures"]),
        context=state.get("context", {}),
        seconds=(datetime.fromisoformat(turn["at"]) - began).total_seconds(),
        collected=bool(turn.get("completed")) or _is_collected(spec, state, dialogue),
        called=dialogue.called,
    )


def _exhausted(spec: JourneySpec, retries: Mapping[str, int]) -> list[str]:
    limits = {
        field.name: field.max_attempts
        for pathway in spec.pathways.values()
        if pathway.form
        for field in pathway.form.fields
    }
    return [name for name, times in retries.items() if times >= limits.get(name, times + 1)]


def _is_collected(spec: JourneySpec, state: Mapping[str, Any], dialogue: DialogueState) -> bool:
    """Return whether every form that can be reached is filled in, read back and agreed to."""
    position: Position = state["position"]
    active = spec.active_in(position["pathway"])
    given = (state.get("fields", {}), state.get("context", {}), dialogue)
    forms = [
        FormState.of(spec, pathway, *given)
        for pathway in spec.pathways.values()
        if pathway.form and pathway.id in spec.reachable and spec.active_in(pathway.id) == active
    ]
    return bool(forms) and all(form_state.is_closed for form_state in forms)


def _written(services: Services, state: Mapping[str, Any], turn: Turn) -> Turn:
    takeover = takeover_of(state["position"])
    if takeover is None:
        return turn
    opened = EscalationChange(
        id=takeover["id"],
        status="open",
        by=None,
        reason=takeover["reason"],
        payload=_briefing_of(services, state, turn),
    )
    # The part after a colon, such as the name of a field, is not a label.
    reason = takeover["reason"].partition(":")[0]
    labels = {JOURNEY: services.spec.id, "journeygraph.escalation.reason": reason}
    measure("journeygraph.escalation.opened", labels)
    return {**turn, "escalations": [*turn.get("escalations", ()), opened]}


async def _unclaimed(draft: TurnDraft, takeover: Takeover) -> Update:
    """Offer to continue if the conversation is not claimed for long, and take the answer."""
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
    assert takeover is not None, "the assistant has the conversation"
    if act["act"] == "release":
        return _resumed(draft, takeover, reason=act["by"], status="released")
    if takeover["by"] is None:
        _claim(draft, takeover, act["by"])
    if act["act"] == "say":
        draft.turn["replies"] = [act["text"]]
    return draft.undecided()


def _claim(draft: TurnDraft, takeover: Takeover, by: str) -> None:
    taken: Takeover = {**takeover, "by": by}
    draft.turn["audit"].append(note("claimed", draft.position, reason=by))
    draft.dialogue.takeover, draft.dialogue.asked = taken, None
    _change(draft, taken, "claimed")


def _resumed(draft: TurnDraft, takeover: Takeover, *, reason: str, status: Any) -> Update:
    """Give the conversation back to the assistant, which continues where it was paused."""
    draft.turn["audit"] += release(draft.position, draft.dialogue, reason)
    draft.position = {**draft.position, "failures": 0}
    _change(draft, takeover, status)
    question = _open_question(draft)
    texts = draft.services.texts_in(draft.position["pathway"])
    _say(draft, texts.released, *([question] if question else []))
    return {**draft.undecided(), "messages": [mark(GIVEN_BACK, draft.turn)]}


def _open_question(draft: TurnDraft) -> str:
    if draft.position["pathway"] not in draft.spec.pathways:
        return ""  # of an older version, in which nothing can be asked now
    asked = draft.dialogue.asked or draft.form_state().asked()
    if asked is None:
        return ""
    draft.ask(asked)
    return question_of(draft, asked)


def _said(draft: TurnDraft, name: str) -> Update:
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


_HIDDEN = ("value", "raw", "reason")
"""Parts of an attempt that are hidden for a sensitive field."""


def _briefing_of(services: Services, state: Mapping[str, Any], turn: Turn) -> dict[str, Any]:
    """Return the payload of an escalation: why, about what, where, and what is known."""
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
    position: Position = state["position"]
    attempts: Mapping[str, list[FieldAttempt]] = state.get("fields", {})
    places = {position["pathway"], *(frame["pathway"] for frame in position["stack"])}
    told: set[str] = set()
    for pathway in spec.pathways.values():
        given = (attempts, state.get("context", {}), DialogueState.of(position))
        form_state = FormState.of(spec, pathway, *given)
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
