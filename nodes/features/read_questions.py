"""Read the questions of a message that may be looked up, without a model."""

from __future__ import annotations

from collections.abc import Sequence

from journeygraph.nodes.commands import Ask, Command, Correct, Fill, Noise, OffTopic
from journeygraph.nodes.draft import Reading, TurnDraft
from journeygraph.nodes.features.form_reading import parse_of
from journeygraph.nodes.language import Parse
from journeygraph.nodes.language.clauses import questions_in
from journeygraph.nodes.language.reading import WORDY
from journeygraph.nodes.repair.knowledge import ANSWERS, VALUES
from journeygraph.nodes.steer import allowed_transitions, asks_model

_BESIDE_QUESTIONS = (*ANSWERS, *VALUES, Noise, OffTopic)
"""Commands next to which a question counts; any other is what the question itself says."""


async def weigh_questions(draft: TurnDraft, reading: Reading) -> None:
    """Read the questions of a message that may be looked up, without a model.

    A question is no value of the field that was asked for; one that gives a value, an answer or a
    word to the conversation itself is not looked up. Without it, the rest of the message is read.
    """
    if not draft.spec.answers_in(draft.here.id) or not reading.is_read:
        return
    questions = questions_in(draft.message, draft.setting.language)
    if not questions:
        return
    parse, is_all = reading.parse, _covers(questions, draft.message)
    if is_all:
        parse = _without_texts(draft, parse)
        question = _left(draft, parse.commands, questions, is_all=is_all)
    elif parse.commands:
        question = _left(draft, parse.commands, questions, is_all=is_all)
    else:
        parse = parse_of(draft, _without(draft.message, questions))
        question = " ".join(questions) if parse.commands else draft.message.strip()
    if question:
        left = tuple(part for part in parse.unread if not _overlap(part, question))
        certain = bool(parse.commands) and not left
        commands = [*parse.commands, Ask(question)]
        reading.parse = Parse(commands, certain=certain, unread=left)
        # Whether a pathway of the author's own answers it, a model may have to say.
        is_judged = any(map(asks_model, allowed_transitions(draft.spec, reading.position)))
        reading.is_certain = certain and not is_judged


def _without_texts(draft: TurnDraft, parse: Parse) -> Parse:
    """Return what was read without texts, names and lists that are questions."""
    kept = [c for c in parse.commands if not _is_free_text(draft, c)]
    return parse if len(kept) == len(parse.commands) else Parse(kept)


def _left(
    draft: TurnDraft, commands: Sequence[Command], questions: Sequence[str], *, is_all: bool
) -> str:
    """Return the question that nothing which was read answers; empty if none is left."""
    if any(not isinstance(command, _BESIDE_QUESTIONS) for command in commands):
        return ""
    if is_all and any(isinstance(c, ANSWERS) for c in commands):
        return ""
    values = [c for c in commands if isinstance(c, VALUES)]
    left = [q for q in questions if not any(_gives(draft, q, value) for value in values)]
    return " ".join(left) if commands or not left else draft.message.strip()


def _gives(draft: TurnDraft, question: str, command: Fill | Correct) -> bool:
    """Return whether a question gives a value, or is part of one in the user's own words."""
    asked, value = question.casefold(), command.value.casefold()
    return value in asked or (asked in value and _is_free_text(draft, command))


def _without(message: str, questions: Sequence[str]) -> str:
    for question in questions:
        message = message.replace(question, " ", 1)
    return message.strip(" ,.;:-\n")


def _covers(questions: Sequence[str], message: str) -> bool:
    return sum(map(len, questions)) >= len(message.strip(" .!?")) - 1


def _is_free_text(draft: TurnDraft, command: Command) -> bool:
    return isinstance(command, (Fill, Correct)) and draft.field(command.field).type in WORDY


def _overlap(one: str, other: str) -> bool:
    return one in other or other in one
