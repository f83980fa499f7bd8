"""Journeys that collect: a bank, a restaurant, a claim desk, a clinic, a sign-up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from journeygraph import (
    NEVER,
    Effect,
    Escalation,
    Field,
    Form,
    IntentTrigger,
    Journey,
    Length,
    Pathway,
    Range,
    Regex,
    ReturnToPrevious,
    Transition,
)
from tests.traces.conversation import Domain
from tests.traces.world import World

Context = Mapping[str, Any]


def tells(text: str) -> Any:
    """Return an agent that always says the same."""

    def agent(payload: Mapping[str, Any]) -> dict[str, str]:
        return {"response": text}

    return agent


def wants(*patterns: str, means: str = "") -> IntentTrigger:
    return IntentTrigger(patterns=patterns, description=means or patterns[0])


class Bank(Journey):
    """Send money, pay bills, and answer questions about an account and its cards."""

    __escalation__ = Escalation()

    class HomePath(Pathway):
        """What the bank can do."""

        __agents__ = ["greeter"]
        __complete_when__ = NEVER

    class TransferPath(Pathway):
        """Send money to somebody."""

        __title__ = "the transfer"
        __fields__ = [
            Field(
                "recipient",
                "name",
                "Who is the money for?",
                description="whom the money goes to",
                extract=[r"\bto ([A-Z]\w+)"],
            ),
            Field(
                "amount",
                "money",
                "How much do you want to send?",
                description="the sum that is sent",
                currency="EUR",
                confirm=True,
                validators=[Range(1, 5000)],
            ),
        ]
        __effects__ = [
            Effect(
                "send_money",
                {"to": "recipient", "amount": "amount"},
                save="transfer_number",
                done="{amount} is on its way to {recipient}.",
            )
        ]

    class BalancePath(Pathway):
        """How much is on the account."""

        __title__ = "the balance"
        __agents__ = ["teller"]
        __return_behavior__ = ReturnToPrevious(policy="ask")

    class FeePath(Pathway):
        """What a transfer costs."""

        __title__ = "the fees"
        __agents__ = ["fee_clerk"]
        __return_behavior__ = ReturnToPrevious()

    class LimitPath(Pathway):
        """How much may be spent in a day."""

        __title__ = "your limit"
        __agents__ = ["limit_clerk"]
        __return_behavior__ = ReturnToPrevious()

    class PaymentPath(Pathway):
        """Pay a bill; a code proves who pays."""

        __title__ = "the payment"
        __fields__ = [
            Field("invoice", "text", "Which invoice?", validators=[Regex(r"[A-Za-z]{2}-?\d{3,6}")]),
            Field("code", "text", "Which code did we send you?", validators=[Regex(r"\d{6}")]),
        ]
        __interruptible__ = ["invoice"]
        __effects__ = [Effect("pay_bill", {"invoice": "invoice"}, done="{invoice} is paid.")]

    class BlockCardPath(Pathway):
        """Block a card that was lost."""

        __title__ = "block a card"
        __fields__ = [Field("blocked_card", "text", "Which are its last four digits?")]

    class NewCardPath(Pathway):
        """Order a new card."""

        __title__ = "order a new card"
        __fields__ = [Field("design", "enum", "Which design?", choices=["blue", "green"])]

    __transitions__ = [
        Transition(wants("send money", "transfer"), to_pathway="transfer"),
        Transition(wants("how much do I have", "balance"), to_pathway="balance"),
        Transition(wants("fee", "fees", "what does it cost"), to_pathway="fee"),
        Transition(wants("my limit"), to_pathway="limit"),
        Transition(wants("pay a bill", "pay my bill"), to_pathway="payment"),
        Transition(wants("block my card", "card", means="blocks a card"), to_pathway="block_card"),
        Transition(wants("a new card", "card", means="orders a card"), to_pathway="new_card"),
    ]


def bank_tools(world: World) -> dict[str, Any]:
    def send_money(to: str, amount: dict[str, Any], idempotency_key: str) -> str:
        "Send money."
        return world.do("send_money", idempotency_key, to=to, amount=amount)

    def pay_bill(invoice: str, idempotency_key: str) -> str:
        "Pay a bill."
        return world.do("pay_bill", idempotency_key, invoice=invoice)

    return {"send_money": send_money, "pay_bill": pay_bill}


BALANCE = "There are 1,250.00 euros on your account."
FEE = "Transfers within the country cost nothing."
LIMIT = "You may spend 2,000 euros a day."
HELLO = "I can send money, pay bills, and look after your cards."

BANK = Domain(
    Bank,
    bank_tools,
    {
        "greeter": tells(HELLO),
        "teller": tells(BALANCE),
        "fee_clerk": tells(FEE),
        "limit_clerk": tells(LIMIT),
    },
    context={"customer": "C-77"},
)


def open_then(value: Any, context: Context) -> str | bool:
    """The kitchen opens at five."""
    return value >= "17:00" or "The kitchen opens at five."


def open_that_day(value: Any, context: Context) -> str | bool:
    """The restaurant is closed on Mondays."""
    from datetime import date  # noqa: PLC0415

    return date.fromisoformat(value).weekday() != 0 or "We are closed on Mondays."


class Restaurant(Journey):
    """Book a table."""

    __escalation__ = Escalation()

    class BookingPath(Pathway):
        """Book a table."""

        __title__ = "the booking"
        __fields__ = [
            Field(
                "party_size",
                "integer",
                "For how many people?",
                description="how many people the table is for",
                label="number of people",
                validators=[Range(1, 20)],
                extract=[r"(?:table|party|oh,|make it) (?:for|of) (\w+)", r"for (\w+) people"],
            ),
            Field("day", "date", "For which day?", validators=[Range("today"), open_that_day]),
            Field("hour", "time", "At what time?", label="time", validators=[open_then]),
            Field("guest", "name", "In which name?", label="name"),
        ]
        __effects__ = [
            Effect(
                "book_table",
                {"people": "party_size", "day": "day", "hour": "hour", "name": "guest"},
                save="booking_number",
                done="Your table for {party_size} is booked, {guest}.",
                change="change_booking",
            )
        ]

    class ChangeBookingPath(Pathway):
        """Change a booking that was made."""

        __title__ = "changing the booking"
        __fields__ = [
            Field("new_party_size", "integer", "For how many then?", validators=[Range(1, 20)])
        ]
        __effects__ = [
            Effect(
                "move_table",
                {"number": "booking_number", "people": "new_party_size"},
                done="It is a table for {new_party_size} now.",
            )
        ]

    class MenuPath(Pathway):
        """What there is to eat."""

        __title__ = "the menu"
        __agents__ = ["waiter"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(wants("the menu", "vegetarian"), to_pathway="menu"),
        Transition(wants("change my booking"), to_pathway="change_booking"),
    ]


def restaurant_tools(world: World) -> dict[str, Any]:
    def book_table(people: int, day: str, hour: str, name: str, idempotency_key: str) -> str:
        "Book a table."
        given = {"people": people, "day": day, "hour": hour, "name": name}
        return world.do("book_table", idempotency_key, **given)

    def move_table(number: str, people: int, idempotency_key: str) -> str:
        "Change a booking."
        return world.do("move_table", idempotency_key, number=number, people=people)

    return {"book_table": book_table, "move_table": move_table}


MENU = "Half of our dishes are vegetarian."
RESTAURANT = Domain(Restaurant, restaurant_tools, {"waiter": tells(MENU)})


def report_of_that_day(value: Any, context: Context) -> bool:
    """A police report is of the day of the accident: its number begins with that day."""
    CHECKED.append(value)
    return str(value).startswith(str(context.get("accident_date", "")).replace("-", "")[-2:])


CHECKED: list[str] = []
"""Every police report that was checked: tests empty it and look at it."""


class Claim(Journey):
    """Report damage to a car."""

    __escalation__ = Escalation()

    class ClaimPath(Pathway):
        """Note what happened."""

        __title__ = "your claim"
        __fields__ = [
            Field(
                "accident_date",
                "date",
                "When did it happen?",
                description="your cover depends on the day",
                label="date",
                confirm=True,
                validators=[Range(None, "today")],
            ),
            Field("place", "text", "Where did it happen?", confirm=True),
            Field("photos", "list", "Which photos do you have?", required=False),
            Field(
                "report",
                "text",
                "What is the number of the police report?",
                depends_on=["accident_date"],
                validators=[report_of_that_day],
                required=False,
            ),
            Field(
                "pickup_address",
                "address",
                "Where shall we pick the car up?",
                description="our truck comes there",
                label="pickup address",
                confirm=True,
            ),
            Field(
                "birth_date",
                "date",
                "What is your date of birth?",
                description="We tell customers of the same name apart by it.",
                label="date of birth",
            ),
        ]
        __effects__ = [
            Effect("file_claim", {"day": "accident_date", "place": "place"}, done="It is filed.")
        ]

    class CoverPath(Pathway):
        """What is covered."""

        __title__ = "the cover"
        __agents__ = ["adviser"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(wants("is it covered", "covered"), to_pathway="cover")]


def claim_tools(world: World) -> dict[str, Any]:
    def file_claim(day: str, place: str, idempotency_key: str) -> str:
        "File a claim."
        return world.do("file_claim", idempotency_key, day=day, place=place)

    return {"file_claim": file_claim}


COVER = "Fire and theft are covered."
CLAIM = Domain(Claim, claim_tools, {"adviser": tells(COVER)})


class Clinic(Journey):
    """Book a visit to a doctor."""

    class BookingPath(Pathway):
        """Book a visit."""

        __title__ = "your visit"
        __fields__ = [
            Field("specialty", "enum", "Which specialty?", choices=["cardiology", "dermatology"]),
            Field("doctor", "enum", "Which doctor?", choices=["Dr. Amari", "Dr. Boone"]),
            Field("visit_day", "date", "Which day suits you?", validators=[Range("today")]),
        ]
        __effects__ = [Effect("book_visit", {"doctor": "doctor", "day": "visit_day"})]

    class CoveragePath(Pathway):
        """Whether a plan pays for a visit."""

        __title__ = "your coverage"
        __fields__ = [Field("plan", "enum", "Which plan do you have?", choices=["basic", "gold"])]
        __agents__ = ["coverage_clerk"]
        __return_behavior__ = ReturnToPrevious()

    class GlossaryPath(Pathway):
        """What words of insurance mean."""

        __title__ = "the glossary"
        __agents__ = ["lexicographer"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(wants("does my plan cover", "covered by my plan"), to_pathway="coverage"),
        Transition(wants("what is a deductible", "what is a copay"), to_pathway="glossary"),
    ]


def clinic_tools(world: World) -> dict[str, Any]:
    def book_visit(doctor: str, day: str, idempotency_key: str) -> str:
        "Book a visit."
        return world.do("book_visit", idempotency_key, doctor=doctor, day=day)

    return {"book_visit": book_visit}


COVERED = "Your plan pays for visits to specialists."
DEDUCTIBLE = "A deductible is what you pay before your insurance does."
CLINIC = Domain(
    Clinic,
    clinic_tools,
    {"coverage_clerk": tells(COVERED), "lexicographer": tells(DEDUCTIBLE)},
)


class SignUp(Journey):
    """Open an account."""

    __escalation__ = Escalation()

    class DetailsPath(Pathway):
        """Who opens the account."""

        __title__ = "your account"
        __fields__ = Form(
            [
                Field("full_name", "name", "What is your name?", label="name"),
                Field(
                    "age",
                    "integer",
                    "How old are you?",
                    description="Only adults may open an account.",
                    validators=[Range(18, 120)],
                ),
                Field("phone", "phone", "What is your telephone number?", required=False),
                Field(
                    "passport",
                    "text",
                    "What is the number of your passport?",
                    description="The law asks us to know our customers.",
                    label="passport number",
                    validators=[Length(5, 20), Regex(r"[A-Za-z]{1,2}\d+")],
                ),
            ]
        )
        __effects__ = [
            Effect(
                "open_account", {"name": "full_name", "age": "age"}, done="Welcome, {full_name}."
            )
        ]

    class OpeningHoursPath(Pathway):
        """When somebody is there."""

        __title__ = "our opening hours"
        __agents__ = ["porter"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(wants("opening hours"), to_pathway="opening_hours")]


def sign_up_tools(world: World) -> dict[str, Any]:
    def open_account(name: str, age: int, idempotency_key: str) -> str:
        "Open an account."
        return world.do("open_account", idempotency_key, name=name, age=age)

    return {"open_account": open_account}


HOURS = "We are here from eight to six."
SIGN_UP = Domain(SignUp, sign_up_tools, {"porter": tells(HOURS)}, context={"verified": False})
