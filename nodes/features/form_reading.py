"""Read a message in a journey that collects: exactly, as proposals, and as data for a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from journeygraph.journeys import Field
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
from journeygraph.nodes.language.expected import FREE, NAMES, Expected
from journeygraph.nodes.language.lexicon import lexicon_of
from journeygraph.nodes.language.proposals import (
    clauses_in,
    is_courtesy,
    questions_in,
    read_message,
    rest_of,
)
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
from journeygraph.nodes.values.checking import hint_of

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
    if name := draft.dialogue.pending:
        first = [field for field in fillable(draft) if field.name == name]
        open_fields = first + [f for f in open_fields if f.name != name]
    known = known_values(draft)
    expected = Expected(
        asked=asked,
        fields=open_fields,
        known=known,
        correctable=[draft.field(name) for name in known],
        setting=draft.setting,
        tasks=names_of_all(draft.spec),
        changing=is_changed(draft, draft.dialogue.pending),
        numbered=_numbered(draft),
    )
    return read_message(message, expected)


def _numbered(draft: TurnDraft) -> dict[int, str]:
    """Return the choices of what was asked for, by the numbers that the question gives them."""
    name = draft.dialogue.pending
    if not name:
        return {}
    lines = [(int(number), normal(line)) for number, line in _NUMBERED.findall(draft.question)]
    ways = sorted(draft.field(name).ways if lines else (), key=len)
    # The longest choice with which a line begins comes last, and stays.
    return {number: way for number, line in lines for way in ways if line.startswith(normal(way))}


def _expected(fields: Sequence[Field]) -> Asked | None:
    """Return what a user who speaks first answers, if anything: the first question, if typed."""
    if not fields or fields[0].type in _IN_WORDS:
        return None
    return Asked(kind="field", about=fields[0].name, options=[])


def known_values(draft: TurnDraft) -> dict[str, object]:
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
    leading = [v for v in free if v.holds and not v.error and v.tier in _LEADING]
    if not leading or (parse.exact and isinstance(parse.commands[0], _REPAIRS)):
        return parse, free, parse.exact
    if parse.exact and not _yields(draft, parse.commands[0]):
        return parse, [v for v in free if v.tier in _ONLY_CODE], True
    parse = led(draft, leading)
    return parse, free, not parse.unread and (parse.exact or not parse.commands)


def _yields(draft: TurnDraft, command: Command) -> bool:
    """Return whether an answer gives way to a pattern: a text, or a yes to "what else?"."""
    asked = draft.dialogue.asked
    if isinstance(command, Confirm):
        return bool(asked and asked["kind"] == "more")
    if not isinstance(command, (Fill, Correct)) or draft.field(command.field).type not in _IN_WORDS:
        return False
    return interruptible(draft.here, command.field)


def led(draft: TurnDraft, leading: Sequence[Verdict]) -> Parse:
    """Return the reading of a message in which patterns hold.

    Clauses before the first phrase, or around it if it leads to no form, are read for what was
    asked. Values in the rest are proposed for the fields of where the patterns lead.
    """
    message, language = draft.message, draft.setting.language
    phrases = [phrase for v in leading if (phrase := phrase_of(v))]
    ids = {verdict.question for verdict in leading}
    targets = sorted({t.target for t in draft.spec.transitions if t.id in ids})
    forms = [form for id_ in targets if (form := draft.spec.pathways[id_].form)]
    clauses = clauses_in(message)
    held = [n for n, one in enumerate(clauses) if any(normal(p) in normal(one) for p in phrases)]
    places = range(held[0]) if forms and held else {*range(len(clauses))}.difference(held)
    here = parse_of(draft, ", ".join(clauses[n] for n in places)) if held and places else Parse()
    scope = [*{field.name: field for form in forms for field in form.fields}.values()]
    is_over = draft.here.id in draft.dialogue.finished
    begins = is_over or any(form is not draft.here.form for form in forms)
    expected = Expected(None, scope, {}, (), draft.setting, begins=begins)
    rest = ", ".join(one for n, one in enumerate(clauses) if n not in places or not held)
    found = read_message(rest, expected).commands if scope else []
    fills = [replace(command, certain=False) for command in found if isinstance(command, Fill)]
    commands = [*here.commands, *fills]
    given = [c.value for c in commands if isinstance(c, (Fill, Correct))]
    is_repaired = any(isinstance(command, _REPAIRS) for command in here.commands)
    taken = sorted([*phrases, *given], key=len, reverse=True)
    left = rest_of(message if is_repaired else rest, taken, language)
    unread = dict.fromkeys([*here.unread, *left]) if phrases else ()
    return Parse(commands, exact=here.exact and not fills, unread=tuple(unread))


def without_model(draft: TurnDraft, parse: Parse, free: Sequence[Verdict]) -> list[Command]:
    """Return the commands of a message where no model was asked or none answered.

    Repairs yield to an author's own trigger on the same message; one that took other words leaves
    the request for a person. A person is offered, and a task is left, or begun again, only after a
    yes.
    """
    is_taken = any(verdict.takes_words for verdict in free)
    given: list[Command] = [*parse.commands]
    if is_taken:
        kept = () if takes_person(draft, free) else (Human,)
        given = [c for c in given if not isinstance(c, _REPAIRS) or isinstance(c, kept)]
        if len(given) < len(parse.commands):
            draft.note("dropped", reason="a trigger on the same message leads on")
    if parse.exact or (is_taken and not given):
        return given
    for command in given:
        if isinstance(command, Human) and policy_of(draft):
            offer_person(draft, "asked")
            return []
        if isinstance(command, Cancel) and not is_taken:
            asked_to_leave(draft, everything=command.everything)
            return []
        if isinstance(command, Restart) and not is_taken:
            begun_already(draft)
            return []
    passed = (Cancel, Restart, *((Human,) if any(isinstance(c, Fill) for c in given) else ()))
    given = [c for c in given if not isinstance(c, passed)]
    return given or ([] if is_taken else guessed(draft, draft.message))


def guessed(draft: TurnDraft, message: str) -> list[Command]:
    """Return the classification of a message that was not understood, without a model.

    Words that look like a value are an attempt at it: a word or two, or a digit or an at sign.
    """
    name, language = draft.dialogue.pending, draft.setting.language
    if not name or is_courtesy(message, language):
        return []
    words, field = words_of(message), draft.field(name)
    if not words:
        return [Noise()]
    has_signs = any(char.isdigit() or char == "@" for char in message)
    most = _MOST_WORDS_OF_A_VALUE if has_signs else _MOST_GUESSED_WORDS
    is_question = questions_in(message, language)
    if len(words) <= most and field.type not in FREE and not is_question:
        return [Fill(name, message, certain=False)]
    if draft.dialogue.last_at is None:
        return []
    is_change = lexicon_of(language).begins(words, "cue")  # "actually a day later"
    return [Noise() if is_change else OffTopic(guessed=True)]


def supported(draft: TurnDraft, commands: Sequence[Command]) -> Iterator[Command]:
    """Yield a model's commands; a value that was not asked for is repeated if it is in other words.

    A sensitive one cannot be repeated, so that it is dropped.
    """
    asked = draft.dialogue.asked
    first = draft.form_state().unset[:1]
    about = asked["about"] if asked else "".join(field.name for field in first)
    message = {*words_of(draft.message).folded}
    for command in commands:
        if not isinstance(command, Fill) or command.field == about:
            yield command  # what is changed is always said
        elif {*words_of(command.value).folded} <= message:
            yield command
        elif not draft.field(command.field).sensitive:
            yield replace(command, certain=False)
        else:
            reason = f"'{command.field}' is not in the message"
            draft.note("dropped", trigger="fill", reason=reason)


def asking_in(draft: TurnDraft, parse: Parse, *, is_asked: bool) -> Asking:
    """Return the open form for a model, and the commands that it may give for a message.

    It says what the message does to the form only where it is asked (`is_asked`).
    """
    form_state, spec = draft.form_state(), draft.spec
    own = list(draft.here.fields)
    reopened = [draft.field(name) for name in draft.dialogue.reopened]
    again = [field for field in reopened if field not in own]
    moves = [t for t in allowed_transitions(spec, draft.position) if t.kind == MOVE]
    ahead = {field.name: field for t in moves for field in spec.pathways[t.target].fields}
    fields = own + [field for field in [*ahead.values()][:MOST_FIELDS] if field not in own]
    names = list(known_values(draft))
    known = {name: draft.field(name) for name in names}
    shown = {name: draft.shown(known[name], draft.value(name)) for name in names}
    policy = policy_of(draft)
    # The moment would change what is taken, and with it the request, from one minute to the next.
    today = replace(draft.setting, at=draft.setting.at.replace(hour=0, minute=0))
    paused = [frame["pathway"] for frame in reversed(draft.position["stack"])]
    return asking_of(
        draft.here.title,
        fields,
        shown,
        skipped=draft.dialogue.skipped,
        closed=[field.name for field in own if field not in form_state.live],
        reopened=again,
        correctable=list(known.values()),
        questions={
            field.name: question_of(draft, Asked(kind="field", about=field.name, options=[]))
            for field in [*again, *own]
        },
        hints={field.name: hint_of(field, today) for field in [*again, *own]},
        asked=draft.dialogue.asked,
        paused=[Option(id=id_, label=spec.pathways[id_].title) for id_ in paused],
        tasks=list(dict.fromkeys(spec.pathways[t.target].title for t in moves)),
        person=policy is not None,
        sentiment=policy.sentiment if policy else "",
        personality=spec.part_of(draft.here.id).personality,
        worded=draft.here.form is not None and draft.here.pipeline is None,
        knows=spec.answers_in(draft.here.id),
        is_asked=is_asked,
        is_changing=is_changed(draft, draft.dialogue.pending),
        read=[_as_data(command) for command in parse.commands] if is_asked else (),
        unread=parse.unread if is_asked else (),
    )


MOST_FIELDS = 30
"""Most fields of possible target pathways that a model gets."""


def _as_data(command: Command) -> dict[str, str]:
    given = {"command": type(command).__name__.lower()}
    given |= {key: getattr(command, key, "") for key in ("field", "value")}
    return {key: value for key, value in given.items() if value}
