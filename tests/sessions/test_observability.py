"""Telemetry of a turn: spans, metrics and log lines, without any text of users."""

from __future__ import annotations

import asyncio
import textwrap
import threading
from collections.abc import Callable
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt
from opentelemetry import trace

from journeygraph import (
    NEVER,
    Journey,
    ModelAgent,
    Pathway,
    ReturnToPrevious,
    Transition,
)
from journeygraph.nodes.llm.scripted import Fault, ScriptedModel, UseTool, leads_nowhere
from journeygraph.nodes.telemetry import pseudonym
from journeygraph.nodes.telemetry.model_span import provider_of
from tests.support import api, model_shop, watching
from tests.support.clerks import clerk, said, staff
from tests.support.solo import APOLOGY, Solo
from tests.support.watching import Watch

watch, serve, shop = watching.watch, api.serve, model_shop.shop


def told(span: Any) -> dict[str, Any]:
    return dict(span.attributes or {})


def outcome(span: Any) -> str:
    return str(told(span)["journeygraph.outcome"])


def dedented(text: str) -> str:
    return textwrap.dedent(text).strip("\n")


class Desk(Journey):
    """Take an order, confirm it by itself, and answer questions in between."""

    class OrderPath(Pathway):
        __agents__ = ["first", "second"]
        __accumulate__ = ["item"]
        __complete_when__ = ["item"]
        __next__ = "confirm"

    class ConfirmPath(Pathway):
        __agents__ = ["confirmer"]
        __runs_on_arrival__ = True

    class HelpPath(Pathway):
        __agents__ = ["helper"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(said("help"), to_pathway="help")]


class Both(Journey):
    """Ask two agents at once."""

    class TalkPath(Pathway):
        __agents__ = ["left", "right"]
        __pipeline__ = "parallel"
        __complete_when__ = NEVER


# the tree


async def test_a_turn_holds_its_pathways_and_they_hold_their_agents(
    talk: Callable[..., Any], memory_url: str, watch: Watch
) -> None:
    chat = await talk(Desk, staff(Desk), memory_url)
    assert watch.tree == ""  # nobody said anything yet

    await chat.says("help")
    await chat.says("I take item=pen")

    assert chat.ran == ["order", "confirm"]
    assert watch.tree == dedented("""
        invoke_workflow desk
          pathway help
            invoke_agent helper
        invoke_workflow desk
          pathway order
            invoke_agent first
            invoke_agent second
          pathway confirm
            invoke_agent confirmer
    """)
    first, second = (told(span) for span in watch.named("invoke_workflow desk"))
    assert second == {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": "desk",
        "gen_ai.conversation.id": pseudonym("s-1"),
        "journeygraph.journey.version": Desk.spec.version,
        "journeygraph.pathway.id": "confirm",
        "journeygraph.turn.number": 2,
        "journeygraph.turn.ran": ("order", "confirm"),
        "journeygraph.turn.model_calls": 0,
        "journeygraph.turn.input_tokens": 0,
        "journeygraph.turn.output_tokens": 0,
        "journeygraph.outcome": "ok",
    }
    assert first["journeygraph.turn.tier"] == "pattern"
    assert watch.one("invoke_agent second") == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "second",
        "journeygraph.agent.path": "second",
        "journeygraph.pathway.id": "order",
        "journeygraph.outcome": "ok",
    }


async def test_agents_at_once_are_siblings(
    talk: Callable[..., Any], memory_url: str, watch: Watch
) -> None:
    both = asyncio.Barrier(2)

    async def wait(payload: Any) -> str:
        await both.wait()
        return "here"

    chat = await talk(Both, {"left": wait, "right": wait}, memory_url)
    await chat.says("hello")

    assert sorted(watch.tree.splitlines()) == [
        "    invoke_agent left",
        "    invoke_agent right",
        "  pathway talk",
        "invoke_workflow both",
    ]
    left, right = (watch.named(f"invoke_agent {name}")[0] for name in ("left", "right"))
    assert (left.start_time or 0) < (right.end_time or 0)
    assert (right.start_time or 0) < (left.end_time or 0)


