"""Errors that a user of the command can fix, and their texts."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from journeygraph.journeys import JourneyDefinitionError, JourneyError
from journeygraph.journeys.faults import Fault


class CommandError(Exception):
    """The command cannot be carried out.

    Attributes:
        exit_code: 2 if the call itself is wrong, else 1.
    """

    def __init__(self, *lines: str, exit_code: int = 1) -> None:
        super().__init__("\n".join(lines))
        self.lines: Sequence[str] = lines
        self.exit_code = exit_code


def described(error: BaseException) -> list[str]:
    """Describe an error: one line, or one for each fault of a definition."""
    if isinstance(error, JourneyDefinitionError):
        return [reworded(fault, _one_line(fault)) for fault in error.faults]
    if isinstance(error, CommandError):
        return [reworded(line, _one_line(line)) for line in error.lines]
    if isinstance(error, JourneyError) and str(error):
        return [_one_line(str(error))]
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return [f"{place}{error.strerror}"]
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    return [f"{type(error).__name__}: {_one_line(said)}".removesuffix(": ")]


def reworded(line: str, text: str, **changes: Any) -> str:
    """Return a line with another text; a fault keeps its data, except the changes."""
    return line.changed(text, **changes) if isinstance(line, Fault) else text


def _one_line(text: str) -> str:
    return " ".join(text.split())


def command(*, anywhere: bool = False) -> str:
    """Return the command as it must be typed here: its name, or its path in .venv.

    Args:
        anywhere: True for a path that is right in every folder.
    """
    if shutil.which("journeygraph"):
        return "journeygraph"
    installed = Path(sys.prefix) / "bin" / "journeygraph"
    inside = installed.is_relative_to(Path.cwd()) and not anywhere
    return str(installed.relative_to(Path.cwd()) if inside else installed)
