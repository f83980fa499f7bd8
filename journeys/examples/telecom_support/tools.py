"""Tools of the support desk: customers, invoices and outages from the data files."""

import csv
import json
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
CUSTOMERS: dict[str, Any] = json.loads((_HERE / "customers.json").read_text("utf-8"))
INVOICES: dict[str, Any] = json.loads((_HERE / "invoices.json").read_text("utf-8"))
OUTAGES = list(csv.DictReader((_HERE / "outages.csv").read_text("utf-8").splitlines()))
_DISCOUNT = {"from": 2016, "percent": 20}


def find_customer(number: str) -> dict[str, Any]:
    """Look a customer up by number."""
    known = CUSTOMERS.get(number.strip().upper())
    if known is None:
        raise LookupError(f"there is no customer {number}")
    return {"number": number.strip().upper(), **known}


def latest_invoice(number: str) -> dict[str, Any]:
    """Return the latest invoice of a customer: its month, items and total."""
    invoice = INVOICES[find_customer(number)["number"]]
    return {**invoice, "total": round(sum(invoice["items"].values()), 2)}


def credit_item(number: str, item: str) -> dict[str, Any]:
    """Take an item off the latest invoice; what the tariff itself costs stays on it."""
    invoice, tariff = latest_invoice(number), find_customer(number)["tariff"]
    named = {name.casefold(): name for name in invoice["items"] if name != tariff}
    name = named.get(item.strip().casefold())
    if name is None:
        raise LookupError(f"the invoice has no {item} that could be taken off")
    amount = invoice["items"][name]
    return {"item": name, "amount": amount, "left": round(invoice["total"] - amount, 2)}


def offer_discount(number: str) -> dict[str, Any]:
    """Say which discount a customer may be offered; nobody who is with us for long gets less."""
    old = find_customer(number)["since"] <= _DISCOUNT["from"]
    return {"percent": _DISCOUNT["percent"] if old else _DISCOUNT["percent"] // 2}


def outage_at(number: str) -> dict[str, Any]:
    """Say what is known of an outage where a customer lives."""
    postcode = find_customer(number)["postcode"]
    for outage in OUTAGES:
        if outage["postcode"] == postcode:
            return {
                "known": True,
                "cause": outage["cause"],
                "until": outage["until"],
                "days": int(outage["days"]),
            }
    return {"known": False, "days": 0}


def book_visit(number: str, day: str) -> dict[str, Any]:
    """Book a technician; the same visit has the same reference, so that it is booked once."""
    customer = find_customer(number)
    reference = f"T-{customer['number'][2:]}-{day[:3].upper()}"
    return {"reference": reference, "day": day.capitalize(), "between": "8 and 12"}


TOOLS = {
    "find_customer": find_customer,
    "latest_invoice": latest_invoice,
    "credit_item": credit_item,
    "offer_discount": offer_discount,
    "outage_at": outage_at,
    "book_visit": book_visit,
}