async def test_what_an_agent_opens_itself_stands_beneath_it_also_in_its_thread(
    solo: Callable[..., Any], watch: Watch
) -> None:
    def in_a_thread(payload: Any) -> str:
        assert threading.current_thread() is not threading.main_thread()
        with trace.get_tracer("author").start_as_current_span("look it up"):
            return "found"

    chat = await solo(in_a_thread)
    await chat.says("where is it?")

    assert watch.tree.splitlines()[-1] == "      look it up"


async def test_sessions_that_talk_at_once_do_not_mix(
    talk: Callable[..., Any], memory_url: str, watch: Watch
) -> None:
    both = asyncio.Barrier(2)

    async def wait(payload: Any) -> str:
        await both.wait()
        return "here"

    names = ("s-1", "s-2")
    chats = [await talk(Solo, {"clerk": wait}, memory_url, session_id=name) for name in names]
    await asyncio.gather(*(chat.says("hello") for chat in chats))

    turn = ["invoke_workflow solo", "  pathway talk", "    invoke_agent clerk"]
    assert watch.tree.splitlines() == turn * 2
    sessions = {told(span)["gen_ai.conversation.id"] for span in watch.named(turn[0])}
    assert sessions == {pseudonym(name) for name in names}
    assert len({span.context.trace_id for span in watch.spans}) == 2


async def test_a_streamed_turn_is_seen_as_any_other(shop: Callable[..., Any], watch: Watch) -> None:
    async with ScriptedModel({"response": "Good day to you."}) as model:
        chat = await shop(model)
        events = [event.type async for event in chat.journey.stream_message("hello")]

    assert events[-1] == "done"
    assert watch.tree == dedented("""
        invoke_workflow shop
          pathway talk
            invoke_agent clerk
              chat scripted
    """)
    assert watch.one("chat scripted")["gen_ai.request.stream"] is True


async def test_a_journey_compiled_for_another_graph_is_seen_without_turns(watch: Watch) -> None:
    graph = Solo.compile(agents={"clerk": clerk("desk")})

    await graph.ainvoke({"messages": [{"role": "user", "content": "hello"}]})

    assert watch.tree == "pathway talk\n  invoke_agent clerk"


# how it ends


async def test_each_try_of_an_agent_is_seen(solo: Callable[..., Any], watch: Watch) -> None:
    tries: list[int] = []

    def hesitant(payload: Any) -> str:
        tries.append(1)
        if len(tries) < 3:
            raise LookupError("not yet")
        return "now"

    chat = await solo(hesitant, error_recovery="retry", max_retries=2, retry_backoff_seconds=0.001)
    assert await chat.says("hello") == "now"

    assert watch.tree == dedented("""
        invoke_workflow solo
          pathway talk
            invoke_agent clerk
            invoke_agent clerk
            invoke_agent clerk
    """)
    agents = watch.named("invoke_agent clerk")
    assert [outcome(span) for span in agents] == ["failed", "failed", "ok"]
    assert [told(span).get("error.type") for span in agents] == ["LookupError"] * 2 + [None]
    # What was mended is no error of the whole.
    for name in ("pathway talk", "invoke_workflow solo"):
        (whole,) = watch.named(name)
        assert (outcome(whole), whole.status.is_ok) == ("ok", True)
    assert len(watch.events("agent_failed")) == 2
    assert [line["event"] for line in watch.log][-1] == "turn_finished"


@pytest.mark.parametrize("recovery", ["graceful", "fail_fast"])
async def test_a_failure_is_seen_all_the_way_up(
    solo: Callable[..., Any], watch: Watch, recovery: str
) -> None:
    def broken(payload: Any) -> str:
        raise LookupError("no such shelf")

    chat = await solo(broken, error_recovery=recovery)
    if recovery == "graceful":
        assert await chat.says("hello") == APOLOGY
    else:
        with pytest.raises(Exception, match="no such shelf"):
            await chat.says("hello")

    kinds = {span.name: told(span).get("error.type") for span in watch.spans}
    assert kinds == {
        "invoke_workflow solo": "PathwayExecutionError",
        "pathway talk": "PathwayExecutionError",
        "invoke_agent clerk": "LookupError",
    }
    for span in watch.spans:
        assert (outcome(span), span.status.is_ok) == ("failed", False)
        assert (span.status.description, span.events) == (None, ())
    (agent,), (turn,) = watch.events("agent_failed"), watch.events("turn_failed")
    assert (agent["level"], agent["agent"], agent["error"]) == ("warning", "clerk", "LookupError")
    assert (turn["level"], turn["error"]) == ("warning", "PathwayExecutionError")


