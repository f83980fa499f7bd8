"""Journeys of several tasks: errands of a house, a wallet, an evening out, a vet."""

from __future__ import annotations

from typing import Any

from journeygraph import (
    NEVER,
    Effect,
    Escalation,
    Field,
    Form,
    Journey,
    Locale,
    Pathway,
    Range,
    Regex,
    ReturnToPrevious,
    Transition,
)
from tests.traces.conversation import Domain
from tests.traces.journeys import tells, wants
from tests.traces.world import World


class Errands(Journey):
    """Run the errands of a house."""

    class HallPath(Pathway):
        """What can be done in the house."""

        __agents__ = ["porter"]
        __complete_when__ = NEVER

    class LaundryPath(Pathway):
        """Have laundry fetched."""

        __title__ = "the laundry"
        __fields__ = [
            Field("shirts", "integer", "How many shirts?"),
            Field("fetched", "date", "On which day shall we fetch them?"),
        ]
        __effects__ = [Effect("fetch_laundry", {"shirts": "shirts"}, done="We fetch the shirts.")]
        __return_behavior__ = ReturnToPrevious(policy="choose")

    class CleaningPath(Pathway):
        """Have the house cleaned."""

        __title__ = "the cleaning"
        __fields__ = [
            Field("rooms", "integer", "How many rooms?"),
            Field("cleaned", "date", "When shall we come?"),
        ]
        __return_behavior__ = ReturnToPrevious(policy="choose")

    class GardenPath(Pathway):
        """Have the lawn mown."""

        __title__ = "the garden"
        __fields__ = [Field("size", "integer", "How many square metres?")]
        __return_behavior__ = ReturnToPrevious(policy="choose")

    class WindowsPath(Pathway):
        """Have the windows cleaned."""

        __title__ = "the windows"
        __fields__ = [Field("panes", "integer", "How many panes?")]

    class HoursPath(Pathway):
        """When somebody is there."""

        __title__ = "the hours"
        __agents__ = ["clock"]
        __return_behavior__ = ReturnToPrevious(policy="choose")

    __transitions__ = [
        Transition(wants("laundry"), to_pathway="laundry"),
        Transition(wants("cleaning"), to_pathway="cleaning"),
        Transition(wants("garden", "lawn"), to_pathway="garden"),
        Transition(wants("windows"), to_pathway="windows"),
        Transition(wants("opening hours"), to_pathway="hours"),
    ]


def errand_tools(world: World) -> dict[str, Any]:
    def fetch_laundry(shirts: int, idempotency_key: str) -> str:
        "Have laundry fetched."
        return world.do("fetch_laundry", idempotency_key, shirts=shirts)

    return {"fetch_laundry": fetch_laundry}


HOURS = "We are here from eight to six."
ERRANDS = Domain(Errands, errand_tools, {"porter": tells("The house."), "clock": tells(HOURS)})


class Wallet(Journey):
    """Send money, top up, and see what was used."""

    class HomePath(Pathway):
        """What the wallet does."""

    class SendPath(Pathway):
        """Send money to somebody."""

        __title__ = "sending money"
        __fields__ = [
            Field("receiver", "name", "Who gets it?", extract=[r"\bto ([A-Z]\w+)"]),
            Field("sum", "money", "How much?", currency="EUR", validators=[Range(1, 500)]),
        ]
        __effects__ = [
            Effect("send", {"to": "receiver", "sum": "sum"}, done="{sum} went to {receiver}.")
        ]

    class TopUpPath(Pathway):
        """Put money on a telephone."""

        __title__ = "the top-up"
        __fields__ = [
            Field("number", "phone", "Which number?"),
            Field("credit", "money", "How much credit?", currency="EUR"),
            Field("pin", "text", "Your PIN?", sensitive=True, validators=[Regex(r"\d{4}")]),
        ]
        __interruptible__ = ["number", "credit"]

    class UsagePath(Pathway):
        """What was used this month."""

        __title__ = "the usage"
        __agents__ = ["meter"]
        __return_behavior__ = ReturnToPrevious()

    class LimitPath(Pathway):
        """How much may be sent."""

        __title__ = "the limit"
        __agents__ = ["limiter"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(wants("send"), to_pathway="send"),
        Transition(wants("top up"), to_pathway="top_up"),
        Transition(wants("usage"), to_pathway="usage"),
        Transition(wants("limit"), to_pathway="limit"),
    ]


def wallet_tools(world: World) -> dict[str, Any]:
    def send(to: str, sum: Any, idempotency_key: str) -> str:
        "Send money."
        return world.do("send", idempotency_key, to=to, sum=sum)

    return {"send": send}


USED, LIMITED = "You used 12 euros.", "You may send 500 euros."
WALLET = Domain(Wallet, wallet_tools, {"meter": tells(USED), "limiter": tells(LIMITED)})


