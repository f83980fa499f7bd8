"""More journeys that collect: a parcel service, a telephone company, a hotel, a school, cars."""

from __future__ import annotations

from typing import Any

from journeygraph import (
    NEVER,
    Effect,
    Escalation,
    Field,
    Form,
    Journey,
    Length,
    Locale,
    Pathway,
    Personality,
    Range,
    Regex,
    ReturnToPrevious,
    Transition,
)
from tests.traces.conversation import Domain
from tests.traces.journeys import Context, tells, wants
from tests.traces.world import World


class Parcels(Journey):
    """Send parcels and find out where they are."""

    __escalation__ = Escalation(attempts_exhausted=False, unclaimed_seconds=0.001)

    class DeskPath(Pathway):
        """What the parcel service does."""

        __agents__ = ["porter"]
        __complete_when__ = NEVER

    class SendPath(Pathway):
        """Send a parcel."""

        __title__ = "your parcel"
        __fields__ = [
            Field("receiver", "name", "Who is it for?", extract=[r"parcel to ([A-Z]\w+)"]),
            Field("destination", "address", "Where does it go?", confirm=True),
            Field(
                "weight",
                "number",
                "How heavy is it, in kilos?",
                confirm=True,
                validators=[Range(0.1, 31.5)],
                max_attempts=2,
                retry_texts=["Our scales end at 31.5 kilos."],
            ),
            Field("insured", "boolean", "Do you want it insured?"),
            Field(
                "worth",
                "money",
                "What is it worth?",
                currency="EUR",
                when=lambda known: known.get("insured"),
            ),
        ]
        __effects__ = [Effect("print_label", {"to": "receiver"}, done="The label is printed.")]

    class TrackPath(Pathway):
        """Where a parcel is."""

        __title__ = "the search"
        __fields__ = [Field("number", "text", "Which number?", validators=[Regex(r"P-\d+")])]
        __agents__ = ["tracker"]
        __return_behavior__ = ReturnToPrevious(policy="ask")

    class PricesPath(Pathway):
        """What parcels cost."""

        __title__ = "the prices"
        __agents__ = ["cashier"]
        __return_behavior__ = ReturnToPrevious()

    class LostPath(Pathway):
        """Report a parcel that is lost."""

        __title__ = "report a lost parcel"
        __fields__ = [Field("lost_number", "text", "Which number did it have?")]

    class DamagedPath(Pathway):
        """Report a parcel that is damaged."""

        __title__ = "report a damaged parcel"
        __fields__ = [Field("damaged_number", "text", "Which number does it have?")]

    class LatePath(Pathway):
        """Report a parcel that is late."""

        __title__ = "report a late parcel"
        __fields__ = [Field("late_number", "text", "Which number has it got?")]

    __transitions__ = [
        Transition(wants("send a parcel", "parcel to"), to_pathway="send"),
        Transition(wants("where is my parcel", "track"), to_pathway="track"),
        Transition(wants("prices", "postage"), to_pathway="prices"),
        Transition(wants("lost", "complaint", means="lost a parcel"), to_pathway="lost"),
        Transition(wants("damaged", "complaint", means="has a damaged one"), to_pathway="damaged"),
        Transition(wants("late", "complaint", means="waits for one"), to_pathway="late"),
    ]


def parcel_tools(world: World) -> dict[str, Any]:
    def print_label(to: str, idempotency_key: str) -> str:
        "Print a label."
        return world.do("print_label", idempotency_key, to=to)

    return {"print_label": print_label}


FOUND, POSTAGE, DESK = "It is in Leipzig.", "A parcel costs six euros.", "Parcels, here!"
PARCELS = Domain(
    Parcels,
    parcel_tools,
    {"porter": tells(DESK), "tracker": tells(FOUND), "cashier": tells(POSTAGE)},
    context={"account": "A-9"},
)


