"""Supervisor and workers: a contract is checked against our rules, each by who knows its field."""

import json
import re
from pathlib import Path
from typing import Any

from journeygraph import Agent, ModelAgent, OutputField, Pipeline, Signature, Skill

_FOLDER = Path(__file__).with_suffix("")
_CHECKLIST = json.loads((_FOLDER / "checklist.json").read_text(encoding="utf-8"))
RULES = {rule["topic"]: rule for rule in _CHECKLIST}
SAMPLES = tuple(p.read_text(encoding="utf-8") for p in sorted(_FOLDER.glob("contracts/*.md")))
Given = dict[str, Any]


class Review(Signature):
    """Have the contract (the message) checked on each topic of the checklist: one task a topic."""

    response: str = OutputField(description="What is against our rules or missing, worst first")


class Finding(Signature):
    """Find the number that the contract (the message) has on the topic that is your task."""

    topic: str = OutputField(description="The topic")
    verdict: str = OutputField(description="What judge said of the number, as it is")


def checklist() -> list[str]:
    """List the topics on which a contract has to be checked."""
    return list(RULES)


def judge(topic: str, number: int | None) -> str:
    """Compare the number that a contract has on a topic with our rule; null if it has none."""
    rule = RULES[topic]
    wanted = f"{rule['least']} to {rule['most']} {rule['unit']}, because {rule['why']}"
    if number is None:
        return f"missing; we want {wanted}"
    fine = rule["least"] <= number <= rule["most"]
    return f"fine, {number} {rule['unit']}" if fine else f"{number}, against {wanted}"


def supervisor(given: Given) -> Given:
    """Split the checklist by topic, have small print searched for what is missing, and sum up."""
    if given["phase"] == "plan":
        return {"tasks": checklist()}
    found = {part["part"]: part["outputs"] for part in given["results"] if "outputs" in part}
    missing = [number for number, part in found.items() if part["verdict"].startswith("missing")]
    if missing and given["phase"] == "review":
        return {"reassign": [{"part": number, "worker": "small_print"} for number in missing]}
    lines = [f"{part['topic']}: {part['verdict']}" for part in found.values()]
    issues = sorted((line for line in lines if ": fine" not in line), key=lambda x: "missing" in x)
    points = "".join(f"\n- {issue}" for issue in issues)
    return {"response": f"{len(issues)} of {len(lines)} points to negotiate.{points}"}


def _finding(topic: str, text: str) -> Given:
    number = re.search(RULES[topic]["number"], text, re.I | re.S)
    return {"topic": topic, "verdict": judge(topic, int(number[1]) if number else None)}


def read_clause(given: Given) -> Given:
    """Find the number in the clause under whose heading a topic usually is."""
    heading = re.escape(RULES[given["task"]]["clause"])
    clause = re.search(rf"^## {heading}\n(.+?)(?=^## |\Z)", given["message"], re.M | re.S)
    return _finding(given["task"], clause[1] if clause else "")


def small_print(given: Given) -> Given:
    """Search every sentence that a topic could be in."""
    said = re.split(r"(?<=[.;])\s+", given["message"])
    words = RULES[given["task"]]["words"]
    return _finding(given["task"], " ".join(s for s in said if any(w in s.lower() for w in words)))


def _reader(area: str, call: Any) -> Agent:
    topics = [topic for topic, rule in RULES.items() if rule["area"] == area]
    skills = [Skill(topic, synonyms=[RULES[topic]["clause"]]) for topic in topics]
    return Agent(call, f"{area}_reader", f"Check {', '.join(topics)}.", skills)


_AREAS = ("money", "time", "privacy")
_worker = ModelAgent(signature=Finding, tools=[judge])
PIPELINE = Pipeline.supervisor_worker(
    supervisor, [*(_reader(area, read_clause) for area in _AREAS), small_print]
)
MODEL_PIPELINE = Pipeline.supervisor_worker(
    Agent(ModelAgent(signature=Review, tools=[checklist]), "supervisor"),
    [*(_reader(area, _worker) for area in _AREAS), Agent(_worker, "small_print")],
)
