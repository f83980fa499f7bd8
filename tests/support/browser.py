"""A headless Chromium for the tests of the page: its start, and visits that tolerate no error."""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.forked import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

TOOLS = ROOT / ".tools"
WAIT_MS = 60_000
"""Milliseconds after which an event that a test waits for counts as missing."""

_SWITCHES = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def _playwright() -> Any:
    # It takes a quarter of a second to import, which most runs of tests do not need.
    return importlib.import_module("playwright.sync_api")


def expect(actual: Any) -> Any:
    """Return what Playwright can expect of an element or a page; it waits for that."""
    return _playwright().expect(actual)


def program() -> tuple[str, dict[str, str]]:
    """Return the path of Chromium, and the environment that it needs; skip without one."""
    if installed := shutil.which("chromium"):
        return installed, {}
    packaged = TOOLS / "browser"
    if not (packaged / "version").exists():
        pytest.skip("There is no browser: install chromium, or npm for `make browser`.")
    needed = {"LD_LIBRARY_PATH": str(packaged / "lib"), "FONTCONFIG_PATH": str(packaged)}
    return str(packaged / "chromium"), needed


def axe() -> str:
    """Return the source of axe; skip without it."""
    source = TOOLS / "axe.js"
    if not source.exists():
        pytest.skip("axe is not there: install npm for `make browser`.")
    return source.read_text("utf-8")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium.

    Until it ends, this thread has a loop that runs, so only tests without one can come meanwhile.
    """
    path, needed = program()
    with _playwright().sync_playwright() as playwright:
        _playwright().expect.set_options(timeout=WAIT_MS)
        started = playwright.chromium.launch(
            executable_path=path,
            chromium_sandbox=False,
            args=_SWITCHES,
            env={**os.environ, **needed},
            timeout=WAIT_MS,
        )
        yield started
        started.close()


class Visits:
    """Pages that a test has open, and the errors in them.

    Attributes:
        errors: Errors in the consoles, breaches of the policy, requests to another server.
    """

    def __init__(self, browser: Browser) -> None:
        self.errors: list[str] = []
        self._browser = browser
        self._expected: list[str] = []
        self._visitors: list[BrowserContext] = []

    def open(self, place: str, hash_: str = "", **options: Any) -> Page:
        """Open the page of a server as a new visitor, who has storage of their own."""
        given = {"viewport": {"width": 1280, "height": 800}, "locale": "en-US", **options}
        visitor = self._browser.new_context(timezone_id="UTC", reduced_motion="reduce", **given)
        visitor.set_default_timeout(WAIT_MS)
        self._visitors.append(visitor)
        return self.tab(visitor, place, hash_)

    def tab(self, visitor: BrowserContext, place: str, hash_: str = "") -> Page:
        """Open another tab of a visitor."""
        page = visitor.new_page()
        page.on("console", lambda message: self._written(message.type, message.text))
        page.on("pageerror", lambda error: self.errors.append(f"uncaught: {error}"))
        page.on("request", lambda request: self._asked(place, request.url))
        page.goto(f"{place}/{hash_}")
        return page

    def expect_error(self, words: str) -> None:
        """Let errors with these words in them pass."""
        self._expected.append(words)

    def close(self) -> list[str]:
        """Close all pages, and return the errors that were not expected."""
        for visitor in self._visitors:
            visitor.close()
        return [error for error in self.errors if not any(one in error for one in self._expected)]

    def _written(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.errors.append(f"{kind}: {text}")

    def _asked(self, place: str, url: str) -> None:
        if not url.startswith((f"{place}/", "blob:", "data:")):
            self.errors.append(f"a request to another server: {url}")
