"""A server as one writes it first: FastAPI, LangGraph's own Postgres saver, `graph.ainvoke`.

It has no idempotency keys, leases, ledger or audit: `python -m tests.benchmarks.bare URL`.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Any

import uvicorn
from fastapi import FastAPI
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool
from pydantic import BaseModel

from tests.benchmarks.by_hand import by_hand
from tests.benchmarks.material import desk


class Begin(BaseModel):
    """The start of a thread."""

    session_id: str
    context: dict[str, Any]


class Message(BaseModel):
    """A message of the user."""

    message: str


def app_of(graph: Any, durability: str) -> FastAPI:
    """Return an app with two routes, at the paths that the clients of the benchmarks ask."""
    app = FastAPI()

    async def said(thread: str, message: str, **more: Any) -> dict[str, str]:
        asked = {"messages": [{"role": "user", "content": message}], **more}
        place = {"configurable": {"thread_id": thread}}
        state = await graph.ainvoke(asked, place, durability=durability)
        return {"message": state["messages"][-1]["content"]}

    @app.post("/v1/sessions")
    async def begin(new: Begin) -> dict[str, str]:
        return await said(new.session_id, "hello", context=new.context)

    @app.post("/v1/sessions/{thread}/messages")
    async def message(thread: str, asked: Message) -> dict[str, str]:
        return await said(thread, asked.message)

    return app


async def main(url: str, durability: str) -> None:
    """Serve at a free port until a signal."""
    kwargs = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
        url, min_size=10, max_size=10, open=False, kwargs=kwargs
    )
    listener = socket.create_server(("127.0.0.1", 0))
    async with pool:
        app = app_of(by_hand(desk, AsyncPostgresSaver(pool)), durability)
        config = uvicorn.Config(app, access_log=False, log_level="warning")
        print(f"Listening at http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
        await uvicorn.Server(config).serve([listener])


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
