"""Faults of a model: the user gets an answer in time, and the session stays consistent.

The models are those of the environment, behind a real socket. Nothing asserts how a library words
an error: only the position of the session, its content, and the text for the user.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from journeygraph import (
    InputField,
    IntentTrigger,
    Journey,
    JourneyConfig,
    JourneyError,
    JourneyResponse,
    OutputField,
    Pathway,
    ReturnToPrevious,
    Signature,
    Texts,
    Transition,
)
from journeygraph.journeys import errors
from journeygraph.nodes.llm import call as asking_once
from journeygraph.nodes.llm.scripted import Call, Fault, Script, UseTool, leads_nowhere, leads_to
from journeygraph.server.scripted import ScriptedServer
from tests.support import model_server
from tests.support.command import ROOT

DEADLINE = 1.5  # seconds for the understanding call, and for the agent
SLACK = 4.0  # seconds that a slow machine may take for everything else
KEY = "sk-canary-5b1c"
APOLOGY = Texts().apology
CANARY = "canary-of-the-model"
BEFORE = {"name": "Ada", "mood": "calm"}
GOOD = {"response": "Thank you. I am looking for it right now, please wait.", "order": "P-7"}


class FindOrder(Signature):
    """Find out which parcel the customer means."""

    message: str = InputField(description="What the customer just wrote")
    response: str = OutputField(description="What to say back")
    order: str | None = OutputField(description="The order number, once it was said")


class Parcels(Journey):
    """Find a parcel; one agent, whose reply streams."""

    class FindPath(Pathway):
        __signature__ = FindOrder
        __agents__ = ["order_clerk"]
        __accumulate__ = ["order"]
        __complete_when__ = ["order"]
        __next__ = "refund"

    class RefundPath(Pathway):
        __agents__ = ["till"]

    class PolicyPath(Pathway):
        __agents__ = ["policy_clerk"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(
            IntentTrigger(patterns=["how long"], description="asks how refunds work"),
            to_pathway="policy",
            context_update={"mood": "set:curious"},
        ),
    ]


class CheckedParcels(Parcels):
    """Find a parcel; another agent follows, so that nothing may stream."""

    class FindPath(Parcels.FindPath):
        __agents__ = ["order_clerk", "checker"]


AGENTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "policy_clerk": lambda ask: "A refund takes three working days.",
    "till": lambda ask: "Refunded.",
    "checker": lambda ask: {"response": ask["response"]},
}
KINDS = [Parcels, CheckedParcels]


def agents_of(kind: type[Journey]) -> dict[str, Any]:
    return {name: agent for name, agent in AGENTS.items() if name in kind.spec.agents}


def named(value: Any) -> str:
    return value.name if isinstance(value, Fault) else getattr(value, "__name__", str(value))


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedServer]:
    server = ScriptedServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def _no_second_try_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what fails from being tried again, which most of these tests would wait for."""
    monkeypatch.setattr(asking_once, "FIRST_PAUSE", 10.0)


@pytest.fixture
def models(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Script]:
    """Give the models of the environment a script: `with models(*answers) as script`."""
    model_server.name(monkeypatch, server, KEY)

    def scripted(*answers: Any, always: Any = None) -> Script:
        server.script = Script(*answers, always=always)
        return server.script

    return scripted


@asynccontextmanager
async def talk(
    kind: type[Journey], url: str, **settings: Any
) -> AsyncIterator[tuple[Journey, JourneyConfig]]:
    """A session with a position: in its entry, after a detour."""
    limits = {"intent_timeout_seconds": DEADLINE, "model_timeout_seconds": DEADLINE}
    config = JourneyConfig(persistence=url, **{**limits, **settings})
    async with kind("s-1", config, agents=agents_of(kind)) as journey:
        await journey.start(BEFORE)
        yield journey, config


async def situation(journey: Journey) -> dict[str, Any]:
    """The position and content of a session, without messages, version and time."""
    state = await journey.get_session_state()
    assert state is not None
    passing = {"conversation_history", "phase", "version", "updated_at"}
    return {name: value for name, value in asdict(state).items() if name not in passing}


