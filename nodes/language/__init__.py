"""Read a message without a model."""

from journeygraph.nodes.language.clauses import asks, clauses_in, refused_in
from journeygraph.nodes.language.lexicon import load, ready_to_read
from journeygraph.nodes.language.parsing import read_message
from journeygraph.nodes.language.reading import Expected, Parse

__all__ = [
    "Expected",
    "Parse",
    "asks",
    "clauses_in",
    "load",
    "read_message",
    "ready_to_read",
    "refused_in",
]
