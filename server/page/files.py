"""The files of the page, and the routes that serve them.

All files are read when the application is made. A request names one of them or gets a 404, so no
request can reach another file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
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
_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}
_INDEX = "index.html"


class _File(NamedTuple):
    body: bytes
    headers: dict[str, str]


def page_routes() -> list[Route]:
    """Return the routes of the page: `/`, and its files below `/page/`."""
    _kept()
    return [Route("/", _index), Route("/page/{name:path}", _named)]


async def _index(request: Request) -> Response:
    return _answer(request, _INDEX)


async def _named(request: Request) -> Response:
    return _answer(request, request.path_params["name"])


def _answer(request: Request, name: str) -> Response:
    file = _kept().get(name)
    if file is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    if file.headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=file.headers)
    return Response(file.body, headers=file.headers)


@cache
def _kept() -> dict[str, _File]:
    """Return the files by their names, with their headers."""
    return {name: _read(name, file) for name, file in _found(files(__package__) / "static")}


def _found(folder: Traversable, place: str = "") -> Iterator[tuple[str, Traversable]]:
    for item in folder.iterdir():
        if item.is_dir():
            yield from _found(item, f"{place}{item.name}/")
        elif item.name.rpartition(".")[2] in _TYPES:
            yield f"{place}{item.name}", item


def _read(name: str, file: Traversable) -> _File:
    body = file.read_bytes()
    headers = {
        "Content-Type": _TYPES[name.rpartition(".")[2]],
        "ETag": f'"{hashlib.sha256(body).hexdigest()[:32]}"',
        # A browser asks each time, so an upgrade never mixes old and new files.
        "Cache-Control": "no-cache",
        "Content-Security-Policy": POLICY,
        "Referrer-Policy": "no-referrer",
    }
    return _File(body, headers)
