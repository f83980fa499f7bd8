"""What the rules of patterns are written in: the work so far, what is asked, what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from journeys import Agent, PatternPipeline
from journeys.io_fields import FieldSpec
from nodes.context import apply_ops
from nodes.plain import cleaned, copied
from nodes.state import PARTING, Output

RESPONSE = "response"
MOST_NAME = 64
"""Characters that a flag tells of a name that nobody has."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a pipeline has done so far in one run.

    Attributes:
        pipeline: The pipeline.
        results: What its agents gave, in the order in which they ended.
        progress: What its own steps noted, by name.
        registered: Agents that the journey registered for names in it, with their cards.
    """

    pipeline: PatternPipeline
    results: Sequence[Output] = ()
    progress: Mapping[str, Any] = field(default_factory=dict)
    registered: Mapping[str, Agent] = field(default_factory=dict)

    @property
    def agents(self) -> list[Agent]:
        """The agents without a role, in declared order, as they know themselves."""
        return [self._known(agent) for agent in self.pipeline.agents]

    def _known(self, agent: Agent) -> Agent:
        return self.registered.get(agent.name, agent) if agent.call is None else agent

    @property
    def given(self) -> list[Output]:
        """The results of the agents that did not fail, in the order of the agents."""
        return in_order([result for result in self.results if not result.get("error")])

    def of(self, *names: str, phase: str | None = None) -> list[Output]:
        """Return the results of these agents, failures as well, the earliest first."""
        return [
            result
            for result in self.results
            if result["agent"] in names and (phase is None or result.get("phase") == phase)
        ]

    @property
    def peers(self) -> list[str]:
        """Names of the agents without a role, in declared order."""
        return [agent.name for agent in self.pipeline.agents]

    def holder(self, role: str) -> str:
        """Return the name of the agent that has a role; empty if nobody has."""
        agent = self.pipeline.roles.get(role)
        return agent.name if agent else ""


@dataclass(frozen=True, slots=True)
class Ask:
    """What a pattern wants of a model agent, beyond its own signature.

    Attributes:
        instructions: What it is to do now.
        outputs: What it is to answer with.
        keeps_own: Whether the outputs of its signature are wanted as well.
    """

    instructions: str
    outputs: tuple[FieldSpec, ...] = ()
    keeps_own: bool = True


@dataclass(frozen=True, slots=True)
class Brief:
    """What an agent is given beyond the inputs, and what is noted of its run.

    Attributes:
        extra: Added to its payload.
        notes: Added to its result: `phase`, `round`, `task`.
        ask: Gives what it is asked if it is a model; made only then, as it takes its time.
        history: Messages of the talk that it is shown; None shows all.
    """

    extra: Mapping[str, Any] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)
    ask: Callable[[], Ask | None] | None = None
    history: int | None = None


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What a run comes to.

    Attributes:
        values: Outputs, in the order in which they count; one dict, or one for each agent where
            several speak for the pipeline.
        report: What the pattern tells of how it came about.
        blame: Path of the agent through which it failed as a whole; None if it did not.
        error: What was wrong, if it failed.
    """

    values: Sequence[Mapping[str, Any]] = ()
    report: Mapping[str, Any] = field(default_factory=dict)
    blame: str | None = None
    error: str = ""


class Rules(Protocol):
    """The rules of one pattern, free of any graph."""

    def brief(self, work: Work, name: str, part: Mapping[str, Any] | None) -> Brief | None:
        """Return what an agent is asked now; None if there is nothing left to ask it.

        Args:
            work: The work so far.
            name: The agent.
            part: What it was sent for, if it was.
        """

    def conclude(self, work: Work) -> Conclusion:
        """Return what a run comes to that is over."""


def in_order(results: Sequence[Output]) -> list[Output]:
    """Return results in the order of the agents; those of one agent stay as they came."""
    return sorted(results, key=lambda result: result["place"])


def short(name: object) -> str:
    """Return a name that an agent made up, as far as a flag tells it."""
    return cleaned(str(name))[:MOST_NAME]


def as_they_began(results: Sequence[Output]) -> list[Output]:
    """Return results in the order in which the agents were asked, at once in declared order."""
    return sorted(results, key=lambda r: (r["wave"], r.get("part", 0), r["place"]))


def shown(results: Sequence[Output], **also: str) -> list[dict[str, Any]]:
    """Return results as agents are shown them: who, and what.

    Args:
        results: Those of agents that did not fail.
        **also: Names under which further notes are shown: name -> key of the result.
    """
    listed = []
    for result in results:
        entry: dict[str, Any] = {"agent": result["agent"]}
        entry |= {name: dict(result)[key] for name, key in also.items() if key in result}
        listed.append({**entry, "outputs": copied(result["values"])})
    return listed


def cards_of(work: Work) -> list[dict[str, Any]]:
    """Return the cards of the agents without a role, as those with one are shown them."""
    return [copied(agent.card_data) for agent in work.agents]


def failures(results: Sequence[Output]) -> list[dict[str, str]]:
    """Return who failed, as agents are shown it."""
    failed = [result for result in results if result.get("error")]
    return [{"agent": r["agent"], "error": r["error"]["message"]} for r in failed]


def merged(values: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return several agents' outputs as one: replies joined, the rest as a context merges it."""
    if len(values) == 1:
        return dict(values[0])
    replies = [str(given[RESPONSE]) for given in values if given.get(RESPONSE)]
    ops = [
        ["auto", name, value]
        for given in values
        for name, value in given.items()
        if name != RESPONSE
    ]
    joined = apply_ops({}, ops)
    return {RESPONSE: PARTING.join(replies), **joined} if replies else joined


def failed(result: Output, report: Mapping[str, Any], values: Any = ()) -> Conclusion:
    """Return the end of a run that failed through one agent."""
    error = result.get("error") or {"message": "it gave nothing"}
    return Conclusion(values, report, result["agent"], error["message"])


def only(result: Output | None, report: Mapping[str, Any], waited_for: str) -> Conclusion:
    """Return the end of a run for which one agent speaks.

    Args:
        result: What that agent gave; None if it was never asked.
        report: What the pattern tells.
        waited_for: Who it is.
    """
    if result is None:
        return Conclusion((), report, waited_for, "it was not asked: nobody gave it anything")
    if result.get("error"):
        return failed(result, report)
    return Conclusion((result["values"],), report)
