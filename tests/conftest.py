"""Fixtures of all tests: a separate store, and conversations that close themselves."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import gc
import importlib
import os
import ssl
import sys
import uuid
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextvars import ContextVar
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from journeygraph import Journey
from journeygraph.journeys.locale import LANGUAGES
from journeygraph.nodes import breaker
from journeygraph.nodes.agents import model_agent as model_agent
from journeygraph.nodes.language import proposals
from tests.support import forked, postgres, properties, redis
from tests.support.clocks import CalmLoop, Clock
from tests.support.measured import Measured
from tests.support.parallel import Parallel
from tests.support.proxy import Proxy
from tests.support.solo import Solo
from tests.support.talk import Talk

# Processes that tests start would compile all they import anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# A width of the developer's terminal would wrap piped output.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)


LONG_SECONDS = 600
"""Seconds after which a long test, or one of many examples, counts as hanging."""

properties.register()

# The certificates of the world take 30 ms to load, for each client; no test leaves this machine.
ssl.create_default_context = functools.cache(ssl.create_default_context)  # type: ignore[assignment]


@pytest.fixture(autouse=True)
def _no_model_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep a developer's own key, server and locale out of the tests."""
    own = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "TZ", "LANG", "LC_ALL", "LC_MESSAGES", "LC_TIME")
    for name in own:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _no_breaker_of_another_test() -> None:
    """Forget what failed: breakers are the process's, and sockets are given out again."""
    breaker._breakers.clear()
    model_agent._records.clear()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processes", help="Run the tests in so many processes (auto: by the cores)")
    told = "Take the pictures of the documents anew, in the tests that show them"
    parser.addoption("--pictures", action="store_true", help=told)


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("cov_source", None):
        config.pluginmanager.register(Measured())
    if wanted := config.option.processes:
        # Six more than there are cores: many tests wait for a limit, a process or a store.
        count = 6 + (os.cpu_count() or 1) if wanted == "auto" else int(wanted)
        config.pluginmanager.register(Parallel(count, redis.end_shared))


def pytest_asyncio_loop_factories(
    item: pytest.Item,
) -> dict[str, type[asyncio.SelectorEventLoop]]:
    """Run each test in a loop whose limits do not depend on the speed of the machine."""
    if item.get_closest_marker("real_time"):
        return {"asyncio": asyncio.SelectorEventLoop}
    return {"calm": CalmLoop}


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, Any, Any]:
    """Look for garbage rarely, and never among what is imported and collected: all of it stays."""
    if session.config.option.processes and not session.config.option.collectonly:
        forked.share()
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 20, 20)
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the slow and the long tests, and give time to all that try many examples.

    At the end one process would work at, or wait in, a long one alone.
    """
    markers = ("slow", "long")
    items.sort(key=lambda item: not any(map(item.get_closest_marker, markers)))
    for item in items:
        if any(map(item.get_closest_marker, (*markers, "hypothesis"))):
            item.add_marker(pytest.mark.timeout(LONG_SECONDS))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Start what many tests need before the first of them counts its seconds."""
    if session.config.option.collectonly:
        return
    # What keeps one from starting is told by every test that needs it.
    with contextlib.suppress(Exception):
        if any(_needs_postgres(item) for item in session.items):
            postgres.shared()
    if session.config.option.processes:
        importlib.import_module("tests.support.preloaded")
        properties.prepare()
        for language in LANGUAGES:  # half a second each, in every process
            proposals.load(language)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    terminalreporter.write_line(f"Redis of the tests: {redis.described()}")


def _needs_postgres(item: Any) -> bool:
    kinds = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return "postgres" in kinds or "postgres_server" in item.fixturenames


def pytest_unconfigure() -> None:
    postgres.end_shared()
    redis.end_shared()


@pytest.fixture
def postgres_server() -> postgres.Postgres:
    """A Postgres for all tests of the process."""
    return postgres.shared()


@pytest.fixture
def redis_server() -> redis.RedisServer:
    """A Redis or Valkey for all tests of the process; a test keeps to keys of its own."""
    return redis.shared()


@pytest.fixture
async def redis_network(redis_server: redis.RedisServer) -> AsyncIterator[Proxy]:
    """A proxy to that server, with faults on demand; `url` leads through it."""
    async with Proxy.to(redis_server.url) as proxy:
        yield proxy


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store; the test runs once on each kind."""
    if request.param == "memory":
        return f"memory://{uuid.uuid4()}"
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'journeys.db'}"
    server: postgres.Postgres = request.getfixturevalue("postgres_server")
    return server.emptied()


@pytest.fixture(params=["sqlite", "postgres"])
def kept_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty store that outlives its process, and belongs to this test alone."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'journeys.db'}"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def postgres_url(postgres_server: postgres.Postgres) -> Iterator[str]:
    """The URL of a database of the test's own, migrated and empty."""
    url = postgres_server.copy()
    yield url
    postgres_server.drop(url)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of all tasks of the process; a server has tasks that no test starts."""
    made = Clock()
    monkeypatch.setattr("journeygraph.nodes.json_data._clock", ContextVar("clock", default=made))
    return made


@pytest.fixture
def studio_graphs() -> ModuleType:
    """The graphs of Studio; compiling them takes seconds."""
    return importlib.import_module("journeygraph.server.studio")


@pytest.fixture
def memory_url() -> str:
    """The URL of an empty store in memory, for what does not depend on the store."""
    return f"memory://{uuid.uuid4()}"


@pytest.fixture
async def talk() -> AsyncIterator[Callable[..., Any]]:
    """Open conversations: `await talk(JourneyClass, agents, store_url, context=..., **config)`."""
    opened: list[Talk] = []

    async def begin(*args: Any, **kwargs: Any) -> Talk:
        opened.append(await Talk.begin(*args, **kwargs))
        return opened[-1]

    yield begin
    for conversation in opened:
        await conversation.journey.close()


@pytest.fixture
def solo(talk: Callable[..., Any], memory_url: str) -> Callable[..., Any]:
    """Open a conversation with one agent: `await solo(agent)`."""

    async def begin(agent: Any, journey: type[Journey] = Solo, **options: Any) -> Any:
        return await talk(journey, {"clerk": agent}, memory_url, **options)

    return begin
