"""Values of fields: what was said, read into plain data; what they must be; how they are shown."""

from nodes.values.finding import Span, found_in
from nodes.values.hints import hint_of
from nodes.values.loading import load
from nodes.values.reading import value_of
from nodes.values.refusing import refusal_of
from nodes.values.setting import Setting, Unreadable
from nodes.values.showing import shown

__all__ = [
    "Setting",
    "Span",
    "Unreadable",
    "found_in",
    "hint_of",
    "load",
    "refusal_of",
    "shown",
    "value_of",
]
