"""`journeygraph serve`: listen at an address, and serve until a signal to stop.

With --reload, this process only watches files, by uvicorn: a child serves, and is started again
after a change.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import html
import signal
import socket
import sys
from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from fastapi import FastAPI
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.loops.auto import auto_loop_factory
from uvicorn.supervisors.watchfilesreload import WatchFilesReload

from journeygraph.journeys.faults import Fault
from journeygraph.journeys.store_url import masked
from journeygraph.server.app import app_of
from journeygraph.server.cli.terminal.rendering import announce_all, out, plain, say
from journeygraph.server.discover.errors import CommandError, described
from journeygraph.server.http.app_state import AppState, keys_of, wire
from journeygraph.server.http.auth import KEY_REMEDY, Keys, is_loopback
from journeygraph.server.http.problems import MEDIA_TYPE, Problem
from journeygraph.server.http.turns import GRACE_SECONDS, RunningTurns
from journeygraph.server.logs import (
    ErrorLog,
    Level,
    Raised,
    debug_log,
    is_debugged,
    write_logs,
)
from journeygraph.server.page.files import POLICY
from journeygraph.server.settings import Settings
from journeygraph.server.telemetry import exporting

if TYPE_CHECKING:
    from journeygraph.server.conversations.stubs import StubsOfFile

_STOPS = (signal.SIGINT, signal.SIGTERM)
_USER_TIMEOUT_MS = 30_000
_ANSWER_SECONDS = 5.0
"""Seconds after the end of the last turn for the answers."""


@dataclass(frozen=True, slots=True)
class ServeRequest:
    """The journeys and the store that the command names.

    Attributes:
        store: URL that replaces the store of the settings.
        definitions: True to serve the journeys of the database. Default: the settings.
        given: Modules with agents and tools of these.
        versions: Names of other versions of `journeys`.
        stubs: File with results in place of functions.
    """

    journeys: Sequence[str]
    store: str | None
    definitions: bool | None
    given: Sequence[str]
    versions: Sequence[str] = ()
    stubs: Path | None = None

    def settings(self) -> Settings:
        """Return the settings, read now."""
        return Settings() if self.definitions is None else Settings(definitions=self.definitions)

    def app_state(self, settings: Settings) -> AppState:
        """Return all that the routes use."""
        stored = settings.definitions
        if self.given and not stored:
            raise CommandError("--with needs --definitions.", exit_code=2)
        if self.stubs and stored:
            said = "--stubs is for journeys of files and modules, not for --definitions."
            raise CommandError(said, exit_code=2)
        stubs = self._stubs()
        app_state = wire(
            settings,
            self.journeys,
            self.store,
            versions=self.versions,
            examples=not stored,
            given=self.given if stored else None,
            prepared=stubs.into if stubs else None,
        )
        if stubs:
            _tell(plain(str(stubs)))
        return app_state

    def _stubs(self) -> StubsOfFile | None:
        if self.stubs is None:
            return None
        # They import the client of a model, which takes long.
        from journeygraph.server.conversations.stubs import StubsOfFile  # noqa: PLC0415

        return StubsOfFile(self.stubs)


def serve(
    wanted: ServeRequest,
    host: str,
    port: int,
    *,
    print_settings: bool = False,
    reload: bool = False,
) -> None:
    """Serve journeys over HTTP until the process gets a signal to stop."""
    settings = wanted.settings()
    if print_settings:
        _print_settings(settings, wanted.store)
    elif reload:
        _serve_again(wanted, listening(host, port, keys_of(settings)))
    else:
        app_state = wanted.app_state(settings)
        app_state.errors = ErrorLog() if is_debugged() else None
        write_log(settings.log_level)
        heard = app_state.errors.listening() if app_state.errors else contextlib.nullcontext()
        sent = exporting(audit=app_state.audit_log == "otel")
        with sent, heard, listening(host, port, app_state.keys) as listener:
            run_loop(_run(app_of(app_state), listener, settings.max_connections))


def _introduce(
    app_state: AppState,
    listener: socket.socket,
    faults: Iterable[Fault],
    *,
    has_unused_keys: bool = False,
) -> None:
    place = place_of(listener)
    announce_all(app_state)
    _tell(f"Journeys: {', '.join(map(app_state.name_of, app_state.journeys)) or 'none'}")
    if app_state.catalogue:
        for id_, faults in app_state.catalogue.faults.items():
            for fault in faults:
                _tell(f"Not served: {id_}: {fault}")
        if app_state.catalogue.faults:
            _tell("Definitions take agents and tools from modules: --with file.py")
    _tell(f"Store: {masked(app_state.config.persistence)}")
    for fault in faults:
        _tell(plain(f"Not ready: {fault}"))
    _tell(_UNUSED_KEYS if has_unused_keys else access_rule(app_state.keys))
    docs = f", described at {place}/docs" if app_state.shows_docs else ""
    if app_state.shows_page:
        _tell(f"Page: {place}/")
    if app_state.metrics:
        _tell(f"Metrics: {place}/metrics")
    _tell(f"Listening at {place}{docs}. Ctrl-C stops.")


_UNUSED_KEYS = (
    "The API keys of the database are not used without JOURNEYGRAPH_STORED_KEYS=true: only "
    "requests from this machine are served, without a key."
)


def _print_settings(settings: Settings, store: str | None) -> None:
    rows = list(settings.shown(store))
    names, values = (max(len(row[column]) for row in rows) for column in (0, 1))
    for name, value, origin in rows:
        _tell(plain(f"{name:<{names}}  {value:<{min(values, 40)}}  {origin}"))


def _tell(line: str) -> None:
    out.print(line, markup=False)


async def _run(app: FastAPI, listener: socket.socket, most: int) -> None:
    app_state: AppState = app.state.app_state
    async with app_state.opened():
        faults = await app_state.readiness.faults()
        stored = app_state.keys.stored
        unused = bool(stored and not app_state.keys and not faults and await stored.page(1))
        _introduce(app_state, listener, faults, has_unused_keys=unused)
        await answer(app, listener, app_state.turns, _tell, most)


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
        require_keys(str(address[0]), keys, host)
        return _bound(socket.socket(family, kind, protocol), address)
    except OSError as error:
        reason = error.strerror or error
        raise CommandError(f"Cannot listen at {host}, port {port}: {reason}.") from None


def require_keys(address: str, keys: Keys, host: str = "") -> None:
    """Require a key at an address that is not only for this machine."""
    if not keys and not is_loopback(address):
        raise CommandError(
            f"--host {host or address} would serve the network without an API key. Set "
            f"JOURNEYGRAPH_API_KEYS, or JOURNEYGRAPH_STORED_KEYS=true for keys of the database, or "
            f"omit --host. {KEY_REMEDY}",
            exit_code=2,
        )


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
    if keys.in_settings:
        return "Clients need a key of JOURNEYGRAPH_API_KEYS, or one of the database."
    if keys.is_signed:
        return "Clients need a signed token (JOURNEYGRAPH_JWT_KEYS), or a key of the database."
    if keys:
        return "Clients need a key of the database: journeygraph keys create --scope talk"
    return "No API key is set (JOURNEYGRAPH_API_KEYS): only requests from this machine are served."


def write_log(level: Level) -> None:
    """Write the log of a server to standard error, except with --debug, which shows more."""
    if not is_debugged():
        write_logs(level)


def run_loop(serving: Coroutine[Any, Any, None]) -> None:
    """Run a server, on uvloop if that is installed."""
    with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:
        runner.run(serving)


async def answer(
    app: ASGIApp,
    listener: socket.socket,
    turns: RunningTurns,
    tell: Callable[[str], None],
    most: int | None = None,
) -> None:
    """Serve until the process gets a signal to stop; finish running turns.

    Args:
        app: The application; its resources are open.
        most: Maximum number of open connections; None: no limit.
    """
    config = uvicorn.Config(
        app,
        http="auto",  # httptools if it is installed, else h11
        limit_concurrency=most,
        ws="none",
        lifespan="off",  # opened by the command, where an error becomes a line and an exit code
        server_header=False,
        access_log=False,
        log_config=None,
        timeout_graceful_shutdown=int(GRACE_SECONDS + _ANSWER_SECONDS),
    )
    server = _Server(config, turns, tell)
    # A signal may come before the server handles it. The server raises the one that ended it once
    # more, after its work is done.
    for number in _STOPS:
        signal.signal(number, server.stop)
    gc.collect()
    gc.freeze()  # what exists at the start is not collected: a full collection stops all sessions
    await server.serve([listener])
    for number in _STOPS:  # who asks again does not want to wait; whole turns stay whole
        signal.signal(number, signal.SIG_DFL)
    if server.force_exit:
        turns.close(0.0)


class _Server(uvicorn.Server):
    """uvicorn's server; it notifies the turns when it starts to stop."""

    def __init__(
        self, config: uvicorn.Config, turns: RunningTurns, tell: Callable[[str], None]
    ) -> None:
        super().__init__(config)
        self._turns = turns
        self._tell = tell

    def stop(self, *_: object) -> None:
        """Stop as soon as the server has started, or at once."""
        self.should_exit = True

    async def shutdown(self, sockets: Any = None) -> None:
        self._turns.close()
        if running := len(self._turns):
            self._tell(
                f"Stopping; {running} running turns have {GRACE_SECONDS:.0f} seconds to finish."
            )
        await super().shutdown(sockets)


