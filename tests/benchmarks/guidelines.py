"""Costs of guidelines: to find them, in tokens, in calls of a model and in the time of a turn."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import cycle
from statistics import mean, quantiles
from typing import Any

from journeygraph import (
    NEVER,
    Concierge,
    Guideline,
    GuidelineSpec,
    IntentTrigger,
    Journey,
    JourneyConfig,
    ModelAgent,
    OutputField,
    Pathway,
    Scope,
    Signature,
    Transition,
    Validation,
)
from journeygraph.journeys.examples.insurance_claim import TOOLS
from journeygraph.nodes.guidelines.index import Index
from journeygraph.nodes.llm.scripted import Call, ScriptedModel, rules_hold
from tests.benchmarks.measure import (
    Action,
    Figure,
    Pairs,
    Steps,
    alternate,
    duration,
    scratch,
)
from tests.guidelines.recall import stage_one
from tests.support.claim_requests import SAID, answer, claims_with, named, shares

ROUNDS = 300
TURNS = 60
_LIMIT = 0.005
_AIM = 0.95
_MOST_TOKENS = 4_000
_LETTERS_A_TOKEN = 4
_VERBS = (
    *("change", "cancel", "renew", "lose", "pay", "return", "report", "compare", "move", "share"),
    *("repair", "insure", "order", "upgrade", "book", "refund", "track", "delay", "find", "sell"),
)
_THINGS = (
    *("contract", "invoice", "phone", "router", "address", "delivery", "password", "card", "car"),
    *("luggage", "appointment", "prescription", "ticket", "hotel", "driver", "roof", "boiler"),
    *("passport", "school", "salary", "loan", "discount", "garden", "bicycle", "letter", "photo"),
)
_MESSAGES = (
    "Hello, I would like to change the address on my contract before the next delivery",
    "my phone was stolen yesterday and now I can't get into my account, what should I do?",
    "Could you send me the invoice again? I paid it by card two weeks ago, and was charged twice",
    "the router you sent is brokn, i want to return it or get a refund",
    "Thanks, that was all",
    "When can somebody come and repair the boiler? The appointment was cancelled without a word",
    "We lost our luggage on the way to the hotel. Is that insured, and how do I report it?",
    "what does it cost to upgrade, and is there a discount for students",
)


async def guidelines(steps: Steps) -> list[Figure]:
    """All figures of guidelines."""
    figures = [*await _stage_one(steps), *_recalls(), await _tokens(), await _alike()]
    figures += [await _calls(steps, count, checked=False) for count in (20, 100, 1_000)]
    figures.append(await _calls(steps, 1_000, checked=True))
    figures.append(await _turn(steps))
    return figures


def _crowd(count: int) -> Iterator[dict[str, Any]]:
    """Yield what guidelines on everyday matters say; most of their words are those of many."""
    dice = random.Random(count)
    for number in range(count):
        verb, other = dice.sample(_VERBS, 2)
        thing, near = dice.sample(_THINGS, 2)
        yield {
            "id": f"rule_{number}",
            "condition": f"the customer wants to {verb} a {thing} or to {other} a {near}",
            "action": f"Explain what it takes to {verb} a {thing}, in case {number}.",
            "keywords": (f"{verb} {thing}", near, f"case {number}"),
            "priority": dice.randrange(5),
        }


async def _stage_one(steps: Steps) -> list[Figure]:
    return [await _found(steps, "of one state", 1), await _found(steps, "of 100 states", 100)]


async def _found(steps: Steps, where: str, states: int) -> Figure:
    """Find candidates among many and among few, in a place that some of them belong to."""
    many, few = _finding(10_000, states), _finding(100, 1)
    pairs = await alternate(many, few, steps(f"stage one, {where}", ROUNDS))
    p95 = quantiles(pairs.ours, n=20)[-1]
    within = "within" if p95 < _LIMIT else "over"
    what = f"stage one, 10,000 guidelines {where} (p95 {duration(p95)}, {within} 5 ms)"
    return pairs.figure(what, "100 guidelines", 3, duration)


def _finding(count: int, states: int) -> Action:
    crowd = enumerate(_crowd(count))
    index = Index(
        [
            GuidelineSpec(**said, scope=Scope.STATE, journey="shop", pathway=f"at{at % states}")
            for at, said in crowd
        ]
    )
    messages = cycle(_MESSAGES)

    async def find() -> None:
        assert index.candidates(next(messages), [("at0", "shop")], stage_one.MOST) is not None

    return find


def _recalls() -> Iterator[Figure]:
    """Yield a row for each labelled set that is there; only the halves have an aim."""
    for half in ("tuning", "untouched", "elsewhere"):
        if (stage_one.HERE / f"{half}.json").exists():
            made = stage_one.recall(half)
            what = (
                f"recall of stage one, {half}: {made.messages} messages, "
                f"{made.candidates:.1f} candidates (without always: {made.by_words:.3f})"
            )
            shares = (f"{made.all:.3f}", "1")
            against = f"all guidelines that apply, at <= {stage_one.MOST} candidates"
            is_aimed = half != "elsewhere"
            aim = f">= {_AIM:g}x" if is_aimed else "reported"
            reached = made.all >= _AIM or not is_aimed
            yield Figure(what, against, *shares, made.all, None, aim, reached)


class Reply(Signature):
    """Answer the customer."""

    response: str = OutputField(description="What to say")


class Shop(Journey):
    """Serve the customers of a shop."""

    class DeskPath(Pathway):
        __signature__ = Reply
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

    class OfferPath(Pathway):
        __signature__ = Reply
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

    __transitions__ = [
        Transition(IntentTrigger(description=f"asks for an offer of {thing}"), to_pathway="offer")
        for thing in _THINGS[:10]
    ]


def _shop(count: int, name: str = "Shop", **more: Any) -> type[Journey]:
    """Return the shop with so many guidelines."""
    rules = [Guideline(**said) for said in _crowd(count)]
    return type(f"{name}Shop", (Shop,), {"__guidelines__": rules, **more})


def _mall(count: int, validation: Validation | None) -> type[Journey]:
    """Return five shops under one roof, which share so many guidelines."""
    rules = [Guideline(**said) for said in _crowd(count)]
    shops = [
        _shop(0, name, __activation__=[IntentTrigger([name], f"wants to speak about {name}")])
        for name in ("Books", "Shoes", "Tools", "Toys", "Wine")
    ]
    said = {"__journeys__": shops, "__guidelines__": rules, "__validation__": validation}
    return type("Mall", (Concierge,), {"__doc__": "Serve the customers of a mall.", **said})


def _answered(call: Call) -> Any:
    """Answer at once: nothing leads anywhere, some rules hold, every reply is fine."""
    if call.schema_name == "understanding":
        rules = sorted(rule["rule"] for rule in json.loads(call.message).get("rules", ()))
        return rules_hold(*rules[:3])(call)
    if call.schema_name == "validation":
        return {"is_valid": True, "violations": [], "suggested_fixes": [], "confidence": 0.9}
    return {"response": "We are glad to help."}


@asynccontextmanager
async def _talk(kind: type[Journey]) -> AsyncIterator[tuple[Journey, ScriptedModel]]:
    with scratch() as folder:
        model = ScriptedModel(always=_answered)
        config = JourneyConfig(persistence=f"sqlite:///{folder / 'shop.db'}")
        agents = {"clerk": ModelAgent()}
        async with kind("bench", config, agents=agents, model=model) as journey:
            await journey.start()
            yield journey, model


async def _tokens() -> Figure:
    pairs = Pairs()
    pairs.add(await _tokens_of(100), await _tokens_of(5))
    most = "within" if pairs.ours[0] < _MOST_TOKENS else "over"
    what = f"prompt tokens to understand a message, 100 guidelines ({most} {_MOST_TOKENS:,})"
    return pairs.figure(what, "5 guidelines; four letters a token", 4, lambda size: f"{size:.0f}")


async def _tokens_of(count: int) -> float:
    async with _talk(_shop(count)) as (journey, model):
        await journey.process_message(f"About {', '.join((*_VERBS, *_THINGS))}")
        (call,) = (call for call in model.calls if call.schema_name == "understanding")
    asked = [call.body[name] for name in ("messages", "response_format")]
    return len(json.dumps(asked, ensure_ascii=False)) / _LETTERS_A_TOKEN


async def _alike() -> Figure:
    """How much of a request the one before began with, as long as a session stands in one place."""
    with scratch() as folder, ScriptedModel(always=answer) as model:
        kind = claims_with(20, folder)
        config = JourneyConfig(persistence="memory://alike")
        async with kind("bench", config, model=model, tools=TOOLS) as journey:
            await journey.start()
            for message in SAID:
                await journey.process_message(message)
        share = mean(shares(named(model.calls, "understanding")))
    what = "common beginning of successive requests to understand, insurance_claim with 20 rules"
    shown = (f"{share:.2f}", "1")
    against = "the whole request, in characters"
    return Figure(what, against, *shown, share, None, ">= 0.9x", share >= 0.9)


async def _calls(steps: Steps, count: int, *, checked: bool) -> Figure:
    """The calls of the turn that makes most of them."""
    allowed = 3 if checked else 2
    pairs = Pairs()
    async with _talk(_mall(count, Validation() if checked else None)) as (journey, model):
        await journey.process_message("Toys, please")
        for number in steps(f"calls, {count} guidelines", len(_MESSAGES)):
            before = len(model.calls)
            await journey.process_message(_MESSAGES[number])
            pairs.add(len(model.calls) - before, allowed)
    most = max(pairs.ours)
    kind = ", replies checked" if checked else ""
    what = f"model calls a turn, {count:,} guidelines, 5 journeys, 10 transitions each{kind}"
    against = "one to understand, one for the reply" + (", one to check it" if checked else "")
    ratio = most / allowed
    shown = (f"{most:.0f}", str(allowed))
    return Figure(what, against, *shown, ratio, None, "<= 1x", ratio <= 1)


async def _turn(steps: Steps) -> Figure:
    messages = cycle(_MESSAGES)
    async with _talk(_shop(100)) as (ruled, _), _talk(_shop(0)) as (free, _):
        pairs = await alternate(
            lambda: ruled.process_message(next(messages)),
            lambda: free.process_message(next(messages)),
            steps("turn with guidelines", TURNS),
        )
    what = "turn of a shop with 100 guidelines, model that answers at once, SQLite"
    return pairs.figure(what, "without guidelines, the same two calls", 1.5, duration)
