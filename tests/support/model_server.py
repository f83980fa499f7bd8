"""A scripted model behind a socket, which the environment names as users name theirs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from journeygraph.nodes.llm.scripted import Script
from journeygraph.server.scripted import ScriptedServer

KEY = "sk-canary-4711"


def name(monkeypatch: pytest.MonkeyPatch, server: ScriptedServer, key: str = KEY) -> None:
    """Let the environment name this server and key."""
    monkeypatch.setenv("OPENAI_API_KEY", key)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)


def name_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the environment name no model."""
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    """The server; its script may be left unfinished."""
    with ScriptedServer() as server:
        name(monkeypatch, server)
        yield server
        server.script = Script()
