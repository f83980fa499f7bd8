"""`journeygraph chat`: talk to a journey."""

from __future__ import annotations

import asyncio
import importlib
import secrets
import shlex
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated

import typer

from journeys import InvalidMessageError
from server.cli.edge import say
from server.cli.finding import Found, find
from server.cli.rendering import announce, command, out
from server.cli.slash import run_slash
from server.cli.talk import Talk
from server.settings import Settings


def chat(
    journey: Annotated[
        str, typer.Argument(help="Id of an example, or module:Class.")
    ] = "healthcare_referral",
    session: Annotated[
        str | None,
        typer.Option(
            "--session", "-s", help="Take up this session, or begin it. Default: a new one."
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(help="Where sessions live: sqlite:///FILE or memory://. Default: settings."),
    ] = None,
) -> None:
    """Talk to a journey in the terminal; every turn is kept, and can be taken up again.

    Lines can be piped in. /help lists the commands inside a talk.
    """
    announce()
    found = find(journey)
    config = Settings().config(store)
    again = f"{command()} chat {shlex.quote(journey)}"
    again += f" --store {shlex.quote(store)}" if store else ""
    with asyncio.Runner() as runner:
        talk = runner.run(Talk.open(found, session or f"chat-{secrets.token_hex(4)}", config))
        try:
            _greet(found, talk)
            _converse(runner, talk)
        finally:
            runner.run(talk.close())
    if not config.persistence.startswith("memory://"):
        out.print(f"Go on with: {again} --session {shlex.quote(talk.session_id)}", style="dim")


def _greet(found: Found, talk: Talk) -> None:
    spec = found.journey.spec
    purpose = f": {spec.purpose.splitlines()[0]}" if spec.purpose else ""
    out.print(f"{spec.name}{purpose}", style="bold", markup=False, soft_wrap=True)
    out.print(f"{talk.opening} /help lists the commands.", style="dim", soft_wrap=True)


def _converse(runner: asyncio.Runner, talk: Talk) -> None:
    """Read line after line until the end of the input, /quit, or an interrupt."""
    try:
        for line in _lines():
            if line in ("/quit", "/exit"):
                return
            try:
                runner.run(run_slash(talk, line) if line.startswith("/") else talk.hear(line))
            except InvalidMessageError as error:
                say(error)
    except KeyboardInterrupt:
        out.print()


def _lines() -> Iterator[str]:
    """The lines that were typed or piped in, without the empty ones."""
    typed = sys.stdin.isatty()
    if typed:
        with suppress(ImportError):  # arrow keys and earlier lines, where there is a readline
            importlib.import_module("readline")
    while True:
        try:
            line = out.input("\n[bold cyan]you >[/] ") if typed else sys.stdin.readline()
        except EOFError:
            out.print()
            return
        if not line and not typed:
            return
        if line.strip():
            yield line.strip()
