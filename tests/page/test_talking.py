"""Conversations on the page, held in a real browser with a real server."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from anyio.from_thread import start_blocking_portal

from journeygraph.journeys.examples.healthcare_referral import DEMO_MESSAGES, SAMPLE_CONTEXT
from tests.support.api import KEY
from tests.support.browser import Visits, expect
from tests.support.forked import ROOT
from tests.support.proxy import Proxy

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

Serve = Callable[..., tuple[Any, str]]

GATED = '''
import asyncio
import os
import time
from journeygraph import Journey, Pathway


class Slow(Journey):
    """Take one's time."""

    class TalkPath(Pathway):
        __agents__ = ["clerk"]


async def clerk(ask):
    open("sent", "w").write(str(time.time()))
    yield "Let me see. "
    while not os.path.exists("go_on"):
        await asyncio.sleep(0.01)
    yield "Yes."


AGENTS = {"clerk": clerk}
'''

ECHO = '''
from journeygraph import Journey, Pathway


class Echo(Journey):
    """Repeat."""

    class TalkPath(Pathway):
        __agents__ = ["clerk"]


AGENTS = {"clerk": lambda ask: ask["message"]}
'''

HOSTILE = """<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>
[a](javascript:alert(1)) ${1+1} </p></li> &lt;b&gt; \u202eevil"""


SEEN_AT = """() => {
  window.seen = new Promise((resolve) => new MutationObserver(() => {
    const words = document.querySelector(".message.assistant .words")?.textContent || "";
    const drawn = () => requestAnimationFrame(() => resolve(Date.now()));
    if (words.includes("Let")) requestAnimationFrame(drawn);
  }).observe(document.body, { subtree: true, childList: true, characterData: true }));
}"""
"""Note when the first words of the reply have been drawn."""


def starts(page: Page, context: dict[str, Any] | None = None, name: str = "") -> None:
    """Fill in the form that starts a session, and wait for the conversation."""
    if context or name:
        page.get_by_text("Session id and context").click()
        page.get_by_label("Session id", exact=True).fill(name)
        page.get_by_label("First values of the context").fill(json.dumps(context or {}))
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_label("Message", exact=True)).to_be_visible()


def says(page: Page, text: str) -> str:
    """Send a message, wait for the end of the turn, and return the reply."""
    own = page.locator(".message.user")
    before = own.count()
    page.get_by_label("Message", exact=True).fill(text)
    page.get_by_role("button", name="Send").click()
    expect(own).to_have_count(before + 1)
    ended(page)
    return page.locator(".message.assistant .words").last.inner_text()


def ended(page: Page) -> None:
    """Wait until no turn runs."""
    expect(page.locator(".typing")).to_have_count(0)


@pytest.mark.slow
def test_five_turns_with_a_detour_end_with_a_confirmed_appointment(
    serve: Serve, visits: Visits
) -> None:
    """The picture follows them."""
    _, place = serve("healthcare_referral")
    page = visits.open(place)
    here = page.locator("[data-pathway].is-here")
    paused = page.locator("[data-pathway].is-paused")
    starts(page, SAMPLE_CONTEXT, "ann")
    assert page.url.endswith("#/s/ann")
    expect(here).to_have_attribute("data-pathway", "intake")

    says(page, DEMO_MESSAGES[0])
    expect(here).to_have_attribute("data-pathway", "booking")
    assert "copay" in says(page, DEMO_MESSAGES[1])
    expect(here).to_have_attribute("data-pathway", "faq")
    expect(paused).to_have_attribute("data-pathway", "booking")
    says(page, DEMO_MESSAGES[2])
    assert "Johnson" in says(page, DEMO_MESSAGES[3])
    assert "Your appointment is confirmed" in says(page, DEMO_MESSAGES[4])

    expect(here).to_have_attribute("data-pathway", "confirmation")
    expect(paused).to_have_count(0)
    expect(page.locator("[data-effect].is-taken")).to_have_count(1)


def take(page: Page, file: Path) -> None:
    """Write what is seen of the page to a file, without times of day."""
    page.evaluate("document.querySelectorAll('time').forEach((one) => { one.hidden = true })")
    page.get_by_label("Message", exact=True).blur()
    page.screenshot(path=file)


@pytest.mark.slow
def test_a_correction_is_seen_beside_the_conversation(
    serve: Serve, visits: Visits, request: pytest.FixtureRequest
) -> None:
    _, place = serve("table_booking")
    page = visits.open(place)
    starts(page, name="ann")
    facts = page.locator(".picture .fields").first

    says(page, "a table for four on 24 December 2030")
    expect(facts).to_contain_text("number of guests: 4")
    reply = says(page, "sorry, five people")

    assert "5" in reply
    expect(facts).to_contain_text("number of guests: 5")
    assert "Trout" in says(page, "Is there a menu?")
    expect(page.locator("[data-pathway].is-paused")).to_have_count(1)
    if request.config.option.pictures:
        take(page, ROOT / "docs" / "pictures" / "page.png")
    page.get_by_role("link", name="Versions").click()
    expect(page.locator(".versions")).to_contain_text("party_size")


@pytest.mark.slow
def test_a_reply_is_on_the_screen_while_it_is_made(
    serve: Serve, visits: Visits, tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(GATED)
    _, place = serve("slow.py")
    page = visits.open(place)
    starts(page)

    page.evaluate(SEEN_AT)
    page.get_by_label("Message", exact=True).fill("hm")
    page.keyboard.press("Enter")
    reply = page.locator(".message.assistant .words")
    expect(reply).to_have_text(re.compile("^Let me see. ?$"))
    expect(page.locator(".message.user .words")).to_have_text("hm")
    sent_at = float((tmp_path / "sent").read_text())
    after = page.evaluate("seen") - sent_at * 1000
    sys.stdout.write(f"First words on the screen after {after:.0f} ms\n")
    (tmp_path / "go_on").touch()

    expect(reply).to_have_text("Let me see. Yes.")


@pytest.mark.slow
def test_a_reply_continues_after_the_connection_was_lost(
    serve: Serve, visits: Visits, tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text(GATED)
    _, place = serve("slow.py")
    visits.expect_error("net::ERR_")
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Proxy.to(place)) as network,
    ):
        page = visits.open(f"http://127.0.0.1:{network.port}")
        starts(page)
        asked: list[str] = []
        page.on("request", lambda one: asked.append(f"{one.method} {one.url}"))

        page.get_by_label("Message", exact=True).fill("hm")
        page.keyboard.press("Enter")
        reply = page.locator(".message.assistant .words")
        expect(reply).to_have_text(re.compile("^Let me see. ?$"))
        portal.call(network.cut)
        expect(page.get_by_text("The reply is not here yet.")).to_be_visible()
        (tmp_path / "go_on").touch()

        expect(reply).to_have_text("Let me see. Yes.")
        ended(page)
    assert len([one for one in asked if one.endswith("/turns/1/events")]) == 1
    assert len([one for one in asked if one.startswith("POST ")]) == 1


def test_words_of_both_sides_become_text_and_nothing_else(
    serve: Serve, visits: Visits, tmp_path: Path
) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    _, place = serve("echo.py")
    page = visits.open(place)
    starts(page)

    says(page, HOSTILE)

    words = page.locator(".message .words").all_text_contents()
    assert words == [HOSTILE, HOSTILE]
    assert page.title() != "owned"
    assert page.locator("main img, main script").count() == 0
    assert page.locator("main a[href^='javascript']").count() == 0


@pytest.mark.slow
def test_a_conversation_goes_on_after_a_reload_and_a_restart(serve: Serve, visits: Visits) -> None:
    process, place = serve("healthcare_referral")
    page = visits.open(place)
    starts(page)  # with the sample values of the journey
    says(page, DEMO_MESSAGES[0])
    words = page.locator(".message .words")
    before = words.all_text_contents()

    page.reload()
    expect(words).to_have_text(before)

    process.kill()
    process.communicate()
    visits.expect_error("ERR_CONNECTION")
    page.get_by_label("Message", exact=True).fill(DEMO_MESSAGES[1])
    page.get_by_role("button", name="Send").click()
    talk = page.get_by_role("region", name="Conversation", exact=True)
    expect(talk.get_by_text("does not answer")).to_be_visible()
    serve("healthcare_referral", "--port", place.rpartition(":")[2])
    talk.get_by_role("button", name="Try again").click()

    expect(page.locator(".message.assistant .words").last).to_contain_text("copay")
    expect(words).to_have_count(len(before) + 2)
    expect(talk.get_by_role("alert")).to_have_count(0)


@pytest.mark.slow
def test_two_tabs_hold_two_sessions(serve: Serve, visits: Visits, tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    _, place = serve("echo.py")
    first = visits.open(place)
    starts(first, name="one")
    second = visits.tab(first.context, place)
    starts(second, name="two")

    says(first, "apples")
    says(second, "pears")
    others = [{"id": f"another-{number}", "name": "Echo"} for number in range(20)]
    first.evaluate("tabs => sessionStorage.setItem('journeygraph.tabs', tabs)", json.dumps(others))
    first.reload()
    expect(first.locator(".tab.current")).to_be_in_viewport()
    third = visits.tab(first.context, place, "#/s/one")

    expect(third.locator(".message .words")).to_have_text(["apples", "apples"])
    expect(second.locator(".message .words")).to_have_text(["pears", "pears"])


@pytest.mark.slow
def test_a_conversation_is_held_with_the_keyboard_alone(serve: Serve, visits: Visits) -> None:
    _, place = serve("healthcare_referral")
    page = visits.open(place)
    expect(page.get_by_role("button", name="Start")).to_be_enabled()
    tab_to(page, page.get_by_text("Session id and context"))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_label("First values of the context"))
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    tab_to(page, page.get_by_role("button", name="Start"))
    page.keyboard.press("Enter")
    message = page.get_by_label("Message", exact=True)
    expect(message).to_be_focused()
    page.keyboard.type("a heart specialist, please")
    page.keyboard.press("Enter")

    replies = page.locator(".message.assistant .words")
    expect(replies.last).to_contain_text("insurance number")
    page.keyboard.type("INS-123456")
    page.keyboard.press("Enter")
    expect(replies.last).to_contain_text("referral from")
    tab_to(page, page.get_by_role("button", name="yes", exact=True), "Shift+Tab")
    page.keyboard.press("Enter")

    expect(message).to_be_focused()
    expect(page.locator(".message.user .words").last).to_have_text("yes")


def tab_to(page: Page, element: Locator, key: str = "Tab") -> None:
    """Press a key until an element has the focus."""
    for _ in range(40):
        page.keyboard.press(key)
        if element.evaluate("one => one === document.activeElement"):
            return
    raise AssertionError(f"{key} does not reach {element}")


@pytest.mark.slow
def test_where_a_key_is_set_the_page_asks_for_it_once(
    serve: Serve, visits: Visits, tmp_path: Path
) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    _, place = serve("echo.py", JOURNEYGRAPH_API_KEYS=KEY, JOURNEYGRAPH_PAGE="true")
    visits.expect_error("401")
    page = visits.open(place)

    page.get_by_label("Key").fill("not the key of this server")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_label("Key")).to_be_visible()
    page.get_by_label("Key").fill(KEY)
    page.get_by_role("button", name="Continue").click()
    starts(page, name="one")
    says(page, "apples")
    page.reload()

    expect(page.locator(".message .words")).to_have_text(["apples", "apples"])
    assert KEY not in page.evaluate("JSON.stringify(localStorage) + document.cookie + location")
