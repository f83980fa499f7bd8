"""Handoff: the front desk of a bank answers, or hands over to cards, fraud or lending."""

import json
import re
from pathlib import Path
from statistics import median
from typing import Any

from journeygraph import Agent, Handoff, ModelAgent, OutputField, Pipeline, Signature

BANK = json.loads((Path(__file__).with_suffix("") / "bank.json").read_text(encoding="utf-8"))
SAMPLES = (
    "My card ending in 4471 was stolen, I think somebody uses it!",
    "I lost my card, the last digits are 9032.",
    "What would a mortgage of 250000 euros cost me over 30 years?",
)
Given = dict[str, Any]


class Call(Signature):
    """You answer the phone of a bank. Say what your tools return; hand over what is not yours."""

    response: str = OutputField(description="What to say to the caller")


def find_card(digits: str) -> dict[str, Any]:
    """Look up the holder, the balance and the payments of a card by its last four digits."""
    return dict(BANK["cards"].get(digits, {}))


def odd_payments(digits: str) -> list[dict[str, Any]]:
    """List payments with a card that are unlike its holder: abroad, and over 3 times the usual."""
    card = BANK["cards"].get(digits, {"payments": []})
    most = 3 * median([payment["amount"] for payment in card["payments"]] or [0])
    return [p for p in card["payments"] if p["country"] != card["home"] and p["amount"] > most]


def monthly_payment(kind: str, amount: int, years: int) -> str:
    """Compute what a loan (mortgage, car, personal) costs a month, or say why it is refused."""
    terms = BANK["loans"][kind]
    if not (terms["least"] <= amount <= terms["most"] and 0 < years <= terms["most_years"]):
        limits = f"{terms['least']} to {terms['most']} euros, over {terms['most_years']} years"
        return f"A {kind} loan is for {limits} at most."
    rate = terms["rate_pct"] / 1200
    cost = amount * rate / (1 - (1 + rate) ** (-12 * years))
    return f"That costs {cost:.2f} euros a month, at {terms['rate_pct']} % for {years} years."


def _digits(given: Given) -> str:
    return next((n for n in re.findall(r"\b\d{4}\b", given["message"]) if n in BANK["cards"]), "")


def front_desk(given: Given) -> Given:
    """Tell callers their balance, and hand over what they ask beyond that."""
    said, digits = given["message"].lower(), _digits(given)
    if to := next((desk for desk, words in BANK["asked"].items() if re.search(words, said)), ""):
        return {"handoff": Handoff(to, f"the caller asks for {to}", history=2)}
    if digits and "balance" in said:
        return {"response": f"The balance is {find_card(digits)['balance']:.2f} euros."}
    return {"response": "I can help with cards, loans and balances. Which card is it?"}


def cards(given: Given) -> Given:
    """Block a card that was lost or stolen, and pass it on if others have used it."""
    if not (digits := _digits(given)):
        return {"response": "What are the last four digits of the card?"}
    said = f"Card {digits} of {find_card(digits)['holder']} is blocked, a new one is on its way."
    odd = ", ".join(payment["where"] for payment in odd_payments(digits))
    return {"response": said, "handoff": Handoff("fraud", f"odd payments: {odd}") if odd else None}


def fraud(given: Given) -> Given:
    """Claim back payments that the holder of a card did not make."""
    before = given.get("handoff", {}).get("outputs", {}).get("response", "")
    odd = odd_payments(_digits(given))
    listed = ", ".join(f"{payment['amount']:.2f} to {payment['where']}" for payment in odd)
    claim = f"We claim back {listed}." if odd else "Which payment, and with which card?"
    return {"response": f"{before} {claim}".strip(), "claimed": [payment["id"] for payment in odd]}


def lending(given: Given) -> Given:
    """Say what a loan or a mortgage costs a month."""
    kind = next((kind for kind in BANK["loans"] if kind in given["message"].lower()), "personal")
    numbers = sorted(int(number) for number in re.findall(r"\d+", given["message"]))
    if len(numbers) != 2:
        return {"response": "How much would you like to borrow, over how many years?"}
    return {"response": monthly_payment(kind, numbers[1], numbers[0])}


_DESKS: tuple[Any, ...] = (front_desk, cards, fraud, lending)
_TOOLS: Any = [[find_card], [find_card, odd_payments], [odd_payments], [monthly_payment]]
PIPELINE = Pipeline.handoff(_DESKS)
MODEL_PIPELINE = Pipeline.handoff(
    [
        Agent(ModelAgent(signature=Call, tools=tools), desk.__name__, desk.__doc__)
        for desk, tools in zip(_DESKS, _TOOLS, strict=True)
    ]
)