# --- Reloading -----------------------------------------------------------------------------------

_WATCHED = ["*.yaml", "*.yml", "*.json", "*.csv", "*.toml", ".env"]
"""Files of a journey besides those of Python."""


def _serve_again(wanted: ServeRequest, listener: socket.socket) -> None:
    folders = _folders(wanted)
    _tell(f"Restarts on a change in: {', '.join(folders)}")
    config = uvicorn.Config(
        "", reload=True, reload_dirs=folders, reload_includes=_WATCHED, log_config=None
    )
    target = partial(_serve_once, wanted, is_debugged())
    WatchFilesReload(config, target, [listener]).run()


def _folders(wanted: ServeRequest) -> list[str]:
    here = Path.cwd()
    named = (*wanted.journeys, *wanted.versions, *wanted.given, str(wanted.stubs or ""))
    files = (Path(name.partition(":")[0]) for name in named)
    others = {file.resolve().parent for file in files if file.is_file()}
    return [str(here), *sorted(str(one) for one in others if not one.is_relative_to(here))]


def _serve_once(wanted: ServeRequest, debug: bool, sockets: Any) -> None:
    # Bytecode is compared by size and by seconds, so it may hide a change within one second.
    sys.dont_write_bytecode = True
    if debug:
        debug_log()
    (listener,) = sockets
    try:
        settings = wanted.settings()
        app_state = wanted.app_state(settings)
        require_keys(str(listener.getsockname()[0]), app_state.keys)
        write_log(settings.log_level)
        app_state.errors = ErrorLog(None if debug else _tell_raised)
        sent = exporting(audit=app_state.audit_log == "otel")
        with sent, app_state.errors.listening():
            run_loop(_run(app_of(app_state, follows=True), listener, settings.max_connections))
    except Exception as error:
        say(error)
        _tell("Not served. The next change of a file starts the server again.")
        run_loop(answer(_Faulty(described(error)), listener, RunningTurns(), _tell))


