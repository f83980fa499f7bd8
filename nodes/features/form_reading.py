"""Read a message in a journey that collects: without a model first, then with one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from rapidfuzz.distance import OSA

from journeygraph.journeys import Field, IntentTrigger, Regex
from journeygraph.journeys.phrases import said as contains
from journeygraph.journeys.spec.spec import MOVE
from journeygraph.nodes.commands import (
    Back,
    Cancel,
    Choose,
    Command,
    Confirm,
    Correct,
    Deny,
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
from journeygraph.nodes.forms.collect import (
    collected_so_far,
    emptied,
    is_refused,
    take_back_refused,
)
from journeygraph.nodes.forms.offer import policy_of, takes_person
from journeygraph.nodes.forms.questions import lines_of, question_of
from journeygraph.nodes.language import Expected, Parse, asks, clauses_in, read_message
from journeygraph.nodes.language.answers import is_greeting
from journeygraph.nodes.language.lexicon import lexicon_of
from journeygraph.nodes.language.mentions import brought_in, is_article, names_any_field
from journeygraph.nodes.language.reading import NAMES, read, value_in
from journeygraph.nodes.llm.form_prompt import Asking, asking_of
from journeygraph.nodes.repair.clarify import phrase_of
from journeygraph.nodes.repair.tasks import interruptible, is_changed, names_of_all
from journeygraph.nodes.state.dialogue_state import Asked, Option
from journeygraph.nodes.state.form_state import is_record, settled
from journeygraph.nodes.steer import allowed_transitions, asks_model
from journeygraph.nodes.values import Setting, Unreadable, found_in, hint_of, value_of
from journeygraph.nodes.values.scanning import words_in

_REPAIRS = (Back, Cancel, Explain, Human, Repeat, Restart, Skip, Status, Wait)
"""Commands that yield to an author's own trigger on the same message."""
_IN_WORDS = ("text", *NAMES, "address")
"""Types of single values in the user's own words."""
ONLY_CODE = ("condition",)
"""Tiers that are judged even if the whole message answers the question."""
_SENTENCE = "so what is that"
_LEADING = ("pattern", "own", "condition")
_CHANGES = ("form_contrast", "form_named", "form_carried")
_SAID = ("enum", *NAMES)
_PLAIN = ("integer", "date", "time", "money", "email", "phone")
MOST_GUESSED_WORDS = 2
"""Longest message that is taken for an attempt at what was asked, though it is no such value."""
MOST_WORDS_OF_A_VALUE = 4
"""Longest message that is taken for an attempt because of a digit or an at sign in it."""
_SHORT, _LONG = 2, 5
_SPELLED = ("enum", "boolean", *NAMES)
"""Types whose values are words."""


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
    if draft.dialogue.last_at is None and is_greeting(message):
        return Parse()
    form_state = draft.form_state()
    open_fields = form_state.unset
    asked = draft.dialogue.asked or _expected(form_state.open)
    first: list[Field] = []
    if asked and asked["kind"] == "field":
        first = [field for field in fillable(draft) if field.name == asked["about"]]
        open_fields = first + [f for f in open_fields if f.name != asked["about"]]
    if (only := _only_option(draft, asked)) and _yes_or_no(draft, message):
        return Parse([only], certain=True, whole=True)
    if first and _is_changing(draft) and _stays(draft, first[0], message):
        return Parse([Confirm()], certain=True, whole=True)
    known = _known(draft)
    expected = Expected(
        asked=asked,
        fields=[*open_fields, *_behind(draft, open_fields)],
        known=known,
        correctable=[draft.field(name) for name in known],
        setting=draft.setting,
        tasks=names_of_all(draft.spec),
        changing=_is_changing(draft),
    )
    return read_message(message, expected)


def _is_changing(draft: TurnDraft) -> bool:
    """Return whether what is asked for has, or just had, a value, which may stay."""
    asked = draft.dialogue.asked
    return bool(asked and asked["kind"] == "field" and is_changed(draft, asked["about"]))


def _stays(draft: TurnDraft, field: Field, message: str) -> bool:
    """Return whether a message is a yes to the value that a field has, and no other one for it.

    Nor is a bare no the value of a field in the user's own words, if that cannot be left open.
    """
    bare = _yes_or_no(draft, message)
    if draft.value(field.name) is None or bare is None:
        return False
    if field.type in _IN_WORDS:
        return bare or field.required
    if not bare:
        return False
    try:
        value_of(field, message, draft.setting)
    except Unreadable:
        return True
    return False


