"""Judge the form of plain data, and say of everything that is wrong in it where it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from journeys.errors import did_you_mean, shown

_MOST_FAULTS = 100
_MOST_SHOWN = 60
_BEYOND = 2**63


class Repeated(dict[str, Any]):
    """An object of a JSON text in which names stand twice: `names`."""

    names: tuple[str, ...] = ()

    @classmethod
    def unless_unambiguous(cls, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Return the pairs as a plain dict, or as one of this kind."""
        if len(plain := dict(pairs)) == len(pairs):
            return plain
        ambiguous = cls(plain)
        times = Counter(name for name, _ in pairs)
        ambiguous.names = tuple(name for name, count in times.items() if count > 1)
        return ambiguous


class Form:
    """Takes down faults, each with its path.

    Attributes:
        faults: A sentence for each.

    Args:
        places: Where a field belongs that stands elsewhere, by its name.
    """

    def __init__(self, places: Mapping[str, str]) -> None:
        self.faults: list[str] = []
        self._places = places

    @property
    def told(self) -> str:
        """All faults as one text, and of very many the first ones."""
        more = len(self.faults) - _MOST_FAULTS
        rest = [f"... and {more} more."] if more > 0 else []
        return "\n".join([*self.faults[:_MOST_FAULTS], *rest])

    def fault(self, path: str, told: str) -> None:
        """Take down a fault, or one for each line."""
        self.faults += [f"{path}: {line}" for line in told.splitlines()]

    def is_object(
        self, path: str, data: Any, required: Iterable[str], optional: Iterable[str]
    ) -> bool:
        """Say whether data has fields; take down those that lack, are unknown, or stand twice."""
        if not isinstance(data, Mapping):
            self.fault(path, f"it is {told_of(data)}; it must be an object.")
            return False
        known = [*required, *optional]
        for name in data:
            if name not in known:
                self.fault(_inside(path, name), self._unknown(name, known))
        for name in required:
            if name not in data:
                self.fault(path, f"it has no `{name}`.")
        for name in data.names if isinstance(data, Repeated) else ():
            self.fault(_inside(path, name), "it is there more than once.")
        return True

    def list_of(self, path: str, value: Any) -> Iterable[Any]:
        """Return a list, or nothing where it is none."""
        if isinstance(value, (list, tuple)):
            return value
        self.fault(path, f"it is {told_of(value)}; it must be a list.")
        return ()

    def texts(self, path: str, value: Any) -> tuple[str, ...]:
        """Return a list of texts."""
        texts = enumerate(self.list_of(path, value))
        return tuple(self.text(f"{path}[{place}]", each) for place, each in texts)

    def text(self, path: str, value: Any) -> str:
        """Return a text that UTF-8 can write, or something harmless where it is none."""
        if not isinstance(value, str):
            self.fault(path, f"it is {told_of(value)}; it must be text.")
            return "?"
        try:
            value.encode()
        except UnicodeEncodeError:
            self.fault(path, f"it is {told_of(value)}, which holds half of a character.")
        return value

    def is_plain(self, path: str, value: Any) -> bool:
        """Say whether a value is a word, an ordinary number, true, false or null."""
        plain = value is None
        if isinstance(value, str):
            plain = len(value) <= _MOST_SHOWN and value.isprintable()
        elif isinstance(value, (int, float)):
            plain = abs(value) < _BEYOND  # which NaN is not, either
        if not plain:
            self.fault(path, f"it is {told_of(value)}; it must be a word or an ordinary number.")
        return plain

    def _unknown(self, name: Any, known: list[str]) -> str:
        listed = ", ".join(known) or "none"
        place = self._places.get(name, "")
        told = f" It belongs {place}." if place else hint(str(name), known)
        return f"there is no such field here.{told} The fields: {listed}."


def _inside(path: str, name: Any) -> str:
    plain = isinstance(name, str) and name.isidentifier() and len(name) <= _MOST_SHOWN
    return f"{path}.{name}" if plain else f"{path}[{told_of(name)}]"


def hint(word: str, known: Iterable[Any]) -> str:
    """Return a did-you-mean, also for a word of any length."""
    return did_you_mean(word[:_MOST_SHOWN], [str(each) for each in known])


def told_of(value: Any) -> str:
    """Return a value as errors show it: whatever was sent, in few characters."""
    if isinstance(value, str):
        return shown(value if len(value) <= _MOST_SHOWN else f"{value[:_MOST_SHOWN]}...")
    if value is None or isinstance(value, (bool, float)):
        return str(value)
    if isinstance(value, int):
        return str(value) if abs(value) < _BEYOND else "a number beyond 64 bits"
    return {"dict": "an object", "list": "a list"}.get(type(value).__name__, type(value).__name__)
