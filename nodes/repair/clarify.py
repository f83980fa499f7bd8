"""Ask back which of several things is meant, and answer what leads off (T06, T17, T18, T19)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from journeygraph.journeys import TransitionSpec
from journeygraph.journeys.phrases import normal
from journeygraph.journeys.phrases import said as contains
from journeygraph.journeys.spec.spec import ACTIVATION, MOVE
from journeygraph.nodes.commands import (
    Command,
    Explain,
    Noise,
    OffTopic,
    Repeat,
    Status,
    Verdict,
    Wait,
)
from journeygraph.nodes.draft import TurnDraft
from journeygraph.nodes.forms.offer import offer_person, policy_of
from journeygraph.nodes.language import has_common_word, is_courtesy, questions_in
from journeygraph.nodes.repair.knowledge import BESIDE
from journeygraph.nodes.repair.tasks import status
from journeygraph.nodes.state.dialogue_state import Asked, Option
from journeygraph.nodes.state.form_state import owners
from journeygraph.nodes.steer import MODELS, Limits, allowed_transitions, asks_model, is_share

MOST_OPTIONS = 3
MOST_UNCLEAR = 3
"""Consecutive clarifications; the last one offers a person."""
CLOSE = 0.1
"""Two verdicts whose confidence differs by less are equally likely."""
LIKELY = 0.3
"""Least confidence of what is worth asking back about."""


def ambiguous(
    draft: TurnDraft, verdicts: Sequence[Verdict], limits: Limits
) -> list[TransitionSpec]:
    """Return the transitions that a message may mean equally well; none if it is clear.

    Those are intents of one priority that lead to different pathways: by phrases of which none
    is part of another, or held by a model with about the same confidence, or all of them below the
    threshold. So of two wishes in one message the user is asked which comes first.
    """
    open_now = {t.id: t for t in allowed_transitions(draft.spec, draft.position) if t.kind == MOVE}
    held = [v for v in verdicts if v.holds and not v.error and v.question in open_now]
    said = [v for v in held if v.tier == "pattern"]
    if said:
        top = max(open_now[v.question].priority for v in said)
        return _apart([open_now[v.question] for v in said], top)
    judged = [v for v in held if v.tier in MODELS and asks_model(open_now[v.question])]
    judged = sorted(
        (v for v in judged if is_share(v.confidence) and v.confidence >= LIKELY),
        key=lambda v: -v.confidence,
    )
    sure = [v for v in judged if v.confidence >= limits.confidence]
    if sure:
        judged = [v for v in sure if sure[0].confidence - v.confidence < CLOSE]
    top = max((open_now[v.question].priority for v in judged), default=0)
    return _apart([open_now[v.question] for v in judged], top)


def most_specific(moves: Sequence[Command]) -> list[Command]:
    """Return moves without those whose phrase is only a part of another's, as "card" in "new card".

    Reasons of patterns quote their phrase, so one that is part of another is found in its reason.
    """
    said = [phrase_of(v) for v in moves if _is_said(v)]
    return [m for m in moves if not (_is_said(m) and _is_part(phrase_of(m), said))]


def _is_said(move: Command) -> bool:
    return isinstance(move, Verdict) and move.tier == "pattern" and move.holds


def phrase_of(move: Command) -> str:
    """Return the phrase in the message for a move; empty if there is none."""
    return move.phrase if isinstance(move, Verdict) else ""


def _is_part(phrase: str, others: Sequence[str]) -> bool:
    return any(normal(phrase) != normal(other) and contains(phrase, other) for other in others)


def _apart(transitions: Sequence[TransitionSpec], priority: int) -> list[TransitionSpec]:
    """Return the first transition to each target; none if there is but one target."""
    by_target = {t.target: t for t in reversed(transitions) if t.priority == priority}
    found = [t for t in transitions if by_target.get(t.target) is t]
    return found if len(found) > 1 else []


def clarify(draft: TurnDraft, options: Sequence[Option]) -> None:
    """Ask which of these is meant; the third time in a row, offer a person."""
    offered = list(options)[:MOST_OPTIONS]
    times = draft.dialogue.unclear + 1
    draft.dialogue.unclear = times
    draft.note("unclear", reason=f"{times} clarifications in a row")
    if times >= MOST_UNCLEAR and policy_of(draft):
        offer_person(draft, "not_understood")
        return
    text = "clarify" if times == 1 else "clarify_again"
    draft.repair("clarify", text, options=draft.listed(offered))
    draft.ask(Asked(kind="clarify", about="", options=offered))
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
        _beside_the_point(draft, "off_topic", "off_topic", attempted=command.guessed)


def _beside_the_point(draft: TurnDraft, pattern: str, name: str, *, attempted: bool) -> None:
    """Answer what gives no answer: a question, an attempt at the value, or anything else.

    Args:
        draft: The turn.
        pattern: The repair pattern.
        name: The text for anything else.
        attempted: True if it may be an attempt.
    """
    asked = draft.dialogue.asked
    if questions_in(draft.message, draft.setting.language):
        draft.repair(pattern, "cannot_answer")
        return
    field = draft.field(asked["about"]) if asked and asked["kind"] == "field" else None
    if field and attempted and _is_short(draft.message):
        has_number = any(c.isdigit() for c in draft.message)
        draft.repair(pattern, "not_exact" if has_number else "not_read", field=field.title)
    else:
        draft.repair(pattern, name)


_MOST_WORDS = 6
"""Most words of a message that counts as an attempt, with any words."""


def _is_short(message: str) -> bool:
    """Return whether a message may be meant as a value."""
    return len(message.split()) <= _MOST_WORDS or any(c.isdigit() or c == "@" for c in message)


def not_understood(draft: TurnDraft) -> None:
    """Answer what nothing could be made of: ask the same again, then offer a person.

    Who greets back, or says first what they are here for, is simply asked.
    """
    asked = draft.dialogue.asked
    if draft.dialogue.last_at is None or is_courtesy(
        draft.turn["message"] or "", draft.setting.language
    ):
        return
    if asked and len(asked["options"]) > 1:
        _clarify_as(draft, asked["options"], asked["kind"], asked["about"])
        return
    times = draft.dialogue.unclear + 1
    draft.dialogue.unclear = times
    _beside_the_point(draft, "noise", "noise", attempted=True)
    if times >= MOST_UNCLEAR and policy_of(draft):
        offer_person(draft, "not_understood")


def welcome_wish(draft: TurnDraft) -> None:
    """Welcome a first message that has a word of weight in common with what is done here."""
    here = [draft.here.title, draft.here.purpose, draft.spec.part_of(draft.here.id).purpose]
    is_first = draft.dialogue.last_at is None and not draft.replies
    if is_first and has_common_word(draft.message, " ".join(here), draft.setting.language):
        draft.say("gladly")


def _clarify_as(draft: TurnDraft, options: Sequence[Option], kind: str, about: str) -> None:
    """Ask again which of the options is meant, for any question."""
    clarify(draft, options)
    now = draft.dialogue.asked
    if now and now["kind"] == "clarify":
        draft.ask({**now, "kind": kind, "about": about})
