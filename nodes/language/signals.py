"""What is said about the talk itself: stop, again, one moment, why, a person please."""

from __future__ import annotations

from nodes.commands import Cancel, Command, Deny, Explain, Human, Repeat, Skip, Wait
from nodes.language.ear import YES_OR_NO, Ear, Heard
from nodes.language.mentions import is_task, mentioned
from nodes.language.reading import Reading
from nodes.values import Unreadable, value_of

_LONGEST = 30
_OFFERED = ("correction", "return", "human", "unclaimed", "retry", "more", "restart", "change")
_COUNTED = ("integer", "number", "money", "boolean")
_FREE = ("text", "list")
_PLAIN: tuple[tuple[str, Command], ...] = (
    ("cancel_all", Cancel(everything=True)),
    ("human", Human()),
    ("cancel", Cancel()),
    ("repeat", Repeat()),
    ("wait", Wait()),
)


def signal(reading: Reading, ear: Ear) -> Heard | None:
    """Hear what is said about the talk, where that is all that is said.

    A longer answer in the user's own words may hold such a phrase; any other message may be one
    with a word before or behind it that says why.
    """
    if not 0 < len(reading.tokens) <= _LONGEST or _answers(reading, ear):
        return None
    if command := _command(reading, ear):
        return Heard([command], sure=True, whole=True)
    clauses = [part for part in reading.clauses() if not _is_idle(part)]
    return _in_clauses(clauses, ear) if len(clauses) > 1 else None


def _answers(reading: Reading, ear: Ear) -> bool:
    """Whether it is a yes or no that was asked for: "uh huh"."""
    says = reading.lexicon.says
    return ear.kind in YES_OR_NO and (says("yes", reading.said) or says("no", reading.said))


def _in_clauses(clauses: list[Reading], ear: Ear) -> Heard | None:
    said = [_command(part, ear) for part in clauses]
    first = next((command for command in said if command), None)
    if first is None:
        return None
    if all(
        c == first or (c is None and _explains(p, first))
        for c, p in zip(said, clauses, strict=True)
    ):
        return Heard([first], sure=True, whole=True)
    if ear.pending and ear.pending.type in _FREE:
        return None
    if any(isinstance(command, Human) for command in said):
        return Heard([Human()], sure=True)
    if isinstance(said[0], Cancel) and not any(said[1:]):
        rest = Reading(
            clauses[1].text, tuple(t for p in clauses[1:] for t in p.tokens), clauses[1].lexicon
        )
        return None if clauses[1].asks else Heard([said[0]], rest=rest.raw)
    return None


def _command(reading: Reading, ear: Ear) -> Command | None:
    said, lexicon = reading.said, reading.lexicon
    if _is_choice(reading, ear):
        return None
    for name, command in _PLAIN:
        if lexicon.says(name, said):
            return command
    if lexicon.says("human_alone", said) and not _may_be_said(reading, ear):
        return Human()
    return _given_up(reading, ear) or _skipped(reading, ear) or _questioned(reading, ear)


def _may_be_said(reading: Reading, ear: Ear) -> bool:
    """Whether "a person" may answer a question in the user's own words, such as who it was."""
    polite = reading.lexicon.words("polite").intersection(reading.words)
    return ear.pending is not None and ear.pending.type in _FREE and not polite


def _is_choice(reading: Reading, ear: Ear) -> bool:
    """Whether the words are a value of the enum that was asked for."""
    field = ear.pending
    if field is None or field.type != "enum":
        return False
    try:
        value_of(field, reading.raw, ear.setting)
    except Unreadable:
        return False
    return True


def _given_up(reading: Reading, ear: Ear) -> Command | None:
    said, lexicon = reading.said, reading.lexicon
    if lexicon.says("give_up", said):
        return Deny() if ear.kind in _OFFERED else Cancel()
    name = lexicon.part("task", said, "task")
    if not name:
        return None
    everything = lexicon.says("any_task", name) or is_task(name, ear.tasks, lexicon)
    return Cancel() if everything else None


def _skipped(reading: Reading, ear: Ear) -> Command | None:
    said, lexicon, field = reading.said, reading.lexicon, ear.pending
    if field is None:
        return None
    if lexicon.says("skip", said):
        return Skip()
    if field.type not in _COUNTED and lexicon.says("lacking", said):
        return Skip() if not field.required or field.type not in _FREE else None
    if field.required or field.type == "boolean":
        return None
    return Skip() if lexicon.says("unknown", said) or lexicon.says("nothing", said) else None


def _questioned(reading: Reading, ear: Ear) -> Command | None:
    if ear.asked is None:
        return None
    what = reading.lexicon.part("explain", reading.said, "what")
    if what is None:
        return None
    if not what:
        return Explain()
    field = mentioned(what.split(), [*ear.fields, *ear.correctable], reading.lexicon)
    return Explain(field.name) if field else None


def _explains(part: Reading, command: Command) -> bool:
    """Whether words only say why something is asked for."""
    said, lexicon = part.said, part.lexicon
    if isinstance(command, Wait):
        return lexicon.says("busy", said)
    if isinstance(command, Skip):
        return lexicon.says("unknown", said) or lexicon.says("nothing", said)
    return isinstance(command, Cancel) and (
        lexicon.says("no", said) or (lexicon.says("reason", said) and not part.asks)
    )


def _is_idle(part: Reading) -> bool:
    lexicon = part.lexicon
    return lexicon.says("filler", part.said) or lexicon.says("joint", part.said)
