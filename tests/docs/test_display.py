"""Displays of journeys, sessions and replies in a notebook, and their plain text elsewhere."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any
from xml.etree import ElementTree

import pytest
from langgraph.types import interrupt

from journeygraph import (
    Chat,
    ConfigurationError,
    Escalation,
    Field,
    IntentTrigger,
    Journey,
    JourneyConfig,
    JourneyDefinitionError,
    Pathway,
    ReturnToPrevious,
    Transition,
)
from journeygraph.graphs.drawing.pipelines import chart
from journeygraph.graphs.drawing.pipelines import svg as pipeline_svg
from journeygraph.graphs.drawing.svg import svg
from journeygraph.graphs.drawing.terminal import text
from journeygraph.journeys.examples.parcel_refund import AGENTS, ParcelRefund
from journeygraph.journeys.examples.pipelines.support_triage import PIPELINE
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
    chat = await talk(
        ParcelRefund, agents, memory_url, session_id="s<script>alert(1)<script> & more"
    )
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


def test_a_pipeline_shows_itself_as_its_picture() -> None:
    assert PIPELINE._repr_svg_() == pipeline_svg(chart(PIPELINE))


def test_an_abstract_journey_has_no_picture() -> None:
    class Base(Journey):
        """Nothing yet."""

    with pytest.raises(JourneyDefinitionError, match="Base is abstract: it has no pathways"):
        Base.draw()
    assert Base("s-1")._repr_svg_() is None


@pytest.mark.slow
def test_the_language_draws_without_loading_what_runs_it() -> None:
    script = (
        "import sys; from journeygraph.journeys.examples.parcel_refund import ParcelRefund\n"
        "assert 'journeygraph.graphs' not in sys.modules\n"
        "ParcelRefund.draw().svg\n"
        "assert 'journeygraph.graphs.drawing.svg' in sys.modules and 'langgraph' not in sys.modules"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )

    assert done.stderr == ""


# A chat in a cell.


SEATS = {"porter": lambda given: "We open at ten."}


class Seats(Journey):
    """Choose a seat."""

    class SeatPath(Pathway):
        __fields__ = [
            Field("seat", "enum", "Which seat?", choices=["A", "a", "B"]),
            Field("name", "text", "Whose name?"),
        ]

    class HoursPath(Pathway):
        __agents__ = ["porter"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(IntentTrigger(patterns=["open"]), to_pathway="hours")]


class Cell:
    """A chat as a cell shows it, and its user, who waits for what the page shows."""

    def __init__(self, chat: Chat) -> None:
        self.bundle = chat._repr_mimebundle_()
        panel = chat._widgets()
        assert panel
        self.messages, self.place, self.options, row = panel.box.children
        self.field, self.button = row.children

    async def ready(self) -> None:
        """Wait until the next message can be sent."""
        free = asyncio.Event()
        self.button.observe(lambda _: free.set(), "disabled")
        if self.button.disabled:
            await free.wait()

    async def writes(self, text: str, *, by_enter: bool = False) -> str:
        self.field.value = text
        if by_enter:
            self.field._handle_custom_msg({"event": "submit"}, [])
        else:
            self.button.click()
        assert self.button.disabled
        await self.ready()
        return self.shown[-1]

    async def chooses(self, label: str) -> str:
        (button,) = [one for one in self.options.children if one.description == label]
        button.click()
        await self.ready()
        return self.shown[-1]

    @property
    def shown(self) -> list[str]:
        """The texts of the messages, without markup."""
        return [re.sub(r"<.*?>", "", message.value) for message in self.messages.children]

    @property
    def labels(self) -> list[str]:
        return [button.description for button in self.options.children]


async def test_a_chat_is_held_by_writing_and_by_buttons() -> None:
    chat = Chat(Seats, agents=SEATS)
    cell = Cell(chat)
    await cell.ready()
    assert "application/vnd.jupyter.widget-view+json" in cell.bundle

    assert await cell.writes("hello") == "Assistant  Which seat? (A, a, B)"
    assert cell.labels == ["A", "a", "B"]
    assert cell.field.placeholder == "A, a, B"
    assert "open at ten" in await cell.writes("When are you open?", by_enter=True)
    assert "in hours, seat is paused" in cell.place.value
    assert await cell.chooses("a") == "Assistant  Whose name?"
    assert cell.shown[-2] == "You  a"
    assert (await chat.journey.transcript())[-2].content == "2. a"  # what the button sends
    assert cell.labels == []
    await cell.writes("<b>Lee</b>")
    assert "<b>Lee" not in cell.messages.children[-2].value
    assert "the journey is complete" in cell.place.value
    assert await chat.journey.snapshot() == {"seat": "a", "name": "<b>Lee</b>"}

    page = chat._repr_mimebundle_()
    assert page["text/plain"] == repr(chat)
    assert repr(chat).startswith("You: hello\nAssistant: Which seat? (A,")
    assert "Whose name?" in page["text/html"]
    assert "pip install" not in page["text/html"]


async def test_a_chat_streams_continues_and_shows_what_fails(memory_url: str) -> None:
    seen: list[str] = []
    is_shown = asyncio.Event()

    async def slow(given: Mapping[str, Any]) -> AsyncIterator[str]:
        yield "We open "
        await is_shown.wait()
        yield "at ten."

    def note(change: Mapping[str, Any]) -> None:
        seen.append(cell.shown[-1])
        is_shown.set()

    agents = {"porter": slow}
    async with Seats("s-1", JourneyConfig(persistence=memory_url), agents=agents) as seats:
        await seats.start()
        await seats.process_message("B")
        chat = Chat(seats)
        cell = Cell(chat)
        await cell.ready()
        assert cell.shown == ["You  B", "Assistant  Whose name?"]

        cell.messages.observe(lambda new: new["new"][-1].observe(note, "value"), "children")
        assert "We open at ten." in await cell.writes("When do you open?")
        assert seen[0] == "Assistant  We open "

        assert (await chat.say("Lee")).is_journey_complete
        assert cell.shown[-2] == "You  Lee"
        assert "Error" in await cell.writes("broken \ud800")
        assert not cell.button.disabled


async def test_without_widgets_a_chat_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    chat = Chat(Seats, agents=SEATS, session_id="s-7", context={"seat": "B"})

    page = chat._repr_mimebundle_()
    assert page["text/plain"].startswith("(not started)\nText only: `await chat.say(...)`")
    assert "journeygraph[notebook]" in page["text/html"]

    await chat.say("hello")
    assert (await chat.say("Lee")).is_journey_complete
    assert repr(chat).startswith("You: hello\nAssistant: Whose name?\nYou: Lee\n")
    assert repr(chat).endswith("\n(in seat, the journey is complete)")
    assert chat.journey.session_id == "s-7"
    assert "Whose name?" in chat._repr_mimebundle_()["text/html"]


async def test_a_chat_shows_why_a_session_does_not_start_and_starts_it_later() -> None:
    chat = Chat(Seats)
    cell = Cell(chat)
    await cell.ready()
    assert "Error" in cell.shown[0]
    assert "porter" in cell.shown[0]

    chat.journey.register_agent("porter", SEATS["porter"])
    assert await cell.writes("B") == "Assistant  Whose name?"


async def test_a_chat_holds_what_an_agent_asks_and_says_that_a_person_has_it() -> None:
    def porter(given: Mapping[str, Any]) -> str:
        return f"We open at {interrupt('On which day?')}."

    class Hall(Seats):
        __escalation__ = Escalation()

    chat = Chat(Hall, agents={"porter": porter})
    cell = Cell(chat)
    await cell.ready()

    assert await cell.writes("When do you open?") == "Assistant  On which day?"
    assert "We open at ten." in await cell.writes("ten")
    await cell.writes("I want to speak to a person")
    assert "a person has the conversation" in cell.place.value


def test_a_chat_refuses_what_is_no_journey() -> None:
    with pytest.raises(ConfigurationError, match="Chat needs a journey, not str"):
        Chat("seats")  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="give it agents where it is opened"):
        Chat(Seats("s-1"), agents=SEATS)
