"""Port of a cache, and its counters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(slots=True)
class Counts:
    """What happened so far.

    Attributes:
        hits: Values that were there, and right.
        misses: Values that were not there, or not of the version that was asked for.
        refused: Of the misses, values that were no envelope of ours, broken, or another's.
        errors: Operations that failed or took too long.
        unasked: Operations that were left out while the breaker was open.
    """

    hits: int = 0
    misses: int = 0
    refused: int = 0
    errors: int = 0
    unasked: int = 0


class Cache(Protocol):
    """Bytes under keys. Nothing but `clear` raises: what fails is as if it were not there.

    Attributes:
        counts: Its errors, and what was left out; hits and misses are counted where values are
            judged.
    """

    counts: Counts

    async def get(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the values of keys, in their order; None for each that is not there."""
        ...

    async def put(self, values: Mapping[str, bytes], seconds: float | None = None) -> None:
        """Keep values, for so many seconds or until they are dropped."""
        ...

    async def drop(self, keys: Sequence[str]) -> None:
        """Forget values."""
        ...

    async def clear(self, prefix: str) -> int:
        """Forget every value whose key begins like this; return how many there were.

        Raises:
            CacheUnavailableError: It could not be asked.
        """
        ...

    async def distrust(self) -> None:
        """Take note of an answer that was not to the question: begin anew with who gave it."""
        ...

    async def close(self) -> None:
        """Let go of it."""
        ...


class CacheUnavailableError(Exception):
    """A cache could not be asked for what has to be known."""
