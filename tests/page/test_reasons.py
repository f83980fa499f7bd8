"""The view of the reasons of a turn: a sentence, what was considered, and the steps as bars."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.browser import Visits, expect

pytestmark = pytest.mark.slow

Serve = Callable[..., tuple[Any, str]]

PARCELS = '''
from journeygraph import *

HOSTILE = """<img src=x onerror="document.title='owned'">"""


def customs(ask): return HOSTILE
def carrier(ask): return "The van comes on Monday. " * 60
def writer(ask): return "In short: on Monday."
def clerk(ask): return "Which parcel?"
def broken(ask): raise KeyError("a secret")


def trace() -> dict:
    """Trace a parcel."""
    return {"at": "Leiden"}


class Parcels(Journey):
    """Find a parcel."""

    class FindPath(Pathway):
        __fields__ = [
            Field("number", "integer", "Which number?"),
            Field("pin", sensitive=True, verbatim=True),
        ]
        __effects__ = [Effect("trace", done="I trace it.")]
        __next__ = "after"

    class AfterPath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

    class AbroadPath(Pathway):
        __pipeline__ = Pipeline.sequential(
            [Pipeline.parallel([customs, carrier]).to_agent("team"), writer]
        )
        __return_behavior__ = ReturnToPrevious()

    class BrokenPath(Pathway):
        __agents__ = ["broken"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(IntentTrigger(patterns=["from abroad"]), to_pathway="abroad"),
        Transition(IntentTrigger(patterns=["it breaks"]), to_pathway="broken"),
    ]
    __guidelines__ = [
        Guideline(id="loud", when=lambda message, context: "!" in message, action="Be calm."),
        Guideline(id="quiet", when=lambda message, context: "?" in message, action="Speak up."),
    ]


AGENTS = {"clerk": clerk, "broken": broken}
TOOLS = {"trace": trace}
'''
MESSAGES = ("1042", "4711", "hello!", "It comes from abroad", "it breaks")


def talked(place: str, session: str = "ann") -> None:
    """Hold a conversation."""
    with httpx2.Client(base_url=f"{place}/v1", timeout=110) as client:
        client.post("/sessions", json={"session_id": session}).raise_for_status()
        for message in MESSAGES:
            client.post(
                f"/sessions/{session}/messages", json={"message": message}
            ).raise_for_status()


@pytest.fixture
def parcels(serve: Serve, tmp_path: Path) -> Callable[[], str]:
    (tmp_path / "parcels.py").write_text(PARCELS)
    return lambda: serve("parcels.py")[1]


def test_each_turn_has_a_sentence_and_its_details(
    parcels: Callable[[], str], visits: Visits
) -> None:
    place = parcels()
    talked(place)
    page = visits.open(place, "#/s/ann/why")
    view = page.get_by_role("region", name="Why")
    turns, sentence = view.get_by_label("Turn", exact=True), view.locator(".because")

    expect(sentence).to_have_text(
        "The turn failed (PathwayExecutionError), so the session stayed in abroad, and the reply "
        "does not come from its agents."
    )
    expect(view.locator(".flag")).to_have_text(["failed", "journey_bypassed"])
    expect(view.locator(".step .fault").last).to_have_text("failed: KeyError")
    expect(view).not_to_contain_text("a secret")

    view.get_by_role("button", name="Previous").click()
    expect(sentence).to_have_text(
        re.compile(
            "^The message matched the pattern “from abroad”, so the session moved from after to "
            "abroad; team/c[a-z]+, team/c[a-z]+ and writer answered.$"
        )
    )
    expect(view.locator(".considered li").first).to_contain_text("fired")
    expect(view.locator(".considered li").last).to_contain_text("it breaks → broken")

    turns.select_option("2 · 4711")
    expect(sentence).to_have_text(
        "The message was understood as: fill pin; find was complete, so the session continued in "
        "after."
    )
    row = view.get_by_role("row", name="pin")
    expect(row).to_contain_text("not shown")
    expect(row).not_to_contain_text("4711")
    expect(view.get_by_text("effect done: trace")).to_be_visible()

    turns.select_option("3 · hello!")
    rules = view.locator("section", has=page.get_by_role("heading", name="Rules"))
    expect(rules.get_by_role("listitem")).to_have_text(
        ["loud: holds, code", "quiet: does not hold"]
    )

    turns.select_option("0 · start")
    expect(sentence).to_have_text("The session started in find.")
    expect(view.get_by_text("No steps are stored of this version.")).to_be_visible()


def test_steps_are_a_tree_with_bars_and_folded_words(
    parcels: Callable[[], str], visits: Visits
) -> None:
    place = parcels()
    talked(place)
    page = visits.open(place, "#/s/ann/why")
    view = page.get_by_role("region", name="Why")
    view.get_by_label("Turn", exact=True).select_option("4 · It comes from abroad")

    names = [" ".join(name.split()) for name in view.locator(".step .what").all_inner_texts()]
    assert [*names[:3], *sorted(names[3:5]), *names[5:]] == [
        "understand",
        "pathway abroad sequential",
        "pipeline team parallel · complete",
        "agent team/carrier",
        "agent team/customs",
        "agent writer",
        "settle",
    ]
    team = view.locator("li", has_text="pipeline team").last
    expect(team.locator("ul .step")).to_have_count(2)
    spans = view.locator(".bar").evaluate_all(
        "bars => bars.map((bar) => [bar.offsetLeft, bar.offsetWidth, bar.parentNode.clientWidth])"
    )
    assert len(spans) == len(names)
    assert all(left >= 0 and 0 < width <= whole - left + 1 for left, width, whole in spans)
    assert spans[1][1] >= max(span[1] for span in spans[2:6])

    said = view.locator(".said")
    expect(said).to_have_count(3)
    carrier = said.filter(has_text="The van comes")
    whole = carrier.locator("p")
    expect(whole).not_to_be_visible()
    carrier.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(whole).to_contain_text("The van comes on Monday. The van comes")
    expect(said.filter(has_text="<img src=x onerror")).to_have_count(1)
    assert page.title() != "owned"


def test_the_view_follows_the_conversation_and_the_keyboard(
    parcels: Callable[[], str], visits: Visits
) -> None:
    place = parcels()
    talked(place)
    page = visits.open(place, "#/s/ann/why", viewport={"width": 1280, "height": 800})
    view = page.get_by_role("region", name="Why")
    turns = view.get_by_label("Turn", exact=True)
    expect(turns.locator("option:checked")).to_have_text("5 · it breaks")

    page.get_by_label("Message", exact=True).fill("and now?")
    page.keyboard.press("Enter")
    expect(turns.locator("option:checked")).to_have_text("6 · and now?")

    turns.focus()
    page.keyboard.press("ArrowUp")
    expect(turns.locator("option:checked")).to_have_text("5 · it breaks")
    page.get_by_label("Message", exact=True).fill("and then?")
    page.keyboard.press("Enter")
    expect(turns.locator("option")).to_have_count(8)
    expect(turns.locator("option:checked")).to_have_text("5 · it breaks")


def test_the_reasons_are_there_after_a_restart_and_on_a_narrow_screen(
    parcels: Callable[[], str], serve: Serve, visits: Visits
) -> None:
    process, place = serve("parcels.py")
    talked(place)
    process.kill()
    process.wait()
    again = parcels()
    page = visits.open(
        again, "#/s/ann/why", viewport={"width": 320, "height": 700}, color_scheme="dark"
    )
    view = page.get_by_role("region", name="Why")

    for turn in reversed(range(len(MESSAGES) + 1)):
        view.get_by_label("Turn", exact=True).select_option(str(turn))
        expect(view.locator(".because")).not_to_be_empty()
        assert view.evaluate("view => view.scrollWidth <= view.clientWidth")


OFFERS = """
from journeygraph import *