def _behind(draft: TurnDraft, open_fields: Sequence[Field]) -> list[Field]:
    """Return the fields that a message may open: those whose `when` does not hold yet."""
    form = draft.here.form
    conditional = [field for field in form.fields if field.when] if form else []
    if not conditional:
        return []
    live = {field.name for field in (*draft.form_state().live, *open_fields)}
    return [field for field in conditional if field.name not in live]


def _only_option(draft: TurnDraft, asked: Asked | None) -> Fill | None:
    """Return what a yes takes where a single option is left to choose."""
    if not asked or asked["kind"] != "field":
        return None
    ways = draft.field(asked["about"]).ways
    return Fill(asked["about"], next(iter(ways))) if len(ways) == 1 else None


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


async def weighed(
    draft: TurnDraft, parse: Parse, free: list[Verdict]
) -> tuple[Parse, list[Verdict]]:
    """Weigh a reading against the author's patterns.

    A pattern explains its whole clause (T04, T07), unless that has a value
    which nothing takes. Nearly every message could be an answer in free text: there a pattern comes
    first, where the pathway may be interrupted at this field, and else if the field does not take
    the words (T29).
    """
    asked = draft.dialogue.asked
    given = parse.commands[0] if len(parse.commands) == 1 else None
    if asked and asked["kind"] == "more" and isinstance(given, Confirm) and is_taken(free):
        return replace(parse, commands=[], whole=False), free  # "pay it" is no yes to "what else?"
    leading = [v for v in free if v.holds and not v.error and v.tier in _LEADING]
    parse = _begun_anew(draft, parse, leading)
    if isinstance(given, Fill) and asked and given.field == asked["about"]:
        field = draft.field(given.field)
        if field.type in _IN_WORDS and await _is_shaped(draft, field, given):
            parse = replace(parse, certain=True, whole=True, unread=())
        elif field.type in _IN_WORDS:
            if not field.required and _yes_or_no(draft, given.value) is False:
                return replace(parse, commands=[Skip()], certain=True, whole=True), free
            parse = await _in_free_text(draft, parse, given, leads=bool(leading))
    if leading and not parse.whole:
        parse = led(draft, parse, leading)
    if parse.whole and not (leading and _only_repairs(parse)):
        free = [verdict for verdict in free if verdict.tier in ONLY_CODE]
    return parse, free


def _begun_anew(draft: TurnDraft, parse: Parse, leading: Sequence[Verdict]) -> Parse:
    """Leave out the changes of a finished task that a phrase begins again: "another, for five".

    Their values are read for the new one then. Words that change something only name the task.
    """
    over = draft.dialogue.finished
    ids = {v.question: v.phrase for v in leading if v.phrase} if over else {}
    again = [t for t in draft.spec.transitions if t.id in ids and t.target in over]
    forms = [form for t in again if (form := draft.spec.pathways[t.target].form)]
    old = [c for c in parse.commands if isinstance(c, Correct) and any(c.field in f for f in forms)]
    if not old or _changes(draft.message, [ids[t.id] for t in again], draft.setting.language):
        return parse
    kept = [command for command in parse.commands if command not in old]
    unread = (*parse.unread, *(command.value for command in old))
    return replace(parse, commands=kept, whole=False, unread=unread)


def _changes(message: str, phrases: Sequence[str], language: str) -> bool:
    """Return whether words change something, up to the clause of a phrase."""
    lexicon = lexicon_of(language)
    for clause in clauses_in(message, language):
        words = read(clause, lexicon)
        if words.begins("repair", "meant") or lexicon.says(words.marked, *_CHANGES):
            return True
        if any(contains(phrase, clause) for phrase in phrases):
            break
    return False


async def _is_shaped(draft: TurnDraft, field: Field, given: Fill) -> bool:
    """Return whether a field's own pattern matches the whole answer, so that it is nothing else."""
    whole = str(given.read).casefold() == draft.message.strip().casefold()
    if not whole or not _has_shape(draft, field):
        return False
    return not await is_refused(draft, field, given.value)


def _has_shape(draft: TurnDraft, field: Field) -> bool:
    """Return whether a field's own pattern distinguishes an answer from a sentence."""
    matches = draft.setting.patterns.fullmatch
    shapes = [one.pattern for one in field.validators if isinstance(one, Regex)]
    return bool(shapes) and not all(matches(field.name, shape, _SENTENCE) for shape in shapes)


