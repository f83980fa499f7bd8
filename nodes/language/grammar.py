"""The closed grammar of messages that are understood without a model.

A message is exact if it derives as a whole: ``[courtesy] act [courtesy]``. The acts are the
productions below, the same for all languages; a language fills in its phrases. Anything else is
read by a model, repeated, or asked back.

Source: DESIGN section 4, "Exact or asked".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import cast

from journeygraph.journeys import Field, Regex
from journeygraph.journeys.phrases import plain
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
    Repeat,
    Restart,
    Skip,
    Status,
    Wait,
)
from journeygraph.nodes.language.expected import (
    CHOOSING,
    FREE,
    NAMES,
    OFFERED,
    YES_OR_NO,
    Expected,
)
from journeygraph.nodes.language.lexicon import Lexicon, lexicon_of
from journeygraph.nodes.language.words import Words, words_of
from journeygraph.nodes.values.languages import ListName
from journeygraph.nodes.values.numbers import place_of
from journeygraph.nodes.values.reading import value_of
from journeygraph.nodes.values.setting import Unreadable, units_of

MOST_WORDS = 24
"""Most words of a message that the grammar is tried on."""

Slots = Mapping[str, Words]
Meaning = Callable[[Expected, Slots], Command | None]


@dataclass(frozen=True)
class Production:
    """A production of an act.

    Attributes:
        act: The kind of act: answer, control or change.
        form: Its symbols: the name of a list, `[name]` where it may be left out, `name+` for one to
            three of its phrases, and `<slot>` for words that the meaning judges.
        meaning: Returns the command; None if the words do not fit the moment.
    """

    act: str
    form: str
    meaning: Meaning

    @cached_property
    def symbols(self) -> Sequence[str]:
        """Its symbols, in order."""
        return self.form.split()

    @cached_property
    def needed(self) -> frozenset[str]:
        """The lists that it cannot do without, so that it needs no try where words have none."""
        return frozenset(symbol.rstrip("+") for symbol in self.symbols if symbol[0] not in "[<")


def derived(words: Words, expected: Expected) -> Command | None:
    """Return the one command that words as a whole derive to; None if there is none.

    A question mark is part of no value and no answer.
    """
    if not 0 < len(words.all) <= MOST_WORDS:
        return None
    lexicon = lexicon_of(expected.setting.language)
    said = lexicon.lists_in(words)
    tried = [production for production in PRODUCTIONS if production.needed <= said]
    for act in acts_in(words, lexicon):
        for production in tried:
            if act.asks and production.act != "control":
                continue
            symbols = [s for s in production.symbols if s[0] != "[" or s.strip("[]+") in said]
            for slots in _matches(symbols, act, 0, expected, {}):
                if command := production.meaning(expected, slots):
                    return command
    return None


def acts_in(words: Words, lexicon: Lexicon) -> Iterator[Words]:
    """Yield words as they are, and without the courtesy before and behind them, one by one."""
    first, last = 0, len(words)
    yield words
    while ends := lexicon.at(words, first, "courtesy"):
        first = ends[0]
    if first:
        yield words.part(first)
    # Of two phrases with one end the longer one counts.
    while begins := [n for n in range(first, last) if last in lexicon.at(words, n, "courtesy")]:
        last = begins[0]
        yield words.part(first, last)


def _matches(
    symbols: Sequence[str], words: Words, place: int, expected: Expected, slots: dict[str, Words]
) -> Iterator[dict[str, Words]]:
    last = len(words.all)
    if not symbols:
        yield from (slots,) if place == last else ()
        return
    symbol, *rest = symbols
    if symbol[0] == "[":
        yield from _matches([symbol[1:-1], *rest], words, place, expected, slots)
        yield from _matches(rest, words, place, expected, slots)
        return
    for end in _ends(symbol, words, place, expected):
        if end < last and not rest:
            continue
        filled = {**slots, symbol: words.part(place, end)} if symbol[0] == "<" else slots
        yield from _matches(rest, words, end, expected, filled) if rest else (filled,)


def _ends(symbol: str, words: Words, place: int, expected: Expected) -> Iterable[int]:
    if symbol == "<label>":
        lengths = {len(name) for name in expected.called}
        folded = words.folded[place:]
        return [place + n for n in lengths if folded[:n] in expected.called]
    if symbol[0] == "<":
        return range(len(words.all), place, -1)
    return _phrases(symbol, words, place, lexicon_of(expected.setting.language))


def _phrases(symbol: str, words: Words, place: int, lexicon: Lexicon) -> Iterator[int]:
    name = cast("ListName", symbol.rstrip("+"))
    for end in lexicon.at(words, place, name):
        closes = words.all[end - 1].closes
        if name == "not" and closes:
            continue  # "Friday not, Saturday" denies the first
        if name == "cue" and not closes and lexicon.says(words.part(place, end), "not"):
            continue  # "no el viernes" denies the last
        yield end
        if symbol.endswith("+"):
            yield from _phrases(name, words, end, lexicon)


def value_in(field: Field, raw: str, expected: Expected) -> object:
    """Return the value of a field that words are as a whole; None if there is none.

    A name is not two: "Ana y Luis".
    """
    if field.type in NAMES and lexicon_of(expected.setting.language).has(words_of(raw), "and"):
        return None
    searched = bool(field.extract) and is_whole(field, raw, expected)
    with suppress(Unreadable):
        return value_of(field, raw, expected.setting, searched=searched)
    return None


# --- Answers ---


def _chosen(expected: Expected, slots: Slots) -> Command | None:
    """Return an offered option by its label, its place in the list, or its id."""
    said, options = " ".join(slots["<choice>"].folded), expected.options
    place = place_of(said, expected.setting)
    if not options or expected.kind not in (*CHOOSING, *YES_OR_NO):
        return None
    if place and place <= len(options):
        return Choose(options[place - 1 if place > 0 else place]["id"])
    names = {option[key]: option["id"] for key in ("label", "id") for option in options[::-1]}
    labels = {" ".join(words_of(name).folded): id_ for name, id_ in names.items()}
    return Choose(labels[said]) if said in labels else None


def _answered(expected: Expected, slots: Slots, *, is_yes: bool) -> Command | None:
    """Return yes or no, also as a value, or as the only choice that there is."""
    field = expected.pending
    if field is not None and field.type == "boolean":
        return _given(field, "yes" if is_yes else "no", is_yes, expected)
    if field is not None and is_yes and len(field.ways) == 1:
        (only,) = field.ways
        return Fill(field.name, only, read=only)
    if expected.kind in (*YES_OR_NO, *CHOOSING) or expected.changing:
        return Confirm() if is_yes else Deny()
    return None


def _agreed(expected: Expected, slots: Slots) -> Command | None:
    return Confirm() if expected.kind in YES_OR_NO else None


def _declined(expected: Expected, slots: Slots) -> Command | None:
    offered, field = (*YES_OR_NO, *CHOOSING), expected.pending
    if expected.kind in offered or expected.changing:
        return Deny()
    return Skip() if field is not None and field.type != "boolean" else None


def _pending(expected: Expected, slots: Slots, *, is_worded: bool) -> Command | None:
    """Return a value for what was asked: a full match of its type, or of its author's pattern.

    Another value for a change that was asked back is meant in its place. Words of the user's own
    (`is_worded`) come behind the control phrases, others before them: "none" may be a count.
    """
    field, words = expected.pending or expected.doubted, slots["<value>"]
    if field is None or (field.type in (*FREE, *NAMES)) != is_worded:
        return None
    whole = is_whole(field, words.text, expected)
    if not whole and field.type in FREE:
        return None
    raw = words.text.strip() if whole else words.raw
    value = value_in(field, raw, expected)
    place = place_of(" ".join(words.folded), expected.setting) if expected.numbered else 0
    choice = expected.numbered.get(place if place >= 0 else max(expected.numbered))
    if value is None and choice:
        raw = value = choice
    if value is None or is_foreign(field, value):
        return None
    return _given(field, raw, value, expected)


def is_foreign(field: Field, value: object) -> bool:
    """Return whether an amount is in another currency than its field."""
    currency = value.get("currency") if isinstance(value, Mapping) else None
    return bool(field.currency and currency and currency != field.currency)


def is_whole(field: Field, text: str, expected: Expected) -> bool:
    """Return whether an author's own pattern distinguishes a whole text from a sentence.

    A field with `verbatim` takes every text.
    """
    if field.verbatim:
        return True
    shapes = [one.pattern for one in field.validators if isinstance(one, Regex)]
    shapes += [] if shapes else field.extract
    if not shapes:
        return False
    matches = expected.setting.patterns.fullmatch
    fits = all(matches(field.name, one, text.strip()) for one in shapes)
    return fits and any(not matches(field.name, one, "so what is that") for one in shapes)


def _given(field: Field, raw: str, value: object, expected: Expected) -> Fill | Correct:
    kind = Correct if field.name in expected.known else Fill
    return kind(field.name, raw, read=value)


# --- Changes ---


def _changed(expected: Expected, slots: Slots) -> Command | None:
    """Return a change of the value that was given last, or of the only known one of that type.

    What the pending question takes as well is a change of nothing in particular.
    """
    raw, pending = slots["<new>"].raw, expected.pending
    fitting = [f for f in _own(expected) if value_in(f, raw, expected) is not None]
    worded = pending and pending.type in (*FREE, *NAMES) and not is_whole(pending, raw, expected)
    if pending and pending.name not in expected.known and not worded:
        value = value_in(pending, raw, expected)
        if value is not None:
            return None if fitting else _given(pending, raw, value, expected)
    latest = list(expected.known)[-1:]
    meant = [f for f in fitting if f.name in latest] or (fitting if len(fitting) == 1 else [])
    return _given(meant[0], raw, value_in(meant[0], raw, expected), expected) if meant else None


def _own(expected: Expected) -> list[Field]:
    """Return the fields whose known values a bare value may change: no words of the user's own."""
    return [f for f in expected.correctable if f.type not in (*FREE, *NAMES, "boolean")]


