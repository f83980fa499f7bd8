"""Conversations of stored sessions, recorded as tests: green at once, red after a change."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from journeygraph import JourneyConfig, Locale
from journeygraph.nodes.llm.scripted import ScriptedModel, leads_nowhere
from journeygraph.server.cli.command_line import app
from journeygraph.server.conversations import conversation_files
from journeygraph.server.conversations.player import play
from journeygraph.server.discover.journeys import find
from tests.support.command import flat, folder, logging_as_before, run

__all__ = ["folder", "logging_as_before"]

DESK = """
id: desk
name: Desk
initial_state: order
texts: {ask: "What about {field}?"}
personality: {greeting: Welcome to the desk!}
tools:
  - type: function
    function:
      name: order
      description: Order it.
      parameters: {type: object, properties: {item: {type: string}, count: {type: integer}}}
states:
  order:
    fields:
      - {name: item, type: enum, ask: "A pear or a plum?", choices: [pear, plum]}
      - {name: count, type: integer, ask: "How many?", validators: [{range: {least: 1, most: 9}}]}
      - {name: note, ask: "Anything else?", required: false}
    effects:
      - {tool: order, save: ordered, done: "It is ordered: {ordered}."}
    next: after
  after:
    agents: [clerk]
    complete_when: never
  hours:
    agents: [clock]
  late:
    agents: [sorry]
transitions:
  - {to: late, event: late, detour: true}
  - {to: hours, patterns: [are you open], condition: asks for the hours, detour: true}
"""
CODE = '''
import uuid

def order(item: str, count: int) -> str:
    """Order it."""
    return uuid.uuid4().hex


AGENTS = {"sorry": lambda ask: "It takes longer."}
AGENTS["clerk"] = lambda ask: "Anything else I can do?"
AGENTS |= {"clock": lambda ask: "From nine to five."}
TOOLS = {"order": order}
'''
SAID = ["hello", "a pear", "12", "4", "are you open?", "no, a plum", "no", "thank you"]


@pytest.fixture
def desk(folder: Path) -> Path:
    (folder / "desk.yaml").write_text(DESK)
    (folder / "desk.py").write_text(CODE)
    return folder


def chatted(folder: Path, *lines: str, journey: str = "desk.yaml") -> str:
    store = f"sqlite:///{folder}/s.db"
    typed = "\n".join(lines)
    return run("chat", journey, "--store", store, "--session", "s", typed=typed).stdout


def recorded(folder: Path, *words: str, code: int = 0) -> str:
    store = f"sqlite:///{folder}/s.db"
    ended = run("record", "s", "--store", store, *words, code=code)
    return flat(ended.stdout if code == 0 else ended.stderr)


def test_a_recorded_conversation_passes_at_once(desk: Path) -> None:
    chatted(desk, *SAID)

    assert "Written: s.conversation.yaml (8 messages)" in recorded(desk, "--journey", "desk.yaml")

    assert "1 passed, 0 failed" in run("test", ".").stdout
    text = (desk / "s.conversation.yaml").read_text()
    assert "Welcome to the desk!" in text
    assert "count: [invalid, valid]" in text


def test_events_are_recorded_with_their_data(desk: Path) -> None:
    late = '/event late {"days": 3, "hint": null}'
    said = ["hello", '/event busy {"queue": 4}', "a pear", late, "/event", "/event x y"]

    shown = chatted(desk, *said)

    assert "It takes longer." in shown
    recorded(desk, "--journey", "desk.yaml")
    text = (desk / "s.conversation.yaml").read_text()
    assert "- event: busy\n  data: {queue: 4}\n" in text
    assert "- event: late\n  data: {days: 3, hint: null}\n" in text
    assert "1 passed, 0 failed" in run("test", ".").stdout

    (desk / "s.conversation.yaml").write_text(text.replace("event: late", "event: soon"))
    assert "1 failed" in run("test", ".", code=1).stdout


OFFER = """\
id: offer
silence: {reminders: [{after: 20 hours, say: Shall we continue?}], close_after: 7 days}
states:
  talk: {agents: [clerk], complete_when: never}
  discount: {agents: [discount], complete_when: never}
transitions:
  - {from: talk, to: discount, after: 2 days}
