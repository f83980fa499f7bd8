"""`journeygraph serve`: listen at an address, and serve until a signal to stop.

A full collection of garbage visits every object and stops all sessions meanwhile. So the objects
that exist after the start are excluded from all collections, and a full one runs in a moment
without a turn. If there is never such a moment, Python's own thresholds apply, at longer intervals.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp
from uvicorn.loops.auto import auto_loop_factory

from journeys.store_url import masked
from server.app import app_of
from server.cli.terminal.rendering import announce_all, out, plain
from server.discover.errors import CommandError
from server.http.auth import KEY_REMEDY, Keys, is_loopback
from server.http.protocols import PROTOCOLS
from server.http.turns import GRACE_SECONDS, Turns
from server.http.wiring import Wiring, wire
from server.logs import Level, write_logs
from server.settings import Settings

_STOPS = (signal.SIGINT, signal.SIGTERM)
_USER_TIMEOUT_MS = 30_000


def serve(
    journeys: Sequence[str],
    host: str,
    port: int,
    store: str | None,
    definitions: bool | None,
    given: Sequence[str],
    print_settings: bool,
) -> None:
    """Serve journeys over HTTP until the process gets a signal to stop."""
    settings = Settings() if definitions is None else Settings(definitions=definitions)
    if print_settings:
        _print_settings(settings, store)
        return
    stored = settings.definitions
    if given and not stored:
        raise CommandError("--with needs --definitions.", exit_code=2)
    wiring = wire(settings, journeys, store, examples=not stored, given=given if stored else None)
    write_log(settings.log_level)
    with listening(host, port, wiring.keys) as listener:
        run_loop(_run(app_of(wiring), listener))


def _introduce(wiring: Wiring, listener: socket.socket) -> None:
    """Write the journeys, the store, the address and the access rule."""
    place = place_of(listener)
    announce_all(wiring)
    _tell(f"Journeys: {', '.join(wiring.journeys) or 'none'}")
    if wiring.catalogue:
        for id_, faults in wiring.catalogue.faults.items():
            for fault in faults:
                _tell(f"Not served: {id_}: {fault}")
        if wiring.catalogue.faults:
            _tell("Definitions take agents and tools from modules: --with file.py")
    _tell(f"Store: {masked(wiring.config.persistence)}")
    _tell(access_rule(wiring.keys))
    docs = f", described at {place}/docs" if wiring.shows_docs else ""
    if wiring.shows_page:
        _tell(f"Page: {place}/")
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


# --- Listening -----------------------------------------------------------------------------------


def listening(host: str, port: int, keys: Keys) -> socket.socket:
    """Open the socket that clients connect to.

    Raises:
        CommandError: The host is not this machine and no key is set, or the address cannot be used.
    """
    try:
        # With its protocol named, asyncio sends small answers at once (TCP_NODELAY).
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
        family, kind, protocol, _, address = min(found, key=lambda item: item[0])
        if not keys and not is_loopback(str(address[0])):
            raise CommandError(
                f"--host {host} would serve the network without an API key. Set "
                f"JOURNEYGRAPH_API_KEYS, or omit --host. {KEY_REMEDY}",
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


def place_of(listener: socket.socket) -> str:
    """Return the address of a socket as the start of a URL."""
    host, port, *_ = listener.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def access_rule(keys: Keys) -> str:
    """Return the access rule of a server as a sentence."""
    if keys:
        return "Clients need a key of JOURNEYGRAPH_API_KEYS."
    return "No API key is set (JOURNEYGRAPH_API_KEYS): only requests from this machine are served."


def write_log(level: Level) -> None:
    """Write the log of a server to standard error, except with --debug, which shows more."""
    if logging.getLogger().level > logging.DEBUG:
        write_logs(level)


def run_loop(serving: Coroutine[Any, Any, None]) -> None:
    """Run a server, on uvloop if that is installed."""
    with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
        runner.run(serving)


async def answer(
    app: ASGIApp, listener: socket.socket, turns: Turns, tell: Callable[[str], None]
) -> None:
    """Serve until the process gets a signal to stop; finish running turns.

    Args:
        app: The application; its resources are open.
        listener: The socket.
        turns: The running turns of this process.
        tell: Writes a line to the terminal.
    """
    config = uvicorn.Config(
        app,
        http=PROTOCOLS[0],
        ws="none",
        lifespan="off",  # opened by the command, where an error becomes a line and an exit code
        server_header=False,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=int(GRACE_SECONDS),
    )
    # The server raises the signal that ended it once more, after its work is done.
    for number in _STOPS:
        signal.signal(number, lambda *_: None)
    server = _Server(config, turns, tell)
    async with collected_between(turns):
        await server.serve([listener])
    for number in _STOPS:  # who asks again does not want to wait; whole turns stay whole
        signal.signal(number, signal.SIG_DFL)
    if server.force_exit:
        turns.close(0.0)


class _Server(uvicorn.Server):
    """uvicorn's server; it notifies the turns when it starts to stop."""

    def __init__(self, config: uvicorn.Config, turns: Turns, tell: Callable[[str], None]) -> None:
        super().__init__(config)
        self._turns = turns
        self._tell = tell

    async def shutdown(self, sockets: Any = None) -> None:
        """Stop accepting requests; finish running turns."""
        self._turns.close()
        if running := len(self._turns):
            self._tell(
                f"Stopping; {running} running turns have {GRACE_SECONDS:.0f} seconds to finish."
            )
        await super().shutdown(sockets)


THRESHOLDS = (5_000, 20, 50)
"""Arguments of `gc.set_threshold` while a server runs, larger than Python's defaults."""
LOOK_SECONDS = 0.5
"""Seconds between two checks for running turns."""
MOST_TURNS = 100
"""Turns after which the first moment without a turn is used; before, one full interval must be
free.
"""


@asynccontextmanager
async def collected_between(turns: Turns) -> AsyncIterator[None]:
    """Collect garbage between these turns, until the block ends."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*THRESHOLDS)
    looking = asyncio.get_running_loop().create_task(_look(turns, turns.begun))
    try:
        yield
    finally:
        looking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await looking
        gc.set_threshold(*before)
        gc.unfreeze()


async def _look(turns: Turns, collected: int) -> None:
    seen = collected
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        is_quiet = turns.begun == seen
        seen = turns.begun
        if not turns and seen > collected and (is_quiet or seen - collected >= MOST_TURNS):
            gc.collect()
            collected = seen
