"""Wishes of a message: the moves that it asks for, in which order, and which are in doubt."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from journeygraph.journeys import IntentTrigger, TransitionSpec
from journeygraph.journeys.phrases import normal
from journeygraph.journeys.phrases import said as contains
from journeygraph.journeys.spec.spec import MOVE
from journeygraph.nodes.commands import Command, Fill, Go, Verdict
from journeygraph.nodes.draft import TurnDraft
from journeygraph.nodes.language.lexicon import lexicon_of
from journeygraph.nodes.language.words import Words, words_of
from journeygraph.nodes.steer import MODELS, allowed_transitions, asks_model, is_share

CLOSE = 0.1
"""Two verdicts whose confidence differs by less are equally likely."""
LIKELY = 0.3
"""Least confidence of what is worth asking back about."""


def held_moves(draft: TurnDraft, moves: Sequence[Command]) -> list[TransitionSpec]:
    """Return the intents that hold, one for each pathway that they lead to."""
    open_now = _open_now(draft)
    found: dict[str, TransitionSpec] = {}
    for move in moves:
        if isinstance(move, Verdict) and move.holds and move.question in open_now:
            sure = move.tier == "pattern" or (
                move.tier in MODELS and draft.limits.confidence <= move.confidence <= 1
            )
            if sure and not move.error:
                found.setdefault(open_now[move.question].target, open_now[move.question])
        elif isinstance(move, Go) and draft.limits.confidence <= move.confidence <= 1:
            for transition in open_now.values():
                if transition.target == move.target:
                    found.setdefault(move.target, transition)
    return list(found.values())


def _open_now(draft: TurnDraft) -> dict[str, TransitionSpec]:
    moves = allowed_transitions(draft.spec, draft.position)
    return {t.id: t for t in moves if t.kind == MOVE}


def wishes_in(
    draft: TurnDraft, moves: Sequence[Command], said: Sequence[Command]
) -> list[TransitionSpec]:
    """Return the wishes of a message with several, in their order, if all of them are meant.

    The order is that of the message; what was chosen of several comes first. Of those that a model
    found, the one with values does. Phrases for the current task and another one mean the other,
    unless they change something.
    """
    held = held_moves(draft, moves)
    chosen = [m.question for m in moves if isinstance(m, Verdict) and m.tier == "chosen"]
    if chosen:
        first = next(t for t in draft.spec.transitions if t.id == chosen[0])
        others = [t for t in held if t.target != first.target]
        return [first, *others] if others else []
    if len(held) < 2:
        return []
    if not (said_apart := _said_apart(draft, held)):
        return _named(moves, held) or _valued(draft, held, said)
    place = draft.here
    if place.form is None or place.id in draft.dialogue.finished or draft.position["returning"]:
        return said_apart
    return [t for t in said_apart if t.target != place.id or t.updates]


def _named(moves: Sequence[Command], held: Sequence[TransitionSpec]) -> list[TransitionSpec]:
    by_target = {t.target: t for t in held}
    named = [m.target for m in moves if isinstance(m, Go) and m.target in by_target]
    said = {m.question for m in moves if isinstance(m, Verdict) and is_said(m)}
    first = [t.target for t in held if t.id in said and t.target not in named]
    order = dict.fromkeys([*first, *named]) if named else ()
    return [by_target[id_] for id_ in order] if len(order) > 1 else []


def _valued(
    draft: TurnDraft, held: Sequence[TransitionSpec], said: Sequence[Command]
) -> list[TransitionSpec]:
    """Return moves if the message has values for one of them, which comes first."""
    names = {c.field for c in said if isinstance(c, Fill)}
    forms = [draft.spec.pathways[t.target].form for t in held]
    given = [n for n, form in enumerate(forms) if form and any(name in form for name in names)]
    if len(given) != 1 or lexicon_of(draft.setting.language).has(words_of(draft.message), "or"):
        return []
    return sorted(held, key=lambda t: t is not held[given[0]])


def _said_apart(draft: TurnDraft, held: Sequence[TransitionSpec]) -> list[TransitionSpec]:
    """Return moves in the order of their phrases, if a clause ends or "and" is between them."""
    words, lexicon = words_of(draft.message), lexicon_of(draft.setting.language)
    said = sorted([(place, n) for n, one in enumerate(held) if (place := _said_at(words, one))])
    for ((_, end), _), ((start, _), _) in pairwise(said):
        between = words.part(end, start)
        is_joined = lexicon.has(between, "and") or lexicon.has(between, "then")
        closes = any(word.closes for word in words.all[end - 1 : start])
        if lexicon.has(between, "or") or not (is_joined or closes):
            return []
    return [held[n] for _, n in said] if len(said) == len(held) else []


def _said_at(words: Words, transition: TransitionSpec) -> tuple[int, int] | None:
    trigger = transition.trigger
    patterns = trigger.patterns if isinstance(trigger, IntentTrigger) else ()
    places = map(words.find, sorted(patterns, key=len, reverse=True))
    return next(filter(None, places), None)


def without(draft: TurnDraft, moves: Sequence[Command], targets: Collection[str]) -> list[Command]:
    """Return moves without those that lead to some pathways."""
    leading = {t.id for t in draft.spec.transitions if t.target in targets and t.kind == MOVE}
    return [
        move
        for move in moves
        if not (isinstance(move, Verdict) and move.question in leading)
        and not (isinstance(move, Go) and move.target in targets)
    ]


def begins_later(draft: TurnDraft) -> set[str]:
    """Return the fields of the pathways that wait: chosen among, or queued."""
    asked = draft.dialogue.asked
    offered = asked["options"] if asked and asked["kind"] == "clarify" else []
    ids = {*draft.dialogue.queued, *(option["id"] for option in offered)}
    waiting = [draft.spec.pathways[t.target] for t in draft.spec.transitions if t.id in ids]
    return {field.name for pathway in waiting for field in pathway.fields}


# --- Doubt ---


def ambiguous(draft: TurnDraft, moves: Sequence[Command]) -> list[TransitionSpec]:
    """Return the transitions that a message may mean equally well; none if it is clear.

    Those are intents of one priority that lead to different pathways: by phrases of which none
    is part of another, or held by a model with about the same confidence, or all of them below the
    threshold.
    """
    open_now = _open_now(draft)
    verdicts = [m for m in moves if isinstance(m, Verdict) and m.question in open_now]
    held = [v for v in verdicts if v.holds and not v.error]
    said = [v for v in held if v.tier == "pattern"]
    if said:
        top = max(open_now[v.question].priority for v in said)
        return _apart([open_now[v.question] for v in said], top)
    judged = [v for v in held if v.tier in MODELS and asks_model(open_now[v.question])]
    judged = sorted(
        (v for v in judged if is_share(v.confidence) and v.confidence >= LIKELY),
        key=lambda v: -v.confidence,
    )
    sure = [v for v in judged if v.confidence >= draft.limits.confidence]
    if sure:
        judged = [v for v in sure if sure[0].confidence - v.confidence < CLOSE]
    top = max((open_now[v.question].priority for v in judged), default=0)
    return _apart([open_now[v.question] for v in judged], top)


def _apart(transitions: Sequence[TransitionSpec], priority: int) -> list[TransitionSpec]:
    """Return the first transition to each target; none if there is but one target."""
    by_target = {t.target: t for t in reversed(transitions) if t.priority == priority}
    found = [t for t in transitions if by_target.get(t.target) is t]
    return found if len(found) > 1 else []


def most_specific(moves: Sequence[Command]) -> list[Command]:
    """Return moves without those whose phrase is a part of another's, as "card" in "new card"."""
    said = [phrase_of(v) for v in moves if is_said(v)]
    return [m for m in moves if not (is_said(m) and _is_part(phrase_of(m), said))]


def is_said(move: Command) -> bool:
    """Return whether a phrase in the message asks for a move."""
    return isinstance(move, Verdict) and move.tier == "pattern" and move.holds


def phrase_of(move: Command) -> str:
    """Return the phrase in the message for a move; empty if there is none."""
    return move.phrase if isinstance(move, Verdict) else ""


def _is_part(phrase: str, others: Sequence[str]) -> bool:
    return any(normal(phrase) != normal(other) and contains(phrase, other) for other in others)
