"""Proposals of a message that is not exact, where no model reads it.

Scanners find values; nothing that is found is certain. A value for an open field is repeated, a
change or an end is asked back, and unread words are repeated.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from journeygraph.journeys import Field, JourneyConfig, JourneySpec
from journeygraph.journeys.declarations.fields import FIELD_TYPES
from journeygraph.journeys.locale import NOWHERE, in_force
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
from journeygraph.nodes.language.grammar import acts_in, derived, is_foreign, value_in
from journeygraph.nodes.language.lexicon import Lexicon, lexicon_of, refused_in, weight
from journeygraph.nodes.language.words import Words, words_of
from journeygraph.nodes.state.interpretation import Parse
from journeygraph.nodes.values.finding import Scan, Span, is_bare, is_comparison
from journeygraph.nodes.values.languages import ListName
from journeygraph.nodes.values.reading import load as load_values
from journeygraph.nodes.values.setting import LONGEST, Setting

_NUMERIC = ("integer", "number", "money")
_LOOSE = (*FREE, *NAMES, "boolean", "integer", "number")
"""Types whose values mean nothing where they were not asked for."""
_WITHOUT_NUMBERS = (*NAMES, "email", "boolean", "enum")
"""Types of answers in which no number is meant as one."""
_ASIDE = (Status, Explain, Back)
"""Words to the conversation that do no harm where a message says nothing else that is read."""
_AWAY: tuple[ListName, ...] = (
    *("no", "cancel", "cancel_all", "back", "restart", "status", "wait", "skip", "unknown"),
)
"""Lists with which no text begins that was asked for."""


def load(language: str) -> None:
    """Read the data of a language, which takes up to a second; else the first message waits."""
    lexicon_of(language)
    load_values({*FIELD_TYPES}.difference(("phone", "email")), language)
    _LOADED.add(language)


def load_languages(spec: JourneySpec, config: JourneyConfig) -> None:
    """Read the data of the languages that a journey and its parts are spoken in."""
    for part in (spec, *spec.parts.values()):
        load(in_force(part.locale, NOWHERE, config.locale).language or "en")


_LOADED: set[str] = set()


async def ready_to_read(language: str) -> None:
    """Load a language in a thread, so that the event loop does not wait."""
    if language not in _LOADED:
        await asyncio.to_thread(load, language)


def read_message(message: str, expected: Expected) -> Parse:
    """Return what a message says, as far as that can be read without a model; it never raises."""
    if len(message) > LONGEST:
        return Parse(unread=(message,))
    if message.isascii() and not words_of(message):
        return Parse([Noise()], exact=True)
    if command := derived(words_of(message), expected):
        return Parse([command], exact=getattr(command, "certain", True))
    return proposed(message, expected)


def proposed(message: str, expected: Expected) -> Parse:
    """Return what a message may say: values, a wish to end or for a person, an answer in text.

    A part that derives by itself is such a proposal; values are looked for in the others.
    """
    words, lexicon = words_of(message), lexicon_of(expected.setting.language)
    wishes: list[Command] = [Human()] if lexicon.has(words, "person") else []
    parts = [*_parts(words, lexicon)]
    whole = len(parts) == 1 and len(parts[0]) == len(words)  # it does not derive
    read = {p: c for p in parts if not whole and (c := derived(words_of(p.raw), expected))}
    said = [*read.values()]
    gives_up = lexicon.begins(words, "no", "decline") or any(isinstance(c, Deny) for c in said)
    if expected.kind == "return" and gives_up:
        return Parse(unread=(message.strip(),))  # it may give the paused task up
    if ends := [c for c in said if isinstance(c, (Cancel, Restart))]:
        return Parse([ends[0]], unread=(message.strip(),))
    commands = _given(message, read, expected)
    taken = {command.field for command in commands}
    pending = expected.pending
    if not commands and pending is not None and pending.type in FREE:
        commands = [*_in_words(words, pending, expected)]
    heard = [part for part, c in read.items() if getattr(c, "field", "") in {*taken, ""}]
    titles = [field.title for field in expected.all_fields if field.name in taken]
    given = [*(command.value for command in commands), *titles]
    left = rest_of(_without(message, heard), given, expected.setting.language)
    if expected.kind == "return" and parts and lexicon.says(parts[0], "yes", "agree"):
        return Parse([*wishes, Confirm(), *commands], unread=tuple(left))  # it does no harm
    harmless = (*_ASIDE, *(() if left else (Wait, Skip, Repeat)))
    asides = [c for c in said if isinstance(c, harmless)][:1]
    return Parse([*wishes, *(commands or asides)], unread=tuple(left))


def _parts(words: Words, lexicon: Lexicon) -> Iterator[Words]:
    """Yield the parts of a message between signs and joints, as "and".

    A cue, as "sorry", belongs to what follows it.
    """
    first = 0
    for place, word in enumerate(words.all):
        part = words.part(first, place + 1)
        is_cue = lexicon.says(part, "cue") and not lexicon.says(part, "wait")
        if ends := lexicon.at(words, place, "and"):
            part, first = words.part(first, place), ends[0]
        elif word.closes and not is_cue:
            first = max(first, place + 1)
        else:
            continue
        if part:
            yield part
    if first < len(words):
        yield words.part(first)


def _given(message: str, read: Mapping[Words, Command], expected: Expected) -> list[Fill | Correct]:
    """Return the values that parts of a message say by themselves, and those found in the rest.

    Of a field with two of them, none is left. What scanners find as well is left to them, as they
    see the words next to it.
    """
    worded = {field.name for field in expected.all_fields if field.type in (*FREE, *NAMES)}
    alone = {
        part: command
        for part, command in read.items()
        if isinstance(command, Correct)
        or (isinstance(command, Fill) and command.field in worded and not part.raw.islower())
    }
    found = [*alone.values(), *_scanned(_without(message, alone), expected)]
    kept = [c for c in found if all(c.read == d.read for d in found if d.field == c.field)]
    return [*{c.field: replace(c, certain=False) for c in kept}.values()]


def _without(message: str, parts: Iterable[Words]) -> str:
    for part in sorted(parts, key=lambda part: -part.all[0].start):
        message = f"{message[: part.all[0].start]} , {message[part.all[-1].end :]}"
    return message


def _scanned(text: str, expected: Expected) -> Iterator[Fill | Correct]:
    """Yield a value for each field that a text plainly has one of; what fits two is left out.

    The pending field comes first; a span is taken once. An open field comes before a known one.
    """
    lexicon, pending = lexicon_of(expected.setting.language), expected.pending
    is_new = expected.begins or pending is None
    clauses = [*words_of(text).clauses()]
    asking = [c for c in clauses if is_question(c, lexicon) or (is_new and lexicon.has(c, "past"))]
    said = Scan(text, expected.setting)
    stated = Scan(_without(text, asking), expected.setting) if asking else said
    found: list[tuple[Field, list[Span]]] = []
    for field in expected.all_fields:
        # "Where is my order L-1234?", "is Friday possible?", but not "is eight enough?" or, where
        # nothing was asked, "you took 12 euros last time".
        is_asked = field is pending and field.type not in _NUMERIC
        is_asked = expected.begins if field.type == "enum" else is_asked
        scan = said if field.extract or is_asked else stated
        found.append((field, _found(field, scan, expected)))
    found = [each for each in found if each[1]]
    found.sort(key=lambda each: (each[0] is not pending, -max(len(s.raw) for s in each[1])))
    taken: list[Span] = []
    for field, proposed_spans in found:
        spans = [s for s in proposed_spans if not any(s.raw in other.raw for other in taken)]
        if len({repr(span.value) for span in spans}) != 1:
            continue
        span = spans[0]
        taken.append(span)
        kind = Correct if field.name in expected.known else Fill
        if kind is Fill or span.value != expected.known[field.name]:
            yield kind(field.name, span.raw, read=span.value)


def _found(field: Field, scan: Scan, expected: Expected) -> list[Span]:
    """Return the values of a field in a text that another field cannot have as well.

    None is left where one is denied.
    """
    spans = scan.found(field) if field.extract or field.type not in FREE else []
    spans = [span for span in spans if not is_foreign(field, span.value)]
    said = [(span.raw, span.raw) for span in spans]
    if not spans or refused_in(scan.text, said, expected.setting.language):
        return []
    return [s for s in spans if s.own or not _may_be_of_other(s, field, expected)]


def _may_be_of_other(span: Span, field: Field, expected: Expected) -> bool:
    """Return whether a value may be about anything else than a field, as it was not asked for.

    Where no field was asked for, a number is about the only field that takes one. So it is where a
    value without numbers was asked for, if that field is known: the change is asked back.
    """
    pending = expected.pending
    numeric = [f.name for f in expected.all_fields if f.type in _NUMERIC]
    corrects = field.name in expected.known and pending and pending.type in _WITHOUT_NUMBERS
    is_meant = numeric == [field.name] and (expected.kind != "field" or corrects)
    if field is pending or is_meant:
        return False
    alike = [f for f in expected.fields if f.type == field.type and f is not field]
    is_shared = any(value_in(f, span.raw, expected) is not None for f in alike)
    is_number = field.type in ("time", "money") and is_bare(span.raw, expected.setting)
    return field.type in _LOOSE or is_number or is_shared


def _in_words(words: Words, field: Field, expected: Expected) -> Iterator[Fill | Correct]:
    """Yield a message as the text that was asked for, unless it asks, refuses or leads away."""
    lexicon = lexicon_of(expected.setting.language)
    *longer, act = acts_in(words, lexicon)
    text = act.raw if longer else words.text.strip()  # "a slide please"
    refuses: tuple[ListName, ...] = () if field.required else ("not", "denied_before")
    if lexicon.begins(words, *refuses) or is_courtesy(text, expected.setting.language):
        return
    clauses = [*words.clauses()]
    if any(is_question(each, lexicon) or lexicon.begins(each, *_AWAY) for each in clauses):
        return
    is_change = lexicon.begins(words, "cue") and not lexicon.begins(words, "but")
    if expected.known and (is_change or is_comparison(text, expected.setting.language)):
        return  # "actually a day before", "an hour later"; but "it is the tap"
    if (value := value_in(field, text, expected)) is not None:
        yield Fill(field.name, text, read=value, certain=False)


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
    ends = lexicon.at(words, 0, "articles")
    return name[words.all[ends[0]].start :] if ends and ends[0] < len(words) else name


def clauses_in(message: str) -> list[str]:
    """Return the clauses of a message, as they were written."""
    return [_written(clause) for clause in words_of(message).clauses()]


def questions_in(message: str, language: str) -> list[str]:
    """Return the questions that a message asks, as they were written."""
    lexicon = lexicon_of(language)
    asking = [clause for clause in words_of(message).clauses() if is_question(clause, lexicon)]
    return [_written(each) for each in asking if not lexicon.says(each, "yes", "no", "agree")]


def _written(clause: Words) -> str:
    return clause.raw + "?" * clause.asks


def rest_of(message: str, phrases: Iterable[str], language: str) -> list[str]:
    """Return the parts of a message with weight around the phrases of patterns."""
    text = message
    for phrase in phrases:
        words = words_of(text)
        if place := words.find(phrase):
            text = _without(text, [words.part(*place)])
    return [*weight(words_of(text), language)]


def exact_command(message: str, setting: Setting, tasks: Sequence[str]) -> Command | None:
    """Return the command that a whole message is where nothing was asked; else None."""
    parse = read_message(message, Expected(None, (), {}, (), setting, tasks))
    return parse.commands[0] if parse.exact else None
