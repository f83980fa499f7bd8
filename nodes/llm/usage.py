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
        discarded: Tokens of answers that were asked for ahead, and not used; None: none was.
    """

    model_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    discarded: int | None = None

    def add_tokens(self, said: Mapping[str, Any] | None) -> None:
        """Add what an answer says of its tokens (LangChain's `usage_metadata`)."""
        if said:
            self.input_tokens += said.get("input_tokens") or 0
            self.output_tokens += said.get("output_tokens") or 0

    def add(self, other: Usage) -> None:
        """Add what was counted elsewhere."""
        self.model_calls += other.model_calls
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens

    def discard(self, other: Usage) -> None:
        """Note what was counted elsewhere, and was for nothing."""
        self.discarded = (self.discarded or 0) + other.input_tokens + other.output_tokens

    def counted(self) -> dict[str, int]:
        """Return the counts as plain data."""
        return {name: count for name, count in asdict(self).items() if count is not None}
