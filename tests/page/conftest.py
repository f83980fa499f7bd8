"""Fixtures of the tests of the page: a browser, a server, and the pages of a visitor.

While the browser runs, its thread has a running loop, so the tests of this room are not async. It
ends with the last of them in a row.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.browser import Visits, chromium
from tests.support.command import served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_running: list[tuple[ExitStack, Browser]] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, Any, Any]:
    try:
        return (yield)
    finally:
        if _running and (nextitem is None or nextitem.path.parent != Path(__file__).parent):
            _running.pop()[0].close()


@pytest.fixture
def browser() -> Browser:
    """The browser of this process."""
    if not _running:
        stack = ExitStack()
        _running.append((stack, stack.enter_context(chromium())))
    return _running[0][1]


@pytest.fixture
def visits(browser: Browser) -> Iterator[Visits]:
    """The pages of a test; an error in one, or a breach of the policy, fails it."""
    made = Visits(browser)
    yield made
    assert made.close() == []


@pytest.fixture
def serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Serve journeys from a process of its own: `process, place = serve("parcel_refund")`."""
    for name in [name for name in os.environ if name.startswith("JOURNEYGRAPH_")]:
        monkeypatch.delenv(name)
    store = f"sqlite:///{tmp_path / 'journeys.db'}"
    with ExitStack() as running:

        def begin(*words: str, **environment: Any) -> tuple[Any, str]:
            made = served(tmp_path, *words, "--store", store, **environment)
            process, place, _ = running.enter_context(made)
            return process, place

        yield begin
