"""The rules in a file: what starts a journey, what moves it, how its agents behave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from journeygraph.journeys.agents.tools import ToolSpec
from journeygraph.journeys.declarations.behaviors import ReturnToPrevious, ReturnToSpecific
from journeygraph.journeys.declarations.guidelines import Guideline
from journeygraph.journeys.errors import did_you_mean
from journeygraph.journeys.files.form import JourneyForm
from journeygraph.journeys.files.part import FilePart
from journeygraph.journeys.reading.rule_reader import WrittenGuideline


def returns_of(part: FilePart, form: JourneyForm) -> dict[str, ReturnToPrevious | ReturnToSpecific]:
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
    part: FilePart, guidelines: Sequence[Guideline], *path: str | int, state: str | None = None
) -> list[WrittenGuideline]:
    """Return guidelines as they are written at a place of a file."""
    return [
        (part.where(f"guideline {_called(item, number)}", *path, number), item, state)
        for number, item in enumerate(guidelines)
    ]


def _called(guideline: Guideline, number: int) -> str:
    return f"'{guideline.id}'" if guideline.id else str(number + 1)


def check_tools(
    part: FilePart, names: Sequence[str], known: Sequence[str], *path: str | int
) -> None:
    """Note names of tools that are not there."""
    for number, name in enumerate(names):
        if name not in known:
            part.unknown("tool", name, known, *path, number)


def check_arguments(
    part: FilePart, arguments: Mapping[str, str], tool: ToolSpec, *path: str | int
) -> None:
    """Note arguments that a tool does not take."""
    known = list(tool.parameters.get("properties", arguments))
    for name in arguments:
        if name not in known:
            hint = did_you_mean(name, known)
            takes = ", ".join(known) or "nothing"
            said = f"'{name}' is not a parameter of {tool.name}."
            part.note(said, *path, name, remedy=f"{hint} It takes: {takes}.")
