"""Agents that leave their mark, and what must have happened when a pipeline of them has run.

Nothing here knows how the runtime does it: `calls_expected` says again, from the rules alone, who
is asked how often.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from typing import Any

# Otherwise the first test of a cold run imports LangGraph on its own five seconds.
import journeygraph.graphs.session.manager  # noqa: F401
from journeygraph import Agent, PatternPipeline, Pipeline, Skill

ALL_PATTERNS = (
    *("sequential", "supervisor_worker", "router", "ensemble", "blackboard"),
    *("consensus", "debate", "handoff", "parallel"),
)
ROUNDS = 2
"""Rounds of every debate that is built here."""

# No two of them look alike, so that no request fits the wrong card by its letters.
WORDS = (
    *("walnut", "granite", "harbour", "velvet", "copper", "lantern", "meadow", "pyjama"),
    *("biscuit", "thunder", "orchid", "falcon", "quilt", "zephyr", "jigsaw", "mustard"),
    *("kiosk", "dolphin", "umbrella", "cactus", "fjord", "ostrich", "nutmeg", "igloo"),
    *("saxophone", "whisky", "rhubarb", "axle", "ebony", "yacht", "lynx", "trumpet"),
    *("buffalo", "glyph", "hovercraft", "juniper", "kimono", "opal", "pretzel", "vulture"),
)


def mark(name: str) -> str:
    """What an agent of that name leaves behind."""
    return f"<{name}>"


class Marked:
    """An agent that answers with its mark, votes for the first proposal, and keeps every payload.

    `answer` takes the place of what it gives; it may raise. It is async; `slowly` makes it wait.
    """

    def __init__(self, name: str, answer: Callable[[dict[str, Any]], Any] | None = None) -> None:
        self.name = name
        self.calls: list[dict[str, Any]] = []
        self.answer = answer or self.plainly
        self.seconds = 0.0

    def slowly(self, seconds: float) -> Marked:
        self.seconds = seconds
        return self

    async def arun(self, payload: dict[str, Any]) -> Any:
        self.calls.append(deepcopy(payload))
        if self.seconds:
            await asyncio.sleep(self.seconds)
        return self.answer(payload)

    def plainly(self, payload: dict[str, Any]) -> dict[str, Any]:
        own = {"response": mark(self.name), self.name: mark(self.name)}
        if payload.get("phase") == "vote" and payload.get("proposals"):
            return {**own, "vote": payload["proposals"][0]["id"]}
        return own

    @property
    def phases(self) -> list[str | None]:
        return [call.get("phase") for call in self.calls]

    @property
    def messages(self) -> list[str]:
        return [call["message"] for call in self.calls]


class Supervisor(Marked):
    """Gives every worker a part by name, and says in the review that all is well."""

    def plainly(self, payload: dict[str, Any]) -> dict[str, Any]:
        own = super().plainly(payload)
        if payload["phase"] != "plan":
            return own
        parts = [
            {"task": f"{payload['message']} (part of {worker['name']})", "worker": worker["name"]}
            for worker in payload["workers"]
        ]
        return {**own, "tasks": parts}


class Controller(Marked):
    """Asks for each specialist once, in declared order, then says that it is done."""

    def plainly(self, payload: dict[str, Any]) -> dict[str, Any]:
        own = super().plainly(payload)
        heard = {entry["agent"] for entry in [*payload["board"], *payload["failed"]]}
        for specialist in payload["specialists"]:
            if specialist["name"] not in heard:
                return {**own, "next": specialist["name"]}
        return {**own, "done": True}


def fails(error: BaseException) -> Callable[[dict[str, Any]], Any]:
    """An answer that is an error."""

    def answer(payload: dict[str, Any]) -> Any:
        raise error

    return answer


def fails_in(phase: str, error: Exception) -> Callable[[Marked], Marked]:
    """Make an agent fail in one phase only."""

    def spoil(agent: Marked) -> Marked:
        usual = agent.answer

        def answer(payload: dict[str, Any]) -> Any:
            if payload.get("phase") == phase:
                raise error
            return usual(payload)

        agent.answer = answer
        return agent

    return spoil


def in_thread(agent: Marked) -> Callable[[dict[str, Any]], Any]:
    """The same agent as a function that is not async."""

    def call(payload: dict[str, Any]) -> Any:
        assert threading.current_thread() is not threading.main_thread()
        agent.calls.append(deepcopy(payload))
        return agent.answer(payload)

    call.__name__ = agent.name
    return call


class Staff:
    """Makes agents with a name of their own each, and knows all that it made."""

    def __init__(self) -> None:
        self._words: Iterator[str] = iter(WORDS)
        self.made: dict[str, Marked] = {}

    def agent(self, kind: type[Marked] = Marked) -> Marked:
        name = next(self._words)
        self.made[name] = kind(name)
        return self.made[name]

    def agents(self, number: int) -> list[Marked]:
        return [self.agent() for _ in range(number)]

    def word(self) -> str:
        return next(self._words)

    @property
    def calls(self) -> Counter[str]:
        return Counter({name: len(agent.calls) for name, agent in self.made.items() if agent.calls})

    def forget(self) -> None:
        for agent in self.made.values():
            agent.calls.clear()


def card_of(agent: Marked) -> Agent:
    """An agent that can do what it is named after."""
    return Agent(agent, name=agent.name, skills=[Skill(agent.name)])


def nested(pipeline: PatternPipeline, name: str) -> Agent:
    """A pipeline as an agent that can do what any of its peers can."""
    return pipeline.to_agent(name, skills=[Skill(word) for word in sorted(reached(pipeline))])


def reached(pipeline: PatternPipeline) -> set[str]:
    """Names of the agents, at any depth, to whom a router could be sent by name."""
    return {name for agent in pipeline.agents for name in _names(agent)}


def _names(agent: Agent) -> set[str]:
    return reached(agent.call) if isinstance(agent.call, PatternPipeline) else {agent.name}


def onwards(outputs: dict[str, Any]) -> bool:
    """A condition that always holds: the word goes through all agents in order."""
    return True


def build(pattern: str, peers: Iterable[Any], staff: Staff, *, alone: bool = False) -> Any:
    """A pipeline that reaches all of its peers; a router, the one that its message names.

    `alone` leaves out a role that it can do without.
    """
    given = [card_of(peer) if isinstance(peer, Marked) else peer for peer in peers]
    if pattern == "supervisor_worker":
        return Pipeline.supervisor_worker(staff.agent(Supervisor), given)
    if pattern == "ensemble":
        return Pipeline.ensemble(given, staff.agent(), top_k=len(given))
    if pattern == "blackboard":
        return Pipeline.blackboard(given, staff.agent(Controller), max_iterations=len(given) + 1)
    if pattern == "debate":
        return Pipeline.debate(given, rounds=ROUNDS, judge=None if alone else staff.agent())
    if pattern == "handoff":
        return Pipeline.handoff(given, handoff_condition=onwards)
    if pattern == "parallel":
        return Pipeline.parallel(given, aggregator=None if alone else staff.agent())
    return getattr(Pipeline, pattern)(given)


def calls_expected(pipeline: PatternPipeline, message: str, path: str = "") -> Counter[str]:
    """The number of calls of each agent, by its path, in one run without failures."""
    count: Counter[str] = Counter()
    for agent in _chosen(pipeline, message):
        inner = agent.call
        if isinstance(inner, PatternPipeline):
            inside = calls_expected(inner, message, f"{path}{agent.name}/")
        else:
            inside = Counter({path + agent.name: 1})
        for name, number in inside.items():
            count[name] += number * _times(pipeline)
    for role, agent in pipeline.roles.items():
        count[path + agent.name] += _times_of_role(role, len(pipeline.agents))
    return count


def _chosen(pipeline: PatternPipeline, message: str) -> Iterable[Agent]:
    if pipeline.pattern != "router":
        return pipeline.agents
    asked = set(message.split())
    return [next((a for a in pipeline.agents if _names(a) & asked), pipeline.agents[0])]


def _times(pipeline: PatternPipeline) -> int:
    """How often a pattern asks one of its peers."""
    if pipeline.pattern == "consensus":
        return 2  # for a proposal, and for a vote
    if pipeline.pattern == "debate":
        rounds: int = pipeline.settings["rounds"]
        return rounds + ("judge" not in pipeline.roles)
    return 1


def _times_of_role(role: str, peers: int) -> int:
    return {"supervisor": 2, "controller": peers + 1}.get(role, 1)


def by_name(calls: Counter[str]) -> Counter[str]:
    """The same, by the names at the end of the paths."""
    count: Counter[str] = Counter()
    for path, number in calls.items():
        count[path.rpartition("/")[2]] += number
    return count


def marks(result: dict[str, Any]) -> Counter[str]:
    """How often each path left the mark of its agent in what a run returned."""
    count: Counter[str] = Counter()
    for entry in result["pipeline"]["results"]:
        name = entry["agent"].rpartition("/")[2]
        if entry["outputs"].get(name) == mark(name):
            count[entry["agent"]] += 1
    return count


def failed(result: dict[str, Any]) -> list[tuple[str, str]]:
    """Who failed, and how."""
    return [(entry["agent"], entry["kind"]) for entry in result["pipeline"]["failed"]]


def size(result: dict[str, Any]) -> int:
    """How many bytes a result has as JSON."""
    return len(json.dumps(result).encode())
