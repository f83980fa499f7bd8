"""The audit of a turn has its decision, and its steps with times and tokens."""

from __future__ import annotations

import asyncio
import itertools
import json
import uuid
from typing import Any

import pytest
from langgraph.types import interrupt

from journeygraph import (
    NEVER,
    Agent,
    AuditedTurn,
    ConditionTrigger,
    Effect,
    Field,
    Guideline,
    InputField,
    IntentTrigger,
    Journey,
    JourneyConfig,
    JourneyError,
    ModelAgent,
    OutputField,
    Pathway,
    Pipeline,
    ReturnToPrevious,
    Signature,
    Transition,
    TurnStep,
    Validation,
)
from journeygraph.graphs.storage.statements import ALL_TURNS, TURNS
from journeygraph.graphs.storage.store import open_store
from journeygraph.nodes.llm.scripted import (
    ScriptedModel,
    UseTool,
    fill,
    leads_nowhere,
    leads_to,
    says,
)
from journeygraph.nodes.telemetry import span
from journeygraph.nodes.telemetry.span import MOST_STEP_WORDS
from tests.pipelines.marked import ALL_PATTERNS, mark
from tests.pipelines.test_in_journeys import pipeline_of, staff_of
from tests.support import api, watching
from tests.support.api import one
from tests.support.clocks import without_times
from tests.support.command import run

watch, serve = watching.watch, api.serve
KEY = bytes(range(32))


class FindOrder(Signature):
    """Find out where a parcel is."""

    message: str = InputField(description="What the customer wrote")
    response: str = OutputField(description="What to say back")


def track(number: str) -> str:
    """Look up where a parcel is."""
    return f"{number} is in Leiden"


def customs(ask: Any) -> str:
    return "No duty is due."


def carrier(ask: Any) -> str:
    return "The van comes on Monday."


def broken(ask: Any) -> str:
    raise KeyError("a secret of the customer")