async def heard(journey: Journey, words: str = "It is P-7") -> tuple[JourneyResponse, str]:
    """Say something; return the response, and what was streamed of it."""
    events = [event async for event in journey.stream_message(words)]
    assert [event.type for event in events].count("done") == 1
    assert events[-1].type == "done"
    streamed = "".join(event.data["text"] for event in events if event.type == "token")
    return events[-1].data["response"], streamed


async def same_in_the_store(journey: Journey, config: JourneyConfig) -> None:
    """See that another process would find the session as this one does."""
    again = await type(journey).restore("s-1", config)
    async with again:
        assert await again.get_session_state() == await journey.get_session_state()


def stated(response: JourneyResponse) -> None:
    """Check that the failure is reported in the runtime's words, without any text of the model."""
    error = response.metadata["error"]
    assert error is not None
    assert issubclass(getattr(errors, error["type"]), JourneyError)
    secrets = (KEY, CANARY, "Traceback", "openai", "httpx", "pydantic", "127.0.0.1", str(ROOT))
    assert [secret for secret in secrets if secret in str(error) + response.message] == []


def two(understanding: Any, agent: Any) -> Callable[[Call], Any]:
    """Answer the call that understands, and that of the agent, as often as they come."""
    return lambda call: understanding if call.schema_name == "understanding" else agent


ANYWHERE = [
    Fault.status(429),
    Fault.status(429, retry_after=60),
    Fault.status(429, retry_after=datetime.now(UTC) + timedelta(hours=1)),
    Fault.status(500, message=CANARY),
    Fault.status(503),
    Fault.status(401, message=f"Incorrect API key provided: {KEY}"),
    Fault.status(400, message=CANARY),
    Fault.status(404),
    Fault.hang(),
    Fault.html(),
    Fault.bad_json(),
    Fault.no_choices(),
    Fault.null_choices(),
    Fault.null_content(),
    Fault.empty_content(),
    Fault.refusal(CANARY),
]


def broken_off(of: Any) -> list[Fault]:
    """The faults that begin with a part of a good answer."""
    return [
        Fault.content_filter(pieces=0, of=of),
        Fault.content_filter(pieces=4, of=of),
        Fault.content_filter(pieces=1000, of=of),
        Fault.length(pieces=4, of=of),
        Fault.length(pieces=1000, of=of),
        Fault.no_finish(of=of),
        Fault.cut_after(pieces=0, of=of),
        Fault.cut_after(pieces=4, of=of),
        Fault.cut_after(pieces=1000, of=of),
        Fault.stall_after(pieces=0, of=of),
        Fault.stall_after(pieces=4, of=of),
        Fault.error_event(pieces=4, of=of),
    ]


WRONG: list[Any] = [
    "I would rather chat.",
    "[]",
    "null",
    '{"response": "It',
    "{" * 5_000,
    '{"response": ' + "[" * 5_000,
    {},
    {"answer": "in a field of its own"},
]
HUGE = [
    Fault.huge(field="response"),
    Fault.huge(pieces=2_000, field="response"),
    Fault.huge(size=300_000, pieces=3_000, field="verdicts"),
    Fault.huge(),
]


def ids(faults: list[Any]) -> list[str]:
    return [f"{number}-{named(fault)[:24]}" for number, fault in enumerate(faults)]


# The agent fails: an apology, and nothing moved.

AGENT_FAULTS: list[Any] = [
    *ANYWHERE,
    *broken_off(GOOD),
    *WRONG,
    *HUGE,
    {"response": None, "order": "P-7"},
    {"response": 7, "order": "P-7"},
    {"response": GOOD["response"], "order": {"number": "P-7"}},
    {"order": "P-7"},
    Fault.illegal_tool(),
    UseTool("transfer_money", amount=7),
    Fault.bad_arguments("order_clerk"),
]


@pytest.mark.parametrize("kind", KINDS, ids=["streamed", "not streamed"])
@pytest.mark.parametrize("fault", AGENT_FAULTS, ids=ids(AGENT_FAULTS))
async def test_an_agent_without_an_answer_changes_nothing(
    models: Any, memory_url: str, kind: type[Journey], fault: Any
) -> None:
    async with (
        models(always=two(leads_nowhere, fault)) as script,
        talk(kind, memory_url) as (journey, config),
    ):
        before = await situation(journey)

        response, _ = await heard(journey)

        stated(response)
        assert response.message == APOLOGY
        assert "failed" in response.metadata["flags"]
        assert response.transition_to is None
        assert await situation(journey) == before
        assert response.accumulated_context == BEFORE
        await same_in_the_store(journey, config)
        assert script.calls[1].stream == (kind is Parcels)

        script.will_answer(leads_nowhere, GOOD)
        again, streamed = await heard(journey, "P-7, as I said")
        assert again.message == streamed == GOOD["response"]
        assert again.accumulated_context == {**BEFORE, "order": "P-7"}
        assert again.pathway_id == "refund"