class Telecom(Journey):
    """Change a mobile plan."""

    __escalation__ = Escalation(keywords=["lawyer"], failures=3)

    class PlanPath(Pathway):
        """Change the plan."""

        __title__ = "the new plan"
        __fields__ = [
            Field(
                "plan",
                "enum",
                "Which plan do you want?",
                choices={"small": ["S"], "medium": ["M"], "large": ["L", "big one"]},
            ),
            Field("contact", "email", "Where shall we write to?", label="e-mail address"),
            Field(
                "pin",
                "text",
                "What is your PIN?",
                description="So that nobody else changes your plan.",
                sensitive=True,
                validators=[Regex(r"\d{4}")],
            ),
        ]
        __interruptible__ = ["plan", "contact"]
        __effects__ = [Effect("change_plan", {"plan": "plan"}, done="You are on {plan} now.")]

    class CoveragePath(Pathway):
        """Where there is a signal."""

        __title__ = "the network"
        __agents__ = ["engineer"]
        __return_behavior__ = ReturnToPrevious(policy="ask")

    class RoamingPath(Pathway):
        """What it costs abroad."""

        __title__ = "roaming"
        __agents__ = ["traveller"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(wants("change my plan", "upgrade"), to_pathway="plan"),
        Transition(wants("signal", "reception"), to_pathway="coverage"),
        Transition(wants("roaming", "abroad"), to_pathway="roaming"),
    ]


def telecom_tools(world: World) -> dict[str, Any]:
    def change_plan(plan: str, idempotency_key: str) -> str:
        "Change the plan."
        return world.do("change_plan", idempotency_key, plan=plan)

    return {"change_plan": change_plan}


SIGNAL, ABROAD = "There is a signal everywhere in town.", "Roaming is free within the Union."
TELECOM = Domain(Telecom, telecom_tools, {"engineer": tells(SIGNAL), "traveller": tells(ABROAD)})


class Hotel(Journey):
    """Book a room."""

    __escalation__ = Escalation()

    class StayPath(Pathway):
        """Book a room."""

        __title__ = "your stay"
        __fields__ = Form(
            [
                Field("check_in", "date", "When do you arrive?", validators=[Range("today")]),
                Field(
                    "nights",
                    "integer",
                    "How many nights?",
                    validators=[Range(1, 30)],
                    extract=[r"(\w+) nights?"],
                ),
                Field("room", "enum", "Which room?", choices=["single", "double", "suite"]),
                Field("breakfast", "boolean", "With breakfast?", required=False),
                Field("traveller", "name", "What is your name?", label="name"),
            ],
            order="flexible",
        )
        __effects__ = [
            Effect(
                "reserve",
                {"day": "check_in", "nights": "nights", "room": "room"},
                done="The {room} is yours.",
            )
        ]

    class PoolPath(Pathway):
        """When the pool is open."""

        __title__ = "the pool"
        __agents__ = ["lifeguard"]
        __return_behavior__ = ReturnToPrevious(policy="ask")

    class SpaPath(Pathway):
        """What the spa offers."""

        __title__ = "the spa"
        __fields__ = [Field("massage", "enum", "Which massage?", choices=["short", "long"])]
        __agents__ = ["masseur"]
        __return_behavior__ = ReturnToPrevious(policy="choose")

    __transitions__ = [
        Transition(wants("pool", "swim"), to_pathway="pool"),
        Transition(wants("spa"), to_pathway="spa"),
    ]


def hotel_tools(world: World) -> dict[str, Any]:
    async def reserve(day: str, nights: int, room: str, idempotency_key: str) -> str:
        "Reserve a room."
        return world.do("reserve", idempotency_key, day=day, nights=nights, room=room)

    return {"reserve": reserve}


POOL, SPA = "The pool is open all night.", "Come at ten."
HOTEL = Domain(Hotel, hotel_tools, {"lifeguard": tells(POOL), "masseur": tells(SPA)})


def old_enough(value: Any, context: Context) -> str | bool:
    """Children of the first grade were born before 2021."""
    born = str(context.get("birth_date", ""))
    return value != "first" or born < "2021" or "That child is too young for the first grade."


