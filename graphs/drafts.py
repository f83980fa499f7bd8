"""What is stored of a definition, and what a load of several comes to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from graphs.ledger import now
from journeys import StateError
from nodes.plain import stamp

TENANT = "default"
"""Whose definitions are meant where nobody is named."""
LARGEST = 2**20
"""Most bytes of UTF-8 that a definition may have, the files beside it included."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A definition to be stored.

    Attributes:
        kind: "journey", "agent", "concierge" or "guidelines".
        id: Names it; one kind each.
        name: Of the file that it was read from, which faults name.
        text: What the file says.
        beside: Texts of the files that it refers to, by the names that it uses.
    """

    kind: str
    id: str
    name: str
    text: str = field(repr=False)
    beside: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def body(self) -> str:
        """The texts as they are stored: canonical JSON."""
        texts = {"text": self.text, "beside": dict(self.beside)}
        return json.dumps(texts, ensure_ascii=False, sort_keys=True)

    @classmethod
    def of(cls, definition: Definition, body: str) -> Self:
        """Return what a stored definition was made from."""
        texts = json.loads(body)
        return cls(definition.kind, definition.id, definition.name, texts["text"], texts["beside"])


@dataclass(frozen=True, slots=True)
class Definition:
    """One version of a definition, without its text.

    Attributes:
        digest: sha256 of its body.
        active: Whether it is the one that is served.
        dropped: How often cached copies of it were made void by hand.
        loaded_at: When it was stored, in UTC.
    """

    id: str
    version: int
    kind: str
    name: str
    digest: str
    active: bool
    dropped: int
    loaded_at: str


class Epoch(NamedTuple):
    """Two numbers that grow: with every change, and whenever all cached copies are made void."""

    epoch: int
    dropped: int


class Loaded(NamedTuple):
    """What became of a draft: the active version, and whether the load made it."""

    definition: Definition
    is_new: bool


def digest_of(body: str) -> str:
    """Return the sha256 of a body."""
    return hashlib.sha256(body.encode("utf-8")).hexdigest()


def planned(
    drafts: Sequence[Draft], versions: Sequence[Definition]
) -> tuple[list[tuple[Definition, Draft]], list[Definition]]:
    """Return what a load adds, and what is active after it; versions come oldest first.

    Raises:
        StateError: An id belongs to a definition of another kind.
    """
    newest = {one.id: one for one in versions}
    at = stamp(now())
    new: list[tuple[Definition, Draft]] = []
    loaded: list[Definition] = []
    for draft in drafts:
        there, digest = newest.get(draft.id), digest_of(draft.body)
        if there and there.active and there.kind != draft.kind:
            raise StateError(
                f"{draft.name}: '{draft.id}' is {_a(there.kind)} in the store, and here "
                f"{_a(draft.kind)}. Retire that one first, or choose another id."
            )
        if there and there.active and there.digest == digest:
            loaded.append(there)
            continue
        version = there.version + 1 if there else 1
        added = Definition(draft.id, version, draft.kind, draft.name, digest, True, 0, at)
        new.append((added, draft))
        loaded.append(added)
    return new, loaded


def check(drafts: Sequence[Draft]) -> None:
    """Refuse drafts that cannot be stored together.

    Raises:
        StateError: Two have one id, or one is too large.
    """
    names: dict[str, str] = {}
    for draft in drafts:
        if other := names.get(draft.id):
            raise StateError(f"{draft.name} and {other} both have the id '{draft.id}'.")
        names[draft.id] = draft.name
        if (size := len(draft.body.encode("utf-8"))) > LARGEST:
            raise StateError(f"{draft.name} has {size} bytes; a definition has {LARGEST} at most.")


def _a(kind: str) -> str:
    return {"guidelines": "guidelines", "agent": "an agent"}.get(kind, f"a {kind}")
