"""Plain JSON data: what may enter the state, and how large it is.

State is read back by any process in any language, so it holds text, numbers that fit 64 bits,
true, false, null, lists and dicts with text keys; nothing else.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, TypeVar

import orjson

MAX_DEPTH = 64
"""Deepest nesting of a value."""
LARGE = 64_000
"""Bytes from which on plain data is large: it is read while no garbage is collected."""
REST = 0.1
"""Seconds in which no garbage is collected after something large was loaded."""
_WHOLE = 2**63
MOST_WORDS = 500
"""Characters that are kept of what an error says."""

_clock: ContextVar[Callable[[], datetime] | None] = ContextVar("clock", default=None)
_Given = TypeVar("_Given")
_Loaded = TypeVar("_Loaded")


def canonical(value: Any) -> bytes:
    """Return the canonical JSON of plain data: UTF-8, keys sorted, no white space."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


def digest_of(arguments: Mapping[str, Any]) -> str:
    """Return the sha256 of the arguments of a call."""
    return hashlib.sha256(canonical(plain(arguments, "arguments"))).hexdigest()


def size(value: Any) -> int:
    """Return the size of plain data in bytes of UTF-8 JSON; the order of keys does not matter."""
    return len(orjson.dumps(value))


def copied(value: Any) -> Any:
    """Return a deep copy of plain data."""
    return copied_and_sized(value)[0] if isinstance(value, (dict, list)) else value


def copied_and_sized(value: Any) -> tuple[Any, int]:
    """Return a deep copy of plain data, and its size.

    The copy is made by way of JSON: a walk in Python takes twice as long.
    """
    written, load = orjson.dumps(value), orjson.loads
    is_large = len(written) >= LARGE
    return (uncollected(load, written) if is_large else load(written)), len(written)


def uncollected(load: Callable[[_Given], _Loaded], given: _Given) -> _Loaded:
    """Return what a function in C makes of something large, while no garbage is collected.

    Nothing of it is garbage, and it has so many objects that full collections would begin, each of
    which walks all objects of the process. Nor is anything collected in the next `REST` seconds: a
    turn that does not wait has ended by then, and what it loaded is released without a visit.
    """
    if not gc.isenabled():
        return load(given)
    gc.disable()
    rest = _Rest()
    made = load(given)
    with suppress(RuntimeError):  # no loop runs here
        asyncio.get_running_loop().call_later(REST, rest.end)
    return made


class _Rest:
    """A time without collections: it ends at the latest when nothing refers to it.

    So it also ends if the load fails, if no loop runs, or if the loop is closed before.
    """

    def end(self) -> None:
        """Let garbage be collected again."""

    def __del__(self) -> None:
        gc.enable()


def now() -> datetime:
    """Return the time of turns and records, in UTC; see `clocked`."""
    clock = _clock.get()
    return clock() if clock else datetime.now(UTC)


@contextmanager
def clocked(clock: Callable[[], datetime]) -> Iterator[None]:
    """Let turns and records take their time from a clock, in this task and those that it starts."""
    token = _clock.set(clock)
    try:
        yield
    finally:
        _clock.reset(token)


def stamp(time: datetime) -> str:
    """Return a time as it is stored: ISO 8601, always with microseconds, so that text sorts."""
    return time.isoformat(timespec="microseconds")


def plain(value: Any, path: str, depth: int = 0) -> Any:
    """Return a copy of a value as plain JSON data; tuples become lists, pydantic models dicts.

    Half characters and NUL, which stores refuse, become U+FFFD.

    Raises:
        ValueError: Something in it is not JSON; the text names the path to it.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return cleaned(value)
    if isinstance(value, (int, float)):
        return _number(value, path)
    if depth >= MAX_DEPTH:
        raise ValueError(f"{path} is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        return {
            _key(key, path): plain(item, f"{path}.{key}", depth + 1) for key, item in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [plain(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value)]
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return plain(value.model_dump(mode="json"), path, depth)
    raise ValueError(f"{path} is of type {type(value).__name__}, which is not JSON")


def cleaned(value: str) -> str:
    """Return text without half characters and NUL, which become U+FFFD."""
    text = str.__str__(value)  # of an enum, its value and not its name
    if "\x00" not in text and text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\x00", "�")


def _number(value: float, path: str) -> float:
    if isinstance(value, int):
        if -_WHOLE <= value < _WHOLE:
            return int(value)
        raise ValueError(f"{path} is an integer of more than 64 bits")
    if math.isfinite(value):
        return float(value)
    raise ValueError(f"{path} is {value}, which is not JSON")


def _key(key: Any, path: str) -> str:
    if isinstance(key, str):
        return cleaned(key)
    raise ValueError(f"{path} has the key {key!r}, which is not text")


def words_of(error: BaseException) -> str:
    """Return the type of an error and what it says, if it says anything: text that can be kept."""
    try:
        said = cleaned(str(error))[:MOST_WORDS]
    except Exception:  # what an agent raises may be broken itself
        said = ""
    return f"{type(error).__name__}: {said}" if said else type(error).__name__
