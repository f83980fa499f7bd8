"""Answers to what was asked: yes and no, one of several options, words about the talk itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from rapidfuzz.distance import OSA

from journeys.locale import LANGUAGES
from journeys.phrases import plain
from nodes.commands import (
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
from nodes.language.lexicon import sayings_of
from nodes.language.mentions import is_question_of, is_task, mentioned, names_field
from nodes.language.reading import (
    CHOOSING,
    FREE,
    YES_OR_NO,
    Expected,
    Parse,
    Reading,
    is_readable,
    read,
    readable_part,
    value_in,
)
from nodes.state.dialogue_state import IN_TURN, Asked, Option

SIGNALS = (
    *("cancel_all", "human", "cancel", "repeat", "wait", "restart", "back", "status", "keep"),
    *("human_alone", "give_up", "task", "skip", "lacking", "unknown", "nothing", "explain"),
)
_LONGEST_SIGNAL = 30
_FEW = 4
_AGAIN = {Wait: ("busy", "unknown"), Skip: ("unknown", "nothing"), Deny: ("no",), Cancel: ("no",)}
"""Names of phrases that say a command once more."""
_OFFERED = (
    *("correction", "return", "start_over", "human", "unclaimed", "retry", "more"),
    *("restart", "change", "leave"),
)
_COUNTED = ("integer", "number", "money", "boolean")
_OPEN = ("unknown", "nothing")
_PLAIN: tuple[tuple[str, Command], ...] = (
    ("cancel_all", Cancel(everything=True)),
    ("human", Human()),
    ("cancel", Cancel()),
    ("repeat", Repeat()),
    ("wait", Wait()),
    ("restart", Restart()),
    ("back", Back()),
    ("status", Status()),
)


def signal(reading: Reading, expected: Expected) -> Command | None:
    """Return what words say about the conversation itself, if that is all that they say."""
    if _has_none(reading, expected):
        return Skip()
    if len(reading.tokens) > _LONGEST_SIGNAL or not reading.says(*SIGNALS):
        return None
    field = expected.pending  # whose choices may sound so
    if field and field.type == "enum" and is_readable(field, reading.raw, expected.setting):
        return None
    meant = frozenset(name for name in SIGNALS if reading.says(name))
    if plain := [command for name, command in _PLAIN if name in meant]:
        return plain[0]
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
    reading = reading.core()
    words = reading.words
    denied = reading.opens("negation") and not reading.tokens[0].closes
    behind = words[1:] if denied and len(words) <= _FEW else []
    if names_field(behind, field, lexicon) or is_question_of(behind, field, lexicon):
        return True
    removed = lexicon.matches("form_removed", reading.marked)  # "I don't need a reminder"
    return any(is_question_of(found["what"].split(), field, lexicon) for found in removed)


def _given_up(reading: Reading, expected: Expected, meant: frozenset[str]) -> Command | None:
    said, lexicon = reading.said, reading.lexicon
    if expected.changing and not meant.isdisjoint(("keep", "give_up")):
        return Deny()
    if "give_up" in meant:
        return Deny() if expected.kind in _OFFERED else Cancel()
    name = lexicon.part("task", said)
    if not name:
        return None
    if lexicon.says(name, "any_task"):
        return Cancel()
    return Cancel(task=name) if is_task(name, expected.tasks, lexicon) else None


def _skipped(reading: Reading, meant: frozenset[str], expected: Expected) -> Command | None:
    field = expected.pending
    if field is None:
        return None
    skips = not (field.required or field.type == "boolean" or meant.isdisjoint(_OPEN))
    if "skip" in meant:  # "rather not" is an answer where yes or no was asked
        skips = not (field.type == "boolean" and reading.says("no"))
    elif field.type not in _COUNTED and "lacking" in meant:
        skips = not field.required or field.type not in FREE
    return Skip() if skips else None


def _questioned(reading: Reading, expected: Expected) -> Command | None:
    if expected.asked is None:
        return None
    what = reading.lexicon.part("explain", reading.said)
    if what is None:
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


_LONGEST_GREETING = 60
_WORD = re.compile(r"\w+")


def is_greeting(message: str) -> bool:
    """Return whether a message is only a greeting, in any language.

    >>> is_greeting("Hi there!"), is_greeting("Hi, a table for four"), is_greeting("¡Buenos días!")
    (True, False, True)
    """
    if len(message) > _LONGEST_GREETING or "?" in message:
        return False
    return _greeting().fullmatch(" ".join(_WORD.findall(plain(message)))) is not None


@cache
def _greeting() -> re.Pattern[str]:
    spoken = [sayings_of(language) for language in LANGUAGES]
    hello = "|".join([line for each in spoken for line in each.lines("greeting")])
    whom = "|".join([line for each in spoken for line in each.lines("greeted")])
    return re.compile(rf"(?:{hello})(?: (?:{hello}|{whom}))*")


_YES = frozenset("\U0001f44d\U0001f44c\u2705\u2714\U0001f197\U0001f64f")
_NO = frozenset("\U0001f44e\u274c\u2716\U0001f645")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm")
_RUNS = (*_ROWS, *[row[::-1] for row in _ROWS])
_LEAST_RUN = 3
_LEAST_MASH = 4
_MOST = 3
_DRAWN_OUT = re.compile(r"([a-z]{1,3})\1{3,}")
_REAL = frozenset(("wert", "were", "pop", "uio"))


def noise(reading: Reading, expected: Expected) -> Parse | None:
    """Read a thumb as an answer, and other signs or mashed keys as no message."""
    text = reading.text
    if reading.tokens:
        mashed = len(reading.tokens) <= _MOST and _is_mashed("".join(reading.raw.split()))
        return Parse([Noise()], certain=True, whole=True) if mashed else None
    yes, no = bool(_YES.intersection(text)), bool(_NO.intersection(text))
    if yes is not no and expected.kind in YES_OR_NO:
        return Parse([Confirm() if yes else Deny()], certain=True, whole=True)
    return Parse([Noise()], certain=True, whole=True)


def _is_mashed(word: str) -> bool:
    """Return whether keys were hit one next to the other; capitals may be a code."""
    if len(word) < _LEAST_MASH or not word.islower() or word in _REAL:
        return False
    if _DRAWN_OUT.fullmatch(word):
        return True
    while word:
        ends = range(_LEAST_RUN, len(word) + 1)
        runs = [end for end in ends if any(word[:end] in row for row in _RUNS)]
        if not runs:
            return False
        word = word[runs[-1] :]
    return True


_AT_STAKE = ("summary", "correction", "leave")
_OFFERS = ("return", "start_over", "human", "unclaimed", "retry", "more")
_REPLACING = ("summary", "correction", "retry", "more")

Parser = Callable[[Reading, Expected], Parse]


def answer(reading: Reading, expected: Expected, parse: Parser) -> Parse | None:
    """Read yes or no, if that was asked; `parse` reads the words behind it."""
    if expected.kind not in YES_OR_NO or not reading.tokens or reading.says("unsure"):
        return None
    for name, command in _alone(expected.kind):
        if reading.says(name) and not reading.ends_asking:
            return Parse([command], certain=True, whole=True)
    no, yes = reading.begins("no"), reading.begins("yes")
    if no >= yes > 0 or (no and not yes):
        return _after_no(reading, no, expected, parse)
    if yes:
        return _after_yes(reading, yes, expected, parse)
    if expected.kind == "return" and expected.due and expected.due.type not in FREE:
        return _going_on(reading, expected, parse)
    return _replaced(reading, expected) if expected.kind == "correction" else None


def _alone(kind: str) -> list[tuple[str, Command]]:
    """Return what answers a kind of question by itself."""
    enough = () if kind in _AT_STAKE else ("enough",)
    decline = ("decline",) if kind in ("human", "unclaimed") else ()
    agreed = ("yes", "yes_alone", *(("thats_all",) if kind == "summary" else ()))
    denied = [(name, Deny()) for name in (*enough, *decline, "no", "no_alone")]
    return [*denied, *[(name, Confirm()) for name in agreed]]


def _after_yes(reading: Reading, end: int, expected: Expected, parse: Parser) -> Parse | None:
    """Read on behind a yes; a yes with a restriction, or to another question, does not count."""
    head, tail = reading.part(0, end), reading.part(end)
    if not tail.tokens:
        return None if reading.ends_asking else Parse([Confirm()], certain=True, whole=True)
    goes_on = expected.kind == "return" and not is_conditional(tail)
    if goes_on and (going := _going_on(tail, expected, parse)):
        return going if is_parted(head, tail) or going.certain else None
    limited = tail.begins("but") or (tail.begins("in_time") and not tail.ends_asking)
    if limited or is_conditional(tail) or holds("no", tail):
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
    if not tail.tokens:
        return None if reading.ends_asking else Parse([Deny()], certain=True, whole=True)
    behind = reading.part(1)
    meant = behind.behind("repair")
    if meant is not behind and meant.begins("yes"):
        return answer(meant, expected, parse)  # "no, wait, yes": the last one is meant
    if expected.kind == "correction" and (replaced := _replaced(tail, expected)):
        return replaced
    return _declined(reading, head, tail, expected, parse)


def _declined(
    reading: Reading, head: Reading, tail: Reading, expected: Expected, parse: Parser
) -> Parse | None:
    if tail.opens("no_what") and not head.tokens[-1].closes:
        return None
    if changes := _changes(reading, expected, parse) or _changes(tail, expected, parse):
        return changes
    again = tail.says("enough", "decline", "no")
    if expected.kind in _OFFERS and (again or (tail.says("reason") and not tail.asks)):
        return Parse([Deny()], certain=True, whole=True)
    if holds("yes", tail):
        return Parse(unread=(reading.raw,))
    if not is_parted(head, tail):
        return None
    return Parse([Deny()], unread=(unjoined(tail).raw,))


def _changes(tail: Reading, expected: Expected, parse: Parser) -> Parse | None:
    """Read what shall be different; a yes or no before it only leads there."""
    meant = expected.kind == "return" and tail.begins("meant")
    if not meant and expected.kind not in _REPLACING:
        return None
    rest = tail.part(tail.begins("but"))  # "all right but my phone, it is ..."
    expected = replace(expected, asked=None, fields=())
    for words in (tail, rest) if rest.tokens else (tail,):
        found = parse(unjoined(words), expected)
        if found.certain:
            break
    changes = any(isinstance(command, (Correct, Clear)) for command in found.commands)
    return found if changes and (found.certain or found.plain) else None


def _replaced(tail: Reading, expected: Expected) -> Parse | None:
    """Read another value in place of the one that was read back."""
    about = expected.asked["about"] if expected.asked else ""
    field = next((one for one in expected.correctable if one.name == about), None)
    read = readable_part(field, tail, expected) if field else None
    if field is None or read is None or tail.asks:
        return None
    return Parse([Correct(field.name, read.raw, read=read.value)], certain=True, whole=True)


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
    no, yes = begins("no", reading), begins("yes", reading)
    if not (no or yes) or (reading.ends_asking and max(no, yes) == len(reading.tokens)):
        return None
    end, word = (no, "no") if no >= yes else (yes, "yes")
    head, tail = reading.part(0, end), reading.part(end)
    again = len(head.tokens) > 1 and head.part(-1).opens("no")
    if tail.tokens and not (again or is_parted(head, tail)):  # "nah no rush"
        return None
    value = value_in(field, head.raw, expected.setting)
    given = Fill(field.name, head.raw if value is not None else word, read=word == "yes")
    return given, head, tail


def begins(name: str, reading: Reading) -> int:
    """Return where a yes or no ends that words begin with; "no thanks, we'll" ends at the comma."""
    end = reading.begins(name)
    head = reading.tokens[:end]
    if len(head) in (0, len(reading.tokens)) or head[-1].closes:
        return end
    places = [place for place, token in enumerate(head, start=1) if token.closes]
    return places[-1] if places else end


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


def choice(reading: Reading, expected: Expected) -> Parse | None:
    """Hear which of the options is meant, or which one is not."""
    options = _options(expected)
    if not options or not 0 < len(reading.tokens) <= _LONGEST:
        return None
    said = tuple(reading.words)
    exact = [o for o in options if said in (_label(o["label"], reading), _label(o["id"], reading))]
    if len(exact) == 1:
        return _taken(exact[0], expected, reading.raw)
    about = expected.asked["about"] if expected.asked else ""
    if about == IN_TURN and reading.says("all"):
        return _taken(options[0], expected)
    task = reading.lexicon.part("task", reading.said)
    if reading.asks or (task is not None and is_task(task, expected.tasks, reading.lexicon)):
        return None
    if named := reading.lexicon.part("negated", reading.said):
        denied = _meant(reading.part(-named.count(" ") - 1), options)
        return _of_runtime(reading, options, expected) or _denied(denied, options, expected)
    if expected.pending and is_readable(expected.pending, reading.raw, expected.setting):
        return None
    return _of_runtime(reading, options, expected) or _named(reading, options, expected)


def _named(reading: Reading, options: Sequence[Option], expected: Expected) -> Parse | None:
    if option := _meant(reading, options):
        return _taken(option, expected, reading.raw)
    if expected.kind in CHOOSING and reading.says("neither"):
        return Parse([Deny()], certain=True, whole=True)
    return None


def _options(expected: Expected) -> Sequence[Option]:
    if expected.options:
        return expected.options
    field = expected.pending
    if field is None or field.type != "enum":
        return ()
    return [Option(id=value, label=value) for value in field.ways]


def _taken(option: Option, expected: Expected, said: str = "") -> Parse:
    """Return what is chosen, with the words by which the user chose it if that was by its name."""
    field, chosen = expected.pending, option["id"]
    fill = Fill(field.name, said or chosen, read=chosen if said else None) if field else None
    return Parse([fill or Choose(chosen)], certain=True, whole=True)


def _denied(option: Option | None, options: Sequence[Option], expected: Expected) -> Parse | None:
    if option is None:
        return None
    others = [each for each in options if each["id"] != option["id"]]
    if len(others) == 1:
        return _taken(others[0], expected)
    return None if expected.pending else Parse([Deny(option["id"])], certain=True, whole=True)


def _of_runtime(reading: Reading, options: Sequence[Option], expected: Expected) -> Parse | None:
    """Hear what the runtime's own options mean, in other words than theirs."""
    lexicon = reading.lexicon
    if expected.kind not in CHOOSING:
        return None
    for name in filter(reading.says, _MEANINGS):
        called = [(o, (o["label"], o["id"].replace("_", " "))) for o in options]
        meant = [o for o, own in called if any(read(each, lexicon).says(name) for each in own)]
        if len(meant) == 1:
            return _taken(meant[0], expected)
    return None


