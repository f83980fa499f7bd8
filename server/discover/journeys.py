"""Find a journey by name: an example's id, a file or a module, with or without a class."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from journeygraph.journeys import (
    ConfigurationError,
    Journey,
    JourneyConfig,
    JourneyError,
    examples,
)
from journeygraph.journeys.errors import did_you_mean
from journeygraph.journeys.examples import pipelines
from journeygraph.nodes.llm.models import ModelSet, is_configured
from journeygraph.server.discover.definition_files import is_definition, journey_at, module_beside
from journeygraph.server.discover.errors import CommandError, command
from journeygraph.server.discover.modules import (
    NoSuchModuleError,
    called,
    hidden_by_installed,
    journeys_in,
    module_at,
    module_named,
    root_of,
)


@dataclass(frozen=True, slots=True)
class Served:
    """A journey with the agents, tools and model that all its sessions here share.

    Attributes:
        model: The argument `model` of `Journey`; None: the model of the settings.
        found: Its name and module; None: it is stored in the database, or has no name.
    """

    journey: type[Journey]
    agents: Mapping[str, Any]
    tools: Mapping[str, Any] = field(default_factory=dict)
    model: Any = None
    found: FoundJourney | None = None


Name = str | type[Journey]
"""The name of a journey, or its class."""


@dataclass(frozen=True)
class FoundJourney:
    """A journey with the agents, tools and samples of its module."""

    name: str
    journey: type[Journey]
    module: ModuleType

    @property
    def model(self) -> Any:
        """The argument `model` of `Journey`: `MODEL`, `UNDERSTANDING_MODEL` and `CHECK_MODEL`."""
        return model_in(self.module)

    def has_model(self, config: JourneyConfig | None) -> bool:
        """Return whether the journey has a model: the module's, or one of the settings."""
        return is_configured(self.model, config, self.journey.spec)

    @property
    def agents(self) -> dict[str, Any]:
        """The agents without settings; see `agents_for`."""
        return self.agents_for(None)

    def agents_for(self, config: JourneyConfig | None) -> dict[str, Any]:
        """Return a fresh set from `build_agents()`, else `AGENTS`; empty if neither exists.

        If the journey has a model, `build_model_agents()` and `MODEL_AGENTS` come first. Agents
        that only another journey of the module uses are omitted.

        Raises:
            CommandError: The attribute of the module is not a mapping of names.
        """
        return self.agents_with(has_model=self.has_model(config))

    def agents_with(self, *, has_model: bool) -> dict[str, Any]:
        """Return the agents as `agents_for`, for a journey that has a model or none."""
        agents = agents_in(self.module, has_model=has_model)
        used = {name for other in journeys_in(self.module) for name in other.spec.agents}
        others = used - self.journey.spec.agents.keys()
        return {name: agent for name, agent in agents.items() if name not in others}

    @property
    def tools(self) -> dict[str, Any]:
        """The functions of the journey's tools: `build_tools()`, else `TOOLS`.

        Tools that only another journey of the module names are omitted.
        """
        tools = given_in(self.module, "TOOLS") or {}
        specs = [other.spec for other in journeys_in(self.module)]
        own = {*self.journey.spec.tools, *self.journey.spec.retrievers}
        others = {name for spec in specs for name in (*spec.tools, *spec.retrievers)} - own
        return {name: tool for name, tool in tools.items() if name not in others}

    @property
    def sample_context(self) -> dict[str, Any]:
        """The first context of a session: `SAMPLE_CONTEXT`, or empty."""
        return dict(getattr(self.module, "SAMPLE_CONTEXT", {}))

    @property
    def demo_messages(self) -> Sequence[str]:
        """The messages of a demonstration: `DEMO_MESSAGES`, or empty."""
        return tuple(getattr(self.module, "DEMO_MESSAGES", ()))

    def checked_tools(self) -> dict[str, Any]:
        """Return the checked tools."""
        from journeygraph.graphs.agents.tools import shared_tools  # noqa: PLC0415 - it brings LangChain along

        tools = self.tools
        try:
            shared_tools(self.journey.spec, tools)
        except ConfigurationError as error:
            raise self.without_tools(error) from None
        return tools

    def without_tools(self, error: object) -> CommandError:
        """Return the error for missing tools with the place where they are searched."""
        place = called(self.module)
        return CommandError(f"{error} The command reads tools from a dict TOOLS in '{place}'.")

    def without_agents(self, error: JourneyError) -> CommandError:
        """Return the error for missing agents with the place where they are searched."""
        place = called(self.module)
        return CommandError(f"{error} The command reads agents from a dict AGENTS in '{place}'.")


def model_in(module: ModuleType) -> Any:
    """Return the model of a module for its journeys: a chat model, a name, or several.

    `MODEL` is for every step; `UNDERSTANDING_MODEL` and `CHECK_MODEL` replace it for their steps.
    """
    names = ("MODEL", "UNDERSTANDING_MODEL", "CHECK_MODEL")
    general, understanding, check = (getattr(module, name, None) for name in names)
    if understanding is None and check is None:
        return general
    return ModelSet(general, understanding, check)


def agents_in(module: ModuleType, *, has_model: bool) -> Mapping[str, Any]:
    """Return the agents of a module; with a model, those for models first."""
    agents = given_in(module, "MODEL_AGENTS") if has_model else None
    return (given_in(module, "AGENTS") or {}) if agents is None else agents