class Offers(Journey):
    __silence__ = Silence(reminders=[Reminder("1 second", "Still there?")], close_after="3 seconds")

    class TalkPath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

    class CheaperPath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

    __transitions__ = [
        Transition(TimeTrigger("2 seconds"), "talk", "cheaper"),
        Transition(EventTrigger("sold"), to_pathway="talk"),
    ]


AGENTS = {"clerk": lambda ask: "An offer."}
"""


def test_events_and_times_are_told_as_what_they_are(
    serve: Serve, tmp_path: Path, visits: Visits
) -> None:
    (tmp_path / "offers.py").write_text(OFFERS)
    place = serve("offers.py")[1]
    with httpx2.Client(base_url=f"{place}/v1", timeout=110) as client:
        client.post("/sessions", json={"session_id": "ann"}).raise_for_status()
        page = visits.open(place, "#/s/ann/why")
        expect(page.get_by_text("Still there?").first).to_be_visible()  # without a message
        view = page.get_by_role("region", name="Why")
        turns, sentence = view.get_by_label("Turn", exact=True), view.locator(".because")
        expect(turns.locator("option")).to_have_count(4, timeout=60_000)
        client.post("/sessions/ann/events", json={"name": "sold"}).raise_for_status()
    expect(turns.locator("option")).to_have_count(5, timeout=60_000)

    told = [
        re.compile("^The user sent no message since .* a reminder was due, .* stayed in talk.$"),
        "The user sent no message, and the time “after 2 seconds” passed, so the session moved "
        "from talk to cheaper; clerk answered.",
        re.compile("^The user sent no message since .* UTC, so the session was closed.$"),
        "The event 'sold' came from outside, so the session moved from cheaper to talk; clerk "
        "answered.",
    ]
    for turn, words in enumerate(told, 1):
        turns.select_option(str(turn))
        expect(sentence).to_have_text(words)