class _Faulty:
    """An application that answers each request with the faults of the journeys."""

    def __init__(self, faults: Sequence[str]) -> None:
        self._faults = faults

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; only clients of this machine get the faults."""
        faults = self._faults if is_loopback(scope["client"][0]) else ["The terminal shows them."]
        of_page = not scope["path"].startswith("/v1/")
        await (_faulty_page(faults) if of_page else _faulty_answer(faults))(scope, receive, send)


def _faulty_answer(faults: Sequence[str]) -> Response:
    status = HTTPStatus.SERVICE_UNAVAILABLE
    detail = f"The journeys have faults. {' '.join(faults)}"
    body = Problem(status, "faulty_journeys", detail, faults=faults).body("")
    return JSONResponse(body, status, media_type=MEDIA_TYPE)


def _faulty_page(faults: Sequence[str]) -> Response:
    lines = "".join(f"<li>{html.escape(fault)}" for fault in faults)
    text = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" '
        'content="1"><meta name="color-scheme" content="light dark"><title>Faults</title>'
        f"<h1>The journeys have faults</h1><ul>{lines}</ul><p>This page follows the next change."
    )
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}
    return HTMLResponse(text, HTTPStatus.SERVICE_UNAVAILABLE, headers)


def _tell_raised(raised: Raised) -> None:
    name = f"{raised.name}: " if raised.name else ""
    out.print(plain(f"{name}{raised.traceback}"), style="dim", markup=False)
