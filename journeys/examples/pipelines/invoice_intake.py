"""Sequential: read an invoice, check its sums and its sender, book it or put it aside."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from journeygraph import Agent, InputField, ModelAgent, OutputField, Pipeline, Signature

_FOLDER = Path(__file__).with_suffix("")
BOOKS = json.loads((_FOLDER / "books.json").read_text(encoding="utf-8"))
SAMPLES = tuple(p.read_text(encoding="utf-8") for p in sorted(_FOLDER.glob("invoices/*.txt")))
_TEXTS = {"supplier": r"\A\s*(.+)", "iban": r"^IBAN (\w+)", "number": r"^Invoice (\S+)"}
_SUMS = {"net": r"^Net +([\d.]+)", "vat": r"^VAT +([\d.]+)", "total": r"^Total +([\d.]+)"}
_LINE = re.compile(r"^(\d+) x (.+?) +(\d+\.\d\d) +[\d.]+ +(\d+)%$", re.M)


class Line(TypedDict):
    """One line of an invoice; the price of one is in cents, the rate of VAT in percent."""

    text: str
    quantity: int
    price: int
    rate: int


class Invoice(Signature):
    """Read an invoice. Amounts are in cents; what it does not say is empty or 0."""

    message: str = InputField(description="The text of the invoice")
    supplier: str = OutputField(description="Who sent it, by the full name")
    iban: str = OutputField(description="Where they want to be paid")
    number: str = OutputField(description="Its number")
    lines: list[Line] = OutputField(description="What is charged")
    net: int = OutputField(description="Sum without VAT")
    vat: int = OutputField(description="VAT")
    total: int = OutputField(description="Sum with VAT")


def read(given: dict[str, Any]) -> dict[str, Any]:
    """Read the supplier, the number, the lines and the sums off the text of an invoice."""
    found = {k: re.search(p, given["message"], re.M) for k, p in {**_TEXTS, **_SUMS}.items()}
    said = {name: hit[1].strip() if hit else "0" * (name in _SUMS) for name, hit in found.items()}
    lines = [
        {"text": text, "quantity": int(n), "price": round(float(price) * 100), "rate": int(rate)}
        for n, text, price, rate in _LINE.findall(given["message"])
    ]
    return {**said, **{name: round(float(said[name]) * 100) for name in _SUMS}, "lines": lines}


def check(given: dict[str, Any]) -> dict[str, Any]:
    """Check the number, the supplier and the bank account against the books, and all the sums."""
    number, by_rate = given["number"], Counter[int]()
    for line in given["lines"]:
        by_rate[line["rate"]] += line["quantity"] * line["price"]
    net = by_rate.total()
    vat = sum((amount * rate + 50) // 100 for rate, amount in by_rate.items())
    faults = {
        f"number '{number}' is missing or booked already": number in ["", *BOOKS["booked"]],
        "the bank account is not on file for that supplier": given["iban"]
        != BOOKS["suppliers"].get(given["supplier"], "unknown"),
        f"net should be {net / 100:.2f}": net == 0 or net != given["net"],
        f"VAT should be {vat / 100:.2f}": vat != given["vat"],
        "net and VAT do not make the total": given["net"] + given["vat"] != given["total"],
    }
    return {"faults": [fault for fault, holds in faults.items() if holds]}


def book(given: dict[str, Any]) -> dict[str, Any]:
    """Book an invoice to the accounts that its lines are about; put one with faults aside."""
    if given["faults"]:
        return {"response": f"Put aside: {'; '.join(given['faults'])}."}
    entry = Counter[str]()
    for line in given["lines"]:
        words = set(re.findall(r"\w+", line["text"].lower()))
        fitting = (name for name, known in BOOKS["accounts"].items() if words & {*known})
        entry[next(fitting, "4900 Other costs")] += line["quantity"] * line["price"]
    entry += Counter({"1520 VAT to reclaim": given["vat"]})
    said = ", ".join(f"{account} {cents / 100:.2f}" for account, cents in entry.items())
    response = f"Booked {given['number']}: {said}; to be paid: {given['total'] / 100:.2f}."
    return {"response": response, "entry": dict(entry)}


PIPELINE = Pipeline.sequential([read, check, book])
# A model reads any layout. Sums and bank accounts stay with functions, which do not guess.
MODEL_PIPELINE = Pipeline.sequential(
    [Agent(ModelAgent(signature=Invoice), name="read"), check, book]
)
