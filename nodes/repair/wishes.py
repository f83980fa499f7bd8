"""Several wishes in one message: their order, and the values of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from journeygraph.journeys import IntentTrigger, PathwaySpec, TransitionSpec
from journeygraph.journeys.phrases import normal
from journeygraph.journeys.spec.spec import MOVE
from journeygraph.nodes.commands import Cancel, Command, Fill, Go, Verdict
from journeygraph.nodes.draft import TurnDraft
from journeygraph.nodes.forms.collect import SURE
from journeygraph.nodes.language import Expected, read_message
from journeygraph.nodes.language.lexicon import Lexicon, lexicon_of
from journeygraph.nodes.language.words import Words, words_of
from journeygraph.nodes.repair.clarify import clarify, options_of
from journeygraph.nodes.repair.tasks import postpone, task_named
from journeygraph.nodes.state.dialogue_state import IN_TURN, Asked, HeldValue
from journeygraph.nodes.state.form_state import MOST_RAW
from journeygraph.nodes.steer import MODELS, Limits, allowed_transitions
from journeygraph.nodes.values import Unreadable, value_of


@dataclass(frozen=True, slots=True)
class Wish:
    """A move that a message asks for, with its part of the message.

    Attributes:
        transition: The move.
        part: Its words, with its values; empty if these are not known.
        follows: True if a word before it says that it comes after another.
        either: True if it is meant in place of the one before it.
    """

    transition: TransitionSpec
    part: str
    follows: bool = False
    either: bool = False


def all_meant(draft: TurnDraft, wishes: Sequence[Wish]) -> list[Wish]:
    """Return separate wishes, if all of them are meant; none if only one is.

    A message with the current task and another one is about the other, unless it changes something.
    """
    if any(wish.either for wish in wishes):
        return []
    place, over = draft.position["pathway"], draft.dialogue.finished
    if draft.position["returning"] or place in over or not draft.spec.pathways[place].form:
        return [*wishes]
    return [w for w in wishes if w.transition.target != place or w.transition.updates]


def judged_in_turn(
    draft: TurnDraft, moves: Sequence[Command], said: Sequence[Command], limits: Limits
) -> list[Wish]:
    """Return the wishes that a model found in words without a phrase that separates them.

    They are all meant if it names them as commands, in that order, behind what a phrase asks for;
    or if it is sure of all, and has values for one of them, which comes first. No "or" parts tasks
    that are all meant.
    """
    open_now = {t.target: t for t in reversed(held_moves(draft, moves, limits))}
    named = [c.target for c in moves if isinstance(c, Go) and c.target in open_now]
    judged = [m for m in moves if isinstance(m, Verdict) and m.holds and m.tier in MODELS]
    said_first = {m.question for m in moves if isinstance(m, Verdict) and m.tier == "pattern"}
    first = [id_ for id_, one in open_now.items() if one.id in said_first and id_ not in named]
    order = list(dict.fromkeys([*first, *named])) if named else []
    if not order and len(judged) > 1:
        pathways = {id_: draft.spec.pathways[id_] for id_ in open_now}
        lexicon = lexicon_of(draft.setting.language)
        said_or = lexicon.has(words_of(draft.message), "or")
        given = [id_ for id_, one in pathways.items() if values_for(draft, one, said)]
        if len(given) == 1 and not (said_or and len([p for p in pathways.values() if p.form]) > 1):
            order = [*given, *(id_ for id_ in open_now if id_ not in given)]
    return [Wish(open_now[id_], "", follows=True) for id_ in order] if len(order) > 1 else []


def apart(draft: TurnDraft, moves: Sequence[Command], limits: Limits) -> list[Wish]:
    """Return the separate wishes of a message, in their order.

    Those are moves to different pathways by phrases between which a clause ends, or a word such as
    "and" or "or" is; none if it is one wish. What was chosen of several comes first.
    """
    held = held_moves(draft, moves, limits)
    chosen = [m.question for m in moves if isinstance(m, Verdict) and m.tier == "chosen"]
    if chosen:
        first = next(t for t in draft.spec.transitions if t.id == chosen[0])
        others = [Wish(t, "", follows=True) for t in held if t.target != first.target]
        return [Wish(first, ""), *others] if others else []
    if len(held) < 2:
        return []
    words, lexicon = words_of(draft.message), lexicon_of(draft.setting.language)
    said = [(place, one) for one in held if (place := _said_at(words, one))]
    said.sort(key=lambda each: each[0])
    cuts = [_cut(words, one[0][1], other[0][0], lexicon) for one, other in pairwise(said)]
    if len(said) < len(held) or None in cuts:
        return []
    ends, wishes = [0, *cuts, None], []
    for n, ((start, _), move) in enumerate(said):
        between = words.part(said[n - 1][0][1] if n else start, start)
        follows, either = lexicon.has(between, "then"), lexicon.has(between, "or")
        part = words.part(ends[n] or 0, ends[n + 1])
        wishes.append(Wish(move, part.raw, follows, either))
    return wishes


def held_moves(draft: TurnDraft, moves: Sequence[Command], limits: Limits) -> list[TransitionSpec]:
    """Return the intents that hold, one for each pathway that they lead to."""
    open_now = {t.id: t for t in allowed_transitions(draft.spec, draft.position) if t.kind == MOVE}
    found: dict[str, TransitionSpec] = {}
    for move in moves:
        if isinstance(move, Verdict) and move.holds and move.question in open_now:
            sure = move.tier == "pattern" or (
                move.tier in MODELS and limits.confidence <= move.confidence <= 1
            )
            if sure and not move.error:
                found.setdefault(open_now[move.question].target, open_now[move.question])
        elif isinstance(move, Go) and limits.confidence <= move.confidence <= 1:
            for transition in open_now.values():
                if transition.target == move.target:
                    found.setdefault(move.target, transition)
    return list(found.values())


def _said_at(words: Words, transition: TransitionSpec) -> tuple[int, int] | None:
    """Return the place of the longest phrase of an intent; None if there is none."""
    trigger = transition.trigger
    patterns = trigger.patterns if isinstance(trigger, IntentTrigger) else ()
    places = map(words.find, sorted(patterns, key=len, reverse=True))
    return next(filter(None, places), None)


def _cut(words: Words, end: int, start: int, lexicon: Lexicon) -> int | None:
    """Return where, between two phrases, the second wish begins; None if they are one."""
    breaks = [n + 1 for n in range(end - 1, start) if words.all[n].closes]
    joints = [n for n in range(end, start) if lexicon.begins(words.part(n), "and", "or", "then")]
    return max([*breaks, *joints], default=None)


def is_in_order(draft: TurnDraft, wishes: Sequence[Wish], said: Sequence[Command]) -> bool:
    """Return whether it is plain which of several wishes comes first.

    It is if the first one has values, or a word says which one follows, or all
    but one of them only ask for an answer.
    """
    forms = [draft.spec.pathways[wish.transition.target].form for wish in wishes]
    if sum(form is not None for form in forms) <= 1 or any(wish.follows for wish in wishes):
        return True
    return bool(values_with(draft, wishes[0], said))


def values_with(draft: TurnDraft, wish: Wish, said: Sequence[Command]) -> list[Fill]:
    """Return the values next to a wish, for the fields of its pathway."""
    form = draft.spec.pathways[wish.transition.target].form
    if form is None:
        return []
    target = draft.spec.pathways[wish.transition.target]
    if not wish.part:
        return values_for(draft, target, said)
    part = normal(wish.part)
    given = {
        c.field: c
        for c in said
        if isinstance(c, Fill) and c.field in form and normal(c.value) in part
    }
    values = {**_read_in(draft, target, wish.part), **given}
    return [*values.values()]


def values_for(
    draft: TurnDraft, target: PathwaySpec, said: Sequence[Command], *, behind_cancel: bool = False
) -> list[Fill]:
    """Return the values of a message for the fields of a pathway that it leads to.

    Args:
        draft: The turn.
        target: The pathway.
        said: The reading of the message.
        behind_cancel: True if another task is given up in the same message, so that the values are
            looked for behind that.
    """
    if target.form is None:
        return []
    given = {c.field: c for c in said if isinstance(c, Fill) and c.field in target.form}
    if behind_cancel:
        given = {**_read_in(draft, target, _behind_cancel(draft, target)), **given}
    return [*given.values()]


def _read_in(draft: TurnDraft, target: PathwaySpec, part: str) -> dict[str, Fill]:
    """Return the values that a part of a message gives to the fields of a pathway."""
    assert target.form is not None
    expected = Expected(None, target.form.fields, {}, (), draft.setting, begins=True)
    found = read_message(part, expected).commands
    return {c.field: c for c in found if isinstance(c, Fill) and c.field in target.form}


def _behind_cancel(draft: TurnDraft, target: PathwaySpec) -> str:
    """Return the part of a message that asks for a pathway, without the clauses before it."""
    words = words_of(draft.message)
    ways = (t for t in draft.spec.transitions if t.target == target.id)
    first = min([place[0] for way in ways if (place := _said_at(words, way))], default=0)
    ends = [n + 1 for n in range(first) if words.all[n].closes]
    return words.part(ends[-1]).raw if ends else ""


def begins_later(draft: TurnDraft) -> set[str]:
    """Return the pathways that begin with this turn or wait: chosen among, or queued."""
    asked = draft.dialogue.asked
    offered = asked["options"] if asked and asked["kind"] == "clarify" else []
    ids = {*draft.dialogue.queued, *(option["id"] for option in offered)}
    targets = {t.target for t in draft.spec.transitions if t.id in ids}
    return {*targets, *([draft.run] if draft.run else [])}


def hold(draft: TurnDraft, target: PathwaySpec, values: Sequence[Fill]) -> None:
    """Keep values for a pathway that begins later; they are read now, as "tomorrow" is."""
    kept: dict[str, HeldValue] = {}
    for given in values:
        if target.form is None or not SURE <= given.confidence <= 1:
            continue
        field = target.form[given.field]
        try:
            value = value_of(field, given.value, draft.setting)
        except Unreadable:
            draft.note("dropped", trigger="fill", reason=f"'{given.field}' cannot be read")
            continue
        held = HeldValue(value=value, raw=given.value[:MOST_RAW], confidence=given.confidence)
        kept[given.field] = held
        draft.dialogue.guess(given.field, not draft.is_exact)
        draft.keep(given.field, "pending", reason="given for a task that begins later", **held)
    if kept:
        known = draft.dialogue.held
        draft.dialogue.held = {**known, target.id: {**known.get(target.id, {}), **kept}}
        draft.note("held", to=target.id, reason=", ".join(kept))


def without_given_up(
    draft: TurnDraft, moves: Sequence[Command], given_up: Cancel | None
) -> list[Command]:
    """Return moves without those that lead to a task which the same message gives up by name."""
    named = task_named(draft, given_up.task) if given_up and given_up.task else ""
    if not named:
        return [*moves]
    leading = {t.id for t in draft.spec.transitions if t.target == named}
    return [m for m in moves if not (isinstance(m, Verdict) and m.question in leading)]


def alone(draft: TurnDraft, moves: Sequence[Command], wish: Wish) -> list[Command]:
    """Return moves without those of the other wishes of the same message."""
    target = wish.transition.target
    others = {t.id for t in draft.spec.transitions if t.target != target and t.kind == MOVE}
    judged = (*MODELS, "pattern")
    return [
        move
        for move in moves
        if not (isinstance(move, Verdict) and move.tier in judged and move.question in others)
        and not (isinstance(move, Go) and move.target != target)
    ]


def ask_order(draft: TurnDraft, wishes: Sequence[Wish], said: Sequence[Command]) -> None:
    """Ask which of several wishes comes first; each keeps its values."""
    for wish in wishes:
        target = draft.spec.pathways[wish.transition.target]
        hold(draft, target, values_with(draft, wish, said))
    options = options_of(draft, [wish.transition for wish in wishes])
    draft.repair("clarify", "which_first", options=draft.listed(options))
    draft.ask(Asked(kind="clarify", about=IN_TURN, options=options))
    draft.rest()


def ask_which(
    draft: TurnDraft,
    unclear: Sequence[TransitionSpec],
    wishes: Sequence[Wish],
    said: Sequence[Command],
) -> None:
    """Ask which of several wishes is meant; each keeps its values.

    Where the message does not tell with which, they stay with each of them.
    """
    clarify(draft, options_of(draft, unclear))
    parts = {wish.transition.target: wish for wish in wishes}
    for transition in unclear:
        target, wish = draft.spec.pathways[transition.target], parts.get(transition.target)
        values = values_with(draft, wish, said) if wish else values_for(draft, target, said)
        hold(draft, target, values)


def queue(draft: TurnDraft, transition: TransitionSpec, values: Sequence[Fill]) -> None:
    """Queue a wish until the current pathway is complete, with its values."""
    postpone(draft, None, queue=transition.id)
    if transition.id in draft.dialogue.queued:
        hold(draft, draft.spec.pathways[transition.target], values)
