"""Agents that say one text, which an author gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from journeys.texts.catalogue import BRACED


@dataclass(frozen=True, slots=True)
class Saying:
    """An agent that says one text; `{name}` stands for a value of the context.

    Where the journey runs, values are said as users read them.

    Attributes:
        text: The text.
    """

    text: str

    @property
    def reads(self) -> frozenset[str]:
        """The names of the context that it says."""
        return frozenset(BRACED.findall(self.text))

    def __call__(self, ask: Mapping[str, Any]) -> str:
        """Return the text with values as they are kept."""
        context = ask["context"]
        return BRACED.sub(lambda found: str(context.get(found[1]) or ""), self.text)
