"""Read a message in a journey that collects: exactly, as proposals, and as data for a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from journeygraph.journeys import Field
from journeygraph.journeys.notions.fields import Form
from journeygraph.journeys.phrases import normal
from journeygraph.journeys.spec.spec import MOVE
from journeygraph.nodes.commands import (
    Back,
    Cancel,
    Command,
    Confirm,
    Correct,
    Explain,
    Fill,
    Human,
    Noise,
    OffTopic,
    Repeat,
    Restart,
    Skip,
    Status,
    Verdict,
    Wait,
)
from journeygraph.nodes.draft import TurnDraft
from journeygraph.nodes.features.decide import belongs, fillable
from journeygraph.nodes.forms.collect import collected_so_far, emptied, take_back_refused
from journeygraph.nodes.forms.offer import offer_person, policy_of, takes_person
from journeygraph.nodes.forms.questions import lines_of, question_of
from journeygraph.nodes.language import (
    Expected,
    clauses_in,
    is_courtesy,
    questions_in,
    read_message,
    rest_of,
)
from journeygraph.nodes.language.expected import FREE, NAMES
from journeygraph.nodes.language.words import words_of
from journeygraph.nodes.llm.form_prompt import Asking, asking_of
from journeygraph.nodes.repair.tasks import (
    asked_to_leave,
    begun_already,
    interruptible,
    is_changed,
    names_of_all,
)
from journeygraph.nodes.repair.wishes import phrase_of
from journeygraph.nodes.state.dialogue_state import Asked, Option
from journeygraph.nodes.state.form_state import is_record, settled
from journeygraph.nodes.state.interpretation import Parse
from journeygraph.nodes.steer import allowed_transitions
from journeygraph.nodes.values import Unreadable, found_in, hint_of, value_of

_NUMBERED = re.compile(r"^ *(\d{1,3})[.)] +(.+)$", re.MULTILINE)
_REPAIRS = (Back, Cancel, Explain, Human, Repeat, Restart, Skip, Status, Wait)
"""Commands that yield to an author's own trigger on the same message."""
_IN_WORDS = (*FREE, *NAMES)
"""Types of values in the user's own words."""
_ONLY_CODE = ("condition",)
"""Tiers that are judged even if the whole message answers the question."""
_LEADING = ("pattern", "own", "condition")
_MOST_GUESSED_WORDS = 2
"""Longest message that is taken for an attempt at what was asked, though it is no such value."""
_MOST_WORDS_OF_A_VALUE = 4
"""Longest message that is taken for an attempt because of a digit or an at sign in it."""


async def welcome(draft: TurnDraft) -> None:
    """Greet after a pause with what is known, and take back what is too old.

    Known values are checked like new ones, and have to be confirmed once more.
    """
    now = draft.setting.at
    before, draft.replies = draft.replies, []
    for name in list(draft.fields):
        _expire(draft, name, now)
    last = draft.dialogue.last_at
    pause = timedelta(seconds=draft.services.config.resume_after_seconds)
    if last is None or now - datetime.fromisoformat(last) <= pause:
        draft.replies = [*before, *draft.replies]
        return
    draft.resumed = True
    await take_back_refused(draft, collected_so_far(draft))
    outdated, draft.replies = draft.replies, before
    _unconfirm(draft)
    asked = draft.form_state().asked()
    if asked and asked["kind"] != "summary" and draft.form_state().is_begun:
        draft.repair("resume", "resumed", fields=lines_of(draft, draft.form_state()))
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
    if field.ttl is None or draft.value(name) is None:
        return
    if is_record(draft.spec, name, draft.dialogue.finished):
        return
    said = next(a for a in reversed(draft.fields[name]) if a["validation_status"] == "valid")
    if now - datetime.fromisoformat(said["timestamp"]) > timedelta(seconds=field.ttl):
        emptied(draft, field, reason="expired", source="inferred")
        draft.say("expired", field=field.title)


