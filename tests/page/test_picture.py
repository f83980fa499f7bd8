"""The picture of a session on the page: it follows the session, and everyone can read it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from tests.support.browser import Visits, expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

Serve = Callable[..., tuple[Any, str]]

GATED = '''
import asyncio
import os
from journeygraph import IntentTrigger, Journey, Pathway, ReturnToPrevious, Transition


class Slow(Journey):
    """Take one's time."""

    class TalkPath(Pathway):
        __agents__ = ["clerk", "checker"]
        __pipeline__ = "parallel"

    class HelpPath(Pathway):
        __agents__ = ["helper"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(IntentTrigger(patterns=["<b>help</b>"]), to_pathway="help")]


async def helper(ask):
    yield "Let me see. "
    while not os.path.exists("go_on"):
        await asyncio.sleep(0.01)
    yield "Yes."


AGENTS = {"helper": helper, "clerk": lambda ask: "Good day.", "checker": lambda ask: "Fine."}
'''


def session(place: str, journey: str, *messages: str, back_to: int | None = None) -> None:
    """Start the session `ann`, send messages, and roll it back."""
    with httpx2.Client(base_url=f"{place}/v1", timeout=110) as client:
        started = client.post("/sessions", json={"journey_id": journey, "session_id": "ann"})
        started.raise_for_status()
        for message in messages:
            client.post("/sessions/ann/messages", json={"message": message}).raise_for_status()
        if back_to is not None:
            client.post("/sessions/ann/rollback", json={"version": back_to}).raise_for_status()


def says(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.get_by_role("button", name="Send").click()


def box(page: Page, id_: str) -> Locator:
    return page.locator(f'.picture [data-pathway="{id_}"]')


def field(page: Page, name: str) -> Locator:
    return page.locator(f'.picture [data-field="{name}"]')


def has(css: str) -> re.Pattern[str]:
    return re.compile(rf"\b{css}\b")


@pytest.mark.slow
def test_the_picture_follows_a_conversation(serve: Serve, visits: Visits) -> None:
    _, place = serve("table_booking")
    session(place, "table_booking")
    page = visits.open(place, "#/s/ann/picture")
    expect(box(page, "book")).to_have_class(has("is-here"))
    expect(field(page, "book.party_size")).to_have_class(has("is-asked"))

    says(page, "a table for four on Saturday at 7 pm")
    expect(field(page, "book.time")).to_have_class(has("is-filled"))
    expect(field(page, "book.guest")).to_have_class(has("is-asked"))

    says(page, "is there a menu?")
    expect(box(page, "menu")).to_have_class(has("is-here"))
    expect(box(page, "book")).to_have_class(has("is-paused"))
    expect(box(page, "book").locator(".badge")).to_have_text("1")
    expect(field(page, "book.guest")).to_have_class(has("is-asked"))
    taken = page.locator('.picture .edge[data-edge="* menu"]')
    expect(taken).to_have_class(has("is-last"))
    expect(page.locator(".picture .place")).to_have_text("The session is in menu. Paused: book.")

    says(page, "Lee")
    expect(box(page, "book")).to_have_class(has("is-here"))
    expect(box(page, "menu")).to_have_class(has("is-visited"))
    says(page, "no")
    says(page, "yes")
    expect(box(page, "door")).to_have_class(has("is-here"))
    effect = page.locator('.picture [data-effect="book.book_table"]')
    expect(effect).to_have_class(has("is-taken"))
    expect(effect).to_contain_text("done")
    expect(page.locator('.picture [data-edge="book door"]')).to_have_class(has("is-last"))
    expect(taken).not_to_have_class(has("is-last"))
    expect(page.locator(".facts")).to_contain_text("book → menu → book → door")

    says(page, "a complaint")
    expect(page.locator(".picture .handover")).to_have_class(has("is-here"))
    expect(page.locator(".picture .place")).to_contain_text("A person is called")


@pytest.mark.slow
def test_it_follows_while_a_turn_runs(serve: Serve, visits: Visits, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(GATED)
    _, place = serve("slow.py")
    session(place, "slow", "hello")
    page = visits.open(place, "#/s/ann/picture")
    expect(box(page, "talk")).to_have_class(has("is-here"))

    says(page, "<b>help</b>")
    expect(box(page, "help")).to_have_class(has("is-here"))
    expect(box(page, "talk")).to_have_class(has("is-paused"))
    label = page.locator('.picture .label[data-edge="* help"] .trigger')
    expect(label).to_have_class(has("is-last"))
    assert label.locator("text").first.text_content() == "“<b>help</b>”"
    assert not (tmp_path / "go_on").exists()
    (tmp_path / "go_on").touch()

    expect(page.locator(".message.assistant .words").last).to_have_text("Let me see. Yes.")
    expect(box(page, "help")).to_have_class(has("is-here"))


@pytest.mark.slow
def test_a_rollback_goes_back_in_all_but_effects(serve: Serve, visits: Visits) -> None:
    _, place = serve("table_booking")
    said = ("two, on Saturday at 7 pm", "Lee", "no", "yes", "the menu?")
    session(place, "table_booking", *said, back_to=1)

    page = visits.open(place, "#/s/ann/picture")

    expect(box(page, "book")).to_have_class(has("is-here"))
    expect(box(page, "door")).not_to_have_class(has("is-visited"))
    expect(field(page, "book.time")).to_have_class(has("is-filled"))
    expect(field(page, "book.guest")).not_to_have_class(has("is-filled"))
    expect(page.locator('[data-effect="book.book_table"]')).to_have_class(has("is-taken"))


@pytest.mark.slow
def test_it_is_used_by_keys_and_by_the_wheel(serve: Serve, visits: Visits, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(GATED)
    _, place = serve("slow.py")
    session(place, "slow", "hello")
    page = visits.open(place, "#/s/ann/picture")
    scale = page.locator(".picture .zoom output")
    expect(scale).to_have_text("100 %")
    frame = page.locator(".picture .canvas .frame")

    frame.focus()
    page.keyboard.press("+")
    expect(scale).to_have_text("125 %")
    page.keyboard.press("-")
    page.keyboard.press("-")
    expect(scale).to_have_text("80 %")
    page.keyboard.press("0")
    expect(scale).to_have_text("100 %")
    page.get_by_role("button", name="Larger").click()
    expect(scale).to_have_text("125 %")
    page.get_by_role("button", name="Fit").click()
    frame.hover()
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    expect(scale).to_have_text("125 %")

    frame.focus()
    page.keyboard.press("Tab")
    expect(box(page, "talk")).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(box(page, "help")).to_be_focused()
    expect(box(page, "help")).to_have_attribute(
        "aria-label", re.compile("^Not visited. Detour help")
    )
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    chosen = page.locator(".picture .chosen")
    expect(chosen).to_contain_text("The session is here. Pathway talk. Agents: clerk + checker.")
    chosen.get_by_role("button", name="Show how its agents work together").click()
    expect(chosen.locator("svg [data-agent]")).to_have_count(2)
    box(page, "talk").focus()
    page.keyboard.press("Escape")
    expect(frame).to_be_focused()
    expect(chosen).to_have_count(0)


@pytest.mark.slow
def test_it_is_drawn_after_a_lost_connection(serve: Serve, visits: Visits) -> None:
    _, place = serve("table_booking")
    session(place, "table_booking")
    visits.expect_error("ERR_FAILED")
    page = visits.open(place)
    page.route("**/graph?*", lambda route: route.abort())
    page.evaluate("location.hash = '#/s/ann/picture'")
    retry = page.get_by_role("region", name="Picture").get_by_role("button", name="Try again")
    expect(retry).to_be_visible()

    page.unroute("**/graph?*")
    retry.click()

    expect(box(page, "book")).to_have_class(has("is-here"))


@pytest.mark.slow
def test_its_colours_follow_the_scheme_of_the_page(serve: Serve, visits: Visits) -> None:
    _, place = serve("telecom_support")
    session(place, "telecom_support", "hello")
    fill = """() => getComputedStyle(document.querySelector(".picture .box")).fill"""
    light = visits.open(place, "#/s/ann/picture")
    expect(light.locator(".picture .badge")).to_have_count(1)

    dark = visits.open(place, "#/s/ann/picture", color_scheme="dark")
    expect(dark.locator(".picture .badge")).to_have_count(1)

    assert dark.evaluate(fill) != light.evaluate(fill)
    dark.get_by_role("button", name="Light").click()
    assert dark.evaluate(fill) == light.evaluate(fill)


VERSION = '''
from journeygraph import Journey, Pathway


