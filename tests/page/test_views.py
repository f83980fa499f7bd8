"""Views of a session on the page: its picture, its versions, and the pictures of the documents."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from journeys.examples.healthcare_referral import DEMO_MESSAGES, SAMPLE_CONTEXT
from tests.page.test_talking import GATED, ended, says, starts
from tests.support.browser import Visits, expect
from tests.support.forked import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

Serve = Callable[..., tuple[Any, str]]

MOVING = GATED.replace(
    '        __agents__ = ["clerk"]',
    """        __agents__ = ["clerk"]

    class HelpPath(Pathway):
        __agents__ = ["clerk"]

    __transitions__ = [
        Transition(IntentTrigger(patterns=["help"]), to_pathway="help", priority=3),
    ]""",
).replace("import Journey, Pathway", "import IntentTrigger, Journey, Pathway, Transition")


def box(page: Page, pathway: str) -> Any:
    return page.locator(f'[data-pathway="{pathway}"]')


def here(page: Page) -> Any:
    return page.locator("[data-pathway].is-here")


def test_the_picture_follows_the_conversation_and_its_detour(
    serve: Serve, visits: Visits, request: pytest.FixtureRequest
) -> None:
    _, place = serve("healthcare_referral")
    page = visits.open(place)
    starts(page, SAMPLE_CONTEXT, "ann")
    expect(here(page)).to_have_attribute("data-pathway", "intake")

    says(page, DEMO_MESSAGES[0])
    expect(here(page)).to_have_attribute("data-pathway", "booking")
    expect(page.locator('[data-edge="intake booking"]').first).to_have_class(has("is-last"))
    says(page, DEMO_MESSAGES[1])
    expect(here(page)).to_have_attribute("data-pathway", "faq")
    expect(box(page, "booking")).to_have_class(has("is-paused"))
    if request.config.option.pictures:
        take(page, ROOT / "docs" / "page.png")
    for message in DEMO_MESSAGES[2:]:
        says(page, message)

    expect(here(page)).to_have_attribute("data-pathway", "confirmation")
    expect(page.locator("[data-effect].is-taken")).to_have_count(1)
    expect(box(page, "booking")).not_to_have_class(has("is-paused"))
    expect(page.locator("[data-field='booking.selected_doctor']")).to_have_class(has("is-filled"))


def has(name: str) -> Any:
    return re.compile(rf"(^|\s){name}(\s|$)")


def take(page: Page, file: Path) -> None:
    """Write what is seen of the page to a file, without times of day."""
    page.evaluate("document.querySelectorAll('time').forEach((one) => { one.hidden = true })")
    page.get_by_label("Message", exact=True).blur()
    page.screenshot(path=file)


def test_the_picture_moves_while_a_turn_runs(serve: Serve, visits: Visits, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(MOVING)
    _, place = serve("slow.py")
    page = visits.open(place)
    starts(page)
    expect(here(page)).to_have_attribute("data-pathway", "talk")

    page.get_by_label("Message", exact=True).fill("help")
    page.keyboard.press("Enter")
    expect(page.locator(".message.assistant .words").last).to_contain_text("Let me see.")
    expect(here(page)).to_have_attribute("data-pathway", "help")
    (tmp_path / "go_on").touch()

    ended(page)
    expect(page.locator(".message.assistant .words").last).to_have_text("Let me see. Yes.")


def test_a_correction_is_seen_in_the_picture_and_in_the_difference(
    serve: Serve, visits: Visits
) -> None:
    _, place = serve("table_booking")
    page = visits.open(place)
    starts(page, name="ann")
    facts = page.locator(".picture .fields").first

    says(page, "a table for four tomorrow at 7 pm")
    expect(facts).to_contain_text("number of guests: 4")
    reply = says(page, "sorry, five people")

    assert "5" in reply
    expect(facts).to_contain_text("number of guests: 5")
    page.get_by_role("link", name="Versions").click()
    expect(page.locator(".versions")).to_contain_text("party_size")


def test_a_session_is_rolled_back_and_forked_at_a_version(serve: Serve, visits: Visits) -> None:
    _, place = serve("healthcare_referral")
    conversation(place, "ann", DEMO_MESSAGES)
    page = visits.open(place, "#/s/ann/versions")
    slider = page.get_by_role("slider")
    expect(slider).to_have_value("5")

    slider.focus()
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    expect(slider).to_have_value("2")
    expect(page.locator(".versions")).to_contain_text(DEMO_MESSAGES[1])
    page.get_by_role("button", name="Fork from here").click()
    expect(page).not_to_have_url(re.compile("/ann/"))
    forked = page.url.split("#/s/")[1].split("/")[0]
    expect(page.locator(".message.user .words")).to_have_text(list(DEMO_MESSAGES[:2]))
    reply = says(page, "Thanks! Now show me the available doctors.")

    assert "Dr." in reply
    page.goto(f"{place}/#/s/ann/versions")
    expect(page.locator(".message.user")).to_have_count(5)
    slider.focus()
    page.keyboard.press("Home")
    expect(slider).to_have_value("0")
    page.get_by_role("button", name="Roll back to this version").click()
    expect(slider).to_have_value("6")
    with httpx2.Client(base_url=f"{place}/v1", timeout=110) as client:
        assert client.get("/sessions/ann").json()["pathway_id"] == "intake"
        assert client.get(f"/sessions/{forked}").json()["pathway_id"] == "booking"


def test_a_session_is_saved_as_a_conversation_test(
    serve: Serve, visits: Visits, tmp_path: Path
) -> None:
    _, place = serve("healthcare_referral")
    conversation(place, "ann", DEMO_MESSAGES[:2])
    page = visits.open(place, "#/s/ann/versions")

    with page.expect_download() as saved:
        page.get_by_role("button", name="Save the session as a test").click()

    saved.value.save_as(tmp_path / saved.value.suggested_filename)
    text = (tmp_path / "ann.conversation.yaml").read_text()
    assert DEMO_MESSAGES[1] in text
    assert "faq" in text


def conversation(place: str, name: str, messages: Any) -> None:
    """Hold a conversation of the referral without the page."""
    begun = {"journey_id": "healthcare_referral", "session_id": name, "context": SAMPLE_CONTEXT}
    with httpx2.Client(base_url=f"{place}/v1", timeout=110) as client:
        client.post("/sessions", json=begun).raise_for_status()
        for message in messages:
            said = client.post(f"/sessions/{name}/messages", json={"message": message})
            said.raise_for_status()
