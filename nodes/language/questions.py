"""Questions in a message that is no answer, and whether the rest may be an attempt at one."""

from __future__ import annotations

from journeys import Field
from nodes.language.languages import lexicon_of
from nodes.language.mentions import concerns
from nodes.language.reading import Reading, read

_SHORT = 6
"""Most words of a message that is taken for an attempt, whatever they are."""


def questions_in(message: str, language: str) -> list[str]:
    """Return the questions that a message asks, as they were written.

    Clauses that ask one behind the other are one question.
    """
    whole = read(message, lexicon_of(language))
    found: list[list[Reading]] = []
    last = -1
    for place, clause in enumerate(whole.clauses()):
        part = _unjoined(clause)
        if not _asks(part):
            continue
        if place == last + 1 and found:
            found[-1].append(clause)
        else:
            found.append([part])
        last = place
    return [message[parts[0].tokens[0].start : _end(parts[-1])].strip() for parts in found]


def may_be_about(message: str, field: Field, language: str) -> bool:
    """Say whether a message that asks nothing may be meant as a value of a field.

    It is if it is short, holds a digit or an at sign, or has a word that belongs to the field.
    """
    if any(sign.isdigit() or sign == "@" for sign in message):
        return True
    lexicon = lexicon_of(language)
    words = read(message, lexicon).words
    return len(words) <= _SHORT or concerns(words, field, lexicon)


def _asks(part: Reading) -> bool:
    """Whether words ask something; a mere "ok?" behind a statement does not."""
    if not part.tokens or part.lexicon.says("yes", part.said) or part.lexicon.says("no", part.said):
        return False
    return part.asks


def _unjoined(part: Reading) -> Reading:
    """Return words without the joints before them, nor a yes or no that leads to those."""
    lexicon, joints = part.lexicon, part.lexicon.words("joints")
    answer = max(lexicon.begins("yes", part.said), lexicon.begins("no", part.said))
    tail = part.after(answer) if answer else part
    if tail.tokens and tail.tokens[0].word in joints:
        part = tail
    while part.tokens and part.tokens[0].word in joints:
        part = part.part(1)
    return part


def _end(part: Reading) -> int:
    """Return where a question ends, with its sign."""
    end = part.tokens[-1].end
    following = part.text[end:]
    return end + len(following) - len(following.lstrip(" ?!"))
