"""`journeygraph check`: find the faults of journeys without running them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer

from journeys import Journey, JourneyConfig
from server.cli.edge import CommandError
from server.cli.files import (
    FaultyFileError,
    checked_guidelines,
    journey_at,
    module_beside,
)
from server.cli.finding import example_ids, find
from server.cli.loading import (
    LoadError,
    NoSuchModuleError,
    file_of,
    hidden_by_installed,
    importing_from,
    journeys_in,
    module_at,
    module_named,
    root_of,
    shown,
)
from server.cli.rendering import out, plain
from server.cli.walking import is_definition, journey_files
from server.settings import Settings

_MOST_SHOWN = 5


def check(
    path: Annotated[
        str,
        typer.Argument(help="File, folder, module or module:Class. Default: the current folder."),
    ] = ".",
    against: Annotated[
        str | None,
        typer.Option(
            help="A store, postgresql://... or sqlite:///FILE: list the sessions in it that these "
            "versions would move, or whose values they would read again.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Report every fault and every warning of the journeys in a file, folder or module.

    Modules with a journey in them are imported, YAML and JSON files read; no agent runs. In a
    folder, tests, hidden folders and environments are passed over. With --against, nothing in the
    store is changed. Exit code 0: no fault; 1: faults, no journey at all, or sessions that would be
    moved; 2: nothing of that name.
    """
    report = _Report()
    _CHECKS[_kind(path)](path, report)
    report.print(path)
    if report.faults or not (report.journeys or report.guidelines):
        raise typer.Exit(1)
    if against is not None:
        config = _existing(against)
        moved = [asyncio.run(_compared(journey, config)) for journey in report.journeys.values()]
        if any(moved):
            raise typer.Exit(1)


def _existing(store: str) -> JourneyConfig:
    """Return the settings of a store that is there: to look into one must not make one."""
    config = Settings().config(store)
    file = config.persistence.removeprefix("sqlite:///")
    if config.persistence.startswith("sqlite:///") and not Path(file).exists():
        raise CommandError(f"There is no store {store}.", exit_code=2)
    return config


async def _compared(journey: type[Journey], config: JourneyConfig) -> bool:
    """Show what a journey would do to the sessions of a store; say whether it would move any."""
    # Here, as it brings LangGraph along, and the other checks start quicker without.
    from graphs.directory import Stranding, strandings  # noqa: PLC0415

    if not journey.spec.entry:
        return False
    moves: dict[tuple[str, str], list[str]] = {}
    misfits: dict[str, list[str]] = {}
    seen = 0

    def note(found: Stranding) -> None:
        for id_ in found.gone:
            moves.setdefault((id_, found.goes_to), []).append(found.session_id)
        for name in found.misfits:
            misfits.setdefault(name, []).append(found.session_id)

    with out.status(f"Looking at the sessions of {journey.spec.id} ..."):
        async for found in strandings(journey.spec, config):
            seen += 1
            note(found)
    title = f"{journey.spec.id}: {_count(seen, 'session')} in the store"
    _line("✗" if moves else "✓", "red" if moves else "green", title)
    for (id_, place), sessions in moves.items():
        text = f"'{id_}' is gone: {_named(sessions)} would go on in '{place}'."
        _line("✗", "red", f"{text} `__migrations__` can name its new id.", "  ")
    for name, sessions in misfits.items():
        text = (
            f"'{name}' has another type now: {_named(sessions)} would have it read again or asked."
        )
        _line("!", "yellow", text, "  ")
    return bool(moves)


def _named(sessions: Sequence[str]) -> str:
    """Return how many sessions there are, and the ids of the first ones."""
    shown = ", ".join(sessions[:_MOST_SHOWN])
    more = ", ..." if len(sessions) > _MOST_SHOWN else ""
    return f"{_count(len(sessions), 'session')} ({shown}{more})"


@dataclass
class _Report:
    """What was found: journeys by their name and file, and faults with their places."""

    journeys: dict[str, type[Journey]] = field(default_factory=dict)
    warnings: dict[str, dict[str, None]] = field(default_factory=dict)
    faults: dict[str, None] = field(default_factory=dict)
    guidelines: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note the faults that stop an import, and go on."""
        try:
            yield
        except FaultyFileError as error:
            self.faults.update(dict.fromkeys(error.lines))
        except LoadError as error:
            lines = list(error.lines)
            if error.unread:
                lines[-1] += f" (Not read because of it: {', '.join(error.unread)}.)"
            self.faults.update(dict.fromkeys(lines))

    def add(self, module: ModuleType, *journeys: type[Journey]) -> None:
        """Add journeys that have no faults, and the module whose agents they run with."""
        # Here, as it brings LangChain along, and the other commands start quicker without.
        from server.cli.signs import signs_of  # noqa: PLC0415

        for journey in journeys:
            place = f"{journey.__qualname__} ({file_of(journey)})"
            self.journeys.setdefault(place, journey)
            found = signs_of(module, journey)
            self.warnings.setdefault(place, {}).update(dict.fromkeys(found))

    def add_guidelines(self, place: str, number: int) -> None:
        """Add a file without faults that holds guidelines alone."""
        self.guidelines[place] = number

    def print(self, path: str) -> None:
        """Write it all down, faults last, and a summary under it."""
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
        counts = (len(self.journeys), "sound journey"), (len(self.faults), "fault")
        words = [_count(*count) for count in (*counts, (warnings, "warning"))]
        out.print(", ".join(words) + ".", style="bold")


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
        raise CommandError(f"{path} is no Python, YAML or JSON file.", exit_code=2)


def _check_class(path: str, report: _Report) -> None:
    with report.noting():
        found = find(path)
        report.add(found.module, found.journey)


def _check_module(path: str, report: _Report) -> None:
    """Check a module; of a package, every module in it too."""
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
    out.print(marked, soft_wrap=True)


def _size(journey: type[Journey]) -> str:
    spec = journey.spec
    if not spec.pathways:
        return "abstract" if spec.is_marked else "abstract, no pathways"
    pathways = _count(len(spec.pathways), "pathway")
    return f"{pathways}, {_count(len(spec.transitions), 'transition')}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
