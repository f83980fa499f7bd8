"""Limits of a model: deadlines, further tries, the number of requests, the size of answers."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    ConfigurationError,
    Field,
    Guideline,
    Journey,
    ModelAgent,
    Passage,
    Pathway,
    PathwayExecutionError,
    Personality,
    Validation,
)
from journeygraph.nodes.llm.scripted import Call, Fault, Script, ScriptedModel, UseTool
from tests.support.model_shop import HAND, Desk, Say, Shop, server, shop
from tests.support.other_models import StreamingModel

__all__ = ["server", "shop"]


async def test_a_stream_that_breaks_before_the_reply_began_is_tried_again(shop):
    late = '{"value": "four words to begin", "response": "Hello."}'
    model = ScriptedModel(Fault.cut_after(pieces=2, of=late), {"response": "Hello."})
    chat = await shop(model)
    assert await chat.says("hm") == "Hello."


async def test_a_broken_connection_is_tried_again_if_nobody_listens(shop):
    broken = Fault.cut_after(pieces=4, of={"response": "one two three four five six"})
    model = ScriptedModel(broken, {"response": "Hello."})
    chat = await shop(model)
    assert await chat.says("hm") == "Hello."  # not stream_message


def test_a_compiled_graph_asks_once_in_each_event_loop(server):
    server.script = Script(always={"response": "Hello."})
    graph = Shop.compile()
    for _ in range(2):
        asyncio.run(graph.ainvoke({"messages": [{"role": "user", "content": "hm"}]}))
    assert len(server.calls) == 2  # and none of them on the dead connection of another loop


async def test_a_tool_that_will_not_be_cancelled_does_not_outlast_the_deadline(shop):
    async def stubborn(order: str) -> str:
        """Look an order up."""
        for _ in range(20):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.1)
        return "found"

    model = ScriptedModel(UseTool("stubborn", order="P-1"))
    chat = await shop(model, clerk=ModelAgent(tools=[stubborn]), model_timeout_seconds=0.2)
    await chat.says("hm")


async def test_a_model_that_is_too_slow_for_its_pathway_is_asked_once(shop):
    class Hasty(Shop):
        class TalkPath(Shop.TalkPath):
            __timeout__ = 0.2

    model = ScriptedModel(always=Fault.hang())
    chat = await shop(model, Hasty, error_recovery="retry", retry_backoff_seconds=0)
    await chat.says("hm")
    assert len(model.calls) == 1


async def test_a_command_that_was_remembered_is_said_to_be(shop):
    go = {"verdicts": [], "commands": [{"command": "go", "target": "help", "confidence": 0.9}]}
    model = ScriptedModel(go)
    for number in range(2):
        chat = await shop(model, Desk, **HAND, session_id=f"s-{number}")
        await chat.says("hm")
    assert chat.last.metadata["tier"] == "cache"


async def test_a_command_of_which_a_model_was_not_sure_is_told(shop):
    go = {"verdicts": [], "commands": [{"command": "go", "target": "help", "confidence": 0.4}]}
    chat = await shop(ScriptedModel(go), Desk, **HAND)
    await chat.says("hm")
    assert chat.last.metadata["flags"] == ["below_threshold"]
    assert chat.last.metadata["confidence"] == 0.4


# The largest number of tokens of an answer.

LIMITS = {
    **{"intent_max_tokens": 61, "agent_max_tokens": 62},
    **{"validation_max_tokens": 63, "wording_max_tokens": 64},
}
VERDICT = {"is_valid": False, "violations": ["rude"], "suggested_fixes": [], "confidence": 0.9}
ANSWERS: dict[str, Any] = {
    "understanding": {"verdicts": [], "commands": []},
    "validation": VERDICT,
    "rewriting": {"response": "Good day."},
    "rewording": {"texts": ["We are through."]},
    "knowledge": {"answer": "To six.", "passages": ["p1"]},
    "freeform": {"response": "Sorry."},
    "choice": {"agents": ["clerk"], "reason": "it is free"},
}


def by_purpose(call: Call) -> Any:
    if call.schema_name == "answer" and call.tools and "found" not in call.text:
        return UseTool("find", order="P-1")
    return ANSWERS.get(call.schema_name, {"response": "Hello."})


def find(order: str) -> str:
    """Look an order up."""
    return f"{order} is found"


class Tone(Journey):
    """Be done at once."""

    __personality__ = Personality(name="Ada", tone="merry", reword=True)
    __texts__ = {"closing": "We are done."}

    class TalkPath(Pathway):
        __agents__ = ["clerk"]


class Checked(Journey):
    """Answer politely."""

    __guidelines__ = [Guideline(id="polite", action="Stay polite.", always=True)]
    __validation__ = Validation()
    TalkPath = Desk.TalkPath


class Lost(Journey):
    """Fail."""

    __degrade__ = "freeform"
    TalkPath = Desk.TalkPath


class Chosen(Journey):
    """Let a model choose who answers."""

    class TalkPath(Pathway):
        __signature__ = Say
        __agents__ = ["clerk", "porter"]
        __pipeline__ = "router"
        __pipeline_config__ = {"routing_strategy": "llm"}
        __complete_when__ = NEVER


class Knowing(Journey):
    """Open an account."""

    __knowledge__ = lambda question: [Passage("We close at six.", "Handbook")]  # noqa: E731

    class TalkPath(Pathway):
        __fields__ = [Field("name", "name", "Who are you?")]


CLERK = {"clerk": ModelAgent(tools=[find])}
PURPOSES: dict[str, tuple[type[Journey], dict[str, Any], dict[str, int]]] = {
    "agent": (Shop, CLERK, {"answer": 62}),
    "agent of its own": (Shop, {"clerk": ModelAgent(max_tokens=70)}, {"answer": 70}),
    "understanding": (Desk, HAND, {"understanding": 61}),
    "check": (Checked, HAND, {"validation": 63, "rewriting": 64}),
    "rewording": (Tone, HAND, {"rewording": 64}),
    "degraded": (Lost, {"clerk": lambda ask: 1 / 0}, {"freeform": 64}),
    "choice": (Chosen, {}, {"choice": 61, "answer": 62}),
    "knowledge": (Knowing, {}, {"understanding": 61, "knowledge": 64}),
}


@pytest.mark.parametrize("purpose", PURPOSES)
async def test_a_request_says_how_many_tokens_its_answer_may_have(
    talk, memory_url, server, purpose
):
    journey, agents, limits = PURPOSES[purpose]
    server.script = Script(always=by_purpose)
    chat = await talk(journey, agents, memory_url, **LIMITS)
    for message in ("hello", "when do you close?"):
        await chat.says(message)
    assert {call.schema_name: call.max_tokens for call in server.calls} == limits


CHATTY = {"verdicts": [], "commands": [], "asks": [], "reply": " ".join(["blah"] * 1_000)}


async def test_an_understanding_that_reaches_its_limit_is_cut_off_and_flagged(shop, server):
    server.script = Script(always=CHATTY)
    chat = await shop(None, Desk, **HAND)
    assert await chat.says("hm") == "by hand"
    assert chat.last.metadata["flags"] == ["understanding_failed:cut_off"]
    assert [call.max_tokens for call in server.calls] == [600]
    assert chat.last.metadata["usage"]["output_tokens"] == 600


@pytest.mark.parametrize("live", [False, True])
async def test_an_agent_that_reaches_its_limit_is_cut_off(shop, server, live):
    server.script = Script(always={"response": " ".join(["blah"] * 40)})
    chat = await shop(None, clerk=ModelAgent(max_tokens=30), error_recovery="fail_fast")

    async def streamed(message: str) -> None:
        _ = [part async for part in chat.journey.stream_message(message)]

    with pytest.raises(PathwayExecutionError) as failed:
        await (streamed if live else chat.says)("hm")
    cause: Any = failed.value.__cause__
    assert cause.kind == "cut_off"
    assert str(cause) == "the model's answer reached its limit of 30 tokens"
    assert [(call.stream, call.max_tokens) for call in server.calls] == [(live, 30)]


@pytest.mark.parametrize(
    ("settings", "sent"),
    [
        ({}, {"max_tokens": 600}),
        ({"max_tokens": 40}, {"max_tokens": 40}),
        ({"max_tokens": 4_000}, {"max_tokens": 600}),
        ({"extra_body": {"max_completion_tokens": 40, "top_k": 1}}, {"max_tokens": 40}),
        ({"model": "o4-mini"}, {"max_completion_tokens": 600}),
        ({"model": "proxied/gpt-5-mini", "max_tokens": 40}, {"max_completion_tokens": 40}),
        ({"base_url": "https://api.openai.com/v1"}, {"max_completion_tokens": 600}),
        ({"base_url": "https://x.openai.azure.com/v1"}, {"max_completion_tokens": 600}),
        ({"base_url": "https://openai.com.proxy.invalid/v1"}, {"max_tokens": 600}),
    ],
)
async def test_the_limit_has_the_name_that_the_server_knows(shop, settings, sent):
    with ScriptedModel(ANSWERS["understanding"], **settings) as model:
        chat = await shop(model, Desk, **HAND)
        assert await chat.says("hm") == "by hand"
        body = model.calls[0].body
    assert {name: body[name] for name in body if name.startswith("max_")} == sent
    assert body.get("top_k") == settings.get("extra_body", {}).get("top_k")


HELLO: Any = [("answer", {"response": "Hello."})]


@pytest.mark.parametrize(("own", "wanted"), [(None, 50), (-1, 50), (20, 20), (90, 50)])
async def test_a_limit_that_a_provider_takes_as_a_field_is_set_there(shop, own, wanted):
    limits = []

    class Terse(StreamingModel):
        num_predict: int | None = own

        def _taken(self, messages, options):
            limits.append((self.num_predict, options.get("max_tokens")))
            return super()._taken(messages, options)

    kind: Any = Terse
    model = kind(HELLO)
    chat = await shop(model, clerk=ModelAgent(max_tokens=50))
    assert await chat.says("hm") == "Hello."
    assert (limits, model.num_predict) == ([(wanted, None)], own)


async def test_a_limit_of_another_provider_is_sent_with_the_call(shop):
    kind: Any = StreamingModel
    model = kind(HELLO)
    chat = await shop(model, clerk=ModelAgent(max_tokens=50))
    await chat.says("hm")
    assert model.asked[0][1]["max_tokens"] == 50


@pytest.mark.parametrize("given", [0, -1, 1.5, True, "600"])
def test_an_agents_limit_that_is_no_number_of_tokens_is_refused(given):
    with pytest.raises(ConfigurationError, match="max_tokens"):
        ModelAgent(max_tokens=given)
