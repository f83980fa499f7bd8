"""Listen to a message in a journey that collects: without a model first, then with one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from journeys import Field
from journeys.spec import MOVE
from nodes.commands import (
    Cancel,
    Command,
    Confirm,
    Deny,
    Explain,
    Fill,
    Human,
    Noise,
    OffTopic,
    Repeat,
    Skip,
    Verdict,
    Wait,
)
from nodes.deciding import belongs, fillable
from nodes.draft import TurnDraft
from nodes.forms.filling import emptied, is_refused
from nodes.forms.questions import lines_of, question_of
from nodes.forms.rechecking import collected_so_far, take_back_refused
from nodes.forms.sheet import owners, settled
from nodes.language import Ear, Heard, hear
from nodes.language.greetings import is_greeting
from nodes.legal import legal
from nodes.llm.form import Asking, asking_of
from nodes.repair.people import policy_of
from nodes.repair.switching import interruptible
from nodes.talk import Asked, FieldAttempt, Option
from nodes.values import found_in, hint_of

_REPAIRS = (Cancel, Explain, Human, Repeat, Skip, Wait)
"""What an author's own trigger on the same message comes before."""
FREE = ("text", "name", "address")
"""Types of which nearly every message would be a value."""
MOST_GUESSED_WORDS = 2
"""Longest message that is taken for an attempt at what was asked, though it is no such value."""
MOST_WORDS_OF_A_VALUE = 4
"""Longest message that is taken for an attempt because of a digit or an at sign in it."""
_SPELLED = ("enum", "boolean", "name")
"""Types whose values are words."""


async def welcome(draft: TurnDraft) -> None:
    """Greet after a pause with what is known, and take back what is too old.

    What is known is checked as if it were said now, and has to be confirmed once more.
    """
    now = draft.setting.at
    for name in list(draft.fields):
        _expire(draft, name, now)
    last = draft.dialogue.last_at
    pause = timedelta(seconds=draft.services.config.resume_after_seconds)
    if last is None or now - datetime.fromisoformat(last) <= pause:
        return
    draft.resumed = True
    before, draft.replies = draft.replies, []
    await take_back_refused(draft, collected_so_far(draft))
    outdated, draft.replies = draft.replies, before
    _unconfirm(draft)
    asked = draft.sheet().asked()
    if asked and asked["kind"] != "summary" and draft.sheet().is_begun:
        draft.repair("resume", "resumed", fields=lines_of(draft, draft.sheet()))
    draft.replies += outdated


def _unconfirm(draft: TurnDraft) -> None:
    """Have each summary shown again whose pathway has not done anything with it yet."""
    over = {*draft.dialogue.finished}
    over |= {step.partition(".")[0] for step in draft.dialogue.taken}
    draft.dialogue.confirmed = [id_ for id_ in draft.dialogue.confirmed if id_ in over]


def _expire(draft: TurnDraft, name: str, now: datetime) -> None:
    try:
        field = draft.field(name)
    except KeyError:  # an older version of the journey had it
        return
    if field.ttl is None or draft.value(name) is None or _is_used(draft, name):
        return
    said = next(a for a in reversed(draft.fields[name]) if a["validation_status"] == "valid")
    if now - datetime.fromisoformat(said["timestamp"]) > timedelta(seconds=field.ttl):
        emptied(draft, field, reason="expired", source="inferred")
        draft.say("expired", field=field.title)


def _is_used(draft: TurnDraft, name: str) -> bool:
    """Say whether a task was completed with a value: then it is a record, and does not expire."""
    finished = draft.dialogue.finished
    return any(owner.id in finished for owner in owners(draft.spec, name))


def heard_in(draft: TurnDraft, message: str) -> Heard:
    """Return what a message says, as far as that is plain without a model.

    Who greets back does not answer the question behind the greeting, whatever it takes.
    """
    if draft.dialogue.last_at is None and is_greeting(message):
        return Heard()
    open_fields = draft.sheet().open
    asked = draft.dialogue.asked or _expected(open_fields)
    if asked and asked["kind"] == "field":
        first = [field for field in fillable(draft) if field.name == asked["about"]]
        open_fields = first + [f for f in open_fields if f.name != asked["about"]]
    known = _known(draft)
    correctable = [draft.field(name) for name in known]
    return hear(
        message,
        Ear(
            asked=asked,
            fields=open_fields,
            known=known,
            correctable=correctable,
            setting=draft.setting,
            tasks=[draft.here.title, *(task["label"] for task in _paused(draft))],
        ),
    )


