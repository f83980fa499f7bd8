"""Displays of journeys, sessions and replies in a notebook, and their plain text elsewhere."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Awaitable, Callable
from xml.etree import ElementTree

import pytest

from graphs.drawing.svg import svg
from graphs.drawing.terminal import text
from journeys import Journey, JourneyDefinitionError
from journeys.examples.parcel_refund import AGENTS, ParcelRefund
from tests.support.talk import Talk

Opened = Callable[..., Awaitable[Talk]]
EVIL = '<script>alert("x")</script> & more'


@pytest.fixture
async def customer(talk: Opened, memory_url: str) -> Talk:
    """Someone in the middle of a refund, with a question that pauses it."""
    opened = await talk(ParcelRefund, AGENTS, memory_url)
    await opened.says("It is P-1042")
    await opened.says(f"How long does it take? {EVIL}")
    return opened


async def test_a_session_shows_itself_as_a_conversation(customer: Talk) -> None:
    session = await customer.journey.get_session_state()
    assert session is not None

    page = session._repr_html_()

    said = ["It is P-1042", "Found P-1042. Refund it to your card?", "A refund takes three"]
    places = [page.index(words) for words in said]
    assert places == sorted(places)
    assert page.count("<b>You</b>") == page.count("<b>Assistant</b>") == 2
    assert "in <b>policy</b>, refund is paused" in page
    assert "session s-1, version 2" in page
    assert "&quot;order&quot;: &quot;P-1042&quot;" in page


async def test_nothing_that_was_said_becomes_markup(talk: Opened, memory_url: str) -> None:
    agents = {**AGENTS, "order_clerk": lambda ask: {"response": EVIL, "order": EVIL}}
    chat = await talk(ParcelRefund, agents, memory_url, session_id=f"s{EVIL}")
    await chat.says(EVIL)
    session = await chat.journey.get_session_state()
    assert session is not None

    for page in (session._repr_html_(), chat.last._repr_html_()):
        assert "<script" not in page
        assert "&lt;script&gt;alert(" in page
        ElementTree.fromstring(page)


async def test_pages_take_their_colours_from_the_reader(customer: Talk) -> None:
    session = await customer.journey.get_session_state()
    assert session is not None

    page = session._repr_html_() + customer.last._repr_html_()

    assert ";color:" not in page
    assert '"color:' not in page
    assert "#" not in page  # all other colours are see-through


async def test_a_reply_shows_what_is_said_and_where_that_leads(customer: Talk) -> None:
    asked = customer.last._repr_html_()
    await customer.says("Good. Yes please.")

    assert "A refund takes three working days" in asked
    assert "in <b>policy</b>, refund is paused" in asked
    assert "in <b>refund</b>, the journey is complete" in customer.last._repr_html_()


async def test_as_text_sessions_and_replies_are_plain(customer: Talk) -> None:
    session = await customer.journey.get_session_state()

    assert repr(session).startswith("JourneySession(session_id='s-1', journey_id='parcel_refund'")
    assert repr(customer.last).startswith("JourneyResponse(message='A refund takes")


async def test_a_journey_shows_itself_as_its_picture(customer: Talk) -> None:
    assert customer.journey._repr_svg_() == svg(ParcelRefund.spec)


def test_a_journey_class_draws_itself_and_prints_as_text() -> None:
    drawing = ParcelRefund.draw()

    assert drawing._repr_svg_() == drawing.svg == svg(ParcelRefund.spec)
    assert str(drawing) == repr(drawing) == text(ParcelRefund.spec)


async def test_a_drawing_marks_where_a_session_stands(customer: Talk) -> None:
    drawing = ParcelRefund.draw(await customer.journey.get_session_state())

    root = ElementTree.fromstring(drawing.svg)
    boxes = [box.get("class") for box in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert {css for css in boxes if css and css.startswith("box")} == {
        "box",
        "box paused",
        "box detour here",
    }
    assert drawing.svg.count("● the session is here") == drawing.svg.count("‖ paused") == 1
    assert "The session is in policy. Paused: refund." in str(drawing)


def test_an_abstract_journey_has_no_picture() -> None:
    class Base(Journey):
        """Nothing yet."""

    with pytest.raises(JourneyDefinitionError, match="Base is abstract: it has no pathways"):
        Base.draw()
    assert Base("s-1")._repr_svg_() is None


def test_the_language_draws_without_loading_what_runs_it() -> None:
    script = (
        "import sys; from journeys.examples.parcel_refund import ParcelRefund\n"
        "assert 'graphs' not in sys.modules\n"
        "ParcelRefund.draw().svg\n"
        "assert 'graphs.drawing.svg' in sys.modules and 'langgraph' not in sys.modules"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )

    assert done.stderr == ""