def _only_repairs(parse: Parse) -> bool:
    """Return whether a message has only repairs, which an author's own trigger may take."""
    return bool(parse.commands) and all(isinstance(c, _REPAIRS) for c in parse.commands)


async def _in_free_text(draft: TurnDraft, parse: Parse, given: Fill, *, leads: bool) -> Parse:
    """Distinguish an answer in free text from an intent."""
    field, message = draft.field(given.field), draft.message
    may_leave = interruptible(draft.here, field.name)
    if leads and (may_leave or await is_refused(draft, field, given.value)):
        return replace(parse, commands=[], certain=False, whole=False, unread=(message,))
    if leads or not may_leave:  # one that holds a pattern is repeated
        return replace(parse, certain=not leads, whole=True, unread=())
    return parse


def may_be_intent(draft: TurnDraft, parse: Parse) -> bool:
    """Return whether an answer in free text may also be a wish that a model can judge."""
    asked = draft.dialogue.asked
    given = parse.commands[0] if len(parse.commands) == 1 else None
    if not asked or not isinstance(given, Fill) or given.field != asked["about"]:
        return False
    field = draft.field(given.field)
    if field.type != "text" or _has_shape(draft, field) or given.value != draft.message.strip():
        return False
    moves = (t for t in allowed_transitions(draft.spec, draft.position) if asks_model(t))
    return interruptible(draft.here, given.field) and any(moves)


def led(draft: TurnDraft, parse: Parse, free: Sequence[Verdict]) -> Parse:
    """Add to a reading the values for where patterns lead, and leave out what these explain."""
    ids = {v.question for v in free if v.holds and not v.error and v.tier in _LEADING}
    if not ids:
        return parse
    reached = {t.target for t in draft.spec.transitions if t.id in ids}
    targets = {id_ for id_ in reached if id_ != draft.here.id or id_ in draft.dialogue.finished}
    forms = [form for target in sorted(targets) if (form := draft.spec.pathways[target].form)]
    scopes = [Expected(None, form.fields, {}, (), draft.setting) for form in forms]
    clauses = clauses_in(draft.message, draft.setting.language)
    phrases = [phrase_of(v) for v in free if v.question in ids and v.tier == "pattern"]
    said = [c for c in clauses if any(contains(phrase, c) for phrase in phrases)]
    first = min([draft.message.find(clause) for clause in said], default=0)
    before = draft.message[: max(first, 0)]
    parse = _read_before(draft, parse, before)
    answer = _answer_in(draft, parse, before)
    known = {getattr(command, "field", None) for command in parse.commands}
    changes = [c.value for c in parse.commands if isinstance(c, Correct)]
    more: dict[str, Fill] = {}
    for scope in scopes:  # all of the message; else the clauses that ask for it
        for words in (draft.message, *(said if len(clauses) > 1 else ())):
            given = [c for c in read_message(words, scope).commands if isinstance(c, Fill)]
            given = [c for c in given if c.value != answer]
            given = [c for c in given if not any(c.value in said for said in changes)]
            more = {c.field: c for c in given if c.field not in known} | more
    taken = {command.value for command in more.values()}
    apart: list[str] = []  # values beside the wish for another task
    if targets == reached and not draft.form_state().is_begun:
        values = [c.value for c in parse.commands if isinstance(c, Fill) and c.value not in taken]
        apart = [value for value in values if any(value in clause for clause in said)]
        taken.update(apart)
    # What is given for where it leads is not given here.
    kept = [c for c in parse.commands if not isinstance(c, Fill) or c.value not in taken]
    lexicon = lexicon_of(draft.setting.language)
    refuses = any(read(phrase, lexicon).has("negation") for phrase in phrases)
    fields = [field for scope in scopes for field in scope.fields] or draft.form_state().live
    left = [
        words
        for part in _in_clauses(parse.unread, draft.setting.language)
        if part not in taken
        for words in _left_of(draft, part, said, _beyond(part, scopes, taken), fields, refuses)
    ]
    certain = not left if parse.unread else parse.certain
    together = " ".join(apart)
    left += [together] if together and together in draft.message else apart
    return replace(parse, commands=[*kept, *more.values()], certain=certain, unread=tuple(left))