def _labelled(expected: Expected, slots: Slots) -> Command | None:
    """Return a value for the field that is named with it; one in the user's own words is doubted.

    The value that it has in place of, if the message names one, is the known one.
    """
    field, *others = expected.called[slots["<label>"].folded].values()
    raw = slots["<new>"].raw
    if (old := slots.get("<old>")) and not _is_known(field, old.raw, expected):
        return None
    is_found = bool(others or (field.type in FREE and field.extract))  # by its author's pattern
    value = None if is_found else value_in(field, raw, expected)
    given = None if value is None else _given(field, raw, value, expected)
    return replace(given, certain=False) if given and field.type in FREE else given


def _contrasted(expected: Expected, slots: Slots) -> Command | None:
    """Return a change from the known value that the message names to another one."""
    old, said = slots["<old>"].raw, slots["<new>"]
    found = []
    for field in (*_own(expected), *(f for f in expected.correctable if f.type in NAMES)):
        is_counted = field.type in ("integer", "number") and len(said) > 1
        is_led = is_counted and said.folded[0] in units_of(field, expected.setting)
        new = said.part(int(is_led)).raw  # "room 9, not 8"
        value = value_in(field, new, expected)
        if value is not None and _is_known(field, old, expected):
            found.append(_given(field, new, value, expected))
    return found[0] if len(found) == 1 else None


