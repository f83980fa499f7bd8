"""Parallel: four checks of a vendor at once, and an aggregator that makes one decision of them."""

import inspect
import json
import re
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from rapidfuzz import fuzz

from journeygraph import Agent, ModelAgent, OutputField, Pipeline, Signature

_FOLDER = Path(__file__).with_suffix("")
VENDORS = json.loads((_FOLDER / "vendors.json").read_text(encoding="utf-8"))
LISTED = (_FOLDER / "watchlist.txt").read_text(encoding="utf-8").splitlines()
SAMPLES = (
    "Can we order from Noord Cloud on 2026-12-01?",
    "May we go on with PrintRight Leasing on 2026-12-01?",
    "Please check Meridiaan Metaal as of 2026-12-15.",
)
Report = dict[str, Any]


class Check(Signature):
    """Check a vendor from your side alone: give what your tool returns."""

    level: int = OutputField(description="0: sound, 1: only on conditions, 2: do not buy")
    finding: str = OutputField(description="What you found, with names and numbers")


class Decision(Signature):
    """Decide whether to buy from a vendor: the worst of the checks counts."""

    response: str = OutputField(description="Yes, yes on conditions, or no; and why")


def finances(vendor: str) -> Report:
    """Check a vendor's accounts, in millions: is there equity, a profit, and not too much debt?"""
    books = VENDORS[vendor]["accounts"]
    share = books["equity"] / (books["equity"] + books["debt"])
    said = f"result {books['result']}, equity {share:.0%} of capital"
    return {"level": (books["result"] < 0) + (share < 0.25), "finding": said}


def ownership(vendor: str) -> Report:
    """Check a vendor and its owners against the watchlist, where names may be spelled otherwise."""
    names = [vendor, *VENDORS[vendor]["owners"]]
    pairs = [(fuzz.token_sort_ratio(one, other), one, other) for one in names for other in LISTED]
    alike, one, other = max(pairs)
    return {"level": (alike > 70) + (alike > 85), "finding": f"{one} is {alike:.0f} % like {other}"}


def certificates(vendor: str, on: str) -> Report:
    """Check which certificates a vendor has, and whether they still hold on a day (YYYY-MM-DD)."""
    held = VENDORS[vendor]["certificates"]
    expired = [name for name, until in held.items() if until < on]
    said = f"expired: {', '.join(expired)}" if expired else f"valid: {', '.join(held) or 'none'}"
    return {"level": int(bool(expired) or not held), "finding": said}


def privacy(vendor: str) -> Report:
    """Check how a vendor deals with personal data: where they are, the agreement, breaches."""
    data = VENDORS[vendor]["data"]
    level = min(2, (data["region"] == "US") + (not data["agreement"]) + data["breaches"])
    return {"level": level, "finding": ", ".join(f"{name}: {what}" for name, what in data.items())}


def _work(given: dict[str, Any], check: Any) -> Report:
    """Run a check on the vendor that the message names, as of the day in it or of today."""
    said = given["message"].lower()
    alike, vendor = max((fuzz.partial_ratio(name.lower(), said), name) for name in VENDORS)
    if alike < 70:
        raise LookupError(f"name one of {', '.join(VENDORS)}")
    day = re.search(r"\d{4}-\d\d-\d\d", said)
    known = {"vendor": vendor, "on": day[0] if day else datetime.now(tz=UTC).date().isoformat()}
    return dict(check(*(known[name] for name in inspect.signature(check).parameters)))


def decision(given: dict[str, Any]) -> dict[str, Any]:
    """Let the worst check decide; a check that failed counts as a condition."""
    reports = [(result["agent"], result["outputs"]) for result in given["results"]]
    reports += [(f["agent"], {"level": 1, "finding": f["error"]}) for f in given["failed"]]
    worst = max(report["level"] for _, report in reports)
    why = [f"{name}: {report['finding']}" for name, report in reports if report["level"] == worst]
    return {"response": f"{('Yes', 'Yes, on conditions', 'No')[worst]}: {'; '.join(why)}."}


def _checks(call: Any) -> list[Agent]:
    checks: list[Any] = [finances, ownership, certificates, privacy]
    return [Agent(call(check), check.__name__, check.__doc__) for check in checks]


PIPELINE = Pipeline.parallel(_checks(lambda check: partial(_work, check=check)), decision)
MODEL_PIPELINE = Pipeline.parallel(
    _checks(lambda check: ModelAgent(signature=Check, tools=[check])),
    Agent(ModelAgent(signature=Decision), "decision"),
)