def _read_before(draft: TurnDraft, parse: Parse, before: str) -> Parse:
    """Return a reading with what is read before the wish for another task, if it has nothing else.

    What is chosen there of several options is nothing else: "the first, and how is the weather?"
    """
    asked = draft.dialogue.asked
    if asked is None or not before or (parse.commands and not asked["options"]):
        return parse
    here = parse_of(draft, _without_joints(before, draft.setting.language))
    if parse.commands and not any(isinstance(c, Choose) for c in here.commands):
        return parse
    return replace(here, unread=(*here.unread, draft.message.removeprefix(before)), whole=False)


def _without_joints(words: str, language: str) -> str:
    """Return words without signs, and words such as "and", at their end."""
    lexicon = lexicon_of(language)
    tokens = list(read(words, lexicon).tokens)
    while tokens and tokens[-1].word in lexicon.words("joints"):
        tokens.pop()
    return words[: tokens[-1].end] if tokens else ""


def _answer_in(draft: TurnDraft, parse: Parse, before: str) -> str:
    """Return the value before a wish that answers the question: "tomorrow. Is there a crane?"."""
    about = asked["about"] if (asked := draft.dialogue.asked) else ""
    given = (c for c in parse.commands if isinstance(c, Fill) and c.field == about)
    return next((c.value for c in given if c.value in before), "")


def _left_of(
    draft: TurnDraft,
    part: str,
    said: Sequence[str],
    left: list[str],
    fields: Sequence[Field],
    refuses: bool,
) -> list[str]:
    """Return the words of a part that nothing explains: no wish, no value of where it leads.

    A wish that refuses something explains a choice in its clause: "I don't want Dr. Smith".
    """
    if any(part in clause or clause in part for clause in said):
        among = () if refuses else fields
        return [part] if any(has_value(words, draft.setting, among) for words in left) else []
    return left


def _in_clauses(parts: Sequence[str], language: str) -> list[str]:
    """Return words that nothing explained, clause by clause."""
    return [clause for part in parts for clause in clauses_in(part, language) if clause]


def _beyond(part: str, scopes: Sequence[Expected], taken: Collection[str]) -> list[str]:
    """Return the words of a part that no pathway takes which the message may lead to."""
    left = [part]
    for scope in scopes:
        parse = read_message(part, scope)
        if all(isinstance(c, Fill) and c.value in taken for c in parse.commands):
            left = min(left, list(parse.unread), key=lambda words: len(" ".join(words)))
    return left


def has_value(words: str, setting: Setting, fields: Sequence[Field] = ()) -> bool:
    """Return whether words hold a number, a date or another value that can be nothing else.

    Of fields, a choice or a name that is brought in counts, too.
    """
    if any(sign.isdigit() for sign in words):
        return True
    lexicon = lexicon_of(setting.language)
    among = [*[Field("any", kind) for kind in _PLAIN], *[f for f in fields if f.type in _SAID]]
    spans = (span for field in among for span in found_in(field, words, setting))
    return any(not is_article(read(span.raw, lexicon)) for span in spans)


def matters(draft: TurnDraft, words: str) -> bool:
    """Return whether words that nothing explains may matter: a value, a field, a question."""
    live = draft.form_state().live
    if f"{words}?" in draft.message or has_value(words, draft.setting, live):
        return True
    if asks(words, draft.setting.language):
        return True
    said = {word for word in words_in(words) if len(word) > _SHORT}
    known = [draft.value(name) for name in draft.fields]
    given = {word for value in known if isinstance(value, str) for word in words_in(value)}
    if said & given or any(_is_nearly(one, other) for one in said for other in given):
        return True
    named = names_any_field(words, live, draft.setting.language)
    return named or may_be_name(draft, words)


def may_be_name(draft: TurnDraft, words: str) -> bool:
    """Return whether words may hold the name that an open field waits for."""
    if not [field for field in draft.form_state().unset if field.type in NAMES]:
        return False
    own = read(words, lexicon_of(draft.setting.language)).words
    return not brought_in(draft.message, draft.setting.language).isdisjoint(own)


def wishes_for(draft: TurnDraft, words: str) -> bool:
    """Return whether words only ask for the task that the message is at."""
    here = {draft.here.id, draft.run, draft.position["pathway"]}
    leading = [t.trigger for t in draft.spec.transitions if t.target in here]
    phrases = [p for one in leading if isinstance(one, IntentTrigger) for p in one.patterns]
    found = any(contains(phrase, words) for phrase in phrases)
    return found and not has_value(words, draft.setting)


def _is_nearly(one: str, other: str) -> bool:
    """Return whether a word is another one with a slip of the pen: "Friederich" and "Friedrich"."""
    return min(len(one), len(other)) >= _LONG and OSA.distance(one, other, score_cutoff=1) == 1


