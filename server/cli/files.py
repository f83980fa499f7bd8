"""Journeys in YAML and JSON files, and the module that may stand beside each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType

from journeys import Journey, JourneyDefinitionError, load_journey
from journeys.files import document_kind, read_guidelines_text
from server.cli.edge import CommandError, described
from server.cli.loading import module_at, shown


class FaultyFileError(CommandError):
    """A definition file has faults; `lines` name each with its file, line and column."""


def journey_at(file: Path) -> type[Journey]:
    """Return the journey of a file.

    Raises:
        FaultyFileError: It has faults.
    """
    try:
        return load_journey(file)
    except JourneyDefinitionError as error:
        raise _faulty(file, error) from error


def checked_guidelines(file: Path) -> int | None:
    """Return how many global guidelines a file holds; None where it holds a journey.

    Raises:
        FaultyFileError: It has faults.
    """
    try:
        text = file.read_bytes().decode("utf-8")
        if document_kind(text, file.name) != "guidelines":
            return None
        return len(read_guidelines_text(text, file.name))
    except UnicodeDecodeError:  # told where the journey is read
        return None
    except JourneyDefinitionError as error:
        raise _faulty(file, error) from error


def module_beside(file: Path) -> ModuleType:
    """Return the module of the same name in the same folder: what a journey is run with.

    It is an empty one of that name where there is none.

    Raises:
        LoadError: It cannot be imported.
    """
    beside = file.with_suffix(".py")
    if beside.is_file():
        return module_at(beside)
    module = ModuleType(shown(beside))
    module.__file__ = str(file)
    return module


def placed(file: Path, faults: Iterable[str]) -> Iterator[str]:
    """Return faults that begin with the name of their file, with its folder before it."""
    folder = shown(file.parent)
    before = "" if folder == "." else f"{folder}/"
    return (f"{before}{fault}" for fault in faults)


def _faulty(file: Path, error: JourneyDefinitionError) -> FaultyFileError:
    return FaultyFileError(*placed(file, described(error)))
