"""Requests to a model begin alike, and may name more than is open: that does not count."""

from __future__ import annotations

import json
from statistics import mean
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    Concierge,
    Escalation,
    Field,
    Guideline,
    InputField,
    IntentTrigger,
    Journey,
    OutputField,
    Pathway,
    Signature,
    Transition,
)
from journeygraph.journeys.examples.insurance_claim import TOOLS
from journeygraph.nodes.llm import scripted
from journeygraph.nodes.llm.scripted import Call, ScriptedModel, leads_nowhere, says
from tests.support.claim_requests import SAID, answer, claims_with, named, shares


class Serve(Signature):
    """Serve the guest."""

    message: str = InputField(description="What the guest says")
    response: str = OutputField(description="What to say back")


def wants(what: str, **more: Any) -> IntentTrigger:
    return IntentTrigger(description=f"wants {what}", **more)


class Camp(Journey):
    """Run a camp site."""

    class PitchPath(Pathway):
        """Book a pitch."""

        __title__ = "the pitch"
        __fields__ = [
            Field("name", "text", "Whose name may I put down?"),
            Field("nights", "integer", "How many nights?"),
            Field("arrival", "date", "On which day do you come?"),
            Field("dog", "boolean", "Do you bring a dog?"),
            Field("breed", "text", "Of which breed?", when=lambda known: known["dog"]),
            Field("wish", "text", "Any wishes?", required=False),
        ]

    class BoatPath(Pathway):
        """Hire a boat out."""

        __title__ = "the boat"
        __fields__ = [Field("hours", "integer", "For how many hours?")]

    class CellarPath(Pathway):
        """Show the cellar."""

        __fields__ = [Field("key_number", "text", "Which key?")]
        __guidelines__ = [Guideline(id="dark", condition="fears the dark", action="Give a lamp.")]

    class RulesPath(Pathway):
        """Say what is forbidden here."""

        __agents__ = ["warden"]
        __complete_when__ = NEVER

    __transitions__ = [
        Transition(wants("a boat"), from_pathway="pitch", to_pathway="boat"),
        Transition(wants("to see the cellar"), from_pathway="rules", to_pathway="cellar"),
        Transition(wants("the rules", patterns=["the rules"]), to_pathway="rules"),
    ]
    __guidelines__ = [
        Guideline(id="noisy", condition="complains of noise", action="Apologise.", always=True),
    ]


BOAT, CELLAR, RULES = (transition.id for transition in Camp.spec.transitions)
AGENTS = {"warden": lambda ask: "No fires."}


@pytest.fixture
def camp(talk, memory_url):
    """Open a conversation: `await camp(model)`."""

    async def begin(model: Any, journey: type[Journey] = Camp, **options: Any):
        agents = dict.fromkeys(journey.spec.agents, AGENTS["warden"])
        return await talk(journey, agents, memory_url, options={"model": model}, **options)

    return begin


# --- How requests begin --------------------------------------------------------------------------


@pytest.mark.parametrize("rules", [5, 20, 30])
async def test_nine_tenths_of_a_request_stood_at_the_beginning_of_the_one_before(
    talk, memory_url, tmp_path, rules
):
    kind = claims_with(rules, tmp_path)
    with ScriptedModel(always=answer) as model:
        chat = await talk(kind, {}, memory_url, options={"tools": TOOLS, "model": model})
        for message in SAID:
            await chat.says(message)

    assert set(chat.path) == {"claim.report"}
    assert mean(shares(named(model.calls, "understanding"))) >= 0.9
    assert mean(shares(named(model.calls, "answer"))) >= 0.9


class Long(Camp):
    """Run a camp site where much is asked."""

    class PitchPath(Pathway):
        """Book a pitch."""

        __title__ = "the pitch"
        __fields__ = [
            Field(f"field_{n}", "text", f"What is your answer to question {n}?") for n in range(8)
        ]


