"""Values of fields: read as plain data, checked, and shown."""

from journeygraph.nodes.values.checking import example_of, hint_of, refusal_of, shown
from journeygraph.nodes.values.dates import is_half_in_doubt
from journeygraph.nodes.values.reading import (
    Span,
    end_of_list_lead,
    found_in,
    in_lines,
    is_in_doubt,
    load,
    make_ready,
    negation_of,
    shaped,
    value_of,
)
from journeygraph.nodes.values.scanning import Setting, Unreadable, usual

__all__ = [
    "Setting",
    "Span",
    "Unreadable",
    "end_of_list_lead",
    "example_of",
    "found_in",
    "hint_of",
    "in_lines",
    "is_half_in_doubt",
    "is_in_doubt",
    "load",
    "make_ready",
    "negation_of",
    "refusal_of",
    "shaped",
    "shown",
    "usual",
    "value_of",
]
