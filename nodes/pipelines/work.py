"""The terms of the rules of patterns: members, work, briefs, conclusions, reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from journeygraph.journeys import Agent, PathwaySpec, PatternPipeline
from journeygraph.journeys.agents.signature import Ask
from journeygraph.nodes.json_data import cleaned, copied
from journeygraph.nodes.state.context import apply_ops
from journeygraph.nodes.state.session import PARTING, AgentOutput

RESPONSE = "response"
MOST_NAME = 64
"""Characters of an unknown name in a flag."""


@dataclass(frozen=True, slots=True)
class Work:
    """Progress of a pipeline in one run.

    Attributes:
        results: The results of its agents, in the order in which they ended.
        progress: The notes of its own steps, by name.
    """

    pipeline: PatternPipeline
    results: Sequence[AgentOutput] = ()
    progress: Mapping[str, Any] = field(default_factory=dict)
    registered: Mapping[str, Agent] = field(default_factory=dict)

    @property
    def agents(self) -> list[Agent]:
        """The agents without a role, in declared order, as they know themselves."""
        return [self._known(agent) for agent in self.pipeline.agents]

    def _known(self, agent: Agent) -> Agent:
        return self.registered.get(agent.name, agent) if agent.call is None else agent

    @property
    def given(self) -> list[AgentOutput]:
        """The results of the agents that did not fail, in the order of the agents."""
        return in_order([result for result in self.results if not result.get("error")])

    def of(self, name: str) -> list[AgentOutput]:
        """Return the results of an agent, failures as well, the earliest first."""
        return [result for result in self.results if result["agent"] == name]

    @property
    def peers(self) -> list[str]:
        """Names of the agents without a role, in declared order."""
        return [agent.name for agent in self.pipeline.agents]

    def holder(self, role: str) -> str:
        """Return the name of the agent that has a role; empty if none has."""
        agent = self.pipeline.roles.get(role)
        return agent.name if agent else ""


@dataclass(frozen=True, slots=True)
class Brief:
    """Additional inputs of an agent, and notes on its run.

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
    """Result of a run.

    Attributes:
        values: Outputs, in the order in which they count; one dict, or one for each agent where
            several speak for the pipeline.
        blame: Path of the agent through which it failed as a whole; None if it did not.
    """

    values: Sequence[Mapping[str, Any]] = ()
    report: Mapping[str, Any] = field(default_factory=dict)
    blame: str | None = None
    error: str = ""


class Rules(Protocol):
    """The rules of one pattern, free of any graph."""

    def brief(self, work: Work, name: str, part: Mapping[str, Any] | None) -> Brief | None:
        """Return what an agent is asked now; None if there is nothing left to ask it."""

    def conclude(self, work: Work) -> Conclusion:
        """Return the result of a finished run."""


def in_order(results: Sequence[AgentOutput]) -> list[AgentOutput]:
    """Return results in the order of the agents; those of one agent stay as they came."""
    if len(results) < 2:
        return [*results]
    return sorted(results, key=lambda result: result["place"])


def short(name: object) -> str:
    """Return a name that an agent invented, as far as a flag contains it."""
    return cleaned(str(name))[:MOST_NAME]


def as_they_began(results: Sequence[AgentOutput]) -> list[AgentOutput]:
    """Return results in the order in which the agents were asked, at once in declared order."""
    return sorted(results, key=lambda r: (r["wave"], r.get("part", 0), r["place"]))


def shown(results: Sequence[AgentOutput], **also: str) -> list[dict[str, Any]]:
    """Return results as agents are shown them: who, and what.

    Args:
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


def failures(results: Sequence[AgentOutput]) -> list[dict[str, str]]:
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


def failed(result: AgentOutput, report: Mapping[str, Any], values: Any = ()) -> Conclusion:
    """Return the end of a run that failed through one agent."""
    error = result.get("error") or {"message": "it returned nothing"}
    return Conclusion(values, report, result["agent"], error["message"])


def only(result: AgentOutput | None, report: Mapping[str, Any], waited_for: str) -> Conclusion:
    """Return the end of a run for which one agent speaks."""
    if result is None:
        return Conclusion((), report, waited_for, "it was not called: there is no input for it")
    if result.get("error"):
        return failed(result, report)
    return Conclusion((result["values"],), report)


@dataclass(frozen=True, slots=True)
class Member:
    """The place of one agent.

    Attributes:
        prefix: Path of that pipeline within the pathway's, with "/" at its end; empty at the top.
        has_word: True if its text is certainly the reply, so that it can be streamed.
        timeout: Longest try, in seconds; None for no limit.
        place: Its place among the members, from 0; a step of the pattern's own comes after them.
    """

    pathway: PathwaySpec
    pipeline: PatternPipeline
    name: str
    prefix: str = ""
    has_word: bool = False
    timeout: float | None = None

    path: str = field(init=False)
    place: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", self.prefix + self.name)
        members = list(self.pipeline.members)
        place = members.index(self.name) if self.name in members else len(members)
        object.__setattr__(self, "place", place)


def leaves(results: Iterable[AgentOutput]) -> Iterator[AgentOutput]:
    """Yield the results of all who worked, those within pipelines by their paths; no other."""
    for result in results:
        parts = result.get("parts")
        if parts is None:
            yield result
        else:
            yield from parts


def within(name: str, results: Iterable[AgentOutput]) -> list[AgentOutput]:
    """Return the results of a pipeline's members as those of a member of another one."""
    listed = leaves(as_they_began(list(results)))
    return [{**result, "agent": f"{name}/{result['agent']}"} for result in listed]


def ended_as(output: AgentOutput) -> str:
    """Return how a pipeline that is a member of another one ended."""
    if "error" in output:
        return "failed"
    return "partial" if any(part.get("error") for part in output.get("parts", ())) else "complete"


def flags_of(results: Iterable[AgentOutput]) -> list[str]:
    """Return the flags of results, and one for each agent that failed."""
    failed = [f"agent_failed:{r['agent']}" for r in leaves(results) if r.get("error")]
    return [*own_flags(results), *failed]


def own_flags(results: Iterable[AgentOutput]) -> list[str]:
    """Return the flags that the agents of results gave."""
    return [flag for result in results for flag in result["flags"]]