def parse_of(draft: TurnDraft, message: str) -> Parse:
    """Return what a message says, as far as it can be read without a model.

    A greeting in return does not answer the question after the greeting, of any type.
    """
    if draft.dialogue.last_at is None and is_courtesy(message, draft.setting.language):
        return Parse()
    form_state = draft.form_state()
    open_fields = form_state.unset
    asked = draft.dialogue.asked or _expected(form_state.open)
    if asked and asked["kind"] == "field":
        first = [field for field in fillable(draft) if field.name == asked["about"]]
        open_fields = first + [f for f in open_fields if f.name != asked["about"]]
    known = _known(draft)
    expected = Expected(
        asked=asked,
        fields=[*open_fields, *_behind(draft, open_fields)],
        known=known,
        correctable=[draft.field(name) for name in known],
        setting=draft.setting,
        tasks=names_of_all(draft.spec),
        changing=_is_changing(draft),
        numbered=_numbered(draft, asked),
    )
    return read_message(message, expected)


def _numbered(draft: TurnDraft, asked: Asked | None) -> dict[int, str]:
    """Return the choices of what was asked for, by the numbers that the question gives them."""
    if asked is None or asked["kind"] != "field":
        return {}
    lines = [(int(number), normal(line)) for number, line in _NUMBERED.findall(draft.question)]
    ways = sorted(draft.field(asked["about"]).ways if lines else (), key=len)
    # The longest choice with which a line begins comes last, and stays.
    return {number: way for number, line in lines for way in ways if line.startswith(normal(way))}


def _is_changing(draft: TurnDraft) -> bool:
    """Return whether what is asked for has, or just had, a value, which may stay."""
    asked = draft.dialogue.asked
    return bool(asked and asked["kind"] == "field" and is_changed(draft, asked["about"]))


def _behind(draft: TurnDraft, open_fields: Sequence[Field]) -> list[Field]:
    """Return the fields that a message may open: those whose `when` does not hold yet."""
    form = draft.here.form
    conditional = [field for field in form.fields if field.when] if form else []
    if not conditional:
        return []
    live = {field.name for field in (*draft.form_state().live, *open_fields)}
    return [field for field in conditional if field.name not in live]


def _expected(fields: Sequence[Field]) -> Asked | None:
    """Return what a user who speaks first answers, if anything: the first question, if typed."""
    if not fields or fields[0].type in _IN_WORDS:
        return None
    return Asked(kind="field", about=fields[0].name, options=[])


def _known(draft: TurnDraft) -> dict[str, object]:
    """Return the values that may be changed; the one that was given last comes last."""
    active = draft.spec.part_of(draft.here.id).id
    given = [(name, settled(attempts)) for name, attempts in draft.fields.items()]
    said = {name: last for name, last in given if last and belongs(draft.spec, name, active)}
    latest = sorted([(last["timestamp"], at) for at, last in enumerate(said.values())])
    names = list(said)
    return {names[at]: said[names[at]]["value"] for _, at in latest}


def weighed(
    draft: TurnDraft, parse: Parse, free: list[Verdict]
) -> tuple[Parse, list[Verdict], bool]:
    """Weigh a reading against the author's triggers that hold.

    An exact answer comes before a pattern, and a pattern before words about the conversation and
    before values in the user's own words, where the pathway may be interrupted (T29).

    Returns:
        The reading, the verdicts, and whether nothing is left for a model to judge.
    """
    asked = draft.dialogue.asked
    leading = [v for v in free if v.holds and not v.error and v.tier in _LEADING]
    if not leading:
        return parse, free, parse.exact
    given = parse.commands[0] if parse.exact else None
    if asked and asked["kind"] == "more" and isinstance(given, Confirm) and is_taken(free):
        return Parse(), free, True  # "pay it" is no yes to "what else?"
    if given is not None and not isinstance(given, _REPAIRS) and not _yields(draft, given):
        return parse, [v for v in free if v.tier in _ONLY_CODE], True
    if given is not None and isinstance(given, _REPAIRS):
        return parse, free, True
    parse = led(draft, leading)
    return parse, free, not parse.unread and (parse.exact or not parse.commands)


def _yields(draft: TurnDraft, command: Command) -> bool:
    """Return whether a value in the user's own words gives way to a pattern in them."""
    if not isinstance(command, (Fill, Correct)) or draft.field(command.field).type not in _IN_WORDS:
        return False
    return interruptible(draft.here, command.field)


