"""A pathway that calls its tools before its agents work."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import Annotated, Any

import pytest

from journeygraph import (
    NEVER,
    Call,
    ConfigurationError,
    Effect,
    Field,
    FromContext,
    InputField,
    Journey,
    JourneyDefinitionError,
    OutputField,
    Pathway,
    Signature,
    Tool,
    load_journey,
)
from journeygraph.nodes.llm.scripted import ScriptedModel


class Tell(Signature):
    """Tell the customer what is known."""

    message: str = InputField(description="What the customer says")
    response: str = OutputField(description="What to say back")


class Desk(Journey):
    """Look policies up."""

    class LookPath(Pathway):
        """Look the policy up."""

        __signature__ = Tell
        __agents__ = ["clerk"]
        __complete_when__ = NEVER
        __calls__ = [
            Call("find_policy", {"number": "policy"}, save="found"),
            Call("price", save="price"),
            "weather",
        ]


def find_policy(number: str) -> dict[str, Any]:
    """Find a policy."""
    if number == "hang":
        raise LookupError("no such policy")
    return {"number": number, "kind": "home"}


async def price(found: dict[str, Any], extra: int = 2) -> float:
    """Say what it costs."""
    return 10.5 * extra


def weather(where: Annotated[str, FromContext("town")]) -> str:
    """Say how the weather is."""
    return f"rain in {where}"


TOOLS = {"find_policy": find_policy, "price": price, "weather": weather}


def results(ask: Any) -> str:
    return json.dumps(ask["tool_results"])


@pytest.fixture
def desk(talk, memory_url):
    async def begin(clerk: Any = results, tools: Any = None, model: Any = False, **options: Any):
        given = {"tools": tools or TOOLS, "model": model}
        agents = {"clerk": clerk} if clerk else {}
        return await talk(Desk, agents, memory_url, options=given, **options)

    return begin


async def test_the_agents_get_what_the_tools_gave_and_later_calls_what_earlier_ones_saved(desk):
    chat = await desk(context={"policy": "P-1", "town": "Bonn"})

    assert json.loads(await chat.says("Well?")) == {
        "find_policy": {"number": "P-1", "kind": "home"},
        "price": 21.0,
        "weather": "rain in Bonn",
    }
    assert chat.context["found"] == {"number": "P-1", "kind": "home"}
    assert chat.context["price"] == 21.0
    assert "weather" not in chat.context


async def test_a_model_reads_the_results_in_its_prompt(desk):
    with ScriptedModel({"response": "It is a home policy."}) as model:
        chat = await desk(None, model=model, context={"policy": "P-1", "town": "Bonn"})

        assert await chat.says("Well?") == "It is a home policy."
        asked = json.loads(model.calls[0].message)
        assert asked["tool_results"]["find_policy"]["kind"] == "home"


async def test_what_is_not_known_is_not_called_and_what_fails_is_told_and_not_kept(desk):
    chat = await desk(context={"policy": "hang"})

    assert json.loads(await chat.says("Well?")) == {
        "find_policy": {"failed": "LookupError: no such policy"},
        "price": {"not_called": "not known yet: found"},
        "weather": {
            "failed": "LookupError: the conversation has no where yet, and you cannot set it"
        },
    }
    assert set(chat.context) == {"policy"}
    assert chat.last.metadata["error"] is None


async def test_a_tool_that_hangs_leaves_the_agents_their_time(desk):
    async def hangs(number: str) -> str:
        """Hang."""
        await asyncio.sleep(60)
        return number

    tools = {**TOOLS, "find_policy": hangs}
    chat = await desk(tools=tools, context={"policy": "P-1"}, pathway_timeout_seconds=0.2)

    assert json.loads(await chat.says("Well?"))["find_policy"] == {"failed": "it took too long"}


@pytest.mark.parametrize(
    ("tools", "fault"),
    [
        ({"price": price}, "no tool for: find_policy, weather"),
        ({**TOOLS, "weather": Tool(weather, confirm=True)}, "needs a confirmation by the user"),
        ({**TOOLS, "find_policy": weather}, "has no parameter 'number'"),
    ],
    ids=["missing", "to be confirmed", "another parameter"],
)
async def test_a_tool_that_cannot_be_called_is_refused_at_the_start(desk, tools, fault):
    with pytest.raises(ConfigurationError, match=fault):
        await desk(tools=tools)


@pytest.mark.parametrize(
    ("calls", "fault"),
    [
        ("find_policy", "must be a list"),
        ([3], "it must be text or Call(...)"),
        ([Call("")], "tool is ''"),
        ([Call("x", {"a": 3})], "arguments.a is 3; it must be text"),  # type: ignore[dict-item]
        (["x", "x"], "'x' occurs twice in calls"),
    ],
    ids=["text", "number", "nameless", "argument", "twice"],
)
def test_a_faulty_call_is_named_with_its_remedy(calls, fault):
    path = type("LookPath", (Pathway,), {"__agents__": ["clerk"], "__calls__": calls})
    with pytest.raises(JourneyDefinitionError, match=fault):
        type("Desk", (Journey,), {"LookPath": path})


async def test_what_no_time_is_left_for_is_not_begun(desk):
    begun = []

    async def hangs(number: str) -> str:
        """Hang."""
        return await asyncio.sleep(60, number)

    def priced(extra: int = 2) -> float:
        """Say what it costs."""
        begun.append(extra)
        return 1.0

    tools = {**TOOLS, "find_policy": hangs, "price": priced}
    chat = await desk(tools=tools, context={"policy": "P-1"}, pathway_timeout_seconds=0.2)

    assert json.loads(await chat.says("Well?"))["price"] == {"not_called": "no time was left"}
    assert begun == []


class Silent(Journey):
    """Look the weather up, then talk."""

    class LookPath(Pathway):
        __calls__ = [Call("weather", save="sky")]
        __next__ = "talk"

    class TalkPath(Pathway):
        __agents__ = ["clerk"]
        __runs_on_arrival__ = True
        __complete_when__ = NEVER


async def test_a_pathway_without_agents_calls_its_tools_too(talk, memory_url):
    options = {"tools": {"weather": sky_now}, "model": False}
    agents = {"clerk": lambda ask: f"It is {ask['context']['sky']}."}
    chat = await talk(Silent, agents, memory_url, options=options)

    assert await chat.says("Hello") == "It is grey."
    assert chat.ran == ["look", "talk"]


def sky_now() -> str:
    """Say what the weather is."""
    return "grey"


ORDERS = """
id: orders
tools:
  - {function: {name: find_order, parameters: {type: object, properties: {order: {type: string}}}}}