FEW = [Fault.status(500), Fault.hang(), Fault.cut_after(of=GOOD), Fault.length(of=GOOD), "prose"]


@pytest.mark.parametrize("fault", FEW, ids=ids(FEW))
async def test_under_fail_fast_the_failure_is_raised_and_nothing_kept(
    models: Any, memory_url: str, fault: Any
) -> None:
    async with (
        models(always=two(leads_nowhere, fault)) as script,
        talk(Parcels, memory_url, error_recovery="fail_fast") as (journey, _),
    ):
        before = await journey.get_session_state()

        with pytest.raises(JourneyError) as raised:
            await journey.process_message("It is P-7")

        assert KEY not in str(raised.value)
        assert await journey.get_session_state() == before
        script.will_answer(leads_nowhere, GOOD)
        assert (await journey.process_message("It is P-7, I said")).pathway_id == "refund"


@pytest.mark.parametrize("fault", FEW, ids=ids(FEW))
async def test_a_failure_inside_a_detour_keeps_the_stack(
    models: Any, memory_url: str, fault: Any
) -> None:
    async with (
        models(always=two(leads_nowhere, fault)),
        talk(Parcels, memory_url) as (journey, config),
    ):
        told, _ = await heard(journey, "How long does it take?")
        assert told.metadata["pathway_stack"] == ["find"]
        before = await situation(journey)

        response, _ = await heard(journey)

        assert response.message == APOLOGY
        assert await situation(journey) == before
        assert (response.pathway_id, response.metadata["returning"]) == ("policy", True)
        assert response.accumulated_context == {**BEFORE, "mood": "curious"}
        await same_in_the_store(journey, config)


# The understanding fails: no transition, and the turn goes on.

UNDERSTANDING = {
    "verdicts": [{"question": "0", "holds": True, "confidence": 0.99, "reason": CANARY}],
    "commands": [{"command": "go", "target": "policy", "confidence": 0.99}],
}
UNDERSTANDING_FAULTS: list[Any] = [
    *ANYWHERE,
    *broken_off(UNDERSTANDING),
    *WRONG,
    *HUGE,
    {"verdicts": None, "commands": []},
    {"verdicts": [{"question": "0"}], "commands": []},
    {"verdicts": [], "commands": [{"kind": "reset"}]},
    Fault.illegal_tool(),
    Fault.bad_arguments("go"),
]


@pytest.mark.parametrize("fault", UNDERSTANDING_FAULTS, ids=ids(UNDERSTANDING_FAULTS))
async def test_without_verdicts_the_turn_goes_on_where_it_was(
    models: Any, memory_url: str, fault: Any
) -> None:
    async with (
        models(always=two(fault, GOOD)) as script,
        talk(Parcels, memory_url) as (journey, config),
    ):
        response, streamed = await heard(journey)

        assert response.message == streamed == GOOD["response"]
        assert response.transition_to is None
        (flag,) = response.metadata["flags"]
        assert flag.startswith("understanding_failed:")
        assert response.accumulated_context == {**BEFORE, "order": "P-7"}
        assert response.pathway_id == "refund"
        assert CANARY not in str(response)
        assert CANARY not in str(await journey.audit())
        await same_in_the_store(journey, config)
        assert not script.calls[0].stream


async def test_a_failed_understanding_is_not_remembered(models: Any, memory_url: str) -> None:
    async with (
        models(Fault.null_content(), {**GOOD, "order": None}, leads_to("policy")),
        talk(Parcels, memory_url) as (journey, _),
    ):
        missed, _ = await heard(journey, "I wonder about my money")
        assert missed.pathway_id == "find"
        again, _ = await heard(journey, "I wonder about my money")
        assert (again.pathway_id, again.metadata["tier"]) == ("policy", "model")


# What passes by itself, and what can be mended.

