"""Handoff: the output by which an agent names the next one."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from journeys.errors import ConfigurationError, shown


@dataclass(frozen=True, slots=True)
class Handoff:
    """A request that another agent takes over; an agent gives it as its output `handoff`.

    Attributes:
        to: Name of that agent.
        reason: Why, for whoever takes over and for the record.
        history: Messages of the talk so far that it is shown, counted from the last one; None
            shows all.

    Raises:
        ConfigurationError: `history` is below 0.
    """

    to: str
    reason: str = ""
    history: int | None = None

    def __post_init__(self) -> None:
        if self.history is not None and (type(self.history) is not int or self.history < 0):
            raise ConfigurationError(
                f"Handoff: history is {shown(self.history)}; it must be a whole number from 0 on."
            )

    def model_dump(self, **_: Any) -> dict[str, Any]:
        """Return it as plain data, as outputs are kept."""
        return asdict(self)
