"""Journeys on models over HTTP."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    InputField,
    IntentTrigger,
    Journey,
    JourneyConfig,
    OutputField,
    Pathway,
    Signature,
    Transition,
)
from journeygraph.nodes.llm import models
from journeygraph.nodes.llm.client import client_of
from journeygraph.nodes.llm.scripted import Call, ScriptedModel, leads_nowhere
from journeygraph.server.scripted import ScriptedServer
from tests.support import api as helpers
from tests.support.api import one
from tests.support.proxy import Proxy

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


class Kiosk(Journey):
    """Talk about the weather, and sell umbrellas."""

    class TalkPath(Pathway):
        __signature__ = Talk
        __agents__ = ["talker"]
        __complete_when__ = NEVER

    class ShopPath(Pathway):
        __signature__ = Talk
        __agents__ = ["seller"]
        __complete_when__ = NEVER

    __transitions__ = [
        Transition(IntentTrigger(description="wants to buy something"), to_pathway="shop"),
        Transition(
            IntentTrigger(description="asks for the weather"),
            from_pathway="shop",
            to_pathway="talk",
        ),
    ]


@pytest.mark.parametrize("over_http", [False, True])
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_turn_opens_no_connection_to_the_model(
    serve: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    memory_url: str,
    over_http: bool,
    streamed: bool,
) -> None:
    with ScriptedServer(always=judge_or_talk) as server:
        async with Proxy.to(server.url) as network:
            monkeypatch.setenv("OPENAI_API_KEY", "any")
            monkeypatch.setenv("OPENAI_BASE_URL", network.url)
            config = JourneyConfig(persistence=memory_url)
            journey = Kiosk("s-1", config)
            if over_http:
                api = await serve(one(Kiosk), model=None)
                session = await api.begin("kiosk")
            else:
                await journey.start()

            async def say(number: int) -> None:
                message = f"Well, {number} what about it?"
                if over_http:
                    await (api.hears if streamed else api.says)(session, message)
                elif streamed:
                    async for _ in journey.stream_message(message):
                        pass
                else:
                    await journey.process_message(message)

            for number in range(2):
                await say(number)
            before, asked = network.connected, len(server.calls)
            for number in range(2, 7):
                await say(number)

            assert len(server.calls) - asked == 10  # each turn is understood, and answered
            assert network.connected == before <= 2
            await journey.close()


@pytest.mark.parametrize("speculate", [True, False])
async def test_a_user_who_thinks_for_a_minute_finds_the_connection_open(
    monkeypatch: pytest.MonkeyPatch, memory_url: str, speculate: bool
) -> None:
    passed = 0.0

    class Clock:
        """The time as the client of the model sees it."""

        @staticmethod
        def monotonic() -> float:
            return time.monotonic() + passed

    monkeypatch.setattr("httpcore2._async.http11.time", Clock)
    with ScriptedServer(always=judge_or_talk) as server:
        async with Proxy.to(server.url) as network:
            monkeypatch.setenv("OPENAI_API_KEY", "any")
            monkeypatch.setenv("OPENAI_BASE_URL", network.url)
            config = JourneyConfig(persistence=memory_url, speculate=speculate)
            async with Kiosk("s-1", config) as journey:
                await journey.start()
                await journey.process_message("Well, what about it?")
                before = network.connected
                for number in range(3):
                    passed += 60
                    await journey.process_message(f"And {number}?")

            assert network.connected == before


def judge_or_talk(call: Call) -> Any:
    """Nothing moves; the agent says something."""
    return leads_nowhere(call) if call.schema_name == "understanding" else {"response": "Sunny."}
