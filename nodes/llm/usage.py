"""What the models of one turn were asked, and what it cost in tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(slots=True)
class Usage:
    """Counts the calls of one turn; every try counts, also one that failed.

    Attributes:
        model_calls: Requests sent to a model.
        input_tokens: Tokens read, as the models' answers say.
        output_tokens: Tokens written.
    """

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def add_tokens(self, said: Mapping[str, Any] | None) -> None:
        """Add what an answer says of its tokens (LangChain's `usage_metadata`)."""
        if said:
            self.input_tokens += said.get("input_tokens") or 0
            self.output_tokens += said.get("output_tokens") or 0

    def counted(self) -> dict[str, int]:
        """Return the counts as plain data."""
        return asdict(self)
