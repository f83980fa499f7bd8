"""Read a message without a model: exactly, by a closed grammar, or as proposals."""

from journeygraph.nodes.language.expected import Expected, Parse
from journeygraph.nodes.language.lexicon import has_common_word, load, ready_to_read
from journeygraph.nodes.language.proposals import (
    clauses_in,
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
    "Parse",
    "clauses_in",
    "has_common_word",
    "is_courtesy",
    "load",
    "questions_in",
    "read_message",
    "ready_to_read",
    "refused_in",
    "rest_of",
    "without_article",
    "words_without",
]
