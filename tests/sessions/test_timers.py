"""Timers: a time without a message moves a session, reminds the user, and closes the session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.types import interrupt

from journeygraph import (
    NEVER,
    Concierge,
    ConfigurationError,
    Escalation,
    EventTrigger,
    IntentTrigger,
    Journey,
    JourneyDefinitionError,
    JourneyResponse,
    Pathway,
    Personality,
    Reminder,
    ReturnToPrevious,
    Silence,
    TimeTrigger,
    Transition,
    load_journey,
)
from journeygraph.graphs.storage.sqlite import SqliteJourneySaver
from journeygraph.nodes.json_data import clocked
from journeygraph.nodes.llm.scripted import ScriptedModel

Talk = Callable[..., Any]
START = datetime(2026, 3, 2, 9, tzinfo=UTC)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        return self.time

    def after(self, **given: float) -> None:
        self.time += timedelta(**given)


@pytest.fixture
def clock() -> Iterator[Clock]:
    clock = Clock()
    with clocked(clock):
        yield clock


class Offer(Journey):
    __entry_pathway__ = "talk"
    __escalation__ = Escalation(keywords=("lawyer",))
    __silence__ = Silence(
        reminders=[Reminder("20 hours"), Reminder("3 days", "Your offer ends soon.")],
        close_after="10 days",
        closing="We close the offer.",
    )

    class Talk(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

    class Discount(Pathway):
        __agents__ = ["discount"]
        __complete_when__ = NEVER

    class Ask(Pathway):
        __agents__ = ["asker"]

    class Note(Pathway):
        __agents__ = ["noter"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(TimeTrigger(days=2), "talk", "discount"),
        Transition(TimeTrigger(hours=12), "discount", "talk", {"again": "set:yes"}),
        Transition(EventTrigger("called"), to_pathway="discount"),
        Transition(IntentTrigger(["a question"]), to_pathway="ask"),
        Transition(IntentTrigger(["a note"]), to_pathway="note"),
    ]


AGENTS: dict[str, Any] = {
    "clerk": lambda ask: f"You said {ask['message']!r}.",
    "discount": lambda ask: "Ten percent less.",
    "asker": lambda ask: f"Noted: {interrupt('What is it?')}.",
    "noter": lambda ask: "Noted.",
}
REMINDER = "Are you still there? We can continue whenever you like."


async def taken(journey: Any) -> list[JourneyResponse]:
    """Take every timer that is due."""
    found = []
    while response := await journey.take_timer():
        found.append(response)
    return found


async def replies(journey: Any) -> list[str]:
    return [response.message for response in await taken(journey)]


async def test_a_time_without_a_message_moves_the_session_once(
    talk: Talk, store_url: str, clock: Clock
) -> None:
    journey = (await talk(Offer, AGENTS, store_url)).journey
    await journey.process_message("hello")
    clock.after(hours=1)
    assert await journey.next_timer() == START + timedelta(hours=20)
    assert await journey.take_timer() is None

    clock.after(hours=47)
    reminder, moved = await taken(journey)

    assert reminder.message == REMINDER
    assert (reminder.transition_to, reminder.metadata["ran"]) == (None, [])
    assert (moved.message, moved.transition_to) == ("Ten percent less.", "discount")
    assert moved.metadata["tier"] == "timer"
    assert moved.metadata["transition_intent"] == "after 2 days"
    versions = await journey.versions()
    assert [one.kind for one in versions] == ["start", "turn", "timer", "timer"]
    assert [one.message for one in versions[2:]] == [None, None]
    events = [one for one in await journey.audit() if one.kind == "timer"]
    assert [one.trigger for one in events] == ["reminder:0", "after 2 days"]
    assert events[0].reason == "no message since 2026-03-02T09:00:00.000000+00:00"
    assert [one.role for one in await journey.transcript()][-2:] == ["assistant", "assistant"]


async def test_times_of_a_move_count_from_it_and_each_fires_once_in_a_silence(
    talk: Talk, memory_url: str, clock: Clock
) -> None:
    journey = (await talk(Offer, AGENTS, memory_url)).journey
    clock.after(days=2)
    assert [one.transition_to for one in await taken(journey)] == [None, "discount"]
    assert await journey.next_timer() == clock.time + timedelta(hours=12)

    clock.after(hours=12)
    (back,) = await taken(journey)
    assert (back.transition_to, back.accumulated_context["again"]) == ("talk", "yes")

    clock.after(days=5)  # the first transition was taken in this silence
    assert await replies(journey) == ["Your offer ends soon."]
    await journey.process_message("hello")
    clock.after(days=2)
    assert [one.transition_to for one in await taken(journey)] == [None, "discount"]


async def test_a_message_moves_the_time_and_an_event_does_not(
    talk: Talk, store_url: str, clock: Clock
) -> None:
    journey = (await talk(Offer, AGENTS, store_url)).journey
    clock.after(hours=19)
    await journey.process_message("wait")
    clock.after(hours=19)
    assert await replies(journey) == []

    await journey.process_event("weighed", {"grams": 5})
    clock.after(hours=1)
    assert await replies(journey) == [REMINDER]
    await journey.process_event("called")
    assert await journey.next_timer() == clock.time + timedelta(hours=12)


async def test_a_silence_closes_the_session_and_a_message_opens_it_again(
    talk: Talk, store_url: str, clock: Clock
) -> None:
    journey = (await talk(Offer, AGENTS, store_url)).journey
    await journey.process_message("hello")
    clock.after(days=11)

    said = await replies(journey)
    assert [said[0], said[-1]] == [REMINDER, "We close the offer."]
    assert await journey.next_timer() is None
    state = await journey.get_session_state()
    assert (state.is_closed, state.is_journey_complete) == (True, False)
    assert await journey.list() == [state.session_id]

    await journey.process_message("I am back")
    state = await journey.get_session_state()
    assert not state.is_closed
    events = [one.kind for one in await journey.audit()]
    assert (events.count("closed"), events.count("reopened")) == (1, 1)
    assert await journey.next_timer() == clock.time + timedelta(hours=12)


async def test_no_timer_runs_while_a_person_has_the_conversation(
    talk: Talk, memory_url: str, clock: Clock
) -> None:
    journey = (await talk(Offer, AGENTS, memory_url)).journey
    await journey.process_message("lawyer")
    clock.after(days=5)
    assert await journey.next_timer() is None
    assert await replies(journey) == []

    await journey.release("Ada")
    assert await journey.next_timer() == clock.time + timedelta(hours=20)


async def test_no_timer_runs_while_an_agent_waits_for_an_answer(
    talk: Talk, memory_url: str, clock: Clock
) -> None:
    journey = (await talk(Offer, AGENTS, memory_url)).journey
    await journey.process_message("a question")
    clock.after(days=5)
    assert await replies(journey) == []

    assert (await journey.process_message("the colour")).message == "Noted: the colour."
    clock.after(hours=20)
    assert await replies(journey) == [REMINDER]


async def test_after_a_rollback_and_in_a_fork_time_counts_from_the_next_message(
    talk: Talk, store_url: str, clock: Clock
) -> None:
    journey = (await talk(Offer, AGENTS, store_url)).journey
    await journey.process_message("hello")
    fork = await journey.fork(1)
    await journey.rollback(0)
    assert await journey.next_timer() is None
    await journey.process_event("of no interest", {"seen": True})
    assert await journey.next_timer() is None
    await journey.process_message("hello")
    assert await journey.next_timer() == START + timedelta(hours=20)

    other = Offer(fork.session_id, journey.config, agents=AGENTS)
    assert await other.next_timer() is None
    await other.process_message("hello")
    clock.after(hours=20)
    assert await replies(other) == [REMINDER]
    await other.close()


async def test_a_detour_returns_with_a_message_and_not_with_a_timer(
    talk: Talk, memory_url: str, clock: Clock
) -> None:
    journey = (await talk(Offer, AGENTS, memory_url)).journey
    await journey.process_message("a note")
    clock.after(hours=20)
    assert await replies(journey) == [REMINDER]

    state = await journey.get_session_state()
    assert (state.current_pathway_id, state.returning) == ("note", True)
    assert "returned" not in {one.kind for one in await journey.audit()}
    response = await journey.process_message("hello")
    assert response.pathway_id == "talk"


async def test_a_timer_of_a_version_without_timers_does_nothing(
    talk: Talk, store_url: str, clock: Clock
) -> None:
    journey = (await talk(Offer, AGENTS, store_url)).journey
    clock.after(hours=20)

    class Plain(Journey, spec=replace(Offer.spec, transitions=(), silence=None, version="2")):
        """The same journey in a version without times."""

    plain = Plain(journey.session_id, journey.config, agents=AGENTS)
    (response,) = await taken(plain)
    await plain.close()

    assert (response.message, response.transition_to) == ("", None)
    assert await journey.next_timer() is None


async def test_the_silence_of_a_concierge_counts_where_a_journey_has_none(
    talk: Talk, memory_url: str, clock: Clock
) -> None:
    class Rent(Journey):
        __activation__ = [IntentTrigger(["rent"])]

        class Talk(Pathway):
            __agents__ = ["clerk"]
            __complete_when__ = NEVER

    class Buy(Rent):
        __activation__ = [IntentTrigger(["buy"])]
        __silence__ = Silence(reminders=[Reminder("2 hours", "Do you still want it?")])

    class Shop(Concierge):
        __journeys__ = [Rent, Buy]
        __silence__ = Silence(reminders=[Reminder("1 hour", "How can I help?")])

    journey = (await talk(Shop, {"clerk": AGENTS["clerk"]}, memory_url)).journey
    said = []
    for message in ("hello", "rent", "no, buy"):
        await journey.process_message(message)
        clock.after(hours=2)
        said.append(await replies(journey))

    assert said[:2] == [["How can I help?"], ["How can I help?"]]
    await journey.rollback(0)
    await journey.process_message("buy")
    clock.after(hours=2)
    assert await replies(journey) == ["Do you still want it?"]


async def test_a_reminder_is_worded_in_the_tone_of_the_journey(
    talk: Talk, memory_url: str, clock: Clock
) -> None:
    class Ship(Journey):
        __personality__ = Personality(name="Ada", tone="like a pirate", reword=True)
        __silence__ = Silence(reminders=[Reminder("1 hour")])

        class Talk(Pathway):
            __agents__ = ["clerk"]

    with ScriptedModel({"texts": ["Arr, still on board? We sail whenever you like."]}) as model:
        options = {"model": model}
        agents = {"clerk": AGENTS["clerk"]}
        journey = (await talk(Ship, agents, memory_url, options=options)).journey
        clock.after(hours=1)
        response = await journey.take_timer()

    assert response.message == "Arr, still on board? We sail whenever you like."
    assert response.metadata["usage"]["model_calls"] == 1


async def test_a_timer_longer_than_the_life_of_a_session_is_refused(
    talk: Talk, memory_url: str
) -> None:
    with pytest.raises(ConfigurationError, match=r"a timer after 10 days, .* Raise session_ttl"):
        await talk(Offer, AGENTS, memory_url, session_ttl_seconds=86_400)


async def test_a_timer_outlives_its_process_and_goes_with_its_session(
    talk: Talk, store_url: str, clock: Clock
) -> None:
    call = await talk(Offer, AGENTS, store_url)
    await call.journey.process_message("hello")
    clock.after(days=1)

    again = (await call.restored()).journey
    assert await replies(again) == [REMINDER]
    await again.delete()
    await again.start()
    assert await again.next_timer() == clock.time + timedelta(hours=20)


async def test_a_plain_journey_writes_no_timer(
    talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Plain(Journey):
        class Talk(Pathway):
            __agents__ = ["clerk"]

    written: list[str] = []
    write = SqliteJourneySaver.write

    async def noted(self: Any, statements: Any) -> None:
        written.extend(one.sql.sqlite or "" for one in statements)
        await write(self, statements)

    monkeypatch.setattr(SqliteJourneySaver, "write", noted)
    journey = (await talk(Plain, {"clerk": AGENTS["clerk"]}, f"sqlite:///{tmp_path}/s.db")).journey
    await journey.process_message("hello")

    assert written
    assert not [sql for sql in written if "timers" in sql]
    assert await journey.next_timer() is None


FILE = """\
id: parcel
silence:
  reminders:
    - {after: 1 hour, say: Hello?}
  close_after: 1 week