states:
  look:
    fields: [{name: order, extract: ['[A-Z]-[0-9]+']}]
    calls: [{tool: find_order, save: found}]
    say: "Order {order} is {found}."
    complete_when: never
  lost: {say: "We look for {order}: {found}.", complete_when: never}
transitions:
  - {from: look, to: lost, when: context.found == 'lost'}
  - {from: look, to: look, patterns: [another], update: {order: "clear:"}}
"""
PLACES = {"A-1": "in Bonn", "B-2": "in Rome", "L-3": "lost", "N-4": None}


def find_order(order: str) -> str | None:
    """Find an order."""
    return PLACES[order]


@pytest.fixture
def orders(talk, memory_url, tmp_path):
    (tmp_path / "orders.yaml").write_text(ORDERS)
    options = {"tools": {"find_order": find_order}, "model": False}
    return partial(talk, load_journey(tmp_path / "orders.yaml"), {}, memory_url, options=options)


async def test_a_text_says_what_the_call_of_its_own_turn_gave(orders):
    chat = await orders()
    await chat.says("hello")

    assert await chat.says("A-1") == "Order A-1 is in Bonn."
    await chat.says("another")
    assert await chat.says("B-2") == "Order B-2 is in Rome."
    assert chat.context["found"] == "in Rome"


@pytest.mark.parametrize(
    ("order", "said"),
    [("X-9", "I could not look that up just now."), ("N-4", "Order N-4 is .")],
    ids=["raised", "nothing"],
)
async def test_a_text_never_says_what_a_call_gave_for_other_arguments(orders, order, said):
    chat = await orders()
    await chat.says("A-1")
    await chat.says("another")

    assert await chat.says(order) == said
    assert "found" not in chat.context


async def test_a_condition_is_judged_with_what_was_called_last(orders):
    chat = await orders()
    await chat.says("A-1")
    await chat.says("another")

    assert await chat.says("L-3") == "Order L-3 is lost."
    assert await chat.says("and now?") == "We look for L-3: lost."


async def test_what_an_effect_gave_before_is_no_result_of_one_that_gives_nothing(talk, memory_url):
    def book(day: str) -> str:
        """Book."""
        return "T-1"

    def cancel() -> None:
        """Cancel."""

    class Visit(Journey):
        class BookPath(Pathway):
            __fields__ = [Field("day", extract=["[a-z]+day"])]
            __effects__ = [Effect("book", save="ticket")]
            __next__ = "cancel"

        class CancelPath(Pathway):
            __effects__ = [Effect("cancel", save="ticket")]
            __runs_on_arrival__ = True

    options = {"tools": {"book": book, "cancel": cancel}, "model": False}
    chat = await talk(Visit, {}, memory_url, options=options)
    await chat.says("hello")
    await chat.says("sunday")

    assert chat.ran == ["book", "cancel"]
    assert "ticket" not in chat.context
