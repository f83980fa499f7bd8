"""Values of fields: read as plain data, checked, and shown."""

from nodes.values.checking import hint_of, refusal_of, shown
from nodes.values.reading import (
    Span,
    end_of_list_lead,
    found_in,
    in_lines,
    load,
    make_ready,
    negation_of,
    value_of,
)
from nodes.values.scanning import Setting, Unreadable, usual

__all__ = [
    "Setting",
    "Span",
    "Unreadable",
    "end_of_list_lead",
    "found_in",
    "hint_of",
    "in_lines",
    "load",
    "make_ready",
    "negation_of",
    "refusal_of",
    "shown",
    "usual",
    "value_of",
]
