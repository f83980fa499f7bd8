"""Proposals of a message that is not exact, where no model reads it.

Scanners find values; nothing that is found is certain. A value for an open field is repeated, a
change or an end is asked back, and unread words are repeated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from journeygraph.journeys import Field
from journeygraph.nodes.commands import (
    Back,
    Cancel,
    Command,
    Confirm,
    Correct,
    Deny,
    Explain,
    Fill,
    Human,
    Noise,
    Repeat,
    Restart,
    Skip,
    Status,
    Wait,
)
from journeygraph.nodes.language.expected import FREE, NAMES, Expected
from journeygraph.nodes.language.grammar import derived, is_foreign, value_in
from journeygraph.nodes.language.lexicon import Lexicon, Name, lexicon_of, weight
from journeygraph.nodes.language.words import Words, words_of
from journeygraph.nodes.state.interpretation import Parse
from journeygraph.nodes.values import Scan, Setting, Span
from journeygraph.nodes.values.finding import has_number, is_bare, is_near

MOST_CHARACTERS = 4096
"""Characters of a message beyond which it is left to others."""
_LOOSE = (*FREE, *NAMES, "boolean", "integer", "number")
"""Types whose values mean nothing where they were not asked for."""
_NUMERIC = ("integer", "number", "money")
_BARE = ("time", "money")
"""Types of which numbers alone, such as "seven", mean nothing where they were not asked for."""


def read_message(message: str, expected: Expected) -> Parse:
    """Return what a message says, as far as that can be read without a model; it never raises."""
    if len(message) > MOST_CHARACTERS:
        return Parse(unread=(message,))
    if message.isascii() and not words_of(message):
        return Parse([Noise()], exact=True)
    if command := derived(words_of(message), expected):
        is_exact = getattr(command, "certain", True)
        return Parse([command], exact=is_exact, unread=() if is_exact else (message.strip(),))
    return proposed(message, expected)


def proposed(message: str, expected: Expected) -> Parse:
    """Return what a message may say: values, a wish to end or for a person, an answer in text.

    A part that derives by itself is such a proposal; values are looked for in the others.
    """
    words, lexicon = words_of(message), lexicon_of(expected.setting.language)
    if lexicon.has(words, "person"):
        return Parse([Human()], unread=(message.strip(),))
    clauses = [_led_off(clause, lexicon) for clause in _clauses(words, lexicon)]
    parts = [part for clause in clauses for part in _parts(clause, lexicon)]
    read = {part: command for part in parts if (command := _derived(part, clauses, expected))}
    said = [*read.values()]
    gives_up = lexicon.begins(words, "no", "decline") or any(isinstance(c, Deny) for c in said)
    if expected.kind == "return" and gives_up:
        return Parse(unread=(message.strip(),))  # it may give the paused task up
    ends: list[Command] = [c for c in said if isinstance(c, (Cancel, Restart))]
    if ends:
        return Parse(ends[:1], unread=(message.strip(),))
    rest = _without(message, [*read]) if read else message
    commands = _agreeing([c for c in said if isinstance(c, (Fill, Correct))], rest, expected)
    taken = {command.field for command in commands}
    heard = [part for part, c in read.items() if getattr(c, "field", "") in {*taken, ""}]
    rest = _without(message, heard)
    pending = expected.pending
    if not commands and pending is not None and pending.type in FREE:
        commands = [*_in_words(words, pending, expected, lexicon)]
    given = [command.value for command in commands]
    titles = [field.title for field in expected.all_fields if field.name in taken]
    left = rest_of(rest, [*given, *titles], expected.setting.language) if rest else []
    if expected.kind == "return" and parts and lexicon.says(parts[0], "yes", "agree"):
        return Parse([Confirm(), *commands], unread=tuple(left))  # to go back does no harm
    harmless = (*_ASIDE, *(() if left else (Wait, Skip, Repeat)))
    asides = [c for c in said if isinstance(c, harmless)][:1]
    return Parse([*commands] or asides, unread=tuple(left))


def _derived(part: Words, clauses: Sequence[Words], expected: Expected) -> Command | None:
    """Return what a part of a message says by itself: any command as a clause, else a change."""
    if len(part.all) == len(words_of(part.text).all):
        return None  # the message, which does not derive
    command = derived(words_of(part.raw), expected)
    return command if part in clauses or isinstance(command, Correct) else None


def _agreeing(
    given: Sequence[Fill | Correct], rest: str, expected: Expected
) -> list[Fill | Correct]:
    """Return the values that parts of a message say by themselves, and those found in the rest.

    Of a field with two of them, none is left.
    """
    alone = [c for c in given if all(c.read == d.read for d in given if d.field == c.field)]
    found = [*_values(words_of(rest), expected)] if words_of(rest) else []
    pending, other = expected.pending, False
    if pending and rest and pending.type in _NUMERIC:  # "2 adults, 1 child"
        beside = words_of(words_without(rest, [command.value for command in found]))
        other = has_number(" ".join(beside.folded), expected.setting.language)
        other = other and not Scan(rest, expected.setting).found(pending)
    kept = [
        c
        for c in alone
        if all(c.read == d.read for d in found if d.field == c.field)
        and not (other and pending and isinstance(c, Fill) and c.field == pending.name)
    ]
    taken = {command.field for command in given}
    return [replace(c, certain=False) for c in kept] + [c for c in found if c.field not in taken]


def _without(message: str, parts: Sequence[Words]) -> str:
    """Return a message without some of its parts, in order; a clause ends in their place."""
    for part in reversed([part for part in parts if part]):
        before = message[: part.all[0].start].rstrip(" ,")
        behind = message[part.all[-1].end :].lstrip(" ,")
        message = f"{before}{', ' if before and behind[:1].isalnum() else ' '}{behind}"
    return message.strip()


_ASIDE = (Status, Explain, Back)
"""Words to the conversation that do no harm where a message says nothing else that is read."""


def _clauses(words: Words, lexicon: Lexicon) -> Iterator[Words]:
    """Yield the clauses of a message; a cue, as "sorry", belongs to what follows it."""
    begin = end = 0
    for clause in words.clauses():
        end += len(clause)
        part = words.part(begin, end)
        if end == len(words) or not lexicon.says(part, "cue") or lexicon.says(part, "wait"):
            yield part
            begin = end


def _parts(clause: Words, lexicon: Lexicon) -> Iterator[Words]:
    """Yield the parts of a clause between its joints."""
    first = 0
    for place in range(len(clause)):
        if ends := lexicon.at(clause, place, "and"):
            if first < place:
                yield clause.part(first, place)
            first = ends[0]
    if first < len(clause):
        yield clause.part(first)


def _in_words(
    words: Words, field: Field, expected: Expected, lexicon: Lexicon
) -> Iterator[Fill | Correct]:
    """Yield a message as the text that was asked for, unless it asks, refuses or leads away."""
    begin = 0
    for clause in words.clauses():
        if begin and _corrects(clause, lexicon, expected):
            words = words_of(words.part(0, begin).raw)  # the rest is about another value
            break
        begin += len(clause)
    text = words.text.strip()
    value = value_in(field, text, expected)
    refuses: tuple[Name, ...] = () if field.required else ("not", "denied_before")
    if lexicon.begins(words, *refuses) or is_courtesy(text, expected.setting.language):
        return
    if value is not None and not any(_leads_away(clause, lexicon) for clause in words.clauses()):
        yield Fill(field.name, text, read=value, certain=False)


def _corrects(clause: Words, lexicon: Lexicon, expected: Expected) -> bool:
    """Return whether a clause contrasts a number with another: "it was worth 840 not 640"."""
    is_number = has_number(" ".join(clause.folded), expected.setting.language)
    return bool(expected.known) and is_number and lexicon.has(clause, "not")


def _leads_away(clause: Words, lexicon: Lexicon) -> bool:
    """Return whether a clause asks something, or begins with a word to the conversation."""
    return is_question(clause, lexicon) or lexicon.begins(clause, *_AWAY)


_AWAY: tuple[Name, ...] = (
    "no",
    "cancel",
    "cancel_all",
    "back",
    "restart",
    "status",
    "wait",
    "skip",
    "unknown",
)


def _values(words: Words, expected: Expected) -> Iterator[Fill | Correct]:
    """Yield a value for each field that a message plainly has one of; what fits two is left out.

    The pending field comes first; a span is taken once. An open field comes before a known one.
    """
    lexicon, pending = lexicon_of(expected.setting.language), expected.pending
    joints = [clause.part(0, _joint(clause, lexicon)) for clause in words.clauses()]
    asking = [clause if is_question(clause, lexicon) else None for clause in words.clauses()]
    told = [clause or joint for clause, joint in zip(asking, joints, strict=True)]
    said = Scan(_without(words.text, joints), expected.setting)
    stated = Scan(_without(words.text, told), expected.setting) if any(asking) else said
    found = []
    for field in expected.all_fields:
        scan = said if _is_heard_in_questions(field, expected) else stated
        found.append((field, [*_found(field, scan, expected)]))
    found.sort(key=lambda each: -max([len(span.raw) for span in each[1]] or [0]))
    found.sort(key=lambda each: each[0] is not pending)
    taken: list[Span] = []
    for field, proposed_spans in found:
        spans = [span for span in proposed_spans if not _over(span, taken)]
        if len({repr(span.value) for span in spans}) != 1:
            continue
        span = spans[0]
        taken.append(span)
        kind = Correct if field.name in expected.known else Fill
        if kind is Fill or span.value != expected.known[field.name]:
            yield kind(field.name, span.raw, read=span.value, certain=False)


def _joint(clause: Words, lexicon: Lexicon) -> int:
    """Return the length of the joint that a clause begins with, as in "and at 7 pm"."""
    return (lexicon.at(clause, 0, "and")[:1] or [0])[0]


def _is_heard_in_questions(field: Field, expected: Expected) -> bool:
    """Return whether a value counts in a question: "where is my order L-1234?".

    That is one by its author's pattern, a choice in a message that begins its task, and what was
    asked for, unless it is a choice or a number: "is eight enough?".
    """
    if field.extract and field.name not in expected.known:
        return True
    if field.type == "enum":
        return expected.begins
    return field is expected.pending and field.type not in _NUMERIC


def _led_off(clause: Words, lexicon: Lexicon) -> Words:
    """Return a clause without the joint that it begins with: "and at 7 pm"."""
    return clause.part(_joint(clause, lexicon))


def _found(field: Field, scan: Scan, expected: Expected) -> Iterator[Span]:
    """Yield the values of a field in a text that another field cannot have as well.

    A number, a yes or a name that was not asked for may be about anything. Where no field was asked
    for, a number is about the only field that takes one.
    """
    spans = scan.found(field) if field.extract or field.type not in FREE else ()
    spans = [span for span in spans if not is_foreign(field, span.value)]
    setting = expected.setting
    lexicon = lexicon_of(setting.language)
    spans = [] if any(_is_denied(scan.text, span, lexicon) for span in spans) else spans
    if not spans or field is expected.pending:
        yield from spans
        return
    numeric = [f.name for f in expected.all_fields if f.type in _NUMERIC]
    is_only = expected.kind != "field" and numeric == [field.name]
    alike = [f for f in expected.fields if f.type == field.type and f is not field]
    for span in spans:
        is_shared = any(value_in(f, span.raw, expected) is not None for f in alike)
        is_loose = field.type in _LOOSE or (field.type in _BARE and is_bare(span.raw, setting))
        is_loose = is_loose or (field.name in expected.known and is_near(span, setting))
        is_article = lexicon.says(words_of(span.raw), "articles")
        if span.own or not (is_shared or is_article or (is_loose and not is_only)):
            yield span


def _is_denied(text: str, span: Span, lexicon: Lexicon) -> bool:
    """Return whether the words around a value, in its clause, say that it is not wanted."""
    behind = next(words_of(text[span.end :]).clauses(), words_of(""))
    is_closed = text[span.end :].lstrip()[:1] in {*".,;:!?"} or lexicon.begins(behind, "and")
    ends = len(behind) and lexicon.says(behind.part(len(behind) - 1), "not")
    if not is_closed and (ends or lexicon.begins(behind, "not", "denied_behind")):
        return True
    before = [*words_of(text[: span.start]).clauses()][-1:]
    if not before or before[0].all[-1].closes:
        return False
    first = before[0].part(0, 1)
    is_answer = lexicon.says(first, "no") and not lexicon.says(first, "not")
    return lexicon.has(before[0].part(int(is_answer)), "denied_before")


def _over(span: Span, taken: Iterable[Span]) -> bool:
    return any(span.raw in other.raw for other in taken)


# --- Questions, clauses ---


def is_question(words: Words, lexicon: Lexicon) -> bool:
    """Return whether words ask: by their sign, or by the word that they begin with."""
    return bool(words) and (words.asks or bool(lexicon.at(words, 0, "question")))


def is_courtesy(message: str, language: str) -> bool:
    """Return whether a message is only courtesy, such as a greeting."""
    lexicon, words = lexicon_of(language), words_of(message)
    place = 0
    while ends := lexicon.at(words, place, "courtesy"):
        place = ends[0]
    return bool(words) and place == len(words) and "?" not in message


def without_article(name: str, language: str) -> str:
    """Return a name without the article that it begins with."""
    lexicon, words = lexicon_of(language), words_of(name)
    ends = lexicon.at(words, 0, "articles") if words else ()
    return name[words.all[ends[0]].start :] if ends and ends[0] < len(words) else name


def clauses_in(message: str, language: str) -> list[str]:
    """Return the clauses of a message, as they were written."""
    return [clause.raw + "?" * clause.asks for clause in words_of(message).clauses()]


def questions_in(message: str, language: str) -> list[str]:
    """Return the questions that a message asks, as they were written."""
    lexicon = lexicon_of(language)
    found = []
    for clause in words_of(message).clauses():
        if is_question(clause, lexicon) and not lexicon.says(clause, "yes", "no", "agree"):
            end = clause.all[-1].end
            sign = "?" if clause.asks else ""
            found.append(message[clause.all[0].start : end] + sign)
    return found


def refused_in(message: str, patterns: Iterable[tuple[str, str]], language: str) -> set[str]:
    """Return the questions that no clause of a message answers but one that denies or cancels.

    Of each pattern that matched, the id of the question that it answers is given too.
    """
    lexicon, clauses = lexicon_of(language), [*words_of(message).clauses()]
    refused: set[str] = set()
    meant: set[str] = set()
    for pattern, question in patterns:
        for clause in clauses:
            if place := clause.find(pattern):
                (refused if _denies(clause, *place, lexicon) else meant).add(question)
    return refused - meant


def _denies(clause: Words, first: int, last: int, lexicon: Lexicon) -> bool:
    """Return whether words before or behind a phrase say that it is not wanted."""
    before, behind = clause.part(0, first), clause.part(last)
    return lexicon.has(before, "denied_before") or lexicon.has(behind, "denied_behind")


def words_without(message: str, parts: Iterable[str]) -> str:
    """Return a message without some of its parts; empty if no word is left."""
    for part in parts:
        message = message.replace(part, " ", 1)
    return message.strip() if words_of(message) else ""


def rest_of(message: str, phrases: Iterable[str], language: str) -> list[str]:
    """Return the parts of a message with weight around the phrases of patterns."""
    text = message
    for phrase in phrases:
        words = words_of(text)
        if found := words.find(phrase):
            first, last = found
            text = text[: words.all[first].start] + " , " + text[words.all[last - 1].end :]
    return [*weight(words_of(text), language)]


def exact_command(message: str, setting: Setting, tasks: Sequence[str]) -> Command | None:
    """Return the command that a whole message is where nothing was asked; else None.

    Args:
        message: The message.
        setting: The time and the locale of the user.
        tasks: The names of the tasks that may be given up.
    """
    parse = read_message(message, Expected(None, (), {}, (), setting, tasks))
    return parse.commands[0] if parse.exact else None
