"""Stream the parts of a reply that is checked after it is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from journeys import Validation

if TYPE_CHECKING:
    from nodes.replies.stream import Filter


class Outlet:
    """The way out for the words of one turn: personal data is masked on it."""

    def __init__(self) -> None:
        self._filter: Filter | None = None

    def let(self, text: str, checks: Validation) -> str:
        """Add a piece of the reply; return the text that may be sent."""
        if self._filter is None:
            # Loaded when the graph was built; journeys that check nothing never need it.
            from nodes.replies.stream import Filter  # noqa: PLC0415

            self._filter = Filter(checks.pii, checks.allow)
        return self._filter.feed(text)

    def rest(self) -> str:
        """Return what was kept back; nothing more comes."""
        return self._filter.flush() if self._filter else ""
