"""The versions of a session on the page: a slider, the way back, a fork, and a test as a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from journeygraph.server.conversations.conversation_files import load_conversation
from tests.support.browser import Visits, axe, expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

Serve = Callable[..., tuple[Any, str]]
SAID = ("four people", "sorry, five people", "Lee", "no")


def booked(place: str) -> None:
    """Book a table in session s-1, over HTTP."""
    with httpx2.Client(base_url=f"{place}/v1/", timeout=60) as client:
        known = {"date": "2030-12-24", "time": "19:00", "about": "<b>x</b>" * 100}
        begun = {"session_id": "s-1", "context": known}
        assert client.post("sessions", json=begun).status_code == 201
        for message in SAID:
            assert client.post("sessions/s-1/messages", json={"message": message}).is_success


@pytest.fixture
def page(serve: Serve, visits: Visits) -> Page:
    """The versions of a session in which a table was booked."""
    _, place = serve("table_booking")
    booked(place)
    return visits.open(place, "#/s/s-1/versions")


def goes_to(page: Page, version: int, *keys: str) -> None:
    """Press keys on the slider, and wait for the state of a version."""
    page.get_by_role("slider").focus()
    for key in keys:
        page.keyboard.press(key)
    expect(page.get_by_role("heading", name=f"Context at version {version}")).to_be_visible()


@pytest.mark.slow
def test_keys_on_the_slider_show_each_version_and_its_difference(page: Page) -> None:
    goes_to(page, 4)
    slider = page.get_by_role("slider", name="Version 4 of 4")
    expect(slider).to_have_attribute("aria-valuetext", "Version 4, Turn, in door")
    expect(page.get_by_label("Added").get_by_text("booking", exact=True)).to_be_visible()

    goes_to(page, 2, "ArrowLeft", "ArrowLeft")
    view = page.locator(".versions")
    expect(view.locator(".said")).to_contain_text("sorry, five people")
    expect(view.locator(".said")).to_contain_text("changed the number of guests to 5")
    changed = page.get_by_label("Changed")
    expect(changed.locator("dt bdi")).to_have_text("party_size")
    expect(changed.locator("del")).to_have_text("4")
    expect(changed.locator("ins")).to_have_text("5")

    goes_to(page, 0, "Home")
    expect(page.get_by_role("button", name="Version before")).to_be_disabled()
    expect(page.get_by_role("heading", name="Difference to an empty session")).to_be_visible()
    page.get_by_label("Context", exact=True).locator("summary").click()
    expect(page.get_by_label("Context", exact=True)).to_contain_text("<b>x</b><b>x</b>")
    goes_to(page, 4, "End")
    expect(page.get_by_role("button", name="Roll back")).to_be_disabled()


@pytest.mark.slow
def test_a_session_is_rolled_back_and_goes_on_from_there(page: Page) -> None:
    goes_to(page, 1, "Home", "ArrowRight")

    page.get_by_role("button", name="Roll back").click()

    expect(page.get_by_role("status").filter(has_text="Version 5 is now")).to_be_visible()
    expect(page.get_by_role("heading", name="Context at version 5")).to_be_visible()
    expect(page.get_by_role("slider", name="Version 5 of 5")).to_be_focused()
    expect(page.locator(".versions")).to_contain_text("Rollback to version 1, in book")
    expect(page.get_by_label("Removed")).to_contain_text("booking")
    said = page.get_by_role("list", name="Messages")
    expect(said.locator(".divider")).to_have_text("Back to version 1.")
    taken_back = said.locator(".message.gone")
    gone = taken_back.count()
    assert gone > 0
    expect(taken_back.first).to_contain_text("(taken back)")
    page.get_by_label("Message", exact=True).fill("Kim")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Context at version 6")).to_be_visible()
    expect(page.get_by_label("Added")).to_contain_text("Kim")
    expect(taken_back).to_have_count(gone)
    expect(said.locator(".message").last).not_to_contain_text("(taken back)")


@pytest.mark.slow
def test_a_fork_opens_as_a_session_of_its_own_and_both_link_to_each_other(page: Page) -> None:
    goes_to(page, 2, "ArrowLeft", "ArrowLeft")

    page.get_by_role("button", name="Fork from here").click()

    expect(page.get_by_text("This session is a fork of")).to_be_visible()
    assert "#/s/s-1/" not in page.url
    fork = page.url
    expect(page.get_by_role("slider", name="Version 2 of 2")).to_be_visible()
    page.get_by_label("Message", exact=True).fill("Kim")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Context at version 3")).to_be_visible()
    goes_to(page, 0, "Home")
    expect(page.get_by_role("button", name="Roll back")).to_be_disabled()
    expect(page.get_by_role("button", name="Fork from here")).to_be_disabled()

    page.locator(".versions").get_by_role("link", name="s-1").click()
    goes_to(page, 4)
    goes_to(page, 2, "ArrowLeft", "ArrowLeft")
    page.locator(".versions .from").get_by_role("link").click()
    expect(page).to_have_url(fork)


@pytest.mark.slow
def test_a_version_whose_state_is_not_kept_can_be_read_only(serve: Serve, visits: Visits) -> None:
    _, place = serve("table_booking")
    with httpx2.Client(base_url=f"{place}/v1/", timeout=60) as client:
        client.post("sessions", json={"session_id": "s-1"}).raise_for_status()
        for _ in range(112):
            client.post("sessions/s-1/messages", json={"message": "hm"}).raise_for_status()
    page = visits.open(place, "#/s/s-1/versions")
    visits.expect_error("404")
    goes_to(page, 0, "Home")

    page.get_by_role("button", name="Fork from here").click()

    expect(page.get_by_role("alert")).to_contain_text("The state of this version is not kept")
    expect(page.get_by_role("button", name="Try again")).to_have_count(0)


@pytest.mark.slow
def test_a_session_is_saved_as_a_test(page: Page, tmp_path: Path) -> None:
    goes_to(page, 4)

    with page.expect_download() as downloaded:
        page.get_by_role("button", name="Save the session as a test").click()

    assert downloaded.value.suggested_filename == "s-1.conversation.yaml"
    file = tmp_path / "s-1.conversation.yaml"
    downloaded.value.save_as(file)
    loaded = load_conversation(file)
    assert [turn.user for turn in loaded.conversation.turns if turn.user] == list(SAID)
    expect(page.get_by_role("status").filter(has_text="journeygraph test")).to_be_visible()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_the_versions_can_be_used_by_everybody(
    serve: Serve, visits: Visits, scheme: Any, width: int
) -> None:
    source = axe()
    _, place = serve("table_booking")
    booked(place)
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    page = visits.open(place, "#/s/s-1/versions", bypass_csp=True, **options)
    goes_to(page, 2, "ArrowLeft", "ArrowLeft")

    page.evaluate(source)
    found = page.evaluate("axe.run('.versions').then((one) => one.violations)")

    assert [(one["id"], one["impact"]) for one in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
