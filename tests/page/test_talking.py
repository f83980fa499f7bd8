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
def test_six_turns_with_a_detour_end_with_a_confirmed_appointment(
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
    assert "Is that right?" in says(page, DEMO_MESSAGES[4])
    assert "Your appointment is confirmed" in says(page, DEMO_MESSAGES[5])

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


MARKDOWN = """# Your order

It is **ready**, *almost*; see `P-1`, 3*4*5 and ~~this~~.

1. one
2. two
   - [x] inner

| place | time |
|-------|------|
| Basel | 9:00 |

> quoted

    code  with   blanks

[the shop](https://shop.example/a?b=1) or https://www.example.org/x, mail ann@example.org
"""


@pytest.mark.slow
def test_a_reply_is_shown_as_markdown(serve: Serve, visits: Visits, tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(ECHO)
    _, place = serve("echo.py")
    page = visits.open(place, viewport={"width": 360, "height": 700})
    starts(page)

    says(page, MARKDOWN)

    assert page.locator(".message.user .words").text_content() == MARKDOWN
    reply = page.locator(".message.assistant .words")
    expect(reply.locator("h1, h2")).to_have_count(0)
    expect(reply.locator("strong")).to_have_text(["Your order", "ready"])
    expect(reply.locator("em")).to_have_text("almost")
    expect(reply.locator("p").nth(1)).to_have_text("It is ready, almost; see P-1, 3*4*5 and this.")
    expect(reply.locator("ol > li")).to_have_count(2)
    expect(reply.locator("td")).to_have_text(["Basel", "9:00"])
    assert reply.locator("pre").text_content() == "code  with   blanks"
    links = reply.locator("a")
    assert [link.get_attribute("href") for link in links.all()] == [
        "https://shop.example/a?b=1",
        "https://www.example.org/x",
        "mailto:ann@example.org",
    ]
    assert {link.get_attribute("target") for link in links.all()} == {"_blank"}
    assert {link.get_attribute("rel") for link in links.all()} == {"noopener noreferrer"}
    assert page.locator("main").evaluate("one => one.scrollWidth > one.clientWidth") is False


HOSTILE_REPLIES = (
    "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](java\tscript:alert(1))",
    "[d](data:text/html;base64,PHNjcmlwdD4=) [e](vbscript:x) [f](//evil.example/x) [g](#/s/other)",
    "[h](&#106;avascript:alert(1)) [i](javascript&colon;alert(1)) [j]( javascript:alert(1))",
    "<javascript:alert(1)> <img src=x onerror=document.title='owned'> <a href=javascript:x>k</a>",
    "![pixel](https://evil.example/p.png?secret) ![x][ref]\n\n[ref]: https://evil.example/q.png",
    "<svg onload=document.title='owned'></svg>\n\n<style>* { display: none }</style>",
    "<iframe srcdoc='<script>parent.document.title=1</script>'></iframe>",
    "<div onmouseover=\"document.title='owned'\" style='position:fixed;inset:0'>over all</div>",
    '[x](https://a.example "onclick=alert(1)" onmouseover=alert(1))',
    "[l](https://a.example/' onclick='document.title=1)",
    "```html onload=x\n<script>document.title='owned'</script>\n```",
    "| <script>document.title='owned'</script> |\n|---|\n| <img src=//evil.example/r.png> |",
    "__proto__ constructor [y][__proto__] [__proto__]: javascript:alert(1)",
    "> " * 3000 + "deep",
    "[" * 500 + "a" + "](javascript:alert(1))" * 500,
    "*a _b " * 1500,
)
_UNSAFE = """() => [...document.querySelectorAll(".words *")].filter((one) =>
  !["P", "A", "OL", "UL", "LI", "EM", "STRONG", "DEL", "CODE", "PRE", "BR", "HR", "BLOCKQUOTE",
    "DIV", "TABLE", "THEAD", "TBODY", "TR", "TH", "TD", "SPAN", "I"].includes(one.tagName)
  || one.getAttributeNames().some((name) => name.startsWith("on") || name === "style")
  || (one.href && !/^(https?|mailto|tel):/.test(one.href))).map((one) => one.outerHTML)"""


@pytest.mark.slow
def test_no_reply_runs_anything_or_asks_another_server(
    serve: Serve, visits: Visits, tmp_path: Path
) -> None:
    """A request to another server, or a breach of the policy, fails the test."""
    endless = ECHO.replace("__agents__", '__complete_when__ = ["never"]\n        __agents__', 1)
    (tmp_path / "echo.py").write_text(endless)
    _, place = serve("echo.py")
    page = visits.open(place)
    starts(page)

    for hostile in HOSTILE_REPLIES:
        says(page, hostile)
        expect(page.locator(".message.assistant .words").last).not_to_have_text("")
        assert page.evaluate(_UNSAFE) == []
        assert page.title() == "Echo \u00b7 JourneyGraph"

    expect(page.locator(".message.assistant")).to_have_count(len(HOSTILE_REPLIES))
    expect(page.locator("main a[href^='https://evil.example/p.png']")).to_have_text("pixel")


@pytest.mark.slow
def test_a_click_on_a_message_opens_its_reasons(serve: Serve, visits: Visits) -> None:
    _, place = serve("table_booking")
    page = visits.open(place, viewport={"width": 360, "height": 700})
    starts(page, name="ann")
    says(page, "a table for four on 24 December 2030")
    says(page, "is there a menu?")

    page.locator(".message.user .words").first.click()
    expect(page.get_by_label("Turn", exact=True).locator("option:checked")).to_have_text(
        re.compile("^1 \u00b7 a table for four")
    )
    assert page.url.endswith("#/s/ann/why/1")
    page.get_by_role("button", name="Next").click()
    expect(page.locator(".because")).to_contain_text("menu")
    page.go_back()
    expect(page.locator(".why .quote").first).to_contain_text("a table for four")
    page.get_by_role("link", name="Talk").click()
    page.get_by_role("link", name="Why?").last.press("Enter")
    expect(page.locator(".because")).to_contain_text("menu")
    page.evaluate("location.hash = '#/s/ann/why/77'")
    expect(page.get_by_text("The session has no turn 77.")).to_be_visible()


@pytest.mark.slow
def test_an_empty_chat_shows_sentences_to_begin_with(serve: Serve, visits: Visits) -> None:
    _, place = serve("table_booking")
    page = visits.open(place)
    starts(page)
    examples = page.get_by_role("list", name="Examples").get_by_role("button")
    expect(examples).to_have_count(3)

    examples.filter(has_text="guests").click()
    message = page.get_by_label("Message", exact=True)
    expect(message).to_be_focused()
    expect(message).to_have_value("Number of guests: 4")
    message.press("Enter")

    expect(page.locator(".picture .fields").first).to_contain_text("number of guests: 4")
    expect(examples).to_have_count(0)
    expect(page.locator("#hint")).to_have_text(re.compile("^from .*, for example"))
    expect(message).to_have_attribute("placeholder", "Write a message")
    expect(message).to_have_accessible_description(re.compile("^from .*, for example"))


@pytest.mark.slow
def test_the_buttons_answer_the_question_that_is_asked(serve: Serve, visits: Visits) -> None:
    _, place = serve("healthcare_referral")
    page = visits.open(place)
    starts(page)  # with the sample values of the journey
    answers = page.locator(".options:not(.examples)").get_by_role("button")

    assert "Shall I show you the available doctors?" in says(page, "a heart specialist, please")
    expect(answers).to_have_text(["Yes", "No"])
    expect(page.locator("#hint")).to_have_count(0)
    answers.first.click()
    ended(page)

    expect(page.locator(".message.assistant ol > li")).to_have_count(3)
    expect(answers.first).to_have_text("Dr. Alan Smith")
    assert says(page, "xyzzy").count("Dr. Mei Chen") == 1


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
