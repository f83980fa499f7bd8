"""`journeygraph mcp`: journeys and pipelines as tools of the Model Context Protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, NamedTuple

from journeygraph.journeys import Pipeline
from journeygraph.journeys.store_url import masked
from journeygraph.server.cli.serve import (
    access_rule,
    answer,
    listening,
    place_of,
    run_loop,
    write_log,
)
from journeygraph.server.cli.terminal.rendering import Terminal, announce_all, err, out
from journeygraph.server.discover.pipelines import targets_of
from journeygraph.server.http.app_state import AppState, wire
from journeygraph.server.mcp.offering import Offering, offering
from journeygraph.server.mcp.serving import server_of
from journeygraph.server.mcp.transports import PATH
from journeygraph.server.mcp.transports import over_http as application
from journeygraph.server.settings import Settings
from journeygraph.server.telemetry import exporting


class _Loaded(NamedTuple):
    app_state: AppState
    pipelines: Mapping[str, Pipeline]
    offering: Offering


def _loaded(targets: Sequence[str], versions: Sequence[str], store: str | None) -> _Loaded:
    settings = Settings()
    names, pipelines = targets_of(targets, settings.config("memory://pipelines"))
    app_state = wire(settings, names, store, versions=versions, examples=not pipelines)
    write_log(settings.log_level)
    return _Loaded(app_state, pipelines, offering(app_state, pipelines))


def offered(
    targets: Sequence[str], versions: Sequence[str], store: str | None
) -> Callable[[], AbstractAsyncContextManager[Offering]]:
    """Load the targets; return a function that opens them for a client of standard streams."""
    loaded = _loaded(targets, versions, store)

    @asynccontextmanager
    async def opened() -> AsyncIterator[Offering]:
        async with loaded.app_state.opened():
            _introduce(loaded, err)  # standard output is the client's
            yield loaded.offering

    return opened


def over_http(
    targets: Sequence[str],
    versions: Sequence[str],
    host: str,
    port: int,
    allow_host: Sequence[str],
    store: str | None,
) -> None:
    """Serve clients by streamable HTTP until the process gets a signal to stop."""
    loaded = _loaded(targets, versions, store)
    with exporting(), listening(host, port, loaded.app_state.keys) as listener:
        run_loop(_by_http(loaded, listener, [*allow_host, host]))


async def _by_http(loaded: _Loaded, listener: Any, hosts: list[str]) -> None:
    async def offered() -> Offering:
        return loaded.offering

    app_state = loaded.app_state
    async with app_state.opened(), application(server_of(offered), app_state.keys, hosts) as app:
        _introduce(loaded, out)
        _tell(access_rule(app_state.keys), out)
        _tell(f"Listening at {place_of(listener)}{PATH}. Ctrl-C stops.", out)
        await answer(app, listener, app_state.turns, lambda line: _tell(line, out))


def _introduce(loaded: _Loaded, to: Terminal) -> None:
    app_state = loaded.app_state
    if app_state.journeys:
        announce_all(app_state, to)
        _tell(f"Journeys: {', '.join(map(app_state.name_of, app_state.journeys))}", to)
        _tell(f"Store: {masked(app_state.config.persistence)}", to)
    if loaded.pipelines:
        _tell(f"Pipelines: {', '.join(loaded.pipelines)}", to)


def _tell(line: str, to: Terminal) -> None:
    to.print(line, markup=False)
