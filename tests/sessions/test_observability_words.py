"""Metrics and log lines of a turn contain no text of users."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import httpx2
import pytest
from langchain_core.messages import AIMessage

from journeygraph import (
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
from journeygraph.nodes.llm.scripted import Fault, ScriptedModel, UseTool
from journeygraph.nodes.telemetry import pseudonym, report
from journeygraph.nodes.telemetry.model_span import ModelSpan
from journeygraph.server.logs import formatter, write_logs
from journeygraph.server.settings import Settings
from tests.http.test_serve import stopped
from tests.support import api, command, watching
from tests.support.clerks import clerk, said, staff
from tests.support.command import ROOT, run, served
from tests.support.solo import Solo
from tests.support.watching import Watch

watch, serve = watching.watch, api.serve
folder, logging_as_before = command.folder, command.logging_as_before


# metrics


async def test_turns_and_agents_are_measured_by_how_they_end(
    talk: Callable[..., Any], memory_url: str, watch: Watch
) -> None:
    def moody(payload: Any) -> str:
        if payload["message"] == "fail":
            raise LookupError("in a mood")
        return "fine"

    chat = await talk(Bank, staff(Bank, clerk=moody, broken=moody), memory_url)
    for message in ("hello", "fail", "zanzibar", "hello", "fail"):
        await chat.says(message)

    turns = sorted(watch.points("journeygraph.turn.duration"), key=str)
    bank = {"journeygraph.journey.id": "bank"}
    assert turns == sorted(
        [
            ({**bank, "journeygraph.outcome": "ok"}, 2),
            ({**bank, "journeygraph.outcome": "ok", "journeygraph.turn.tier": "pattern"}, 1),
            (
                {
                    **bank,
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
        UseTool("canary_tool"),
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
    assert watch.named("execute_tool look")
    assert len(watch.named("chat scripted")) == 6
    assert "canary" not in reported
    assert api.KEY not in reported
    for name in ("secret_field", "iban_of_customer", "person"):
        assert name not in reported


def test_what_a_model_says_of_itself_is_taken_only_as_a_name(watch: Watch) -> None:
    said = {"model_name": "a canary", "id": "canary" * 50, "finish_reason": "so, canary"}

    with ModelSpan(ScriptedModel(), None, purpose="answer", number=1) as call:
        call.answered(AIMessage("canary", response_metadata=said))

    assert watch.named("chat scripted")
    assert "canary" not in watch.everything()


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
    assert Path(__file__).name in line["places"][-1]
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
from journeygraph import NEVER, Journey, JourneyConfig, Pathway
from journeygraph.nodes.telemetry.otel import tracer

class Solo(Journey):
    class TalkPath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

async def talk():
    agents = {"clerk": lambda ask: "hello"}
    async with Solo("s-1", JourneyConfig(persistence="memory://w"), agents=agents) as journey:
        await journey.start()
        return await journey.process_message("good day")

print(asyncio.run(talk()).message, tracer())
import structlog
assert not structlog.is_configured()
"""


@pytest.mark.slow
def test_without_opentelemetry_everything_runs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=110,
    )

    assert done.stdout == "hello None\n"
    (line,) = done.stderr.splitlines()
    assert line.startswith("journeygraph event=turn_finished journey=solo")
    assert " turn=1 pathway=talk " in line
    assert "trace_id" not in line


# what a server writes


LINES = """
from journeygraph import NEVER, Journey, Pathway

class Solo(Journey):
    class TalkPath(Pathway):
        __agents__ = ["clerk"]
        __complete_when__ = NEVER

AGENTS = {"clerk": lambda ask: "yes"}
"""


def test_a_server_writes_a_line_of_json_for_each_turn_if_it_is_asked_to(folder: Path) -> None:
    (folder / "solo.py").write_text(LINES)
    level = {"JOURNEYGRAPH_LOG_LEVEL": "INFO"}
    with served(folder, "solo.py", "--store", "memory://", **level) as (process, place, _):
        httpx2.post(f"{place}/v1/sessions", json={"session_id": "s-1"})
        for message in ("hello canary", "again canary"):
            answer = httpx2.post(f"{place}/v1/sessions/s-1/messages", json={"message": message})
        process.terminate()
        _, errors = stopped(process)

    first, second = (json.loads(line) for line in errors.splitlines())
    assert (first["event"], first["level"], first["turn"]) == ("turn_finished", "info", 1)
    assert (second["turn"], second["pathway"]) == (2, "talk")
    assert second["request_id"] == answer.headers["x-request-id"]
    assert second["timestamp"] > first["timestamp"]
    assert "canary" not in errors


def test_a_level_that_is_none_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOURNEYGRAPH_LOG_LEVEL", "loud")

    refused = run("serve", "parcel_refund", code=1)

    assert refused.stderr.startswith("✗ JOURNEYGRAPH_LOG_LEVEL: Input should be 'debug'")


def test_a_server_is_quiet_unless_something_is_wrong() -> None:
    assert Settings.model_fields["log_level"].default == "warning"


def test_a_library_that_wants_to_tell_more_is_heard_from_warnings_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    chatty = logging.getLogger("tests.chatty")
    chatty.setLevel(logging.DEBUG)

    write_logs("info")
    chatty.info("so many words")
    chatty.warning("something is wrong")
    report(logging.INFO, "something_happened")
    report(logging.DEBUG, "too_small_to_tell")

    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["event"] for line in lines] == ["something is wrong", "something_happened"]


@pytest.mark.parametrize("for_people", [True, False])
def test_a_record_of_a_library_is_a_line_like_ours_without_what_its_error_says(
    for_people: bool,
) -> None:
    written = StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(formatter(for_people=for_people))
    library = logging.Logger("library")
    library.addHandler(handler)

    try:
        raise LookupError("canary")
    except LookupError:
        library.exception("Lost %s", "something")

    line = written.getvalue()
    assert line.count("\n") == 1
    assert "canary" not in line
    for word in ("Lost something", "error", "library", "LookupError", Path(__file__).name):
        assert word in line


def test_an_application_hears_us_as_it_hears_any_library(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, "journeygraph"):
        report(logging.INFO, "something_happened", agent="clerk", seconds=0.5)
        report(logging.DEBUG, "too_small_to_tell")

    (record,) = caplog.records
    assert record.getMessage() == "event=something_happened agent=clerk seconds=0.5"
    assert record.__dict__["journeygraph"] == {
        "event": "something_happened",
        "agent": "clerk",
        "seconds": 0.5,
    }
