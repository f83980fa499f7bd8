"""Send money: read back and confirmed, then released by a code, with questions in between."""

from hashlib import sha256
from typing import Any

from journeygraph import (
    NEVER,
    Effect,
    Escalation,
    Field,
    Form,
    IntentTrigger,
    Journey,
    Pathway,
    Personality,
    Range,
    Regex,
    ReturnToPrevious,
    Transition,
)

BALANCE = 1_250
CODE = "246810"


def covered(value: dict[str, str], context: dict[str, Any]) -> bool | str:
    """Refuse more than there is on the account."""
    return float(value["amount"]) <= BALANCE or f"There are only EUR {BALANCE:,}.00 on it."


def as_sent(value: str, context: dict[str, Any]) -> bool | str:
    """Refuse all but the code that was sent to the customer's phone."""
    return value == CODE or "That is not the code that we sent."


class BankTransfer(Journey):
    """Send money from the customer's account, and answer what comes up meanwhile."""

    __personality__ = Personality(tone="calm and exact", greeting="Good day, this is your bank.")
    __escalation__ = Escalation(keywords=["fraud", "stolen"], failures=3)

    class DeskPath(Pathway):
        """Hear what the customer wants."""

        __title__ = "the desk"
        __agents__ = ["desk_clerk"]
        __complete_when__ = NEVER

    class TransferPath(Pathway):
        """Take down what is sent to whom."""

        __title__ = "the transfer"
        __fields__ = Form(
            [
                Field(
                    "recipient",
                    "name",
                    "Who is the money for?",
                    description="Whoever gets the money.",
                    extract=[r"\bto ([A-Z]\w+)"],
                    confirm=True,
                ),
                Field(
                    "amount",
                    "money",
                    "How much do you want to send?",
                    description="The sum that leaves your account.",
                    currency="EUR",
                    validators=[Range(1, 5_000), covered],
                    confirm=True,
                ),
            ],
            confirm_corrections=True,
        )
        __next__ = "release"

    class ReleasePath(Pathway):
        """Release the transfer by a code that is good for one minute."""

        __title__ = "the release of the transfer"
        __fields__ = [
            Field(
                "code",
                ask=f"Which code did we send to your phone? (Here it is always {CODE}.)",
                description="It proves that it is you who sends the money.",
                label="one-time code",
                extract=[r"\b\d{6}\b"],
                validators=[Regex(r"\d{6}", "The code has six digits."), as_sent],
                sensitive=True,
                ttl=60,
            )
        ]
        __interruptible__ = False  # a question waits until the money is sent
        __effects__ = [
            Effect("send_money", done="The money is on its way to {recipient}: {reference}.")
        ]
        __next__ = "desk"

    class BalancePath(Pathway):
        """Say how much is on the account."""

        __title__ = "your balance"
        __agents__ = ["teller"]
        __return_behavior__ = ReturnToPrevious(policy="ask")

    class FeesPath(Pathway):
        """Say what a transfer costs."""

        __title__ = "the fees"
        __agents__ = ["fee_clerk"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(
            IntentTrigger(["send money", "transfer"], description="wants to send money"),
            to_pathway="transfer",
        ),
        Transition(
            IntentTrigger(
                ["balance", "how much do I have"], description="asks what is on the account"
            ),
            to_pathway="balance",
        ),
        Transition(
            IntentTrigger(["fee", "fees", "what does it cost"], description="asks what it costs"),
            to_pathway="fees",
        ),
    ]


def send_money(recipient: str, amount: dict[str, str], idempotency_key: str) -> dict[str, str]:
    """Send money; the same key is the same transfer."""
    return {"reference": f"T-{sha256(idempotency_key.encode()).hexdigest()[:6].upper()}"}


def desk_clerk(ask: dict[str, Any]) -> str:
    """Say what can be done here."""
    return "I can send money for you, and tell you your balance and our fees."


def teller(ask: dict[str, Any]) -> str:
    """Say how much is on the account."""
    return f"There are EUR {BALANCE:,}.00 on your account."


def fee_clerk(ask: dict[str, Any]) -> str:
    """Say what a transfer costs."""
    return "A transfer within the country costs nothing."


AGENTS = {"desk_clerk": desk_clerk, "teller": teller, "fee_clerk": fee_clerk}
TOOLS = {"send_money": send_money}
DEMO_MESSAGES = (
    "I want to send money to Maya",
    "How much do I have?",
    "yes",
    "2000",
    "40",
    "not 40, 55",
    "yes",
    "yes",
    "Is there a fee?",
    "246810",
)