def given_in(module: ModuleType, name: str) -> Mapping[str, Any] | None:
    """Return the agents or tools of one kind that a module has; None if it has none."""
    build = getattr(module, f"build_{name.lower()}", None)
    given = build() if callable(build) else getattr(module, name, None)
    if given is None or isinstance(given, Mapping):
        return given
    what = name.rpartition("_")[2].lower().removesuffix("s")
    raise CommandError(f"{name} in {called(module)} must be a dict from names to {what}.")


def example_ids() -> list[str]:
    """Return the names of the example journeys that ship with JourneyGraph."""
    others = pipelines.__name__.rpartition(".")[2]
    return [item.name for item in pkgutil.iter_modules(examples.__path__) if item.name != others]


def pipeline_ids() -> list[str]:
    """Return the names of the example pipelines that ship with it."""
    return [item.name for item in pkgutil.iter_modules(pipelines.__path__)]


def find(name: Name) -> FoundJourney:
    """Return the journey of that name.

    Args:
        name: Id of an example, `file.yaml`, `file.py`, or a module; `:Class` after a Python one
            with several journeys. Or the class itself: its agents are those of its module.

    Raises:
        CommandError: There is no such journey; the text has similar names; exit code 2.
        LoadError: Its module has faults.
        FaultyFileError: Its definition file has faults.
    """
    if not isinstance(name, str):
        place = name.__module__
        return FoundJourney(f"{place}:{name.__qualname__}", name, sys.modules[place])
    if name in example_ids():
        return _example(name)
    if name in pipeline_ids():
        raise CommandError(f"'{name}' is a pipeline: {command()} run {name}", exit_code=2)
    if is_definition(name):
        return _of_file(name)
    place, colon, class_name = name.partition(":")
    if not place or (colon and not class_name):
        raise _unknown(f"There is no journey '{name}'.")
    module = module_of(place, alone=not colon)
    return _declared(name, module, class_name) if colon else _only(name, module)


def _example(name: str) -> FoundJourney:
    module = module_named(f"{examples.__name__}.{name}")
    file = Path(module.__file__ or "").with_name(f"{name}.yaml")
    if file.is_file():
        return FoundJourney(name, journey_at(file), module)
    declared = journeys_in(module)
    if not declared:
        raise CommandError(f"The example '{name}' contains no journey.")
    return FoundJourney(name, declared[0], module)


def _of_file(name: str) -> FoundJourney:
    file = Path(name)
    if not file.is_file():
        raise _unknown(f"There is no file {name}.")
    journey = journey_at(file)
    _keep_importable(root_of(file))
    return FoundJourney(name, journey, module_beside(file))


def module_of(place: str, *, alone: bool) -> ModuleType:
    """Import the part of a name before its colon: `file.py` or a dotted name.

    Args:
        alone: True if there is no colon, so that the name can be an example.
    """
    file = Path(place)
    if file.suffix == ".py":
        if not file.is_file():
            raise _unknown(f"There is no file {place}.")
        _keep_importable(root_of(file))
        return module_at(file)
    _keep_importable(Path.cwd())
    if hidden := hidden_by_installed(place):
        raise CommandError(
            f"An installed module has the same name '{place}' and would be imported instead. "
            f"Name the file: {hidden.relative_to(Path.cwd())}",
            exit_code=2,
        )
    try:
        return module_named(place)
    except NoSuchModuleError as error:
        known = [item.name for item in pkgutil.iter_modules([str(Path.cwd())])]
        hint = did_you_mean(place, [*example_ids(), *known] if alone else known)
        said = f"There is no journey '{place}'." if alone else str(error)
        raise _unknown(f"{said}{hint}") from None


def _keep_importable(folder: Path) -> None:
    """Keep the folder importable, because agents may import other modules in their first run."""
    if str(folder) not in sys.path:
        # Last, or a file of theirs would take the place of an installed module of its name.
        sys.path.append(str(folder))


def _only(name: str, module: ModuleType) -> FoundJourney:
    declared = journeys_in(module)
    whole = [journey for journey in declared if journey.spec.pathways] or declared
    if len(whole) == 1:
        return FoundJourney(name, whole[0], module)
    if not whole:
        raise CommandError(f"There is no journey in {name}.", exit_code=2)
    choices = ", ".join(f"{name}:{journey.__name__}" for journey in whole)
    raise CommandError(f"{name} contains several journeys. Choose one: {choices}.", exit_code=2)


def _declared(name: str, module: ModuleType, class_name: str) -> FoundJourney:
    found = getattr(module, class_name, None)
    if isinstance(found, type) and issubclass(found, Journey) and found is not Journey:
        return FoundJourney(name, found, module)
    known = [journey.__name__ for journey in journeys_in(module)]
    there = f" Journeys in it: {', '.join(known)}." if known else " It contains no journey."
    hint = did_you_mean(class_name, known)
    place = name.rpartition(":")[0]
    raise CommandError(f"'{place}' has no journey '{class_name}'.{hint}{there}", exit_code=2)


def _unknown(message: str) -> CommandError:
    ids = ", ".join(example_ids()) or "none"
    return CommandError(
        f"{message} Examples: {ids}. Your own journey: file.yaml, file.py or module:Class.",
        exit_code=2,
    )
