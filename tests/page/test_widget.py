"""The chat in a page of another server, with tokens of its user."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from tests.support.api import KEY
from tests.support.browser import Visits, expect
from tests.support.pages import DOCS, blocks

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.slow
Serve = Callable[..., tuple[Any, str]]
AUTHORIZED = {"Authorization": f"Bearer {KEY}"}


@pytest.fixture
def chat(serve: Serve) -> str:
    """JourneyGraph, for pages of any origin."""
    keys = {"JOURNEYGRAPH_API_KEYS": KEY, "JOURNEYGRAPH_CORS_ORIGINS": "*"}
    return serve("parcel_refund", **keys)[1]


@pytest.fixture
def shop(chat: str, tmp_path: Path, visits: Visits) -> Iterator[str]:
    """The server of the guide, with its page."""
    visits.expect_error(f"a request to another server: {chat}/")
    for block in blocks(DOCS / "how-to" / "widget.md"):
        if "title" in block.options:
            (tmp_path / block.options["title"]).write_text(block.text)
    environment = {**os.environ, "CHAT": chat, "KEY": KEY, "PORT": "0"}
    with subprocess.Popen(
        [sys.executable, "-S", "shop.py"],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.kill()


def say(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.get_by_label("Message", exact=True).press("Enter")


def sessions(chat: str) -> list[dict[str, Any]]:
    found = httpx2.get(f"{chat}/v1/sessions", headers=AUTHORIZED).json()["sessions"]
    assert isinstance(found, list)
    return found


def test_one_script_tag_puts_the_chat_into_a_page(shop: str, chat: str, visits: Visits) -> None:
    page = visits.open(shop)
    say(page, "My parcel never came")
    expect(page.locator(".message.assistant").last).to_contain_text("order number")
    say(page, "It is P-1042")
    expect(page.locator(".message.assistant time")).to_have_count(2)

    [session] = sessions(chat)
    assert (session["journey_id"], session["version"]) == ("parcel_refund", 2)
    accent = page.locator("button.main").evaluate("one => getComputedStyle(one).backgroundColor")
    assert accent == "rgb(122, 31, 162)"
    page.reload()
    expect(page.locator(".message")).to_have_count(4)
    other = page.context.new_page()  # another tab has a conversation of its own
    other.goto(f"{shop}/")
    expect(other.get_by_text("Nothing was said yet")).to_be_visible()
    assert len(sessions(chat)) == 2


def test_a_token_that_is_over_is_renewed(shop: str, chat: str, visits: Visits) -> None:
    visits.expect_error("status of 401")
    given: list[str] = []

    def token(route: Route) -> None:
        made = httpx2.post(f"{chat}/v1/tokens", json={"user": "ann"}, headers=AUTHORIZED).json()
        given.append("jg_" + "0" * 12 + "_" + "x" * 43 if not given else made["token"])
        route.fulfill(body=given[-1])

    page = visits.open(shop, "chat-token")
    page.route("**/chat-token", token)
    page.goto(f"{shop}/")
    say(page, "My parcel never came")

    expect(page.locator(".message.assistant").last).to_contain_text("order number")
    assert len(given) == 2


def test_a_page_that_has_no_token_for_a_moment_goes_on(
    shop: str, chat: str, visits: Visits
) -> None:
    visits.expect_error("ERR_FAILED")
    asked: list[str] = []

    def token(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) == 1:
            route.abort()
        else:
            made = httpx2.post(f"{chat}/v1/tokens", json={"user": "ann"}, headers=AUTHORIZED)
            route.fulfill(body=made.json()["token"])

    page = visits.open(shop, "chat-token")
    page.route("**/chat-token", token)
    page.goto(f"{shop}/")
    expect(page.get_by_text("The server does not answer")).to_be_visible()
    page.get_by_role("button", name="Try again").click()
    say(page, "My parcel never came")

    expect(page.locator(".message.assistant").last).to_contain_text("order number")


def test_a_conversation_that_is_gone_is_followed_by_another(
    shop: str, chat: str, visits: Visits
) -> None:
    visits.expect_error("status of 404")
    page = visits.open(shop)
    say(page, "My parcel never came")
    expect(page.locator(".message.assistant time")).to_have_count(1)
    [session] = sessions(chat)
    httpx2.delete(f"{chat}/v1/sessions/{session['session_id']}", headers=AUTHORIZED)

    page.get_by_role("button", name="Start another conversation").click()

    expect(page.get_by_text("Nothing was said yet")).to_be_visible()
    assert len(sessions(chat)) == 1


def test_the_page_of_the_server_talks_with_a_token(serve: Serve, visits: Visits) -> None:
    visits.expect_error("status of 401")
    visits.expect_error("status of 403")  # of the audit, which is for operators
    place = serve("parcel_refund", JOURNEYGRAPH_API_KEYS=KEY, JOURNEYGRAPH_PAGE="true")[1]
    made = httpx2.post(f"{place}/v1/tokens", json={"user": "ann"}, headers=AUTHORIZED).json()
    page = visits.open(place)
    page.get_by_label("Key").fill(made["token"])
    page.get_by_label("Key").press("Enter")
    page.get_by_role("button", name="Start", exact=True).click()
    say(page, "My parcel never came")

    expect(page.locator(".message.assistant").last).to_contain_text("order number")
    expect(page.locator(".picture svg").first).to_be_visible()