def _expected(fields: Sequence[Field]) -> Asked | None:
    """Return what a user who speaks first answers, if anything: the first question, if typed."""
    if not fields or fields[0].type in FREE:
        return None
    return Asked(kind="field", about=fields[0].name, options=[])


def _known(draft: TurnDraft) -> dict[str, object]:
    """Return the values that may be changed; the one that was given last comes last."""
    active = draft.spec.part_of(draft.here.id).id
    said = {name: settled(attempts) for name, attempts in draft.fields.items()}
    latest = sorted(
        (name for name, last in said.items() if last and belongs(draft.spec, name, active)),
        key=lambda name: _when(said[name]),
    )
    return {name: draft.value(name) for name in latest}


def _when(attempt: FieldAttempt | None) -> str:
    return attempt["timestamp"] if attempt else ""


async def in_free_text(
    draft: TurnDraft, heard: Heard, free: list[Verdict]
) -> tuple[Heard, list[Verdict]]:
    """Tell an answer in free text from an intent.

    Nearly every message could be the answer. So an intent is looked for where the pathway may be
    interrupted at this field; elsewhere only in what the field does not take (T29).
    """
    asked = draft.dialogue.asked
    given = heard.commands[0] if len(heard.commands) == 1 else None
    if asked and asked["kind"] == "more" and isinstance(given, Confirm) and _is_taken(free):
        return replace(heard, commands=[], whole=False), free  # "pay it" is no yes to "what else?"
    if not asked or not isinstance(given, Fill) or given.field != asked["about"]:
        return heard, free
    field = draft.field(given.field)
    if field.type not in FREE:
        return heard, free
    if not field.required and _yes_or_no(draft, given.value) is False:
        return replace(heard, commands=[Skip()]), free
    leads = any(v.holds and not v.error and v.tier == "pattern" for v in free)
    if interruptible(draft.here, field.name):
        left = [] if leads else heard.commands
        return replace(heard, commands=left, sure=False, whole=False), free
    if leads and await is_refused(draft, field, given.value):
        return replace(heard, commands=[], whole=False), free
    return replace(heard, sure=True, whole=True), free


def authors_first(heard: Heard, free: Sequence[Verdict]) -> list[Command]:
    """Return what was heard, without repairs where an author's own trigger took the message."""
    own = _is_taken(free)
    return [c for c in heard.commands if not (own and isinstance(c, _REPAIRS))]


def _is_taken(free: Sequence[Verdict]) -> bool:
    """Say whether an author's own trigger took the message."""
    return any(v.holds and v.tier in ("pattern", "own") for v in free)


def heard_for(draft: TurnDraft, message: str, verdicts: Sequence[Verdict]) -> list[Command]:
    """Return values that a message gives for the pathways that it may lead to."""
    leading = {v.question for v in verdicts if v.holds and not v.error}
    found: list[Command] = []
    for transition in draft.spec.transitions:
        if transition.id not in leading or transition.target == draft.here.id:
            continue
        form = draft.spec.pathways[transition.target].form
        if form is not None:
            ear = Ear(None, form.fields, {}, (), draft.setting)
            found += [c for c in hear(message, ear).commands if isinstance(c, Fill)]
    return found


