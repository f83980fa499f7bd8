"""Conversations on the page when something fails, and what keeps them unharmed."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from tests.support.api import KEY
from tests.support.browser import Visits, expect

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.slow
Serve = Callable[..., tuple[Any, str]]

EVIL = '<img src=x onerror="alert(1)"></script><script>alert(2)</script>\u202eabc {{7*7}} <!--'

DESK = '''
import os
import time

from langgraph.types import interrupt

from journeygraph import Journey, Pathway

EVIL = {evil!r}


class Desk(Journey):
    """<b onmouseover="alert(3)">Purpose</b></title><svg onload="alert(4)">"""

    class TalkPath(Pathway):
        __agents__ = ["clerk"]
        __accumulate__ = ["done"]
        __complete_when__ = ["done"]


def clerk(ask):
    if ask["message"] in ("wait", ""):
        return "Got " + repr(interrupt({{"<b>q</b>": EVIL}}))
    while ask["message"] == "slow" and not os.path.exists("go_on"):
        time.sleep(0.01)
    return "Echo: " + ask["message"]


AGENTS = {{"clerk": clerk}}
'''


def desk(serve: Serve, folder: Path, **environment: str) -> str:
    """Serve a journey with hostile words that echoes, and asks after "wait"."""
    (folder / "desk.py").write_text(DESK.format(evil=EVIL))
    return serve("desk.py", **environment)[1]


def begun(page: Page) -> None:
    """Start a session."""
    page.get_by_role("button", name="Start").click()
    expect(field(page)).to_be_visible()


@pytest.fixture
def place(serve: Serve, tmp_path: Path) -> str:
    return desk(serve, tmp_path)


@pytest.fixture
def page(place: str, visits: Visits) -> Page:
    """The page, with a session that has begun."""
    page = visits.open(place)
    begun(page)
    return page


def field(page: Page) -> Any:
    """The field for a message."""
    return page.get_by_label("Message", exact=True)


def sent(page: Page, text: str) -> None:
    """Send a message, and wait for nothing."""
    field(page).fill(text)
    field(page).press("Enter")


def settled(page: Page, *texts: str) -> None:
    """Wait until these are the messages."""
    expect(page.locator(".message .words")).to_have_text(list(texts))
    expect(page.locator("ol.messages")).to_have_attribute("aria-busy", "false")


def stored(place: str) -> list[str]:
    """The messages of the only session, as the server has them."""
    with httpx2.Client(base_url=f"{place}/v1", timeout=110) as client:
        (session,) = client.get("/sessions").json()["sessions"]
        history = client.get(f"/sessions/{session['session_id']}/history").json()
    return [entry["content"] for entry in history["entries"]]


def test_a_reply_that_was_lost_on_its_way_is_found(page: Page, place: str, visits: Visits) -> None:
    visits.expect_error("ERR_FAILED")

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/messages", lose)
    sent(page, "one")
    settled(page, "one", "Echo: one")
    page.unroute("**/messages")
    sent(page, "two")

    settled(page, "one", "Echo: one", "two", "Echo: two")
    assert stored(place) == ["one", "Echo: one", "two", "Echo: two"]


def test_a_message_that_never_arrived_is_sent_again_under_its_key(
    page: Page, place: str, visits: Visits
) -> None:
    visits.expect_error("ERR_FAILED")
    keys = []

    def lose(route: Route) -> None:
        keys.append(route.request.headers["idempotency-key"])
        route.abort() if len(keys) == 1 else route.continue_()

    page.route("**/messages", lose)
    sent(page, "one")
    failure = page.get_by_role("alert")
    expect(failure).to_contain_text("No reply")
    page.reload()  # which forgets nothing
    expect(failure).to_contain_text("No reply")
    failure.get_by_role("button", name="Try again").click()

    settled(page, "one", "Echo: one")
    expect(failure).to_have_count(0)
    assert len(keys) == 2
    assert keys[0] == keys[1] != ""
    assert stored(place) == ["one", "Echo: one"]
    sent(page, "two")
    settled(page, "one", "Echo: one", "two", "Echo: two")
    assert keys[2] != keys[1]


def test_a_message_is_taken_back_while_the_server_does_not_answer(
    page: Page, visits: Visits
) -> None:
    visits.expect_error("ERR_FAILED")
    expect(page.get_by_text("Nothing was said yet")).to_be_visible()

    def lose(route: Route) -> None:
        if route.request.method == "POST":
            route.fetch()  # it arrives, and its reply does not
        route.abort()

    page.route("**/v1/**", lose)
    sent(page, "one")
    expect(page.get_by_text("The server does not answer.")).to_be_visible()
    page.get_by_role("button", name="Take the message back").click()
    expect(field(page)).to_have_value("one")
    expect(page.locator(".message")).to_have_count(0)
    page.unroute("**/v1/**")

    settled(page, "one", "Echo: one")
    sent(page, "two")
    settled(page, "one", "Echo: one", "two", "Echo: two")


def test_a_reply_that_is_read_no_more_appears_when_its_turn_is_done(
    page: Page, place: str, tmp_path: Path
) -> None:
    sent(page, "slow")
    stop = page.get_by_role("button", name="Stop reading")
    stop.click()
    expect(stop).to_have_count(0)
    expect(page.get_by_text("its turn runs on in the server")).to_be_visible()
    page.get_by_role("button", name="Take the message back").click()
    expect(field(page)).to_have_value("slow")
    (tmp_path / "go_on").touch()

    settled(page, "slow", "Echo: slow")
    assert stored(place) == ["slow", "Echo: slow"]


def test_a_message_written_before_a_session_could_be_read_is_kept(
    place: str, visits: Visits
) -> None:
    page = visits.open(place)
    visits.expect_error("ERR_FAILED")
    held: list[Route] = []
    page.route("**/history?*", lambda route: held.append(route))
    begun(page)
    sent(page, "one")
    expect(field(page)).to_have_value("")
    held[0].abort()
    failure = page.get_by_role("alert")
    expect(failure).to_contain_text("No connection")
    page.unroute("**/history?*")
    failure.get_by_role("button", name="Try again").click()

    expect(field(page)).to_have_value("one")


def test_what_other_clients_do_in_a_session_is_shown_and_so_is_its_end(
    page: Page, place: str, visits: Visits
) -> None:
    visits.expect_error("404")
    smiles = "\N{GRINNING FACE}" * 60
    with httpx2.Client(base_url=f"{place}/v1", timeout=110) as client:
        (session,) = client.get("/sessions").json()["sessions"]
        mine = f"/sessions/{session['session_id']}"
        client.post(f"{mine}/messages", json={"message": smiles}).raise_for_status()
        settled(page, smiles, f"Echo: {smiles}")
        page.get_by_role("link", name="Why", exact=True).click()
        title = page.get_by_label("Turn", exact=True).locator("option").last
        assert title.text_content() == f"1 \u00b7 {smiles[:29]}\u2026"  # no half of a character
        client.delete(mine).raise_for_status()

    failure = page.get_by_role("alert")
    expect(failure).to_contain_text("There is no session with this id")
    expect(page.locator(".message .words").first).to_have_text(smiles)
    failure.get_by_role("link", name="Start another session").click()
    expect(page.get_by_role("button", name="Start")).to_be_visible()


def test_a_message_that_is_refused_can_be_taken_back_and_mended(page: Page, visits: Visits) -> None:
    visits.expect_error("422")

    sent(page, "bell \u0007")
    failure = page.get_by_role("alert")
    expect(failure).to_contain_text("control character U+0007 at position 5")
    failure.get_by_role("button", name="Take the message back").click()
    expect(field(page)).to_have_value("bell \u0007")
    expect(field(page)).to_be_focused()
    sent(page, "bell")

    settled(page, "bell", "Echo: bell")


def test_an_answer_of_a_proxy_is_named_and_the_message_is_kept(
    page: Page, place: str, visits: Visits
) -> None:
    visits.expect_error("502")
    page_of_login = {"status": 200, "content_type": "text/html", "body": "<b>Log in</b>"}
    gone = {"status": 502, "content_type": "text/html", "body": "<b>Bad Gateway</b>"}
    failure = page.get_by_role("alert")

    page.route("**/messages", lambda route: route.fulfill(**page_of_login))
    sent(page, "one")
    expect(failure).to_contain_text("Not an answer of this server")
    page.unroute("**/messages")
    page.route("**/messages", lambda route: route.fulfill(**gone))
    failure.get_by_role("button", name="Try again").click()
    expect(failure).to_contain_text("Bad Gateway")
    page.unroute("**/messages")
    failure.get_by_role("button", name="Try again").click()

    settled(page, "one", "Echo: one")
    assert stored(place) == ["one", "Echo: one"]


def test_a_message_beyond_the_limit_gets_its_answer_and_is_marked(page: Page, place: str) -> None:
    sent(page, "one")
    settled(page, "one", "Echo: one")
    sent(page, "y" * 17_000)
    expect(page.locator(".message")).to_have_count(4)
    expect(page.locator(".who").last).to_contain_text("not stored")
    sent(page, "two")

    expect(page.locator(".message .words").last).to_have_text("Echo: two")
    assert stored(place) == ["one", "Echo: one", "two", "Echo: two"]


def test_messages_in_quick_succession_keep_their_order(page: Page) -> None:
    wanted: list[str] = []
    for number in range(12):
        sent(page, f"m{number}")
        wanted += [f"m{number}", f"Echo: m{number}"]
        settled(page, *wanted)
    page.reload()

    settled(page, *wanted)


def test_enter_among_composed_letters_and_with_shift_sends_nothing(page: Page, place: str) -> None:
    field(page).fill("にほん")
    composing = {"key": "Enter", "isComposing": True, "bubbles": True, "cancelable": True}
    field(page).dispatch_event("keydown", composing)
    field(page).press("Shift+Enter")
    field(page).press_sequentially("two")
    expect(field(page)).to_have_value("にほん\ntwo")
    expect(page.locator(".message")).to_have_count(0)
    field(page).press("Enter")

    settled(page, "にほん\ntwo", "Echo: にほん\ntwo")
    assert stored(place)[0] == "にほん\ntwo"


def test_a_waiting_agent_is_answered_with_json_after_a_reload(page: Page) -> None:
    sent(page, "wait")
    question = page.locator(".waiting")
    expect(question).to_contain_text(EVIL.replace('"', '\\"'))
    page.reload()
    answer = question.get_by_label("Answer as JSON")
    answer.fill("{card")
    answer.press("Enter")
    expect(question.get_by_role("alert")).to_contain_text("not JSON")
    answer.fill('{"card": 7}')
    answer.press("Enter")

    expect(question).to_have_count(0)
    expect(page.locator(".message .words").last).to_have_text("Got {'card': 7}")
    sent(page, "wait")
    question.get_by_role("button", name="Yes").click()
    expect(page.locator(".message .words").last).to_have_text("Got True")


def test_names_purposes_and_errors_become_text(place: str, visits: Visits) -> None:
    page = visits.open(place)
    visits.expect_error("404")

    expect(page.locator(".pick")).to_contain_text('<svg onload="alert(4)">')
    page.evaluate("location.hash = '#/s/' + encodeURIComponent('<img src=x onerror=alert(5)>')")
    expect(page.get_by_role("alert")).to_contain_text("There is no session with this id")
    expect(page.locator(".tab")).to_contain_text("<img src")

    assert page.locator("#app").locator("img, script, svg, b").count() == 0


def test_a_key_that_is_no_longer_valid_loses_no_message(
    serve: Serve, visits: Visits, tmp_path: Path
) -> None:
    keys = {"JOURNEYGRAPH_API_KEYS": KEY, "JOURNEYGRAPH_PAGE": "true"}
    page = visits.open(desk(serve, tmp_path, **keys))
    visits.expect_error("401")
    wanted = page.get_by_label("Key", exact=True)

    wanted.fill("not-the-key-0123456789")
    wanted.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("does not accept this key")
    assert page.evaluate("sessionStorage.getItem('journeygraph.key')") is None
    wanted.fill(KEY)
    wanted.press("Enter")
    begun(page)
    expect(page.get_by_text("Nothing was said yet")).to_be_visible()
    page.evaluate("sessionStorage.setItem('journeygraph.key', 'an-old-key-0123456789')")
    sent(page, "one")
    wanted.fill(KEY)
    wanted.press("Enter")

    settled(page, "one", "Echo: one")
    assert page.evaluate("localStorage.length") == 0
    assert KEY not in page.evaluate("document.cookie + location.href")


def test_the_description_of_the_api_is_used_without_a_network(place: str, visits: Visits) -> None:
    page = visits.open(place)

    page.goto(f"{place}/docs")  # requests elsewhere and breaches of the policy are errors
    listed = page.locator("#operations-journeys-listed_v1_journeys_get")
    listed.click()
    listed.get_by_role("button", name="Try it out").click()
    listed.get_by_role("button", name="Execute").click()

    expect(listed.locator(".live-responses-table")).to_contain_text('"journey_id": "desk"')


@pytest.mark.slow
def test_errors_of_forms_are_sentences_for_people(serve: Serve, visits: Visits) -> None:
    _, place = serve("table_booking")
    visits.expect_error("status of 4")
    page = visits.open(place)
    page.get_by_text("Session id and context").click()
    told = []
    for id_, context in (("a b/c!", "{}"), ("_x", ""), ("ann", "[1]"), ("ann", "{oops")):
        page.get_by_label("Session id", exact=True).fill(id_)
        page.get_by_label("First values of the context").fill(context)
        with page.expect_response("**/v1/sessions") if id_ != "ann" else nullcontext():
            page.get_by_role("button", name="Start", exact=True).click()
        expect(page.get_by_role("alert")).to_be_visible()
        told.append(page.get_by_role("alert").inner_text())
    page.evaluate("location.hash = '#/s/nobody'")
    expect(page.get_by_text("There is no session with this id")).to_be_visible()
    told.append(page.get_by_role("alert").inner_text())
    page.evaluate("location.hash = '#/inbox/123'")
    expect(page.get_by_text("There is no call with this id")).to_be_visible()
    told.append(page.get_by_role("alert").inner_text())

    assert "Session id: use 1 to 200 letters" in told[0]
    assert "The context is not an object" in told[2]
    assert "The context is not JSON" in told[3]
    for text in told:
        assert not re.search(
            r"Unprocessable|Not Found|\bbody\b|\^|\[A-Z|GET |POST |faults", text
        ), text
