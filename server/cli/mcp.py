"""`journeygraph mcp`: journeys and pipelines as tools of the Model Context Protocol."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from journeys import Pipeline
from journeys.errors import require_extra
from journeys.store_url import masked
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
from server.cli.rendering import announce_all, err, out
from server.cli.targets import TARGETS, targets_of
from server.settings import Settings
from server.wiring import Wiring, wire

if TYPE_CHECKING:
    from mcp.server import Server


def mcp(
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET]...", help=f"{TARGETS} Default: all examples.", show_default=False
        ),
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="Serve streamable HTTP instead of standard streams.")
    ] = False,
    host: Host = THIS_MACHINE,
    port: Port = 8765,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Name by which clients reach this machine; may be repeated."),
    ] = None,
    store: Store = None,
) -> None:
    """Offer journeys and pipelines to MCP clients: each is a tool.

    By standard streams it serves the client that started it. With --http, JOURNEYGRAPH_API_KEYS
    holds the keys that clients send as 'Authorization: Bearer KEY'; without one, only this machine
    is answered.
    """
    require_extra("mcp", "MCP", "mcp")
    settings = Settings()
    names, pipelines = targets_of(targets or (), settings.config("memory://pipelines"))
    wiring = wire(settings, names, store, examples=not pipelines)
    write_log(settings.log_level)
    server = _server(wiring, pipelines)
    if not http:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        asyncio.run(_by_streams(server, wiring, pipelines))
        return
    hosts = [*(allow_host or ()), host]
    with listening(host, port, wiring.keys) as listener:
        run(_by_http(server, wiring, pipelines, listener, hosts))


def _server(wiring: Wiring, pipelines: Mapping[str, Pipeline]) -> Server[Any]:
    from server.mcp.offering import offering  # noqa: PLC0415 - the SDK takes long to import

    return offering(wiring, pipelines)


async def _by_streams(
    server: Server[Any], wiring: Wiring, pipelines: Mapping[str, Pipeline]
) -> None:
    from server.mcp.transports import over_stdio  # noqa: PLC0415

    async with wiring.opened():
        _introduce(wiring, pipelines, err)  # standard output is the client's
        await over_stdio(server)


async def _by_http(
    server: Server[Any],
    wiring: Wiring,
    pipelines: Mapping[str, Pipeline],
    listener: Any,
    hosts: list[str],
) -> None:
    from server.mcp.transports import PATH, over_http  # noqa: PLC0415

    async with wiring.opened(), over_http(server, wiring.keys, hosts) as app:
        _introduce(wiring, pipelines, out)
        _tell(whom_answered(wiring.keys), out)
        _tell(f"Listening at {place_of(listener)}{PATH}. Ctrl-C stops.", out)
        await answer(app, listener, wiring.turns, lambda line: _tell(line, out))


def _introduce(wiring: Wiring, pipelines: Mapping[str, Pipeline], to: Console) -> None:
    if wiring.journeys:
        announce_all(wiring, to)
        _tell(f"Journeys: {', '.join(wiring.journeys)}", to)
        _tell(f"Store: {masked(wiring.config.persistence)}", to)
    if pipelines:
        _tell(f"Pipelines: {', '.join(pipelines)}", to)


def _tell(line: str, to: Console) -> None:
    to.print(line, markup=False, soft_wrap=True)
