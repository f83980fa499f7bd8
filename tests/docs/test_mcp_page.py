"""Run the examples of the page on MCP."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import sys
import types

import pytest

from journeygraph.server.discover.pipelines import targets_of
from tests.support import command
from tests.support.command import ROOT
from tests.support.mcp_desk import written

folder = command.folder
logging_as_before = command.logging_as_before

PAGE = (ROOT / "docs" / "how-to" / "mcp.md").read_text()


def blocks(language: str) -> str:
    return "\n".join(re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.M | re.S))


@pytest.mark.slow
async def test_the_python_of_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    ours = [
        sys.executable,
        "-m",
        "journeygraph.server.cli",
    ]  # the command, whether or not it is on the path
    code = blocks("python").replace('["journeygraph", ', f"[*{ours!r}, ")
    assert code.count("open_mcp(SERVER") == 3
    module = types.ModuleType("mcp_page")
    monkeypatch.setitem(sys.modules, module.__name__, module)

    # In a thread: the page runs an event loop of its own.
    await asyncio.to_thread(exec, compile(code, "mcp.md", "exec"), module.__dict__)


def test_the_commands_of_the_page_name_what_there_is(folder: object) -> None:
    written(folder)  # type: ignore[arg-type]
    (server,) = json.loads(blocks("json"))["mcpServers"].values()
    lines = [shlex.split(line, comments=True) for line in blocks("sh").splitlines()]
    commands = [words for words in lines if words[:2] == ["journeygraph", "mcp"]]

    assert (server["command"], server["args"][0]) == ("journeygraph", "mcp")
    assert len(commands) == 3
    targets = [word for words in commands for word in words[2:] if word[0] not in "-8"]
    journeys, pipelines = targets_of([*targets, *server["args"][1:]])
    assert journeys == ["parcel_refund", "healthcare_referral"]
    assert list(pipelines) == ["report"]
