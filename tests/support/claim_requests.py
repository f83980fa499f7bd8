"""The claims desk of the examples with more rules, and how alike its requests to a model begin."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from journeygraph import Journey, load_journey
from journeygraph.journeys.examples import insurance_claim
from journeygraph.nodes.llm.scripted import Call, leads_to, rules_hold

SAID = (
    "There is a hole in the ceiling of my kitchen",
    "It was there when I came down in the morning",
    "My neighbour above saw it too, and her floor is wet",
    "I have photos of all of it, do you want them now or later?",
    "One moment, my wife keeps our papers",
    "It must be in the drawer here, number four I think",
    "The carpet has to go as well, and the lamp",
    "The paper from the bank does not help, does it?",
    "So what else should I look for?",
)
"""What a customer says who never gives the number, so that the session stays where it is."""
REPLIES = (
    "I am sorry to hear that. What is the number of your policy?",
    "Thank you. So that I can look it up: what is the number of your policy, please?",
    "That will help us later. Which policy is it? Its number begins with HH.",
)


def claims_with(rules: int, folder: Path) -> type[Journey]:
    """Return the claims desk with so many rules more, from files of its own."""
    for file in Path(insurance_claim.__file__).parent.glob("*.yaml"):
        shutil.copy(file, folder)
    more = "".join(
        f"  - {{id: rule_{n}, condition: the customer asks about paper number {n} of the claim, "
        f"keywords: [paper {n}], action: Say where paper {n} is found.}}\n"
        for n in range(rules)
    )
    desk = folder / "insurance_claim.yaml"
    desk.write_text(desk.read_text("utf-8").replace("guidelines:\n", f"guidelines:\n{more}"))
    return load_journey(desk)


def answer(call: Call) -> Any:
    """Answer as a model would that is told no number: report the damage, and ask for it."""
    if call.schema_name == "understanding":
        begins = "hole" in json.loads(call.message)["user_message"]
        return (leads_to("claim.report") if begins else rules_hold())(call)
    outputs = (call.schema or {}).get("properties", {})
    if "is_valid" in outputs:
        return {"is_valid": True, "violations": [], "suggested_fixes": [], "confidence": 0.9}
    reply = REPLIES[len(call.messages) % len(REPLIES)]
    return {name: reply if name == "response" else None for name in outputs}


def request_of(call: Call) -> str:
    """Return a request as providers order it: tools, the schema of the answer, the messages."""
    parts = [call.body.get("tools"), call.body.get("response_format"), call.messages]
    return "".join(json.dumps(part, ensure_ascii=False) for part in parts)


def shares(calls: Sequence[Call]) -> list[float]:
    """Return how much of each request it has in common with the beginning of the one before."""
    pairs = pairwise(request_of(call) for call in calls)
    return [_common(one, other) / len(other) for one, other in pairs]


def _common(one: str, other: str) -> int:
    """Return of how many characters the common beginning of two texts is."""
    differing = (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differing, min(len(one), len(other)))


def named(calls: Sequence[Call], schema: str) -> list[Call]:
    """Return the calls that ask for a schema, except for the first, which is made elsewhere."""
    return [call for call in calls if call.schema_name == schema][1:]