async def test_what_was_collected_does_not_change_how_the_next_request_begins(camp):
    answers = [says(scripted.fill(**{f"field_{n}": f"word {n}, well"})) for n in range(8)]
    with ScriptedModel(*answers[:6]) as model:
        chat = await camp(model, Long)
        for n in range(6):
            await chat.says(f"hm, word {n}, well, if you ask me?")

    assert min(shares(model.calls)) >= 0.9
    assert '"field_4":"word 4, well"' in model.calls[5].message


async def test_every_request_of_a_journey_has_the_same_schema(camp):
    with ScriptedModel(always=leads_nowhere) as model:
        chat = await camp(model)
        await chat.says("well, it is not so easy to say")
        await chat.says("the rules")
        await chat.says("it is so loud here at night, can you do anything?")

    assert chat.path == ["pitch", "rules", "rules"]
    assert len(model.calls) >= 2
    assert len({json.dumps(call.body["response_format"]) for call in model.calls}) == 1


async def test_the_history_that_an_agent_is_shown_moves_in_steps(talk, memory_url):
    class Bench(Journey):
        class DeskPath(Pathway):
            __signature__ = Serve
            __agents__ = ["clerk"]
            __complete_when__ = NEVER

    def reply(call: Call) -> Any:
        return {"response": f"Answer to {json.loads(call.message)['message']}"}

    with ScriptedModel(always=reply) as model:
        chat = await talk(Bench, {}, memory_url, options={"model": model})
        for n in range(40):
            await chat.says(f"message {n}")

    histories = [call.messages[1:-1] for call in model.calls]
    assert [len(h) for h in histories[:11]] == [2 * n for n in range(11)]
    assert all(20 <= len(h) < 30 for h in histories[10:])
    assert all(h[-1]["content"] == f"Answer to message {n}" for n, h in enumerate(histories[1:]))
    first = [h[0]["content"] for h in histories if h]
    assert len(set(first)) <= len(first) / 4


# --- What is not open does not count -------------------------------------------------------------


def verdict(question: str, *, holds: bool = True) -> dict[str, Any]:
    return {"question": question, "holds": holds, "confidence": 0.99, "reason": "said so"}


def command(name: str, **more: Any) -> dict[str, Any]:
    return {"command": name, "field": None, "value": None, "target": None, "confidence": 1} | more


def saying(*commands: Any, verdicts: Any = (), rules: Any = (), **more: Any) -> Any:
    held = [{"rule": rule, "confidence": 0.99, "reason": "said so"} for rule in rules]
    given = {"verdicts": list(verdicts), "commands": list(commands), "rules_that_hold": held}
    return {**given, "asks": None, "reply": None, **more}


CLOSED = {
    "a move of another pathway": saying(verdicts=[verdict(CELLAR)]),
    "a pathway that nothing leads to from here": saying(command("go", target="cellar")),
    "the pathway itself": saying(command("go", target="pitch")),
    "a rule of another pathway": saying(rules=["dark"], verdicts=[verdict(BOAT, holds=False)]),
    "a field of another pathway": saying(command("fill", field="key_number", value="7")),
    "a field that does not count now": saying(command("fill", field="breed", value="poodle")),
    "a change of it": saying(command("correct", field="breed", value="poodle")),
    "a change of another pathway's": saying(command("correct", field="key_number", value="7")),
    "taking back what is not there": saying(command("clear", field="key_number")),
    "explaining what is elsewhere": saying(command("explain", field="key_number")),
    "a yes to nothing": saying(command("confirm")),
    "a no to nothing": saying(command("deny")),
    "an option of nothing": saying(command("choose", target="pitch")),
    "a person for a mood": saying(command("human", target="sentiment")),
    "all of it": saying(
        command("confirm"), command("go", target="cellar"), verdicts=[verdict(CELLAR)]
    ),
}


