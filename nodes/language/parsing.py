"""The reading of a message, in one pass: words, values, clauses with their cues, commands.

Commands come with the words that they explain; a reading is certain if no word is left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from itertools import pairwise, takewhile
from typing import Any

from rapidfuzz.distance import OSA

from journeygraph.journeys import Field
from journeygraph.nodes.commands import (
    Cancel,
    Clear,
    Command,
    Correct,
    Fill,
    Human,
    Repeat,
    Skip,
    Wait,
)
from journeygraph.nodes.language.answers import (
    answer,
    boolean,
    choice,
    explains,
    holds,
    is_conditional,
    is_greeting,
    noise,
    signal,
    unjoined,
)
from journeygraph.nodes.language.changes import (
    end_of_lead,
    is_part,
    labelled,
    named_change,
    of_type,
    said_value,
    turned,
    unspelled,
)
from journeygraph.nodes.language.lexicon import lexicon_of
from journeygraph.nodes.language.mentions import (
    Claim,
    claims_in,
    concerns,
    excludes,
    is_article,
    is_doubted,
    is_of_another,
    is_users,
    names,
    names_field,
    names_user,
    rules_out,
    spans_in,
)
from journeygraph.nodes.language.reading import (
    COUNT,
    COUNTED,
    DAY,
    DAYS,
    FREE,
    HOUR,
    NAMES,
    WORDY,
    YES_OR_NO,
    Expected,
    Parse,
    Read,
    Reading,
    Token,
    parts_of,
    read,
    readable_part,
    value_in,
)
from journeygraph.nodes.language.stays import later_day
from journeygraph.nodes.values import (
    Span,
    end_of_list_lead,
    found_in,
    in_lines,
    is_in_doubt,
    negation_of,
    shaped,
    usual,
)
from journeygraph.nodes.values.numbers import numbers_of
from journeygraph.nodes.values.people import words_around

MOST_CHARACTERS = 4096
"""Characters of a message beyond which it is left to others."""
_MOST_WORDS_OF_CHANGE = 40
_LONGEST_CHANGE_IN_TEXT = 20
_SHORTEST_OF_TWO = 2
_LONGEST_ITEM = 5
_LONGEST_REASON = 5
_LONGEST_REFUSAL = 4
_MOST_UNREAD = 4
_WEAK = ("boolean", "enum")
_WORDS = (*WORDY, *_WEAK)
_SHAPED = ("date", "time", "money", "email", "phone")
_MOST_FOUND = 3
_LONGEST_PLAIN = 11
_MOST_PLAIN = 2
_MOST_OF_ORDER = 2
_YEAR = 366
_LEADS = ("lead", "wish", "question", "meant")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_GIVING = (Fill, Correct)
_ASIDE = (Skip, Correct, Clear)
_HALF = ("no", "unsure", "unknown")
_IDLE = ("filler", "joint", "idle")
_LEAVING = ("cancel", "give_up", "wait")
_LIMITS = ("condition", "in_time")


def read_message(message: str, expected: Expected) -> Parse:
    """Return what a message says, as far as that can be read without a model; it never raises."""
    if len(message) > MOST_CHARACTERS:
        return Parse(unread=(message,))
    if expected.pending is not None and expected.pending.type == "list":
        message = in_lines(message, expected.setting)
    reading = read(message, lexicon_of(expected.setting.language))
    found = choice(reading, expected) or noise(reading, expected)
    return found or parse(reading, expected)


def parse(reading: Reading, expected: Expected) -> Parse:
    """Return the reading of words: a message, or the part after its yes or no."""
    kind = expected.kind
    answers = kind in YES_OR_NO and reading.says("no", *YES_OR_NO[kind])  # "uh huh"
    if not answers and (command := signal(reading, expected)):
        return Parse([command], certain=True, whole=True)
    clauses = _clauses(reading, expected)
    if not answers and (only := _only_signals(clauses, expected)):
        return only
    if answered := answer(reading, expected, parse):
        return answered
    return _Pass(reading, expected, clauses).result()


@dataclass(slots=True)
class _Clause:
    """A part of a message, with its cues.

    Attributes:
        words: All of it.
        body: Without the words that only lead to what it says.
        replaces: True if such words say that a value is replaced, as "sorry" and "make it" do.
        apart: True if a separate no is before it.
        is_idle: True if it says nothing: a greeting, thanks.
        is_reason: True if it only says why.
        command: The command about the conversation itself.
    """

    words: Reading
    body: Reading
    replaces: bool
    apart: bool
    is_idle: bool
    is_reason: bool
    command: Command | None


def _clauses(reading: Reading, expected: Expected) -> list[_Clause]:
    """Return the parts of a message, with their cues."""
    found, carried = [], False
    for part in parts_of(reading):
        clause = _clause(part, expected)
        clause.replaces = clause.replaces or carried
        carried = clause.replaces and not clause.body.tokens
        found.append(clause)
    for before, clause in pairwise(found):
        clause.apart = clause.apart or (before.apart and not before.body.tokens)
    return found


def _clause(words: Reading, expected: Expected) -> _Clause:
    lead = end_of_lead(words)
    head, body, bare = words.part(0, lead), words.part(lead), unjoined(words)
    meant = body.behind("meant")
    repairs = meant is not body or head.begins("repair") > 0
    idle = words.says(*_IDLE) or (bare is not words and bare.says("idle"))
    is_reason = words.opens("reasons") and not words.ends_asking
    return _Clause(
        words,
        meant,
        replaces=repairs or words.has("rather"),
        apart=lead > 0 and head.tokens[-1].closes and head.has("no"),
        is_idle=idle or is_greeting(words.raw),
        is_reason=is_reason,
        command=None if idle or is_reason else _signal(words, expected),
    )


def _signal(words: Reading, expected: Expected) -> Command | None:
    """Return what a clause says about the conversation itself, perhaps with a reason behind it."""
    bare = unjoined(words)
    whole = signal(words, expected) or (signal(bare, expected) if bare is not words else None)
    if whole or words.asks:
        return whole
    for name in _LEAVING:
        end = bare.begins(name)
        if 0 < end < len(bare.tokens) and (command := signal(bare.part(0, end), expected)):
            return command if _is_reason(unjoined(bare.part(end)), command, expected) else None
    return None


def _only_signals(clauses: Sequence[_Clause], expected: Expected) -> Parse | None:
    """Read a message that says one thing about the conversation, and perhaps why."""
    telling = [clause for clause in clauses if not clause.is_idle]
    first = next((clause.command for clause in telling if clause.command), None)
    if first is None:
        return None
    if any(isinstance(clause.command, Human) for clause in telling):
        return Parse([Human()], certain=True, whole=True)
    same = (
        c.command == first
        or (not c.command and (c.is_reason or _is_reason(c.words, first, expected)))
        for c in telling
    )
    return Parse([first], certain=True, whole=True) if all(same) else None


def _is_reason(words: Reading, command: Command, expected: Expected) -> bool:
    """Return whether words only give a reason; "wait, it is not paid" is about a field."""
    if not explains(words, command):
        return False
    if isinstance(command, Skip) and len(words.tokens) > _LONGEST_REASON:
        return False  # "nothing, I just wanted a window seat"
    changes = named_change(words, expected)
    if isinstance(command, Cancel):  # "forget it, I do not need the breakfast"
        changes = [c for c in changes if isinstance(c, Correct) and not isinstance(c.read, bool)]
    if changes:
        return False  # "wait, I did not mean Saturday", "stop, 115 instead of 150"
    fields = expected.all_fields if isinstance(command, Wait) else ()
    return not [field for field in fields if names_field(words.words, field, words.lexicon)]


class _Pass:
    """One pass over a message that says more than one thing, or gives values."""

    def __init__(self, reading: Reading, expected: Expected, clauses: Sequence[_Clause]) -> None:
        self.reading, self.expected, self.lexicon = reading, expected, reading.lexicon
        self.pending = expected.pending
        self.clauses = list(clauses)
        self.commands: list[Command] = []
        self.explained: set[int] = set()
        self.bare: list[Command] = []
        self.plain: list[Command] = []
        self.kept = 0
        self.only: Command | None = None

    def result(self) -> Parse:
        """Return what was found, after all that contradicts is settled."""
        due = self.expected.due
        if due is not None and due.type not in FREE and (whole := self._whole(due)):
            return whole
        given = boolean(self.reading, self.expected)
        for fill, behind in [(given[0], given[2])] if given else self._named_answers():
            if holds("no" if fill.read else "yes", behind) or is_conditional(behind):
                return self._meant_at_last(fill) or Parse(unread=(self.reading.raw,))
        if any(clause.body.core().begins("keep") for clause in self.clauses[1:]):
            return Parse(unread=(self.reading.raw,))  # "no parking, hmm, leave it"
        self._read_all(given)
        if self.pending is not None and self.expected.in_text:
            return self._free(self.pending)
        return self._settled()

    def _read_all(self, given: tuple[Fill, Reading, Reading] | None) -> None:
        """Read all clauses behind a yes or no that was asked for, and what is left of them."""
        self._join_spanned()
        if given:
            self._explain([given[0]], given[1].tokens)
        self._read_clauses()
        changes = any(isinstance(command, (Correct, Clear)) for command in self.commands)
        if not given and changes and (yes := self._yes_before()):
            self.commands.insert(0, yes)
        if given and given[0].read is False and changes:
            behind = self.reading.part(1)
            if len(given[1].tokens) == 1 and not behind.opens("joints"):  # "no, but ..." answers
                self.commands.remove(given[0])  # "no, three nights": what is asked is asked again
        if self.pending is not None and not self.expected.in_text:
            self._take_left(self.pending)

    def _yes_before(self) -> Fill | None:
        """Return a plain yes that no sign parts from a change: "yes five people, not four"."""
        field, first, setting = self.pending, self.reading.part(0, 1), self.expected.setting
        mild = first.raw.casefold() in setting.words.yes_no.mild or not first.says("lead")
        if mild or field is None or field.type != "boolean" or negation_of(field, setting):
            return None  # "ok five people"
        return Fill(field.name, first.raw, read=True) if first.says("yes") else None

    def _named_answers(self) -> list[tuple[Fill, Reading]]:
        """Return yes or no by the name of what was asked, and the words behind: "no breakfast"."""
        end, setting = self.reading.end, self.expected.setting
        own = [c for c in self.claims if c.field is self.pending and c.field.type == "boolean"]
        firsts = [0 if negation_of(c.field, setting) else c.end for c in own]  # "no, paperless"
        return [
            (Fill(c.field.name, c.span.raw, read=c.span.value), self.reading.between(first, end))
            for c, first in zip(own, firsts, strict=True)
        ]

    def _meant_at_last(self, given: Fill) -> Parse | None:
        """Read the other answer behind a repair: "no, hm, although, yes"."""
        other = "no" if given.read else "yes"
        for place, (before, clause) in enumerate(pairwise(self.clauses), start=1):
            led = clause.replaces or end_of_lead(clause.words)
            words = clause.body if clause.body.tokens else clause.words
            if words.says(other) and (led or not before.body.tokens):
                rest = tuple(c.words.raw for c in self.clauses[place + 1 :] if not c.is_idle)
                fill = Fill(given.field, other, read=other == "yes")
                return Parse([fill], not rest, not rest, rest, (given.value,))
        return None

    # What is said of the field that was asked for, by all of the message.

    def _whole(self, field: Field) -> Parse | None:
        """Read all of a message as the value that was asked for."""
        reading = self.reading
        if reading.begins("wonder") or is_greeting(reading.text):
            return None  # both pass for values
        read = None if self._gives_others(field) else self._meant(field, reading)
        weekdays = self.expected.setting.words.dates.weekdays if field.type in NAMES else ()
        if field.type == "full_name" and reading.raw != reading.raw.casefold() in weekdays:
            return Parse(unread=(reading.raw,))  # "Friday" may be half of a name
        if read is None or (read.raw.casefold() in weekdays and read.raw != reading.raw):
            return None  # "rather Friday" is no name
        given = self._fill(field, read, reading)
        certain = self._is_plain(field) if field.type in WORDY else not self._is_in_doubt(given)
        if field.type in NAMES:  # what is not plain may be told apart by words that bring it in
            return self._whole_name(field, given) if certain else None
        return Parse([given], certain, certain, () if certain else (reading.raw,))

    def _whole_name(self, field: Field, given: Fill) -> Parse:
        """Read all of a message as a name; certain without strange words, and if it may be."""
        reading, strange = self.reading, words_around(self.reading.raw, self.expected.setting)
        is_own = is_users(field, self.lexicon)
        named = self.lexicon.begins(reading.marked, "form_named_other")
        if named and (is_own or is_of_another(reading, field)):
            return Parse(unread=(reading.raw,))  # "his name is Karl"
        others = reading.begins("i_am") > 0 and not is_own
        certain = not (strange or others or self._is_in_doubt(given))
        return Parse([given], certain, certain, strange)

    def _rules_out(self, field: Field, words: Reading) -> bool:
        """Return whether words have values of a field, none of which does."""
        if field.type in WORDY or len(words.tokens) < _SHORTEST_OF_TWO:
            return False
        inside = [words.at(span) for span in spans_in(field, words, self.expected)]
        return bool(inside) and all(one.tokens and rules_out(words, one, field) for one in inside)

    def _gives_others(self, field: Field) -> bool:
        """Return whether a message has values of other fields too; a date alone is no address."""
        fields = [claim.field for claim in self.claims]
        if field.type in WORDY:
            return any(one is not field and not self._is_called(field, one) for one in fields)
        if [1 for one in fields if one is field]:
            return len(fields) > 1
        return any(claim.is_named for claim in self.claims)  # "five of us" is no hour

    def _is_called(self, field: Field, other: Field) -> bool:
        """Return whether the day of the week that a message is may be a name that is asked for."""
        weekdays = self.expected.setting.words.dates.weekdays
        named = field.type == "name" and self.reading.raw.casefold() in weekdays
        return named and other.type in DAYS and other.name not in self.expected.known

    def _is_plain(self, field: Field) -> bool:
        """Return whether words that may be a text or name have no sign against it."""
        if self.reading.says("unknown", "nothing", "skip") or self.reading.has("wrong"):
            return False
        if _may_refuse(self.reading):
            return False
        for clause in self.clauses:
            begins = clause.words.begins("wish", "repair", "wonder")
            if begins or clause.command or clause.words.asks or clause.apart:
                return False
        if field.type in NAMES:  # "Lee. Ann Lee", "Ann and plays", "two cats", "to my brother"
            several = ". " in self.reading.raw and len(self.clauses) > 1
            several |= len(self.reading.tokens) > 1 and self._is_number(self.reading.tokens[0])
            joined = [unjoined(c.words).raw for c in self.clauses[1:] if c.words.opens("joints")]
            cut = several or any(raw[:1].islower() for raw in joined)
            if cut or self.reading.behind("name_lead").has("own"):
                return False
        # Three long clauses may be several wishes.
        long = len(self.clauses) > _MOST_PLAIN and len(self.reading.tokens) > _LONGEST_PLAIN
        return not (long or self._holds_others(field, self.reading.text))

    def _holds_others(self, field: Field, text: str) -> bool:
        """Return whether words hold a value that is plainly of another field, or of no list."""
        others = [*self.expected.all_fields]
        if field.type == "list":
            others += [Field("any", kind) for kind in _SHAPED if kind != field.items]
        return any(
            span.certain
            for other in others
            if not (other is field or self._is_called(field, other))
            and (other.extract or other.type not in _WORDS)
            for span in found_in(other, text, self.expected.setting)
        )

    # Values, and the clauses in which they stand.

    @cached_property
    def claims(self) -> list[Claim]:
        """The values of the message; a slip of the tongue parts what is scanned."""
        found: list[Claim] = []
        judged = [field for field in self.expected.all_fields if field.type == "boolean"]
        parts = enumerate(pairwise(self.clauses), start=1)
        starts = [n for n, (c, d) in parts if d.replaces or d.is_reason or c.is_reason]
        for first, last in zip([0, *starts], [*starts, len(self.clauses)], strict=True):
            here = self.clauses[first:last]
            tokens = tuple([token for one in here for token in one.words.tokens])
            if not tokens or (first and here[0].is_reason):
                continue
            if not judged and not [1 for clause in here if clause.body.tokens]:
                continue  # "no", "sorry"
            segment = Reading(self.reading.text, tokens, self.lexicon)
            replaced = [(c.words.start, c.words.end) for c in here if c.replaces]
            found += claims_in(segment, self.expected, replaced)
        return found

    @cached_property
    def hours(self) -> set[int]:
        """The places of the words of hours, which are no parts of a day next to them."""
        spans = spans_in(HOUR, self.reading, self.expected)
        said = [self.reading.at(span) for span in spans if span.certain]
        taken = {t.start for claim in self.claims for t in self.reading.at(claim.span).tokens}
        found = [{token.start for token in words.tokens} for words in said]
        return set().union(*[places for places in found if places.isdisjoint(taken)])

    def _join_spanned(self) -> None:
        """Put clauses together that a value goes through: "24 December, 2030"."""
        joined: list[_Clause] = []
        for clause in self.clauses:
            start = clause.words.tokens[0].start if clause.words.tokens else 0
            through = [claim for claim in self.claims if claim.start < start < claim.end]
            if joined and through:
                words = _together(joined[-1].words, clause.words)
                joined[-1] = replace(_clause(words, self.expected), replaces=joined[-1].replaces)
            else:
                joined.append(clause)
        self.clauses = joined

    def _read_clauses(self) -> None:
        place = 0
        while place < len(self.clauses):
            known, count = len(self.commands), self._read_clause(place)
            given = self.commands[known:]
            behind = self.clauses[place + count : place + count + 1]
            wrong = given[0] if len(given) == 1 and behind else None
            if isinstance(wrong, Clear) and (said := self._instead(wrong, behind[0])):
                self.commands.pop()
                self._explain([said], behind[0].words.tokens)
                given, count = self.commands[known:], count + 1
            read = self.clauses[place : place + count]
            left = [t for c in read for t in c.words.tokens if t.start not in self.explained]
            if given and not left:
                self.plain += given
            elif len(given) == 1 and not self._may_matter(left, given[0]):
                self.plain += given  # "make it three nights while I am at it"
            place += count

    def _may_matter(self, left: Sequence[Token], given: Command) -> bool:
        """Return whether one of some words may take a change half back, or be a part of it."""
        doubts = self.lexicon.words("negation", "no", "either", "between", "turns", "contrast")
        fields = self.expected.all_fields
        others = [field for field in fields if field.name != getattr(given, "field", "")]
        return not isinstance(given, Correct) or any(
            token.word in doubts
            or self._is_number(token)
            or self.lexicon.begins(token.word, *_LIMITS)
            or any(names([token.word], field, self.lexicon) for field in others)
            for token in left
        )

    def _read_clause(self, place: int) -> int:
        """Read a clause by the first way that explains it; return how many were read."""
        clause = self.clauses[place]
        if clause.replaces:
            self.kept = len(self.commands)
        if self._is_explained(clause.words):
            return 1
        held = [c for c in self._held(clause) if c.field.type != "boolean"]  # "Tuesday is fine"
        idle = (clause.is_idle and not held) or not clause.body.tokens
        if idle or clause.command or (clause.is_reason and self.commands):
            given = [clause.command] if clause.command and not idle else []
            self._explain(given, clause.words.tokens)
            return 1
        asks = clause.words.asks
        slipped = self._slipped(clause) if clause.replaces and not asks else None
        if not slipped and (count := self._changed(place)):
            return count
        if not slipped and (self._given(clause) or asks):
            return 1
        value = slipped or self._answered(clause)
        value = value or labelled(unjoined(clause.words), self.expected) or self._replaced(clause)
        if value or self._ruled_out(clause):
            self._explain([value] if value else [], clause.words.tokens)
        return 1

    def _ruled_out(self, clause: _Clause) -> bool:
        """Read a value that does not do; of two choices the other one is meant."""
        field, words = self.pending, clause.body if clause.replaces else clause.words
        if field is None or field.type in WORDY:
            return False
        if field.type == "enum":
            kept = [way for way in field.ways if not self._is_out(words, field, way)]
            if len(kept) == 1 < len(field.ways) < _MOST_FOUND and not self._has(field):
                self.commands.append(Fill(field.name, kept[0], read=kept[0]))
            return False
        return self._rules_out(field, words)

    def _is_out(self, words: Reading, field: Field, way: str) -> bool:
        """Return whether a choice is denied, or as one that does not suit."""
        for name in (way, *field.ways[way]):
            label = read(name.replace("_", " "), self.lexicon).words
            for place in range(len(words.tokens) - len(label) + 1):
                if words.words[place : place + len(label)] == label:
                    return rules_out(words, words.part(place, place + len(label)), field)
        return False

    def _held(self, clause: _Clause) -> list[Claim]:
        """Return the values of a clause."""
        first, last = clause.words.start, clause.words.tokens[-1].end
        return [claim for claim in self.claims if first <= claim.span.start < last]

    def _slipped(self, clause: _Clause) -> Command | None:
        """Return a bare value in place of the last one of the message: "at seven, no, eight"."""
        start = clause.body.tokens[0].start
        given = {c.field for c in self.commands if isinstance(c, _GIVING)}
        before = [c for c in self.claims if c.end <= start and c.field.name in given]
        if not before or before[-1].field.type in _WORDS:
            return None
        last, fields = self._alike(before, clause), self.expected.all_fields
        others = [field for field in fields if field is not last.field]
        read = readable_part(last.field, clause.body, self.expected)
        if read is None or any(names_field(clause.body.words, f, self.lexicon) for f in others):
            return None
        if any(c.is_named and c.field in others for c in self._held(clause)):
            return None  # "we are five" is no hour
        value = self._fill(last.field, read, clause.body).read
        return _command(replace(last, span=replace(last.span, raw=read.raw, value=value)))

    def _alike(self, before: Sequence[Claim], clause: _Clause) -> Claim:
        """Return the last value; behind "four at 7 pm, no, five" the one that is as bare as this.

        That is another number, both in digits or both in words, where the last has a unit.
        """
        words, last = clause.body.core(), before[-1]
        if not last.span.certain or not all(map(self._is_number, words.tokens)):
            return last
        in_digits = words.said.isdigit()
        if self.reading.at(last.span).words[0].isdigit() is in_digits:
            return last
        bare = [c for c in before if c.field.type in COUNTED and c.span.raw.isdigit() is in_digits]
        return bare[-1] if bare else last

    def _changed(self, place: int) -> int:
        """Read a change that names its field or its old value, in two clauses or one."""
        most = _LONGEST_CHANGE_IN_TEXT if self.expected.in_text else _MOST_WORDS_OF_CHANGE
        if not (self.expected.correctable or self.pending) or len(self.reading.tokens) > most:
            return 0
        clause, *behind = self.clauses[place : place + 2]
        for after in (*behind, None):
            if after and after.command:
                continue
            words = _together(clause.words, after.words) if after else clause.words
            body = _together(clause.body, after.words) if after else clause.body
            if words.ends_asking and not words.begins("wish"):
                continue
            tried: list[tuple[Token, ...]] = []
            for part in (unjoined(words), words, words.part(end_of_lead(words)), body):
                if part.tokens in tried:
                    continue
                tried.append(part.tokens)
                commands = named_change(part, self.expected, two=after is not None)
                if commands and not self._is_of_another(commands, words, clause, after):
                    self._explain(commands, words.tokens)
                    return 2 if after else 1
        return 0

    def _instead(self, wrong: Clear, behind: _Clause) -> Correct | None:
        """Return the value in the next clause of what is wrong: "the day is wrong, it is 3 May"."""
        if behind.words.ends_asking or behind.command:
            return None
        field = next(f for f in self.expected.correctable if f.name == wrong.field)
        if field.type in FREE or is_part(behind.words.words, field, self.lexicon):
            return None
        read = said_value(behind.body, field, self.expected)
        return Correct(field.name, read.raw, read=read.value) if read else None

    def _is_of_another(
        self, commands: Sequence[Command], words: Reading, clause: _Clause, after: _Clause | None
    ) -> bool:
        """Return whether the value of an open field is another person's: "my dog's name is Rex".

        Of two clauses the other is something else where one alone says the same.
        """
        first = [clause.words] if clause.words.has("contrast") else []
        for part in [*first, after.body] if after else ():
            alone = named_change(part, self.expected)
            if [*map(_given_by, alone)] == [*map(_given_by, commands)]:
                return True
        given = {command.field for command in commands if isinstance(command, Fill)}
        opened = [field for field in self.expected.fields if field.name in given]
        return any(is_of_another(words, f, asked=f is self.pending) for f in opened)

    def _given(self, clause: _Clause) -> bool:
        """Take the values in a clause; words that are usual around them are explained."""
        words, lexicon = clause.words, self.lexicon
        if not (here := self._held(clause)):
            return False
        known = lexicon.words("around", "small", "closing")
        for claim in here:
            known = known.union(claim.words, usual(claim.field, self.expected.setting))
        inside = [token for claim in here for token in words.at(claim.span).tokens]
        kinds, opened = {claim.field.type for claim in here}, lexicon.words("open")
        before = [
            words.between(words.start, c.start).part(-2) for c in here if c.field.type == "time"
        ]
        apart = self.hours if "date" in kinds else set()
        apart = apart.union(t.start for part in before for t in part.tokens if t.word in opened)
        bare = unjoined(words)
        lead = bare.part(bare.begins(*_LEADS))
        body = max([t.tokens[0].start if t.tokens else words.end for t in (lead, clause.body)])
        tokens = [
            token
            for token in words.tokens
            if token in inside
            or token.start < body
            or (token.start not in apart and {token.word, self._raw(token)} & known)
        ]
        left = [token for token in words.tokens if token not in tokens]
        asking = words.asks and not unjoined(words).begins("wish")
        meant = [c for c in here if not (asking and self._is_asked_about(c, words))]
        meant = [claim for claim in meant if self._is_meant(claim, words, left)]
        doubted = [t for c in here if c not in meant for t in words.at(c.span).tokens]
        given = [_command(claim) for claim in meant]
        self.bare += [g for g, claim in zip(given, meant, strict=True) if claim.is_bare]
        self._explain(given, [token for token in tokens if meant and token not in doubted])
        return bool(meant)

    def _is_asked_about(self, claim: Claim, words: Reading) -> bool:
        """Return whether a question says more of a choice than that: "is Dr. Chen a woman?"."""
        if claim.field.type not in _WEAK or claim.is_by_the_way:
            return False
        if words.begins("question") and not words.begins("wonder"):
            return False  # "how about outside?"
        known = self.lexicon.words("small", "closing", "joints").union(claim.words)
        sides = (words.between(words.start, claim.start), words.between(claim.end, words.end))
        return any(
            side.tokens and not known.issuperset(side.words) and not side.says("filler")
            for side in sides
        )

    def _is_meant(self, claim: Claim, words: Reading, left: Sequence[Token]) -> bool:
        """Return whether a value is taken though words of its clause are unread.

        A number next to it may be a part of it. A value that was not asked for, and that no word
        names, needs a clause which says little else.
        """
        left = [t for t in left if claim.field.type != "date" or t.start not in self.hours]
        if not left:
            return True
        idle = self.lexicon.words("small", "around")
        for token in left:
            first, last = sorted(((token.start, token.end), (claim.start, claim.end)))
            if idle.issuperset(words.between(first[1], last[0]).words) and self._is_number(token):
                return False
        if claim.field is self.pending or claim.is_named or claim.is_by_the_way:
            return True
        if claim.changes or self.expected.kind == "return":
            return False
        answered = not self.expected.kind or any(c.field is self.pending for c in self.claims)
        shaped = claim.span.certain or claim.field.type == "phone"
        plain = shaped and answered and not words.asks
        return plain or len(left) * _MOST_UNREAD <= len(words.tokens)

    def _raw(self, token: Token) -> str:
        return self.reading.text[token.start : token.end].casefold()

    def _is_number(self, token: Token) -> bool:
        word = self._raw(token)
        setting = self.expected.setting
        ordinal = numbers_of(setting.words).ordinals.get(word, 0) > _MOST_OF_ORDER  # "am dritten"
        return ordinal or word[:1].isdigit() or bool(found_in(COUNT, word, setting))

    def _fill(self, field: Field, read: Read, words: Reading) -> Fill:
        value = read.value
        if field.type == "date" and field.name not in self.expected.known:
            mere = bool(words.core().day())
            value = later_day(value, read.raw, field, self.expected, is_mere=mere)
        return Fill(field.name, read.raw, read=value)

    def _answered(self, clause: _Clause) -> Command | None:
        """Return a clause as the value that was asked for."""
        field, words = self.pending, clause.words
        if field is None or field.type in WORDY or self._has(field):
            return None
        if field.type == "enum" and words.part(-1).says("no"):
            return None  # "outside no"
        if len(self.clauses) > 1 and self._is_day(words, field):
            return None  # "on the 27th, and we are six"
        read = self._meant(field, words)
        if read is None:
            return None
        given = self._fill(field, read, words)
        if clause is not self.clauses[-1] and not words.tokens[-1].closes:  # "two and the kids"
            self.bare.append(given)
        return given

    def _is_day(self, words: Reading, field: Field) -> bool:
        """Return whether a clause is a day, and no count: "on the 27th"."""
        raw = words.text[words.start : words.end].strip(" ,")
        return field.type in COUNTED and value_in(DAY, raw, self.expected.setting) is not None

    def _meant(self, field: Field, words: Reading) -> Read | None:
        """Return the value that all of some words are, unless it is of another or does not do."""
        if words.has("contrast") or excludes(words) or is_of_another(words, field):
            return None
        alike = [known for known in self.expected.correctable if known.type == field.type]
        if alike and any(clause.replaces for clause in self.clauses):
            return None  # it may as well be meant for the known one
        read = readable_part(field, words, self.expected)
        return None if read is None or self._rules_out(field, words) else read

    def _replaced(self, clause: _Clause) -> Command | None:
        """Return a clause as another value of what is known: "I meant John"."""
        wanted = clause.words.has("wanted")
        if not (clause.replaces or wanted or self.pending is None):
            return None
        changed: Command | None = None
        lead = end_of_lead(clause.words)
        says_more = any(map(self._is_number, clause.body.tokens))  # "no, the lift at 4"
        if (lead or clause.replaces or (wanted and self._is_usual(clause.words))) and not says_more:
            changed = turned(clause.words, clause.body, self.expected)
        if changed or not clause.replaces:
            return changed
        moments = [claim for claim in self.claims if claim.field.type == "datetime"]
        if moments and value_in(HOUR, clause.body.raw, self.expected.setting):
            return None  # "on Friday at five, no, four"
        meant = clause.words.part(lead).begins("meant") > 0 and not self.expected.in_text
        wordy = meant or (clause.apart and getattr(self.pending, "type", "") != "boolean")
        return of_type(clause.body.core(), self.expected, wordy=wordy)

    def _is_usual(self, words: Reading) -> bool:
        """Return whether words have only a yes/no field, and that it is wanted or not."""
        uses = ("wanted", "around", "small", "closing", "negation", "only", "joints", "no")
        known = self.lexicon.words(*uses)
        fields = [field for field in self.expected.correctable if field.type == "boolean"]
        left = [word for word in words.words if word not in known]
        return all(any(names([word], field, self.lexicon) for field in fields) for word in left)

    # What is left for the field that was asked for.

    def _take_left(self, field: Field) -> None:
        """Take the one value in words that nothing explains, which is not named as another."""
        if field.type == "boolean" or self.reading.ends_asking or self._is_open():
            return
        before = [c for c in self.claims if c.field is field and self._has(field)]
        if self._has(field) and not (before and field.type in NAMES):
            return
        left = [c for c in self._unexplained() if not (c.is_reason or c.command)]
        meant = [c for c in left if not is_doubted(c.words, field)]
        if len(meant) == len(left):  # else what is left is not of another
            meant = [c for c in left if not is_of_another(c.words, field)]
        if field.type == "address":
            found = self._place_in(meant, field)
        else:
            find = self._names_in if field.type in NAMES else self._spans_in
            found = [s for s in find(meant, field) if not self._is_explained(self.reading.at(s))]
        said = self.reading.between(0, before[-1].start).words if before else []
        own = names_user(said, self.lexicon) and not is_users(field, self.lexicon)
        if before and len(found) == 1 and (own or _is_part(before[-1].span, found[0])):
            self.commands = [c for c in self.commands if getattr(c, "field", "") != field.name]
        elif before:
            return
        if len(found) == 1:
            self.only = Fill(field.name, found[0].raw, read=found[0].value)
            self._explain([self.only], self.reading.at(found[0]).tokens)

    def _spans_in(self, clauses: Sequence[_Clause], field: Field) -> list[Span]:
        """Return the values of a field that are not denied, behind the last repair."""
        found: list[Span] = []
        denied: list[Any] = []
        for clause in clauses:
            spans = spans_in(field, clause.words, self.expected)
            found = spans if clause.replaces and spans else [*found, *spans]
            out = [s for s in spans if rules_out(self.reading, self.reading.at(s), field)]
            denied += [span.value for span in out]
        found = [span for span in found if span.value not in denied]
        return found if all(self._stands_alone(span, field) for span in found) else []

    def _is_open(self) -> bool:
        """Return whether words leave a value open: "200 or 300", "I do not know exactly"."""
        unsure = [1 for clause in self.clauses if clause.words.begins("unknown", "unsure")]
        return bool(unsure) or self.reading.has("either", "between")

    def _stands_alone(self, span: Span, field: Field) -> bool:
        """Return whether no word next to a value makes it a part of another."""
        before = self.reading.between(self.reading.start, span.start).part(-1)
        behind = self.reading.between(span.end, self.reading.end).part(0, 1)
        inside = self.reading.at(span)
        apart = self.hours if field.type == "date" else ()
        beside = [t for t in (*before.tokens, *behind.tokens) if t.start not in apart]
        is_ordinal = field.type in COUNTED and inside.day() and not inside.said.isdigit()
        if is_article(inside) or is_ordinal or any(map(self._is_number, beside)):
            return False
        if set(behind.words) <= set(inside.words) and behind.words:
            return False  # "the eleventh eleventh eighty-eight"
        if field.type == "email":
            return "@" in span.raw
        if before.has("own"):
            return False  # "my two sisters"
        idle = self.lexicon.words("small", "joints")
        if field.type == "enum":  # "it rains outside"
            clause = next(c for c in self.clauses if c.words.end >= span.end)
            idle = self.lexicon.words("small", "joints", "around", "no")
            return idle.issuperset(clause.body.between(0, span.start).words)
        counts = len(inside.tokens) == 1 and self._is_number(inside.tokens[0])
        if inside.tokens[-1].closes or not counts or not behind.tokens:
            return True
        return behind.words[0] in idle or names_field(behind.words, field, self.lexicon)

    def _place_in(self, clauses: Sequence[_Clause], field: Field) -> list[Span]:
        """Return the address that all words are which nothing explains, if they are together."""
        if not clauses or not self.commands:
            return []
        words = self.reading.between(clauses[0].body.start, clauses[-1].words.end)
        together = [c for c in self.clauses if c.words.tokens[-1].end > words.start]
        read = readable_part(field, words, self.expected)
        if read is None or together[: len(clauses)] != list(clauses) or words.ends_asking:
            return []
        return [Span(read.value, read.raw, words.start, words.end, False, field.type)]

    def _names_in(self, clauses: Sequence[_Clause], field: Field) -> list[Span]:
        """Return the names in clauses; of a part and the whole name, the whole."""
        found: list[Span] = []
        read_in: list[_Clause] = []
        for clause in clauses:
            if is_part(clause.words.words, field, self.lexicon):
                return []  # "first name Beth"
            words, led = self._called(clause)
            name = readable_part(field, words, self.expected) if words.tokens else None
            if name is None:
                continue
            if not (len(clauses) == 1 or self._is_name(words, led=led)):
                found = [] if clause.replaces else found
                continue
            read_in.append(clause)
            start = words.start if led else clause.words.start
            span = Span(name.value, name.raw, start, clause.words.end, True, "name")
            if found and (mended := _mended(found[-1], span)):
                found[-1] = mended
            else:
                found = [*found[: -1 if clause.replaces else None], span]
        names = {word for one in found for word in read(one.raw, self.lexicon).words}
        others = [set(clause.words.words) for clause in clauses if clause not in read_in]
        if any(words & names and words - names for words in others):
            return []  # a longer name may stand there
        return [one for one in found if not [o for o in found if o is not one and _is_part(one, o)]]

    def _called(self, clause: _Clause) -> tuple[Reading, bool]:
        """Return the words of a clause that may be a name, and whether others bring them in.

        How it is spelled is left out: "to Ann Lee", "I am Ann Lee", "Lee with two Es".
        """
        words, lexicon = clause.body.core(), self.lexicon
        while len(words.tokens) > 1 and words.part(-1).says("filler"):
            words = words.part(0, -1)
        words = unspelled(words.behind("spelled"))
        leads = [n for n, w in enumerate(words.words) if w in lexicon.words("bring_in")]
        led = bool(leads) and 0 < leads[-1] < len(words.tokens) - 1
        words = words.part(leads[-1] + 1) if led else words
        if (words.tokens and words.part(-1).says("no")) or words.has("own"):
            return words.part(0, 0), False  # "to my sister"
        while len(words.tokens) > 1 and words.opens("small"):
            words = words.part(1)
        body, titles = clause.body.tokens, self.expected.setting.words.names.titles
        first = body.index(words.tokens[0]) if words.tokens else 0
        while first and self._raw(body[first - 1]) in titles:  # "Dr", which may be filler elsewhere
            first -= 1
            words = replace(words, tokens=(body[first], *words.tokens))
        return words, led

    def _is_name(self, words: Reading, *, led: bool) -> bool:
        """Return whether words are called so: with capitals, or by no common word."""
        written = [words.text[t.start : t.end] for t in words.tokens]
        strange = all(w not in self.lexicon.vocabulary for w in words.words)
        several = led or len(words.tokens) >= _SHORTEST_OF_TWO
        return all(w[:1].isupper() for w in written) or (strange and several)

    # Arbitration.

    def _settled(self) -> Parse:
        commands = self._without_asides(self._without_repeats())
        unread = self._unread()
        doubtful = [c for c in commands if c is not self.only] if unread else []
        given = [c for c in self.commands[self.kept :] if isinstance(c, _GIVING)]
        other = [c.field for c in given for d in given if c.field == d.field and c.read != d.read]
        twice = [c for c in doubtful if self._is_given_twice(c)]
        if twice := twice + [c for c in commands if getattr(c, "field", "") in other]:
            return Parse([c for c in commands if c not in twice], unread=(self.reading.raw,))
        if unread:  # nothing leads to these, so that they are meant only if they are all there is
            doubted = [c for c in commands if _is_in(c, self.bare)]
            commands = [c for c in commands if not _is_in(c, doubted)]
            unread += tuple(c.value for c in doubted if isinstance(c, _GIVING))
        doubted = [c for c in commands if isinstance(c, _GIVING) and self._is_in_doubt(c)]
        certain = bool(commands) and not (unread or doubted)
        answered = any(
            not isinstance(c, Fill) or (self.pending and c.field == self.pending.name)
            for c in commands
        )
        replaced, plain = self._replaced_words(commands), self._plain(commands) if unread else ()
        return Parse(commands, certain, certain and answered, unread, replaced, plain)

    def _is_in_doubt(self, given: Fill | Correct) -> bool:
        """Return whether a value may as well be another, though its words are explained."""
        [field, *_] = [one for one in self.expected.all_fields if one.name == given.field]
        return is_in_doubt(field, given.value, given.read, self.expected.setting)

    def _plain(self, commands: Sequence[Command]) -> tuple[Command, ...]:
        """Return the commands that no word besides takes half back: a condition, a doubt, a no."""
        left = [unjoined(c.words).said for c in self.clauses if not self._is_explained(c.words)]
        doubts = [words for words in left if self.lexicon.begins(words, *_LIMITS)]
        doubts += [words for words in left if self.lexicon.says(words, *_HALF)]
        return () if doubts else tuple([c for c in commands if _is_in(c, self.plain)])

    def _replaced_words(self, kept: Sequence[Command]) -> tuple[str, ...]:
        """Return the values that the message itself replaced, as "four" in "four, sorry, five"."""
        given = [c for c in self.commands if isinstance(c, _GIVING)]
        return tuple(c.value for c in given if not _is_in(c, kept))

    def _is_given_twice(self, command: Command) -> bool:
        """Return whether unread words have another value of a field: "300, or rather 320".

        A value of another time or person does not count.
        """
        if not isinstance(command, _GIVING):
            return False
        field = next(one for one in self.expected.all_fields if one.name == command.field)
        same = command.read if field.type in _WEAK else None
        if field.type != "boolean" and self._may_be_replaced(command.value, field):
            return True
        if field.type in NAMES and command.read:
            own = set(read(command.value, self.lexicon).words)
            return any(own.intersection(read(part, self.lexicon).words) for part in self._unread())
        theirs = [c for c in self.clauses if not c.words.has("between")]
        theirs = [
            c for c in theirs if is_of_another(c.words, field) or self._is_day(c.words, field)
        ]
        if field.type == "boolean":  # "yes. it's not the kitchen, it's the bathroom"
            pairs = [pair for pair in pairwise(self.clauses) if self._contrasts(*pair, field)]
            theirs += [clause for pair in pairs for clause in pair]
        sole = field.type == "boolean" and not command.read and self.reading.begins("sole")
        return any(
            span.value != same
            and not is_article(inside)
            and not rest.opens("part")  # "two of them"
            and not (sole and rest.core().tokens)  # "nope, we have a hotel"
            for clause in self._since(command)
            if clause not in theirs and not self._is_explained(clause.words)
            for span in spans_in(field, clause.words, self.expected)
            for inside in [self.reading.at(span)]
            for rest in [clause.words.between(span.end, clause.words.end)]
            if not self._is_explained(inside)
        )

    def _contrasts(self, one: _Clause, other: _Clause, field: Field) -> bool:
        """Return whether two clauses say of something else what it is, and what it is not."""
        words = unjoined(_together(one.words, other.words))
        matches = self.lexicon.matches("form_contrast", words.marked)
        return bool(matches) and not concerns(words.words, field, self.lexicon)

    def _since(self, given: Fill | Correct) -> Sequence[_Clause]:
        """Return the clauses from that on in which a value replaces an earlier one."""
        at = self.reading.text.find(given.value)
        places = [n for n, c in enumerate(self.clauses) if c.replaces and c.words.start <= at]
        return self.clauses[places[-1] if places and not self.expected.in_text else 0 :]

    def _may_be_replaced(self, raw: str, field: Field) -> bool:
        """Return whether an unread clause behind a value repairs it: "seven, no wait, half past".

        A "no" that belongs to the next word denies that one: "stalls, no wheelchair".
        """
        at = self.reading.text.find(raw)
        return any(
            c.replaces and c.body.tokens and at < c.words.start and not self._is_explained(c.words)
            for c in self.clauses
            if not self._is_denial(c, field)
        )

    def _is_denial(self, clause: _Clause, field: Field) -> bool:
        """Return whether a "no" without punctuation negates words without a value."""
        words, behind = clause.words, clause.words.tokens[1:]
        if words.tokens[0].closes or not words.opens("no") or clause.body.tokens != behind:
            return False
        return not found_in(field, clause.body.raw, self.expected.setting)

    def _without_repeats(self) -> list[Command]:
        """Return commands with one value a field: the last, where a cue leads to it."""
        last = {c.field: c for c in self.commands if isinstance(c, _GIVING)}
        return [c for c in self.commands if not isinstance(c, _GIVING) or last[c.field] is c]

    def _without_asides(self, commands: list[Command]) -> list[Command]:
        """Return commands without a "hold on", "pardon" or "stop" that only leads to others."""
        last = max([place for place, c in enumerate(commands) if isinstance(c, Correct)], default=0)
        kept = [c for n, c in enumerate(commands) if not (c == Cancel() and n < last)]
        others: list[Command] = [c for c in kept if not isinstance(c, (Wait, Repeat))]
        return others if others or self._unread() else commands

    def _has(self, field: Field) -> bool:
        """Return whether a field was given a value which nothing has replaced since."""
        since = self.commands[self.kept :]
        return bool([1 for c in since if isinstance(c, Fill) and c.field == field.name])

    def _explain(self, commands: Iterable[Command], tokens: Iterable[Token]) -> None:
        self.commands += [self._in_its_year(command) for command in commands]
        self.explained.update([token.start for token in tokens])

    def _in_its_year(self, command: Command) -> Command:
        """Return a change of a day that names no year in the known year, if that must be named."""
        setting = self.expected.setting
        known = str(self.expected.known.get(getattr(command, "field", ""), ""))
        if not (isinstance(command, Correct) and _DATE.match(known)):
            return command
        day, said = date.fromisoformat(known[:10]), str(command.read)
        if abs((day - setting.at.date()).days) <= _YEAR or not _DATE.fullmatch(said):
            return command
        begins = replace(setting, at=setting.at.replace(year=day.year, month=1, day=1))
        there = str(value_in(DAY, command.value, begins))
        return replace(command, read=there) if there == known[:4] + said[4:] else command

    def _unread(self) -> tuple[str, ...]:
        """Return the words that nothing explains; of a clause those between the first and last."""
        parts = []
        joints = self.lexicon.words("joints")
        for clause in self.clauses:
            tokens = clause.words.tokens
            left = [n for n, t in enumerate(tokens) if t.start not in self.explained]
            while left and tokens[left[0]].word in joints:
                left = left[1:]
            if left:
                parts.append(clause.words.part(left[0], left[-1] + 1).raw)
        return tuple(parts)

    # Texts and lists.

    def _free(self, field: Field) -> Parse:
        """Read the words that were asked for, next to what else the message says plainly."""
        settled, reading = self._settled(), self.reading
        found = any(isinstance(c, Fill) and c.field == field.name for c in settled.commands)
        if found or settled.certain or any(isinstance(c, Human) for c in settled.commands):
            return settled  # found is what the field's own pattern matches
        message = reading.text.strip() if reading.complete else reading.raw
        if field.extract and len(self._own_values(field)) > 1:
            meant = [c for c in self.clauses if not is_doubted(c.words, field)]
            own = [Fill(field.name, s.raw, read=s.value) for s in self._spans_in(meant, field)]
            return replace(settled, commands=[*settled.commands, *own[: len(own) == 1]])
        if self._is_no_text(field, settled):
            asides: list[Command] = [c for c in settled.commands if isinstance(c, _ASIDE)]
            return Parse(asides, unread=(message,), plain=settled.plain)
        return self._as_text(field, settled, message)

    def _as_text(self, field: Field, settled: Parse, message: str) -> Parse:
        """Take words as the text or list that was asked for, and what they change next to it."""
        reading = self.reading
        changes: list[Command] = [c for c in settled.commands if isinstance(c, (Correct, Clear))]
        own = self._unexplained()
        apart: list[int] = []
        if field.type == "list":
            items = [c for c in own if self._is_item(c.words)]
            if not items:
                return replace(settled, unread=(reading.raw,))
            first = self.clauses[0]
            led = len(self.clauses) > 1 and first.words.says("yes")
            items = [c for c in items if not (led and c is first)]
            others = [c for c in self.clauses if c not in items and not self._is_explained(c.words)]
            is_list = len(items) + led == len(self.clauses)
            if led or not is_list:
                message = ", ".join(self._without_lead(c.words).raw for c in items)
            is_list = is_list and not reading.has("either")  # "a drill or a saw"
            # "two: a drill and a saw"
            numbers = [one for one in map(self._counts, items) if one]
            is_list = is_list and len(numbers) in (0, len(items))
        else:
            # The last clauses, each only the value of another field: "Dune, tomorrow".
            behind = list(takewhile(self._is_only_value, self.clauses[:0:-1]))[::-1]
            own = [c for c in own if c not in behind]
            apart = [n for n, c in enumerate(own) if n and self._is_apart(c, field)]
            kept = own[: apart[0]] if apart else own
            beside = " ".join(c.words.raw for c in (*own[len(kept) :], *behind))
            given = [c for c in self.commands if isinstance(c, Fill) and c.value in beside]
            changes += [c for c in given if c.field != field.name]
            if kept and (changes or apart):
                message = _together(kept[0].words, kept[-1].words).raw
            else:
                changes = []
        value = value_in(field, message, self.expected.setting)
        if value is None:
            return settled
        alone = not (changes or apart)
        if field.type == "list" and changes:  # "latex, and my number is 555 0100"
            certain = not (others or self._holds_others(field, message))
        else:
            certain = (alone or field.type == "list") and self._is_plain(field)
            certain &= field.type != "list" or is_list
        # Where a part was extracted, nothing explains the words around it.
        certain &= not field.extract or str(value).casefold() == message.casefold()
        if certain and field.type == "text" and len(reading.tokens) > 1:
            certain = shaped(field, message, self.expected.setting) is not None
        asks = reading.ends_asking or reading.begins("question")
        text = Fill(field.name, message, 0.5 if asks else 1.0, read=value)
        commands: list[Command] = [text, *changes]
        left = [part for part in settled.unread if part not in message] if apart else []
        unread = () if certain else (message, *left)
        replaced = self._replaced_words(commands)
        return Parse(commands, certain, certain, unread, replaced, settled.plain)

    def _is_only_value(self, clause: _Clause) -> bool:
        """Return whether a clause gives values, and has no words but theirs and idle ones."""
        here = [c for c in self._held(clause) if c.field.type not in _WORDS and not c.changes]
        if not here or not all(
            c.span.certain or c.is_named or c.field.type == "phone" for c in here
        ):
            return False
        idle = self.lexicon.words("around", "small", "closing", "joints")
        return all(
            t.word in idle
            or any(c.start < t.end and t.start < c.end for c in here)
            or any(concerns([t.word], c.field, self.lexicon) for c in here)
            for t in clause.words.tokens
        )

    def _is_apart(self, clause: _Clause, field: Field) -> bool:
        """Return whether a clause is about another field than the text: "my surname is wrong"."""
        words = clause.words
        for other in self.expected.all_fields:
            if other is field or other.type in FREE:
                continue
            called = other.type in NAMES and words.has("name_parts")
            weak = other.type in (*_WEAK, *NAMES) and names(words.words, other, self.lexicon)
            if called or weak:
                return True
            if other.type in ("enum", "money", "email", "phone"):
                spans = found_in(other, words.raw, self.expected.setting)
                first = unjoined(words).start - words.start
                if any(s.certain if other.type != "enum" else s.start <= first for s in spans):
                    return True
        return False

    def _is_no_text(self, field: Field, settled: Parse) -> bool:
        """Return whether words skip the field, only ask a question, or have two values."""
        reading = self.reading
        refuses = reading.opens("refusing") and not field.required
        if refuses or any(isinstance(command, Skip) for command in settled.commands):
            return True
        if reading.begins("wonder") or reading.says("filler") or is_greeting(reading.raw):
            return True
        changes = [c for c in settled.commands if isinstance(c, Correct)]
        if [1 for change in changes if _DATE.fullmatch(str(change.read))]:
            left = {t.start for c in self._unexplained() for t in c.words.tokens} - self.explained
            if left <= self.hours:  # "make it Friday at 8pm"
                return True
        told = [c for c in self.clauses if not c.is_idle and not c.command]
        skips = any(isinstance(c.command, Skip) for c in self.clauses)  # "no, can you ring?"
        return bool(told) and all(
            c.words.asks and (skips or not c.words.begins("wish")) for c in told
        )

    def _own_values(self, field: Field) -> set[str]:
        """Return the values that a field's own patterns find, one after the other."""
        text = self.reading.text
        found: set[str] = set()
        while len(found) < _MOST_FOUND and (spans := found_in(field, text, self.expected.setting)):
            found.add(str(spans[0].value).casefold())
            text = text[: spans[0].start] + " " + text[spans[0].end :]
        return found

    def _is_explained(self, words: Reading) -> bool:
        return not [1 for token in words.tokens if token.start not in self.explained]

    def _unexplained(self) -> list[_Clause]:
        return [c for c in self.clauses if not (c.words.asks or self._is_explained(c.words))]

    def _is_item(self, clause: Reading) -> bool:
        """Return whether words may be one thing of a list: no sentence, and not "no saws"."""
        words = self._as_item(clause)
        plain = words.opens("without") and not self.reading.has("turns")  # "without onions"
        if not plain and (words.opens("negation", "no") or _may_refuse(words)):
            return False
        short = 0 < len(words.tokens) <= _LONGEST_ITEM
        return short and not words.has("talk")

    def _counts(self, clause: _Clause) -> bool:
        """Return whether a clause has only a number."""
        words = self._as_item(clause.words)
        return len(words.tokens) == 1 and self._is_number(words.tokens[0])

    def _as_item(self, words: Reading) -> Reading:
        """Return words without those that bring in a list: "and", "I need"."""
        first = next((c.words.start for c in self.clauses if not c.is_idle), 0)
        leads = words.start == first
        words = unjoined(words)
        end = end_of_list_lead(words.raw, self.expected.setting) if leads else 0
        return (words.between(words.start + end, words.end) if end else words).core()

    def _without_lead(self, words: Reading) -> Reading:
        """Return an item without the words that only lead to it: "and to", "gegen"."""
        part = self._as_item(words)
        while len(part.tokens) > 1 and part.opens("item_leads"):
            part = part.part(1)
        return part


