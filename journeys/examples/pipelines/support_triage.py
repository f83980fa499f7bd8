"""Router: a customer of a shop for coffee machines writes, and the desk that fits best answers."""

import json
import re
from pathlib import Path
from typing import Any

from journeygraph import (
    Agent,
    ModelAgent,
    OutputField,
    Passage,
    Pipeline,
    Signature,
    Skill,
    select_passages,
)

_FOLDER = Path(__file__).with_suffix("")
SHOP = json.loads((_FOLDER / "shop.json").read_text(encoding="utf-8"))
HANDBOOK = [
    Passage(section, about=section.partition("\n")[0])
    for section in (_FOLDER / "handbook.md").read_text(encoding="utf-8").split("\n## ")[1:]
]
SAMPLES = (
    "Where is my parcel? It is order B-2003.",
    "I was charged twice for B-2002, please refund one of the payments.",
    "The red light of my machine blinks slowly, is it broken?",
)


class Reply(Signature):
    """You work for a shop for coffee machines. Answer from what your tool returns, and no more."""

    response: str = OutputField(description="The answer; it asks for the order number if missing")


def track_order(number: str) -> dict[str, Any]:
    """Look up what is in an order such as B-2001, where it is, and when it is due."""
    return dict(SHOP["orders"].get(number, {}))


def list_payments(number: str) -> dict[str, Any]:
    """Look up what an order such as B-2001 costs, what was paid for it, and what is owed."""
    paid = SHOP["payments"].get(number, [])
    price = SHOP["orders"].get(number, {}).get("price", 0)
    return {"price": price, "paid": paid, "owed": price - sum(way["amount"] for way in paid)}


def search_handbook(question: str) -> str:
    """Search the handbook for what to do if something does not work; empty if it has nothing."""
    found = select_passages(question, HANDBOOK, k=1)
    return found[0].text if found else ""


def _number(given: dict[str, Any]) -> str:
    said = re.search(r"\bB-\d+\b", given["message"])
    return said[0] if said and said[0] in SHOP["orders"] else ""


def deliveries(given: dict[str, Any]) -> str:
    """Find out where a parcel is and when it arrives."""
    if not (number := _number(given)):
        return "Which order is it? Its number begins with B-."
    order = track_order(number)
    return f"{number} is {order['status']}: {order['where']}; {order['carrier']}, {order['due']}."


def payments(given: dict[str, Any]) -> str:
    """Explain what was charged, and refund what was paid too much."""
    if not (number := _number(given)):
        return "Which order is it about? Its number begins with B-."
    account = list_payments(number)
    if account["owed"] < 0:
        return f"You paid {-account['owed']:.2f} too much for {number}: it goes back to you today."
    return f"Order {number} costs {account['price']:.2f}; {account['owed']:.2f} of it is open."


def repairs(given: dict[str, Any]) -> str:
    """Help with a machine that does not do what it should, from the handbook."""
    heading, _, advice = search_handbook(given["message"]).partition("\n")
    return f"{heading}: {' '.join(advice.split())}" if advice else "What does the machine do?"


_DESKS: tuple[tuple[Any, Any, list[str]], ...] = (
    (deliveries, track_order, ["parcel", "package", "shipping", "arrive", "carrier", "courier"]),
    (payments, list_payments, ["charged", "invoice", "refund", "bill", "paid", "money", "twice"]),
    (repairs, search_handbook, ["broken", "leaks", "light", "coffee", "grinder", "milk", "water"]),
)


def _agent(desk: Any, tool: Any, words: list[str], *, model: bool) -> Agent:
    call = ModelAgent(signature=Reply, tools=[tool]) if model else desk
    return Agent(call, desk.__name__, desk.__doc__, [Skill(desk.__name__, synonyms=words)])


PIPELINE = Pipeline.router([_agent(*desk, model=False) for desk in _DESKS])
MODEL_PIPELINE = Pipeline.router([_agent(*desk, model=True) for desk in _DESKS], "llm")
