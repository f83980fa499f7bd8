"""Check a definition and return its faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from journeys.agents.agent_card import may_name
from journeys.errors import did_you_mean
from journeys.faults import Fault
from journeys.notions.behaviors import NEVER, ReturnToSpecific
from journeys.notions.context import MergeStrategy
from journeys.spec.spec import RESERVED_IDS, PathwaySpec, TransitionSpec

Pathways = Mapping[str, PathwaySpec]
MOST_ID = 200
"""Longest id of a pathway, in characters: as long as a store's column."""


def reference_faults(
    owner: str, entry: str | None, pathways: Pathways, transitions: Sequence[TransitionSpec]
) -> list[Fault]:
    """Return the faults that only show when all pathways are known together."""
    return [
        *_id_faults(pathways),
        *_entry_faults(owner, entry, pathways),
        *_next_faults(pathways),
        *_return_faults(pathways),
        *_transition_faults(pathways, transitions),
        *_strategy_faults(pathways),
        *_loop_faults(pathways),
    ]


def strategies_of(pathways: Pathways) -> dict[str, MergeStrategy | None]:
    """Return the one strategy of each accumulated name; None is the undeclared rule."""
    strategies: dict[str, MergeStrategy | None] = {}
    for pathway in pathways.values():
        for name, strategy in pathway.accumulate.items():
            strategies[name] = strategies.get(name) or strategy
    return strategies


def _known(pathways: Pathways) -> str:
    return f"Its pathways: {', '.join(pathways)}."


def _unknown(where: str, what: str, key: str, id_: object, pathways: Pathways) -> Fault:
    hint = did_you_mean(str(id_), list(pathways))
    said = f"{what} is {id_!r}, which is no pathway here."
    return Fault(said, key, remedy=f"{hint} {_known(pathways)}", where=where)


def _id_faults(pathways: Pathways) -> Iterator[Fault]:
    for id_, pathway in pathways.items():
        if not id_:
            yield Fault(
                "its id is empty.",
                remedy="Give the class a name before the suffix.",
                where=pathway.where,
            )
        if len(id_) > MOST_ID:
            begun = f"the id '{id_[:40]}...'"
            yield Fault(
                f"{begun} is longer than {MOST_ID} characters.",
                remedy="Shorten it.",
                where=pathway.where,
            )
        if id_ in RESERVED_IDS:
            yield Fault(
                f"the id '{id_}' is a node of the graph itself.",
                remedy="Rename it.",
                where=pathway.where,
            )
        for name in pathway.agents:
            if not may_name(name):
                yield Fault(
                    f"the agent name '{name}' holds ':', '|' or '/' or begins "
                    "with '__', which graphs keep for themselves.",
                    remedy="Rename it.",
                    where=pathway.where,
                )


def _entry_faults(owner: str, entry: str | None, pathways: Pathways) -> Iterator[Fault]:
    if entry is not None and entry not in pathways:
        yield _unknown(owner, "__entry_pathway__", "initial_state", entry, pathways)
    first = entry or next(iter(pathways), "")
    if first in pathways and pathways[first].is_detour:
        yield Fault(
            f"the entry '{first}' is a detour, and there is nothing to return to yet.",
            remedy="Set __entry_pathway__ to another pathway.",
            where=owner,
        )


def _next_faults(pathways: Pathways) -> Iterator[Fault]:
    for pathway in pathways.values():
        if pathway.next is None:
            continue
        if pathway.next not in pathways:
            yield _unknown(pathway.where, "__next__", "next", pathway.next, pathways)
        elif pathways[pathway.next].is_detour:
            yield Fault(
                f"__next__ is '{pathway.next}', a detour, which only a transition can enter.",
                "next",
                remedy="Use a Transition, or take its __return_behavior__ away.",
                where=pathway.where,
            )
        if pathway.is_detour:
            yield Fault(
                "it has __next__ and __return_behavior__; a detour returns.",
                remedy="Take one away, or use ReturnToSpecific.",
                where=pathway.where,
            )


def _return_faults(pathways: Pathways) -> Iterator[Fault]:
    for pathway in pathways.values():
        returns = pathway.returns
        if isinstance(returns, ReturnToSpecific):
            if returns.target_pathway not in pathways:
                target = returns.target_pathway
                yield _unknown(pathway.where, "the return target", "detour", target, pathways)
            elif pathways[returns.target_pathway].is_detour:
                yield Fault(
                    f"the return target '{returns.target_pathway}' is a detour.",
                    "detour",
                    where=pathway.where,
                )
        if returns:
            yield from _detour_faults(pathway)


def _detour_faults(pathway: PathwaySpec) -> Iterator[Fault]:
    if pathway.runs_on_arrival and pathway.form is None:
        yield Fault(
            "a detour is entered by a transition, and runs at once",
            remedy="take its __runs_on_arrival__ away.",
            where=pathway.where,
        )


def _transition_faults(
    pathways: Pathways, transitions: Sequence[TransitionSpec]
) -> Iterator[Fault]:
    for transition in transitions:
        if transition.target not in list(pathways):  # it may be anything, also unhashable
            yield _unknown(transition.where, "to_pathway", "to", transition.target, pathways)
        for source in transition.sources:
            if source != "*" and source not in pathways:
                yield _unknown(transition.where, "from_pathway", "from", source, pathways)


def _strategy_faults(pathways: Pathways) -> Iterator[Fault]:
    first: dict[str, tuple[MergeStrategy, str]] = {}
    for pathway in pathways.values():
        for name, strategy in pathway.accumulate.items():
            if strategy is None:
                continue
            known, where = first.setdefault(name, (strategy, pathway.where))
            if known is not strategy:
                yield Fault(
                    f"'{name}' is merged by '{strategy}', but by '{known}' in {where}.",
                    remedy="A name has one strategy in a journey.",
                    where=pathway.where,
                )


def _loop_faults(pathways: Pathways) -> Iterator[Fault]:
    """Find arrivals that would run in a circle until the hop limit, every time."""
    told: set[str] = set()
    for start in pathways:
        loop: list[str] = []
        at = start
        while at in pathways and at not in loop and _goes_on_by_itself(pathways[at]):
            loop.append(at)
            at = pathways[at].next or ""
        if loop and at == start and not told & set(loop):
            told |= set(loop)
            yield Fault(
                f"{' -> '.join([*loop, start])} run on arrival in an endless loop.",
                "on_arrival",
                remedy="Let one of them wait: take its __runs_on_arrival__ away.",
                where=pathways[start].where,
            )


def _goes_on_by_itself(pathway: PathwaySpec) -> bool:
    # A callable may end the circle by what the agents find out; the hop limit guards the rest.
    waits = pathway.complete_when is NEVER or callable(pathway.complete_when)
    return pathway.runs_on_arrival and not waits
