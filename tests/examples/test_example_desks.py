"""The two examples that are files, with a scripted model; without one, see their conversations."""

from __future__ import annotations

import json
from typing import Any

import pytest

from journeygraph import Journey
from journeygraph.journeys.examples import insurance_claim, telecom_support
from journeygraph.journeys.examples.insurance_claim import InsuranceClaim
from journeygraph.journeys.examples.telecom_support import TelecomSupport
from journeygraph.journeys.examples.telecom_support import tools as telecom
from journeygraph.nodes.llm.scripted import Call, ScriptedModel, rules_hold
from journeygraph.server.discover.journeys import find
from tests.support.talk import Talk


@pytest.fixture
def claims(talk, memory_url):
    """Talk to the claims desk: `await claims(model)`."""
    return lambda model=None: opened(talk, InsuranceClaim, insurance_claim, memory_url, model)


@pytest.fixture
def support(talk, memory_url):
    """Talk to the support desk: `await support(model)`."""
    return lambda model=None: opened(talk, TelecomSupport, telecom_support, memory_url, model)


async def opened(talk: Any, kind: type[Journey], module: Any, url: str, model: Any) -> Talk:
    options = {"tools": module.TOOLS, "model": model}
    agents = module.MODEL_AGENTS if model else module.AGENTS
    chat: Talk = await talk(kind, agents, url, options=options)
    return chat


async def say(chat: Talk, *messages: str) -> Talk:
    for message in messages:
        await chat.says(message)
    return chat


def test_what_the_tariff_costs_is_not_taken_off():
    with pytest.raises(LookupError, match="no Fibre 250 that could be taken off"):
        telecom.credit_item("K-5120", "Fibre 250")
    assert telecom.offer_discount("K-7702") == {"percent": 10}


# --- With a model: the file alone drives it ------------------------------------------------------


class Understanding:
    """A model that understands messages as it is told to, and answers for every state.

    Args:
        leads: Message -> the pathway that it leads to.
        rules: Message -> the guidelines that hold then, where they are asked about.
        heard: Message -> the outputs that an agent takes from it.
    """

    def __init__(self, leads: Any = (), rules: Any = (), heard: Any = ()) -> None:
        self._leads, self._rules, self._heard = dict(leads), dict(rules), dict(heard)

    def __call__(self, call: Call) -> Any:
        if call.schema_name == "understanding":
            return self._understood(call)
        known = (call.schema or {}).get("properties", {})
        if "is_valid" in known:
            fine = {"is_valid": True, "violations": [], "suggested_fixes": [], "confidence": 0.9}
            return {name: fine[name] for name in known}
        given: dict[str, Any] = next(
            (self._heard[text] for text in self._heard if text in call.message), {}
        )
        heard = {name: given.get(name) for name in known if name != "response"}
        return {"response": "As you say.", **heard}

    def _understood(self, call: Call) -> Any:
        asked = json.loads(call.message)
        message = asked["user_message"]
        targets = {question["leads_to"] for question in asked.get("questions", [])}
        known = {rule["rule"] for rule in asked.get("rules", [])}
        to = self._leads.get(message)
        held = [rule for rule in self._rules.get(message, ()) if rule in known]
        return rules_hold(*held, to=to if to in targets else None)(call)


def of(model: ScriptedModel, name: str) -> list[Call]:
    return [call for call in model.calls if call.schema_name == name]


def agents_of(model: ScriptedModel) -> list[Call]:
    """The calls of agents: neither understanding nor checks."""
    return [
        call
        for call in model.calls
        if call.schema_name != "understanding"
        and "response" in (call.schema or {}).get("properties", {})
    ]


async def test_a_model_drives_the_claims_desk_by_its_file_alone(claims):
    flood, number = "The kitchen is under water", "HH-2041, it will be 900 euros"
    upset, yes = "I cannot take this any more", "Go ahead"
    understands = Understanding(
        leads={flood: "claim.report"},
        rules={upset: ["worried"]},
        heard={
            flood: {"damage": "water"},
            number: {"policy_number": "HH-2041", "loss": 900.0},
            yes: {"agreed": True},
        },
    )
    with ScriptedModel(always=understands) as model:
        chat = await say(await claims(model), flood, number, upset, yes)

    assert chat.path == ["claim.report", "claim.assess", "claim.assess", "concierge"]
    assert chat.last.metadata["journey_result"]["filed"]["claim"] == "C-2041-WA900"
    assert len(of(model, "understanding")) <= len(chat.replies)
    report, assess = agents_of(model)[0], agents_of(model)[2]
    assert "the policy number first" in report.text
    assert "Take a claim from the report to its number" in report.text
    assert report.tools == ["find_policy"]
    assert '"pays":750' in assess.text.replace(" ", "")
    assert assess.tools == []


async def test_a_model_hands_over_and_is_given_what_goes_along(claims):
    flood, now = "The kitchen is under water", "It keeps pouring out"
    understands = Understanding(
        leads={flood: "claim.report", now: "assistance.place"},
        heard={flood: {"damage": "water"}},
    )
    with ScriptedModel(always=understands) as model:
        chat = await say(await claims(model), flood, now)

    assert chat.path == ["claim.report", "assistance.place"]
    assert chat.context == {"reported": "water"}
    assert "Send somebody to a household" in agents_of(model)[-1].text


async def test_a_tool_that_a_guideline_gives_is_there_only_when_it_holds(support):
    bill, leave = "What is on my bill? K-5120", "I will go to another company"
    understands = Understanding(
        rules={leave: ["billing.leaving"]}, heard={bill: {"customer_number": "K-5120"}}
    )
    with ScriptedModel(always=understands) as model:
        chat = await say(await support(model), bill, leave)

    assert chat.path == ["billing.explain", "billing.explain"]
    _, before, then = agents_of(model)
    assert (before.tools, then.tools) == ([], ["offer_discount"])
    assert "then offer what offer_discount says" in then.text
    assert "billing.leaving" in chat.last.metadata["guidelines"]


# --- On the command line -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["insurance_claim", "telecom_support"])
def test_the_command_finds_an_example_that_is_files(name):
    found = find(name)

    assert found.journey.spec.id == name
    assert len(found.journey.spec.parts) == 2
    assert found.journey.spec.warnings == ()
    assert found.agents.keys() == found.journey.spec.agents.keys()
    assert found.checked_tools().keys() == found.journey.spec.tools.keys()
    assert found.demo_messages
    scopes = {guideline.scope.value for guideline in found.journey.spec.guidelines}
    assert scopes == {"state", "journey", "global"}
    assert any(guideline.forbids for guideline in found.journey.spec.guidelines)