async def test_a_turn_that_is_given_up_is_seen_as_that(
    solo: Callable[..., Any], watch: Watch
) -> None:
    begun = asyncio.Event()

    async def endless(payload: Any) -> str:
        begun.set()
        await asyncio.sleep(60)
        return "never"

    chat = await solo(endless)
    turn = asyncio.create_task(chat.says("hello"))
    await begun.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn

    assert [outcome(span) for span in watch.spans] == ["cancelled"] * 3
    assert all(span.status.is_ok for span in watch.spans)
    assert watch.events("turn_cancelled")[0]["level"] == "info"
    assert watch.events("agent_failed") == []


async def test_time_that_is_up_is_a_failure_and_no_cancellation(
    solo: Callable[..., Any], watch: Watch
) -> None:
    async def endless(payload: Any) -> str:
        await asyncio.sleep(60)
        return "never"

    chat = await solo(endless, pathway_timeout_seconds=0.05)
    assert await chat.says("hello") == APOLOGY

    (agent,) = watch.named("invoke_agent clerk")
    assert (told(agent)["error.type"], outcome(agent)) == ("timeout", "failed")
    assert watch.one("pathway talk")["error.type"] == "timeout"
    assert watch.events("agent_failed")[0]["error"] == "timeout"


async def test_a_message_that_nothing_is_done_for_is_a_turn_without_a_pathway(
    solo: Callable[..., Any], watch: Watch
) -> None:
    chat = await solo(clerk("desk"))
    await chat.says("  ")

    assert watch.tree == "invoke_workflow solo"
    assert watch.one("invoke_workflow solo")["journeygraph.turn.flags"] == ("empty_message",)


async def test_a_run_that_an_agent_pauses_has_not_failed(watch: Watch) -> None:
    async def ask(payload: Any) -> str:
        return str(interrupt("Are you sure?"))

    graph = Solo.compile(agents={"clerk": ask}, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t-1"}}

    await graph.ainvoke({"messages": [{"role": "user", "content": "hello"}]}, config)
    assert [outcome(span) for span in watch.spans] == ["paused", "paused"]
    assert all(span.status.is_ok for span in watch.spans)

    await graph.ainvoke(Command(resume="yes"), config)
    assert [outcome(span) for span in watch.spans] == ["paused", "paused", "ok", "ok"]


# models and tools


def find(number: str) -> str:
    """Find a book by its number."""
    if number == "0":
        raise LookupError("no such book")
    return f"book {number}"


async def test_model_calls_and_tools_stand_beneath_their_agent_with_their_tokens(
    shop: Callable[..., Any], watch: Watch
) -> None:
    answers = (UseTool("find", number="0"), UseTool("find", number="7"), {"response": "Here."})
    async with ScriptedModel(*answers) as model:
        chat = await shop(model, clerk=ModelAgent(tools=[find]))
        await chat.says("Have you got number 7?")

    assert watch.tree == dedented("""
        invoke_workflow shop
          pathway talk
            invoke_agent clerk
              chat scripted
              execute_tool find
              chat scripted
              execute_tool find
              chat scripted
    """)
    calls = [told(span) for span in watch.named("chat scripted")]
    usage = chat.last.metadata["usage"]
    assert usage["model_calls"] == 3
    for kind in ("input", "output"):
        counted = [call[f"gen_ai.usage.{kind}_tokens"] for call in calls]
        assert sum(counted) == usage[f"{kind}_tokens"] > 0
    tokens = {
        labels["gen_ai.token.type"]: (labels, count)
        for labels, count in watch.points("gen_ai.client.token.usage")
    }
    assert tokens["input"] == (
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "scripted",
            "gen_ai.token.type": "input",
        },
        3,
    )
    assert (
        calls[2].items()
        >= {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "scripted",
            "gen_ai.response.model": "scripted",
            "gen_ai.response.finish_reasons": ("stop",),
            "gen_ai.output.type": "json",
            "journeygraph.purpose": "answer",
            "journeygraph.try": 1,
        }.items()
    )
    assert {span.kind for span in watch.named("chat scripted")} == {trace.SpanKind.CLIENT}
    failed, found = (told(span) for span in watch.named("execute_tool find"))
    assert (failed["error.type"], found.get("error.type")) == ("LookupError", None)
    assert found["gen_ai.tool.name"] == "find"