def led(draft: TurnDraft, leading: Sequence[Verdict]) -> Parse:
    """Return the reading of a message in which patterns hold.

    Clauses before the phrase of a pattern, or around one that leads to no other form, are read for
    what was asked. Values in the rest are proposed for the fields of where the patterns lead, which
    may be the current task.
    """
    message, language = draft.message, draft.setting.language
    phrases = [phrase for v in leading if (phrase := phrase_of(v))]
    clauses = clauses_in(message, language)
    held = [n for n, one in enumerate(clauses) if any(normal(p) in normal(one) for p in phrases)]
    forms = _forms_of(draft, leading)
    away = [form for form in forms if form is not draft.here.form or _is_over(draft)]
    first = held[0] if held else 0
    others = clauses[:first] if away else [c for n, c in enumerate(clauses) if n not in held]
    rest = [c for c in clauses if c not in others]
    here = parse_of(draft, ", ".join(others)) if others and held else Parse()
    scope = [*{field.name: field for form in away or forms for field in form.fields}.values()]
    there = message if not others else ", ".join(rest)
    expected = Expected(None, scope, {}, (), draft.setting, begins=bool(away))
    proposed = read_message(there, expected) if scope and rest else Parse()
    fills = [replace(c, certain=False) for c in proposed.commands if isinstance(c, Fill)]
    taken = {getattr(c, "field", "") for c in here.commands}
    commands = [*here.commands, *(c for c in fills if c.field not in taken)]
    given = [c.value for c in commands if isinstance(c, (Fill, Correct))]
    is_heard = any(not isinstance(c, _REPAIRS) for c in here.commands)
    taken_out = sorted([*phrases, *given], key=len, reverse=True)
    left = rest_of(", ".join(rest) if is_heard else message, taken_out, language)
    unread = (*here.unread, *left)
    exact = here.exact and not fills
    return Parse(commands, exact=exact, unread=() if not phrases else tuple(dict.fromkeys(unread)))


def _forms_of(draft: TurnDraft, leading: Sequence[Verdict]) -> list[Form]:
    """Return the forms to which verdicts lead."""
    ids = {verdict.question for verdict in leading}
    reached = {t.target for t in draft.spec.transitions if t.id in ids}
    forms = [draft.spec.pathways[id_].form for id_ in sorted(reached)]
    return [form for form in forms if form is not None]


def _is_over(draft: TurnDraft) -> bool:
    return draft.here.id in draft.dialogue.finished


def is_taken(free: Sequence[Verdict]) -> bool:
    """Return whether an author's own trigger took the message."""
    return any(v.holds and v.tier in ("pattern", "own") for v in free)


def authors_first(draft: TurnDraft, parse: Parse, free: Sequence[Verdict]) -> list[Command]:
    """Return what was read, without repairs where an author's own trigger took the message.

    One that took other words leaves the request for a person.
    """
    if not is_taken(free):
        return parse.commands
    kept = () if takes_person(draft, free) else (Human,)
    given: list[Command] = [
        c for c in parse.commands if not isinstance(c, _REPAIRS) or isinstance(c, kept)
    ]
    for command in parse.commands:
        if command not in given:
            draft.note("dropped", trigger=type(command).__name__.lower(), reason="it leads on")
    return given


def held_back(draft: TurnDraft, commands: Sequence[Command], *, leads_on: bool) -> list[Command]:
    """Return the proposals that hold for now; what would end something is asked back.

    A person is offered; a task is left, or begun again, only after a yes.
    """
    for command in commands:
        if isinstance(command, Human) and policy_of(draft):
            offer_person(draft, "asked")
            return []
        if isinstance(command, Cancel) and not leads_on:
            asked_to_leave(draft, everything=command.everything)
            return []
        if isinstance(command, Restart) and not leads_on:
            begun_already(draft)
            return []
    return [c for c in commands if not isinstance(c, (Cancel, Restart))]


