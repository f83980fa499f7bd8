"""Debate: one side wants to build a system, the other to buy it; a judge counts what stands."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

from journeygraph import Agent, ModelAgent, OutputField, Pipeline, Signature

SYSTEMS = json.loads((Path(__file__).with_suffix("") / "systems.json").read_text(encoding="utf-8"))
SIDES = {"build": "builder", "buy": "buyer"}
MONTH = 9_500  # what a month of a developer costs, in euros
SAMPLES = (
    "Should we build or buy the search of our shop, for 5 years?",
    "Build or buy the login for 40000 users, over 4 years?",
    "The planning of rounds for 60 users: build it or buy it, if we look 3 years ahead?",
)


class Speech(Signature):
    """Argue for your side, by what your tools return: what it costs, and what speaks for it."""

    response: str = OutputField(description="Your argument, with the numbers")


class Verdict(Signature):
    """Judge a debate on building or buying a system: topic by topic, who has the better case?"""

    response: str = OutputField(description="The verdict, and what it rests on")


def costs(system: str, years: int, users: int) -> dict[str, int]:
    """Compute what a system (search, login, planning) costs in euros, if built and if bought."""
    build, buy = SYSTEMS[system]["build"], SYSTEMS[system]["buy"]
    months = build["person_months"] + years * build["upkeep_months_a_year"]
    rent = buy["a_year"] + users * buy["a_user_and_year"]
    return {"build": months * MONTH, "buy": buy["setup"] + years * rent}


def arguments(system: str, side: str) -> list[dict[str, Any]]:
    """List what speaks for a side (build or buy), with the points that it is worth."""
    return [argument for argument in SYSTEMS[system]["arguments"] if argument["side"] == side]


def _number(pattern: str, message: str, otherwise: int) -> int:
    said = re.search(pattern, message)
    return int(said[1]) if said else otherwise


def _case(message: str, side: str) -> list[dict[str, Any]]:
    """Return all that a side can say, its costs among it where they are the lower ones."""
    system = next((name for name in SYSTEMS if name in message.lower()), "")
    if not system:
        raise LookupError(f"name a system: {', '.join(SYSTEMS)}")
    years = _number(r"(\d+) years?", message, 3)
    users = _number(r"(\d+) (?:users|people|customers)", message, 50)
    spent = costs(system, years, users)
    mine, other = spent.pop(side), *spent.values()
    points = 3 if other > 1.5 * mine else 2 if other > mine else 0
    claim = f"In {years} years it costs {mine:,} euros, the other way {other:,}"
    cost = {"topic": "cost", "points": points, "claim": claim}
    return [*([cost] if points else []), *arguments(system, side)]


def speak(given: dict[str, Any], side: str) -> dict[str, Any]:
    """Answer what the other side said last, if there is something to say to it; else go on."""
    said = [speech["outputs"] for speech in given["debate"]]
    left = [
        a for a in _case(given["message"], side) if a["claim"] not in [s["claim"] for s in said]
    ]
    heard = [speech["topic"] for speech in said if speech["side"] != side][-1:]
    nothing = {"side": side, "topic": "", "points": 0, "claim": "All is said"}
    argument = next((a for a in left if a["topic"] in heard), [*left, nothing][0])
    return {**argument, "side": side, "response": f"{side.capitalize()}: {argument['claim']}."}


def judge(given: dict[str, Any]) -> dict[str, Any]:
    """Give each topic to the side with the better argument on it, and count their points."""
    best: dict[str, dict[str, Any]] = {}
    for speech in sorted((s["outputs"] for s in given["debate"]), key=lambda s: s["points"]):
        best[speech["topic"]] = speech
    points = {side: sum(s["points"] for s in best.values() if s["side"] == side) for side in SIDES}
    if points["build"] == points["buy"]:
        return {"winner": None, "response": f"Both have {points['buy']} points: decide by taste."}
    side = max(SIDES, key=lambda name: points[name])
    why = "; ".join(speech["claim"] for speech in best.values() if speech["side"] == side)
    return {"winner": SIDES[side], "response": f"{side.capitalize()} it: {why}.", "points": points}


def _debaters(call: Any) -> list[Agent]:
    return [Agent(call(side), name, f"Argues to {side} it.") for side, name in SIDES.items()]


_debater = ModelAgent(signature=Speech, tools=[costs, arguments])
PIPELINE = Pipeline.debate(_debaters(lambda side: partial(speak, side=side)), judge=judge)
MODEL_PIPELINE = Pipeline.debate(
    _debaters(lambda _: _debater), judge=Agent(ModelAgent(signature=Verdict), "judge")
)
