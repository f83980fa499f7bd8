"""An order that can be left and continued in many ways, and its result in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from journeygraph import (
    Effect,
    Escalation,
    Field,
    IntentTrigger,
    Journey,
    Pathway,
    Range,
    ReturnToPrevious,
    Transition,
)
from tests.traces.conversation import Domain
from tests.traces.journeys import Context, tells
from tests.traces.world import World

DEPTH = 2


def not_above(value: Any, context: Context) -> bool:
    """The least number that may be delivered is not above the number ordered."""
    return context.get("count") is None or int(value) <= int(context["count"])


class Orders(Journey):
    """Order things."""

    __escalation__ = Escalation()

    class HomePath(Pathway):
        """Where everything begins."""

    class OrderPath(Pathway):
        """Place an order."""

        __title__ = "the order"
        __fields__ = [
            Field(
                "count",
                "integer",
                "How many?",
                confirm=True,
                validators=[Range(1, 9)],
                max_attempts=100,
            ),
            Field("gift", "boolean", "Is it a gift?", max_attempts=100),
            Field(
                "card",
                "integer",
                "Which card?",
                when=lambda known: known.get("gift"),
                validators=[Range(1, 9)],
                max_attempts=100,
            ),
            Field("note", "integer", "Which note?", required=False, max_attempts=100),
            Field(
                "least",
                "integer",
                "How many at least?",
                depends_on=["count"],
                validators=[Range(1, 9), not_above],
                max_attempts=100,
            ),
        ]
        __effects__ = [Effect("place", {"count": "count"}, done="It is on its way.")]

    class AskingPath(Pathway):
        """A detour after which it is asked whether to go back."""

        __agents__ = ["guide"]
        __return_behavior__ = ReturnToPrevious(policy="ask")

    class AsidePath(Pathway):
        """A detour that goes back by itself."""

        __agents__ = ["guide"]
        __return_behavior__ = ReturnToPrevious()

    class AddressPath(Pathway):
        """A detour that collects."""

        __fields__ = [Field("house", "integer", "Which number?", max_attempts=100)]
        __agents__ = ["guide"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(IntentTrigger(description="wants to order"), to_pathway="order"),
        Transition(IntentTrigger(description="asks for help"), to_pathway="asking"),
        Transition(IntentTrigger(description="asks by the way"), to_pathway="aside"),
        Transition(IntentTrigger(description="moves house"), to_pathway="address"),
    ]


def order_tools(world: World) -> dict[str, Any]:
    def place(count: int, idempotency_key: str) -> str:
        "Place an order."
        return world.do("place", idempotency_key, count=count)

    return {"place": place}


GUIDE = "This is how it is."
ORDERS = Domain(Orders, order_tools, {"guide": tells(GUIDE)}, config={"max_pathway_depth": DEPTH})
FORMS = {"order": ["count", "gift", "card", "note", "least"], "address": ["house"]}


@dataclass(frozen=True)
class Book:
    """What is collected and done, by the rules, whatever the code says.

    `values` are the last valid values that were not taken back, `emptied` those that were; `known`
    are the numbers of the effects that this state knows of, and `done` says that the present order
    was placed.
    """

    values: dict[str, Any] = field(default_factory=dict)
    emptied: dict[str, Any] = field(default_factory=dict)
    done: bool = False
    taken_over: bool = False
    known: tuple[int, ...] = ()

    @property
    def payload(self) -> dict[str, Any]:
        """The values of live branches."""
        return {k: v for k, v in self.values.items() if k != "card" or self.values.get("gift")}

    def filled(self, name: str, value: Any, places: Sequence[str]) -> Book:
        """A value is taken where its form is open or paused, is live, valid, and not used."""
        owner = next(place for place, names in FORMS.items() if name in names)
        live = name != "card" or self.values.get("gift")
        used = self.done and owner == "order"
        if owner not in places or not live or used or not self._takes(name, value):
            return self
        after = {**self.values, name: value}
        if name == "count" and after.get("least", 0) > value:
            del after["least"]
        return replace(self, values=after, emptied=_without(self.emptied, name))

    def kept(self, name: str) -> Book:
        """A required value that was taken back stays where no other is given for it."""
        if name not in self.emptied or name == "note":
            return self
        values = {**self.values, name: self.emptied[name]}
        return replace(self, values=values, emptied=_without(self.emptied, name))

    def taken_back(self, name: str) -> Book:
        emptied = {**self.emptied, name: self.values[name]}
        return replace(self.cleared(name), emptied=emptied)

    def _takes(self, name: str, value: Any) -> bool:
        if name in ("gift", "note", "house"):
            return True
        below = name != "least" or value <= self.values.get("count", 9)
        return 1 <= int(value) <= 9 and below

    def cleared(self, *names: str) -> Book:
        return replace(self, values=_without(self.values, *names))

    def reset(self, *places: str) -> Book:
        names = [name for place in places for name in FORMS.get(place, ())]
        emptied = _without(self.emptied, *names)
        done = self.done and "order" not in places
        return replace(self.cleared(*names), emptied=emptied, done=done)


def _without(values: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}
