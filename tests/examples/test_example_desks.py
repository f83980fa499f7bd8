"""The two examples that are files: each conversation without a model, and with a scripted one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from journeys import Journey, Texts
from journeys.examples import insurance_claim, telecom_support
from journeys.examples.insurance_claim import InsuranceClaim
from journeys.examples.telecom_support import TelecomSupport
from journeys.examples.telecom_support import tools as telecom
from nodes.llm.scripted import Call, ScriptedModel, rules_hold
from server.discover.journeys import find
from tests.support.talk import Talk

CANCELLED = Texts().cancelled


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


# --- Without a model -----------------------------------------------------------------------------


async def test_a_claim_is_interrupted_by_an_emergency_and_settled_afterwards(claims):
    chat = await say(await claims(), *insurance_claim.DEMO_MESSAGES)

    assert chat.path == [
        "concierge",
        "claim.report",
        "claim.report",
        "claim.cover",
        "assistance.place",
        "concierge",
        "claim.report",
        "claim.assess",
        "concierge",
    ]
    [sent, settled] = [reply for reply in chat.replies if reply.is_journey_complete]
    assert "Aqua Service Nord will be there in 35 minutes" in sent.message
    assert "It is filed as C-2041-WA7300, and decided within 14 days." in settled.message
    assert settled.metadata["journey_result"]["filed"] == {"claim": "C-2041-WA7300", "days": 14}
    assert chat.context == {"policy_number": "HH-2041"}


async def test_what_was_reported_goes_along_into_the_emergency(claims):
    chat = await say(await claims(), "a burst pipe", "send somebody right now, I am scared")

    assert chat.context == {"reported": "water", "trade": "plumber"}
    assert chat.last.message == (
        "You do not have to sort this out alone. Is everybody safe? What is the postcode?"
    )


async def test_an_emergency_is_left_for_a_claim(claims):
    chat = await say(await claims(), "I am locked out", "first I want to report the damage")

    assert chat.path == ["assistance.place", "claim.report"]
    assert chat.context == {}


async def test_a_small_claim_on_a_policy_that_does_not_cover_it(claims):
    chat = await say(await claims(), "broken window, my policy is HH-3377", "it costs 200 euros")

    assert "Your policy does not cover glass. Shall I file it all the same?" in chat.last.message
    assert chat.last.metadata["guidelines"] == ["no_legal_advice", "claim.no_promise"][::-1]
    assert await chat.says("never mind") == CANCELLED
    assert chat.context == {"policy_number": "HH-3377"}


async def test_what_was_noted_wrongly_is_asked_for_again(claims):
    chat = await say(await claims(), "a claim for water, HH-2041, 900 euros", "that is wrong")

    assert chat.path == ["claim.assess", "claim.report"]
    assert "damage" not in chat.context
    await say(chat, "it was fire, 900 euros")
    assert chat.context["estimate"] == {"covered": True, "pays": 750.0, "excess": 150}


async def test_a_policy_that_is_not_there_is_not_noted(claims):
    chat = await say(await claims(), "a claim, HH-9999")

    assert chat.last.message == "I find no policy HH-9999. What is the number?"
    assert chat.context == {}


async def test_a_theft_is_told_to_the_police(claims):
    chat = await say(await claims(), "my bicycle was stolen, HH-2041", "800 euros", "no police yet")

    assert "Please report the theft to the police as well." in chat.last.message
    assert {"claim.theft", "claim.police"} <= set(chat.last.metadata["guidelines"])


async def test_the_line_leads_to_the_bill_and_the_bill_is_corrected(support):
    chat = await say(await support(), *telecom_support.DEMO_MESSAGES)

    assert chat.path == [
        "concierge",
        "outage.identify",
        "outage.line",
        "outage.line",
        "billing.explain",
        "billing.tariff",
        "concierge",
    ]
    assert "12.50 euros are taken off; 43.10 euros are left" in chat.last.message
    assert chat.last.metadata["journey_completed"] == "billing"
    assert chat.context == {"customer_number": "K-5120"}


async def test_the_bill_leads_to_the_line_and_a_technician(support):
    chat = await say(await support(), "my bill please, K-6034", "and my line is dead")
    assert "Please restart the router" in chat.last.message
    assert chat.context["customer_number"] == "K-6034"
    assert "invoice" not in chat.context

    await say(chat, "that did not help", "wednesday")

    assert "Wednesday between 8 and 12; the reference is T-6034-WED." in chat.last.message
    assert chat.last.metadata["journey_completed"] == "outage"


async def test_an_outage_has_every_reply_say_that_emergency_calls_work(support):
    chat = await say(await support(), "no internet, K-7702", "since when?", "it is back")

    assert chat.replies[1].message.startswith("Emergency calls to 112 work")
    assert "outage.emergency_calls" in chat.replies[1].metadata["guidelines"]
    assert chat.last.metadata["journey_completed"] == "outage"


async def test_a_journey_of_a_desk_starts_again_without_what_it_knew(support):
    chat = await say(await support(), "no internet, K-7702", "forget it", "no internet")

    assert chat.path == ["outage.line", "concierge", "outage.line"]
    assert "until today at six" in chat.last.message  # the number is shared, and was not forgotten


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
