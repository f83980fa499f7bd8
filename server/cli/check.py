"""`journeygraph check`: find the faults of journeys without running them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from journeys import Journey
from server.cli.edge import CommandError
from server.cli.finding import example_ids, find
from server.cli.loading import (
    LoadError,
    NoSuchModuleError,
    file_of,
    importing_from,
    journeys_in,
    module_at,
    module_named,
    root_of,
)
from server.cli.rendering import out, plain
from server.cli.walking import journey_files


def check(
    path: Annotated[
        str,
        typer.Argument(help="File, folder, module or module:Class. Default: the current folder."),
    ] = ".",
) -> None:
    """Report every fault and every warning of the journeys in a file, folder or module.

    Modules with a journey in them are imported; no agent runs. In a folder, tests, hidden folders
    and environments are passed over. Exit code 0: no fault; 1: faults, or no journey at all;
    2: nothing of that name.
    """
    report = _Report()
    _CHECKS[_kind(path)](path, report)
    report.print(path)
    if report.faults or not report.journeys:
        raise typer.Exit(1)


@dataclass
class _Report:
    """What was found: journeys by their name and file, and faults with their places."""

    journeys: dict[str, type[Journey]] = field(default_factory=dict)
    faults: dict[str, None] = field(default_factory=dict)

    @contextmanager
    def noting(self) -> Iterator[None]:
        """Note the faults that stop an import, and go on."""
        try:
            yield
        except LoadError as error:
            self.faults.update(dict.fromkeys(error.lines))

    def add(self, *journeys: type[Journey]) -> None:
        """Add journeys that have no faults."""
        for journey in journeys:
            self.journeys.setdefault(f"{journey.__qualname__} ({file_of(journey)})", journey)

    def print(self, path: str) -> None:
        """Write it all down, faults last, and a summary under it."""
        warnings = 0
        for place, journey in self.journeys.items():
            _line("✓", "green", f"{place}: {_size(journey)}")
            for warning in journey.spec.warnings:
                warnings += 1
                _line("!", "yellow", warning, "  ")
        for fault in self.faults:
            _line("✗", "red", fault)
        if not (self.journeys or self.faults):
            raise CommandError(f"There is no journey in {path}.")
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
        with importing_from(root_of(file)), report.noting():
            report.add(*journeys_in(module_at(file)))


def _check_file(path: str, report: _Report) -> None:
    file = Path(path)
    if file.suffix != ".py":
        raise CommandError(f"{path} is no Python file.", exit_code=2)
    with importing_from(root_of(file)), report.noting():
        report.add(*journeys_in(module_at(file)))


def _check_class(path: str, report: _Report) -> None:
    with report.noting():
        report.add(find(path).journey)


def _check_module(path: str, report: _Report) -> None:
    """Check a module; of a package, every module in it too."""
    try:
        with importing_from(Path.cwd()), report.noting():
            module = module_named(path)
            report.add(*journeys_in(module))
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
        return "abstract, no pathways"
    pathways = _count(len(spec.pathways), "pathway")
    return f"{pathways}, {_count(len(spec.transitions), 'transition')}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
