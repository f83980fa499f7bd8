"""Small journeys on models, and ways to talk to them."""

from __future__ import annotations

from typing import Any

import pytest

from journeygraph import (
    NEVER,
    InputField,
    IntentTrigger,
    Journey,
    OutputField,
    Pathway,
    ReturnToPrevious,
    Signature,
    Texts,
    Transition,
)
from journeygraph.server.scripted import ScriptedServer
from tests.support import model_server

APOLOGY = Texts().apology


class Say(Signature):
    """Say something."""

    response: str = OutputField(description="What to say")


class Shop(Journey):
    """Sell books."""

    class TalkPath(Pathway):
        __signature__ = Say
        __agents__ = ["clerk"]
        __complete_when__ = NEVER


class Place(Signature):
    """Note where the customer lives."""

    city: str = InputField(description="The city that is known so far")
    response: str = OutputField(description="What to say")


class Places(Journey):
    """Find out where somebody lives."""

    class TalkPath(Pathway):
        __signature__ = Place
        __agents__ = ["clerk"]
        __complete_when__ = NEVER


class Desk(Journey):
    """Answer, and help in between; moved by what a model understands."""

    class TalkPath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

    class HelpPath(Pathway):
        __agents__ = ["clerk"]
        __return_behavior__ = ReturnToPrevious(max_depth=1)
        __complete_when__ = NEVER

    class MorePath(Pathway):
        __agents__ = ["clerk"]
        __return_behavior__ = ReturnToPrevious(max_depth=1)

    __transitions__ = [
        Transition(IntentTrigger(description="wants help"), to_pathway="help"),
        Transition(IntentTrigger(description="wants more"), to_pathway="more"),
    ]


HAND = {"clerk": lambda ask: "by hand"}


def giving(output: Any) -> type[Journey]:
    """A journey whose one agent gives the reply, and `value` of a type."""
    outputs = {"response": (str, OutputField()), "value": (output, OutputField())}

    class Giving(Journey):
        class TalkPath(Pathway):
            __signature__ = Signature.define("Gives", inputs={}, outputs=outputs)
            __agents__ = ["clerk"]
            __accumulate__ = ["value"]
            __complete_when__ = NEVER

    return Giving


@pytest.fixture
def shop(talk, memory_url):
    """Open a conversation: `await shop(model, Journey, clerk=...)`."""

    async def begin(model: Any, journey: type[Journey] = Shop, **options: Any) -> Any:
        agents = {name: options.pop(name) for name in journey.spec.agents if name in options}
        return await talk(journey, agents, memory_url, options={"model": model}, **options)

    return begin


@pytest.fixture
def server(monkeypatch):
    """A server that the environment names."""
    with ScriptedServer() as server:
        model_server.name(monkeypatch, server, "sk-canary")
        yield server
