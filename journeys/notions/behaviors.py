"""Behaviors at the end of a detour, and completion criteria beyond plain names."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

POLICIES = ("return", "ask", "choose", "end")


@dataclass(frozen=True, slots=True)
class ReturnToPrevious:
    """The detour goes back to the pathway that it interrupted.

    Attributes:
        preserve_context: False undoes at the return what the detour changed in the context.
        max_depth: Most paused pathways below this detour; None leaves it to the config's limit.
        policy: What is done with what it interrupted: "return" goes on with it, "ask" asks the user
            first, "choose" lets the user choose among several, "end" gives all of it up.

    Raises:
        ValueError: The policy is unknown.

    Source: ADR-025 section 5.3; readings in docs/journeys.md.
    """

    preserve_context: bool = True
    max_depth: int | None = None
    policy: str = "return"

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise ValueError(
                f"ReturnToPrevious: policy is {self.policy!r}; one of: {', '.join(POLICIES)}."
            )


@dataclass(frozen=True, slots=True)
class ReturnToSpecific:
    """The detour goes on to one named pathway, resuming it if it is paused.

    Attributes:
        target_pathway: Id of the pathway to go to.
        preserve_context: False undoes at the return what the detour changed in the context.
        max_depth: Most paused pathways below this detour; None leaves it to the config's limit.

    Source: REQ-PM-001; readings in docs/journeys.md.
    """

    target_pathway: str
    preserve_context: bool = True
    max_depth: int | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A context name that completes a pathway also by what the pathway wrote earlier."""

    name: str


def known(name: str) -> Known:
    """Return an entry of `__complete_when__` that counts a value from whenever it is.

    A pathway that was completed, and is entered again, waits for other names to be written anew, if
    it wrote them itself; not for this one.

    Example:
        >>> __complete_when__ = [known("customer_id"), "order"]
    """
    return Known(name)


class Never(Enum):
    """The type of `NEVER`."""

    NEVER = "never"


NEVER: Final = Never.NEVER
"""`__complete_when__ = NEVER`: the pathway is left by transitions only."""