def guessed(draft: TurnDraft, message: str) -> list[Command]:
    """Return the classification of a message that was not understood, without a model.

    Words that look like a value are an attempt at it: a word or two, or a digit or an at sign.
    """
    asked = draft.dialogue.asked
    if not asked or asked["kind"] != "field" or is_courtesy(message, draft.setting.language):
        return []
    words, field = words_of(message), draft.field(asked["about"])
    if not words:
        return [Noise()]
    has_signs = any(char.isdigit() or char == "@" for char in message)
    most = _MOST_WORDS_OF_A_VALUE if has_signs else _MOST_GUESSED_WORDS
    is_question = questions_in(message, draft.setting.language)
    if len(words) <= most and field.type not in FREE and not is_question:
        return [Fill(asked["about"], message, certain=False)]
    return [OffTopic(guessed=True)] if draft.dialogue.last_at else []


def supported(draft: TurnDraft, commands: Sequence[Command]) -> Iterator[Command]:
    """Yield a model's commands for a message; a value that the message does not have is repeated.

    A value that was asked for may be worded by the model. Another one is only certain if it is
    in the message: its words, or the same value read there. A sensitive one cannot be repeated, so
    that it is dropped.
    """
    asked = draft.dialogue.asked
    first = draft.form_state().unset[:1]
    about = asked["about"] if asked else "".join(field.name for field in first)
    for command in commands:
        if not isinstance(command, Fill) or command.field == about:
            yield command  # what is changed is always said
            continue
        field = draft.field(command.field)
        is_plain = _stands_there(draft, field, command.value)
        if not field.sensitive:
            yield command if is_plain else replace(command, certain=False)
        elif is_plain or _is_in(command.value, draft.message):
            yield command
        else:
            draft.note("dropped", trigger="fill", reason=f"'{field.name}' is not in the message")


def _is_in(raw: str, message: str) -> bool:
    """Return whether a message has all the words of a text."""
    words = {*words_of(raw).folded}
    return bool(words) and words <= {*words_of(message).folded}


_JUDGED = ("enum", "boolean")
"""Types whose values may be words with another meaning: "my arm is broken" is a yes."""


def _stands_there(draft: TurnDraft, field: Field, raw: str) -> bool:
    """Return whether a message has the words of a value, or the value in other words."""
    if field.type in _JUDGED:
        return True
    if _is_in(raw, draft.message):
        return True
    try:
        value = value_of(field, raw, draft.setting)
    except Unreadable:
        return False
    return any(span.value == value for span in found_in(field, draft.message, draft.setting))


def asking_in(draft: TurnDraft, parse: Parse, *, is_asked: bool) -> Asking:
    """Return the open form for a model, and the commands that it may give for a message.

    Args:
        draft: The turn.
        parse: The reading without a model.
        is_asked: True if the model is to say what the message does to the form.
    """
    form_state = draft.form_state()
    own = list(draft.here.form.fields) if draft.here.form else []
    again = [field for field in _asked_again(draft) if field not in own]
    fields = own + [field for field in _of_targets(draft) if field not in own]
    live = form_state.live
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
        knows=draft.spec.answers_in(draft.here.id),
        is_asked=is_asked,
        is_changing=_is_changing(draft),
        read=[_as_data(command) for command in parse.commands] if is_asked else (),
        unread=parse.unread if is_asked else (),
    )


def _as_data(command: Command) -> dict[str, str]:
    """Return a command that was read as a model is shown it."""
    given = {"command": type(command).__name__.lower()}
    given |= {key: getattr(command, key, "") for key in ("field", "value")}
    return {key: value for key, value in given.items() if value}


def _asked_again(draft: TurnDraft) -> list[Field]:
    """Return the fields to ask for again, of any pathway."""
    return [draft.field(name) for name in draft.dialogue.reopened]


MOST_FIELDS = 30
"""Most fields of possible target pathways that a model gets."""


def _of_targets(draft: TurnDraft) -> list[Field]:
    """Return the fields of the pathways that a message may lead to, which it may fill at once."""
    found: dict[str, Field] = {}
    for transition in allowed_transitions(draft.spec, draft.position):
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
    moves = allowed_transitions(draft.spec, draft.position)
    return [draft.spec.pathways[t.target].title for t in moves if t.kind == MOVE]
