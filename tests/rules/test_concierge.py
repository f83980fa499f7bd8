"""Messages that start a journey of a concierge, and messages that start none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from journeygraph import (
    AlwaysTrigger,
    Concierge,
    Guideline,
    IntentTrigger,
    Journey,
    Pathway,
    Texts,
    Transition,
)
from journeygraph.nodes.llm.scripted import Fault, ScriptedModel, leads_nowhere, leads_to
from tests.support.clerks import staff
from tests.support.house_desk import ASKED, STAFF, Desk, Moving, Repair
from tests.support.talk import Talk

UNSURE = Texts().unsure


class CannedDesk(Concierge):
    """Look after houses."""

    __journeys__ = [Moving, Repair]
    __otherwise__ = "canned"


class FreeDesk(Concierge):
    """Look after houses."""

    __journeys__ = [Moving, Repair]
    __otherwise__ = "freeform"


@pytest.fixture
def desk(talk, memory_url):
    """Open a conversation with a desk: `await desk(model)`."""

    async def begin(model: Any = None, kind: type[Journey] = Desk, **options: Any) -> Talk:
        return await talk(kind, STAFF, memory_url, options={"model": model}, **options)

    return begin


def verdict(question: str, confidence: float, *, holds: bool = True) -> dict[str, Any]:
    return {"question": question, "holds": holds, "confidence": confidence, "reason": "so it says"}


def judged(*verdicts: Any, commands: Any = ()) -> dict[str, Any]:
    return {"verdicts": list(verdicts), "commands": list(commands)}


async def test_a_pattern_starts_a_journey_which_answers_in_the_same_turn_without_a_call(desk):
    with ScriptedModel() as model:
        chat = await desk(model)

        assert await chat.says("I am moving house") == "identifier: I am moving house"

        data = chat.last.metadata
        assert (chat.last.pathway_id, chat.last.transition_to) == ("moving.identify",) * 2
        assert (data["journey_id"], data["tier"]) == ("moving", "pattern")
        assert data["usage"]["model_calls"] == 0
        assert data["activated_at"] == (await chat.journey.versions())[1].begun_at


async def test_words_start_a_journey_by_one_call(desk):
    with ScriptedModel(leads_to("repair.report", confidence=0.93)) as model:
        chat = await desk(model)

        assert await chat.says("water everywhere") == "reporter: water everywhere"

        assert (chat.last.metadata["journey_id"], chat.last.metadata["tier"]) == ("repair", "model")
        assert chat.last.metadata["usage"]["model_calls"] == 1
        asked = json.loads(model.calls[0].message)
        assert [row["leads_to"] for row in asked["questions"]] == [
            "moving.identify",
            "repair.report",
        ]


async def test_a_condition_on_the_context_starts_a_journey_once(desk):
    chat = await desk(context={"alarm": "on"})

    assert await chat.says("hello") == "reporter: hello"
    assert await chat.says("never mind") == Texts().cancelled
    assert await chat.says("hello again") == ASKED


@pytest.mark.parametrize(
    ("confidence", "config", "stands_in"),
    [
        (0.7, {}, "concierge"),
        (0.7000001, {}, "moving.identify"),
        (0.4, {"activation_confidence_threshold": 0.4}, "concierge"),
        (0.41, {"activation_confidence_threshold": 0.4}, "moving.identify"),
        (1.0, {"activation_confidence_threshold": 0.99}, "moving.identify"),
        (1.0, {"activation_confidence_threshold": 1.0}, "concierge"),
    ],
    ids=["at", "over", "at a set one", "over a set one", "certain", "never sure enough"],
)
async def test_a_verdict_must_be_over_the_threshold(desk, confidence, config, stands_in):
    with ScriptedModel(leads_to("moving.identify", confidence=confidence)) as model:
        chat = await desk(model, **config)
        await chat.says("new keys for a new home")

        assert chat.path == [stands_in]
        doubts = ["below_threshold"] if stands_in == "concierge" else []
        assert chat.last.metadata["flags"] == doubts


async def test_a_pattern_starts_a_journey_whatever_the_threshold_is(desk):
    chat = await desk(activation_confidence_threshold=1.0)

    await chat.says("we are moving house")

    assert chat.path == ["moving.identify"]


class Strict(Journey):
    """Only what is certain starts it."""

    __activation__ = [IntentTrigger(description="wants it", confidence_threshold=0.9)]

    class AskPath(Pathway):
        __agents__ = ["reporter"]


class StrictDesk(Concierge):
    """Start nothing lightly."""

    __journeys__ = [Strict]


@pytest.mark.parametrize(
    ("confidence", "ran"), [(0.9, "concierge"), (0.91, "strict.ask")], ids=["at", "over"]
)
async def test_an_activation_may_have_a_threshold_of_its_own(talk, memory_url, confidence, ran):
    with ScriptedModel(leads_to("strict.ask", confidence=confidence)) as model:
        agents = staff(StrictDesk)
        chat = await talk(StrictDesk, agents, memory_url, options={"model": model})
        await chat.says("do it")

        assert chat.ran == [ran]


async def test_a_journey_begins_as_it_does_alone(talk, memory_url):
    agents = staff(StrictDesk)
    alone = await talk(Strict, agents, memory_url)
    with ScriptedModel(leads_to("strict.ask")) as model:
        options = {"model": model}
        chat = await talk(StrictDesk, agents, memory_url, session_id="s-2", options=options)
        await alone.says("do it")
        await chat.says("do it")

    assert (alone.ran, alone.last.is_journey_complete) == (["ask"], True)
    assert (chat.ran, chat.last.is_journey_complete) == (["strict.ask"], True)
    assert chat.path == ["concierge"]


@pytest.mark.parametrize("surer", ["moving", "repair"])
async def test_of_two_that_a_model_holds_likely_the_surer_starts(desk, surer):
    sure = {"moving": 0.8, "repair": 0.8, surer: 0.9}
    answer = judged(
        verdict("start:moving", sure["moving"]), verdict("start:repair", sure["repair"])
    )
    with ScriptedModel(answer) as model:
        chat = await desk(model)
        await chat.says("new house, broken lift")

        assert chat.last.metadata["journey_id"] == surer
        dropped = [row for row in await chat.journey.audit() if row.kind == "dropped"]
        assert [row.reason for row in dropped] == ["another transition fired"]


# --- What is done with a message that starts none ------------------------------------------------


async def test_which_journey_is_asked_with_what_each_is_for(desk):
    chat = await desk()

    assert await chat.says("hello") == ASKED
    assert (chat.last.pathway_id, chat.ran) == ("concierge", ["concierge"])
    assert chat.last.metadata["journey_id"] is None
    assert chat.last.metadata["activated_at"] is None
    assert not chat.last.is_journey_complete


async def test_the_journeys_that_were_nearly_started_are_offered_first(desk):
    answer = judged(verdict("start:moving", 0.3), verdict("start:repair", 0.6))
    with ScriptedModel(answer) as model:
        chat = await desk(model)

        assert (await chat.says("the old place is cold")).splitlines()[1:] == [
            "- Repair: Have something repaired.",
            "- Moving: Plan a move to another house.",
        ]
        assert chat.last.metadata["confidence"] == 0.6


async def test_a_canned_answer_does_not_ask(desk):
    chat = await desk(kind=CannedDesk, texts=Texts(unsure="Please say what you need."))

    assert await chat.says("hello") == "Please say what you need."


async def test_a_model_answers_freely_with_the_talk_and_nothing_else(desk):
    with ScriptedModel(leads_nowhere, {"response": "We look after houses."}) as model:
        chat = await desk(model, FreeDesk, context={"secret": "1234"})

        assert await chat.says("who are you?") == "We look after houses."

        free = model.calls[1]
        assert chat.last.metadata["usage"]["model_calls"] == 2
        assert (free.schema_name, free.tools, free.message) == ("freeform", [], "who are you?")
        assert "1234" not in free.text


class BriefDesk(FreeDesk):
    """Look after houses, in a word."""

    __guidelines__ = [Guideline(id="brief", action="use one word", always=True)]


async def test_a_model_that_answers_freely_is_told_the_rules_of_the_concierge(desk):
    with ScriptedModel(leads_nowhere, {"response": "Nobody."}) as model:
        chat = await desk(model, BriefDesk)

        assert await chat.says("who are you?") == "Nobody."
        assert model.calls[1].messages[0]["content"].endswith("- use one word")
        assert chat.last.metadata["guidelines"] == ["brief"]


class CarefulDesk(FreeDesk):
    """Look after houses, and watch every word."""

    __guidelines__ = [Guideline(id="kind", critical=True, forbids=["nonsense"])]
    __safe_reply__ = "How can I help?"


async def test_what_the_reception_always_says_is_not_put_to_a_check(desk):
    class Careful(Concierge):
        __journeys__ = [Moving, Repair]
        __guidelines__ = CarefulDesk.__guidelines__

    with ScriptedModel(leads_nowhere) as model:
        chat = await desk(model, Careful)

        assert await chat.says("hello") == ASKED


async def test_what_a_model_says_freely_is_checked(desk):
    chat = await desk(kind=CarefulDesk)
    assert await chat.says("hello") == UNSURE

    with ScriptedModel(leads_nowhere, {"response": "Nonsense!"}, always=Fault.status(400)) as model:
        chat = await desk(model, CarefulDesk, session_id="s-2")
        assert await chat.says("hello") == "How can I help?"


@pytest.mark.parametrize(
    ("script", "flag"),
    [
        ([leads_nowhere, Fault.status(400)], "freeform_failed:rejected"),
        ([leads_nowhere, {"response": "  "}], "freeform_failed:malformed"),
    ],
    ids=["rejected", "says nothing"],
)
async def test_a_free_answer_that_fails_is_the_canned_one(desk, script, flag):
    with ScriptedModel(*script) as model:
        chat = await desk(model, FreeDesk)

        assert await chat.says("who are you?") == UNSURE
        assert chat.last.metadata["flags"] == [flag]


async def test_without_a_model_a_free_answer_is_the_canned_one(desk):
    chat = await desk(kind=FreeDesk)

    assert await chat.says("who are you?") == UNSURE
    assert chat.last.metadata["flags"] == ["model_not_configured"]


async def test_when_the_message_cannot_be_understood_the_user_is_asked(desk):
    with ScriptedModel(Fault.status(400)) as model:
        chat = await desk(model)

        assert await chat.says("water everywhere") == ASKED
        assert chat.last.metadata["flags"] == ["understanding_failed:rejected"]


# --- Hostile verdicts ----------------------------------------------------------------------------


async def test_verdicts_on_journeys_that_are_not_there_start_nothing(desk):
    answer = judged(
        verdict("start:bank", 1.0),
        verdict("cancel:moving", 1.0),
        verdict("hand_over:moving->repair", 1.0),
        verdict("moving.IntentTrigger:*->hours", 1.0),
        commands=[{"command": "go", "target": "moving.plan", "confidence": 1.0}],
    )
    with ScriptedModel(answer) as model:
        chat = await desk(model)

        assert await chat.says("obey") == ASKED
        assert chat.last.metadata["flags"] == ["outside_closed_set"]
        assert await chat.audited() == ["dropped"] * 5


async def test_an_active_journey_is_not_started_again(desk):
    answer = judged(verdict("start:moving", 1.0), verdict("start:repair", 1.0))
    with ScriptedModel(answer) as model:
        chat = await desk(model)
        await chat.says("I am moving house")
        began = chat.last.metadata["activated_at"]

        assert await chat.says("customer=c1") == "identifier: customer=c1"
        assert chat.path == ["moving.identify", "moving.plan"]
        assert chat.last.metadata["activated_at"] == began
        assert chat.last.metadata["flags"] == ["outside_closed_set"]


async def test_a_model_may_name_the_journey_to_go_to(desk):
    answer = judged(commands=[{"command": "go", "target": "repair.report", "confidence": 0.8}])
    with ScriptedModel(answer) as model:
        chat = await desk(model)

        assert await chat.says("drip drip") == "reporter: drip drip"


# --- Fallbacks and moves within ------------------------------------------------------------------


class Smalltalk(Journey):
    """Chat."""

    __activation__ = [AlwaysTrigger()]

    class ChatPath(Pathway):
        __agents__ = ["chatter"]
        __complete_when__ = ["done"]
        __accumulate__ = ["done"]

    class MorePath(Pathway):
        __agents__ = ["chatter"]

    __transitions__ = [Transition(IntentTrigger(description="wants more"), to_pathway="more")]


class OpenDesk(Concierge):
    """Never ask."""

    __journeys__ = [Moving, Smalltalk]


async def test_a_journey_may_take_whatever_starts_no_other(talk, memory_url):
    chat = await talk(OpenDesk, staff(OpenDesk), memory_url)

    assert await chat.says("moving house") == "identifier: moving house"
    chat = await talk(OpenDesk, staff(OpenDesk), memory_url, session_id="s-2")
    assert await chat.says("nice weather") == "chatter: nice weather"


async def test_moves_within_a_journey_keep_their_own_threshold(talk, memory_url):
    with ScriptedModel(leads_nowhere, leads_to("smalltalk.more", confidence=0.7)) as model:
        settings = {"activation_confidence_threshold": 0.95, "intent_confidence_threshold": 0.7}
        chat = await talk(
            OpenDesk, staff(OpenDesk), memory_url, options={"model": model}, **settings
        )
        await chat.says("nice weather")
        await chat.says("and then?")

        assert chat.path == ["smalltalk.chat", "smalltalk.more"]


async def test_the_question_which_journey_is_meant_can_be_worded_anew(desk):
    chat = await desk(texts=Texts(which="One of these, please: {journeys}\nWhich?"))

    assert (await chat.says("hello")).startswith("One of these, please:\n- Moving")
    assert chat.last.message.endswith("\nWhich?")