def _meant(reading: Reading, options: Sequence[Option]) -> Option | None:
    return _by_place(reading, options) or _by_name(reading, options)


def _by_place(reading: Reading, options: Sequence[Option]) -> Option | None:
    lexicon = reading.lexicon
    for part in (reading, reading.behind("choice_lead")):
        place = lexicon.ordinals.get(lexicon.part("ordinal", part.said) or "", 0)
        if place and -len(options) <= place <= len(options):
            return options[place - 1 if place > 0 else place]
    return None


def _by_name(reading: Reading, options: Sequence[Option]) -> Option | None:
    """Return the only option whose label holds all words that say which one."""
    small, padded = reading.lexicon.words("small"), f" {reading.said} "
    labels = [(o, frozenset(_label(f"{o['label']} {o['id']}", reading))) for o in options]
    for part in (reading, reading.behind("choice_lead")):
        said = [word for word in part.core().words if word not in small]
        found = [
            option
            for option, own in labels
            if all(any(_same(word, each) for each in own) for word in said)
        ]
        if said and len(found) == 1:
            return found[0]
    names = [(option, " ".join(_label(option["label"], reading))) for option in options]
    whole = [option for option, name in names if " " in name and f" {name} " in padded]
    return whole[0] if len(whole) == 1 else None


def _same(word: str, own: str) -> bool:
    length = min(len(word), len(own))
    if word == own or length < _SPELLED or word[0] != own[0]:
        return word == own
    return bool(OSA.distance(word, own) <= (2 if length >= _LONG else 1))


def _label(text: str, reading: Reading) -> tuple[str, ...]:
    return tuple(read(text.replace("_", " "), reading.lexicon).words)
