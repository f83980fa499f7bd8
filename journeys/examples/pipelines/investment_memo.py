"""Ensemble: the analysts who fit a question read a company's figures, and one memo comes of it."""

import csv
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

from rapidfuzz import fuzz

from journeygraph import Agent, ModelAgent, OutputField, Pipeline, Signature, Skill

_FOLDER = Path(__file__).with_suffix("")
# What each knows about, and its measures: where they are bad, and where they are good.
ANALYSTS = json.loads((_FOLDER / "analysts.json").read_text(encoding="utf-8"))
COMPANIES: dict[str, list[dict[str, float]]] = {}
_TABLE = (_FOLDER / "fundamentals.csv").read_text(encoding="utf-8").splitlines()
for _row in csv.DictReader(_TABLE):
    _year = {name: float(value) for name, value in _row.items() if name != "company"}
    COMPANIES.setdefault(_row["company"], []).append(_year)
SAMPLES = (
    "Is the dividend of Halden Shipping safe, and can it pay its debt?",
    "Does Nordlicht Software grow fast enough for its price?",
    "How profitable is Meridian Medical, how does it grow, and is it expensive?",
)


class View(Signature):
    """Judge a company from your angle alone, by the measures that your tool returns."""

    view: str = OutputField(description="What the measures say, with the numbers")
    score: int = OutputField(description="From -2 (stay away) to 2 (buy)")


class Memo(Signature):
    """Write an investment memo from what the analysts found; say where they disagree."""

    response: str = OutputField(description="The memo; it ends in buy, hold or avoid")


def _growth(first: float, last: float) -> float:
    return ((last / first) ** 0.25 - 1) * 100 if first > 0 and last > 0 else -100.0


def measures(company: str) -> dict[str, float]:
    """Compute what matters of a company: of its last year, and of the four years up to it."""
    first, *_, last = COMPANIES[company]
    worth, paid = last["price"] * last["shares"], last["dividend"] * last["shares"]
    operating, earned, cash = (last[k] for k in ("operating_income", "net_income", "free_cash"))
    return {
        "revenue growth in % a year": _growth(first["revenue"], last["revenue"]),
        "profit growth in % a year": _growth(first["net_income"], earned),
        "earnings in % of the price": 100 * earned / worth,
        "free cash in % of the price": 100 * cash / worth,
        "dividend in % of the price": 100 * paid / worth,
        "free cash paid out in %": 100 * paid / max(cash, 1),
        "years of profit to pay the debt": (last["debt"] - last["cash"]) / max(operating, 1),
        "equity in % of all capital": 100 * last["equity"] / (last["equity"] + last["debt"]),
        "operating margin in %": 100 * operating / last["revenue"],
        "return on equity in %": 100 * earned / last["equity"],
    }


def _judged(given: dict[str, Any], area: str) -> dict[str, Any]:
    words = re.findall(r"\w+", given["message"].lower())
    near = (c for c in COMPANIES if any(fuzz.ratio(c.split()[0].lower(), w) > 84 for w in words))
    if not (company := next(near, "")):
        raise LookupError(f"name a company of the table: {', '.join(COMPANIES)}")
    found, scales = measures(company), ANALYSTS[area]["measures"]
    places = [(found[name] - bad) / (good - bad) for name, (bad, good) in scales.items()]
    view = ", ".join(f"{name} {found[name]:.1f}" for name in scales)
    score = sum((place >= 1) - (place <= 0) for place in places)
    return {"company": company, "view": f"{area}: {view}", "score": score}


def synthesizer(given: dict[str, Any]) -> dict[str, Any]:
    """Weigh the views: two points above or below zero decide, else it is a hold."""
    views = [perspective["outputs"] for perspective in given["perspectives"]]
    scores = [view["score"] for view in views]
    advice = "buy" if sum(scores) >= 2 else "avoid" if sum(scores) <= -2 else "hold"
    split = " (the analysts disagree)" if min(scores) < 0 < max(scores) else ""
    lines = [f"\n- {view['view']} ({view['score']:+d})" for view in views]
    return {"response": f"{views[0]['company']}: {advice}{split}{''.join(lines)}", "advice": advice}


def _analyst(area: str, call: Any) -> Agent:
    skill = Skill(area, synonyms=ANALYSTS[area]["words"])
    return Agent(call, area, f"Judge the {area} of a company.", [skill])


_functions = [_analyst(area, partial(_judged, area=area)) for area in ANALYSTS]
_models = [_analyst(area, ModelAgent(signature=View, tools=[measures])) for area in ANALYSTS]
PIPELINE = Pipeline.ensemble(_functions, synthesizer)
MODEL_PIPELINE = Pipeline.ensemble(_models, Agent(ModelAgent(signature=Memo), "synthesizer"))
