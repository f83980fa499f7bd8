"""Find the journey that a name means: an example's id, or `module:Class`."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from journeys import AgentNotRegisteredError, Journey, examples
from journeys.errors import did_you_mean
from server.cli.edge import CommandError
from server.cli.loading import NoSuchModuleError, journeys_in, module_at, module_named, root_of


@dataclass(frozen=True)
class Found:
    """A journey, and what its module offers to run it with.

    Attributes:
        name: As it was asked for.
        journey: The class.
        module: Where it was found.
    """

    name: str
    journey: type[Journey]
    module: ModuleType

    @property
    def agents(self) -> dict[str, Any]:
        """A fresh set from `build_agents()`, else `AGENTS`; empty where the module has neither.

        Raises:
            CommandError: `AGENTS` is no mapping of names.
        """
        build = getattr(self.module, "build_agents", None)
        agents = build() if callable(build) else getattr(self.module, "AGENTS", {})
        if not isinstance(agents, Mapping):
            raise CommandError(f"AGENTS in {self.module.__name__} must be a dict of name to agent.")
        return dict(agents)

    @property
    def sample_context(self) -> dict[str, Any]:
        """What a session begins with: `SAMPLE_CONTEXT`, if there is one."""
        return dict(getattr(self.module, "SAMPLE_CONTEXT", {}))

    @property
    def demo_messages(self) -> Sequence[str]:
        """A conversation to show: `DEMO_MESSAGES`, if there is one."""
        return tuple(getattr(self.module, "DEMO_MESSAGES", ()))

    def without_agents(self, error: AgentNotRegisteredError) -> CommandError:
        """Say of missing agents where the command would have taken them from."""
        place = self.module.__name__
        return CommandError(f"{error} The command takes them from a dict AGENTS in '{place}'.")


def example_ids() -> list[str]:
    """The names of the examples that ship with JourneyGraph."""
    return [item.name for item in pkgutil.iter_modules(examples.__path__) if item.name[0] != "_"]


def find(name: str) -> Found:
    """Return the journey of that name.

    Args:
        name: Id of an example, `module:Class`, or `path/to/file.py:Class`.

    Raises:
        CommandError: There is none, with the names that are near; exit code 2.
        LoadError: Its module has faults.
    """
    if name in example_ids():
        return _example(name)
    place, colon, class_name = name.rpartition(":")
    if not (colon and place and class_name):
        raise _unknown(f"There is no journey '{name}'.{did_you_mean(name, example_ids())}")
    return _declared(name, _module(place), class_name)


def _example(name: str) -> Found:
    module = module_named(f"{examples.__name__}.{name}")
    declared = journeys_in(module)
    if not declared:
        raise CommandError(f"The example '{name}' has no journey in it.")
    return Found(name, declared[0], module)


def _module(place: str) -> ModuleType:
    file = Path(place)
    if file.suffix == ".py" and file.is_file():
        _keep_importable(root_of(file))
        return module_at(file)
    _keep_importable(Path.cwd())
    try:
        return module_named(place)
    except NoSuchModuleError as error:
        known = [item.name for item in pkgutil.iter_modules([str(Path.cwd())])]
        raise _unknown(f"{error}{did_you_mean(place, known)}") from None


def _keep_importable(folder: Path) -> None:
    """Agents may import their neighbours as late as in their first run."""
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))


def _declared(name: str, module: ModuleType, class_name: str) -> Found:
    found = getattr(module, class_name, None)
    if isinstance(found, type) and issubclass(found, Journey) and found is not Journey:
        return Found(name, found, module)
    known = [journey.__name__ for journey in journeys_in(module)]
    there = f" Journeys in it: {', '.join(known)}." if known else " There is no journey in it."
    hint = did_you_mean(class_name, known)
    place = name.rpartition(":")[0]
    raise CommandError(f"'{place}' has no journey '{class_name}'.{hint}{there}", exit_code=2)


def _unknown(message: str) -> CommandError:
    ids = ", ".join(example_ids()) or "none"
    return CommandError(
        f"{message} Examples: {ids}. A journey of your own is named module:Class.", exit_code=2
    )
