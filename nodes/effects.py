"""Effects are taken once: the port to where that is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol


@dataclass(frozen=True, slots=True)
class Taken:
    """What is known of a step that was begun before: how it ended, and its result.

    `state` is done, failed, or begun: then nobody knows whether it was taken.
    """

    key: str
    state: Literal["begun", "done", "failed"]
    result: Any = None


class Effects(Protocol):
    """Keeps, outside of the turn, which steps of a session were taken."""

    async def begin(self, key: str, step: str, digest: str, known: list[str]) -> Taken | None:
        """Note that a step is about to be taken; return what was taken before instead, if it was.

        Args:
            key: The idempotency key, `tenant/session/turn/step`.
            step: Name of the step, `pathway.tool`.
            digest: Of the arguments; only what was taken with the same ones counts.
            known: Keys that the session's state knows of: they are over, and count no more.
        """

    async def done(self, key: str, result: Any) -> None:
        """Note that a step was taken, and what it gave."""

    async def failed(self, key: str, reason: str) -> None:
        """Note that a step was not taken."""