class Evening(Journey):
    """Plan an evening."""

    class DeskPath(Pathway):
        """What can be planned."""

    class TaxiPath(Pathway):
        """Order a taxi."""

        __title__ = "the taxi"
        __fields__ = [
            Field("day", "date", "On which day?"),
            Field("street", "address", "Where shall it come?"),
        ]

    class DinnerPath(Pathway):
        """Book a table."""

        __title__ = "the table"
        __fields__ = [
            Field("guests", "integer", "For how many people?", label="people"),
            Field("day", "date", "On which day?"),
            Field("hour", "time", "At what time?"),
        ]

    class TheatrePath(Pathway):
        """Book seats in a theatre."""

        __title__ = "the theatre"
        __fields__ = [
            Field("seats", "integer", "How many seats?"),
            Field("show_day", "date", "For which day?"),
        ]

    __transitions__ = [
        Transition(wants("taxi"), to_pathway="taxi"),
        Transition(wants("table"), to_pathway="dinner"),
        Transition(wants("theatre"), to_pathway="theatre"),
    ]


EVENING = Domain(Evening)


class Abend(Journey):
    """Plan an evening, in German."""

    __locale__ = Locale(language="de")

    class DeskPath(Pathway):
        """What can be planned."""

    class TaxiPath(Pathway):
        """Order a taxi."""

        __title__ = "das Taxi"
        __fields__ = [
            Field("day", "date", "An welchem Tag?", label="Tag"),
            Field("street", "address", "Wohin soll es kommen?", label="Adresse"),
        ]

    class DinnerPath(Pathway):
        """Book a table."""

        __title__ = "der Tisch"
        __fields__ = [
            Field("guests", "integer", "Für wie viele Personen?", label="Personen"),
            Field("day", "date", "An welchem Tag?", label="Tag"),
            Field("hour", "time", "Um wie viel Uhr?", label="Uhrzeit"),
        ]

    __transitions__ = [
        Transition(wants("Taxi"), to_pathway="taxi"),
        Transition(wants("Tisch"), to_pathway="dinner"),
    ]


ABEND = Domain(Abend)


class Vet(Journey):
    """See a vet."""

    __escalation__ = Escalation(failures=3)

    class VisitPath(Pathway):
        """Ask for a visit."""

        __title__ = "the visit"
        __fields__ = Form(
            [
                Field("animal", "name", "What is your animal called?"),
                Field("visit_day", "date", "On which day?"),
                Field("other_animal", "boolean", "Do you bring another animal?"),
                Field(
                    "other_name",
                    "text",
                    "Which other animal is it?",
                    when=lambda known: known.get("other_animal"),
                ),
                Field("reason", "text", "What is wrong?"),
            ],
        )
        __effects__ = [Effect("plan_visit", {"animal": "animal"}, done="{animal} may come.")]

    class ParkingPath(Pathway):
        """Where to park."""

        __title__ = "parking"
        __agents__ = ["guard"]
        __return_behavior__ = ReturnToPrevious(policy="ask")

    class RatesPath(Pathway):
        """What it costs."""

        __title__ = "the rates"
        __fields__ = [Field("insurer", "text", "Who insures it?")]
        __return_behavior__ = ReturnToPrevious(policy="ask")

    __transitions__ = [
        Transition(wants("visit", "appointment"), to_pathway="visit"),
        Transition(wants("where can I park", "parking"), to_pathway="parking"),
        Transition(wants("cost"), to_pathway="rates"),
    ]


def vet_tools(world: World) -> dict[str, Any]:
    def plan_visit(animal: str, idempotency_key: str) -> str:
        "Plan a visit."
        return world.do("plan_visit", idempotency_key, animal=animal)

    return {"plan_visit": plan_visit}


PARKING = "Behind the house."
VET = Domain(Vet, vet_tools, {"guard": tells(PARKING)}, config={"max_pathway_depth": 1})


class Line(Journey):
    """Order a telephone line, and change it."""

    class OrderPath(Pathway):
        """Order a line."""

        __title__ = "the line"
        __fields__ = [
            Field("plan", "enum", "Which plan?", choices=["basic", "comfort"]),
            Field("rooms", "integer", "How many rooms?"),
            Field("start", "date", "From when on?"),
            Field("holder", "name", "In which name?"),
        ]
        __effects__ = [Effect("order_line", {"plan": "plan"}, change="move", done="It is ordered.")]

    class MovePath(Pathway):
        """Change a line."""

        __title__ = "the change"
        __fields__ = [Field("new_plan", "enum", "Which one now?", choices=["basic", "comfort"])]


def line_tools(world: World) -> dict[str, Any]:
    def order_line(plan: str, idempotency_key: str) -> str:
        "Order a line."
        return world.do("order_line", idempotency_key, plan=plan)

    return {"order_line": order_line}


LINE = Domain(Line, line_tools)


class Fitting(Journey):
    """Have a suit fitted."""

    class FitPath(Pathway):
        """Have a suit fitted."""

        __fields__ = [
            Field("cloth", "enum", "Which cloth?", choices=["wool", "linen"]),
            Field("slot", "date", "On which day?", ttl=0.001),
            Field("wearer", "name", "Who wears it?"),
        ]


FITTING = Domain(Fitting, config={"resume_after_seconds": 0.001})
