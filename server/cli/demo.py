"""`journeygraph demo` and `new`: an example conversation turn by turn, and a project to change."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from journeygraph.graphs.drawing import terminal
from journeygraph.journeys import EscalationCase, JourneyConfig, JourneyResponse
from journeygraph.server.cli.draw import drawn
from journeygraph.server.cli.terminal.rendering import (
    announce,
    changes,
    coloured,
    firing,
    interruptible,
    movement,
    out,
    plain,
    short,
)
from journeygraph.server.discover.errors import CommandError, command
from journeygraph.server.discover.journeys import FoundJourney, find
from journeygraph.server.discover.modules import file_of
from journeygraph.server.projects.create import create_project
from journeygraph.server.settings import Settings

_WORD_PAUSE = 0.02


def demo(name: str, *, fast: bool, svg: Path | None) -> None:
    """Run the example conversation of a journey."""
    found = find(name)
    config = Settings().config("memory://demo")
    announce(config, found.journey.spec, model=found.model)
    if not found.demo_messages:
        raise CommandError(f"'{name}' has no DEMO_MESSAGES, the list of messages to send.")
    interruptible()
    asyncio.run(_hold(found, config, 0.0 if fast or not sys.stdout.isatty() else _WORD_PAUSE))
    _show_picture(found, svg)
    _show_way_on(found)


async def _hold(found: FoundJourney, config: JourneyConfig, pause: float) -> None:
    agents, tools = found.agents_for(config), found.checked_tools()
    given = {"agents": agents, "tools": tools, "model": found.model}
    async with found.journey("demo", config, **given) as journey:
        with out.status("Compiling the journey to a graph"):
            session = await journey.start(found.sample_context)
        _show_beginning(found, session.current_pathway_id)
        if session.greeting:
            await _say("Assistant", session.greeting, "bold green", pause)
        pathway, context = session.current_pathway_id, session.accumulated_context
        turns = len(found.demo_messages)
        for turn, message in enumerate(found.demo_messages, 1):
            _head(f"Turn {turn} of {turns}")
            await _say("You", message, "bold cyan", pause)
            with out.status("Thinking"):
                reply = await journey.process_message(message)
            await _say("Assistant", reply.message, "bold green", pause)
            _show_turn(pathway, context, reply)
            pathway, context = reply.pathway_id, reply.accumulated_context
        if case := await journey.manager.escalation():
            _show_case(case)
        await journey.delete()


def _show_beginning(found: FoundJourney, pathway: str) -> None:
    spec = found.journey.spec
    out.print()
    out.print(f"{spec.name}: {spec.purpose}", style="bold", markup=False)
    given = f", with the context {short(found.sample_context, 200)}" if found.sample_context else ""
    out.print(f"The session starts in {pathway}{given}.\n", style="dim", markup=False)


def _width() -> int:
    return max(min(out.width, 80), 60)


def _head(words: str) -> None:
    out.print(Rule(words, align="left", style="dim"), width=_width())


async def _say(who: str, what: str, style: str, pause: float) -> None:
    out.print(Text(who, style=style))
    for line in Text(plain(what)).wrap(out, _width()):
        for word in re.findall(r"\s*\S+", line.plain):
            out.print(word, end="", markup=False)
            await asyncio.sleep(pause)
        out.print()
    out.print()


def _show_turn(pathway: str, context: dict[str, Any], reply: JourneyResponse) -> None:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("  pathway", Text(movement(pathway, reply), style="magenta"))
    grid.add_row("  fired", Text(firing(reply) or "nothing", style="yellow"))
    rows = list(changes(context, reply.accumulated_context))
    for number, change in enumerate(rows):
        line = Text(f"{change.how} {change.name}", style="bold")
        if change.how != "-":
            line.append(f"  {short(change.value, _width() - 30)}", style="not bold")
        grid.add_row("" if number else "  context", line)
    if not rows:
        grid.add_row("  context", "unchanged")
    out.print(grid)
    out.print()


def _show_case(case: EscalationCase) -> None:
    _head("Payload for the person who takes over")
    payload = case.payload
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("  reason", Text(plain(payload["reason"])))
    grid.add_row("  summary", Text(plain(payload["summary"])))
    for number, field in enumerate(payload["fields"]):
        tries = len(field["attempts"])
        line = Text(plain(field["name"]), style="bold")
        line.append(f"  {short(field['value'], _width() - 50)}", style="not bold")
        line.append(f"  {field['validity']}, {tries} attempt{'s' * (tries != 1)}", style="dim")
        grid.add_row("" if number else "  fields", line)
    grid.add_row("  transcript", f"{len(case.transcript)} messages")
    out.print(grid)
    out.print()


def _show_picture(found: FoundJourney, svg: Path | None) -> None:
    _head("The journey")
    out.print(coloured(terminal.text(found.journey.spec, _width())))
    if svg:
        svg.write_text(drawn(found.journey.spec, "svg"), encoding="utf-8")
        out.print(f"The picture is in {svg}.", markup=False)


def _show_way_on(found: FoundJourney) -> None:
    _show_steps(
        {
            "talk to it": f"{command()} chat {found.name}",
            "draw it": f"{command()} draw {found.name} --output journey.svg",
            "change it": file_of(found.journey),
            "check it": f"{command()} check {file_of(found.journey)}",
        }
    )


def _show_steps(steps: Mapping[str, str]) -> None:
    _head("Next steps")
    for what, how in steps.items():
        # Lines to copy: a wrapped one would run as two commands.
        line = Text.assemble((f"{what:<12}", "dim"), how)
        out.print(line, soft_wrap=True)


def new(name: str, example: str | None, *, yaml: bool, deploy: bool) -> None:
    """Create a project, and show its files and the next commands."""
    interruptible()
    files = create_project(name, example, yaml=yaml, deploy=deploy)
    for file in files:
        out.print(plain(str(file)), markup=False)
    typed = command(anywhere=True)
    _show_steps(
        {
            "go there": f"cd {name}",
            "talk to it": f"{typed} chat {name}",
            "edit it": f"{typed} serve {name} --reload",
        }
    )
    out.print("README.md has all other commands.", style="dim")
