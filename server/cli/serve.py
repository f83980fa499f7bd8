"""`journeygraph serve`: journeys over HTTP."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Annotated

import typer

from journeys.store_url import masked
from server.cli.edge import CommandError
from server.cli.finding import NAMES
from server.cli.listening import (
    THIS_MACHINE,
    Host,
    Port,
    Store,
    answer,
    listening,
    place_of,
    run,
    whom_answered,
    write_log,
)
from server.cli.rendering import announce_all, out, plain
from server.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from server.wiring import Wiring


def serve(
    journeys: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[JOURNEY]...", help=f"{NAMES} Default: all examples.", show_default=False
        ),
    ] = None,
    host: Host = THIS_MACHINE,
    port: Port = 8000,
    store: Store = None,
    definitions: Annotated[
        bool | None,
        typer.Option(
            "--definitions",
            help="Serve the journeys in the database, which `load` puts there. Default: settings.",
            show_default=False,
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="MODULE",
            help="file.py or a module whose AGENTS and TOOLS do their work; may be repeated.",
            show_default=False,
        ),
    ] = None,
    print_settings: Annotated[
        bool,
        typer.Option(
            "--print-settings", help="Show every setting, and where its value stands; then end."
        ),
    ] = False,
) -> None:
    """Serve journeys over HTTP: sessions, turns as JSON or as events, and their state.

    JOURNEYGRAPH_API_KEYS holds the keys that clients send as 'Authorization: Bearer KEY'; without
    one, only this machine is answered. SIGTERM lets the running turns finish, and ends with 0.
    """
    from server.app import app_of  # noqa: PLC0415 - what serves takes a second to import
    from server.wiring import wire  # noqa: PLC0415

    settings = Settings() if definitions is None else Settings(definitions=definitions)
    if print_settings:
        _print_settings(settings, store)
        return
    stored = settings.definitions
    if given and not stored:
        raise CommandError("--with is for the journeys of --definitions.", exit_code=2)
    wiring = wire(
        settings, journeys or (), store, examples=not stored, given=given or () if stored else None
    )
    write_log(settings.log_level)
    with listening(host, port, wiring.keys) as listener:
        run(_run(app_of(wiring), listener))


def _introduce(wiring: Wiring, listener: socket.socket) -> None:
    """Say what is served, from which store, where, and to whom."""
    place = place_of(listener)
    announce_all(wiring)
    _tell(f"Journeys: {', '.join(wiring.journeys) or 'none'}")
    if wiring.catalogue:
        for id_, faults in wiring.catalogue.faults.items():
            for fault in faults:
                _tell(f"Not served: {id_}: {fault}")
        if wiring.catalogue.faults:
            _tell("What does the work of definitions comes from modules: --with file.py")
    _tell(f"Store: {masked(wiring.config.persistence)}")
    _tell(whom_answered(wiring.keys))
    docs = f", described at {place}/docs" if wiring.shows_docs else ""
    _tell(f"Listening at {place}{docs}. Ctrl-C stops.")


def _print_settings(settings: Settings, store: str | None) -> None:
    rows = list(settings.shown(store))
    names, values = (max(len(row[column]) for row in rows) for column in (0, 1))
    for name, value, origin in rows:
        _tell(plain(f"{name:<{names}}  {value:<{min(values, 40)}}  {origin}"))


def _tell(line: str) -> None:
    out.print(line, markup=False, soft_wrap=True)


async def _run(app: FastAPI, listener: socket.socket) -> None:
    wiring: Wiring = app.state.wiring
    async with wiring.opened():
        _introduce(wiring, listener)
        await answer(app, listener, wiring.turns, _tell)
