"""Tell which of the named targets are pipelines; the rest name journeys."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from journeys import Pipeline
from journeys.errors import did_you_mean
from server.cli.edge import CommandError
from server.cli.finding import NAMES, module_of

TARGETS = f"{NAMES} A pipeline: file.py:attribute or module:attribute."
"""What a target can be named by, for help texts."""


def targets_of(targets: Iterable[str]) -> tuple[list[str], dict[str, Pipeline]]:
    """Return the names of journeys, and the pipelines by their names.

    A pipeline is called as it calls itself, or else by its attribute.

    Raises:
        CommandError: Two pipelines have one name, or a name means neither.
        LoadError: A module has faults.
    """
    journeys: list[str] = []
    pipelines: dict[str, Pipeline] = {}
    for target in targets:
        pipeline = _pipeline(target)
        if pipeline is None:
            journeys.append(target)
            continue
        name = _name(target, pipeline)
        if name in pipelines:
            raise CommandError(f"Two of the pipelines are named '{name}'.", exit_code=2)
        pipelines[name] = pipeline
    return journeys, pipelines


def _pipeline(target: str) -> Pipeline | None:
    """Return the pipeline that a target names; None where it names something else, or nothing."""
    place, colon, attribute = target.partition(":")
    if not (place and colon and attribute):
        return None
    module = module_of(place, alone=False)
    found = getattr(module, attribute, None)
    if isinstance(found, Pipeline):
        return found
    if isinstance(found, type) and issubclass(found, Pipeline):
        return _made(target, found)
    if found is None:
        known = [name for name, value in vars(module).items() if isinstance(value, Pipeline)]
        if hint := did_you_mean(attribute, known):
            raise CommandError(f"'{place}' has no pipeline '{attribute}'.{hint}", exit_code=2)
    return None


def _made(target: str, kind: type[Any]) -> Pipeline:
    try:
        made: Pipeline = kind()
    except TypeError as error:
        raise CommandError(
            f"{target} is a class that cannot be made without arguments ({error}). Name a pipeline "
            "that is made already."
        ) from None
    return made


def _name(target: str, pipeline: Pipeline) -> str:
    own = pipeline.name
    # A pattern's name is what a pipeline is called that was given none.
    if own and own != getattr(pipeline, "pattern", ""):
        return own
    return Path(target).name.rpartition(":")[2]