def guessed(draft: TurnDraft, message: str) -> list[Command]:
    """Return what a message nothing could be made of is taken for, where nobody else is asked.

    What looks like such a value and is none is an attempt at it: it holds a digit or an at sign, or
    is a word or two. Words that hold a value and speak of something else lead off (T19). Who greets
    back, or says first what they are here for, does neither.
    """
    asked = draft.dialogue.asked
    if not asked or asked["kind"] != "field" or is_greeting(message):
        return []
    field = draft.field(asked["about"])
    if (bare := _yes_or_no(draft, message)) is not None:
        return [Noise() if bare else Skip()]  # who says no to a question would rather not say
    leads_off: list[Command] = [OffTopic()] if draft.dialogue.last_at is not None else []
    if found_in(field, message, draft.setting):
        return leads_off
    most = MOST_GUESSED_WORDS if field.type in _SPELLED else 1
    words = len(message.split())
    has_signs = any(char.isdigit() or char == "@" for char in message)
    looks_like_it = has_signs and words <= MOST_WORDS_OF_A_VALUE
    is_short = words <= most and not message.rstrip().endswith("?")
    return [Fill(field.name, message)] if looks_like_it or is_short else leads_off


def _yes_or_no(draft: TurnDraft, message: str) -> bool | None:
    """Return whether a message is a bare yes or no; None for neither."""
    nothing_else = Asked(kind="more", about="", options=[])
    heard = hear(message, Ear(nothing_else, (), {}, (), draft.setting))
    kinds = [type(command) for command in heard.commands] if heard.whole else []
    return {Confirm: True, Deny: False}.get(kinds[0]) if len(kinds) == 1 else None


def asking_in(draft: TurnDraft, *, is_asked: bool) -> Asking:
    """Return what a model is told of the form that is open, and what it may make of a message.

    Args:
        draft: The turn.
        is_asked: Whether the model is to say what the message does to the form.
    """
    sheet = draft.sheet()
    own = list(draft.here.form.fields) if draft.here.form else []
    again = [field for field in _asked_again(draft) if field not in own]
    fields = own + [field for field in _of_targets(draft) if field not in own]
    live = sheet.live
    names = list(_known(draft))
    known = {name: draft.field(name) for name in names}
    shown = {name: draft.shown(known[name], draft.value(name)) for name in names}
    policy = policy_of(draft)
    # The moment would change what is taken, and with it the request, from one minute to the next.
    today = replace(draft.setting, at=draft.setting.at.replace(hour=0, minute=0))
    return asking_of(
        draft.here.title,
        fields,
        shown,
        skipped=draft.dialogue.skipped,
        closed=[field.name for field in own if field not in live],
        reopened=again,
        correctable=list(known.values()),
        questions=_questions(draft, [*again, *own]),
        hints={field.name: hint_of(field, today) for field in [*again, *own]},
        asked=draft.dialogue.asked,
        paused=_paused(draft),
        tasks=list(dict.fromkeys(_titles(draft))),
        person=policy is not None,
        sentiment=policy.sentiment if policy else "",
        personality=draft.spec.part_of(draft.here.id).personality,
        worded=draft.here.form is not None and draft.here.pipeline is None,
        is_asked=is_asked,
    )


def _asked_again(draft: TurnDraft) -> list[Field]:
    """Return the fields that are to be asked for again, of whatever pathway."""
    return [draft.field(name) for name in draft.dialogue.reopened]


MOST_FIELDS = 30
"""Most fields of pathways that a message may lead to, which a model is told of."""


def _of_targets(draft: TurnDraft) -> list[Field]:
    """Return the fields of the pathways that a message may lead to, which it may fill at once."""
    found: dict[str, Field] = {}
    for transition in legal(draft.spec, draft.position):
        form = draft.spec.pathways[transition.target].form
        if transition.kind == MOVE and form is not None:
            found |= {field.name: field for field in form.fields}
    return list(found.values())[:MOST_FIELDS]


def _questions(draft: TurnDraft, fields: Sequence[Field]) -> Mapping[str, str]:
    return {
        field.name: question_of(draft, Asked(kind="field", about=field.name, options=[]))
        for field in fields
    }


def _paused(draft: TurnDraft) -> list[Option]:
    paused = [frame["pathway"] for frame in reversed(draft.position["stack"])]
    return [Option(id=id_, label=draft.spec.pathways[id_].title) for id_ in paused]


def _titles(draft: TurnDraft) -> list[str]:
    moves = legal(draft.spec, draft.position)
    return [draft.spec.pathways[t.target].title for t in moves if t.kind == MOVE]
