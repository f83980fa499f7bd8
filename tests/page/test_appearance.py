"""The page for everyone: narrow, dark, without a mouse, with a screen reader; and its weight."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from tests.support.browser import Visits, axe, expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

Serve = Callable[..., tuple[Any, str]]

CONTENTS = {"Picture": "[data-pathway]", "Versions": "input[type=range]"}
"""Of views that take a while to be there: a part of each."""
HEAVIEST = 300_000
"""Bytes of the page with all that it loads, as they are stored."""
_AXE = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.filter(({ impact }) => ["serious", "critical"].includes(impact))
    .map(({ id, nodes }) => [id, ...nodes.map((node) => node.target.join(" ") + ": " + node.html)]);
}"""
_OVERFLOW = """() => {
  const isWide = (one) => one.tagName === "MAIN"
    ? one.scrollWidth > one.clientWidth
    : one.getBoundingClientRect().right > innerWidth + 1
      && getComputedStyle(one).overflowX !== "auto";
  return [document.documentElement, ...document.querySelectorAll("main, main *")]
    .filter((one) => !one.closest(".frame > *") && isWide(one))
    .map((one) => one.outerHTML.slice(0, 120));
}"""


def a_conversation_with_a_call(place: str) -> str:
    """Hold a conversation that a person is called to; return the id of the call."""
    with httpx2.Client(base_url=f"{place}/v1", timeout=110) as client:
        client.post("/sessions", json={"journey_id": "table_booking", "session_id": "ann"})
        for message in ("a table for four on Saturday at 7 pm", "I want to talk to a person"):
            client.post("/sessions/ann/messages", json={"message": message}).raise_for_status()
        (call,) = client.get("/escalations").json()["escalations"]
        id_: str = call["id"]
        return id_


def places(page: Page, call: str) -> Iterator[str]:
    """Visit every part of the page, and yield its address when its content is there."""
    main = page.get_by_role("main")
    contents = {
        "#/": main.get_by_role("button", name="Start"),
        "#/sessions": main.get_by_role("link", name="ann"),
        "#/inbox": main.get_by_role("link", name="asked"),
        f"#/inbox/{call}": main.get_by_role("button", name="Claim"),
        "#/inbox/reviews": main.get_by_text("No reply needs a review."),
        "#/s/ann": main.get_by_text("I am handing you over to a person"),
    }
    for hash_, content in contents.items():
        page.evaluate("hash => { location.hash = hash }", hash_)
        expect(content.last).to_be_visible()
        yield hash_
    tabs = page.get_by_label("Views of the session").get_by_role("link")
    for name in tabs.all_inner_texts():
        tabs.get_by_text(name, exact=True).click()
        if name != "Talk":
            shown = page.get_by_role("region", name=name, exact=True)
            expect(shown.locator(CONTENTS.get(name, "*")).first).to_be_visible()
            expect(page.locator("[aria-busy=true]")).to_have_count(0)
        yield name


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (320, "dark")])
def test_nothing_serious_keeps_anybody_from_using_it(
    serve: Serve, visits: Visits, width: int, scheme: Any
) -> None:
    source = axe()
    _, place = serve("table_booking")
    call = a_conversation_with_a_call(place)
    size = {"width": width, "height": 700}
    page = visits.open(place, viewport=size, color_scheme=scheme)
    page.evaluate(source)

    found = {there: page.evaluate(_AXE) for there in places(page, call)}

    assert {there: faults for there, faults in found.items() if faults} == {}


def test_it_fits_a_narrow_screen(serve: Serve, visits: Visits) -> None:
    _, place = serve("table_booking")
    call = a_conversation_with_a_call(place)
    page = visits.open(place, viewport={"width": 320, "height": 640})

    wide = {there: page.evaluate(_OVERFLOW) for there in places(page, call)}

    assert {there: parts for there, parts in wide.items() if parts} == {}


def test_it_is_dark_where_the_system_is_and_as_its_reader_says(
    serve: Serve, visits: Visits
) -> None:
    _, place = serve("parcel_refund")
    page = visits.open(place, color_scheme="dark")
    assert brightness(page) < 60

    page.get_by_role("button", name="Light").click()
    assert brightness(page) > 200
    page.reload()

    expect(page.get_by_role("button", name="Dark")).to_be_visible()
    assert brightness(page) > 200


def brightness(page: Page) -> float:
    """Return the brightness of the page's ground, 0 to 255."""
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    parts = json.loads(f"[{colour.removeprefix('rgb(').removesuffix(')')}]")
    return float(sum(parts) / len(parts))


def test_it_is_light_to_load(serve: Serve, visits: Visits) -> None:
    _, place = serve("table_booking")
    call = a_conversation_with_a_call(place)
    page = visits.open(place)

    for _ in places(page, call):
        pass

    loaded = page.evaluate(
        "performance.getEntries().filter(one => one.decodedBodySize && !one.name.includes('/v1/'))"
        ".map(one => [one.name, one.decodedBodySize])"
    )
    assert {name.rpartition("/")[2] for name, _ in loaded} >= {"app.js", "style.css", "preact.js"}
    assert sum(size for _, size in loaded) < HEAVIEST


_CONTRAST = """(one) => {
  const light = (colour) => {
    const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const { color, backgroundColor } = getComputedStyle(one);
  const [dark, bright] = [light(color), light(backgroundColor)].sort((a, b) => a - b);
  return (bright + 0.05) / (dark + 0.05);
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_button_under_the_mouse_can_be_read(serve: Serve, visits: Visits, scheme: Any) -> None:
    _, place = serve("healthcare_referral")
    page = visits.open(place, color_scheme=scheme)
    seen = {}

    def hover(name: str) -> None:
        button = page.get_by_role("button", name=name, exact=True)
        expect(button).to_be_enabled()
        button.hover()
        assert button.evaluate("one => one.matches(':hover')")
        seen[name] = button.evaluate(_CONTRAST)

    hover("Start")
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_label("Message", exact=True).fill("a heart specialist, please")
    hover("Send")
    hover("Fit")
    page.get_by_role("button", name="Send", exact=True).click()
    hover("Yes")

    assert {name: ratio for name, ratio in seen.items() if ratio < 4.5} == {}


def test_an_unknown_address_says_so(serve: Serve, visits: Visits) -> None:
    _, place = serve("table_booking")
    a_conversation_with_a_call(place)
    page = visits.open(place, "#/nothing/here")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is no such page")
    expect(page.get_by_role("link", name="start a session")).to_be_visible()

    page.evaluate("location.hash = '#/s/ann/nothing'")

    expect(page.get_by_text("There is no such view of a session.")).to_be_visible()
    page.get_by_role("link", name="Versions").click()
    expect(page.get_by_label("Version", exact=False).first).to_be_visible()


def test_a_missing_model_is_no_warning(serve: Serve, visits: Visits) -> None:
    _, place = serve("table_booking")
    a_conversation_with_a_call(place)
    with httpx2.Client(base_url=f"{place}/v1", timeout=110) as client:
        client.post("/sessions", json={"journey_id": "table_booking", "session_id": "bob"})
        said = client.post("/sessions/bob/messages", json={"message": "xyzzy"}).json()
    assert said["metadata"]["flags"] == ["model_not_configured"]
    page = visits.open(place, "#/s/bob/why")
    flag = page.get_by_text("model_not_configured")

    ground = flag.evaluate("one => getComputedStyle(one).backgroundColor")
    red, green, blue = (int(part) for part in ground[4:-1].split(","))
    assert max(red, green, blue) - min(red, green, blue) < 12
    assert flag.evaluate(_CONTRAST) >= 4.5
