"""The clauses of a message: those that say that a task is not wanted, and the questions."""

from __future__ import annotations

from collections.abc import Iterable

from journeygraph.journeys import Field
from journeygraph.nodes.language.answers import unjoined
from journeygraph.nodes.language.lexicon import lexicon_of
from journeygraph.nodes.language.mentions import concerns
from journeygraph.nodes.language.reading import Reading, parts_of, read


def refused_in(message: str, patterns: Iterable[tuple[str, str]], language: str) -> set[str]:
    """Return the questions that no clause of a message answers but one that denies or cancels.

    Of each pattern that matched, the id of the question that it answers is given too.
    """
    lexicon = lexicon_of(language)
    clauses, matches = parts_of(read(message, lexicon)), lexicon.matches
    refused: set[str] = set()
    meant: set[str] = set()
    for pattern, question in patterns:
        words = read(pattern, lexicon).said
        for clause in clauses:
            before, found, behind = f" {clause.said} ".partition(f" {words} ")
            if found:
                denies = matches("form_refused_before", before.strip())
                denies = denies or matches("form_refused_behind", behind.strip())
                (refused if denies else meant).add(question)
    return refused - meant


def clauses_in(message: str, language: str) -> list[str]:
    """Return the clauses of a message, as they were written."""
    return [part.raw for part in parts_of(read(message, lexicon_of(language)))]


def asks(words: str, language: str) -> bool:
    """Return whether words begin as a question does."""
    return read(words, lexicon_of(language)).asks


_SHORT = 6
"""Most words of a message that counts as an attempt, with any words."""


def questions_in(message: str, language: str) -> list[str]:
    """Return the questions that a message asks, as they were written.

    Clauses that ask one behind the other are one question.
    """
    whole = read(message, lexicon_of(language))
    found: list[list[Reading]] = []
    last = -1
    for place, clause in enumerate(whole.clauses):
        tail = clause.part(clause.begins("yes", "no"))  # which leads to what is behind a joint
        part = unjoined(tail if tail.opens("joints") else clause)
        if not part.asks or part.says("yes", "no"):
            continue  # a mere "ok?" behind a statement asks nothing
        if place == last + 1 and found:
            found[-1].append(clause)
        else:
            found.append([part])
        last = place
    return [message[parts[0].tokens[0].start : _end(parts[-1])].strip() for parts in found]


def may_be_about(message: str, field: Field, language: str) -> bool:
    """Return whether a message that asks nothing may be meant as a value of a field.

    It is if it is short, holds a digit or an at sign, or has a word that belongs to the field.
    """
    if any(sign.isdigit() or sign == "@" for sign in message):
        return True
    lexicon = lexicon_of(language)
    words = read(message, lexicon).words
    return len(words) <= _SHORT or concerns(words, field, lexicon)


def _end(part: Reading) -> int:
    """Return where a question ends, with its sign."""
    end = part.tokens[-1].end
    following = part.text[end:]
    return end + len(following) - len(following.lstrip(" ?!"))
