"""A claims line on models behind a real socket, for the scenarios of flow control.

The scenarios are those of the source document, word for word what must hold; each test says which.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    Guideline,
    InputField,
    IntentTrigger,
    Journey,
    OutputField,
    Pathway,
    Signature,
    Transition,
)
from journeygraph.nodes.llm import call as asking_once
from journeygraph.nodes.llm.scripted import Call, Script
from journeygraph.server.scripted import ScriptedServer

HAPPY = {"response": "Certainly."}


class Serve(Signature):
    """Serve the customer."""

    message: str = InputField(description="What the customer says")
    response: str = OutputField(description="What to say back")


def state(**body: Any) -> type[Pathway]:
    """A pathway with one model as its agent; by default it is never complete."""
    given = {"__signature__": Serve, "__agents__": ["clerk"], "__complete_when__": NEVER}
    return type("SomePath", (Pathway,), {**given, **body})


def journey(name: str = "ClaimsLine", **body: Any) -> type[Journey]:
    """A journey of one pathway, the desk, unless it is given others."""
    paths = {} if any(key.endswith("Path") for key in body) else {"DeskPath": state()}
    return type(name, (Journey,), {"__doc__": "Settle claims.", **paths, **body})


def word(number: int) -> str:
    """A word like no other: those of different numbers share no form, and are no typos."""
    sounds = ("ba", "do", "fu", "ki", "le", "mo", "nu", "pi", "ra", "se")
    return "".join(sounds[int(digit)] * 2 for digit in f"{number:04}")


def rules(number: int) -> list[Guideline]:
    """So many guidelines, each of which is touched by a word of its own."""
    return [
        Guideline(
            id=f"rule_{place}",
            condition=f"the customer speaks of {word(place)}",
            action=f"mention the {word(place)} desk",
            keywords=[word(place)],
        )
        for place in range(number)
    ]


def moves(number: int) -> dict[str, Any]:
    """So many transitions that a model judges, each to a pathway of its own."""
    paths = {f"Topic{place}Path": state() for place in range(number)}
    listed = [
        Transition(IntentTrigger(description=f"wants topic {place}"), to_pathway=f"topic{place}")
        for place in range(number)
    ]
    return {"DeskPath": state(), **paths, "__transitions__": listed}


def asked(call: Call) -> dict[str, Any]:
    """What the understanding call was given."""
    given: dict[str, Any] = json.loads(call.message)
    return given


def kinds(script: Script) -> list[str]:
    """What models were asked for so far: understanding, or the reply of an agent, ..."""
    return [call.schema_name for call in script.calls]


def system(call: Call) -> str:
    """The system text of a call."""
    return str(call.messages[0]["content"])


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    """An OpenAI-compatible server on a socket of this machine."""
    server = ScriptedServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def scripted(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Script]:
    """Give the models of the environment a script: `with scripted(*answers) as script`."""
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    monkeypatch.setattr(asking_once, "FIRST_PAUSE", 10.0)  # no second try in time

    def begin(*answers: Any, always: Any = None) -> Script:
        server.script = Script(*answers, always=always)
        return server.script

    return begin


@pytest.fixture
def line(talk: Callable[..., Any], memory_url: str) -> Callable[..., Any]:
    """Open a conversation: `await line(journey(...))`; agents that are not given are models."""

    async def begin(
        kind: type[Journey], agents: Any = None, options: Any = None, **settings: Any
    ) -> Any:
        return await talk(kind, agents or {}, memory_url, options=options, **settings)

    return begin


def ids(payload: dict[str, Any]) -> str:
    """An agent that says which guidelines it was given, in their order."""
    return ", ".join(rule["id"] for rule in payload.get("guidelines", ())) or "none"


def held(chat: Any) -> Sequence[str]:
    """The guidelines that held in the last turn."""
    return list(chat.last.metadata["guidelines"])


def flags(chat: Any) -> Sequence[str]:
    """The flags of the last turn."""
    return list(chat.last.metadata["flags"])
