"""Values of fields: read as plain data, checked, and shown."""

from journeygraph.nodes.values.checking import example_of, hint_of, refusal_of, shown
from journeygraph.nodes.values.finding import Scan, Span, found_in
from journeygraph.nodes.values.languages import Language, language_data
from journeygraph.nodes.values.numbers import place_of
from journeygraph.nodes.values.reading import load, make_ready, value_of
from journeygraph.nodes.values.setting import Setting, Unreadable
from journeygraph.nodes.values.times import is_half_in_doubt

__all__ = [
    "Language",
    "Scan",
    "Setting",
    "Span",
    "Unreadable",
    "example_of",
    "found_in",
    "hint_of",
    "is_half_in_doubt",
    "language_data",
    "load",
    "make_ready",
    "place_of",
    "refusal_of",
    "shown",
    "value_of",
]