class Order(Journey):
    """Order flowers."""

    __version__ = "{version}"

    class {path}Path(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = ["never"]


AGENTS = {{"clerk": lambda ask: "Which flowers?"}}
'''


@pytest.mark.slow
def test_a_session_of_an_older_version_is_shown_in_its_version(
    serve: Serve, visits: Visits, tmp_path: Path
) -> None:
    (tmp_path / "may").mkdir()
    for place, version, path in (("may", "may", "Flowers"), (".", "june", "Bouquet")):
        text = VERSION.format(version=version, path=path)
        (tmp_path / place / "order.py").write_text(text)
    before, place = serve("may/order.py")
    session(place, "order", "hello")
    before.kill()
    before.wait()
    _, place = serve("order.py", "--versions", "may/order.py")

    page = visits.open(place, "#/s/ann/picture")

    expect(box(page, "flowers")).to_be_visible()
    expect(page.get_by_text("version may of the journey")).to_be_visible()
    page = visits.open(place, "#/sessions")
    expect(page.get_by_text("version may of the journey")).to_be_visible()


@pytest.mark.slow
def test_the_values_of_fields_are_in_the_drawing(serve: Serve, visits: Visits) -> None:
    _, place = serve("table_booking")
    session(place, "table_booking", "a table for four", "no", "on Saturday", "7 pm", LONG_NAME)
    page = visits.open(place, "#/s/ann/picture")

    expect(field(page, "book.party_size").locator(".kind")).to_have_text("4")
    guest = field(page, "book.guest")
    expect(guest.locator(".kind")).to_have_text(re.compile("^Maxim.*…$"))
    name, value = (guest.locator(css).bounding_box() for css in (".field-name", ".kind"))
    assert name
    assert value
    assert name["x"] + name["width"] < value["x"]
    says(page, "sorry, five people")

    expect(field(page, "book.party_size").locator(".kind")).to_have_text("5")


LONG_NAME = "Maximiliane Wolkenstein Zuberbuehler Habersetzer"

_SMALLEST = """() => {
  const texts = [...document.querySelectorAll(".picture .canvas .frame text")];
  return Math.min(...texts.map((one) => {
    const size = Number.parseFloat(getComputedStyle(one).fontSize);
    return size * one.getCTM().a;
  }));
}"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("journey", ["healthcare_referral", "table_booking", "parcel_refund"])
def test_what_was_made_to_fit_can_be_read(
    serve: Serve, visits: Visits, journey: str, width: int
) -> None:
    _, place = serve(journey)
    session(place, journey)
    size = {"width": width, "height": 640}
    page = visits.open(place, "#/s/ann/picture", viewport=size)
    frame = page.locator(".picture .canvas .frame")
    expect(page.locator(".picture .badge")).to_have_count(1)

    assert page.evaluate(_SMALLEST) >= 8.99
    drawn, room = frame.locator("svg").bounding_box(), frame.bounding_box()
    assert drawn
    assert room
    scale = float(page.locator(".picture .zoom output").inner_text().removesuffix(" %"))
    fits = drawn["width"] <= room["width"] and drawn["height"] <= room["height"]
    assert fits or scale == 90
    overflow = "one => one.scrollWidth > one.clientWidth"
    assert page.locator("main").evaluate(overflow) is False
    assert page.locator(".view").evaluate(overflow) is False
