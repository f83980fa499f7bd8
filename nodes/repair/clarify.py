"""Ask back which of several things is meant, and answer what leads off (T06, T17, T18, T19)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from journeygraph.journeys import TransitionSpec
from journeygraph.journeys.spec.spec import ACTIVATION, MOVE
from journeygraph.nodes.commands import (
    Ask,
    Command,
    Explain,
    Noise,
    OffTopic,
    Repeat,
    Status,
    Verdict,
    Wait,
)
from journeygraph.nodes.draft import Query, TurnDraft
from journeygraph.nodes.forms.offer import offer_person, policy_of
from journeygraph.nodes.language.lexicon import has_common_word, is_negative
from journeygraph.nodes.language.proposals import is_courtesy, questions_in
from journeygraph.nodes.repair.tasks import status
from journeygraph.nodes.state.dialogue_state import Asked, Option
from journeygraph.nodes.state.form_state import owners
from journeygraph.nodes.steer import allowed_transitions
from journeygraph.nodes.values.finding import has_number, is_comparison

MOST_OPTIONS = 3
MOST_UNCLEAR = 3
"""Consecutive clarifications; the last one offers a person."""


def clarify(
    draft: TurnDraft, options: Sequence[Option], kind: str = "clarify", about: str = ""
) -> None:
    """Ask which of these is meant, for any question; the third time in a row, offer a person."""
    offered = list(options)[:MOST_OPTIONS]
    times = draft.dialogue.unclear + 1
    draft.dialogue.unclear = times
    draft.note("unclear", reason=f"{times} clarifications in a row")
    if times >= MOST_UNCLEAR and policy_of(draft):
        offer_person(draft, "not_understood")
        return
    text = "clarify" if times == 1 else "clarify_again"
    draft.repair("clarify", text, options=draft.listed(offered))
    draft.ask(Asked(kind=kind, about=about, options=offered))
    draft.rest()


def options_of(draft: TurnDraft, transitions: Sequence[TransitionSpec]) -> list[Option]:
    """Return transitions as what a user may choose from."""
    return [
        Option(id=t.id, label=draft.spec.pathways[t.target].title or t.label) for t in transitions
    ]


def narrowed(draft: TurnDraft, asked: Asked, denied: Collection[str]) -> list[Verdict]:
    """Remove denied options: the only one left is meant."""
    rest = [option for option in asked["options"] if option["id"] not in denied]
    if len(rest) == 1:
        draft.note("clarified", trigger=rest[0]["id"])
        draft.dialogue.unclear = 0
        return [Verdict(rest[0]["id"], True, "chosen", reason="the others were denied")]
    clarify(draft, rest or asked["options"])
    return []


def tasks_of(draft: TurnDraft) -> str:
    """Return what can be done from here, in words for users."""
    moves = [
        t for t in allowed_transitions(draft.spec, draft.position) if t.kind in (MOVE, ACTIVATION)
    ]
    targets = dict.fromkeys(draft.spec.pathways[t.target].title for t in moves)
    if draft.here.form:
        targets = {draft.here.title: None, **targets}
    return ", ".join(targets) or draft.spec.purpose.strip().rstrip(".")


KNOWLEDGE = "knowledge"
"""Name of the repair pattern for what is looked up."""
BESIDE = (Ask, Noise, OffTopic, Explain)
"""Commands that get no separate reply next to a question."""


def take_question(draft: TurnDraft, commands: Sequence[Command], *, spoke: bool) -> None:
    """Record the question of a message to look up, if there is one.

    What a field says of itself answers a question about it first. If the message answers as well
    (`spoke`), that goes first.
    """
    here = draft.here.id
    explains = next((c for c in commands if isinstance(c, Explain)), None)
    if not draft.spec.answers_in(here) or (explains and help_for(draft, explains)):
        return
    asks = [command.value for command in commands if isinstance(command, Ask)]
    if asks or explains:
        place = None if spoke else len(draft.replies)
        own = draft.spec.pattern_in(here, KNOWLEDGE)
        question = " ".join(asks) or draft.message
        draft.query = Query(question, draft.spec.knowledge_in(here), own, place)


def help_for(draft: TurnDraft, command: Explain) -> str:
    """Return the reason for a question: the field's own words, else those of the task."""
    name = asked_about(draft, command)
    return draft.field(name).description if name else draft.here.purpose


