"""Limits of a model: deadlines, further tries, and the number of requests."""

from __future__ import annotations

import asyncio
import contextlib

from journeygraph import (
    NEVER,
    Journey,
    ModelAgent,
    Pathway,
)
from journeygraph.nodes.llm.scripted import Fault, Script, ScriptedModel, UseTool
from tests.support.model_shop import HAND, Desk, Say, Shop, server, shop

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


async def test_a_pathway_with_a_signature_and_no_agents_is_a_models(talk, memory_url):
    class Lone(Journey):
        class TalkPath(Pathway):
            __signature__ = Say
            __complete_when__ = NEVER

    model = ScriptedModel({"response": "Hello."})
    chat = await talk(Lone, {}, memory_url, options={"model": model})
    assert await chat.says("hm") == "Hello."
