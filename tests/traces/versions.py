"""A journey of last year and of this one: a pathway was renamed, and a question added."""

from __future__ import annotations

from typing import Any

from journeygraph import Effect, Field, Journey, Pathway, ReturnToPrevious, Transition
from tests.traces.conversation import Domain
from tests.traces.journeys import tells, wants
from tests.traces.world import World


def last_year() -> type[Journey]:
    class Rent(Journey):
        """Pay the rent."""

        class PaymentPath(Pathway):
            """Pay the rent."""

            __title__ = "the payment"
            __fields__ = [
                Field("flat", "text", "Which flat?"),
                Field("sum", "money", "How much?", currency="EUR"),
            ]
            __effects__ = [Effect("pay", {"flat": "flat"}, done="Paid.")]

        class RulesPath(Pathway):
            """What the house rules say."""

            __agents__ = ["janitor"]
            __return_behavior__ = ReturnToPrevious(policy="ask")

        __transitions__ = [Transition(wants("house rules"), to_pathway="rules")]

    return Rent


def this_year(*, migrates: bool = True) -> type[Journey]:
    class Rent(Journey):
        """Pay the rent."""

        __migrations__ = {"payment": "monthly_payment"} if migrates else {}

        class MonthlyPaymentPath(Pathway):
            """Pay the rent."""

            __title__ = "the payment"
            __fields__ = [
                Field("flat", "text", "Which flat?"),
                Field("month", "enum", "For which month?", choices=["May", "June"]),
                Field("sum", "money", "How much?", currency="EUR"),
            ]
            __effects__ = [Effect("pay", {"flat": "flat", "month": "month"}, done="Paid.")]

        class RulesPath(Pathway):
            """What the house rules say."""

            __agents__ = ["janitor"]
            __return_behavior__ = ReturnToPrevious(policy="ask")

        __transitions__ = [Transition(wants("house rules"), to_pathway="rules")]

    return Rent


def without_payment() -> type[Journey]:
    """A version that begins elsewhere, and has neither the payment nor a new name for it."""

    class Rent(Journey):
        """Pay the rent."""

        class DepositPath(Pathway):
            """Pay the deposit."""

            __title__ = "the deposit"
            __fields__ = [
                Field("tenant", "name", "What is your name?"),
                Field("sum", "money", "How much?", currency="EUR"),
            ]

        class HousePath(Pathway):
            """Who lives in the house."""

            __agents__ = ["janitor"]
            __return_behavior__ = ReturnToPrevious(policy="ask")

        __transitions__ = [Transition(wants("who lives here"), to_pathway="house")]

    return Rent


def without_rules(*, flat: str = "text") -> type[Journey]:
    """A version that has no house rules any more; the flat may be of another type."""

    class Rent(Journey):
        """Pay the rent."""

        class PaymentPath(Pathway):
            """Pay the rent."""

            __title__ = "the payment"
            __fields__ = [
                Field("flat", flat, "Which flat?"),
                Field("sum", "money", "How much?", currency="EUR"),
            ]
            __effects__ = [Effect("pay", {"flat": "flat"}, done="Paid.")]

        class HousePath(Pathway):
            """Who lives in the house."""

            __agents__ = ["janitor"]
            __return_behavior__ = ReturnToPrevious(policy="ask")

        __transitions__ = [Transition(wants("who lives here"), to_pathway="house")]

    return Rent


def rent_tools(world: World) -> dict[str, Any]:
    def pay(flat: Any, idempotency_key: str, month: str = "") -> str:
        "Pay the rent."
        return world.do("pay", idempotency_key, flat=flat, month=month)

    return {"pay": pay}


RULES = "No music after ten."
RENT = Domain(last_year(), rent_tools, {"janitor": tells(RULES)})
