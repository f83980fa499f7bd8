"""Which model does which work: by the names in the settings, in journeys, and in modules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from nodes.llm.scripted import Call, Fault, leads_nowhere
from server.scripted import ScriptedServer
from tests.command import flat, folder, logging_as_before
from tests.test_serve import served

__all__ = ["folder", "logging_as_before"]

CHECKED = '''
from journeys import (
    Guideline, InputField, IntentTrigger, Journey, OutputField, Pathway, Signature, Transition,
    Validation,
)


class Serve(Signature):
    """Serve the customer."""

    message: str = InputField(description="What the customer says")
    response: str = OutputField(description="What to say back")


class Desk(Journey):
    """Serve customers."""

    __validation__ = Validation()
    __guidelines__ = [Guideline(id="polite", always=True, action="be polite")]

    class DeskPath(Pathway):
        __signature__ = Serve
        __agents__ = ["clerk"]
        __complete_when__ = ["nothing"]

    class ReturnsPath(Pathway):
        __signature__ = Serve
        __agents__ = ["clerk"]
        __complete_when__ = ["nothing"]

    __transitions__ = [
        Transition(IntentTrigger(description="wants to return something"), to_pathway="returns"),
    ]
'''
OWN_MODEL = CHECKED.replace("    __validation__", '    __model__ = "house"\n    __validation__')
VALID = {"is_valid": True, "violations": [], "suggested_fixes": [], "confidence": 0.99}


def only(*names: str) -> Callable[[Call], Any]:
    """A server that has these models and no other, and answers whatever it is asked."""

    def answer(call: Call) -> Any:
        if call.model not in names:
            return Fault.status(404, message=f"no model {call.model}")
        if call.schema_name == "validation":
            return VALID
        if call.schema_name == "understanding":
            return leads_nowhere
        return {"response": "Good day."}

    return answer


def conversation(place: str, *messages: str) -> list[dict[str, Any]]:
    """The answers of a served journey to these messages."""
    httpx2.post(f"{place}/v1/sessions", json={"session_id": "s-1"}).raise_for_status()
    return [
        httpx2.post(f"{place}/v1/sessions/s-1/messages", json={"message": text}).json()
        for text in messages
    ]


def asked_for(server: ScriptedServer) -> dict[str, set[str]]:
    """Which models were asked, by the kind of question."""
    asked: dict[str, set[str]] = {}
    for call in server.calls:
        asked.setdefault(call.schema_name, set()).add(call.model)
    return asked


# ---- the check of replies


@pytest.mark.parametrize(
    ("source", "settings", "checks"),
    [
        (CHECKED, {"JOURNEYGRAPH_AGENT_MODEL": "house"}, "house"),
        (
            CHECKED,
            {"JOURNEYGRAPH_AGENT_MODEL": "house", "JOURNEYGRAPH_VALIDATION_MODEL": "judge"},
            "judge",
        ),
        (OWN_MODEL, {"JOURNEYGRAPH_AGENT_MODEL": "gone"}, "house"),
    ],
)
def test_every_reply_is_checked_by_a_model_that_the_server_has(
    folder: Path, source: str, settings: dict[str, str], checks: str
) -> None:
    (folder / "desk.py").write_text(source)
    with ScriptedServer(always=only("house", "judge")) as server:
        where = {"OPENAI_API_KEY": "any", "OPENAI_BASE_URL": server.url}
        more = {**where, **settings, "JOURNEYGRAPH_INTENT_MODEL": "house"}
        with served(folder, "desk.py", "--store", "memory://", **more) as (_, place, lines):
            answers = conversation(place, "hello", "hello again", "hello, and thank you")

    assert [answer["message"] for answer in answers] == ["Good day."] * 3
    assert [answer["metadata"]["flags"] for answer in answers] == [[]] * 3
    assert asked_for(server)["validation"] == {checks}
    assert "house understands" in flat("".join(lines))
    assert "checks replies" in flat("".join(lines))