def _is_known(field: Field, raw: str, expected: Expected) -> bool:
    was, known = value_in(field, raw, expected), expected.known.get(field.name)
    return was is not None and (was == known or plain(str(was)) == plain(str(known)))


# --- Control ---


def _fixed(command: Command) -> Meaning:
    return lambda expected, slots: command


def _cancelled(expected: Expected, slots: Slots) -> Command | None:
    return Deny() if expected.kind in OFFERED or expected.changing else Cancel()


def _cancelled_task(expected: Expected, slots: Slots) -> Command | None:
    said = " ".join(slots["<task>"].folded)
    named = [name for name in expected.tasks if " ".join(words_of(name).folded) == said]
    return Cancel(task=named[0]) if named else None


def _skipped(expected: Expected, slots: Slots) -> Command | None:
    return Skip() if expected.pending is not None else None


def _left_open(expected: Expected, slots: Slots) -> Command | None:
    field = expected.pending
    may_be = field is not None and not field.required and field.type != "boolean"
    return Skip() if may_be else None


def _explained(expected: Expected, slots: Slots) -> Command | None:
    return Explain() if expected.asked else None


def _explained_label(expected: Expected, slots: Slots) -> Command | None:
    return Explain(next(iter(expected.called[slots["<label>"].folded])))


PRODUCTIONS: tuple[Production, ...] = (
    Production("answer", "<choice>", _chosen),
    Production("answer", "articles <choice>", _chosen),
    Production("answer", "yes [yes]", partial(_answered, is_yes=True)),
    Production("answer", "no [no]", partial(_answered, is_yes=False)),
    Production("answer", "[yes] agree", _agreed),
    Production("answer", "[yes] agree agree", _agreed),
    Production("answer", "[only] <value> [only]", partial(_pending, is_worded=False)),
    Production("answer", "[no] decline", _declined),
    Production("control", "unknown", _left_open),
    Production("control", "skip", _skipped),
    Production("control", "[cue+] cancel", _cancelled),
    Production("control", "[cue+] cancel_all", _fixed(Cancel(everything=True))),
    Production("control", "[cue+] cancel_task [articles] <task>", _cancelled_task),
    Production("control", "restart", _fixed(Restart())),
    Production("control", "back", _fixed(Back())),
    Production("control", "status", _fixed(Status())),
    Production("control", "repeat", _fixed(Repeat())),
    Production("control", "explain", _explained),
    Production("control", "explain_label [articles] <label>", _explained_label),
    Production("control", "human", _fixed(Human())),
    Production("control", "wait", _fixed(Wait())),
    Production("answer", "<value>", partial(_pending, is_worded=True)),
    Production("change", "cue+ <new> cue_behind", _changed),
    Production("change", "cue+ <new>", _changed),
    Production("change", "<new> cue_behind", _changed),
    Production("change", "[cue+] [articles] <label> [is] <new>", _labelled),
    Production("change", "[cue+] [articles] <label> [is] <new> not <old>", _labelled),
    Production("change", "change [articles] <label> to <new>", _labelled),
    Production("change", "[cue+] not <old> [but] [courtesy] <new>", _contrasted),
    Production("change", "[cue+] <new> not <old>", _contrasted),
    Production("change", "[cue+] <new> instead_of <old>", _contrasted),
    Production("change", "instead_of <old> [courtesy] [cue+] <new>", _contrasted),
)
"""All productions, in the order in which they are tried."""
