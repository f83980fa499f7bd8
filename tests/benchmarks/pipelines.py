"""Costs of pipelines: each pattern against itself by hand, and the growth of the cost."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import Iterable
from statistics import quantiles
from typing import Any

from journeygraph import Agent, PatternPipeline, Pipeline, Skill
from journeygraph.nodes.agents.select import ranking_of
from tests.benchmarks import pipelines_by_hand as by_hand
from tests.benchmarks.measure import Action, Figure, Pairs, Steps, alternate, amount, duration

ROUNDS, SLOW_ROUNDS = 120, 12
WAIT = 0.1
_MESSAGE = "Why is my invoice higher than last month?"
_CARDS = {
    "billing": "Explains invoices and charges",
    "network": "Mends lines and connections",
    "sales": "Sells contracts and phones",
}
_LIMIT = 512e6


async def pipelines(steps: Steps) -> list[Figure]:
    """All figures of pipelines."""
    figures = [await _against_hand(steps, *pair) for pair in _patterns()]
    figures += [await _at_once(steps, kind) for kind in ("parallel", "ensemble")]
    figures.append(await _matching(steps))
    figures.append(_memory())
    figures.append(await _nested(steps))
    figures.append(await _agents(steps))
    figures.append(await _rounds(steps))
    return figures


def _says(name: str, **outputs: Any) -> Any:
    async def agent(given: dict[str, Any]) -> dict[str, Any]:
        return {"response": name, **outputs}

    return Agent(agent, name=name, description=_CARDS.get(name, name))


async def _supervise(given: dict[str, Any]) -> dict[str, Any]:
    if given["phase"] == "plan":
        return {"tasks": [{"task": text, "worker": name} for name, text in _CARDS.items()]}
    return {"response": f"{len(given['results'])} parts"}


async def _control(given: dict[str, Any]) -> dict[str, Any]:
    left = [name for name in _CARDS if name not in {entry["agent"] for entry in given["board"]}]
    return {"next": left[0]} if left else {"done": True, "response": "all"}


def _patterns() -> Iterable[tuple[str, PatternPipeline, Any]]:
    peers = [_says(name) for name in _CARDS]
    calls = {agent.name: agent.call for agent in peers}
    one = _says("one")
    supervisor, controller = Agent(_supervise, "supervisor"), Agent(_control, "controller")
    voters = [_says(name, vote="billing") for name in _CARDS]
    votes = {agent.name: agent.call for agent in voters}
    chain = [
        _says("billing", handoff={"to": "network"}),
        _says("network", handoff={"to": "sales"}),
        _says("sales"),
    ]
    hands = {agent.name: agent.call for agent in chain}
    make, hand = Pipeline, by_hand
    yield "sequential", make.sequential(peers), hand.sequential(calls)
    yield "parallel", make.parallel(peers), hand.parallel(calls)
    yield "router", make.router(peers), hand.router(calls, _CARDS)
    yield "ensemble", make.ensemble(peers, one), hand.ensemble(calls, _CARDS, one.call)
    supervised = hand.supervisor_worker(calls, _supervise)
    yield "supervisor_worker", make.supervisor_worker(supervisor, peers), supervised
    yield "blackboard", make.blackboard(peers, controller), hand.blackboard(calls, _control)
    yield "consensus", make.consensus(voters), hand.consensus(votes)
    yield "debate", make.debate(peers, 3, one), hand.debate(calls, one.call, 3)
    yield "handoff", make.handoff(chain), hand.handoff(hands)


def _run(pipeline: PatternPipeline) -> Action:
    async def run() -> Any:
        return await pipeline.run(message=_MESSAGE)

    return run


def _by_hand(graph: Any) -> Action:
    async def run() -> Any:
        start = {"inputs": {"message": _MESSAGE}, "results": [], "notes": {}}
        return await graph.ainvoke(start, {"recursion_limit": 1000})

    return run


async def _against_hand(steps: Steps, kind: str, pipeline: PatternPipeline, graph: Any) -> Figure:
    ours, theirs = _run(pipeline), _by_hand(graph)
    worked = len((await ours())["pipeline"]["results"])
    assert worked == len((await theirs())["results"]), kind
    pairs = await alternate(ours, theirs, steps(kind, ROUNDS))
    return pairs.figure(f"{kind}, {worked} calls of function agents", "by hand", 1.3, duration)


async def _waits(given: dict[str, Any]) -> dict[str, Any]:
    await asyncio.sleep(WAIT)
    return {"response": "done"}


async def _at_once(steps: Steps, kind: str) -> Figure:
    crowd = [Agent(_waits, name=f"agent {number}") for number in range(20)]
    if kind == "parallel":
        pipeline = Pipeline.parallel(crowd, max_workers=20)
    else:
        pipeline = Pipeline.ensemble(crowd, _says("one"), discovery_mode="all")

    async def alone() -> None:
        await _waits({})

    rounds = steps(f"{kind} of 20", SLOW_ROUNDS)
    pairs = await alternate(_run(pipeline), alone, rounds)
    return pairs.figure(f"{kind}, 20 agents of 100 ms", "one agent of 100 ms", 1.5, duration)


def _crowd(number: int) -> list[Agent]:
    subjects = ("invoices", "lines", "contracts", "phones", "refunds", "addresses", "passwords")
    verbs = ("explain", "mend", "sell", "change", "cancel", "check", "find", "compare")
    crowd = []
    for place in range(number):
        what = f"{verbs[place % 8]} {subjects[place % 7]} of branch {place}"
        skill = Skill(what, examples=[f"please {what}"], synonyms=[f"service{place}"])
        crowd.append(Agent(_waits, f"agent {place}", what, skills=[skill]))
    return crowd


async def _matching(steps: Steps) -> Figure:
    many, few = ranking_of(_crowd(100)), ranking_of(_crowd(10))
    task = "Could you change the contract of branch 7, and explain my invoice please?"

    def ranking(ranks: Any) -> Action:
        async def rank() -> None:
            ranks.ranked(task)

        return rank

    pairs = await alternate(ranking(many), ranking(few), steps("matching", 400))
    p95 = duration(quantiles(pairs.ours, n=20)[-1])
    what = f"match a task with 100 agents (p95 {p95}; limit 50 ms)"
    return pairs.figure(what, "with 10 agents", 10, duration)


def _memory() -> Figure:
    Pipeline.parallel(_crowd(1)).compile()  # what all pipelines share is not one's own
    gc.collect()
    tracemalloc.start()
    made = Pipeline.parallel(_crowd(100), max_workers=100)
    made.compile()
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    pairs = Pairs()
    pairs.add(used, _LIMIT)
    return pairs.shown("memory of a compiled pipeline of 100 agents", "512 MB", amount)


async def _nested(steps: Steps) -> Figure:
    flat = Pipeline.sequential([_says("one")])
    deep = flat
    for _ in range(9):
        deep = Pipeline.sequential([deep])
    assert deep.levels == 10
    return (await _each_of(steps, "10 levels", _run(deep), _run(flat), 10)).figure(
        "10 levels of nesting, a level", "one level", 1.2, duration
    )


async def _agents(steps: Steps) -> Figure:
    def ensemble(number: int) -> PatternPipeline:
        crowd = [_says(f"agent {place}") for place in range(number)]
        return Pipeline.ensemble(crowd, _says("one"), discovery_mode="all")

    pairs = await _each_of(steps, "100 agents", _run(ensemble(100)), _run(ensemble(10)), 10)
    return pairs.figure("ensemble of 100 agents, an agent", "of 10", 1.2, duration)


async def _rounds(steps: Steps) -> Figure:
    def board(rounds: int) -> PatternPipeline:
        async def control(given: dict[str, Any]) -> dict[str, Any]:
            return {"next": "one"}

        specialists = [_says("one")]
        return Pipeline.blackboard(specialists, Agent(control, "controller"), max_iterations=rounds)

    pairs = await _each_of(steps, "100 rounds", _run(board(100)), _run(board(10)), 10)
    return pairs.figure("blackboard of 100 rounds, a round", "of 10", 1.2, duration)


async def _each_of(steps: Steps, label: str, many: Action, few: Action, times: int) -> Pairs:
    """Compare one large run with as many small ones as make up the same work."""

    async def small() -> None:
        for _ in range(times):
            await few()

    return await alternate(many, small, steps(label, 30))
