"""`journeygraph check`: find faults and warnings of journeys without running them.

A journey is compared with the agents, tools and model of its Python module. What a server refuses
is a fault, what depends on its settings a warning.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import typer

from journeygraph.graphs.agents.fitting import result_parts
from journeygraph.graphs.agents.registry import refusals
from journeygraph.graphs.agents.tools import (
    check_allowed,
    shared_tools,
    tool_misfits,
    tool_refusals,
)
from journeygraph.graphs.records.definitions import Definitions
from journeygraph.graphs.session.version_migration import MigratedSession, migrated_sessions
from journeygraph.journeys import (
    AgentNotRegisteredError,
    ConfigurationError,
    IntentTrigger,
    Journey,
    JourneyConfig,
    JourneySpec,
    TransitionSpec,
)
from journeygraph.journeys.faults import Fault, TextPosition, as_where
from journeygraph.journeys.reading.rule_reader import own_version
from journeygraph.journeys.spec.spec import REFUSED
from journeygraph.nodes.llm.models import is_configured
from journeygraph.server.cli.terminal.rendering import out, plain, progress, write_json
from journeygraph.server.definitions.loader import StoredVersion, stored_versions
from journeygraph.server.discover.definition_files import (
    FaultyFileError,
    checked_guidelines,
    is_definition,
    journey_at,
    journey_files,
    module_beside,
    place_in,
    placed,
)
from journeygraph.server.discover.errors import CommandError, reworded
from journeygraph.server.discover.journeys import FoundJourney, example_ids, find, model_in
from journeygraph.server.discover.modules import (
    LoadError,
    NoSuchModuleError,
    file_of,
    hidden_by_installed,
    importing_from,
    journeys_in,
    line_of,
    module_at,
    module_named,
    root_of,
    shown,
)
from journeygraph.server.settings import Settings

_MOST_SHOWN = 5
_PLACED = re.compile(r"\S+:\d+:\d+ ")
"""Beginning of the name of a definition in a file."""


def check(
    path: str, against: str | None, versions: Sequence[str] = (), *, as_json: bool = False
) -> None:
    """Report the faults and warnings of journeys; with a store, the sessions that would move."""
    if versions and not against:
        raise CommandError("--versions needs --against.", exit_code=2)
    report = _Report()
    _CHECKS[_kind(path)](path, report)
    if not as_json:
        report.print(path)
    compared = _Comparison()
    if against and report.is_sound:
        others = [find(name).journey.spec for name in versions]
        specs = [journey.spec for journey in report.journeys.values() if journey.spec.entry]
        compared = asyncio.run(_comparison(specs, others, _existing(against), quiet=as_json))
    if as_json:
        write_json(report.as_json(compared))
    else:
        compared.print()
    if not report.is_sound or not compared.is_sound:
        raise typer.Exit(1)


async def _comparison(
    specs: Sequence[JourneySpec],
    others: Sequence[JourneySpec],
    config: JourneyConfig,
    *,
    quiet: bool,
) -> _Comparison:
    """Compare journeys with a store, and the journeys that are stored in it."""
    definitions = await Definitions.open(config)
    try:
        stored = await stored_versions(definitions)
    finally:
        await definitions.close()
    readable = [(one.definition.active, one.spec) for one in stored if one.spec]
    current = {spec.id: spec for active, spec in readable if active}
    current |= {spec.id: spec for spec in specs}
    served = {(spec.id, own_version(spec.version)) for spec in (*others, *current.values())}
    served |= {(spec.id, own_version(spec.version)) for _, spec in readable}
    found = [await _compared(spec, served, config, quiet=quiet) for spec in current.values()]
    return _Comparison(found, [one for one in stored if one.faults])


def _existing(store: str) -> JourneyConfig:
    """Return the settings of an existing store: a check must not create one."""
    config = Settings().config(store)
    file = config.persistence.removeprefix("sqlite:///")
    if config.persistence.startswith("sqlite:///") and not Path(file).exists():
        raise CommandError(f"There is no store {store}.", exit_code=2)
    return config


@dataclass
class _Compared:
    """Effects of a journey on the sessions of a store.

    Attributes:
        refuses: True if it refuses sessions that would be moved.
        moves: Sessions that would be moved, by removed pathway and new pathway.
        misfits: Sessions with a value that would be read again, by field.
    """

    journey: str
    refuses: bool = False
    seen: int = 0
    stays: int = 0
    moves: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    misfits: dict[str, list[str]] = field(default_factory=dict)

    def note(self, found: MigratedSession) -> None:
        self.seen += 1
        for id_ in found.gone:
            self.moves.setdefault((id_, found.goes_to), []).append(found.session_id)
        for name in found.misfits:
            self.misfits.setdefault(name, []).append(found.session_id)

    def print(self) -> None:
        title = f"{self.journey}: {_count(self.seen, 'session')} in the store"
        _line("✗" if self.moves else "✓", "red" if self.moves else "green", title)
        if self.stays:
            text = f"{_count(self.stays, 'session')} of them: in an older version that is served."
            _line("✓", "green", text, "  ")
        for (id_, place), sessions in self.moves.items():
            effect = "be refused" if self.refuses else f"continue in '{place}'"
            text = f"'{id_}' does not exist any more: {_named(sessions)} would {effect}."
            _line("✗", "red", f"{text} `__migrations__` can name its new id.", "  ")
        for name, sessions in self.misfits.items():
            text = f"'{name}' has a new type: its value would be read again in {_named(sessions)}."
            _line("!", "yellow", text, "  ")

    def as_json(self) -> dict[str, Any]:
        moves = [
            {"pathway": id_, "goes_to": place, "sessions": sessions}
            for (id_, place), sessions in self.moves.items()
        ]
        misfits = [{"field": name, "sessions": ids} for name, ids in self.misfits.items()]
        counts = {"seen": self.seen, "stays": self.stays, "refuses": self.refuses}
        return {"journey": self.journey, **counts, "moves": moves, "misfits": misfits}


@dataclass
class _Comparison:
    """Effects of journeys on the sessions of a store, and faults of its definitions.

    Attributes:
        faulty: Stored versions that this release cannot read.
    """

    journeys: Sequence[_Compared] = ()
    faulty: Sequence[StoredVersion] = ()

    @property
    def is_sound(self) -> bool:
        return not self.faulty and not any(one.moves for one in self.journeys)

    def print(self) -> None:
        for one in self.journeys:
            one.print()
        for stored in self.faulty:
            version = stored.definition.version
            for fault in stored.faults:
                text = f"Version {version} of '{stored.definition.id}' in the store: {fault}"
                _line("✗", "red", text)

    def faults(self) -> list[dict[str, Any]]:
        return [
            {"id": one.definition.id, "version": one.definition.version, **_as_data(fault)}
            for one in self.faulty
            for fault in one.faults
        ]


async def _compared(
    spec: JourneySpec, served: Set[tuple[str, str]], config: JourneyConfig, *, quiet: bool
) -> _Compared:
    """Compare the sessions of a store with a journey."""
    compared = _Compared(spec.id, refuses=spec.stranded == REFUSED)
    own = own_version(spec.version)
    with progress(f"Reading the sessions of {spec.id}", quiet=quiet) as step:
        async for found in migrated_sessions(spec, config):
            version = own_version(found.version)
            if version != own and (spec.id, version) in served:
                compared.seen, compared.stays = compared.seen + 1, compared.stays + 1
            else:
                compared.note(found)
            step(str(compared.seen))
    return compared


def _named(sessions: Sequence[str]) -> str:
    shown = ", ".join(sessions[:_MOST_SHOWN])
    more = ", ..." if len(sessions) > _MOST_SHOWN else ""
    return f"{_count(len(sessions), 'session')} ({shown}{more})"


@dataclass
class _Report:
    """Result of a check: journeys by name and file, and faults with their places."""

    journeys: dict[str, type[Journey]] = field(default_factory=dict)
    warnings: dict[str, dict[Fault, None]] = field(default_factory=dict)
    faults: dict[str, None] = field(default_factory=dict)
    guidelines: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def noting(self) -> Iterator[None]:
        try:
            yield
        except FaultyFileError as error:
            self.faults.update(dict.fromkeys(error.lines))
        except LoadError as error:
            lines = list(error.lines)
            if error.unread:
                unread = f" (Not read because of this: {', '.join(error.unread)}.)"
                lines[-1] = reworded(lines[-1], lines[-1] + unread)
            self.faults.update(dict.fromkeys(lines))

    def add(self, module: ModuleType, *journeys: type[Journey]) -> None:
        for journey in journeys:
            place = f"{journey.__qualname__} ({file_of(journey)})"
            self.journeys.setdefault(place, journey)
            for fault in faults_of(module, journey):
                self.faults[_placed(journey, fault)] = None
            found = [_placed(journey, warning) for warning in warnings_of(module, journey)]
            self.warnings.setdefault(place, {}).update(dict.fromkeys(found))

    def add_guidelines(self, place: str, number: int) -> None:
        self.guidelines[place] = number

    @property
    def is_sound(self) -> bool:
        return not self.faults and bool(self.journeys or self.guidelines)

    def as_json(self, compared: _Comparison) -> dict[str, Any]:
        journeys = [
            {
                "id": journey.spec.id,
                "name": journey.__qualname__,
                "file": file_of(journey),
                "pathways": len(journey.spec.pathways),
                "transitions": len(journey.spec.transitions),
                "warnings": [_as_data(warning) for warning in self.warnings[place]],
            }
            for place, journey in self.journeys.items()
        ]
        return {
            "journeys": journeys,
            "guidelines": [{"file": file, "number": n} for file, n in self.guidelines.items()],
            "faults": [_as_data(line) for line in self.faults],
            "stored_sessions": [one.as_json() for one in compared.journeys],
            "stored_faults": compared.faults(),
        }

    def print(self, path: str) -> None:
        for place, journey in self.journeys.items():
            _line("✓", "green", f"{place}: {_size(journey)}")
            for warning in self.warnings[place]:
                _line("!", "yellow", warning, "  ")
        for place, number in self.guidelines.items():
            _line("✓", "green", f"{place}: {_count(number, 'guideline')}")
        for fault in self.faults:
            _line("✗", "red", fault)
        if not (self.journeys or self.faults or self.guidelines):
            raise CommandError(f"There is no journey in {path}.")
        warnings = sum(map(len, self.warnings.values()))
        counts = (len(self.journeys), "valid journey"), (len(self.faults), "fault")
        words = [_count(*count) for count in (*counts, (warnings, "warning"))]
        out.print(", ".join(words) + ".", style="bold")


def _placed(journey: type[Journey], fault: Fault) -> Fault:
    file = Path(file_of(journey))
    if fault.file and fault.place:
        (said,) = placed(file, [fault])
        return fault.changed(said, file=str(file.with_name(fault.file)))
    spec = journey.spec
    if file.suffix == ".py":
        place = TextPosition(line_of(file, fault) or line_of(file, _at(journey)) or 1, 1)
        said = f"{file}:{place.line}: {fault}"
    else:
        place = place_in(file, spec, fault)
        said = str(fault).removeprefix(f"{fault.where}: ")
        what = fault.where.partition(" ")[2] if _PLACED.match(fault.where) else ""
        said = f"{file}:{place.line}:{place.column}{' ' if what else ''}{what}: {said}"
    return fault.changed(said, file=str(file), place=place)


def _at(journey: type[Journey]) -> Fault:
    return Fault("", where=journey.__qualname__)


def _as_data(line: str) -> dict[str, Any]:
    return (line if isinstance(line, Fault) else Fault(line)).as_data()


def _kind(path: str) -> str:
    if Path(path).is_dir():
        return "folder"
    if Path(path).is_file():
        return "file"
    return "class" if ":" in path or path in example_ids() else "module"


def _check_folder(path: str, report: _Report) -> None:
    for file in journey_files(Path(path)):
        if is_definition(file):
            _check_definition(file, report)
        else:
            _check_at(file, report)


def _check_definition(file: Path, report: _Report) -> None:
    with importing_from(root_of(file)), report.noting():
        guidelines = checked_guidelines(file)
        if guidelines is None:
            report.add(module_beside(file), journey_at(file))
        else:
            report.add_guidelines(shown(file), guidelines)


def _check_at(file: Path, report: _Report) -> None:
    with importing_from(root_of(file)), report.noting():
        module = module_at(file)
        report.add(module, *journeys_in(module))


def _check_file(path: str, report: _Report) -> None:
    file = Path(path)
    if is_definition(file):
        _check_definition(file, report)
    elif file.suffix == ".py":
        _check_at(file, report)
    else:
        raise CommandError(f"{path} is not a Python, YAML or JSON file.", exit_code=2)


def _check_class(path: str, report: _Report) -> None:
    with report.noting():
        found = find(path)
        report.add(found.module, found.journey)


def _check_module(path: str, report: _Report) -> None:
    if hidden := hidden_by_installed(path):
        _check_at(hidden, report)
        return
    try:
        with importing_from(Path.cwd()), report.noting():
            module = module_named(path)
            report.add(module, *journeys_in(module))
            for folder in getattr(module, "__path__", ()):
                _check_folder(folder, report)
    except NoSuchModuleError:
        message = f"There is no file, folder or module '{path}'."
        raise CommandError(message, exit_code=2) from None


_CHECKS: dict[str, Callable[[str, _Report], None]] = {
    "folder": _check_folder,
    "file": _check_file,
    "class": _check_class,
    "module": _check_module,
}


def _line(mark: str, style: str, text: str, indent: str = "") -> None:
    marked = f"{indent}[{style}]{mark}[/] {plain(text, markup=True)}"
    out.print(marked)


def _size(journey: type[Journey]) -> str:
    spec = journey.spec
    if not spec.pathways:
        return "abstract" if spec.is_marked else "abstract, no pathways"
    pathways = _count(len(spec.pathways), "pathway")
    return f"{pathways}, {_count(len(spec.transitions), 'transition')}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


# --- Warnings ------------------------------------------------------------------------------------


def warnings_of(module: ModuleType, journey: type[Journey]) -> Iterator[Fault]:
    """Yield warnings of the journey itself, and of the journey with its module."""
    spec = journey.spec
    yield from spec.warnings
    if not spec.pathways:
        return
    given = getattr(module, "SAMPLE_CONTEXT", None)
    tools = _judged_tools(module, journey)
    known = {*(given if isinstance(given, Mapping) else ()), *result_parts(spec, tools)}
    yield from (warning for name, warning in spec.unset if name not in known)
    yield from _misfits(spec, tools, known)
    has_model = _has_model(module, spec)
    if not has_model:
        yield from _missing_agents(module, journey)
        yield from _needs_model(spec)
    yield from _tools(module, journey)


def _has_model(module: ModuleType, spec: JourneySpec) -> bool:
    try:
        config = Settings().config()
    except (ConfigurationError, ValueError):  # reported by the server; a check is of the journey
        config = None
    return is_configured(model_in(module), config, spec)


# --- Agents --------------------------------------------------------------------------------------


def faults_of(module: ModuleType, journey: type[Journey]) -> Iterator[Fault]:
    """Yield what a server refuses, with any model, of the agents and tools of the module.

    What the module builds, or does not declare, is not judged: programs pass agents themselves.
    """
    if not journey.spec.entry:
        return
    found = FoundJourney(module.__name__, journey, module)
    if hasattr(module, "AGENTS") and not _builds(module, "AGENTS"):
        yield from _refused(found, has_model=True)
    yield from _refused_tools(found)
    yield from _not_allowed(found)


def _not_allowed(found: FoundJourney) -> Iterator[Fault]:
    """Yield the name of a tool that no agent has where a pathway or a guideline names it."""
    spec, module = found.journey.spec, found.module
    if not hasattr(module, "AGENTS") or _builds(module, "AGENTS") or _builds(module, "TOOLS"):
        return
    with suppress(CommandError):  # reported already
        agents, tools = found.agents_with(has_model=True), found.checked_tools()
        try:
            check_allowed(spec, agents, shared_tools(spec, tools))
        except ConfigurationError as error:
            said = error.args[0]
            yield said if isinstance(said, Fault) else _fault(found.journey, CommandError(said))


def _refused_tools(found: FoundJourney) -> Iterator[Fault]:
    """Yield what does not fit; where the module declares no TOOLS, only of functions in effects."""
    spec, module = found.journey.spec, found.module
    if hasattr(module, "TOOLS") and not _builds(module, "TOOLS"):
        try:
            for refusal in tool_refusals(spec, found.tools):
                if isinstance(refusal, Fault):
                    yield refusal
                else:
                    yield _fault(found.journey, found.without_tools(refusal))
        except CommandError as error:
            yield _fault(found.journey, error)
    else:
        with suppress(ConfigurationError):
            yield from (one.fault for one in tool_misfits(spec, {}) if one.is_certain)


def _judged_tools(module: ModuleType, journey: type[Journey]) -> Mapping[str, Any]:
    if not isinstance(getattr(module, "TOOLS", None), Mapping) or _builds(module, "TOOLS"):
        return {}
    return FoundJourney(module.__name__, journey, module).tools


def _misfits(spec: JourneySpec, tools: Mapping[str, Any], known: Set[str]) -> Iterator[Fault]:
    """Yield the differences from the functions that a first context or a model could make good."""
    try:
        found = [one for one in tool_misfits(spec, tools) if not one.is_certain]
    except ConfigurationError:  # one of the faults
        return
    yield from (one.fault for one in found if one.unset not in known)


def _refused(found: FoundJourney, *, has_model: bool) -> Iterator[Fault]:
    try:
        agents = found.agents_with(has_model=has_model)
    except CommandError as error:
        yield _fault(found.journey, error)
        return
    for refusal in refusals(found.journey.spec, agents, has_model=has_model):
        fault = _fault(found.journey, found.without_agents(refusal))
        if isinstance(refusal, AgentNotRegisteredError) and refusal.pathways:
            where = as_where(found.journey.spec.pathways[refusal.pathways[0]].where)
            fault = fault.changed(str(fault), where=where, path=("agents",))
        yield fault


def _fault(journey: type[Journey], error: CommandError) -> Fault:
    return Fault(str(error), where=journey.__name__).changed(str(error))


def _missing_agents(module: ModuleType, journey: type[Journey]) -> Iterator[Fault]:
    """Warn of agents that only a model could run, if no model is configured."""
    if not hasattr(module, "AGENTS"):
        yield from _no_agents(module, journey)
    elif journey.spec.entry and not _builds(module, "AGENTS"):
        sure = set(faults_of(module, journey))
        alone = _refused(FoundJourney(module.__name__, journey, module), has_model=False)
        yield from (refusal for refusal in alone if refusal not in sure)


def _no_agents(module: ModuleType, journey: type[Journey]) -> Iterator[Fault]:
    if not _stands_alone(journey) or _gives(module, "AGENTS"):
        return
    for pathway in journey.spec.pathways.values():
        for name in pathway.agents:
            if name != pathway.id:  # of its own accord a state is served by a model
                message = f"no code for the agent '{name}': there is no dict AGENTS in "
                message += f"{_beside(journey)}, so only a model could run it."
                yield Fault(message, where=pathway.where)


# --- Tools ---------------------------------------------------------------------------------------


def _tools(module: ModuleType, journey: type[Journey]) -> Iterator[Fault]:
    if isinstance(getattr(module, "TOOLS", None), Mapping):
        return
    if _stands_alone(journey) and not _gives(module, "TOOLS"):
        for number, name in enumerate(journey.spec.tools):
            message = f"no code for the tool '{name}': there is no dict TOOLS in "
            message += f"{_beside(journey)}."
            yield Fault(message, "tools", number, where=journey.spec.where)


# --- Files ---------------------------------------------------------------------------------------


def _stands_alone(journey: type[Journey]) -> bool:
    is_part = bool(journey.spec.activation) and not journey.spec.parts
    return getattr(journey, "source", None) is not None and not is_part


def _gives(module: ModuleType, name: str) -> bool:
    """Return whether a module builds agents or tools, or has those for models."""
    return _builds(module, name) or hasattr(module, f"MODEL_{name}")


def _builds(module: ModuleType, name: str) -> bool:
    """Return whether a module has a function that builds agents or tools, which is not called."""
    return any(hasattr(module, f"build_{kind}{name.lower()}") for kind in ("", "model_"))


def _beside(journey: type[Journey]) -> str:
    source: Any = getattr(journey, "source", "")
    return shown(Path(source).with_suffix(".py"))


# --- Models --------------------------------------------------------------------------------------


def _needs_model(spec: JourneySpec) -> Iterator[Fault]:
    for transition in spec.transitions:
        if _asks_alone(transition) and not any(
            _is_beside(other, transition) for other in spec.transitions
        ):
            message = f"only a model can recognise '{transition.label}', and no model is "
            message += "configured."
            remedy = "Give it patterns, or set OPENAI_API_KEY."
            yield Fault(message, remedy=remedy, where=transition.where)


def _asks_alone(transition: TransitionSpec) -> bool:
    trigger = transition.trigger
    if not isinstance(trigger, IntentTrigger) or trigger.patterns:
        return False
    own = type(trigger).evaluate is not IntentTrigger.evaluate
    return trigger.use_llm_fallback and bool(trigger.description) and not own


def _is_beside(other: TransitionSpec, transition: TransitionSpec) -> bool:
    same = (other.target, other.sources, other.kind)
    return same == (transition.target, transition.sources, transition.kind) and not _asks_alone(
        other
    )
