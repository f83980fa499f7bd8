"""A complete pathway that is entered again starts again; values from elsewhere still count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from journeygraph import (
    NEVER,
    Concierge,
    ConfigurationError,
    Field,
    HandOver,
    Journey,
    JourneyDefinitionError,
    Pathway,
    ReturnToPrevious,
    ReturnToSpecific,
    Transition,
    known,
    load_journey,
)
from tests.support.clerks import said, staff
from tests.support.talk import Talk


class Survey(Journey):
    """Ask how it was, as often as somebody wants to say it."""

    class DeskPath(Pathway):
        __agents__ = ["desk"]
        __accumulate__ = ["topic"]
        __complete_when__ = NEVER

    class SurveyPath(Pathway):
        __agents__ = ["asker"]
        __accumulate__ = ["score"]
        __complete_when__ = ["score"]
        __next__ = "thanks"

    class ThanksPath(Pathway):
        __agents__ = ["host"]
        __accumulate__ = ["score"]
        __complete_when__ = NEVER

    class OrderPath(Pathway):
        """A detour of several turns."""

        __agents__ = ["seller"]
        __accumulate__ = ["item"]
        __complete_when__ = ["item"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(said("survey"), to_pathway="survey"),
        Transition(
            said("known survey"),
            to_pathway="survey",
            context_update={"score": "set:10"},
            priority=1,
        ),
        Transition(said("order"), to_pathway="order"),
        Transition(said("desk"), to_pathway="desk"),
    ]


async def say(chat: Talk, *messages: str) -> list[str]:
    """Say some things; return where each turn ended."""
    for message in messages:
        await chat.says(message)
    return chat.path[-len(messages) :]


@pytest.fixture
def survey(talk, memory_url):
    async def begin(journey: type[Journey] = Survey, url: str = "", **options: Any) -> Talk:
        chat: Talk = await talk(journey, staff(journey), url or memory_url, **options)
        return chat

    return begin


async def test_a_survey_that_is_asked_for_twice_is_answered_twice(survey, memory_url):
    chat = await survey(url=memory_url)
    assert await say(chat, "survey", "score=3") == ["survey", "thanks"]

    assert await say(chat, "survey", "hm", "score=5") == ["survey", "survey", "thanks"]
    assert chat.context["score"] == "5"


async def test_the_same_answer_again_is_an_answer(survey):
    chat = await survey()
    await say(chat, "survey", "score=3", "survey")

    assert await say(chat, "score=3") == ["thanks"]


async def test_also_after_a_restart_and_a_rollback(survey, memory_url):
    chat = await survey(url=memory_url)
    await say(chat, "survey", "score=3")
    await chat.restored()
    assert await say(chat, "survey") == ["survey"]
    await chat.restored()
    assert await say(chat, "hm", "score=5") == ["survey", "thanks"]

    await chat.journey.rollback(3)  # in the survey, which was asked for again
    assert await say(chat, "hm") == ["survey"]
    await chat.journey.rollback(1)  # in the survey for the first time
    assert await say(chat, "score=4", "survey") == ["thanks", "survey"]


async def test_what_others_know_is_not_asked_for(survey):
    chat = await survey(context={"score": "9"})
    assert await say(chat, "survey", "survey", "survey") == ["thanks"] * 3


async def test_a_value_that_another_pathway_wrote_since_counts(survey):
    chat = await survey()
    await say(chat, "survey", "score=3", "score=4")  # the second one to the host
    assert chat.path[-1] == "thanks"

    assert await say(chat, "survey") == ["thanks"]


async def test_a_value_of_the_transition_counts(survey):
    chat = await survey()
    await say(chat, "survey", "score=3")

    assert await say(chat, "known survey") == ["thanks"]
    assert chat.context["score"] == "10"


async def test_what_was_known_and_then_said_anew_here_is_its_own(survey):
    chat = await survey(context={"score": "9"})
    assert await say(chat, "survey score=2") == ["thanks"]

    assert await say(chat, "survey") == ["survey"]


async def test_a_visit_that_came_to_nothing_is_none(survey):
    class Two(Survey):
        class SurveyPath(Survey.SurveyPath):
            __accumulate__ = ["score", "why"]
            __complete_when__ = ["score", "why"]

    chat = await survey(Two)
    await say(chat, "survey", "score=3", "desk")

    assert await say(chat, "survey", "why=fine") == ["survey", "thanks"]
    assert await say(chat, "survey", "why=so", "score=1") == ["survey", "survey", "thanks"]


async def test_a_name_that_is_taken_back_is_asked_for_alone(survey):
    class Two(Survey):
        class SurveyPath(Survey.SurveyPath):
            __accumulate__ = ["score", "why"]
            __complete_when__ = ["score", "why"]

        __transitions__ = [
            *Survey.__transitions__,
            Transition(said("again"), to_pathway="survey", context_update={"why": "clear:"}),
        ]

    chat = await survey(Two)
    await say(chat, "survey", "score=3 why=so")
    assert await say(chat, "again", "why=fine") == ["survey", "thanks"]

    # Left before it was complete: what it wrote is no visit that is over.
    assert await say(chat, "again", "desk", "survey", "why=no") == [
        "survey",
        "desk",
        "survey",
        "thanks",
    ]
    assert await say(chat, "survey", "why=so") == ["survey", "survey"]


async def test_a_message_that_changes_a_part_leaves_the_rest(survey):
    class Two(Survey):
        class SurveyPath(Survey.SurveyPath):
            __accumulate__ = ["score", "why"]
            __complete_when__ = ["score", "why"]

    chat = await survey(Two)
    await say(chat, "survey", "score=3 why=so")

    assert await say(chat, "survey score=5") == ["thanks"]
    assert (chat.context["score"], chat.context["why"]) == ("5", "so")


async def test_a_detour_of_several_turns_is_held_again(survey):
    chat = await survey()
    assert await say(chat, "order", "hm", "item=tea", "hello") == [
        "order",
        "order",
        "order",
        "desk",
    ]

    assert await say(chat, "order") == ["order"]
    assert not chat.last.metadata["returning"]
    await say(chat, "item=jam")
    assert chat.last.metadata["returning"]
    # Asked for again before it went back: that is another visit.
    await say(chat, "order")
    assert not chat.last.metadata["returning"]


async def test_a_return_is_no_new_visit(survey):
    class Paused(Survey):
        class SurveyPath(Survey.SurveyPath):
            __accumulate__ = ["score", "why"]
            __complete_when__ = ["score", "why"]

    chat = await survey(Paused)
    await say(chat, "survey", "score=3", "order", "item=tea")

    assert await say(chat, "why=fine") == ["thanks"]


async def test_an_unwinding_is_no_new_visit(survey):
    class Ending(Survey):
        class SurveyPath(Survey.SurveyPath):
            __next__ = None  # type: ignore[assignment]

    chat = await survey(Ending)
    await say(chat, "survey", "score=3")
    assert chat.last.is_journey_complete
    await say(chat, "order", "survey")  # resumed from the stack, and still complete

    assert chat.last.is_journey_complete


async def test_a_return_by_name_is_no_new_visit(survey):
    class Named(Survey):
        class HelpPath(Pathway):
            __agents__ = ["helper"]
            __return_behavior__ = ReturnToSpecific("survey")

        __transitions__ = [*Survey.__transitions__, Transition(said("help"), to_pathway="help")]

    chat = await survey(Named)
    await say(chat, "survey", "score=3", "help")

    assert await say(chat, "well") == ["thanks"]


async def test_the_pathway_where_the_journey_ended_starts_anew(survey):
    class Ending(Survey):
        class SurveyPath(Survey.SurveyPath):
            __next__ = None  # type: ignore[assignment]

    chat = await survey(Ending)
    await say(chat, "survey", "score=3")
    assert chat.last.is_journey_complete

    await say(chat, "survey")
    assert not chat.last.is_journey_complete
    await say(chat, "score=4")
    assert chat.last.is_journey_complete


async def test_a_loop_of_pathways_asks_each_time(survey):
    class Loop(Journey):
        class AskPath(Pathway):
            __agents__ = ["asker"]
            __accumulate__ = ["n"]
            __complete_when__ = ["n"]
            __next__ = "check"

        class CheckPath(Pathway):
            __agents__ = ["checker"]
            __runs_on_arrival__ = True
            __complete_when__ = lambda context: True  # noqa: E731
            __next__ = "ask"

    chat = await survey(Loop)
    for number in range(3):
        await say(chat, f"n={number}")
        assert chat.ran == ["ask", "check"]
        await say(chat, "hm")
        assert chat.ran == ["ask"]


async def test_a_pathway_that_leads_to_itself_asks_each_time(survey):
    class Again(Journey):
        class AskPath(Pathway):
            __agents__ = ["asker"]
            __accumulate__ = ["n"]
            __complete_when__ = ["n"]
            __next__ = "ask"

    chat = await survey(Again)
    await say(chat, "n=1", "hm", "n=2")
    rows = [(row.turn, row.kind) for row in await chat.journey.audit()]
    assert rows == [(1, "completed"), (1, "advanced"), (3, "completed"), (3, "advanced")]


async def test_what_a_detour_may_not_keep_is_nobodys_writing(survey):
    class Forgetful(Survey):
        class OrderPath(Survey.OrderPath):
            __accumulate__ = ["item", "score"]
            __return_behavior__ = ReturnToPrevious(preserve_context=False)

    chat = await survey(Forgetful)
    await say(chat, "survey", "score=3", "order", "item=tea score=8", "well")
    assert chat.context["score"] == "3"  # the survey's own, as before

    assert await say(chat, "survey") == ["survey"]


async def test_known_counts_whenever_it_was_said(survey):
    class Remembering(Survey):
        class SurveyPath(Survey.SurveyPath):
            __accumulate__ = ["score", "why"]
            __complete_when__ = [known("score"), "why"]

    chat = await survey(Remembering)
    await say(chat, "survey", "score=3 why=fine")

    assert await say(chat, "survey", "why=fine") == ["survey", "thanks"]


async def test_a_function_and_an_undeclared_criterion_judge_as_ever(survey):
    class Judged(Survey):
        class SurveyPath(Survey.SurveyPath):
            __complete_when__ = lambda context: "score" in context  # type: ignore[assignment]  # noqa: E731

    chat = await survey(Judged)
    await say(chat, "survey", "score=3")

    assert await say(chat, "survey") == ["thanks"]


async def test_a_session_from_before_goes_on_as_it_did():
    graph = Survey.compile(staff(Survey), model=False, checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "s-1"}}

    async def at(message: str) -> str:
        state = await graph.ainvoke({"messages": [{"role": "user", "content": message}]}, thread)
        return str(state["position"]["pathway"])

    assert [await at(message) for message in ("survey", "score=3")] == ["survey", "thanks"]
    position = (await graph.aget_state(thread)).values["position"]
    del position["visits"]  # an older release wrote none
    await graph.aupdate_state(thread, {"position": position})

    assert await at("survey") == "thanks"
    assert await at("survey") == "thanks"


# --- Concierges ----------------------------------------------------------------------------------


class Feedback(Journey):
    __activation__ = [said("feedback")]
    __shared__ = ["customer"]

    class WhoPath(Pathway):
        __agents__ = ["who"]
        __accumulate__ = ["customer", "score"]
        __complete_when__ = ["customer"]
        __next__ = "rate"

    class RatePath(Pathway):
        __agents__ = ["rater"]
        __accumulate__ = ["score"]
        __complete_when__ = ["score"]


class Sales(Journey):
    __activation__ = [said("buy")]

    class SellPath(Pathway):
        __agents__ = ["seller"]
        __accumulate__ = ["item"]
        __complete_when__ = ["item"]


class Shop(Concierge):
    __journeys__ = [Feedback, Sales]
    __hand_over__ = [HandOver("sales", "feedback", said("complain"))]


async def test_a_journey_that_is_handed_to_twice_asks_twice_but_for_what_is_shared(survey):
    chat = await survey(Shop)
    await say(chat, "buy", "complain", "customer=c1", "score=1")
    assert chat.last.metadata["journey_completed"] == "feedback"

    assert await say(chat, "buy", "complain") == ["sales.sell", "feedback.rate"]
    assert await say(chat, "hm", "score=2") == ["feedback.rate", "concierge"]


# --- Forms ---------------------------------------------------------------------------------------


class Rating(Journey):
    """Ask by a form."""

    class DeskPath(Pathway):
        __agents__ = ["desk"]
        __complete_when__ = NEVER

    class RatePath(Pathway):
        __fields__ = [Field("stars", "integer"), Field("town", "text")]
        __complete_when__ = ["stars"]
        __next__ = "thanks"

    class ThanksPath(Pathway):
        __agents__ = ["host"]
        __next__ = "rate"

    __transitions__ = [Transition(said("rate"), to_pathway="rate")]


async def test_a_form_that_is_entered_again_asks_again(survey):
    chat = await survey(Rating)
    assert await say(chat, "rate", "4", "Rome") == ["rate", "rate", "thanks"]

    assert await say(chat, "rate") == ["rate"]
    assert "stars" in chat.last.message.lower()
    assert await say(chat, "5", "Oslo") == ["rate", "thanks"]
    assert chat.context == {"stars": 5, "town": "Oslo"}


async def test_a_form_that_another_pathway_leads_to_again_asks_again(survey):
    chat = await survey(Rating)
    await say(chat, "rate", "4", "Rome")

    assert await say(chat, "bye") == ["rate"]
    assert "stars" in chat.last.message.lower()
    assert await say(chat, "5", "Oslo") == ["rate", "thanks"]
    assert chat.context == {"stars": 5, "town": "Oslo"}


async def test_a_form_does_not_ask_again_for_what_others_know(survey):
    chat = await survey(Rating, context={"town": "Bonn"})
    assert await say(chat, "rate", "4") == ["rate", "thanks"]

    assert await say(chat, "rate") == ["rate"]
    assert await say(chat, "5") == ["thanks"]
    assert chat.context == {"stars": 5, "town": "Bonn"}


# --- Declared ------------------------------------------------------------------------------------

FILE = """
id: survey
name: Survey
initial_state: ask
states:
  ask:
    kind: chat
    agents: [asker]
    outputs: {score: {type: string}, why: {type: string}}
    complete_when: [{known: score}, why]
    next: thanks
  thanks:
    kind: chat
    agents: [host]
    complete_when: never
