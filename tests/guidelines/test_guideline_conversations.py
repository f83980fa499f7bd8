"""Guidelines that words select among many, in conversations through the real graph."""

from __future__ import annotations

import json
from typing import Any

import pytest

from journeygraph import NEVER, Guideline, Journey, ModelAgent, OutputField, Pathway, Signature
from journeygraph.nodes.llm.scripted import Call, ScriptedModel, rules_hold


class Serve(Signature):
    """Serve the guest."""

    response: str = OutputField(description="What to say back")


class Station(Journey):
    """Help travellers at a large station."""

    class DeskPath(Pathway):
        """Answer at the desk."""

        __signature__ = Serve
        __agents__ = ["clerk"]
        __complete_when__ = NEVER
        __guidelines__ = [
            Guideline(id="seat", condition="the traveller wants a seat", action="ask for the date"),
        ]

    __guidelines__ = [
        *(
            Guideline(
                id=f"platform_{number}",
                condition=f"the traveller asks for platform {number}",
                action=f"say where platform {number} is",
                keywords=["platform", f"track {number}"],
                priority=number,
            )
            for number in range(1_000)
        ),
        Guideline(
            id="refund",
            condition="the traveller wants money back",
            action="give them the form",
            keywords=["refund", "reimburse"],
            excludes=["thrift"],
        ),
        Guideline(id="thrift", action="offer a cheaper train", keywords=["too expensive"]),
        Guideline(id="thanks", action="thank them", keywords=["thank you"], depends_on=["refund"]),
    ]


@pytest.fixture
def station(talk, memory_url):
    """Open a conversation at the station: `await station(model)`."""

    async def begin(model: Any):
        return await talk(Station, {"clerk": ModelAgent()}, memory_url, options={"model": model})

    return begin


def asked(call: Call) -> list[str]:
    assert call.schema_name == "understanding"
    return [rule["rule"] for rule in json.loads(call.message)["rules"]]


async def test_of_a_thousand_guidelines_one_call_asks_about_twenty_at_most(station):
    with ScriptedModel(rules_hold("platform_7"), {"response": "Over there."}) as model:
        chat = await station(model)

        assert await chat.says("Which platform? My ticket says track 7.") == "Over there."

        rules = asked(model.calls[0])
        assert len(rules) == 20
        assert rules[:3] == ["platform_7", "platform_999", "platform_998"]
        assert chat.last.metadata["guidelines"] == ["platform_7"]
        assert "say where platform 7 is" in model.calls[1].messages[0]["content"]


@pytest.mark.parametrize(
    "message",
    ["Why was I never refunded?", "my refnud, please", "About the reimbursement", "REFUNDS!"],
)
async def test_other_forms_of_a_keyword_are_put_to_the_model(station, message):
    with ScriptedModel(rules_hold("refund"), {"response": "Here is the form."}) as model:
        chat = await station(model)
        await chat.says(message)
        assert "refund" in asked(model.calls[0])
        assert chat.last.metadata["guidelines"] == ["refund"]


async def test_words_that_no_guideline_is_about_cost_no_call(station):
    with ScriptedModel({"response": "Hello!"}) as model:
        chat = await station(model)
        assert await chat.says("hello there") == "Hello!"
        assert chat.last.metadata["guidelines"] == []


async def test_a_guideline_without_a_condition_holds_when_its_words_are_said(station):
    with ScriptedModel({"response": "Take the slow one."}) as model:
        chat = await station(model)
        await chat.says("It is TOO EXPENSIVE")
        assert chat.last.metadata["guidelines"] == ["thrift"]
        assert "offer a cheaper train" in model.calls[0].messages[0]["content"]


async def test_a_guideline_that_a_model_confirms_drops_what_it_excludes(station):
    answers: list[Any] = [rules_hold("refund"), {"response": "Here."}]
    with ScriptedModel(*answers) as model:
        chat = await station(model)
        await chat.says("Too expensive! I want a refund. Thank you")
        assert chat.last.metadata["guidelines"] == ["refund", "thanks"]
        audit = await chat.journey.audit()
        reasons = [entry.reason for entry in audit if entry.kind == "guideline_dropped"]
        assert reasons == ["excluded by 'refund'"]


async def test_a_guideline_goes_with_the_one_that_it_depends_on(station):
    answers: list[Any] = [rules_hold(), {"response": "Fine."}]
    with ScriptedModel(*answers) as model:
        chat = await station(model)
        await chat.says("No refund needed, thank you")
        assert chat.last.metadata["guidelines"] == []
