"""The user always gets an answer: what is said when the journey itself fails."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import psycopg
import pytest

from journeygraph import (
    Journey,
    JourneyConfig,
    JourneyDefinitionError,
    Pathway,
    Texts,
)
from journeygraph.nodes.llm.scripted import Fault, ScriptedModel
from journeygraph.nodes.turn import understand


class Canned(Journey):
    """Answer at a desk."""

    class DeskPath(Pathway):
        __agents__ = ["clerk"]


class Freeform(Canned):
    __degrade__ = "freeform"


class Refusing(Canned):
    __degrade__ = "refuse"


def breaks(ask: Any) -> str:
    raise RuntimeError("the desk is on fire")


@pytest.fixture
def failing(talk, memory_url):
    async def begin(journey: Any, agent: Any = breaks, model: Any = False, **options: Any):
        return await talk(
            journey, {"clerk": agent}, memory_url, options={"model": model}, **options
        )

    return begin


@pytest.mark.parametrize(
    ("journey", "reply"),
    [(Canned, Texts().apology), (Refusing, Texts().refused), (Freeform, Texts().apology)],
    ids=["canned", "refuse", "freeform without a model"],
)
async def test_a_journey_that_fails_says_what_its_author_chose(failing, journey, reply):
    chat = await failing(journey)

    assert await chat.says("Hello") == reply
    assert chat.last.metadata["flags"] == ["failed", "journey_bypassed"]
    assert "on fire" in chat.last.metadata["error"]["message"]
    assert "failure" in await chat.audited()


async def test_freeform_answers_with_one_call_that_has_no_tools_and_no_context(failing):
    with ScriptedModel({"response": "Good day!"}) as model:
        chat = await failing(Freeform, model=model, context={"secret": "canary"})

        assert await chat.says("Hello there") == "Good day!"
        (call,) = model.calls
        assert (call.tools, call.schema_name) == ([], "freeform")
        assert "canary" not in call.text
        assert "at a desk" not in call.text
        assert chat.last.metadata["flags"] == ["failed", "journey_bypassed"]
        assert chat.last.metadata["usage"]["model_calls"] == 1
        assert (await chat.journey.transcript())[-1].content == "Good day!"


@pytest.mark.parametrize(
    "answer",
    [Fault.status(400), {"response": ""}, {"response": 3}, "no json"],
    ids=["error", "empty", "number", "no json"],
)
async def test_freeform_that_fails_falls_back_to_the_canned_text(failing, answer):
    with ScriptedModel(answer) as model:
        chat = await failing(Freeform, model=model)

        assert await chat.says("Hello") == Texts().apology


async def test_a_turn_has_one_deadline_and_is_answered_after_it(failing):
    async def hangs(ask: Any) -> str:
        await asyncio.sleep(60)
        return "never"

    chat = await failing(Canned, hangs, turn_timeout_seconds=0.1)

    assert await chat.says("Hello") == Texts().apology
    assert "longer than 0.1 s" in chat.last.metadata["error"]["message"]
    assert (await chat.journey.versions())[-1].kind == "failure"


async def test_a_commit_that_ends_after_the_turns_time_counts(talk, postgres_url):
    with psycopg.connect(postgres_url) as other:

        def locks(ask: Any) -> str:
            other.execute("SELECT * FROM sessions FOR UPDATE")
            return "fine"

        chat = await talk(Canned, {"clerk": locks}, postgres_url, turn_timeout_seconds=1.5)
        turn = asyncio.ensure_future(chat.says("Hello"))
        await asyncio.sleep(2)
        other.rollback()

        assert await turn == "fine"
        assert [row.kind for row in await chat.journey.versions()] == ["start", "turn"]


async def test_a_free_answer_has_what_is_left_of_the_turns_time(failing):
    with ScriptedModel(Fault.hang()) as model:
        chat = await failing(
            Freeform, model=model, turn_timeout_seconds=0.3, model_timeout_seconds=60
        )

        assert await chat.says("Hello") == Texts().apology
        assert len(model.calls) == 1


async def test_a_fault_of_the_runtime_itself_is_answered_logged_and_leaves_the_session_usable(
    failing, monkeypatch, caplog
):
    chat = await failing(Canned, lambda ask: "fine")

    async def broken(*_: Any) -> Any:
        raise ZeroDivisionError("a bug")

    with monkeypatch.context() as patch, caplog.at_level(logging.ERROR, "journeygraph"):
        patch.setattr(understand, "free_verdicts", broken)
        assert await chat.says("Hello") == Texts().apology

    assert "journey_failed" in caplog.text
    assert "journey_bypassed" in chat.last.metadata["flags"]
    assert await chat.says("Hello") == "fine"


async def test_a_caller_who_wants_failures_raised_gets_the_fault_itself(failing, monkeypatch):
    chat = await failing(Canned, lambda ask: "fine", error_recovery="fail_fast")

    async def broken(*_: Any) -> Any:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(understand, "free_verdicts", broken)
    with pytest.raises(ZeroDivisionError):
        await chat.says("Hello")


def test_a_sensitive_journey_hands_nothing_to_a_model_outside_of_it():
    body = {
        "DeskPath": Canned.DeskPath,
        "__sensitive__": True,
        "__degrade__": "freeform",
    }
    with pytest.raises(JourneyDefinitionError, match="Choose 'canned' or 'refuse'"):
        type("Secret", (Journey,), body)


def test_an_unknown_way_to_degrade_is_named():
    with pytest.raises(JourneyDefinitionError, match="Did you mean 'canned'"):
        type("Desk", (Journey,), {"DeskPath": Canned.DeskPath, "__degrade__": "caned"})


def test_the_defaults_are_those_that_the_page_states():
    config = JourneyConfig()

    assert (
        config.activation_confidence_threshold,
        config.guideline_confidence_threshold,
        config.guideline_candidates,
        config.guideline_timeout_seconds,
        config.breaker_failures,
        config.breaker_seconds,
        config.turn_timeout_seconds,
        config.model_budget_seconds,
    ) == (0.7, 0.6, 20, 1.0, 3, 60.0, 120.0, 20.0)