"""
OFFER_CODE = """
AGENTS = {"clerk": lambda ask: "This is our offer.", "discount": lambda ask: "Ten percent less."}
"""


def test_times_without_a_message_are_tried_and_recorded(folder: Path) -> None:
    (folder / "offer.yaml").write_text(OFFER)
    (folder / "offer.py").write_text(OFFER_CODE)
    said = ["hello", "/wait 1 hour", "/wait 2 days", "/wait soon", "thank you", "/wait 1 day"]
    said += ["/event seen", "/wait 8 days"]

    store = f"sqlite:///{folder}/s.db"
    words = ("chat", "offer.yaml", "--store", store, "--session", "s")
    ended = run(*words, typed="\n".join([*said, "/state"]))

    shown = flat(ended.stdout)
    assert shown.count("Nothing was due.") == 1
    assert "Give a time: /wait 2 days" in flat(ended.stderr)
    assert shown.count("Shall we continue?") == 2
    assert "Ten percent less." in shown
    assert "closed until the next message" in shown
    recorded(folder, "--journey", "offer.yaml")
    text = (folder / "s.conversation.yaml").read_text()
    assert (
        "- {wait: 2 days}\n- bot:\n    says: {equals: 'Shall we continue? Ten percent less.'}"
        in text
    )
    assert "- {wait: 20 hours}\n" in text
    assert "event: seen" in text
    assert "wait: 6 days" in text
    assert "1 passed, 0 failed" in run("test", ".").stdout

    (folder / "s.conversation.yaml").write_text(text.replace("wait: 2 days", "wait: 1 day"))
    assert "1 failed" in run("test", ".", code=1).stdout


def test_the_file_of_a_session_is_in_the_current_folder_whatever_its_id(desk: Path) -> None:
    store, session = f"sqlite:///{desk}/s.db", r"..\a\b: c"
    run("chat", "desk.yaml", "--store", store, "--session", session, typed="hello")

    run("record", session, "--store", store, "--journey", "desk.yaml")

    assert (desk / "_a_b__c.conversation.yaml").exists()


CHANGES = [
    ("Welcome to the desk!", "Welcome!"),
    ("A pear or a plum?", "A plum or a pear?"),
    ("most: 9", "most: 12"),
    ("{name: note, ask", "{name: remark, ask"),
    ("type: integer, ask", "type: text, ask"),
    ("required: false", "required: true"),
    ("It is ordered", "Ordered"),
    ("save: ordered,", "save: booked,"),
    ("next: after", "next: hours"),
    ("are you open", "opening hours"),
    ("choices: [pear, plum]", "choices: [pear, apple]"),
    ('      - {tool: order, save: ordered, done: "It is ordered: {ordered}."}\n', ""),
    ('      - {name: note, ask: "Anything else?", required: false}\n', ""),
]


_HELD: list[str] = []


def write_recorded(desk: Path) -> None:
    """Write the recorded conversation; it is held and recorded once, for all who change it."""
    file = desk / "s.conversation.yaml"
    if not _HELD:
        chatted(desk, *SAID)
        recorded(desk, "--journey", "desk.yaml")
        _HELD.append(file.read_text())
    file.write_text(_HELD[0])


@pytest.mark.parametrize(("was", "now"), CHANGES)
def test_a_change_of_the_journey_makes_it_differ(desk: Path, was: str, now: str) -> None:
    write_recorded(desk)
    changed = DESK.replace(was, now)
    if "effects:\n    next" in changed:
        changed = changed.replace("    effects:\n", "")
    assert changed != DESK
    (desk / "desk.yaml").write_text(changed)
    find_again()

    ended = CliRunner().invoke(app, ["test", "."])

    assert ended.exit_code in (1, 2), ended.output


def find_again() -> None:
    conversation_files._found.cache_clear()


def test_save_in_a_chat(desk: Path) -> None:
    shown = chatted(desk, *SAID[:3], "/save first.conversation.yaml", "4", "/save")

    assert "Written: first.conversation.yaml (3 messages)" in shown
    assert "Written: s.conversation.yaml (4 messages)" in shown
    assert "2 passed, 0 failed" in run("test", ".").stdout


def test_turns_that_were_rolled_back_are_left_out(desk: Path) -> None:
    chatted(desk, "hello", "a pear", "4", "/rollback 2", "5", "no")

    assert "(4 messages)" in recorded(desk, "--journey", "desk.yaml")

    text = (desk / "s.conversation.yaml").read_text()
    assert '"5"' in text
    assert '"4"' not in text
    assert "1 passed" in run("test", ".").stdout


async def test_a_person_a_locale_a_context_and_times_are_repeated(folder: Path) -> None:
    config = JourneyConfig(persistence=f"sqlite:///{folder}/s.db")
    found = find("table_booking")
    given: dict[str, Any] = {"agents": found.agents, "tools": found.tools, "model": False}
    async with found.journey("s", config, **given) as journey:
        locale = Locale(language="en", region="GB", timezone="Europe/London")
        await journey.start({"guest": "Lee"}, locale=locale)
        for message in ("a table for four tomorrow at 7 pm", "a complaint"):
            await journey.process_message(message)
        await journey.claim("Kim")
        await journey.operator_says("I am Kim.", "Kim")
        await journey.process_message("hello Kim")
        await journey.release("Kim")
        await journey.process_message("no")
    # The rest is a command of its own loop.
    told = await asyncio.to_thread(recorded, folder)

    assert "Written" in told
    text = (folder / "s.conversation.yaml").read_text()
    for part in (
        "timezone: Europe/London",
        "guest: Lee",
        "operator: I am Kim.",
        "release: operator",
    ):
        assert part in text
    loaded = conversation_files.load_conversation(folder / "s.conversation.yaml")
    assert (await play(loaded)).passed


async def test_a_conversation_with_a_model_is_refused(folder: Path) -> None:
    found = find("parcel_refund")
    config = JourneyConfig(persistence=f"sqlite:///{folder}/s.db")
    model = ScriptedModel(always=leads_nowhere)
    async with found.journey("s", config, agents=found.agents, model=model) as journey:
        await journey.start()
        await journey.process_message("my parcel never came")

    told = await asyncio.to_thread(recorded, folder, code=1)

    assert "A model took part in turn 1 of 's', and its answers are not stored." in told
    assert "Add --live" in told


def test_what_cannot_be_recorded_is_said(desk: Path) -> None:
    assert "There is no session 's' in the store." in recorded(desk, code=1)
    chatted(desk, "hello", "a pear")
    assert "Name it: --journey NAME." in recorded(desk, code=2)
    assert "is one of desk, and not of table_booking" in recorded(
        desk, "--journey", "table_booking", code=2
    )
    recorded(desk, "--journey", "desk.yaml")
    assert "s.conversation.yaml exists already." in recorded(desk, "--journey", "desk.yaml", code=2)


def test_a_journey_that_leads_elsewhere_by_now_is_said(desk: Path) -> None:
    chatted(desk, "are you open?")
    (desk / "desk.yaml").write_text(DESK.replace("are you open", "opening hours"))

    told = recorded(desk, "--journey", "desk.yaml", code=1)

    assert "Turn 1 led to 'hours', and now to 'order'" in told
    assert not (desk / "s.conversation.yaml").exists()
