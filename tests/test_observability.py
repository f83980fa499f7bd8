"""What a turn is seen to do: spans, metrics and log lines, and nothing that anybody said."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry import trace

from journeys import (
    NEVER,
    InputField,
    Journey,
    ModelAgent,
    OutputField,
    Pathway,
    ReturnToPrevious,
    Signature,
    Transition,
)
from nodes.llm.scripted import Fault, ScriptedModel, UseTool, leads_nowhere
from nodes.telemetry import pseudonym
from nodes.telemetry.models import provider_of
from tests import api, model_shop, watching
from tests.clerks import clerk, said, staff
from tests.command import ROOT
from tests.solo import APOLOGY, Solo
from tests.watching import Watch

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


# metrics


async def test_turns_and_agents_are_measured_by_how_they_end(
    talk: Callable[..., Any], memory_url: str, watch: Watch
) -> None:
    def moody(payload: Any) -> str:
        if payload["message"] == "fail":
            raise LookupError("in a mood")
        return "fine"

    chat = await talk(Desk, staff(Desk, helper=moody, first=moody), memory_url)
    for message in ("hello", "fail", "help", "help fail", "fail"):
        await chat.says(message)

    turns = sorted(watch.points("journeygraph.turn.duration"), key=str)
    desk = {"journeygraph.journey.id": "desk"}
    assert turns == sorted(
        [
            ({**desk, "journeygraph.outcome": "ok"}, 1),
            ({**desk, "journeygraph.outcome": "ok", "journeygraph.turn.tier": "pattern"}, 2),
            (
                {
                    **desk,
                    "journeygraph.outcome": "failed",
                    "error.type": "PathwayExecutionError",
                },
                2,
            ),
        ],
        key=str,
    )


async def test_agents_are_counted_by_how_they_end(solo: Callable[..., Any], watch: Watch) -> None:
    def moody(payload: Any) -> str:
        if payload["message"] == "fail":
            raise LookupError("in a mood")
        return "fine"

    chat = await solo(moody)
    for message in ("hello", "fail", "hello"):
        await chat.says(message)

    label = {"gen_ai.agent.name": "clerk"}
    points = sorted(watch.points("gen_ai.invoke_agent.duration"), key=str)
    assert points == [
        ({**label, "journeygraph.outcome": "failed", "error.type": "LookupError"}, 1),
        ({**label, "journeygraph.outcome": "ok"}, 2),
    ]


async def test_labels_do_not_grow_with_sessions_turns_or_messages(
    talk: Callable[..., Any], memory_url: str, watch: Watch
) -> None:
    for number in range(4):
        chat = await talk(Solo, staff(Solo), memory_url, session_id=f"s-{number}")
        await chat.says(f"hello {number}")
        await chat.says("again")

    ((_, counted),) = watch.points("journeygraph.turn.duration")
    assert counted == 8


# words


class Refund(Signature):
    """Note what the customer wants back."""

    secret_field: str = InputField(description="What is known")
    response: str = OutputField(description="What to say")
    iban_of_customer: str = OutputField(description="Where the money goes")


class Bank(Journey):
    """Pay money back."""

    class TalkPath(Pathway):
        __signature__ = Refund
        __agents__ = ["clerk"]
        __accumulate__ = ["iban_of_customer"]
        __complete_when__ = NEVER

    class FailPath(Pathway):
        __agents__ = ["broken"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(said("zanzibar"), to_pathway="fail")]


async def test_nothing_that_anybody_said_is_reported(
    serve: Callable[..., Any], watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user, the model, the tools, the agents' errors, the keys, the session's own id."""

    def look(iban: str) -> str:
        """Look something up."""
        raise ValueError(f"tool-canary {iban}")

    def broken(payload: Any) -> str:
        raise RuntimeError(f"agent-canary {payload['message']} {payload['context']}")

    answers: list[Any] = [
        UseTool("look", iban="NL-canary"),
        {"response": "model-canary", "iban_of_customer": "NL-canary"},
        Fault.status(400, message="server-canary"),
        {"response": "model-canary", "iban_of_customer": ["wrong-canary"]},
        {"response": "model-canary", "iban_of_customer": ["wrong-canary"]},
    ]
    async with ScriptedModel(*answers, api_key="sk-canary") as model:
        served = api.one(Bank, clerk=ModelAgent(tools=[look]), broken=broken)
        http = await serve(served, model=model, keys=(api.KEY,), client=AUTH)
        session = await http.begin(
            "bank", "person-canary-77", context={"secret_field": "context-canary"}
        )
        for message in ("user-canary one", "user-canary two", "three-canary", "zanzibar-canary"):
            await http.client.post(f"{session}/messages", json={"message": message})
        await http.client.post(f"{session}/messages", json={"message": "zanzibar user-canary"})
        await http.client.post(f"{session}/messages", json={"msg-canary": "x"})

    reported = watch.everything()
    assert watch.named("invoke_agent broken")
    assert len(watch.named("chat scripted")) == 5
    assert "canary" not in reported
    assert api.KEY not in reported
    for name in ("secret_field", "iban_of_customer", "person"):
        assert name not in reported


