"""The nine patterns: who works in each, its settings, and the limits of its agents."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from functools import cache
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from journeygraph.journeys.definitions.definition import Definition
from journeygraph.journeys.definitions.value_types import (
    AS_GIVEN,
    AS_WRITTEN,
    ContextName,
    Function,
    OneOf,
    Seconds,
    Share,
    at_least,
)
from journeygraph.journeys.faults import Fault

LimitInSeconds = Annotated[Seconds, AS_WRITTEN]


class Limits(Definition):
    """The limits of each agent of a pipeline.

    Attributes:
        timeout: Longest try in seconds. Default: no limit; in a pathway, its time limit.
        retries: Number of further tries of an agent that failed. Default: none; in a pathway, the
            setting of the journey.
        backoff: Seconds before the second try; doubled before each later one.
        breaker_failures: After this number of failures within `breaker_window`, the agent is not
            called during the cooldown; then it is tried once. Default: no breaker.
        breaker_window: Seconds in which failures are counted.
        breaker_cooldown: Seconds until an agent is tried again; if it fails, it is not called for
            the same time again.
        clock: A function that returns the time in seconds, for tests.

    Raises:
        ConfigurationError: One of them is out of its range.

    Source: ADR-018 section 4 and test category 3.
    """

    unwritten = frozenset({"clock"})

    _: KW_ONLY
    timeout: LimitInSeconds | None = None
    retries: Annotated[int, at_least(0)] | None = None
    backoff: LimitInSeconds = 0.5
    breaker_failures: Annotated[int, at_least(1)] | None = None
    breaker_window: LimitInSeconds = 60.0
    breaker_cooldown: LimitInSeconds = 30.0
    clock: Annotated[Callable[[], float], AS_GIVEN] = Field(
        default_factory=lambda: time.monotonic, repr=False
    )

    @classmethod
    def called(cls) -> str:
        """Return what messages call the limits."""
        return "the limits"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Limits) and self.data == other.data

    def __hash__(self) -> int:
        return hash(tuple(self.data.values()))

    @property
    def data(self) -> dict[str, float | None]:
        """The limits as plain data, without the clock."""
        return {name: getattr(self, name) for name in self.keys()}


CHOICES = ("semantic", "llm", "round-robin", "random")
"""Ways to choose among agents."""
DISCOVERIES = ("a2a", "llm", "all")
"""Ways in which an ensemble finds its members: by their cards, by a model's choice, or all."""
VOTES = ("majority", "unanimous", "weighted", "threshold")
"""Ways to count votes."""
ERROR_HANDLING = ("graceful", "fail-fast")
MOST_LEVELS = 20
"""Deepest nesting of pipelines."""
STEPS = ("select", "gather")
"""Names of the patterns' own nodes, which no agent can have."""

Choice = Annotated[str, OneOf(CHOICES)]
ErrorHandling = Annotated[str, OneOf(ERROR_HANDLING)]
Count = Annotated[int, at_least(1)]
RoleHolder = Annotated[ContextName, Field(description="Name of the agent in this role.")]


class Shape(Definition):
    """The settings of a pattern; its class says who works in it.

    Attributes:
        kind: Name of the pattern.
        peers: Name for its agents.
        required: Roles that it cannot do without.
        optional: Roles that it can have.
    """

    is_mapping = True
    elsewhere = dict.fromkeys(Limits.keys(), " Write it in `limits`.")
    kind: ClassVar[str] = ""
    peers: ClassVar[str] = "agents"
    required: ClassVar[tuple[str, ...]] = ()
    optional: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def roles(cls) -> tuple[str, ...]:
        """Return all roles, in the order in which they are written."""
        return cls.required + cls.optional

    @classmethod
    def called(cls) -> str:
        """Return what messages call the settings."""
        return f"the settings of {cls.kind}"


class Sequential(Shape):
    """One agent works after the other."""

    kind = "sequential"


class Selecting(Shape):
    """A pattern that chooses who does a part of the work.

    Attributes:
        selection_mode: Selection of the agent for a part of the work that names none.
    """

    selection_mode: Choice = "semantic"


class SupervisorWorker(Selecting):
    """A supervisor splits the task, workers do the parts, the supervisor composes."""

    kind = "supervisor_worker"
    peers = "workers"
    required = ("supervisor",)


class Router(Shape):
    """One agent is chosen, and answers.

    Attributes:
        routing_strategy: Selection of the agent.
    """

    kind = "router"
    routing_strategy: Choice = "semantic"


class Ensemble(Shape):
    """The best agents for the task are asked at once; a synthesizer joins their answers.

    Attributes:
        discovery_mode: Selection of the agents: by their cards, by a model, or all.
        top_k: Number of agents that are called, unless all are.
    """

    kind = "ensemble"
    required = ("synthesizer",)
    discovery_mode: Annotated[str, OneOf(DISCOVERIES)] = "a2a"
    top_k: Count = 3


