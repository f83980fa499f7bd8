"""The commands put together: options that all share, and how errors and versions are shown."""

from __future__ import annotations

import io
import logging
import sys
import tomllib
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from server.cli.audit import audit
from server.cli.chat import chat
from server.cli.check import check
from server.cli.definitions import definitions, invalidate, load
from server.cli.demo import demo
from server.cli.draw import draw
from server.cli.edge import guarded
from server.cli.escalations import escalations
from server.cli.mcp import mcp
from server.cli.migrate import migrate
from server.cli.rendering import out
from server.cli.run import run as run_pipeline
from server.cli.schema import schema
from server.cli.serve import serve

app = typer.Typer(
    name="journeygraph",
    help="Run, talk to, serve, check and draw journeys: long conversations with a goal.",
    epilog="Begin with: journeygraph demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    demo,
    chat,
    run_pipeline,
    serve,
    mcp,
    load,
    definitions,
    invalidate,
    check,
    audit,
    escalations,
    draw,
    migrate,
    schema,
):
    app.command(command.__name__)(guarded(command))


def _show_version(wanted: bool) -> None:
    if wanted:
        out.print(f"journeygraph {_version()}", highlight=False, markup=False)
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


def run() -> None:
    """Run the command that was typed; ends the process with its exit code."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # A byte that is no text, or a terminal without some letter, must not end a conversation.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    app(prog_name="journeygraph")


def _version() -> str:
    try:
        return version("journeygraph")
    except PackageNotFoundError:  # run from a checkout that is not installed
        return f"{_of_the_checkout()} (from source)"


def _of_the_checkout() -> str:
    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    with suppress(OSError, KeyError):
        return str(tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"])
    return "unknown version"
