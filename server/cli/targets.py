"""Tell which of the named targets are pipelines; the rest name journeys."""

from __future__ import annotations

from collections.abc import Iterable

from journeys import JourneyConfig, Pipeline
from server.cli.edge import CommandError
from server.cli.finding import NAMES
from server.cli.pipelines import PIPELINE_NAMES, pipeline_meant

TARGETS = f"A journey: {NAMES} A pipeline: {PIPELINE_NAMES}"
"""What a target can be named by, for help texts."""


def targets_of(
    targets: Iterable[str], config: JourneyConfig | None = None
) -> tuple[list[str], dict[str, Pipeline]]:
    """Return the names of journeys, and the pipelines by their names.

    A pipeline is called as it calls itself, or else by its example or attribute.

    Args:
        targets: As they were typed.
        config: Settings of pipelines that have none of their own.

    Raises:
        CommandError: Two pipelines have one name, or a name means neither.
        LoadError: A module has faults.
    """
    journeys: list[str] = []
    pipelines: dict[str, Pipeline] = {}
    for target in targets:
        found = pipeline_meant(target, config)
        if found is None:
            journeys.append(target)
        elif found.name in pipelines:
            raise CommandError(f"Two of the pipelines are named '{found.name}'.", exit_code=2)
        else:
            pipelines[found.name] = found.configured(config) if config else found.pipeline
    return journeys, pipelines