def authors_first(draft: TurnDraft, parse: Parse, free: Sequence[Verdict]) -> list[Command]:
    """Return what was read, without repairs where an author's own trigger took the message.

    One that took another clause leaves what gives a task up or looks back: "forget the taxi, a
    table". One that took other words leaves the request for a person.
    """
    if not is_taken(free) or not any(isinstance(c, _REPAIRS) for c in parse.commands):
        return parse.commands
    kept = _said_apart(draft, free)
    if not takes_person(draft, free):
        kept.add(Human)
    return [c for c in parse.commands if not isinstance(c, _REPAIRS) or type(c) in kept]


def _said_apart(draft: TurnDraft, free: Sequence[Verdict]) -> set[type[Command]]:
    """Return the kinds of repairs in clauses that no trigger of the author took."""
    own = [v for v in free if v.holds and v.tier in ("pattern", "own")]
    phrases = [phrase_of(verdict) for verdict in own]
    clauses = clauses_in(draft.message, draft.setting.language) if all(phrases) else ()
    nothing = Expected(None, (), {}, (), draft.setting, names_of_all(draft.spec))
    return {
        type(command)
        for clause in clauses
        if not any(contains(phrase, clause) for phrase in phrases)
        for command in read_message(clause, nothing).commands
        if isinstance(command, (Back, Cancel, Restart, Status))
    }


def is_taken(free: Sequence[Verdict]) -> bool:
    """Return whether an author's own trigger took the message."""
    return any(v.holds and v.tier in ("pattern", "own") for v in free)


_JUDGED = ("enum", "boolean")
"""Types whose values may be words with another meaning: "my arm is broken" is a yes."""
_NUMBERED = ("integer", "number", "money", "date", "time", "datetime", "phone")


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
        elif is_plain or set(words_in(command.value)) <= set(words_in(draft.message)):
            yield command
        else:
            draft.note("dropped", trigger="fill", reason=f"'{field.name}' is not in the message")


def _stands_there(draft: TurnDraft, field: Field, raw: str) -> bool:
    """Return whether a message has the words of a value, or the value in other words."""
    if field.type in _JUDGED:
        return True
    message, setting = draft.message, draft.setting
    said = set(words_in(message))
    words = {word for word in words_in(raw) if len(word) > 1 or word.isdigit()}
    if field.type in _IN_WORDS:
        return False
    if field.type not in _NUMBERED:
        run_together = "".join(words_in(message))
        return bool(words & said) or any(
            word in run_together for word in words if len(word) > _SHORT
        )
    value = value_in(field, raw, setting)
    same = [span for span in found_in(field, message, setting) if span.value == value]
    return bool(same) or (bool(words) and words <= said)


def guessed(draft: TurnDraft, message: str) -> list[Command]:
    """Return the classification of a message that was not understood, without a model.

    Words that look like such a value are an attempt at it: it holds a digit or an at sign, or is a
    word or two. Words with a value and another subject lead off (T19). A message that greets
    back, or begins with its purpose, does neither.
    """
    asked = draft.dialogue.asked
    if not asked or asked["kind"] != "field" or is_greeting(message):
        return []
    field = draft.field(asked["about"])
    if (bare := _yes_or_no(draft, message)) is not None:
        return [Noise() if bare else Skip()]  # who says no to a question would rather not say
    leads_off: list[Command] = [OffTopic(guessed=True)] if draft.dialogue.last_at else []
    if found_in(field, message, draft.setting):
        return [OffTopic()] if leads_off else []
    most = MOST_GUESSED_WORDS if field.type in _SPELLED else 1
    words = len(message.split())
    has_signs = any(char.isdigit() or char == "@" for char in message)
    looks_like_it = has_signs and words <= MOST_WORDS_OF_A_VALUE
    is_short = words <= most and not message.rstrip().endswith("?")
    return [Fill(field.name, message, certain=False)] if looks_like_it or is_short else leads_off


def _yes_or_no(draft: TurnDraft, message: str) -> bool | None:
    """Return whether a message is a bare yes or no; None for neither."""
    alone = Asked(kind="leave", about="", options=[])
    parse = read_message(message, Expected(alone, (), {}, (), draft.setting))
    kinds = [type(command) for command in parse.commands] if parse.whole else []
    return {Confirm: True, Deny: False}.get(kinds[0]) if len(kinds) == 1 else None


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
