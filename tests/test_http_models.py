"""Journeys on models over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from journeys import NEVER, InputField, Journey, OutputField, Pathway, Signature
from nodes.llm import models
from nodes.llm.limits import client_of
from nodes.llm.scripted import Fault, ScriptedModel
from server.scripted import ScriptedServer
from tests import api as helpers
from tests.api import one
from tests.solo import APOLOGY

serve = helpers.serve


class Talk(Signature):
    """Talk about the weather."""

    message: str = InputField(description="What the user wrote")
    response: str = OutputField(description="What to say back")


class Weather(Journey):
    """Talk about the weather."""

    class TalkPath(Pathway):
        __signature__ = Talk
        __agents__ = ["talker"]  # registered nowhere: a model
        __complete_when__ = NEVER


async def test_what_a_model_says_is_streamed_and_kept(serve: Callable[..., Any]) -> None:
    async with ScriptedModel() as model:
        api = await serve(one(Weather), model=model)
        session = await api.begin("weather")
        model.will_answer({"response": "It is sunny today."}, {"response": "And warm."})

        told = await api.hears(session, "How is it outside?")
        reply = await api.says(session, "And?")

    tokens = [data["text"] for name, data in told if name == "token"]
    assert "".join(tokens) == "It is sunny today."
    assert len(tokens) > 1
    assert told[-1][1]["metadata"]["usage"]["model_calls"] == 1
    assert reply["message"] == "And warm."
    assert [call.messages[-2]["content"] for call in model.calls][1] == "It is sunny today."


async def test_the_models_of_the_environment_are_asked_by_one_client(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    def noted(**options: Any) -> Any:
        made.append(client_of(**options))
        return made[-1]

    monkeypatch.setattr(models, "client_of", noted)
    async with ScriptedServer(always={"response": "Sunny."}) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "any")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        api = await serve(one(Weather), model=None)
        session = await api.begin("weather")
        replies = [(await api.says(session, "How is it?"))["message"] for _ in range(3)]

    assert replies == ["Sunny."] * 3
    assert len(server.calls) == 3
    assert len(made) == 1
    assert made[0].is_closed is False


async def test_a_model_that_fails_is_apologised_for(serve: Callable[..., Any]) -> None:
    async with ScriptedModel(always=Fault.status(500, message="tulip")) as model:
        api = await serve(one(Weather), model=model, model_timeout_seconds=1.0)
        session = await api.begin("weather")

        told = await api.hears(session, "How is it outside?")

    assert told[-1][0] == "done"
    assert told[-1][1]["message"] == APOLOGY
    assert "tulip" not in json.dumps(told)
