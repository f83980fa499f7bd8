"""One pathway that ran, while it is settled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from journeys import PathwaySpec
from nodes.context import Op, apply_ops
from nodes.forms.sheet import by_field
from nodes.moves import note
from nodes.services import Services
from nodes.state import Output, Position, SessionState, Turn, Update
from nodes.talk import Attempted, add_attempts


@dataclass(slots=True)
class Hop:
    """One pathway that ran, while it is settled.

    Attributes:
        services: What the turn works with.
        state: The state as the pathway left it.
        pathway: The pathway.
        results: What its agents gave.
        progress: What its other steps noted.
        turn: The record of the turn, to which the hop is added.
        position: Where the session stands.
        context: The context, with the changes of the hop.
        ops: Changes of the context.
        attempts: Attempts at fields.
        known: Names whose values the pathway found in the context, and did not give itself.
        is_idle: Whether it stopped before its agents: something is open, or was not done.
        is_aside: Whether it only answered in place of a text.
        is_complete: Whether the pathway is complete.
        heard: How many replies of the turn listeners heard while they were made.
    """

    services: Services
    state: SessionState
    pathway: PathwaySpec
    results: list[Output]
    progress: Mapping[str, Any]
    turn: Turn
    position: Position
    context: Mapping[str, Any]
    ops: list[Op] = field(default_factory=list)
    attempts: list[Attempted] = field(default_factory=list)
    known: frozenset[str] = frozenset()
    is_idle: bool = False
    is_aside: bool = False
    is_complete: bool = False
    heard: int = 0

    def note(self, kind: str, **details: Any) -> None:
        """Audit what happened."""
        self.turn["audit"].append(note(kind, self.position, **details))

    def say(self, *replies: str) -> None:
        """Add texts of the runtime itself to the replies."""
        first = len(self.turn["replies"])
        self.turn["replies"] = [*self.turn["replies"], *replies]
        if replies:
            places = range(first, first + len(replies))
            self.turn["worded"] = [*self.turn.get("worded", ()), *places]

    def change(self, *ops: Op) -> None:
        """Change the context further, after what the pathway gave."""
        self.ops += ops
        self.turn["ops"] = [*self.turn["ops"], *ops]
        self.context = apply_ops(self.context, ops)

    def attempt(self, attempts: Sequence[Attempted]) -> None:
        """Add attempts at fields."""
        if attempts:
            self.attempts += attempts
            self.turn["attempts"] = [*self.turn.get("attempts", ()), *attempts]

    @property
    def fields(self) -> dict[str, Any]:
        """All attempts that the state keeps, with those of this hop."""
        kept: dict[str, Any] = self.state.get("fields", {})
        return add_attempts(kept, by_field(self.attempts)) if self.attempts else kept

    def update(self) -> Update:
        """Return what the hop changes in the state."""
        update: Update = {"position": self.position, "context": self.ops, "turn": self.turn}
        return {**update, "fields": by_field(self.attempts)} if self.attempts else update

    def after(self) -> SessionState:
        """Return the state as the hop leaves it."""
        known: Any = {"context": self.context, "fields": self.fields, "position": self.position}
        return {**self.state, **known}