transitions:
  - {from: "*", to: ask, patterns: [survey]}
"""


async def test_a_file_says_it_too(survey, tmp_path: Path):
    path = tmp_path / "survey.yaml"
    path.write_text(FILE)
    journey = load_journey(path)
    assert journey.spec.pathways["ask"].complete_when == (known("score"), "why")

    chat = await survey(journey)
    await say(chat, "score=3 why=fine")
    assert await say(chat, "survey", "why=so") == ["ask", "thanks"]


@pytest.mark.parametrize("wrong", ["", 3])
def test_a_name_that_may_be_known_is_checked_at_once(wrong: Any) -> None:
    with pytest.raises(ConfigurationError, match="Known: name"):
        known(wrong)


@pytest.mark.parametrize("wrong", [[known("x"), "x"], ["x", 3]])
def test_what_is_no_name_is_refused(wrong: list[Any]):
    path = type("AskPath", (Pathway,), {"__complete_when__": wrong})
    with pytest.raises(JourneyDefinitionError, match="complete_when"):
        type("Wrong", (Journey,), {"AskPath": path})


def test_known_makes_another_version():
    def version(criterion: list[Any]) -> str:
        path = type("AskPath", (Pathway,), {"__complete_when__": criterion})
        made: Any = type("Same", (Journey,), {"AskPath": path})
        return str(made.spec.version)

    assert version(["x"]) != version([known("x")])