class School(Journey):
    """Enrol a child."""

    __escalation__ = Escalation(when_collected=True)

    class EnrolPath(Pathway):
        """Who comes to school."""

        __title__ = "the enrolment"
        __fields__ = [
            Field("child", "name", "What is the child's name?", confirm=True, label="name"),
            Field(
                "birth_date",
                "date",
                "When was the child born?",
                label="date of birth",
                confirm=True,
                validators=[Range("2005-01-01", "today")],
            ),
            Field(
                "grade",
                "enum",
                "For which grade?",
                choices=["kindergarten", "first", "second"],
                depends_on=["birth_date"],
                validators=[old_enough],
            ),
            Field("bus", "boolean", "Does the child come by bus?"),
            Field("stop", "text", "From which stop?", when=lambda known: known.get("bus")),
            Field(
                "allergies", "text", "Any allergies?", required=False, validators=[Length(0, 80)]
            ),
        ]

    class HolidaysPath(Pathway):
        """When there is no school."""

        __title__ = "the holidays"
        __agents__ = ["secretary"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(wants("holidays"), to_pathway="holidays")]


HOLIDAYS = "The holidays begin in July."
SCHOOL = Domain(School, agents={"secretary": tells(HOLIDAYS)})


def after_pickup(value: Any, context: Context) -> str | bool:
    """A car comes back after it was taken."""
    return str(value) >= str(context.get("pickup", "")) or "That is before you take it."


class Cars(Journey):
    """Rent a car."""

    class RentPath(Pathway):
        """Rent a car."""

        __title__ = "the car"
        __fields__ = Form(
            [
                Field("pickup", "date", "When do you take it?", label="pickup day"),
                Field(
                    "back",
                    "date",
                    "When do you bring it back?",
                    label="return day",
                    depends_on=["pickup"],
                    validators=[after_pickup],
                ),
                Field("size", "enum", "Which size?", choices=["small", "van"], label="size"),
                Field("driver", "name", "Who drives?", label="driver"),
                Field("driver_age", "integer", "How old is the driver?", label="driver's age"),
            ],
            confirm_corrections=True,
        )
        __effects__ = [Effect("rent", {"size": "size"}, done="A {size} waits for you.")]

    class FuelPath(Pathway):
        """Who pays for fuel."""

        __title__ = "the fuel"
        __agents__ = ["mechanic"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(wants("fuel"), to_pathway="fuel")]


def car_tools(world: World) -> dict[str, Any]:
    def rent(size: str, idempotency_key: str) -> str:
        "Rent a car."
        return world.do("rent", idempotency_key, size=size)

    return {"rent": rent}


FUEL = "Bring it back full."
CARS = Domain(Cars, car_tools, {"mechanic": tells(FUEL)})


class Library(Journey):
    """Bücher ausleihen."""

    __personality__ = Personality(greeting="Willkommen in der Bücherei!")
    __locale__ = Locale(language="de")
    __escalation__ = Escalation()

    class LoanPath(Pathway):
        """Ein Buch ausleihen."""

        __title__ = "die Ausleihe"
        __fields__ = [
            Field("book", "text", "Welches Buch?", label="Buch", confirm=True),
            Field("until", "date", "Bis wann?", label="Rückgabe", validators=[Range("today")]),
            Field(
                "reader",
                "name",
                "Wie heißen Sie?",
                label="Name",
                description="Der Name steht auf dem Ausweis.",
            ),
            Field("mail", "email", "Ihre E-Mail-Adresse?", label="E-Mail", required=False),
        ]
        __effects__ = [Effect("lend", {"book": "book"}, done="{book} liegt für Sie bereit.")]

    class FeesPath(Pathway):
        """Was es kostet."""

        __title__ = "die Gebühren"
        __agents__ = ["kasse"]
        __return_behavior__ = ReturnToPrevious(policy="ask")

    __transitions__ = [Transition(wants("gebühren", "was kostet"), to_pathway="fees")]


def library_tools(world: World) -> dict[str, Any]:
    def lend(book: str, idempotency_key: str) -> str:
        "Lend a book."
        return world.do("lend", idempotency_key, book=book)

    return {"lend": lend}


GEBUEHREN = "Die Ausleihe ist kostenlos."
LIBRARY = Domain(Library, library_tools, {"kasse": tells(GEBUEHREN)}, config={"region": "DE"})
