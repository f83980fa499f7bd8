"""The nine patterns in which agents work together, each declared once (ADR-018).

A pattern is a class: its fields are the arguments of its factory, such as `Pipeline.router`, the
keys of `__pipeline_config__` and of a pipeline in a file, and the keys of a pipeline as data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from journeygraph.journeys.definitions.value_types import (
    AS_WRITTEN,
    Function,
    OneOf,
    Share,
    at_least,
)
from journeygraph.journeys.pipelines.pattern import OptionalRole, PatternPipeline, Peers, Role

CHOICES = ("semantic", "llm", "round-robin", "random")
"""Ways to choose among agents."""
DISCOVERIES = ("a2a", "llm", "all")
"""Ways in which an ensemble finds its members: by their cards, by a model's choice, or all."""
VOTES = ("majority", "unanimous", "weighted", "threshold")
"""Ways to count votes."""

Choice = Annotated[str, OneOf(CHOICES)]
Count = Annotated[int, at_least(1)]


class Sequential(PatternPipeline):
    """One agent after the other; each is given the inputs and the outputs of those before.

    Attributes:
        agents: Agents, in the order of their work.
    """

    agents: Peers
    _: KW_ONLY
    pattern: Literal["sequential"] = "sequential"


class SupervisorWorker(PatternPipeline):
    """A supervisor splits the task, workers do the parts, the supervisor composes.

    Attributes:
        supervisor: Is asked with `phase` "plan" (gives `tasks`), "review" (gives `reassign`, or the
            outputs) and, after a reassignment, "compose" (gives the outputs).
        workers: Do the parts.
        selection_mode: Selection of the worker for a part of the work that names none.
    """

    supervisor: Role
    workers: Peers
    selection_mode: Choice = "semantic"
    _: KW_ONLY
    pattern: Literal["supervisor_worker"] = "supervisor_worker"

    @property
    def agents(self) -> Peers:
        """The workers."""
        return self.workers


class Router(PatternPipeline):
    """One agent is chosen, and answers.

    Attributes:
        agents: Agents that may answer.
        routing_strategy: Selection of the agent: by the cards, by a model, in turn, or by chance.
    """

    agents: Peers
    routing_strategy: Choice = "semantic"
    _: KW_ONLY
    pattern: Literal["router"] = "router"


class Ensemble(PatternPipeline):
    """The best agents for the task are asked at once; a synthesizer joins their answers.

    Attributes:
        agents: Agents that may answer.
        synthesizer: Is given their `perspectives`.
        discovery_mode: Selection of the agents: by their cards, by a model, or all.
        top_k: Number of agents that are called, unless all are.
    """

    agents: Peers
    synthesizer: Role
    discovery_mode: Annotated[str, OneOf(DISCOVERIES)] = "a2a"
    top_k: Count = 3
    _: KW_ONLY
    pattern: Literal["ensemble"] = "ensemble"


class Blackboard(PatternPipeline):
    """A controller names the missing information, until none is missing.

    Attributes:
        specialists: Add to the board, one at a time.
        controller: Is given the `board`; gives `done`, or `need`, or `next` (who).
        selection_mode: Selection of the specialist for a need that names none.
        max_iterations: Largest number of calls of specialists.
    """

    specialists: Peers
    controller: Role
    selection_mode: Choice = "semantic"
    max_iterations: Count = 10
    _: KW_ONLY
    pattern: Literal["blackboard"] = "blackboard"

    @property
    def agents(self) -> Peers:
        """The specialists."""
        return self.specialists


class Consensus(PatternPipeline):
    """Every agent makes a proposal, then every agent votes.

    Attributes:
        agents: Agents that propose and vote; one that gives no `vote` votes for its proposal.
        threshold: Share of the votes that is needed: more than it under "majority" and "weighted",
            at least it under "threshold".
        voting_strategy: Rule by which votes are counted; "weighted" is by the agents' weights and
            how sure they are.
    """

    agents: Peers
    threshold: Annotated[Share, AS_WRITTEN] = 0.5
    voting_strategy: Annotated[str, OneOf(VOTES)] = "majority"
    _: KW_ONLY
    pattern: Literal["consensus"] = "consensus"


class Debate(PatternPipeline):
    """Every agent takes a position and answers the others', round by round.

    Attributes:
        agents: Agents that debate.
        rounds: Number of contributions of each agent.
        judge: Is given the `debate` and decides. Default: the majority of the agents does.
    """

    agents: Peers
    rounds: Count = 3
    judge: OptionalRole = None
    _: KW_ONLY
    pattern: Literal["debate"] = "debate"


class HandingOver(PatternPipeline):
    """The first agent answers, or hands over to another one.

    Attributes:
        agents: The first begins.
        handoff_condition: A function of the outputs of the agent that has the word; it may be
            async. True hands over to the next one in order, a name or a `Handoff` to that one, any
            other value hands over to no agent. Default: an agent hands over by its own output
            `handoff`.
    """

    agents: Peers
    handoff_condition: Annotated[Callable[..., Any], Function("outputs")] | None = None
    _: KW_ONLY
    pattern: Literal["handoff"] = "handoff"


class Parallel(PatternPipeline):
    """All agents work at once, each with the same inputs.

    Attributes:
        agents: Agents that work.
        aggregator: Is given their `results` and makes one of them. Default: their outputs are
            joined in declared order.
        max_workers: Largest number of agents that work at the same time.
    """

    agents: Peers
    aggregator: OptionalRole = None
    max_workers: Count = 10
    _: KW_ONLY
    pattern: Literal["parallel"] = "parallel"


PATTERNS: Mapping[str, type[PatternPipeline]] = {
    made.kind(): made
    for made in (
        *(Sequential, SupervisorWorker, Router, Ensemble, Blackboard),
        *(Consensus, Debate, HandingOver, Parallel),
    )
}
"""The nine patterns of ADR-018 by name."""
Pattern = Annotated[str, OneOf(tuple(PATTERNS))]


class _Unknown(PatternPipeline):
    """A pipeline whose pattern does not exist, so that nothing else of it is judged."""

    model_config = ConfigDict(extra="ignore")

    _: KW_ONLY
    pattern: Pattern


class _ByPattern:
    """The union of the nine patterns, of which the key `pattern` chooses one."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        known = {name: handler.generate_schema(made) for name, made in PATTERNS.items()}
        written = core_schema.tagged_union_schema(known, _pattern_in)
        return core_schema.tagged_union_schema(
            {**known, "": handler.generate_schema(_Unknown)},
            _pattern_in,
            metadata={"pydantic_js_functions": [lambda _, handler: handler(written)]},
        )


def _pattern_in(value: Any) -> str:
    found = value.get("pattern") if isinstance(value, Mapping) else getattr(value, "pattern", "")
    return found if isinstance(found, str) and found in PATTERNS else ""


AnyPattern = Annotated[PatternPipeline, _ByPattern()]
