"""The pages of operators: the inbox with calls for a person and reviews, and the sessions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.page.test_talking import says, starts
from tests.support.browser import Visits, expect

pytestmark = pytest.mark.slow

Serve = Callable[..., tuple[Any, str]]

CHECKED = '''
from journeygraph import Guideline, Journey, Pathway


class Checked(Journey):
    """Promise nothing."""

    __guidelines__ = [
        Guideline(id="no_refund", action="Promise none.", critical=True, forbids=["refund"]),
    ]

    class TalkPath(Pathway):
        __agents__ = ["clerk"]


AGENTS = {"clerk": lambda ask: "You get a <b>refund</b>."}
'''


def test_a_call_is_claimed_answered_and_released(serve: Serve, visits: Visits) -> None:
    _, place = serve("table_booking")
    user = visits.open(place)
    asked: list[str] = []
    user.on("request", lambda one: asked.append(one.url.removeprefix(place)))
    starts(user, name="ann")
    says(user, "a table for four on Saturday at 7 pm")
    says(user, "I want to talk to a person")

    inbox = visits.open(place, "#/inbox")
    inbox.get_by_role("link", name="asked").click()
    call = inbox.get_by_role("region", name="Call", exact=True)
    until = call.get_by_label("Messages until the call")
    expect(until).to_contain_text("a table for four on Saturday at 7 pm")
    expect(until).to_contain_text("I want to talk to a person")
    expect(call).to_contain_text("number of guests: 4")
    expect(call.get_by_role("button", name="Claim")).to_be_disabled()
    call.get_by_label("Your name").fill("Bea")
    call.get_by_role("button", name="Claim").click()
    expect(call).to_contain_text("claimed by Bea")
    call.get_by_label("Message to the user").fill("Hello, <i>Bea</i> here.")
    call.get_by_role("button", name="Send").click()

    since = call.get_by_label("Messages since the call")
    expect(since).to_contain_text("Hello, <i>Bea</i> here.")
    expect(call.get_by_label("Message to the user")).to_have_value("")
    expect(user.locator(".message.operator .words")).to_have_text("Hello, <i>Bea</i> here.")
    # It came by the stream: no other request asks for news.
    assert len([path for path in asked if path.endswith("v1/sessions/ann/events")]) == 1
    assert len([path for path in asked if path.endswith("v1/sessions/ann")]) < 8
    says(user, "thank you")
    user.get_by_role("link", name="Why", exact=True).click()
    because = user.locator(".because")
    expect(because).to_contain_text("so the assistant was silent")
    user.get_by_label("Turn", exact=True).select_option(index=2)
    expect(because).to_contain_text("a person was called")
    call.get_by_role("button", name="Release").click()
    expect(call).to_contain_text("released")
    expect(call.get_by_role("button", name="Release")).to_have_count(0)
    expect(user.locator(".message.assistant .words").last).to_contain_text("In which name?")
    inbox.get_by_role("button", name="Refresh").click()
    expect(inbox.get_by_text("Nobody has asked for a person.")).to_be_visible()


def test_a_call_of_another_operator_is_refused_with_the_remedy(
    serve: Serve, visits: Visits
) -> None:
    _, place = serve("table_booking")
    call = called(place)
    bea, carl = (visits.open(place, f"#/inbox/{call}") for _ in range(2))
    visits.expect_error("409")
    carl.get_by_label("Your name").fill("Carl")
    expect(carl.get_by_role("button", name="Claim")).to_be_enabled()
    bea.get_by_label("Your name").fill("Bea")
    bea.get_by_role("button", name="Claim").click()
    expect(bea.get_by_role("region", name="Call", exact=True)).to_contain_text("claimed by Bea")

    carl.get_by_label("Message to the user").fill("Hi")
    carl.get_by_role("button", name="Send").click()

    expect(carl.get_by_role("alert")).to_contain_text("Another operator has this conversation")
    expect(carl.get_by_label("Message to the user")).to_have_value("Hi")
    expect(carl.get_by_role("region", name="Call", exact=True)).to_contain_text("claimed by Bea")


def called(place: str) -> str:
    with httpx2.Client(base_url=f"{place}/v1", timeout=110) as client:
        client.post("/sessions", json={"journey_id": "table_booking", "session_id": "ann"})
        asked = {"message": "I want to talk to a person"}
        client.post("/sessions/ann/messages", json=asked).raise_for_status()
        id_: str = client.get("/escalations").json()["escalations"][0]["id"]
        return id_


def test_sessions_are_found_by_their_state_page_by_page(serve: Serve, visits: Visits) -> None:
    _, place = serve("table_booking", "parcel_refund")
    with httpx2.Client(base_url=f"{place}/v1", timeout=110) as client:
        for number in range(55):
            begun = {"journey_id": "parcel_refund", "session_id": f"p-{number}"}
            client.post("/sessions", json=begun).raise_for_status()
        client.post("/sessions", json={"journey_id": "table_booking", "session_id": "ann"})
        client.post("/sessions/p-7/messages", json={"message": "It is P-1042"})
    page = visits.open(place, "#/sessions")
    listed = page.get_by_role("list", name="Sessions").get_by_role("link")
    expect(listed).to_have_count(50)
    expect(listed.first).to_contain_text("p-7")
    expect(listed.nth(1)).to_contain_text("ann")

    page.get_by_role("button", name="More").click()
    expect(listed).to_have_count(56)
    expect(page.get_by_role("button", name="More")).to_have_count(0)
    page.get_by_label("Journey", exact=True).select_option("parcel_refund")
    expect(listed.nth(1)).to_contain_text("p-54")
    page.get_by_label("Pathway", exact=True).select_option("refund")
    expect(listed).to_have_count(1)
    page.reload()
    expect(listed).to_have_count(1)
    page.get_by_label("Status").select_option("complete")
    expect(page.get_by_text("There is no such session.")).to_be_visible()
    page.go_back()
    listed.first.click()

    expect(page.locator(".message.user .words")).to_have_text("It is P-1042")


def test_replies_that_broke_a_rule_are_listed_for_review(
    serve: Serve, visits: Visits, tmp_path: Path
) -> None:
    (tmp_path / "checked.py").write_text(CHECKED)
    _, place = serve("checked.py")
    with httpx2.Client(base_url=f"{place}/v1", timeout=110) as client:
        client.post("/sessions", json={"session_id": "ann"})
        client.post("/sessions/ann/messages", json={"message": "hello"}).raise_for_status()
        assert client.get("/reviews").json()["reviews"]
    page = visits.open(place, "#/inbox")

    page.get_by_role("link", name="Reviews").click()
    page.get_by_role("list", name="Replies to review").get_by_role("link", name="ann").click()

    expect(page.get_by_label("Message", exact=True)).to_be_visible()


def test_the_inbox_shows_what_was_said_last_and_the_answer_stays_in_sight(
    serve: Serve, visits: Visits
) -> None:
    _, place = serve("table_booking")
    with httpx2.Client(base_url=f"{place}/v1", timeout=110) as client:
        client.post("/sessions", json={"journey_id": "table_booking", "session_id": LONG_ID})
        for message in [*["is there a menu?"] * 8, "a table for 6, and a person please"]:
            said = client.post(f"/sessions/{LONG_ID}/messages", json={"message": message})
            said.raise_for_status()
        client.post(f"/sessions/{LONG_ID}/messages", json={"message": "I want to talk to a person"})
        client.post(f"/sessions/{LONG_ID}/messages", json={"message": "my <b>last</b> words"})
    for size in ({"width": 1280, "height": 700}, {"width": 360, "height": 640}):
        page = visits.open(place, "#/inbox", viewport=size)
        expect(page.get_by_role("heading", level=1)).to_have_text("Inbox")
        listed = page.get_by_role("list", name="Calls for a person").get_by_role("link")
        expect(listed.locator("strong")).to_have_text("my <b>last</b> words")
        expect(listed).to_contain_text(LONG_ID[:8])
        expect(listed).not_to_contain_text(LONG_ID)
        listed.click()

        expect(page.get_by_role("heading", level=2).first).to_contain_text("my <b>last</b> words")
        main = page.get_by_role("main")
        assert main.evaluate("one => one.scrollHeight > one.clientHeight + 100")
        for top in (0, 10_000):
            main.evaluate("(one, top) => one.scrollTo(0, top)", top)
            expect(page.get_by_label("Message to the user")).to_be_in_viewport(ratio=1)
            expect(page.get_by_role("button", name="Release")).to_be_in_viewport(ratio=1)


LONG_ID = "4ba45fe3-0c92-4ff0-9b4d-d93f9d6f1bd3"


def test_sessions_are_found_by_words_of_their_messages(serve: Serve, visits: Visits) -> None:
    _, place = serve("table_booking")
    with httpx2.Client(base_url=f"{place}/v1", timeout=110) as client:
        for id_, message in ((LONG_ID, "a table at 100% of_the Window"), ("ann", "for four")):
            client.post("/sessions", json={"session_id": id_})
            client.post(f"/sessions/{id_}/messages", json={"message": message}).raise_for_status()
    page = visits.open(place, "#/sessions")
    listed = page.get_by_role("list", name="Sessions").get_by_role("link")
    expect(listed.locator("strong")).to_have_text(["for four", "a table at 100% of_the Window"])
    expect(listed.last).to_contain_text(LONG_ID[:8])
    expect(listed.last).not_to_contain_text(LONG_ID)

    page.get_by_label("Words of a message, or an id").fill("0% of_the window")
    page.get_by_role("button", name="Search").click()
    expect(listed).to_have_count(1)
    page.reload()
    expect(listed).to_have_count(1)
    expect(page.get_by_label("Words of a message, or an id")).to_have_value("0% of_the window")
    page.get_by_label("Words of a message, or an id").fill("AnN")
    page.keyboard.press("Enter")
    expect(listed).to_contain_text("for four")
    page.get_by_label("Words of a message, or an id").fill("_")
    page.keyboard.press("Enter")
    expect(listed).to_contain_text("of_the")
