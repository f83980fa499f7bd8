"""Run the support desk: its tools, and agents that answer without a model.

With a model the definition files alone drive it: each state is an agent then. Without one, these
functions speak in their place; they hear words and numbers, and nothing between the lines.
"""

import re
from typing import Any

from journeygraph.journeys.examples.telecom_support.tools import TOOLS, find_customer

__all__ = ["AGENTS", "DEMO_MESSAGES", "MODEL_AGENTS", "TOOLS"]

Ask = dict[str, Any]

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday")
_BY_RULE = {
    "angry": "I am sorry about that.",
    "callback": "A colleague can call you back today.",
    "billing.loyal": "Thank you for your many years with us.",
    "billing.outage_credit": "Each day without a line is credited with your next invoice.",
    "billing.explain.roaming": "Calls within the European Union cost nothing extra.",
    "outage.emergency_calls": "Emergency calls to 112 work from any mobile phone.",
}
"""What these agents say for a guideline that holds."""


def _say(ask: Ask, text: str, **known: Any) -> Ask:
    rules = [_BY_RULE.get(rule["id"], "") for rule in ask.get("guidelines", ())]
    return {"response": " ".join(filter(None, [*rules, text])), **known}


def _said(ask: Ask, pattern: str) -> bool:
    return re.search(pattern, ask["message"], re.I) is not None


def identify(ask: Ask) -> Ask:
    """Ask for the customer number, unless it is known."""
    number = re.search(r"\bK-\d{4}\b", ask["message"], re.I)
    if number:
        try:
            name = find_customer(number[0])["name"]
        except LookupError:
            return _say(ask, f"I find no customer {number[0]}. What is your customer number?")
        return {"response": f"Thank you, {name}.", "customer_number": number[0].upper()}
    if ask["context"].get("customer_number"):
        return {"response": "One moment, I look that up."}
    return _say(ask, "What is your customer number? It begins with K.")


def explain(ask: Ask) -> Ask:
    """Say what the invoice is made of, once; then wait for a yes."""
    invoice = ask["tool_results"]["latest_invoice"]
    if "failed" in invoice:
        return _say(ask, "I cannot see your invoice just now.")
    if "invoice" in ask["context"] and _said(ask, r"\b(yes|right|fine|thanks?|ok)\b"):
        return _say(ask, "Good.", settled=True)
    items = ", ".join(f"{item} {amount:.2f}" for item, amount in invoice["items"].items())
    told = f"Your invoice of {invoice['month']} is {invoice['total']:.2f} euros: {items}."
    return _say(ask, f"{told} Is that right?")


def dispute(ask: Ask) -> Ask:
    """Find the item that is meant among those of the invoice."""
    for item in ask["context"].get("invoice", {}).get("items", {}):
        if _said(ask, re.escape(item.split()[0])):
            return {"response": f"You mean {item}.", "item": item}
    return _say(ask, "Which item of the invoice is it?")


def credit(ask: Ask) -> Ask:
    """Say what was taken off."""
    credited = ask["tool_results"]["credit_item"]
    if "failed" in credited:
        return _say(ask, f"That cannot be taken off: {credited['failed']}.")
    amount, left = credited["amount"], credited["left"]
    return _say(ask, f"{amount:.2f} euros are taken off; {left:.2f} euros are left to pay.")


def tariff(ask: Ask) -> Ask:
    """Name the tariff."""
    customer = ask["tool_results"]["find_customer"]
    if "tariff" not in customer:
        return _say(ask, "For that I need your customer number.")
    return _say(ask, f"You have {customer['tariff']} for {customer['price']:.2f} euros a month.")


def line(ask: Ask) -> Ask:
    """Say what is known of the line, once; then hear whether it works."""
    found = ask["tool_results"]["outage_at"]
    if "outage" in ask["context"] and _said(ask, r"\b(works|working|back)\b"):
        return _say(ask, "Good to hear.", works=True)
    if "failed" in found:
        return _say(ask, "I cannot see your line just now.")
    if found["known"]:
        return _say(ask, f"There is an outage: {found['cause']}. It lasts until {found['until']}.")
    return _say(ask, "Your line is fine from here. Please restart the router. Does it work now?")


def visit(ask: Ask) -> Ask:
    """Ask for a day."""
    day = next((day for day in _DAYS if _said(ask, day)), None)
    if day:
        return {"response": f"{day.capitalize()} is possible.", "day": day}
    return _say(ask, "On which day from Monday to Friday may a technician come?")


def booked(ask: Ask) -> Ask:
    """Say when the technician comes."""
    booking = ask["tool_results"]["book_visit"]
    if "failed" in booking:
        return _say(ask, "I could not book that.")
    when = f"{booking['day']} between {booking['between']}"
    return _say(ask, f"A technician comes on {when}; the reference is {booking['reference']}.")


AGENTS = {
    agent.__name__: agent
    for agent in (identify, explain, dispute, credit, tariff, line, visit, booked)
}
MODEL_AGENTS: dict[str, Any] = {}  # with a model, every state is an agent by its file
DEMO_MESSAGES = (
    "Good morning",
    "My line is dead, for the third time!",
    "I am K-5120",
    "And when does it work again?",
    "I want my money back for that",
    "Which tariff do I have?",
    "I did not order the film package",
)
