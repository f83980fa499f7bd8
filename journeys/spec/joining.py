"""A whole spec out of its parts, with what follows from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from journeys.spec.checks import strategies_of
from journeys.spec.spec import JourneySpec, PathwaySpec, TransitionSpec, frozen, reachable
from journeys.spec.warning_signs import kept_names, unset_names, warnings_of


def joined(
    entry: str,
    pathways: Mapping[str, PathwaySpec],
    transitions: Sequence[TransitionSpec],
    **rest: Any,
) -> JourneySpec:
    """Return the spec of a journey without faults; what smells in it becomes its warnings.

    Args:
        entry: Id of the pathway where a session begins.
        pathways: All of them by id, in order.
        transitions: All of them, in order.
        rest: The other fields of the spec that nothing follows from.
    """
    sources = {u.argument for t in transitions for u in t.updates if u.how in ("append", "copy")}
    spec = JourneySpec(
        entry=entry,
        pathways=frozen(pathways),
        transitions=tuple(transitions),
        strategies=frozen(strategies_of(pathways)),
        kept=frozenset(sources),
        reachable=reachable(entry, pathways, transitions, rest.get("patterns", {})),
        has_repair=_has_repair(pathways, rest),
        **rest,
    )
    unset = tuple(unset_names(spec, kept_names(spec)))
    return replace(spec, warnings=tuple(warnings_of(spec)), unset=unset)


def _has_repair(pathways: Mapping[str, PathwaySpec], rest: Mapping[str, Any]) -> bool:
    """Return whether a journey declares repair patterns, or where it may be interrupted."""
    return (
        bool(rest.get("patterns"))
        or any(pathway.interruptible is not True for pathway in pathways.values())
        or any(part.has_repair for part in rest.get("parts", {}).values())
    )