@pytest.mark.parametrize("given", CLOSED.values(), ids=CLOSED)
async def test_what_the_journey_has_and_is_not_open_here_is_dropped_and_audited(camp, given):
    with ScriptedModel(given, leads_nowhere) as model:
        chat = await camp(model)
        await chat.says("well, you tell me what it should be")
        await chat.says("or should you not, what do you think?")

    assert "collected" not in model.calls[1].message
    del chat.replies[1:]
    assert (chat.path, chat.stack, chat.context) == (["pitch"], [], {})
    assert "dropped" in await chat.audited()
    assert chat.last.metadata["guidelines"] == []
    assert not chat.last.pathway_changed


async def test_a_verdict_that_was_not_asked_for_does_not_outrank_the_words(camp):
    """A pattern settled the way, so that the model was asked about the rules alone."""
    both = saying(verdicts=[verdict(BOAT)], rules=["noisy"])
    with ScriptedModel(both) as model:
        chat = await camp(model)
        await chat.says("the rules, please")

    assert "verdicts" not in json.loads(model.calls[0].message)["give"]
    assert (chat.path, chat.last.metadata["guidelines"]) == (["rules"], ["noisy"])
    assert "outside_closed_set" in chat.last.metadata["flags"]
    assert "dropped" in await chat.audited()


async def test_hundreds_of_commands_that_do_not_count_are_a_few_rows(camp):
    many = [command("go", target=f"place {n}") for n in range(300)]
    with ScriptedModel(saying(*many)) as model:
        chat = await camp(model, intent_max_tokens=10_000)
        await chat.says("well, you tell me what it should be")

    dropped = [row.reason for row in await chat.journey.audit() if row.kind == "dropped"]
    assert len(dropped) == 21
    assert dropped[-1] == "280 more commands were ignored"


class Plain(Journey):
    """Serve guests."""

    class DeskPath(Pathway):
        __agents__ = ["warden"]
        __complete_when__ = NEVER

    class BarPath(Pathway):
        __agents__ = ["warden"]
        __complete_when__ = NEVER

    __transitions__ = [Transition(wants("a drink"), from_pathway="desk", to_pathway="bar")]


@pytest.mark.parametrize("name", ["human", "cancel", "fill", "confirm", "wait", "off_topic"])
async def test_where_nothing_is_collected_and_nobody_can_be_called_no_command_counts(camp, name):
    with ScriptedModel(saying(command(name, field="x", value="y"))) as model:
        chat = await camp(model, Plain)
        assert await chat.says("get me a person, now") == "No fires."

    assert (chat.path, chat.last.metadata["flags"]) == (["desk"], ["outside_closed_set"])
    assert "dropped" in await chat.audited()


class Staffed(Plain):
    """Serve guests, and call somebody for them."""

    __escalation__ = Escalation()


@pytest.mark.parametrize("name", ["cancel", "fill", "confirm", "wait"])
async def test_where_only_a_person_can_be_called_no_other_command_counts(camp, name):
    with ScriptedModel(
        saying(command(name, field="x", value="y")), says(scripted.human())
    ) as model:
        chat = await camp(model, Staffed)
        assert await chat.says("how would I know?") == "No fires."
        assert (chat.path, chat.last.metadata["flags"]) == (["desk"], ["outside_closed_set"])
        await chat.says("this goes nowhere with you, is there no other one?")

    assert json.loads(model.calls[0].message)["commands"] == ["human", "go"]
    assert model.calls[0].schema == model.calls[1].schema
    assert "escalated" in await chat.audited()


async def test_a_person_who_is_not_there_is_not_called(camp):
    with ScriptedModel(saying(command("human", target="asked"))) as model:
        chat = await camp(model)
        await chat.says("is there anybody of flesh and blood at all?")

    assert (chat.path, chat.context) == (["pitch"], {})
    assert "escalated" not in await chat.audited()


# --- Many names ----------------------------------------------------------------------------------


