"""Port of a cache, and its counters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(slots=True)
class Counts:
    """Counters of a cache.

    Attributes:
        hits: Valid values.
        misses: Values that were missing or had another version.
        refused: Misses because of a value that was not our envelope, was damaged, or had another
            owner.
        errors: Operations that failed or took too long.
        unasked: Operations that were skipped because the breaker was open.
    """

    hits: int = 0
    misses: int = 0
    refused: int = 0
    errors: int = 0
    unasked: int = 0


class Cache(Protocol):
    """Bytes by key. Only `clear` raises: a failed read counts as a miss.

    Attributes:
        counts: Errors and skipped operations; hits and misses are counted by the callers that check
            values.
    """

    counts: Counts

    async def get(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the values of keys, in their order; None for each missing one."""
        ...

    async def put(self, values: Mapping[str, bytes], seconds: float | None = None) -> None:
        """Store values, for so many seconds or until they are dropped."""
        ...

    async def drop(self, keys: Sequence[str]) -> None:
        """Delete values."""
        ...

    async def clear(self, prefix: str) -> int:
        """Delete every value whose key has this prefix; return their number.

        Raises:
            CacheUnavailableError: The cache did not answer.
        """
        ...

    async def distrust(self) -> None:
        """Report a response that did not match the request: reset the connections."""
        ...

    async def close(self) -> None:
        """Close the cache."""
        ...


class CacheUnavailableError(Exception):
    """A cache did not answer a call that needs an answer."""
