"""`journeygraph serve`: journeys over HTTP."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from typing import Annotated, Any

import typer
import uvicorn
from fastapi import FastAPI

from journeys.store_url import masked
from server.app import app_of
from server.auth import KEY_REMEDY, is_loopback
from server.cli.edge import CommandError
from server.cli.finding import NAMES
from server.cli.rendering import announce, out
from server.logs import write_logs
from server.patience import PatientProtocol
from server.settings import Settings
from server.turns import GRACE_SECONDS
from server.wiring import Wiring, wire

_STOPS = (signal.SIGINT, signal.SIGTERM)
_USER_TIMEOUT_MS = 30_000


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
    if logging.getLogger().level > logging.DEBUG:  # else --debug shows more than this would
        write_logs(settings.log_level)
    with _listening(host, port, wiring) as listener:
        asyncio.run(_run(app_of(wiring), listener))


def _listening(host: str, port: int, wiring: Wiring) -> socket.socket:
    """Open the socket that clients connect to.

    Raises:
        CommandError: The host is not this machine's, and there is no key; or it cannot be had.
    """
    try:
        # With its protocol named, asyncio sends small answers at once (TCP_NODELAY).
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        family, kind, protocol, _, address = min(found, key=lambda item: item[0])
        if not wiring.keys and not is_loopback(str(address[0])):
            raise CommandError(
                f"--host {host} would answer the network, and no API key is set. Set "
                f"JOURNEYGRAPH_API_KEYS, or leave --host out. {KEY_REMEDY}",
                exit_code=2,
            )
        return _bound(socket.socket(family, kind, protocol), address)
    except OSError as error:
        reason = error.strerror or error
        raise CommandError(f"Cannot listen at {host}, port {port}: {reason}.") from None


def _bound(listener: socket.socket, address: Any) -> socket.socket:
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # drops who takes nothing, and does not say so
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _USER_TIMEOUT_MS)
        listener.bind(address)
        listener.listen()  # a port that is taken is known here
    except OSError:
        listener.close()
        raise
    return listener


def _introduce(wiring: Wiring, listener: socket.socket) -> None:
    """Say what is served, from which store, where, and to whom."""
    host, port, *_ = listener.getsockname()
    place = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
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
    config = uvicorn.Config(
        app,
        http=PatientProtocol,
        loop="asyncio",
        ws="none",
        lifespan="off",  # opened here, where an error of the store becomes a line and an exit code
        server_header=False,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=int(GRACE_SECONDS),
    )
    async with wiring.opened():
        _introduce(wiring, listener)
        # The server raises the signal that ended it once more, after its work is done.
        for number in _STOPS:
            signal.signal(number, lambda *_: None)
        server = _Server(config, wiring)
        await server.serve([listener])
        for number in _STOPS:  # who asks again does not want to wait; whole turns stay whole
            signal.signal(number, signal.SIG_DFL)
        if server.force_exit:
            wiring.turns.close(0.0)


class _Server(uvicorn.Server):
    """uvicorn's server, which tells the turns when it begins to stop."""

    def __init__(self, config: uvicorn.Config, wiring: Wiring) -> None:
        super().__init__(config)
        self._wiring = wiring

    async def shutdown(self, sockets: Any = None) -> None:
        """Stop accepting; let what runs finish."""
        self._wiring.turns.close()
        if running := len(self._wiring.turns):
            _tell(f"Stopping; {running} turns may finish, for {GRACE_SECONDS:.0f} seconds.")
        await super().shutdown(sockets)