def _may_refuse(words: Reading) -> bool:
    """Return whether words begin or end as a refusal does: "none whatsoever", "truly not"."""
    begins, count = words.begins("nothing"), len(words.tokens)
    ends = count > 1 and words.core().part(-1).opens("negation", "no")
    return ends or 0 < begins < count <= _LONGEST_REFUSAL


def _given_by(command: Command) -> tuple[str, Any]:
    """Return the field and the value of a change, in whatever words it is given."""
    return getattr(command, "field", ""), getattr(command, "read", None)


def _is_in(command: Command, commands: Iterable[Command]) -> bool:
    """Return whether a command, and no other that is equal, is among some."""
    return bool([1 for one in commands if one is command])


def _is_part(one: Span, other: Span) -> bool:
    """Return whether a name is a part of another: "Rob. Robert Ellison"."""
    mine, theirs = (f" {span.raw.casefold()} " for span in (one, other))
    return mine in theirs and mine != theirs


def _mended(one: Span, other: Span) -> Span | None:
    """Return a name with one of its words spelled anew: "Ann Lea, Lee"."""
    words, spelled = one.raw.split(), other.raw
    near = [n for n, w in enumerate(words) if OSA.distance(w.casefold(), spelled.casefold()) <= 1]
    if " " in spelled or len(words) < _SHORTEST_OF_TWO or len(near) != 1:
        return None
    raw = " ".join([*words[: near[0]], spelled, *words[near[0] + 1 :]])
    return replace(one, raw=raw, value=raw, end=other.end)


def _command(claim: Claim) -> Command:
    kind = Correct if claim.changes else Fill
    return kind(claim.field.name, claim.span.raw, read=claim.span.value)


def _together(one: Reading, other: Reading) -> Reading:
    return Reading(one.text, (*one.tokens, *other.tokens), one.lexicon)
