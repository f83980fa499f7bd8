"""Where errors end: a clear line and an exit code, never a traceback."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable, Sequence
from functools import wraps
from typing import ParamSpec

import typer

from journeys import JourneyDefinitionError, JourneyError
from server.cli.rendering import err, plain

_LOG = logging.getLogger("journeygraph")
_P = ParamSpec("_P")


class CommandError(Exception):
    """What was asked of the command cannot be done.

    Attributes:
        lines: What to tell the one who typed it.
        exit_code: 2 where the call itself is wrong, 1 otherwise.
    """

    def __init__(self, *lines: str, exit_code: int = 1) -> None:
        super().__init__("\n".join(lines))
        self.lines: Sequence[str] = lines
        self.exit_code = exit_code


def guarded(command: Callable[_P, None]) -> Callable[_P, None]:
    """Turn every error of a command into lines on standard error and an exit code."""

    @wraps(command)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except (typer.Exit, typer.Abort):
            raise
        except Exception as error:
            _LOG.debug("The command failed.", exc_info=error)
            say(error)
            raise typer.Exit(getattr(error, "exit_code", 1)) from None

    return run


def interruptible() -> None:
    """From here on, Ctrl-C is an exception that can be answered; before, it ends the process."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def say(error: BaseException) -> None:
    """Write what an error means to the one who typed the command."""
    for line in described(error):
        err.print(f"[bold red]✗[/] {plain(line, markup=True)}", soft_wrap=True)


def described(error: BaseException) -> list[str]:
    """Put an error into words: one line, or one for each fault of a definition."""
    if isinstance(error, JourneyDefinitionError):
        return [_one_line(fault) for fault in error.faults]
    if isinstance(error, CommandError):
        return [_one_line(line) for line in error.lines]
    if isinstance(error, JourneyError) and str(error):
        return [_one_line(str(error))]
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return [f"{place}{error.strerror}"]
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    return [f"{type(error).__name__}: {_one_line(said)}".removesuffix(": ")]


def _one_line(text: str) -> str:
    return " ".join(text.split())