class Blackboard(Selecting):
    """A controller names the missing information, until none is missing.

    Attributes:
        max_iterations: Largest number of calls of specialists.
    """

    kind = "blackboard"
    peers = "specialists"
    required = ("controller",)
    max_iterations: Count = 10


class Consensus(Shape):
    """Every agent makes a proposal, then every agent votes.

    Attributes:
        threshold: Share of the votes that a proposal needs.
        voting_strategy: Rule by which votes are counted.
    """

    kind = "consensus"
    threshold: Annotated[Share, AS_WRITTEN] = 0.5
    voting_strategy: Annotated[str, OneOf(VOTES)] = "majority"


class Debate(Shape):
    """Every agent takes a position and answers the others', round by round.

    Attributes:
        rounds: Number of contributions of each agent.
    """

    kind = "debate"
    optional = ("judge",)
    rounds: Count = 3


class HandoffSettings(Shape):
    """The first agent answers, or hands over to another one.

    Attributes:
        handoff_condition: A function of the outputs of an agent: whether it hands over, and to
            which agent.
    """

    kind = "handoff"
    handoff_condition: Annotated[Callable[..., Any], Function("outputs")] | None = None


class Parallel(Shape):
    """All agents work at once, each with the same inputs.

    Attributes:
        max_workers: Largest number of agents that work at the same time.
    """

    kind = "parallel"
    optional = ("aggregator",)
    max_workers: Count = 10


SHAPES: Mapping[str, type[Shape]] = {
    shape.kind: shape
    for shape in (
        *(Sequential, SupervisorWorker, Router, Ensemble, Blackboard),
        *(Consensus, Debate, HandoffSettings, Parallel),
    )
}
"""The nine patterns of ADR-018 by name."""
Pattern = Annotated[str, OneOf(tuple(SHAPES))]


class InPathway(Definition):
    """Pattern of a pathway's agents.

    Attributes:
        pattern: The name of a pattern; the other keys are its settings, and who has a role in it.
        error_handling: "fail-fast": an agent's failure is the turn's.
    """

    model_config = ConfigDict(title="Pipeline", extra="ignore")
    is_mapping = True
    unwritten = frozenset({"handoff_condition"})
    waits = True

    pattern: Pattern
    error_handling: ErrorHandling = "fail-fast"

    @property
    def holders(self) -> dict[str, str]:
        """The names of the agents that have a role, by role."""
        sound = [role for role in SHAPES[self.pattern].roles() if self.has_sound(role)]
        return {role: name for role in sound if (name := getattr(self, role)) is not None}

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the pattern."""
        return {name: getattr(self, name) for name in SHAPES[self.pattern].keys()}  # noqa: SIM118


def _no_role(role: str) -> Fault:
    return Fault(f"it has no {role}", remedy=f"write {role}: the name of one of its agents.")


@cache
def in_pathway(pattern: str) -> type[InPathway]:
    """Return the definition of a pattern in a pathway: its settings, and a name for each role."""
    shape = SHAPES[pattern]
    named = "an" if pattern[0] == "e" else "a"
    hints: dict[str, Any] = {"pattern": Literal[pattern]}
    hints |= dict.fromkeys(shape.required, RoleHolder)
    hints |= dict.fromkeys(shape.optional, RoleHolder | None)
    body = {
        "__module__": __name__,
        "__doc__": shape.__doc__,
        "__annotations__": hints,
        "model_config": ConfigDict(title=f"Pipeline of pattern {pattern}", extra="forbid"),
        "absent": {role: _no_role(role) for role in shape.required},
        "stand_ins": dict.fromkeys(shape.required, "?"),
        "called": classmethod(lambda _: f"{named} {pattern} pipeline"),
        **dict.fromkeys(shape.optional),
    }
    return type(f"{shape.__name__.removesuffix('Settings')}InPathway", (shape, InPathway), body)


class _ByPattern:
    """One of the definitions of the patterns; which one, its key `pattern` says."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        known = {name: handler.generate_schema(in_pathway(name)) for name in SHAPES}
        written = core_schema.tagged_union_schema(known, _pattern_in)
        return core_schema.tagged_union_schema(
            {**known, "": handler(source)},  # which says what is wrong with the key itself
            _pattern_in,
            metadata={"pydantic_js_functions": [lambda _, handler: handler(written)]},
        )


def _pattern_in(value: Any) -> str:
    found = value.get("pattern") if isinstance(value, Mapping) else getattr(value, "pattern", "")
    return found if isinstance(found, str) and found in SHAPES else ""


BY_PATTERN = _ByPattern()