PASSING = [
    Fault.status(429),
    Fault.status(429, retry_after=0.1),
    Fault.status(503),
    Fault.bad_json(),
    Fault.cut_after(pieces=0, of=GOOD),
]


@pytest.mark.parametrize("kind", KINDS, ids=["streamed", "not streamed"])
@pytest.mark.parametrize("fault", PASSING, ids=ids(PASSING))
async def test_what_passes_is_tried_again_in_time(
    models: Any, memory_url: str, kind: type[Journey], fault: Fault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking_once, "FIRST_PAUSE", 0.2)
    async with (
        models(fault, leads_nowhere, fault, GOOD) as script,
        talk(kind, memory_url, intent_timeout_seconds=5, model_timeout_seconds=5) as (journey, _),
    ):
        response, streamed = await heard(journey)

    assert response.message == streamed == GOOD["response"]
    assert response.metadata["flags"] == []
    assert response.metadata["usage"]["model_calls"] == 4
    assert [call.schema_name for call in script.calls[:2]] == ["understanding"] * 2


async def test_nobody_is_kept_waiting_for_what_comes_too_late(models: Any, memory_url: str) -> None:
    async with (
        models(leads_nowhere, Fault.status(429, retry_after=3)) as script,
        talk(Parcels, memory_url, model_timeout_seconds=2.5) as (journey, _),
    ):
        response, _ = await heard(journey)

    assert response.message == APOLOGY
    assert len(script.calls) == 2


MENDED: list[Any] = [*WRONG[:3], {"order": "P-7"}, {"response": 7, "order": None}]


@pytest.mark.parametrize("kind", KINDS, ids=["streamed", "not streamed"])
@pytest.mark.parametrize("wrong", MENDED, ids=ids(MENDED))
async def test_a_wrong_answer_is_mended_once(
    models: Any, memory_url: str, kind: type[Journey], wrong: Any
) -> None:
    async with (
        models(leads_nowhere, wrong, GOOD) as script,
        talk(kind, memory_url) as (journey, _),
    ):
        response, streamed = await heard(journey)

    assert response.message == streamed == GOOD["response"]
    assert response.accumulated_context == {**BEFORE, "order": "P-7"}
    assert len(script.calls) == 3


UNCLEAN: list[Any] = [
    {"response": "It \ud83d is \x00 there.", "order": "P\udc00-7"},
    '{"response": "It \\ud83d is \\u0000 there.", "order": "P\\udc00-7"}',
]


@pytest.mark.parametrize("kind", KINDS, ids=["streamed", "not streamed"])
@pytest.mark.parametrize("unclean", UNCLEAN, ids=["as it is", "escaped"])
async def test_unclean_text_is_kept_clean(
    models: Any, memory_url: str, kind: type[Journey], unclean: Any
) -> None:
    async with (
        models(leads_nowhere, unclean),
        talk(kind, memory_url) as (journey, config),
    ):
        response, streamed = await heard(journey)

        assert response.metadata["error"] is None
        assert response.message == streamed
        for text in (response.message, response.accumulated_context["order"]):
            assert "\x00" not in text
            assert text.encode()
        await same_in_the_store(journey, config)


@pytest.mark.real_time
async def test_a_flood_of_small_pieces_ends_at_the_deadline(models: Any, memory_url: str) -> None:
    flood = Fault.huge(size=60_000, pieces=20_000, field="response")
    async with (
        models(leads_nowhere, flood),
        talk(Parcels, memory_url) as (journey, config),
    ):
        before = await situation(journey)

        response, _ = await heard(journey)

        assert response.metadata["error"] is not None
        assert await situation(journey) == before
        await same_in_the_store(journey, config)


async def test_a_silent_model_holds_up_no_other_session(models: Any, memory_url: str) -> None:
    async with (
        models(always=two(Fault.hang(), Fault.hang())) as script,
        talk(Parcels, memory_url, intent_timeout_seconds=100) as (journey, config),
        Parcels("s-2", config, agents=agents_of(Parcels)) as other,
    ):
        await other.start()
        waiting = asyncio.create_task(journey.process_message("It is P-7"))
        while not script.calls:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        told = await other.process_message("How long does it take?")
        assert not waiting.done()
        waiting.cancel()

    assert told.message == "A refund takes three working days."