AUTH = {"Authorization": f"Bearer {api.KEY}"}


async def test_what_fails_a_request_is_logged_by_its_places_alone(
    serve: Callable[..., Any], watch: Watch
) -> None:
    def broken(payload: Any) -> str:
        raise RuntimeError(f"agent-canary {payload['message']}")

    http = await serve(api.one(Solo, clerk=broken), error_recovery="fail_fast")
    session = await http.begin("solo")
    answer = await http.client.post(f"{session}/messages", json={"message": "user-canary"})

    assert answer.status_code == 500
    (line,) = watch.events("request_failed")
    assert line["request_id"] == answer.json()["request_id"]
    assert line["error"] == "PathwayExecutionError from RuntimeError"
    assert "test_observability.py" in line["places"][-1]
    assert line["places"][-1].endswith(" broken")
    assert "canary" not in watch.everything()


def test_a_session_is_known_by_a_pseudonym_that_a_key_makes_safe() -> None:
    assert pseudonym("patient-12345") == pseudonym("patient-12345")
    assert pseudonym("patient-12345") != pseudonym("patient-12346")
    assert pseudonym("patient-12345", bytes(32)) != pseudonym("patient-12345")
    assert len(pseudonym("patient-12345")) == 16


# over HTTP


async def test_a_request_brings_its_trace_and_its_id(
    serve: Callable[..., Any], watch: Watch
) -> None:
    http = await serve(api.one(Solo, clerk=clerk("desk")))
    session = await http.begin("solo")
    headers = {
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "X-Request-Id": "request-7",
    }
    await http.client.post(f"{session}/messages", json={"message": "hello"}, headers=headers)
    await http.client.post(f"{session}/messages", json={"message": "hello"})

    first, second = watch.named("invoke_workflow solo")
    assert first.parent
    assert f"{first.parent.trace_id:032x}" == "0af7651916cd43dd8448eb211c80319c"
    assert f"{first.parent.span_id:016x}" == "b7ad6b7169203331"
    assert second.parent is None
    line, later = watch.events("turn_finished")
    assert line["request_id"] == "request-7"
    assert later["request_id"] != "request-7"
    assert line["trace_id"] == "0af7651916cd43dd8448eb211c80319c"
    assert first.context
    assert line["span_id"] == f"{first.context.span_id:016x}"


# without it


WITHOUT = """
import asyncio, logging, sys
sys.modules["opentelemetry"] = None  # as if it were not installed
logging.basicConfig(level=logging.INFO, format="%(name)s %(message)s")
logging.getLogger("alembic").setLevel(logging.WARNING)
from journeys import NEVER, Journey, JourneyConfig, Pathway
from nodes.telemetry.otel import telemetry

class Solo(Journey):
    class TalkPath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

async def talk():
    agents = {"clerk": lambda ask: "hello"}
    async with Solo("s-1", JourneyConfig(persistence="memory://w"), agents=agents) as journey:
        await journey.start()
        return await journey.process_message("good day")

print(asyncio.run(talk()).message, telemetry())
import structlog
assert not structlog.is_configured()
"""


@pytest.mark.timeout(30)
def test_without_opentelemetry_everything_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=25,
    )

    assert done.stdout == "hello None\n"
    (line,) = done.stderr.splitlines()
    assert line.startswith("journeygraph event=turn_finished journey=solo")
    assert " turn=1 pathway=talk " in line
    assert "trace_id" not in line
