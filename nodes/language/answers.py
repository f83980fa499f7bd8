"""Answers to what was asked: yes and no, one of several options, words about the talk itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from rapidfuzz.distance import OSA

from journeygraph.journeys import Field
from journeygraph.journeys.locale import LANGUAGES
from journeygraph.journeys.phrases import plain
from journeygraph.nodes.commands import (
    Back,
    Cancel,
    Choose,
    Clear,
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
from journeygraph.nodes.language.lexicon import Lexicon, sayings_of
from journeygraph.nodes.language.mentions import concerns, is_question_of, is_task, mentioned
from journeygraph.nodes.language.reading import (
    CHOOSING,
    FREE,
    YES_OR_NO,
    Expected,
    Parse,
    Reading,
    read,
    readable_part,
    sure,
    value_in,
)
from journeygraph.nodes.state.dialogue_state import IN_TURN, Asked
from journeygraph.nodes.values import negation_of
from journeygraph.nodes.values.scanning import any_of

_PLAIN: dict[str, Command] = {
    "cancel_all": Cancel(everything=True),
    "human": Human(),
    "cancel": Cancel(),
    "repeat": Repeat(),
    "wait": Wait(),
    "restart": Restart(),
    "back": Back(),
    "status": Status(),
}
"""Names of phrases that say one command in every situation; the first one counts."""
_SIGNALS = (
    *_PLAIN,
    *("keep", "human_alone", "give_up", "task", "skip", "lacking", "unknown", "nothing", "explain"),
)
_AGAIN = {Wait: ("busy", "unknown"), Skip: ("unknown", "nothing"), Deny: ("no",), Cancel: ("no",)}
"""Names of phrases that say a command once more."""
_OFFERS = ("return", "start_over", "human", "unclaimed", "retry", "more")
_OFFERED = (*_OFFERS, "correction", "restart", "change", "leave")
_COUNTED = ("integer", "number", "money", "boolean")


def signal(reading: Reading, expected: Expected) -> Command | None:
    """Return what words say about the conversation itself, if that is all that they say."""
    if _has_none(reading, expected):
        return Skip()
    if not reading.says(*_SIGNALS):
        return None
    field = expected.pending  # whose choices may sound so
    if field and field.type == "enum" and value_in(field, reading.raw, expected.setting):
        return None
    meant = frozenset(name for name in _SIGNALS if reading.says(name))
    for name, command in _PLAIN.items():
        if name in meant:
            return command
    if "human_alone" in meant and (reading.has("polite") or not expected.in_text):
        return Human()
    return (
        _given_up(reading, expected, meant)
        or _skipped(reading, meant, expected)
        or _questioned(reading, expected)
    )


def _has_none(reading: Reading, expected: Expected) -> bool:
    """Return whether an optional field is left open by its name or question: "no wishes"."""
    field, lexicon = expected.pending, reading.lexicon
    if field is None or field.required or field.type in ("boolean", "enum"):
        return False
    words = reading.core()
    end = words.begins("nothing") or words.opens("negation")
    denied = words.words[end:] if end and not words.tokens[end - 1].closes else []
    removed = lexicon.matches("form_removed", words.marked)  # "I don't need a reminder"
    without = [denied, *[found["what"].split() for found in removed]]
    return any(is_question_of(what, field, lexicon) for what in without)


def _given_up(reading: Reading, expected: Expected, meant: frozenset[str]) -> Command | None:
    lexicon = reading.lexicon
    if expected.changing and not meant.isdisjoint(("keep", "give_up")):
        return Deny()
    if "give_up" in meant:
        return Deny() if expected.kind in _OFFERED else Cancel()
    name = lexicon.part("task", reading.said)
    if not name:
        return None
    if lexicon.says(name, "any_task"):
        return Cancel()
    return Cancel(task=name) if is_task(name, expected.tasks, lexicon) else None


def _skipped(reading: Reading, meant: frozenset[str], expected: Expected) -> Command | None:
    field = expected.pending
    if field is None:
        return None
    skips = not (
        field.required or field.type == "boolean" or meant.isdisjoint(("unknown", "nothing"))
    )
    if "skip" in meant:  # "rather not" is an answer where yes or no was asked
        skips = not (field.type == "boolean" and reading.says("no"))
    elif field.type not in _COUNTED and "lacking" in meant:
        skips = not field.required or field.type not in FREE
    return Skip() if skips else None


def _questioned(reading: Reading, expected: Expected) -> Command | None:
    what = reading.lexicon.part("explain", reading.said)
    if what is None or expected.asked is None:
        return None
    if not what:
        return Explain()
    field = mentioned(what.split(), expected.all_fields, reading.lexicon)
    return Explain(field.name) if field else None


def explains(part: Reading, command: Command) -> bool:
    """Return whether words only say why something is asked for."""
    if part.says("reason") and not part.asks:
        return True
    if isinstance(command, Cancel) and part.has("negation"):
        return not part.asks  # "forget it, don't file anything"
    return part.says(*_AGAIN.get(type(command), ()))


_WORD = re.compile(r"\w+")


def is_greeting(message: str) -> bool:
    """Return whether a message is only a greeting, in any language.

    >>> is_greeting("Hi there!"), is_greeting("Hi, a table for four"), is_greeting("¡Buenos días!")
    (True, False, True)
    """
    words = " ".join(_WORD.findall(plain(message)))
    return "?" not in message and _greeting().fullmatch(words) is not None


@cache
def _greeting() -> re.Pattern[str]:
    spoken = [sayings_of(language).lines("greeting") for language in LANGUAGES]
    return re.compile(any_of(line for lines in spoken for line in lines))


_YES = frozenset("\U0001f44d\U0001f44c\u2705\u2714\U0001f197\U0001f64f")
_NO = frozenset("\U0001f44e\u274c\u2716\U0001f645")
_ROWS = "qwertyuiop asdfghjkl zxcvbnm qwertzuiop yxcvbnm"
_KEYS = f"{_ROWS} {_ROWS[::-1]}"
_LEAST_RUN = 3
_LEAST_MASH = 4
_MOST = 3
_DRAWN_OUT = re.compile(r"([a-z]{1,3})\1{3,}")


def noise(reading: Reading, expected: Expected) -> Parse | None:
    """Read a thumb as an answer, and other signs or mashed keys as no message."""
    if reading.tokens:
        mashed = len(reading.tokens) <= _MOST and _is_mashed("".join(reading.raw.split()))
        return sure(Noise()) if mashed else None
    yes, no = not _YES.isdisjoint(reading.text), not _NO.isdisjoint(reading.text)
    if yes is not no and expected.kind in YES_OR_NO:
        return sure(Confirm() if yes else Deny())
    return sure(Noise())


def _is_mashed(word: str) -> bool:
    """Return whether keys were hit one next to the other; capitals may be a code."""
    if len(word) < _LEAST_MASH or not word.islower() or word == "wert":  # a word of German
        return False
    if _DRAWN_OUT.fullmatch(word):
        return True
    while word:
        runs = [end for end in range(_LEAST_RUN, len(word) + 1) if word[:end] in _KEYS]
        if not runs:
            return False
        word = word[runs[-1] :]
    return True


_AT_STAKE = ("summary", "correction", "leave")
_REPLACING = ("summary", "correction", "retry", "more")
_PERSON = ("human", "unclaimed")

Parser = Callable[[Reading, Expected], Parse]


def answer(reading: Reading, expected: Expected, parse: Parser) -> Parse | None:
    """Read yes or no, if that was asked; `parse` reads the words behind it."""
    if expected.kind not in YES_OR_NO or not reading.tokens or reading.says("unsure"):
        return None
    if not reading.ends_asking and (alone := _alone(reading, expected.kind)):
        return sure(alone)
    no, yes = reading.begins("no"), reading.begins(*YES_OR_NO[expected.kind])
    if max(no, yes) == len(reading.tokens):
        return None  # "yes?"
    if no or yes:
        return (_after_yes if yes > no else _after_no)(reading, max(no, yes), expected, parse)
    if expected.kind == "return" and expected.due and expected.due.type not in FREE:
        return _going_on(reading, expected, parse)
    return _replaced(reading, expected) if expected.kind == "correction" else None


def _alone(reading: Reading, kind: str) -> Command | None:
    """Return what answers a kind of question by itself."""
    enough = () if kind in _AT_STAKE else ("enough",)
    decline = ("decline",) if kind in _PERSON else ()
    if reading.says("no", "no_alone", *enough, *decline):
        return Deny()
    agreed = ("thats_all",) if kind == "summary" else ()
    return Confirm() if reading.says("yes_alone", *agreed, *YES_OR_NO[kind]) else None


def _after_yes(reading: Reading, end: int, expected: Expected, parse: Parser) -> Parse | None:
    """Read on behind a yes; a yes with a restriction, or to another question, does not count."""
    head, tail = reading.part(0, end), reading.part(end)
    conditional = is_conditional(tail)
    returns = expected.kind == "return" and not conditional
    if returns and (going := _going_on(tail, expected, parse)):
        return going if is_parted(head, tail) or going.certain else None
    limited = tail.begins("but") or (tail.begins("in_time") and not tail.ends_asking)
    if limited or conditional or holds("no", tail):
        return _changes(tail, expected, parse) or Parse(unread=(reading.raw,))
    if not is_parted(head, tail):
        return None
    if expected.kind in _AT_STAKE:
        if changes := _changes(tail, expected, parse):
            return changes
        asks = [part.asks or not part.core().tokens for part in unjoined(tail).clauses]
        if not all(asks):  # holds if a pattern explains all of it: "yes, and a taxi"
            return Parse([Confirm()], unread=_wishes_in(tail))
    return Parse([Confirm()], unread=(unjoined(tail).raw,))


def _wishes_in(tail: Reading) -> tuple[str, ...]:
    """Return the parts of words between their signs and joints."""
    joints, found = tail.lexicon.words("joints"), []
    for clause in tail.clauses:
        starts = [n for n, word in enumerate(clause.words) if n and word in joints]
        for first, last in zip([0, *starts], [*starts, len(clause.tokens)], strict=True):
            found.append(unjoined(clause.part(first, last)).raw)
    return tuple([part for part in found if part])


def _after_no(reading: Reading, end: int, expected: Expected, parse: Parser) -> Parse | None:
    """Read on behind a no, which needs no reason, and may lead to what shall be instead."""
    head, tail = reading.part(0, end), reading.part(end)
    behind = reading.part(1)
    meant = behind.behind("repair")
    if meant is not behind and meant.begins("yes"):
        return answer(meant, expected, parse)  # "no, wait, yes": the last one is meant
    if expected.kind == "correction" and (replaced := _replaced(tail, expected)):
        return replaced
    if tail.opens("no_what") and not head.tokens[-1].closes:
        return None
    if changes := _changes(reading, expected, parse) or _changes(tail, expected, parse):
        return changes
    declines = tail.says("enough", "reason", "decline", "no") and not tail.asks
    if expected.kind in _OFFERS and declines:
        return sure(Deny())
    if holds("yes", tail):
        return Parse(unread=(reading.raw,))
    return Parse([Deny()], unread=(unjoined(tail).raw,)) if is_parted(head, tail) else None


def _changes(tail: Reading, expected: Expected, parse: Parser) -> Parse | None:
    """Read what shall be different; a yes or no before it only leads there."""
    meant = expected.kind == "return" and tail.begins("meant")
    if not meant and expected.kind not in _REPLACING:
        return None
    rest = tail.part(tail.begins("but"))  # "all right but my phone, it is ..."
    expected = replace(expected, asked=None, fields=())
    for words in (tail, rest):
        found = parse(unjoined(words), expected)
        if found.certain:
            break
    changes = any(isinstance(command, (Correct, Clear)) for command in found.commands)
    return found if changes and (found.certain or found.plain) else None


def _replaced(tail: Reading, expected: Expected) -> Parse | None:
    """Read another value in place of the one that was read back."""
    about = expected.asked["about"] if expected.asked else None
    for field in expected.correctable:
        if field.name == about and (read := readable_part(field, tail, expected)):
            return None if tail.asks else sure(Correct(field.name, read.raw, read=read.value))
    return None


def _going_on(tail: Reading, expected: Expected, parse: Parser) -> Parse | None:
    """Read the answer to the paused question as a yes to going back there."""
    field = expected.due
    if field is None or tail.asks:
        return None
    asked = Asked(kind="field", about=field.name, options=[])
    found = parse(unjoined(tail), replace(expected, asked=asked))
    given = [c for c in found.commands if isinstance(c, (Fill, Correct))]
    if not given or not (found.certain or field.type in FREE):
        return None
    return replace(found, commands=[Confirm(), *found.commands], whole=found.certain)


def boolean(reading: Reading, expected: Expected) -> tuple[Fill, Reading, Reading] | None:
    """Return a yes or no as the value that was asked for, its words, and the part after it."""
    field = expected.pending
    if field is None or field.type != "boolean":
        return None
    no, yes = _end_of("no", reading), _end_of("yes", reading)
    head, tail = reading.part(0, max(no, yes)), reading.part(max(no, yes))
    if not head.tokens or (reading.ends_asking and not tail.tokens):
        return None
    if reading.begins("unknown", "unsure") > len(head.tokens):
        return None  # "no idea"
    again = len(head.tokens) > 1 and head.part(-1).opens("no")
    if head.begins("sole") and not (tail.opens("either") or tail.begins("no", "yes")):
        again = True  # "nope we have a hotel", but not "yes or no"
    if tail.tokens and not (again or is_parted(head, tail)):  # "nah no rush"
        return None
    if tail.tokens and _is_turned_by(tail, field, expected):
        return None
    word = "no" if no >= yes else "yes"
    readable = value_in(field, head.raw, expected.setting) is not None
    return Fill(field.name, head.raw if readable else word, read=word == "yes"), head, tail


def _is_turned_by(tail: Reading, field: Field, expected: Expected) -> bool:
    """Return whether words about a thing may turn a yes or no: of "unvaccinated?", "vaccinated"."""
    if negation_of(field, expected.setting) is None:
        return False
    negates = tail.has("negation", "no", "without")
    return negates or concerns(tail.words, field, tail.lexicon)


def _end_of(name: str, reading: Reading) -> int:
    """Return where a yes or no ends that words begin with; "no thanks, we'll" ends at the comma."""
    end = reading.begins(name)
    closed = [n for n, token in enumerate(reading.tokens[:end], start=1) if token.closes]
    return closed[-1] if closed and end < len(reading.tokens) else end


def is_conditional(tail: Reading) -> bool:
    """Return whether words set a condition: "only if it is free", not "if possible"."""
    if tail.ends_asking or any(part.says("idle") for part in tail.clauses[:1]):
        return False
    return unjoined(tail).begins("condition") > 0


def holds(name: str, tail: Reading) -> bool:
    """Return whether a clause is a yes, or a no."""
    return any(unjoined(part).says(name) for part in tail.clauses)


def is_parted(head: Reading, tail: Reading) -> bool:
    """Return whether the words after a yes or no are separate: "no one" is not a "no"."""
    closes = any(part.tokens[-1].closes for part in (head, head.core()) if part.tokens)
    return closes or tail.opens("follows")


def unjoined(tail: Reading) -> Reading:
    """Return words without the "and" before them."""
    while tail.opens("joints"):
        tail = tail.part(1)
    return tail


_MEANINGS = ("meaning_leave", "meaning_go_on", "meaning_anew", "meaning_change", "meaning_person")
_LONGEST = 14
_SPELLED = 4
_LONG = 8


class _Way(NamedTuple):
    """An option by its id, which is a name too, and its label."""

    id: str
    name: Reading
    label: Reading


def choice(reading: Reading, expected: Expected) -> Parse | None:
    """Read which of the options is meant, or which one is not."""
    lexicon, ways = reading.lexicon, _ways(expected, reading.lexicon)
    if not ways or not 0 < len(reading.tokens) <= _LONGEST:
        return None
    exact = [way for way in ways if reading.words in (way.label.words, way.name.words)]
    if len(exact) == 1:
        return _taken(exact[0], expected, reading.raw)
    if expected.asked and expected.asked["about"] == IN_TURN and reading.says("all"):
        return _taken(ways[0], expected)
    task = lexicon.part("task", reading.said)
    if reading.asks or (task is not None and is_task(task, expected.tasks, lexicon)):
        return None
    if expected.kind in CHOOSING and (meant := _by_meaning(reading, ways)):
        return _taken(meant, expected)
    if named := lexicon.part("negated", reading.said):
        return _denied(reading.part(-named.count(" ") - 1), ways, expected)
    return _named(reading, ways, expected)


def _named(reading: Reading, ways: Sequence[_Way], expected: Expected) -> Parse | None:
    """Read an option by its name, or a refusal of all, where the words are not a value."""
    if expected.pending and value_in(expected.pending, reading.raw, expected.setting) is not None:
        return None
    if meant := _meant(reading, ways):
        return _taken(meant, expected, reading.raw)
    return sure(Deny()) if expected.kind in CHOOSING and reading.says("neither") else None


def _ways(expected: Expected, lexicon: Lexicon) -> list[_Way]:
    """Return the options, or the choices of the field that was asked for."""
    named = [(option["id"], option["label"]) for option in expected.options]
    field = expected.pending
    if not named and field and field.type == "enum":
        named = [(value, value) for value in field.ways]
    return [
        _Way(id_, *[read(text.replace("_", " "), lexicon) for text in (id_, label)])
        for id_, label in named
    ]


def _taken(way: _Way, expected: Expected, said: str = "") -> Parse:
    """Return what is chosen, with the words by which the user chose it if that was by its name."""
    field = expected.pending
    if field is None:
        return sure(Choose(way.id))
    return sure(Fill(field.name, said or way.id, read=way.id if said else None))


def _denied(words: Reading, ways: Sequence[_Way], expected: Expected) -> Parse | None:
    """Read the denial of an option; of two, the other one is meant."""
    denied = _meant(words, ways)
    others = [way for way in ways if way is not denied]
    if denied and len(others) == 1:
        return _taken(others[0], expected)
    return sure(Deny(denied.id)) if denied and not expected.pending else None


def _by_meaning(reading: Reading, ways: Sequence[_Way]) -> _Way | None:
    """Return the option of the runtime that is meant in other words than its own."""
    for name in filter(reading.says, _MEANINGS):
        meant = [way for way in ways if way.label.says(name) or way.name.says(name)]
        if len(meant) == 1:
            return meant[0]
    return None


def _meant(reading: Reading, ways: Sequence[_Way]) -> _Way | None:
    """Return the only option at a place, with all words that say which one, or with its label."""
    lexicon, parts = reading.lexicon, (reading, reading.behind("choice_lead"))
    for part in parts:
        place = lexicon.ordinals.get(lexicon.part("ordinal", part.said) or "", 0)
        if place and -len(ways) <= place <= len(ways):
            return ways[place - 1 if place > 0 else place]
    for part in parts:
        said = [word for word in part.core().words if word not in lexicon.words("small")]
        found = [way for way in ways if all(_has(way, word) for word in said)]
        if said and len(found) == 1:
            return found[0]
    return None


def _has(way: _Way, word: str) -> bool:
    """Return whether an option has a word, perhaps misspelled."""
    return any(_same(word, own) for own in (*way.label.words, *way.name.words))


def _same(word: str, own: str) -> bool:
    length = min(len(word), len(own))
    if word == own or length < _SPELLED or word[0] != own[0]:
        return word == own
    return bool(OSA.distance(word, own) <= (2 if length >= _LONG else 1))
