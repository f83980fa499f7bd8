"""The files of the page and of the API description, and the routes that serve them.

A request names one of the files or gets a 404, so no request can reach another file.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

POLICY = (
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "object-src 'none'"
)
"""The content security policy of the page: nothing inline, nothing from another address."""
_DOCS_POLICY = f"{POLICY}; img-src 'self' data:"
"""That of the API description: Swagger UI has its icons in its style sheet."""
_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain",
}
_WIDGET = (
    *("widget.js", "chat.js", "api.js", "listen.js", "parts.js", "session.js", "talk.js"),
    *("markdown.js", "style.css", "vendor/marked.js", "vendor/preact.js"),
)
"""The files of the chat in pages of other servers."""
_DOCS = ("docs.html", "docs.js", "docs.css", "icon.svg")
"""Our files of the API description."""
_SWAGGER = ("swagger-ui-bundle.js", "swagger-ui.css")
_FOLLOWING = b'<script type="module" src="page/follow.js"></script>\n'
_Answer = Callable[[Request], Awaitable[Response]]


class _File(NamedTuple):
    body: bytes
    headers: dict[str, str]


def page_routes(
    *, page: bool, docs: bool, follows: bool = False, widget: bool = False
) -> list[Route]:
    """Return the routes of the page, and of the description of the API at `/docs`.

    Their files are below `/page/` and `/docs/`. Those of Swagger UI, which are large, are read when
    they are first asked for, all others now.

    Args:
        follows: True for a page that loads again when another start of the server answers.
        widget: True for the chat in pages of other servers, `/widget.js`.
    """
    routes = []
    if widget:
        routes.append(Route("/widget.js", _named(_ours(), "widget.js")))
    if docs:
        ours = {name: _ours()[name] for name in _DOCS}
        routes += [
            Route("/docs", _named(ours, "docs.html")),
            Route("/docs/swagger/{name}", _of_swagger),
            Route("/docs/{name:path}", _below(ours)),
        ]
    if page:
        ours = {name: file for name, file in _ours().items() if not name.startswith("docs.")}
        if follows:
            index = ours["index.html"].body.replace(b"</head>", _FOLLOWING + b"</head>")
            ours = {**ours, "index.html": _made("index.html", index)}
            ours["start"] = _made("start.txt", secrets.token_hex().encode())
        routes += [Route("/", _named(ours, "index.html")), Route("/page/{name:path}", _below(ours))]
    elif widget:
        routes.append(Route("/page/{name:path}", _below({name: _ours()[name] for name in _WIDGET})))
    return routes


def _named(known: Mapping[str, _File], name: str) -> _Answer:
    async def answer(request: Request) -> Response:
        return _answer(request, known[name])

    return answer


def _below(known: Mapping[str, _File]) -> _Answer:
    async def answer(request: Request) -> Response:
        return _answer(request, known.get(request.path_params["name"]))

    return answer


async def _of_swagger(request: Request) -> Response:
    known = await asyncio.to_thread(_swagger)
    return _answer(request, known.get(request.path_params["name"]))


def _answer(request: Request, file: _File | None) -> Response:
    if file is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    known = [tag.strip() for tag in request.headers.get("if-none-match", "").split(",")]
    if file.headers["ETag"] in known:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=file.headers)
    return Response(file.body, headers=file.headers)


@cache
def _ours() -> Mapping[str, _File]:
    return {name: _read(name, file) for name, file in _found(files(__package__) / "static")}


@cache
def _swagger() -> Mapping[str, _File]:
    folder = files("fastapi_offline") / "static"
    return {name: _read(name, folder / name) for name in _SWAGGER}


def _found(folder: Traversable, place: str = "") -> Iterator[tuple[str, Traversable]]:
    for item in folder.iterdir():
        if item.is_dir():
            yield from _found(item, f"{place}{item.name}/")
        elif item.name.rpartition(".")[2] in _TYPES:
            yield f"{place}{item.name}", item


def _read(name: str, file: Traversable) -> _File:
    return _made(name, file.read_bytes())


def _made(name: str, body: bytes) -> _File:
    headers = {
        "Content-Type": _TYPES[name.rpartition(".")[2]],
        "ETag": f'"{hashlib.sha256(body).hexdigest()[:32]}"',
        # A browser asks each time, so an upgrade never mixes old and new files.
        "Cache-Control": "no-cache",
        "Content-Security-Policy": _DOCS_POLICY if name.startswith("docs.") else POLICY,
        "Referrer-Policy": "no-referrer",
    }
    return _File(body, headers)
