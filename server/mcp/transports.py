"""Application that serves MCP clients over streamable HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from mcp.server import Server
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from journeygraph.server.access.callers import Caller
from journeygraph.server.access.callers import Scope as Scopes
from journeygraph.server.http.auth import Keys
from journeygraph.server.http.problems import out_of_scope
from journeygraph.server.http.request_middleware import RequestMiddleware

PATH = "/mcp"
"""Path of the server."""
_THIS_MACHINE = ("127.0.0.1", "localhost", "[::1]")


@asynccontextmanager
async def over_http(
    server: Server[Any], keys: Keys, hosts: Sequence[str]
) -> AsyncIterator[ASGIApp]:
    """Open an application that serves any number of clients over streamable HTTP.

    Args:
        keys: API keys; without any, only this machine is served.
        hosts: Further names of this machine. Requests to any other name are refused, as are those
            from a page of another site in a browser (DNS rebinding).
    """
    names = [*_THIS_MACHINE, *hosts]
    origins = [f"{scheme}://{name}" for name in names for scheme in ("http", "https")]
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        transport_security=TransportSecuritySettings(
            allowed_hosts=[*names, *(f"{name}:*" for name in names)],
            allowed_origins=[*origins, *(f"{origin}:*" for origin in origins)],
        ),
    )
    async with server.session_manager.run():
        yield RequestMiddleware(_Gate(app, keys), keys)


class _Gate:
    """Checks the key before the body is read."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = Headers(scope=scope).get("authorization", "")
        caller = await self._keys.admit(scope, sent, Scopes.TALK)
        if caller.user is not None:  # a tool takes the id of any session
            raise out_of_scope(Scopes.OPERATE)
        scope.setdefault("state", {})["caller"] = caller
        if self._keys:  # so that the SDK keeps its sessions to the key that began them
            name = f"{caller.tenant}/{caller.key_id}"
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))
        await self._app(scope, receive, send)


def caller_of(asked: Any) -> Caller | None:
    """Return the client of a request; None: it came over standard streams."""
    caller: Caller | None = asked.request.state.caller if asked.request else None
    return caller
