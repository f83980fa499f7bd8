"""Find a pipeline by name: an example, or an attribute of a file or a module."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from journeygraph.journeys import JourneyConfig, PatternPipeline, Pipeline
from journeygraph.journeys.errors import did_you_mean
from journeygraph.journeys.examples import pipelines as examples
from journeygraph.nodes.llm.models import is_configured
from journeygraph.server.discover.definition_files import is_definition
from journeygraph.server.discover.errors import CommandError, command
from journeygraph.server.discover.journeys import example_ids, module_of, pipeline_ids
from journeygraph.server.discover.modules import journeys_in, module_named

_WITH_MODEL, _WITHOUT = "MODEL_PIPELINE", "PIPELINE"


@dataclass(frozen=True)
class FoundPipeline:
    """A pipeline with the samples of its module.

    Attributes:
        name: Its own name, or that of its example or attribute if it has none.
        pipeline: The pipeline; if it is of a pattern, with that name.
    """

    name: str
    pipeline: Pipeline
    module: ModuleType

    def configured(self, config: JourneyConfig) -> Pipeline:
        """Return the pipeline with these settings, unless it has its own."""
        if isinstance(self.pipeline, PatternPipeline) and self.pipeline.config is None:
            return self.pipeline.with_config(config)
        return self.pipeline

    @property
    def samples(self) -> Sequence[str]:
        """Sample messages: `SAMPLES`, or empty."""
        return tuple(getattr(self.module, "SAMPLES", ()))

    @property
    def purpose(self) -> str:
        """Its purpose: its description, or the first line of its module."""
        said = self.pipeline.description or self.module.__doc__ or ""
        return said.strip().partition("\n")[0]


def find_pipeline(name: str, config: JourneyConfig | None = None) -> FoundPipeline:
    """Return the pipeline of that name.

    Args:
        name: Name of an example, or `file.py` or a module with `:attribute` after it. Without an
            attribute it is `PIPELINE` (with a model configured, `MODEL_PIPELINE` first), or else
            the only pipeline of the module.

    Raises:
        CommandError: There is no such pipeline; the text has similar names; exit code 2.
    """
    if name in pipeline_ids():
        return _offered(name, module_named(f"{examples.__name__}.{name}"), config)
    place, colon, attribute = name.partition(":")
    if (colon and not attribute) or not _is_module(place):
        raise _unknown(name)
    module = module_of(place, alone=not colon)
    return _declared(name, module, attribute) if colon else _offered(name, module, config)


def pipeline_meant(name: str, config: JourneyConfig | None = None) -> FoundPipeline | None:
    """Return the pipeline with that name; None if the name is a journey's, or unknown.

    Raises:
        CommandError: The name is unknown, and a pipeline has a similar name.
    """
    if name in pipeline_ids():
        return find_pipeline(name, config)
    place, colon, attribute = name.partition(":")
    if name in example_ids() or is_definition(name):
        return None
    if not _is_module(place):
        if did_you_mean(name, pipeline_ids()) and not did_you_mean(name, example_ids()):
            raise _unknown(name)
        return None
    module = module_of(place, alone=not colon)
    if colon:
        known = _all(module)
        near = not hasattr(module, attribute) and did_you_mean(attribute, list(known))
        return _declared(name, module, attribute) if attribute in known or near else None
    return None if journeys_in(module) or not _all(module) else _offered(name, module, config)


def targets_of(
    targets: Iterable[str], config: JourneyConfig | None = None
) -> tuple[list[str], dict[str, Pipeline]]:
    """Return the names of journeys, and the pipelines by their names.

    The name of a pipeline is its own, or else that of its example or attribute.

    Raises:
        CommandError: Two pipelines have one name, or a name is unknown.
    """
    journeys: list[str] = []
    pipelines: dict[str, Pipeline] = {}
    for target in targets:
        found = pipeline_meant(target, config)
        if found is None:
            journeys.append(target)
        elif found.name in pipelines:
            raise CommandError(
                f"Two pipelines have the name '{found.name}'. Rename one of them.", exit_code=2
            )
        else:
            pipelines[found.name] = found.configured(config) if config else found.pipeline
    return journeys, pipelines


def _is_module(place: str) -> bool:
    if Path(place).suffix == ".py":
        return Path(place).is_file()
    top = place.partition(".")[0]
    if not top.isidentifier():
        return False
    return any(Path(f).exists() for f in (top, f"{top}.py")) or bool(importlib.util.find_spec(top))


def _all(module: ModuleType) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items() if _is_pipeline(value)}


def _is_pipeline(value: Any) -> bool:
    kind = isinstance(value, type) and issubclass(value, Pipeline)
    return isinstance(value, Pipeline) or (kind and value not in (Pipeline, PatternPipeline))


def _offered(name: str, module: ModuleType, config: JourneyConfig | None) -> FoundPipeline:
    known = _all(module)
    wanted = [_WITH_MODEL, _WITHOUT] if is_configured(None, config) else [_WITHOUT]
    chosen = [name for name in wanted if name in known] or list(known)
    if not known:
        raise CommandError(f"There is no pipeline in {name}.", exit_code=2)
    if len(known) > 1 and chosen == list(known):
        choices = ", ".join(f"{name}:{attribute}" for attribute in known)
        raise CommandError(
            f"{name} contains several pipelines. Choose one: {choices}.", exit_code=2
        )
    called = Path(name).stem if name.endswith(".py") else name.rpartition(".")[2]
    return _made(name, known[chosen[0]], called, module)


def _declared(name: str, module: ModuleType, attribute: str) -> FoundPipeline:
    known = _all(module)
    if attribute in known:
        return _made(name, known[attribute], attribute, module)
    place, hint = name.rpartition(":")[0], did_you_mean(attribute, list(known))
    there = f"Pipelines in it: {', '.join(known)}." if known else "It contains no pipeline."
    raise CommandError(f"'{place}' has no pipeline '{attribute}'.{hint} {there}", exit_code=2)


def _made(name: str, found: Any, called: str, module: ModuleType) -> FoundPipeline:
    try:
        pipeline: Pipeline = found() if isinstance(found, type) else found
    except TypeError as error:
        raise CommandError(
            f"{name} is a class that needs arguments ({error}). Name an object of it instead."
        ) from None
    if isinstance(pipeline, PatternPipeline) and pipeline.name == pipeline.pattern:
        pipeline = pipeline.with_name(called)
    return FoundPipeline(pipeline.name or called, pipeline, module)


def _unknown(name: str) -> CommandError:
    if name in example_ids():
        return CommandError(f"'{name}' is a journey: {command()} chat {name}", exit_code=2)
    file = name.partition(":")[0]
    missing = file.endswith(".py") and not Path(file).is_file()
    what = f"file {file}" if missing else f"pipeline '{name}'"
    hint = did_you_mean(name, pipeline_ids())
    return CommandError(
        f"There is no {what}.{hint} Examples: {', '.join(pipeline_ids())}. Your own pipeline: "
        f"file.py:attribute or module:attribute.",
        exit_code=2,
    )