def crowd(count: int) -> list[Guideline]:
    return [
        Guideline(id=f"rule_{n}", condition=f"asks about hut {n}", action="Say where it is.")
        for n in range(count)
    ]


class Huge(Camp):
    """Run a camp site with many rules."""

    __guidelines__ = crowd(210)


class Wide(Camp):
    """Run a camp site with many places."""

    for _n in range(220):
        locals()[f"Hut{_n}Path"] = type(
            f"Hut{_n}Path", (Pathway,), {"__fields__": [Field(f"bed_{_n}", "text", "Which bed?")]}
        )
    del _n


def enums_in(schema: Any) -> list[list[str]]:
    if isinstance(schema, list):
        return [found for item in schema for found in enums_in(item)]
    if not isinstance(schema, dict):
        return []
    own = [schema["enum"]] if "enum" in schema else []
    return own + [found for item in schema.values() for found in enums_in(item)]


@pytest.mark.parametrize("journey", [Huge, Wide])
async def test_a_journey_with_many_names_takes_them_as_text_and_counts_what_is_open(camp, journey):
    told = saying(
        command("fill", field="name", value="Ada"),
        command("fill", field="bed_3", value="7"),
        command("go", target="cellar"),
        command("go", target="nowhere"),
        verdicts=[verdict(CELLAR), verdict("made up")],
        rules=["dark", "rule_900"],
    )
    with ScriptedModel(told, leads_nowhere) as model:
        chat = await camp(model, journey)
        await chat.says("hut 5 for Ada, I should say")
        await chat.says("and what do you make of hut 7?")

    first, second = model.calls
    assert first.schema == second.schema
    assert max(map(len, enums_in(first.schema))) <= 17  # the commands, which are few
    assert chat.path == ["pitch", "pitch"]
    assert chat.replies[0].metadata["guidelines"] == []
    assert "outside_closed_set" in chat.replies[0].metadata["flags"]
    assert '"collected":{"name":"Ada"}' in second.message


# --- Several journeys ----------------------------------------------------------------------------


class Shop(Journey):
    """Sell food."""

    class CounterPath(Pathway):
        """Take an order."""

        __fields__ = [Field("order", "text", "What would you like?"), Field("bag", "text", "Bag?")]

    __activation__ = [wants("food")]
    __guidelines__ = [Guideline(id="ripe", condition="asks if it is ripe", action="Say so.")]


class Pool(Journey):
    """Let people swim."""

    class GatePath(Pathway):
        """Sell tickets."""

        __fields__ = [Field("tickets", "integer", "How many?"), Field("day", "date", "When?")]

    class LockerPath(Pathway):
        """Open lockers."""

        __fields__ = [Field("locker", "text", "Which?")]

    __activation__ = [wants("to swim")]
    __guidelines__ = [Guideline(id="deep", condition="cannot swim", action="Say how deep it is.")]
    __transitions__ = [Transition(wants("a locker"), to_pathway="locker")]


class Site(Concierge):
    """Help the guests of a camp site."""

    __journeys__ = [Shop, Pool]


async def test_in_one_journey_nothing_of_another_counts(camp):
    begun = says(to="shop.counter")
    told = saying(
        command("fill", field="tickets", value="3"),
        command("fill", field="locker", value="9"),
        command("correct", field="tickets", value="4"),
        command("go", target="pool.locker"),
        verdicts=[verdict(Pool.spec.transitions[0].id), verdict("pool.x")],
        rules=["pool.deep"],
    )
    with ScriptedModel(begun, told) as model:
        chat = await camp(model, Site)
        await chat.says("something to eat would be nice")
        await chat.says("sorry, do as you please, friend, whatever you think")

    first, second = model.calls
    assert first.schema == second.schema
    assert chat.path == ["shop.counter", "shop.counter"]
    assert chat.context == {}
    assert "outside_closed_set" in chat.last.metadata["flags"]
    assert chat.last.metadata["guidelines"] == []
