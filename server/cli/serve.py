"""`journeygraph serve`: journeys over HTTP."""

from __future__ import annotations

import asyncio
import socket
from typing import Annotated

import typer
from fastapi import FastAPI

from journeys.store_url import masked
from server.app import app_of
from server.cli.finding import NAMES
from server.cli.listening import answer, listening, place_of, write_log
from server.cli.rendering import announce, out
from server.settings import Settings
from server.wiring import Wiring, wire


def serve(
    journeys: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[JOURNEY]...", help=f"{NAMES} Default: all examples.", show_default=False
        ),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen at; others than this machine's need API keys.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8000,
    store: Annotated[
        str | None,
        typer.Option(
            help="Where sessions live: sqlite:///FILE, memory:// or postgresql://... "
            "Default: settings."
        ),
    ] = None,
) -> None:
    """Serve journeys over HTTP: sessions, turns as JSON or as events, and their state.

    JOURNEYGRAPH_API_KEYS holds the keys that clients send as 'Authorization: Bearer KEY'; without
    one, only this machine is answered. SIGTERM lets the running turns finish, and ends with 0.
    """
    settings = Settings()
    wiring = wire(settings, journeys or (), store)
    write_log(settings.log_level)
    with listening(host, port, wiring.keys) as listener:
        asyncio.run(_run(app_of(wiring), listener))


def _introduce(wiring: Wiring, listener: socket.socket) -> None:
    """Say what is served, from which store, where, and to whom."""
    place = place_of(listener)
    announce(wiring.config, *(served.journey.spec for served in wiring.journeys.values()))
    _tell(f"Journeys: {', '.join(wiring.journeys)}")
    _tell(f"Store: {masked(wiring.config.persistence)}")
    if wiring.keys:
        _tell("Clients need a key of JOURNEYGRAPH_API_KEYS.")
    else:
        _tell("No API key is set (JOURNEYGRAPH_API_KEYS), so only this machine is answered.")
    docs = f", described at {place}/docs" if wiring.shows_docs else ""
    _tell(f"Listening at {place}{docs}. Ctrl-C stops.")


def _tell(line: str) -> None:
    out.print(line, markup=False, soft_wrap=True)


async def _run(app: FastAPI, listener: socket.socket) -> None:
    wiring: Wiring = app.state.wiring
    async with wiring.opened():
        _introduce(wiring, listener)
        await answer(app, listener, wiring.turns, _tell)
