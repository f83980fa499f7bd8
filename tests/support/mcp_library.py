"""A small library as an MCP server, run as a process of its own: over stdio, or at a port.

Some of its tools misbehave as servers do: slow, huge, dead, failing.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from typing import Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

BOOKS = {"b-1": "Moby Dick", "b-2": "Emma", "b-3": "Walden"}

library = MCPServer("library", log_level="CRITICAL")


@library.tool()
def find_book(words: str, limit: int = 3) -> dict[str, Any]:
    """Find books by words of their titles."""
    found = [key for key, title in BOOKS.items() if words.lower() in title.lower()]
    return {"books": found[:limit], "asked": words, "mark": "library-4711"}


@library.tool()
def opening_hours() -> str:
    """Say when the library is open."""
    return "From ten to six."


@library.tool("library.renew")
def renew(book_id: str, context: str = "") -> str:
    """Keep a book for longer."""
    return f"{book_id} is yours until May; {context or 'nothing else is known'}."


@library.tool()
def borrow(book_id: str) -> str:
    """Lend a book."""
    raise ToolError(f"{book_id} is lent out until Friday")


@library.tool()
async def slow(seconds: float) -> str:
    """Take one's time."""
    await asyncio.sleep(seconds)
    return "At last."


@library.tool()
def huge(size: int) -> str:
    """Give back a lot."""
    return "x" * size


@library.tool()
def heap(size: int) -> dict[str, Any]:
    """Give back a lot, as data."""
    return {"pile": "x" * size}


@library.tool()
def die() -> str:
    """End the server."""
    os._exit(3)


@library.tool()
def surroundings() -> dict[str, Any]:
    """Tell what the server knows of its environment, and its process."""
    return {"names": sorted(os.environ), "pid": os.getpid()}


@library.resource("library://rules", mime_type="text/markdown")
def rules() -> str:
    """The rules of the house."""
    return "# Rules\nNo shouting."


@library.resource("library://stamp", mime_type="image/png")
def stamp() -> bytes:
    """The stamp of the library."""
    return b"\x89PNG"


@library.resource("library://books/{book_id}")
def book(book_id: str) -> str:
    """A book."""
    return BOOKS[book_id]


def main() -> None:
    if sys.argv[1:2] == ["--http"]:
        listener = socket.create_server(("127.0.0.1", int(sys.argv[2])))
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)  # noqa: T201
        config = uvicorn.Config(library.streamable_http_app(), log_level="error")
        asyncio.run(uvicorn.Server(config).serve([listener]))
    else:
        library.run("stdio")


if __name__ == "__main__":
    main()