def asked_about(draft: TurnDraft, command: Explain) -> str:
    """Return the name of the field that a question is about; empty if it is about none."""
    name = command.field or draft.dialogue.pending
    return name if owners(draft.spec, name) else ""


MOST_OFF_TOPIC = 3
"""Consecutive off-topic messages after which the reply names the subject (T19)."""


def digressed(draft: TurnDraft, commands: Sequence[Command], *, spoke: bool) -> bool:
    """Answer a message that asks about the talk itself or leads off; return whether it did.

    None of it counts as an attempt at what was asked (T06, T19, T23, T33). Beside an answer
    (`spoke`) the next question replaces the last one.
    """
    passed = (*(BESIDE if draft.query else ()), *((Repeat,) if spoke else ()))
    for command in commands:
        if isinstance(command, passed):
            continue
        if isinstance(command, Repeat):
            _repeat(draft)
        elif isinstance(command, Explain):
            _explain(draft, command)
        elif isinstance(command, OffTopic):
            _off_topic(draft, command, spoke=spoke)
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
    name = asked_about(draft, command)
    help_ = help_for(draft, command)
    title = draft.field(name).title if name else ""
    if help_ or not name:
        draft.repair("explain", "explain", description=help_, field=title)
    else:
        draft.repair("explain", "explain_plain", field=title)


def _off_topic(draft: TurnDraft, command: OffTopic, *, spoke: bool) -> None:
    times = 0 if spoke else draft.dialogue.off_topic + 1
    draft.dialogue.off_topic = times
    if times >= MOST_OFF_TOPIC:
        draft.repair("off_topic", "off_topic_again", tasks=tasks_of(draft))
        if policy_of(draft):
            offer_person(draft, "off_topic")
    elif command.unsupported:
        draft.repair("unsupported", "unsupported", tasks=tasks_of(draft))
    else:
        _beside_the_point(draft, "off_topic", attempted=command.guessed)


def _beside_the_point(draft: TurnDraft, pattern: str, *, attempted: bool) -> None:
    """Answer what gives no answer: a question, an attempt at the value, or anything else."""
    field = draft.field(name) if (name := draft.dialogue.pending) else None
    if questions_in(draft.message, draft.setting.language):
        draft.repair(pattern, "cannot_answer")
    elif field and attempted and _is_short(draft.message):
        has_number = any(c.isdigit() for c in draft.message)
        draft.repair(pattern, "not_exact" if has_number else "not_read", field=field.title)
    else:
        compares = attempted and is_comparison(draft.message, draft.setting.language)
        draft.repair(pattern, "noise" if compares else pattern)  # "an hour later would be better"


_MOST_WORDS = 6
"""Most words of a message that counts as an attempt, with any words."""


def _is_short(message: str) -> bool:
    return len(message.split()) <= _MOST_WORDS or any(c.isdigit() or c == "@" for c in message)


def not_understood(draft: TurnDraft) -> None:
    """Answer what nothing could be made of: ask the same again, then offer a person.

    A user who greets back is simply asked.
    """
    asked = draft.dialogue.asked
    if is_courtesy(draft.message, draft.setting.language):
        return
    if draft.dialogue.last_at is None:
        answer_first(draft)
        return
    if asked and len(asked["options"]) > 1:
        clarify(draft, asked["options"], asked["kind"], asked["about"])
        return
    times = draft.dialogue.unclear + 1
    draft.dialogue.unclear = times
    _beside_the_point(draft, "noise", attempted=True)
    if times >= MOST_UNCLEAR and policy_of(draft):
        offer_person(draft, "not_understood")


def answer_first(draft: TurnDraft) -> None:
    """Answer a first message in which nothing was read: what is done here is welcomed.

    A question, a number, or a wish that something is not done, is not passed over. Of anything
    else, what is asked next says what is done here.
    """
    if draft.dialogue.last_at is not None or draft.replies:
        return
    message, language = draft.message, draft.setting.language
    here = [draft.here.title, draft.here.purpose, draft.spec.part_of(draft.here.id).purpose]
    is_denied = is_negative(message, language)
    if not is_denied and has_common_word(message, " ".join(here), language):
        draft.say("gladly")
    elif is_denied or has_number(message, language) or questions_in(message, language):
        _beside_the_point(draft, "noise", attempted=False)
