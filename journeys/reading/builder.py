"""Build the spec of a journey from what was read: of a class body and of a file alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from journeygraph.journeys.agents.tools import ToolSpec
from journeygraph.journeys.faults import Fault
from journeygraph.journeys.reading.declared import OfWholeJourney
from journeygraph.journeys.reading.rule_reader import (
    WrittenGuideline,
    read_guidelines,
    read_transitions,
    related,
)
from journeygraph.journeys.spec.checks import (
    collected_faults,
    reference_faults,
    strategies_of,
    target_faults,
)
from journeygraph.journeys.spec.hashing import content_hash
from journeygraph.journeys.spec.spec import (
    JourneySpec,
    PathwaySpec,
    TransitionSpec,
    frozen,
    reachable,
)


@dataclass(frozen=True, slots=True)
class JourneyDraft:
    """A journey as it was read, whose parts are not judged together yet.

    Attributes:
        pathways: All of them by id, in order.
        transitions: All of them, each with its place.
        guidelines: All of them, each with its place and its pathway.
        made_of: Data that its version is a hash of. Default: all of its parts.
    """

    id: str
    name: str
    where: str
    purpose: str
    whole: OfWholeJourney
    pathways: Mapping[str, PathwaySpec]
    transitions: Sequence[tuple[str, Any]] = ()
    guidelines: Sequence[WrittenGuideline] = ()
    tools: Mapping[str, ToolSpec] = field(default_factory=dict)
    made_of: Sequence[Any] = ()


def build(draft: JourneyDraft, faults: list[Fault]) -> JourneySpec | None:
    """Return the spec of a journey, noting every fault; None if there are any."""
    whole, pathways = draft.whole, draft.pathways
    transitions = read_transitions(draft.transitions, faults)
    faults += reference_faults(draft.where, whole.entry_pathway, pathways, transitions)
    guidelines = related(
        read_guidelines(draft.guidelines, faults, journey=draft.id), faults, len(draft.guidelines)
    )
    faults += collected_faults(pathways)
    faults += target_faults(draft.where, "__patterns__", whole.patterns, pathways)
    faults += target_faults(draft.where, "__migrations__", whole.migrations, pathways)
    if faults:
        return None
    entry = whole.entry_pathway or next(iter(pathways), "")
    flow = {**whole.flow(guidelines), **whole.manner()}
    shape = (list(pathways.values()), transitions)
    made_of = draft.made_of or (draft.name, draft.purpose, entry, *shape, whole.sensitive, flow)
    return joined(
        entry,
        pathways,
        transitions,
        id=draft.id,
        name=draft.name,
        where=draft.where,
        purpose=draft.purpose,
        sensitive=whole.sensitive,
        version=whole.version or content_hash(*made_of),
        tools=draft.tools,
        **flow,
    )


def sources_of(transitions: Sequence[TransitionSpec]) -> frozenset[str]:
    """Return the names that the updates of transitions read."""
    updates = (update for transition in transitions for update in transition.updates)
    return frozenset(update.argument for update in updates if update.how in ("append", "copy"))


def joined(
    entry: str,
    pathways: Mapping[str, PathwaySpec],
    transitions: Sequence[TransitionSpec],
    **rest: Any,
) -> JourneySpec:
    """Return the spec of a journey without faults.

    Args:
        pathways: All of them by id, in order.
        rest: The other fields of the spec that nothing follows from.
    """
    parts = rest.get("parts", {}).values()
    patterns = [rest.get("patterns", {}), *(part.patterns for part in parts)]
    return JourneySpec(
        entry=entry,
        pathways=frozen(pathways),
        transitions=tuple(transitions),
        strategies=frozen(strategies_of(pathways)),
        kept=sources_of(transitions),
        reachable=reachable(entry, pathways, transitions, chain(*(p.values() for p in patterns))),
        has_repair=(
            any(patterns)
            or any(pathway.interruptible is not True for pathway in pathways.values())
            or any(part.has_repair for part in parts)
        ),
        **rest,
    )
