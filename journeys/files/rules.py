"""The rules in a file: what starts a journey, what moves it, how its agents behave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from journeygraph.journeys.agents.tools import ToolSpec
from journeygraph.journeys.errors import did_you_mean
from journeygraph.journeys.files.form import JourneyForm
from journeygraph.journeys.files.part import Part
from journeygraph.journeys.notions.behaviors import ReturnToPrevious, ReturnToSpecific
from journeygraph.journeys.notions.guidelines import Guideline, GuidelineSpec
from journeygraph.journeys.reading.rule_reader import (
    numbered,
    read_guideline,
    read_transition,
    relation_faults,
    taken_ids,
)
from journeygraph.journeys.spec.spec import TransitionSpec


def transitions_of(part: Part, form: JourneyForm) -> list[TransitionSpec]:
    """Return what moves a session within a journey."""
    seen: dict[str, int] = {}
    return [
        read_transition(
            part.where(f"transition to '{item.to_pathway}'", "transitions", number), item, seen
        )
        for number, item in enumerate(form.transitions)
        if item.to_pathway  # else its fault is known
    ]


def returns_of(part: Part, form: JourneyForm) -> dict[str, ReturnToPrevious | ReturnToSpecific]:
    """Return how the states return that transitions enter as detours."""
    first: dict[str, tuple[ReturnToPrevious | ReturnToSpecific | None, int]] = {}
    for number, item in enumerate(form.transitions):
        known, before = first.setdefault(item.to_pathway, (item.detour, number))
        if known != item.detour:
            line = part.line("transitions", before)
            message = f"the transition to '{item.to_pathway}' in line {line} has another detour."
            remedy = "Write the same detour in all transitions to a state."
            part.note(message, "transitions", number, "detour", remedy=remedy)
    return {state: returns for state, (returns, _) in first.items() if returns}


def guidelines_of(
    part: Part,
    guidelines: Sequence[Guideline],
    *path: str | int,
    journey: str | None,
    state: str | None = None,
) -> list[GuidelineSpec]:
    """Return guidelines as they are written at a place of a file."""
    specs: list[GuidelineSpec] = []
    for number, guideline in enumerate(guidelines):
        called = f"'{guideline.id}'" if guideline.id else str(number + 1)
        where = part.where(f"guideline {called}", *path, number)
        if guideline.is_whole:
            specs += read_guideline(where, guideline, part.faults, journey=journey, pathway=state)
    return specs


def related(
    part: Part, guidelines: Sequence[GuidelineSpec], written: int
) -> tuple[GuidelineSpec, ...]:
    """Return guidelines with unique ids, noting the faults between them.

    Args:
        part: Of the file.
        guidelines: Those that could be read.
        written: Number of guidelines in the file. If some could not be read, faults in the
            relations between them are not noted.
    """
    part.faults += taken_ids(guidelines)
    specs = numbered(guidelines)
    if len(guidelines) == written:
        part.faults += relation_faults(specs)
    return specs


def check_tools(part: Part, names: Sequence[str], known: Sequence[str], *path: str | int) -> None:
    """Note names of tools that are not there."""
    for number, name in enumerate(names):
        if name not in known:
            part.unknown("tool", name, known, *path, number)


def check_arguments(
    part: Part, arguments: Mapping[str, str], tool: ToolSpec, *path: str | int
) -> None:
    """Note arguments that a tool does not take."""
    known = list(tool.parameters.get("properties", arguments))
    for name in arguments:
        if name not in known:
            hint = did_you_mean(name, known)
            takes = ", ".join(known) or "nothing"
            said = f"'{name}' is not a parameter of {tool.name}."
            part.note(said, *path, name, remedy=f"{hint} It takes: {takes}.")
