"""The clauses of a message, and those that say that a task is not wanted."""

from __future__ import annotations

from collections.abc import Iterable

from nodes.language.languages import lexicon_of
from nodes.language.reading import Reading, read


def refused_in(message: str, patterns: Iterable[tuple[str, str]], language: str) -> set[str]:
    """Return the questions that no clause of a message answers but one that denies or cancels.

    Args:
        message: What the user said.
        patterns: Pairs of a pattern that matched, and the id of the question that it answers.
        language: The language in which it is read.
    """
    reading = read(message, lexicon_of(language))
    clauses = _parts(reading)
    refused: set[str] = set()
    meant: set[str] = set()
    for pattern, question in patterns:
        words = read(pattern, reading.lexicon).said
        for clause in clauses:
            padded = f" {clause.said} "
            at = padded.find(f" {words} ")
            if at >= 0:
                denies = _denies(padded[:at].strip(), padded[at + len(words) + 1 :].strip(), clause)
                (refused if denies else meant).add(question)
    return refused - meant


def clauses_in(message: str, language: str) -> list[str]:
    """Return the clauses of a message, as they were written."""
    return [part.raw for part in _parts(read(message, lexicon_of(language)))]


def asks(words: str, language: str) -> bool:
    """Say whether words begin as a question does."""
    return read(words, lexicon_of(language)).asks


def _parts(reading: Reading) -> list[Reading]:
    return [part for clause in reading.clauses() for part in _joined(clause)]


def _joined(clause: Reading) -> Iterable[Reading]:
    """Yield the parts of a clause between its joints."""
    joints = clause.lexicon.words("joints")
    first = 0
    for place, word in enumerate(clause.words):
        if word in joints and place > first:
            yield clause.part(first, place)
            first = place
    yield clause.part(first)


def _denies(before: str, behind: str, clause: Reading) -> bool:
    """Whether the words around a pattern say that it is not wanted."""
    forms = clause.lexicon.forms
    return any(form.fullmatch(before) for form in forms("form_refused_before")) or any(
        form.fullmatch(behind) for form in forms("form_refused_behind")
    )
