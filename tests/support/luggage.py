"""A journey that collects and does nothing else, for what is kept of its fields."""

from __future__ import annotations

from typing import Any

from journeygraph import Field, Journey, JourneyConfig, Pathway, Range
from journeygraph.nodes.language.lexicon import lexicon_of

lexicon_of("en")  # made by the first message otherwise, in some test's time


class Luggage(Journey):
    """Report lost luggage."""

    class ReportPath(Pathway):
        __fields__ = [
            Field("flight", "text", ask="Which flight?", extract=[r"\b([A-Z]{2}\d{3})\b"]),
            Field("bags", "integer", ask="How many bags?", validators=[Range(1, 5)]),
            Field("insured", "boolean", ask="Are they insured?"),
            Field("policy", "text", ask="Which policy?", when=lambda seen: seen.get("insured")),
            Field("phone", "phone", ask="Your number?", sensitive=True, label="telephone number"),
            Field("colour", "text", ask="What colour?", required=False),
        ]


def luggage(url: str, session_id: str = "s-1", kind: type[Journey] = Luggage, **c: Any) -> Journey:
    """Take a handle on a session of Luggage."""
    return kind(session_id, JourneyConfig(persistence=url, **c), model=False)


SECRET = "+49 30 901820"
SAID = ("hello", "XQ123", "forty", "40", "2", "no", "+49 30 1", "change bags to 3", SECRET)
"""A report with a number refused twice, one changed later, and a secret."""
