"""Tools of the insurance claim: policies, rates and partners from the data files."""

import csv
import json
from pathlib import Path
from typing import Any

_HERE = Path(__file__).parent
POLICIES: dict[str, Any] = json.loads((_HERE / "policies.json").read_text("utf-8"))
RATES: dict[str, Any] = json.loads((_HERE / "rates.json").read_text("utf-8"))
PARTNERS = list(csv.DictReader((_HERE / "partners.csv").read_text("utf-8").splitlines()))
HOTLINE = "0800 555 0199"


def find_policy(number: str) -> dict[str, Any]:
    """Look a policy up by its number."""
    policy = POLICIES.get(number.strip().upper())
    if policy is None:
        raise LookupError(f"there is no policy {number}")
    return {"number": number.strip().upper(), **policy}


def estimate(number: str, damage: str, loss: float) -> dict[str, Any]:
    """Say what a policy pays: the share of the loss within its limits, less the excess."""
    policy, rate = find_policy(number), RATES[damage]
    if damage not in policy["covers"]:
        return {"covered": False, "pays": 0.0, "excess": policy["excess"]}
    most = min(loss * rate["share"], rate["most"], policy["limit"])
    pays = round(max(most - policy["excess"], 0.0), 2)
    return {"covered": True, "pays": pays, "excess": policy["excess"]}


def file_claim(number: str, damage: str, loss: float) -> dict[str, Any]:
    """File a claim. The same one has the same number, so that filing it twice files it once."""
    pays = estimate(number, damage, loss)["pays"]
    name = f"C-{find_policy(number)['number'][3:]}-{damage[:2].upper()}{loss:.0f}"
    return {"claim": name, "days": 3 if pays <= 5000 else 14}


def nearest_partner(postcode: str, trade: str) -> dict[str, Any]:
    """Find who of a trade is there soonest; where nobody is near, the hotline finds somebody."""
    near = [p for p in PARTNERS if p["trade"] == trade and postcode.startswith(p["area"])]
    if not near:
        return {"name": "", "call": HOTLINE}
    soonest = min(near, key=lambda partner: int(partner["minutes"]))
    return {"name": soonest["name"], "minutes": int(soonest["minutes"])}


TOOLS = {
    "find_policy": find_policy,
    "estimate": estimate,
    "file_claim": file_claim,
    "nearest_partner": nearest_partner,
}
