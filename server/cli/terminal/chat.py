"""`journeygraph chat`: a conversation with a journey in the terminal."""

from __future__ import annotations

import asyncio
import importlib
import secrets
import shlex
import sys
from collections.abc import Iterator, Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

from journeygraph.journeys import InvalidMessageError
from journeygraph.journeys.store_url import masked
from journeygraph.nodes.json_data import clocked
from journeygraph.server.cli.terminal.conversation import TerminalConversation
from journeygraph.server.cli.terminal.rendering import (
    announce,
    interruptible,
    out,
    plain,
    say,
    write_json,
    writing_to_stderr,
)
from journeygraph.server.cli.terminal.slash import run_slash
from journeygraph.server.discover.errors import command
from journeygraph.server.discover.journeys import FoundJourney, find
from journeygraph.server.settings import Settings


def chat(
    journey: str,
    session: str | None,
    store: str | None,
    *,
    stubs: Path | None = None,
    as_json: bool = False,
) -> None:
    """Run a conversation until the input ends."""
    with writing_to_stderr() if as_json else nullcontext():
        state = _chat(journey, session, store, stubs)
    if as_json:
        write_json(state)


def _chat(
    journey: str, session: str | None, store: str | None, stubs: Path | None
) -> Mapping[str, Any] | None:
    found = find(journey) if stubs is None else _stubbed(find(journey), stubs)
    settings = Settings()
    settings.require_key(found.journey.spec)
    config = settings.config(store)
    announce(config, found.journey.spec, model=found.model)
    conversation = TerminalConversation(found, session or f"chat-{secrets.token_hex(4)}", config)
    interruptible()
    listening = conversation.errors.listening()
    with clocked(conversation.clock), listening, asyncio.Runner() as runner:
        try:
            # A session of one's own naming is looked up; a new one waits for something to keep,
            # unless the assistant speaks first.
            begins = session or found.journey.spec.personality.greeting
            _greet(found, runner.run(conversation.open()) if begins else conversation.expected)
            if conversation.greeting:
                out.print(f"\n{plain(conversation.greeting)}", markup=False)
            _converse(runner, conversation)
            state = runner.run(conversation.state())
        finally:
            runner.run(conversation.close())
    if conversation.heard and not config.persistence.startswith("memory://"):
        line = f"Continue with: {_again(conversation, journey, store, stubs)}"
        out.raw(line, style="dim")
    return state


def _stubbed(found: FoundJourney, file: Path) -> FoundJourney:
    # Most conversations call the functions, and this takes long to import.
    from journeygraph.server.conversations.stubs import StubsOfFile  # noqa: PLC0415

    stubs = StubsOfFile(file)
    (found,) = stubs.into([found])
    out.print(plain(str(stubs)), style="dim", markup=False)
    return found


def _again(
    conversation: TerminalConversation, journey: str, store: str | None, stubs: Path | None
) -> str:
    kept_in = ["--store", masked(store)] if store else []
    kept_in += ["--stubs", str(stubs)] if stubs else []
    words = ["chat", journey, *kept_in, "--session", conversation.session_id]
    return f"{command()} {shlex.join(words)}"


def _greet(found: FoundJourney, opening: str) -> None:
    spec = found.journey.spec
    purpose = f": {spec.purpose.splitlines()[0]}" if spec.purpose else ""
    out.print(f"{spec.name}{purpose}", style="bold", markup=False)
    out.print(f"{opening} /help lists the commands.", style="dim", markup=False)


def _converse(runner: asyncio.Runner, conversation: TerminalConversation) -> None:
    try:
        for line in _lines():
            if line in ("/quit", "/exit"):
                return
            _answer(runner, conversation, line)
    except KeyboardInterrupt:
        out.print()


def _answer(runner: asyncio.Runner, conversation: TerminalConversation, line: str) -> None:
    """Run a slash command or a turn; an interrupt cancels the turn, not the conversation."""
    if line.startswith("/"):
        runner.run(run_slash(conversation, line))
        return
    try:
        runner.run(conversation.hear(line))
    except InvalidMessageError as error:
        say(error)
    except KeyboardInterrupt:
        kept = runner.run(conversation.kept_anyway())
        out.print("(interrupted; the turn was stored)" if kept else _GIVEN_UP, style="dim")


_GIVEN_UP = "(interrupted; this turn was not stored)"


def _lines() -> Iterator[str]:
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
            if not typed:  # so that what is piped in reads as a conversation
                out.print(f"\n[bold cyan]you >[/] {plain(line.strip(), markup=True)}")
            yield line.strip()
