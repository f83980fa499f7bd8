"""Read a message without a model: exactly, by a closed grammar, or as proposals."""

from journeygraph.nodes.language.expected import Expected
from journeygraph.nodes.language.lexicon import has_common_word, load, load_languages, ready_to_read
from journeygraph.nodes.language.proposals import (
    clauses_in,
    exact_command,
    is_courtesy,
    questions_in,
    read_message,
    refused_in,
    rest_of,
    without_article,
    words_without,
)

__all__ = [
    "Expected",
    "clauses_in",
    "exact_command",
    "has_common_word",
    "is_courtesy",
    "load",
    "load_languages",
    "questions_in",
    "read_message",
    "ready_to_read",
    "refused_in",
    "rest_of",
    "without_article",
    "words_without",
]
