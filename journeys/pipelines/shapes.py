"""The shape of each of the nine patterns: peers, roles, settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from journeys.errors import did_you_mean, shown

CHOICES = ("semantic", "llm", "round-robin", "random")
"""Ways to choose among agents."""
DISCOVERIES = ("a2a", "llm", "all")
"""Ways in which an ensemble finds its members: by their cards, by a model's choice, or all."""
VOTES = ("majority", "unanimous", "weighted", "threshold")
"""Ways to count votes."""
ERROR_HANDLING = ("graceful", "fail-fast")
MOST_LEVELS = 20
"""Deepest nesting of pipelines."""

Fault = str | None


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a pattern: its default, and what is wrong with a value."""

    default: Any
    fault: Callable[[Any], Fault]


def _one_of(*known: str) -> Callable[[Any], Fault]:
    def fault(value: Any) -> Fault:
        if value in known:
            return None
        return f"it must be one of {', '.join(known)}.{did_you_mean(str(value), known)}"

    return fault


def _whole(value: Any) -> Fault:
    return None if type(value) is int and value >= 1 else "it must be a whole number from 1 on."


def _share(value: Any) -> Fault:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return None if is_number and 0 <= value <= 1 else "it must be a number from 0 to 1."


def _condition(value: Any) -> Fault:
    fits = value is None or callable(value)
    return None if fits else "it must be a function of an agent's outputs, or None."


@dataclass(frozen=True, slots=True)
class Shape:
    """What a pattern is made of.

    Attributes:
        peers: What its agents are called.
        required: Roles that it cannot do without.
        optional: Roles that it can have.
        settings: Its settings by name.
    """

    peers: str = "agents"
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    settings: Mapping[str, Setting] = field(default_factory=dict)

    @property
    def roles(self) -> tuple[str, ...]:
        """All roles, in the order in which they are written."""
        return self.required + self.optional


_SELECTION = {"selection_mode": Setting("semantic", _one_of(*CHOICES))}

SHAPES: Mapping[str, Shape] = {
    "sequential": Shape(),
    "supervisor_worker": Shape("workers", required=("supervisor",), settings=_SELECTION),
    "router": Shape(settings={"routing_strategy": Setting("semantic", _one_of(*CHOICES))}),
    "ensemble": Shape(
        required=("synthesizer",),
        settings={
            "discovery_mode": Setting("a2a", _one_of(*DISCOVERIES)),
            "top_k": Setting(3, _whole),
        },
    ),
    "blackboard": Shape(
        "specialists",
        required=("controller",),
        settings={**_SELECTION, "max_iterations": Setting(10, _whole)},
    ),
    "consensus": Shape(
        settings={
            "threshold": Setting(0.5, _share),
            "voting_strategy": Setting("majority", _one_of(*VOTES)),
        }
    ),
    "debate": Shape(optional=("judge",), settings={"rounds": Setting(3, _whole)}),
    "handoff": Shape(settings={"handoff_condition": Setting(None, _condition)}),
    "parallel": Shape(optional=("aggregator",), settings={"max_workers": Setting(10, _whole)}),
}
"""The nine patterns of ADR-018 by name."""

STEPS = ("select", "gather")
"""Names of the patterns' own nodes, which no agent can have."""


def setting_faults(kind: str, settings: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the settings of a pattern, one sentence for each."""
    known = SHAPES[kind].settings
    faults = []
    for name, value in settings.items():
        if name not in known:
            listed = ", ".join(known) or "none"
            hint = did_you_mean(name, list(known))
            faults.append(f"'{name}' is no setting of {kind}.{hint} Its settings: {listed}.")
        elif fault := known[name].fault(value):
            faults.append(f"{name} is {shown(value)}; {fault}")
    return faults


def error_handling_faults(value: Any) -> list[str]:
    """Return what is wrong with a way to handle errors."""
    fault = _one_of(*ERROR_HANDLING)(value)
    return [f"error_handling is {shown(value)}; {fault}"] if fault else []
