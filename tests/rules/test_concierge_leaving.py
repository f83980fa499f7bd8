"""Leaving a journey of a concierge: the cleared context, and the start of the next one."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver

from journeygraph import (
    NEVER,
    Concierge,
    ConditionTrigger,
    Journey,
    MergeStrategy,
    Pathway,
    Texts,
    Transition,
)
from journeygraph.nodes.commands import Verdict
from journeygraph.nodes.draft import beginning
from journeygraph.nodes.llm.scripted import ScriptedModel, leads_to
from journeygraph.nodes.state.stack import Situation
from journeygraph.nodes.steer import SteeringLimits, steer
from tests.support.clerks import said, staff
from tests.support.house_desk import ASKED, STAFF, Desk, Moving
from tests.support.talk import Talk

CANCELLED = Texts().cancelled


async def say(chat: Talk, *messages: str) -> Talk:
    for message in messages:
        await chat.says(message)
    return chat


# --- Completed -----------------------------------------------------------------------------------


async def test_a_completed_journey_frees_the_session_for_another(talk, memory_url):
    chat = await say(await talk(Desk, STAFF, memory_url), "moving house", "customer=c1")

    assert await chat.says("date=may") == "planner: date=may"

    data = chat.last.metadata
    assert (chat.last.pathway_id, chat.last.is_journey_complete) == ("concierge", True)
    assert (data["journey_completed"], data["journey_id"]) == ("moving", None)
    assert data["journey_result"] == {"date": "may"}
    assert chat.context == {"customer": "c1"}
    session = await chat.journey.get_session_state()
    assert session is not None
    assert not session.is_journey_complete

    assert await chat.says("my door is broken") == "reporter: my door is broken"

    data = chat.last.metadata
    assert (chat.last.is_journey_complete, data["journey_completed"]) == (False, None)
    assert data["journey_id"] == "repair"
    assert chat.context == {"customer": "c1"}


async def test_what_a_journey_does_not_share_is_forgotten_and_what_it_never_had_stays(
    talk, memory_url
):
    chat = await talk(Desk, STAFF, memory_url, context={"tenant": "yes", "date": "old"})

    await say(chat, "it is broken", "thing=door customer=c2", "visit=monday")

    assert chat.last.metadata["journey_completed"] == "repair"
    assert chat.last.metadata["journey_result"] == {
        "date": "old",  # a name of its own, whoever gave it its value
        "customer": "c2",
        "thing": "door",
        "visit": "monday",
    }
    assert chat.context == {"tenant": "yes"}


async def test_the_same_journey_may_start_again_afresh(talk, memory_url):
    chat = await talk(Desk, STAFF, memory_url)
    await say(chat, "it is broken", "thing=door", "visit=monday", "it is broken")

    assert chat.path == ["repair.report", "repair.visit", "concierge", "repair.report"]
    assert chat.context == {}
    assert await chat.says("hm") == "reporter: hm"


async def test_a_journey_may_be_completed_by_the_message_that_starts_it(talk, memory_url):
    chat = await talk(Desk, STAFF, memory_url, context={"customer": "c1"})

    assert await chat.says("moving house") == "identifier: moving house"
    assert await chat.says("date=june") == "planner: date=june"
    assert chat.path == ["moving.plan", "concierge"]


async def test_the_end_of_each_journey_is_called_back(talk, memory_url):
    ends: list[Any] = []
    chat = await talk(Desk, STAFF, memory_url, options={"on_end": ends.append})
    await say(chat, "it is broken", "thing=door", "visit=monday", "hello", "never mind")
    await say(chat, "moving house", "customer=c date=x", "date=y")

    assert [end.metadata["journey_completed"] for end in ends] == ["repair", "moving"]


async def test_a_message_that_is_no_turn_completes_nothing_again(talk, memory_url):
    chat = await talk(Desk, STAFF, memory_url)
    await say(chat, "it is broken", "thing=door", "visit=monday", "")

    assert chat.last.metadata["flags"] == ["empty_message"]
    assert not chat.last.is_journey_complete
    assert chat.last.metadata["journey_completed"] is None


# --- Cancelled -----------------------------------------------------------------------------------


async def test_the_user_may_give_a_journey_up_in_the_middle_of_a_detour(talk, memory_url):
    chat = await say(await talk(Desk, STAFF, memory_url), "moving house", "customer=c1 date=may")
    await chat.says("opening hours?")
    assert (chat.path[-1], chat.stack) == ("moving.hours", ["moving.plan"])

    assert await chat.says("oh, never mind") == CANCELLED

    assert (chat.path[-1], chat.stack, chat.ran) == ("concierge", [], [])
    assert chat.context == {"customer": "c1"}
    assert chat.last.metadata["journey_id"] is None
    assert not chat.last.is_journey_complete
    assert chat.last.metadata["journey_completed"] is None
    assert (await chat.audited())[-3:] == ["transition", "detour_left", "stack_cleared"]
    assert await chat.says("hm") == ASKED


async def test_a_model_may_hear_that_the_user_gives_up(talk, memory_url):
    with ScriptedModel(leads_to("concierge", confidence=0.7)) as model:
        chat = await talk(Desk, STAFF, memory_url, options={"model": model})
        await say(chat, "moving house", "I would rather stay")

        assert chat.last.message == CANCELLED
        questions = json.loads(model.calls[0].message)["questions"]
        assert [row["leads_to"] for row in questions] == ["concierge", "repair.report"]


async def test_there_is_nothing_to_give_up_in_the_reception(talk, memory_url):
    chat = await talk(Desk, STAFF, memory_url)

    assert await chat.says("never mind") == ASKED


async def test_giving_up_comes_before_every_other_move(talk, memory_url):
    chat = await talk(Desk, STAFF, memory_url)
    await say(chat, "moving house", "opening hours? never mind")

    assert chat.path[-1] == "concierge"


# --- Handed over ---------------------------------------------------------------------------------


async def test_one_journey_hands_over_to_another_with_what_it_shares(talk, memory_url):
    chat = await say(await talk(Desk, STAFF, memory_url), "moving house", "customer=c1")
    await say(chat, "date?")
    began = chat.last.metadata["activated_at"]

    assert await chat.says("the lift does not move") == "reporter: the lift does not move"

    assert (chat.path[-1], chat.last.metadata["journey_id"]) == ("repair.report", "repair")
    assert chat.context == {"customer": "c1", "urgent": "yes"}
    assert chat.last.metadata["activated_at"] > began
    assert chat.last.metadata["journey_completed"] is None


async def test_a_hand_over_reads_what_is_forgotten_by_it(talk, memory_url):
    chat = await say(await talk(Desk, STAFF, memory_url), "moving house date=may")
    assert chat.context == {"date": "may"}

    await chat.says("the lift")
    assert chat.context == {"due": "may", "urgent": "yes"}

    await say(chat, "thing=lift", "visit=today")
    assert chat.last.metadata["journey_result"] == {
        "due": "may",
        "urgent": "yes",
        "thing": "lift",
        "visit": "today",
    }
    assert chat.context == {}


class Note(Journey):
    """Note one thing."""

    __activation__ = [said("one note")]

    class NotePath(Pathway):
        __agents__ = ["noter"]
        __accumulate__ = ["item"]
        __complete_when__ = NEVER


class Collect(Journey):
    """Collect many things."""

    __activation__ = [said("many notes")]

    class CollectPath(Pathway):
        __agents__ = ["collector"]
        __accumulate__ = {"item": MergeStrategy.APPEND}
        __complete_when__ = NEVER


class Office(Concierge):
    """Note things."""

    __journeys__ = [Note, Collect]
    __cancel__ = said("stop")


async def test_a_name_is_merged_as_its_own_journey_says(talk, memory_url):
    chat = await talk(Office, staff(Office), memory_url)
    await say(chat, "one note", "item=a", "item=b")
    assert chat.context == {"item": "b"}

    await say(chat, "stop", "many notes", "item=a", "item=b")
    assert chat.context == {"item": ["a", "b"]}


async def test_the_same_name_in_two_journeys_is_each_ones_own(talk, memory_url):
    chat = await say(await talk(Desk, STAFF, memory_url), "moving house date=may")
    await say(chat, "never mind", "it is broken")
    assert chat.context == {}

    await chat.says("date=june")
    assert chat.context == {"date": "june"}


async def test_a_hand_over_leaves_a_detour(talk, memory_url):
    chat = await say(await talk(Desk, STAFF, memory_url), "moving house", "opening hours?")

    await chat.says("and the lift?")

    assert (chat.path[-1], chat.stack) == ("repair.report", [])
    assert (await chat.audited())[-1] == "stack_cleared"


# --- Conditions ----------------------------------------------------------------------------------


class Watch(Journey):
    """Watch something."""

    __activation__ = [said("watch")]
    __shared__ = ["level"]

    class LookPath(Pathway):
        __agents__ = ["watchman"]
        __accumulate__ = ["level"]
        __complete_when__ = NEVER

    class AlarmPath(Pathway):
        __agents__ = ["siren"]
        __complete_when__ = NEVER

    __transitions__ = [
        Transition(ConditionTrigger(lambda context: context.get("level") == "high"), "*", "alarm")
    ]


class Tower(Concierge):
    """Keep watch."""

    __journeys__ = [Watch]
    __cancel__ = said("stand down")


async def test_a_condition_that_fired_counts_again_when_its_journey_begins_anew(talk, memory_url):
    chat = await talk(Tower, staff(Tower), memory_url)
    await say(chat, "watch", "level=high", "and?", "and now?")
    assert chat.path[-2:] == ["watch.alarm", "watch.alarm"]
    assert chat.replies[-1].transition_to is None

    await say(chat, "stand down", "watch", "well?")

    assert chat.path[-3:] == ["concierge", "watch.look", "watch.alarm"]
    assert chat.context == {"level": "high"}


# --- Kept ----------------------------------------------------------------------------------------


class Weigh(Journey):
    """Weigh something."""

    __activation__ = [said("weigh")]

    class ScalePath(Pathway):
        __agents__ = ["scale"]
        __accumulate__ = ["grams"]
        __complete_when__ = NEVER

    class HeavyPath(Pathway):
        __agents__ = ["crane"]
        __complete_when__ = NEVER

    __transitions__ = [
        Transition(ConditionTrigger(lambda context: int(context["grams"]) > 5), "*", "heavy")
    ]


class Yard(Concierge):
    """Weigh and watch."""

    __journeys__ = [Weigh, Watch]
    __cancel__ = said("stand down")


async def test_a_condition_of_a_journey_that_is_not_active_is_no_fault(talk, memory_url):
    chat = await talk(Yard, staff(Yard), memory_url)
    await say(chat, "hello", "watch", "and?", "stand down")
    assert [reply.metadata["flags"] for reply in chat.replies] == [[], [], [], []]

    await say(chat, "weigh", "grams=9", "and?", "stand down", "weigh", "grams=7", "and now?")

    assert chat.path[-3:] == ["weigh.scale", "weigh.scale", "weigh.heavy"]
    assert "condition_raised" in chat.replies[5].metadata["flags"]  # it is active, and its fault
    assert (await chat.audited()).count("condition_raised") == 2


async def test_a_session_goes_on_in_a_fresh_process_between_any_two_turns(talk, kept_url):
    chat = await talk(Desk, STAFF, kept_url)
    said_to = ["moving house", "customer=c1", "opening hours?", "the lift", "thing=l", "visit=v"]
    for message in said_to:
        await chat.says(message)
        await chat.restored()

    assert chat.path == [
        "moving.identify",
        "moving.plan",
        "moving.hours",
        "repair.report",
        "repair.visit",
        "concierge",
    ]
    assert chat.context == {}
    assert chat.last.metadata["journey_completed"] == "repair"


async def test_a_rollback_goes_back_into_a_journey_that_was_completed(talk, memory_url):
    chat = await say(await talk(Desk, STAFF, memory_url), "moving house", "customer=c1", "date=may")
    active = chat.replies[1].metadata["activated_at"]

    await chat.journey.rollback(2)

    await chat.says("hm")
    assert (chat.path[-1], chat.context) == ("moving.plan", {"customer": "c1"})
    assert chat.last.metadata["activated_at"] == active


async def test_the_versions_tell_which_journey_was_active_when(talk, memory_url):
    chat = await talk(Desk, STAFF, memory_url)
    await say(
        chat, "hello", "moving house", "the lift", "thing=lift", "visit=today", "moving house"
    )

    rows = await chat.journey.versions()
    assert [(row.journey_id, row.pathway_id) for row in rows] == [
        (None, "concierge"),
        (None, "concierge"),
        ("moving", "moving.identify"),
        ("repair", "repair.report"),
        ("repair", "repair.visit"),
        (None, "concierge"),
        ("moving", "moving.identify"),
    ]
    ends = [row for row in await chat.journey.audit() if row.kind == "journey_completed"]
    assert [(row.turn, row.from_pathway, row.to_pathway) for row in ends] == [
        (5, "repair.visit", "concierge")
    ]


async def test_a_plain_journey_says_which_one_it_is(talk, memory_url):
    chat = await talk(Moving, staff(Moving), memory_url)
    await chat.says("hello")

    assert chat.last.metadata["journey_id"] == "moving"
    assert "journey_completed" not in chat.last.metadata
    assert [row.journey_id for row in await chat.journey.versions()] == ["moving", "moving"]


async def test_a_stream_tells_what_the_reception_says(talk, memory_url):
    chat = await talk(Desk, STAFF, memory_url)

    told = [event async for event in chat.journey.stream_message("hello")]

    assert "".join(event.data["text"] for event in told if event.type == "token") == ASKED
    assert told[-1].data["response"].pathway_id == "concierge"


async def test_a_stream_tells_that_a_journey_was_given_up(talk, memory_url):
    chat = await say(await talk(Desk, STAFF, memory_url), "moving house")

    told = [event async for event in chat.journey.stream_message("never mind")]

    assert [event.type for event in told] == ["transition", "token", "done"]
    assert told[1].data["text"] == CANCELLED


async def test_a_saver_of_ones_own_keeps_it_as_well(talk, memory_url):
    chat = await talk(Desk, STAFF, memory_url, options={"saver": InMemorySaver()})
    await say(chat, "moving house", "the lift", "thing=lift", "visit=today", "moving house")

    assert chat.path[-2:] == ["concierge", "moving.identify"]
    await chat.journey.rollback(3)
    assert await chat.says("visit=now") == "fitter: visit=now"


# --- Wherever it stands --------------------------------------------------------------------------

IDS = [move.id for move in Desk.spec.transitions]
VERDICTS = st.builds(
    Verdict,
    st.sampled_from([*IDS, "start:bank"]),
    st.booleans(),
    st.sampled_from(["pattern", "condition", "own", "model", "cache"]),
    st.floats(min_value=-1, max_value=2),
)
LIMITS = SteeringLimits(depth=3, confidence=0.7, activation=0.7)


@given(st.lists(st.lists(VERDICTS, max_size=4), max_size=8))
def test_whatever_is_said_it_stands_in_one_journey_or_in_none(turns):
    """Only what starts, hands over or ends a journey leads out of it, and nothing is left of it."""
    spec, position = Desk.spec, beginning(Desk.spec)
    for number, verdicts in enumerate(turns, 1):
        steering = steer(spec, Situation(position, {}, "", number), verdicts, LIMITS)
        before, after = (spec.part_of(p["pathway"]).id for p in (position, steering.position))
        fired = next((m for m in spec.transitions if _fired(steering) == m.id), None)
        if before != after:
            assert fired is not None
            assert fired.kind in ("activation", "hand_over", "cancel")
            assert steering.position["stack"] == []
        paused = {frame["pathway"] for frame in steering.position["stack"]}
        assert {spec.part_of(pathway).id for pathway in paused} <= {after}
        if after == "desk":
            assert (steering.position["returning"], paused) == (False, set())
        assert "activated_at" not in steering.position or before == after
        position = steering.position


def _fired(steering):
    return steering.transition["id"] if steering.transition else None
