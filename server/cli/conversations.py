"""`journeygraph test`: play conversations on their journeys, and show how they differ."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import typer

from server.cli.terminal.rendering import interruptible, out, plain, write_json
from server.conversations.conversation_files import Loaded, conversation_files, load_conversation
from server.conversations.player import Played, play
from server.conversations.reports import as_data, failure_lines, heading, summary, write_junit
from server.discover.errors import CommandError


def play_files(paths: Sequence[str], junit: Path | None, *, as_json: bool = False) -> None:
    """Play the conversations of files and folders."""
    loaded = _loaded(conversation_files(paths))
    interruptible()
    games = asyncio.run(_played(loaded, quiet=as_json))
    if junit:
        write_junit(games, junit)
    if as_json:
        write_json({"conversations": [as_data(played) for played in games]})
    else:
        out.print(f"\n{summary(games)}", markup=False, soft_wrap=True)
    if not all(played.passed for played in games):
        raise typer.Exit(1)


def _loaded(files: Sequence[Path]) -> list[Loaded]:
    """Return the conversations of files.

    Raises:
        CommandError: With the faults of all files.
    """
    loaded: list[Loaded] = []
    faults: list[str] = []
    for file in files:
        try:
            loaded.append(load_conversation(file))
        except CommandError as error:
            faults += error.lines
    if faults:
        raise CommandError(*faults, exit_code=2)
    return loaded


async def _played(loaded: Sequence[Loaded], *, quiet: bool) -> list[Played]:
    games = []
    for one in loaded:
        games.append(played := await play(one))
        if not quiet:
            _show(played)
    return games


def _show(played: Played) -> None:
    style = "green" if played.passed else "bold red"
    out.print(plain(heading(played)), style=style, markup=False, soft_wrap=True)
    for line in () if played.passed else failure_lines(played):
        out.print(plain(line), markup=False, soft_wrap=True)
