"""A folder with a journey and pipelines to offer over MCP, and the command that offers them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.support.command import ROOT, start

DESK = '''
import asyncio
import os
import sys
from pathlib import Path

from journeygraph import NEVER, Agent, Journey, Pathway, Pipeline


class Desk(Journey):
    """Answer at a desk."""

    class TalkPath(Pathway):
        __agents__ = ["clerk"]
        __accumulate__ = ["said"]
        __complete_when__ = NEVER


async def clerk(ask):
    """Some agents print, to whatever end."""
    print("noise from an agent", flush=True)
    os.system("echo noise from a child")
    if ask["message"] == "fail":
        raise RuntimeError("tulip-secret in " + __file__)
    if ask["message"].startswith("wait"):
        Path("begun").touch()
        await asyncio.sleep(float(ask["message"].split()[1]))
        Path("done").touch()
    said = [*ask["context"].get("said", []), ask["message"]]
    return {"response": f"{len(said)}: {ask['message']}", "said": [ask["message"]]}


AGENTS = {"clerk": clerk}


def scout(given):
    """Look first."""
    return {"seen": f"scout saw {given['message']}", "tone": given.get("tone", "none")}


def writer(given):
    """Write it down."""
    return {"response": f"writer: {given['seen']}, {given['tone']}"}


def broken(given):
    raise LookupError("tulip-secret")


async def sleeper(given):
    Path("asleep").touch()
    try:
        await asyncio.sleep(60)
    finally:
        Path("woken").touch()


report = Pipeline.sequential([scout, writer]).with_name("report", "Write a report.")
half = Pipeline.parallel([scout, broken])
none = Pipeline.sequential([broken])
strict = Pipeline.sequential([broken], error_handling="fail-fast")
sleepy = Pipeline.sequential([sleeper])


class Shout(Pipeline):
    """A way of one's own."""

    name = "shout"

    async def run(self, **inputs):
        return {"response": inputs["message"].upper()}
'''
KEY = "a-key-for-the-tests-0123456789"
OFFERED = ["Desk", "report", "half", "none", "strict", "sleepy", "Shout"]


def written(folder: Path) -> Path:
    """Write the desk into a folder."""
    (folder / "desk.py").write_text(DESK)
    return folder


@contextmanager
def offered(folder: Path, *words: str, **environment: str) -> Iterator[tuple[Any, str]]:
    """Start the command over HTTP; give its process, and its place."""
    env = {"JOURNEYGRAPH_STORE": "sqlite:///mcp.db", "OPENAI_API_KEY": "", **environment}
    process: Any = start(folder, "mcp", "--http", "--port", "0", *words, env=env)
    try:
        line = ""
        while not line.startswith("Listening"):
            line = process.stdout.readline().decode()
            assert line, process.stderr.read().decode()
        yield process, line.split()[2].rstrip(".")
    finally:
        process.kill()
        process.communicate()


def by_streams(folder: Path, *words: str) -> StdioServerParameters:
    """How the SDK's client starts the command."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "journeygraph.server.cli", "mcp", *words],
        env={"PYTHONPATH": str(ROOT), "JOURNEYGRAPH_STORE": "sqlite:///mcp.db"},
        cwd=folder,
    )


def raw(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    """Start the command with its streams in our hands."""
    return start(folder, "mcp", *words, env={"JOURNEYGRAPH_STORE": "sqlite:///mcp.db"})


@asynccontextmanager
async def with_key(url: str, key: str, **headers: str) -> AsyncIterator[Client]:
    """The SDK's client, with a key."""
    given = {"Authorization": f"Bearer {key}", **headers}
    async with (
        httpx2.AsyncClient(headers=given) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


def server_processes(of: int) -> list[int]:
    """The processes that a process has started to be served by their streams."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except (OSError, ValueError, IndexError):
            continue
        if parent == of and b"journeygraph.server.cli" in words and b"--http" not in words:
            found.append(int(entry.name))
    return found
