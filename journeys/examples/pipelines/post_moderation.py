"""Consensus: four moderators who go by different things agree on a post, or a person decides."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from rapidfuzz import fuzz

from journeygraph import Agent, ModelAgent, OutputField, Pipeline, Signature

_FOLDER = Path(__file__).with_suffix("")
GUIDELINES, PRECEDENTS, MEMBERS = (
    json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    for name in ("guidelines", "precedents", "members")
)
SAMPLES = (
    "@kevin_77: shut up you clown, nobody asked you",
    '@mara: Somebody called me "a pathetic loser" in the bus. What would you have said?',
    "@deals4u: Buy now, 40 % discount at https://watches.example, promo code TEN",
)
Action = Literal["allow", "label", "hide", "remove"]  # from mild to strict
SCALE: tuple[str, ...] = get_args(Action)
SURE = 0.5
Judgement = dict[str, Any]


class Decision(Signature):
    """Decide what becomes of a post (the message); your tool gives you one side of it."""

    response: Action = OutputField(description="What becomes of it")
    reason: str = OutputField(description="Why, in a few words")
    confidence: float = OutputField(description="How sure you are, from 0 to 1")


def _judgement(action: str, reason: str, confidence: float) -> Judgement:
    return {"response": action, "reason": reason, "confidence": round(confidence, 2)}


def _signs(post: str) -> list[tuple[str, str]]:
    """Return action and reason of each rule that a post seems to break, the strictest first."""
    found = ((rule, re.search(sign, post, re.I)) for rule in GUIDELINES for sign in rule["signs"])
    signs = [(rule["action"], f"{rule['rule']}: '{hit[0]}'") for rule, hit in found if hit]
    return sorted(signs, key=lambda sign: SCALE.index(sign[0]), reverse=True)


def guidelines(post: str) -> Judgement:
    """Judge a post by the words that the guidelines name."""
    signs = _signs(post)
    return _judgement(*signs[0], 0.9) if signs else _judgement("allow", "no rule is broken", 0.4)


def precedents(post: str) -> Judgement:
    """Judge a post by what was done with the earlier one that is most like it."""
    case = max(PRECEDENTS, key=lambda case: fuzz.token_set_ratio(post, case["post"]))
    alike = fuzz.token_set_ratio(post, case["post"]) / 100
    return _judgement(case["action"], f"it was so with '{case['post']}'", alike)


def membership(post: str) -> Judgement:
    """Judge a post (@name: text) by its writer: years here count for them, strikes against."""
    writer = MEMBERS.get(post.partition(":")[0].strip("@ "), {"days": 0, "strikes": 0})
    known = f"{writer['days']} days, {writer['strikes']} strikes"
    if writer["strikes"] >= 3 or (writer["days"] < 7 and "://" in post):
        return _judgement("hide", known, 0.6)
    return _judgement("allow", known, 0.6 if writer["days"] > 365 else 0.3)


def context(post: str) -> Judgement:
    """Judge a post by whether it says a thing itself, or quotes it and tells of it."""
    own = re.sub(r'".*?"', "", post)
    told = re.search(r"\b(called|told|wrote) (me|us|him|her)\b", own)
    signs = [] if told else _signs(own)
    return _judgement(*signs[0], 0.8) if signs else _judgement("allow", "not said to anybody", 0.7)


def _moderate(given: dict[str, Any], judge: Any) -> dict[str, Any]:
    """Propose one's own judgement, then vote for the surest one near it, or of all if unsure."""
    own = judge(given["message"])
    if given["phase"] == "propose":
        return dict(own)
    most = 1 if own["confidence"] >= SURE else len(SCALE)
    near = [
        (proposal["outputs"]["confidence"], proposal["id"])
        for proposal in given["proposals"]
        if abs(SCALE.index(proposal["outputs"]["response"]) - SCALE.index(own["response"])) <= most
    ]
    return {"vote": max(near)[1], "confidence": own["confidence"], "reason": own["reason"]}


_WAYS: tuple[Any, ...] = (guidelines, precedents, membership, context)
PIPELINE = Pipeline.consensus(
    [Agent(partial(_moderate, judge=way), way.__name__, way.__doc__) for way in _WAYS]
)
MODEL_PIPELINE = Pipeline.consensus(
    [Agent(ModelAgent(signature=Decision, tools=[way]), way.__name__, way.__doc__) for way in _WAYS]
)