states:
  wait: {agents: [clerk], complete_when: never}
  late: {agents: [discount], complete_when: never}
transitions:
  - {from: wait, to: late, after: 2 days}
"""


async def test_a_file_has_times_and_a_silence(
    talk: Talk, memory_url: str, tmp_path: Path, clock: Clock
) -> None:
    (tmp_path / "parcel.yaml").write_text(FILE)
    agents = {name: AGENTS[name] for name in ("clerk", "discount")}
    parcel = load_journey(tmp_path / "parcel.yaml")
    journey = (await talk(parcel, agents, memory_url)).journey
    clock.after(days=8)

    said = await replies(journey)

    assert said[:2] == ["Hello?", "Ten percent less."]
    assert said[2].startswith("You have not written for a while")


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ("after: 2 days", "after: soon", "it must be a time such as '2 days'"),
        ("after: 2 days", "after: 2 days, patterns: [x]", "after cannot be combined with patterns"),
        ("close_after: 1 week", "close_after: 1 hour", "a reminder after 1 hour never comes"),
        ("say: Hello?", "sya: Hello?", "Did you mean 'say'?"),
    ],
)
def test_faults_of_times_have_their_place(
    wrong: str, right: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "parcel.yaml").write_text(FILE.replace(wrong, right))
    with pytest.raises(JourneyDefinitionError) as refused:
        load_journey(tmp_path / "parcel.yaml")
    assert said in str(refused.value)