class Parcels(Journey):
    """Find a parcel."""

    class FindPath(Pathway):
        __signature__ = FindOrder
        __agents__ = ["order_clerk"]
        __complete_when__ = NEVER

    class AbroadPath(Pathway):
        __pipeline__ = Pipeline.sequential([customs, carrier])
        __return_behavior__ = ReturnToPrevious()

    class RefundPath(Pathway):
        __agents__ = ["cashier"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [
        Transition(
            IntentTrigger(patterns=["from abroad"], description="asks about customs"),
            to_pathway="abroad",
        ),
        Transition(IntentTrigger(description="wants the money back"), to_pathway="refund"),
        Transition(
            ConditionTrigger(lambda context: False, description="is lost"), to_pathway="refund"
        ),
    ]


class Secret(Parcels):
    """Find a parcel in secret."""

    __sensitive__ = True


class Shop(Journey):
    """Help."""

    class DeskPath(Pathway):
        __agents__ = ["clerk"]


def desk(crew: Pipeline | list[str], **more: Any) -> type[Journey]:
    """Return a journey whose only pathway is worked at by a pipeline, or by agents.

    Args:
        crew: The pipeline, or names of agents.
        more: Further declarations of the pathway.
    """
    doer = "__agents__" if isinstance(crew, list) else "__pipeline__"
    parts = {doer: crew, "__complete_when__": NEVER, **more}
    path = type("DeskPath", (Pathway,), parts)
    return type("Desk", (Journey,), {"__doc__": "Take an order.", "DeskPath": path})


async def talk(journey: Journey, *messages: str) -> AuditedTurn:
    """Send messages, by default "hello", in a new session; return the turn of the last."""
    async with journey:
        await journey.start()
        for message in messages or ("hello",):
            await journey.process_message(message)
        return (await journey.turns())[-1]


def turned(turns: list[AuditedTurn], number: int = -1) -> list[TurnStep]:
    return turns[number].steps


def tree(steps: list[TurnStep]) -> str:
    """Return kinds and names of steps, each beneath the one within which it ran."""
    lines = []
    for step in steps:
        depth, above = 0, step.parent
        while above is not None:
            depth, above = depth + 1, steps[above].parent
        lines.append(f"{'  ' * depth}{step.kind} {step.name}".rstrip())
    return "\n".join(lines)


def of_kind(steps: list[TurnStep], kind: str) -> list[TurnStep]:
    return [step for step in steps if step.kind == kind]


def in_order(steps: list[TurnStep]) -> bool:
    """Return whether each step began and ended within the one in which it ran."""
    starts = [step.start_ms for step in steps]
    inside = all(
        step.start_ms >= steps[step.parent].start_ms
        and step.start_ms + step.ms <= steps[step.parent].start_ms + steps[step.parent].ms + 0.01
        for step in steps
        if step.parent is not None
    )
    return starts == sorted(starts) and inside and [s.number for s in steps] == [*range(len(steps))]


async def test_a_turn_with_a_model_has_its_calls_tools_and_tokens(memory_url, watch):
    answers = (leads_nowhere, UseTool("track", number="P-1"), {"response": "It is in Leiden."})
    agents = {"order_clerk": ModelAgent(tools=[track]), "cashier": lambda ask: "paid"}
    async with ScriptedModel(*answers) as model:
        config = JourneyConfig(persistence=memory_url)
        async with Parcels("s-1", config, agents=agents, model=model) as journey:
            await journey.start()
            response = await journey.process_message("Where is P-1?")
            begun, turn = await journey.turns()

    assert (begun.steps, begun.turn.kind) == ([], "start")
    steps = turn.steps
    assert tree(steps) == (
        "turn parcels\n"
        "  understand\n"
        "    model scripted\n"
        "  pathway find\n"
        "    agent order_clerk\n"
        "      model scripted\n"
        "      tool track\n"
        "      model scripted\n"
        "  settle"
    )
    assert in_order(steps)
    calls = of_kind(steps, "model")
    assert [call.purpose for call in calls] == ["understanding", "answer", "answer"]
    assert {call.attempt for call in calls} == {1}
    usage = response.metadata["usage"]
    assert sum(call.input_tokens or 0 for call in calls) == usage["input_tokens"]
    assert sum(call.output_tokens or 0 for call in calls) == usage["output_tokens"]
    assert len(calls) == usage["model_calls"] == 3
    [agent] = of_kind(steps, "agent")
    assert (agent.words, agent.cut) == ("It is in Leiden.", False)
    spans = [line for line in tree(steps).splitlines() if line.split()[0] not in _PHASES]
    assert len(spans) == len(watch.spans), "each span is a step, and each step but a phase a span"


_PHASES = ("understand", "settle", "fields", "effects", "tools", "check")


async def test_a_decision_names_what_fired_and_what_else_was_considered(memory_url):
    agents = {"order_clerk": lambda ask: "Which one?", "cashier": lambda ask: "Paid."}
    async with ScriptedModel(leads_to("refund", confidence=0.9)) as model:
        config = JourneyConfig(persistence=memory_url)
        async with Parcels("s-1", config, agents=agents, model=model) as journey:
            await journey.start()
            await journey.process_message("I want my money")
            await journey.process_message("It comes from abroad")
            _, by_model, by_pattern = [turn.decision for turn in await journey.turns()]

    first, *others = by_model.candidates
    assert (first.intent, first.pathway, first.tier) == ("wants the money back", "refund", "model")
    assert (first.holds, first.fired, first.confidence) == (True, True, 0.9)
    assert {(other.intent, other.holds, other.fired) for other in others} == {
        ("from abroad", False, False),
        ("is lost", False, False),
    }
    found = {one.intent: one for one in by_pattern.candidates}
    assert by_pattern.candidates[0].intent == "from abroad"
    assert found["from abroad"].reason == "matched 'from abroad'"
    assert found["wants the money back"].holds is None, "no model was asked about it"


async def test_a_turn_that_stays_names_what_did_not_hold(memory_url):
    agents = {"order_clerk": lambda ask: "Which one?", "cashier": lambda ask: "Paid."}
    async with Parcels("s-1", JourneyConfig(persistence=memory_url), agents=agents) as journey:
        await journey.start()
        await journey.process_message("hello")
        decision = (await journey.turns())[-1].decision

    assert {one.intent: (one.tier, one.holds) for one in decision.candidates} == {
        "from abroad": ("pattern", False),
        "wants the money back": ("", None),
        "is lost": ("condition", False),
    }


@pytest.mark.parametrize("pattern", ALL_PATTERNS)
async def test_agents_of_each_pattern_are_steps_with_their_words(memory_url, pattern):
    staff = staff_of(pattern)
    pipeline = pipeline_of(pattern, staff)
    journey = desk(pipeline)("s-1", JourneyConfig(persistence=memory_url))
    steps = (await talk(journey, "walnut, please")).steps

    agents = of_kind(steps, "agent")
    assert {step.name: 0 for step in agents} == {n: 0 for n, one in staff.items() if one.calls}
    assert len(agents) == sum(len(one.calls) for one in staff.values())
    assert all(step.words == mark(step.name) for step in agents)
    [place] = of_kind(steps, "pathway")
    assert place.pattern == pattern
    assert {step.parent for step in agents} == {place.number}
    assert in_order(steps)


async def test_pipelines_within_pipelines_are_a_tree(memory_url):
    def of(name: str) -> Any:
        return Agent(lambda ask: f"I am {name}.", name=name, description=name)

    inner = Pipeline.parallel([of("one"), of("two")]).to_agent("team")
    outer = Pipeline.sequential([inner, of("writer")])
    steps = (await talk(desk(outer)("s-1", JourneyConfig(persistence=memory_url)))).steps

    lines = tree(steps).splitlines()
    assert lines[2:4] == ["  pathway desk", "    pipeline team"]
    assert sorted(lines[4:6]) == ["      agent team/one", "      agent team/two"]
    assert lines[6] == "    agent writer"
    [team] = of_kind(steps, "pipeline")
    assert (team.pattern, team.status) == ("parallel", "complete")
    assert {s.words for s in of_kind(steps, "agent")} == {"I am one.", "I am two.", "I am writer."}


async def book(guests: int) -> dict[str, Any]:
    """Book a table."""
    return {"number": "B-7"}


class Table(Journey):
    """Book a table."""

    class BookPath(Pathway):
        __fields__ = [Field("guests", "integer", "How many?"), Field("pin", sensitive=True)]
        __effects__ = [Effect("book", done="Booked: {number}.")]
        __next__ = "after"

    class AfterPath(Pathway):
        __agents__ = ["host"]
        __complete_when__ = NEVER

    __guidelines__ = [
        Guideline(id="loud", when=lambda message, context: "!" in message, action="Be calm."),
        Guideline(id="quiet", when=lambda message, context: "?" in message, action="Speak up."),
    ]
    __validation__ = Validation()


async def test_forms_effects_and_checks_are_steps_and_commands_and_rules_are_there(memory_url):
    config = JourneyConfig(persistence=memory_url)
    agents = {"host": lambda ask: "Write to a@example.com."}
    async with Table("s-1", config, agents=agents, tools={"book": book}) as journey:
        await journey.start()
        for message in ("four!", "4711", "yes", "hello?"):
            response = await journey.process_message(message)
        turns = await journey.turns()

    asked, given, booked, talk = turns[1:]
    assert "  pathway book\n    fields" in tree(asked.steps)
    assert tree(asked.steps).endswith("  settle\n  check")
    assert [(one.command, one.about) for one in asked.decision.commands] == [("fill", "guests")]
    assert asked.decision.denied == ["quiet"]
    assert [(one.command, one.about) for one in given.decision.commands] == [("fill", "pin")]
    assert "4711" not in without_times(repr((given.decision, given.steps)))
    assert "    effects\n      tool book" in tree(booked.steps)
    assert talk.checks[0].outcome == "masked"
    [host] = of_kind(talk.steps, "agent")
    assert "a@example.com" not in (host.words or "")
    assert host.words == response.message


async def test_what_a_masked_or_changed_reply_does_not_have_is_masked_in_the_steps(memory_url):
    def clerk(ask: Any) -> str:
        return "Ask a@example.com."

    pipeline = Pipeline.sequential([clerk, Agent(lambda ask: "Done.", name="writer")])
    checked: Any = type(
        "Checked", (desk(pipeline),), {"__doc__": "Help.", "__validation__": Validation()}
    )
    turn = await talk(checked("s-1", JourneyConfig(persistence=memory_url)))

    words = [step.words for step in of_kind(turn.steps, "agent")]
    assert words == ["Ask [e-mail address].", "Done."]
    assert "a@example.com" not in repr(turn)


async def test_a_failed_turn_has_the_steps_until_its_failure(memory_url):
    journey = Shop("s-1", JourneyConfig(persistence=memory_url), agents={"clerk": broken})
    steps = (await talk(journey)).steps

    assert (steps[0].outcome, steps[0].error) == ("failed", "PathwayExecutionError")
    [agent] = of_kind(steps, "agent")
    assert (agent.outcome, agent.error, agent.words) == ("failed", "KeyError", None)
    assert "secret of the customer" not in repr(steps)


async def test_tries_of_an_agent_are_steps_of_their_own(memory_url):
    tries = itertools.count(1)

    def shaky(ask: Any) -> str:
        if next(tries) < 3:
            raise OSError("a hiccup")
        return "Well."

    config = JourneyConfig(
        persistence=memory_url,
        error_recovery="retry",
        max_retries=3,
        retry_backoff_seconds=0.001,
    )
    steps = (await talk(Shop("s-1", config, agents={"clerk": shaky}))).steps

    outcomes = [step.outcome for step in of_kind(steps, "agent")]
    assert outcomes == ["failed", "failed", "ok"]


async def test_under_fail_fast_nothing_is_stored_but_the_audit(memory_url):
    config = JourneyConfig(persistence=memory_url, error_recovery="fail_fast")
    agents = {"order_clerk": broken, "cashier": broken}
    async with Parcels("s-1", config, agents=agents) as journey:
        await journey.start()
        with pytest.raises(JourneyError):
            await journey.process_message("hello")
        assert [turn.turn.version for turn in await journey.turns()] == [0]


async def test_steps_are_the_same_after_a_restart(kept_url):
    async with _asked(kept_url) as journey:
        await journey.start()
        await journey.process_message("It comes from abroad")
        before = await journey.turns()
    async with _asked(kept_url) as journey:
        after = await journey.turns()
        await journey.process_message("and now?")
        assert (await journey.turns())[:2] == after

    assert after == before
    assert [step.words for step in of_kind(turned(after), "agent")] == [
        "No duty is due.",
        "The van comes on Monday.",
    ]
    assert turned(after)[0].ms > 0


def _asked(
    url: str, journey: type[Journey] = Parcels, key: bytes | None = None, session_id: str = "s-1"
) -> Journey:
    agents = {"order_clerk": lambda ask: "Which one?", "cashier": lambda ask: "Paid."}
    config = JourneyConfig(persistence=url, encryption_key=key)
    return journey(session_id, config, agents=agents)


async def test_steps_of_a_sensitive_journey_are_sealed(kept_url):
    async with _asked(kept_url, Secret, KEY) as journey:
        await journey.start()
        await journey.process_message("It comes from abroad")
        assert "No duty is due." in repr(await journey.turns())
        [row] = await _rows(kept_url)
        assert row["trail"].startswith("aes256gcm:")
        await journey.delete()
        assert await _rows(kept_url) == []


async def test_a_fork_has_the_steps_of_its_turns(kept_url):
    async with _asked(kept_url, Secret, KEY) as journey:
        await journey.start()
        await journey.process_message("It comes from abroad")
        before = await journey.turns()
        await journey.fork(1, "s-2")
    async with _asked(kept_url, Secret, KEY, "s-2") as fork:
        copied = await fork.turns()

    assert [turn.steps for turn in copied] == [turn.steps for turn in before]
    assert copied[1].decision == before[1].decision


async def _rows(url: str) -> list[Any]:
    """Return the rows of turns with a message, as they are stored."""
    store = await open_store(url, None)
    try:
        rows = await store.read(TURNS.of_turns, session="s-1", **ALL_TURNS)
        return [row for row in rows if row["message"] is not None]
    finally:
        await store.close()


async def test_steps_are_bounded_in_size(tmp_path):
    url = f"sqlite:///{tmp_path / 'large.db'}"

    def of(name: str) -> Agent:
        return Agent(lambda ask: {"response": f"{name} " + "x" * 64_000}, name=name)

    pipeline = Pipeline.parallel(
        [of(f"agent_{number}") for number in range(200)],
        aggregator=Agent(lambda ask: "In short: yes.", name="editor"),
        max_workers=200,
    )
    steps = (await talk(desk(pipeline)("s-1", JourneyConfig(persistence=url)))).steps

    agents = of_kind(steps, "agent")
    assert len(agents) == 201
    assert all(step.cut and len(step.words or "") <= MOST_STEP_WORDS for step in agents[:-1])
    assert (agents[-1].words, agents[-1].cut) == ("In short: yes.", False)
    [row] = await _rows(url)
    assert len(row["trail"]) < 128_000


async def test_a_long_reply_is_stored_once(memory_url):
    long = "y" * 60_000
    async with Shop(
        "s-1", JourneyConfig(persistence=memory_url), agents={"clerk": lambda ask: long}
    ) as journey:
        await journey.start()
        await journey.process_message("hello")
        [agent] = of_kind(turned(await journey.turns()), "agent")
        [row] = await _rows(memory_url)

    assert (agent.words, agent.cut) == (long, False)
    assert len(row["trail"]) < 1000


async def test_more_steps_than_are_kept_are_counted(memory_url, monkeypatch):
    monkeypatch.setattr(span, "MOST_STEPS", 100)

    def talkative(ask: Any) -> str:
        return "x"

    crew = Pipeline.debate([Agent(talkative, name=f"a{n}") for n in range(10)], rounds=30)
    config = JourneyConfig(persistence=memory_url, turn_timeout_seconds=110)
    turn = await talk(desk(crew)("s-1", config))

    assert len(turn.steps) == 100
    assert turn.steps_dropped > 100


async def test_the_audit_over_http_has_steps_and_decision(serve):
    agents = {"order_clerk": lambda ask: "Which one?", "cashier": lambda ask: "Paid."}
    served = await serve(one(Parcels, **agents))
    session = await served.begin("parcels", f"s-{uuid.uuid4()}")
    await served.says(session, "It comes from abroad")

    audit = (await served.client.get(f"{session}/audit")).json()

    turn = audit["turns"][-1]
    kinds = [step["kind"] for step in turn["steps"]]
    assert kinds == ["turn", "understand", "pathway", "agent", "agent", "settle"]
    assert [step["words"] for step in turn["steps"] if step["kind"] == "agent"] == [
        "No duty is due.",
        "The van comes on Monday.",
    ]
    assert all(isinstance(step["ms"], float | int) for step in turn["steps"])
    fired = turn["decision"]["candidates"][0]
    assert (fired["pathway"], fired["tier"], fired["fired"]) == ("abroad", "pattern", True)
    versions = (await served.client.get(f"{session}/versions")).json()
    assert "steps" not in versions["versions"][-1]


async def test_the_command_shows_steps_and_what_was_considered(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    url = f"sqlite:///{tmp_path / 'parcels.db'}"
    async with _asked(url) as journey:
        await journey.start()
        await journey.process_message("It comes from abroad")

    shown = await asyncio.to_thread(run, "audit", "s-1", "--store", url)

    assert shown.exit_code == 0, shown.output
    lines = [" ".join(line.split()) for line in shown.stdout.splitlines()]
    assert any("from abroad → abroad · yes, fired · pattern" in line for line in lines)
    assert any(line.partition(" ")[2] == "is lost → refund · no · condition" for line in lines)
    steps = [line for line in lines if line.startswith("step ")]
    assert [line.partition(" ms ")[2] for line in steps] == [
        "turn parcels",
        "understand",
        "pathway abroad · sequential",
        "agent customs · No duty is due.",
        "agent carrier",
        "settle",
    ]
    as_json = await asyncio.to_thread(run, "audit", "s-1", "--store", url, "--json")
    assert json.loads(as_json.stdout)["turns"][1]["steps"][1]["kind"] == "understand"


async def test_pipelines_that_agents_run_in_threads_are_steps_within_them(memory_url):
    def asks(name: str) -> Agent:
        inner = Pipeline.sequential([Agent(lambda ask: "x", name=f"{name}_{n}") for n in range(20)])
        return Agent(lambda ask: inner.run_sync(message="hello")["response"], name=name)

    crew = Pipeline.parallel([asks(f"a{number}") for number in range(8)], max_workers=8)
    steps = (await talk(desk(crew)("s-1", JourneyConfig(persistence=memory_url)))).steps

    inner = [step for step in of_kind(steps, "agent") if "_" in step.name]
    assert len(inner) == 8 * 20
    for step in inner:
        pipeline = steps[step.parent or 0]
        assert pipeline.kind == "pipeline"
        assert steps[pipeline.parent or 0].name == step.name.partition("_")[0].rpartition("/")[2]


async def test_a_journey_within_an_agent_has_steps_of_its_own(memory_url):
    async def asks(ask: Any) -> str:
        async with _asked(f"memory://{uuid.uuid4()}") as inner:
            await inner.start()
            await inner.process_message("hello")
            return str(len(turned(await inner.turns())))

    async with Shop(
        "s-1", JourneyConfig(persistence=memory_url), agents={"clerk": asks}
    ) as journey:
        await journey.start()
        response = await journey.process_message("hello")
        steps = turned(await journey.turns())

    assert response.message == "5"
    assert [step.kind for step in steps] == ["turn", "understand", "pathway", "agent", "settle"]


async def test_what_a_model_understood_of_a_form_is_in_the_decision(memory_url):
    config = JourneyConfig(persistence=memory_url)
    agents = {"host": lambda ask: "Well."}
    async with (
        ScriptedModel(says(fill(guests="the usual party"))) as model,
        Table("s-1", config, agents=agents, tools={"book": book}, model=model) as journey,
    ):
        await journey.start()
        await journey.process_message("well, I guess the usual party it is")
        decision = (await journey.turns())[-1].decision

    assert [(one.command, one.about) for one in decision.commands] == [("fill", "guests")]


async def test_words_without_a_reply_are_the_outputs_in_short(memory_url):
    def weigh(ask: Any) -> dict[str, Any]:
        return {"weight": 3, "note": "z" * 5000, "parts": ["a"] * 100}

    scales = desk(["scale"], __accumulate__=["weight"])
    journey = scales("s-1", JourneyConfig(persistence=memory_url), agents={"scale": weigh})
    [agent] = of_kind((await talk(journey)).steps, "agent")

    assert (agent.words or "").startswith("weight: 3, note: zzz")
    assert len(agent.words or "") < 200


async def test_a_turn_that_waits_and_the_one_that_goes_on_have_steps_each(memory_url):
    def asks(ask: Any) -> str:
        return f"You said {interrupt('Which day?')}."

    config = JourneyConfig(persistence=memory_url)
    async with desk(["clerk"])("s-1", config, agents={"clerk": asks}) as journey:
        await journey.start()
        await journey.process_message("hello")
        await journey.process_message("Monday")
        _, waited, went_on = await journey.turns()

    assert [s.outcome for s in of_kind(waited.steps, "agent")] == ["paused"]
    assert [s.words for s in of_kind(went_on.steps, "agent")] == ["You said Monday."]


async def test_each_turn_of_a_rollback_and_an_operator_has_no_steps(memory_url):
    async with _asked(memory_url) as journey:
        await journey.start()
        await journey.process_message("hello")
        await journey.rollback(0)
        turns = await journey.turns()

    assert [bool(turn.steps) for turn in turns] == [False, True, False]
