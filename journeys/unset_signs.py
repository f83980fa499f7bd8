"""Names that something reads, and nobody sets: a slip, or values that only `start()` can give."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from journeys.errors import did_you_mean
from journeys.faults import Fault
from journeys.spec import JourneySpec

Unset = tuple[str, str]
"""A name, and the warning about it."""


def unset_names(spec: JourneySpec, known: Collection[str]) -> Iterator[Unset]:
    """Yield what reads a name that nobody sets, in conditions of files and in arguments of tools.

    A journey that others are beside is judged with them: they may leave it what it reads.

    Args:
        spec: The journey.
        known: Names that something in it puts into the context.
    """
    if spec.activation and not spec.parts:
        return
    for where, condition in _conditions(spec):
        for name in sorted(_reads(condition) - {*known}):
            yield name, Fault(f"`when` {_unset(name, known)}", "when", where=where)
    for pathway in spec.pathways.values():
        for number, call in enumerate(pathway.calls):
            for name in call.arguments.values():
                if name not in (*known, "message"):
                    said = f"calls[{number}] {_unset(name, known)}"
                    yield name, Fault(said, "calls", number, where=pathway.where)


def unset_inputs(where: str, inputs: Iterable[str], known: Collection[str]) -> Iterator[Unset]:
    """Yield the inputs of a state of a file that nobody sets."""
    for number, name in enumerate(inputs):
        if name not in known:
            said = f"inputs[{number}] {_unset(name, known)}"
            yield name, Fault(said, "inputs", number, where=where)


def _conditions(spec: JourneySpec) -> Iterator[tuple[str, Any]]:
    for transition in spec.transitions:
        yield transition.where, getattr(transition.trigger, "condition", None)
    for pathway in spec.pathways.values():
        yield pathway.where, pathway.complete_when
    for guideline in spec.guidelines:
        yield guideline.where, guideline.when
    for one in (spec, *spec.parts.values()):
        if one.escalation is not None:
            yield one.name, one.escalation.when


def _reads(condition: Any) -> frozenset[str]:
    """Return the names that a condition says it reads, as those of files do."""
    reads = getattr(condition, "reads", None)
    return reads if isinstance(reads, frozenset) else frozenset()


def _unset(name: str, known: Collection[str]) -> str:
    hint = did_you_mean(name, sorted(known))
    return f"reads '{name}', which nothing here sets; only start() could give it.{hint}"