async def test_a_call_that_is_tried_again_is_two_calls(
    shop: Callable[..., Any], watch: Watch
) -> None:
    async with ScriptedModel(Fault.status(429, retry_after=0), {"response": "Hello."}) as model:
        chat = await shop(model)
        await chat.says("hello")

    first, second = (told(span) for span in watch.named("chat scripted"))
    assert (first["journeygraph.try"], first["error.type"]) == (1, "429")
    assert (second["journeygraph.try"], second.get("error.type")) == (2, None)
    assert "gen_ai.usage.input_tokens" not in first
    durations = {labels.get("error.type") for labels, _ in watch.points(DURATION)}
    assert durations == {"429", None}


DURATION = "gen_ai.client.operation.duration"


@pytest.mark.parametrize(
    ("fault", "kind"),
    [(Fault.hang(), "timeout"), (Fault.length(), "cut_off"), (Fault.refusal("No."), "refused")],
    ids=["hang", "length", "refusal"],
)
async def test_why_a_model_gave_no_answer_is_seen(
    shop: Callable[..., Any], watch: Watch, fault: Any, kind: str
) -> None:
    async with ScriptedModel(fault) as model:
        chat = await shop(model, model_timeout_seconds=0.1)
        assert await chat.says("hello") == APOLOGY

    (call,) = watch.named("chat scripted")
    assert (told(call)["error.type"], call.status.is_ok) == (kind, False)
    assert watch.one("invoke_agent clerk")["error.type"] == kind


async def test_understanding_is_a_call_of_the_turn_itself(
    shop: Callable[..., Any], watch: Watch
) -> None:
    async with ScriptedModel(leads_nowhere, leads_nowhere) as model:
        chat = await shop(model, model_shop.Desk, **model_shop.HAND)
        for _ in range(3):  # the third comes at the same point as the second, and is known
            await chat.says("What a day")

    assert watch.tree.splitlines()[:4] == [
        "invoke_workflow desk",
        "  chat scripted",
        "  pathway talk",
        "    invoke_agent clerk",
    ]
    calls = [told(span) for span in watch.named("chat scripted")]
    assert [call["journeygraph.purpose"] for call in calls] == ["understanding"] * 2
    turns = [told(span) for span in watch.named("invoke_workflow desk")]
    assert [turn["journeygraph.turn.tier"] for turn in turns] == ["model", "model", "cache"]


@pytest.mark.parametrize(
    ("module", "name", "provider"),
    [
        ("langchain_openai.chat_models.base", "ChatOpenAI", "openai"),
        ("langchain_openai.chat_models.azure", "AzureChatOpenAI", "azure.ai.openai"),
        ("langchain_anthropic.chat_models", "ChatAnthropic", "anthropic"),
        ("langchain_google_genai", "ChatGoogleGenerativeAI", "gcp.gemini"),
        ("langchain_mistralai", "ChatMistralAI", "mistral_ai"),
        ("their_own.models", "ChatTheirs", "their_own"),
    ],
)
def test_a_provider_is_named_as_the_conventions_do(module: str, name: str, provider: str) -> None:
    kind = type(name, (), {"__module__": module})
    ours = type("Ours", (kind,), {"__module__": module if provider == "their_own" else "ours"})

    assert provider_of(kind) == provider
    assert provider_of(ours) == provider
