"""The `journeygraph` command."""

from __future__ import annotations

import io
import logging
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

from server.cli.chat import chat
from server.cli.check import check
from server.cli.demo import demo
from server.cli.draw import draw
from server.cli.edge import guarded
from server.cli.rendering import out

app = typer.Typer(
    name="journeygraph",
    help="Run, talk to, check and draw journeys: long conversations with a goal.",
    epilog="Begin with: journeygraph demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (demo, chat, check, draw):
    app.command()(guarded(command))


def _show_version(wanted: bool) -> None:
    if wanted:
        out.print(f"journeygraph {_version()}", highlight=False)
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", is_eager=True, callback=_show_version),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Log to standard error, with the place of an error.")
    ] = False,
) -> None:
    """Set up what all commands share."""
    # Without a handler, Python would write warnings and tracebacks of the library to the terminal.
    handler = logging.StreamHandler() if debug else logging.NullHandler()
    level = logging.DEBUG if debug else logging.WARNING
    logging.basicConfig(level=level, handlers=[handler], force=True)


def main() -> None:
    """Run the command; the entry point of the console script."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # A byte that is no text, or a terminal without some letter, must not end a conversation.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(prog_name="journeygraph")


def _version() -> str:
    try:
        return version("journeygraph")
    except PackageNotFoundError:  # run from a clone that is not installed
        return "(from source)"
