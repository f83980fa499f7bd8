"""Every pattern of model agents in a journey, on a model server at a real socket, turn by turn."""

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
    Transition,
)
from journeygraph.server.scripted import ScriptedServer

ROLES: dict[str, dict[str, Any]] = {
    "supervisor_worker": {"supervisor": "copper"},
    "ensemble": {"synthesizer": "copper"},
    "blackboard": {"controller": "copper"},
    "debate": {"judge": "copper", "rounds": 2},
    "parallel": {"aggregator": "copper"},
}
CALLS = {
    "sequential": 2,
    "router": 2,  # one to choose, one to answer
    "supervisor_worker": 4,
    "ensemble": 3,
    "blackboard": 5,
    "consensus": 4,
    "debate": 5,
    "handoff": 2,
    "parallel": 3,
}


class Note(Signature):
    """Note what the customer orders."""

    message: str = InputField(description="What the customer just wrote")
    response: str = OutputField(description="What to say back")
    items: list[str] = OutputField(description="What was ordered")


def obey(call: Any) -> dict[str, Any]:
    """Answer whatever a pattern asks, as its schema wants it."""
    wanted = call.schema["properties"]
    said = next(word for word in ("tea", "milk", "hello") if word in call.message)
    answer: dict[str, Any] = {"response": f"noted {said}", "items": [said]}
    if "agents" in wanted:
        return {"agents": ["granite"], "reason": "it is free"}
    if "tasks" in wanted:
        return {"tasks": [{"task": f"{said} {n}", "worker": n} for n in ("walnut", "granite")]}
    if "vote" in wanted:
        return {"vote": "granite", "confidence": 0.9, "reason": "it is right"}
    if "done" in wanted:
        left = [n for n in ("walnut", "granite") if f'"agent":"{n}"' not in call.message]
        return answer | {"done": not left, "next": left[0] if left else None, "need": None}
    if "handoff" in wanted and "from" not in call.message:
        return answer | {"handoff": {"to": "granite", "reason": "it knows"}}
    known: dict[str, Any] = {"reassign": [], "winner": "granite", "handoff": None}
    return answer | {name: value for name, value in known.items() if name in wanted}


def shop(pattern: str) -> type[Journey]:
    config: dict[str, Any] = {**ROLES.get(pattern, {})}
    if pattern == "router":
        config["routing_strategy"] = "llm"
    names = ["walnut", "granite", *(["copper"] if "copper" in config.values() else [])]

    class Shop(Journey):
        """Take an order."""

        class OrderPath(Pathway):
            __signature__ = Note
            __agents__ = names
            __pipeline__ = pattern
            __pipeline_config__ = config
            __accumulate__ = ["items"]
            __complete_when__ = NEVER

        class HoursPath(Pathway):
            __agents__ = ["porter"]
            __return_behavior__ = ReturnToPrevious()

        __transitions__ = [
            Transition(IntentTrigger(["when"], use_llm_fallback=False), to_pathway="hours")
        ]

    return Shop


@pytest.mark.parametrize("pattern", list(CALLS))
async def test_models_take_an_order_over_several_turns(talk, memory_url, monkeypatch, pattern):
    with ScriptedServer(always=obey) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-any")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        chat = await talk(shop(pattern), {"porter": lambda given: "Until six."}, memory_url)

        assert "noted tea" in await chat.says("a tea, please")
        assert chat.last.metadata["usage"]["model_calls"] == CALLS[pattern]
        assert await chat.says("when do you close?") == "Until six."
        assert "noted milk" in await chat.says("and milk")

        assert chat.context == {"items": ["tea", "milk"]}
        assert len(server.calls) == 2 * CALLS[pattern]
        assert chat.last.metadata["error"] is None
