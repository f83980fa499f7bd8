"""The cases of ADR-018 section 5, category 10: what a pipeline is seen to do."""

from __future__ import annotations

import asyncio
import json
import textwrap
from typing import Any

import pytest

from journeygraph import NEVER, Agent, Journey, ModelAgent, Pathway, PathwayExecutionError, Pipeline
from journeygraph.nodes.llm.scripted import ScriptedModel
from tests.support import watching
from tests.support.model_shop import Say
from tests.support.watching import Watch

watch = watching.watch


def answering(name: str, *, within: asyncio.Barrier | None = None) -> Agent:
    async def answer(payload: dict[str, Any]) -> str:
        if within:
            await within.wait()
        return f"{name} heard {payload['message']}"

    return Agent(answer, name=name)


def failing(name: str) -> Agent:
    def fail(payload: dict[str, Any]) -> str:
        raise LookupError(f"canary {payload['message']}")

    return Agent(fail, name=name)


def dedented(text: str) -> str:
    return textwrap.dedent(text).strip("\n")


def told(span: Any) -> dict[str, Any]:
    return dict(span.attributes or {})


class TestObservability:
    async def test_execution_tracing(self, watch: Watch) -> None:
        """A run is a span, a pipeline within it is one beneath, and so is every agent's call."""
        inner = Pipeline.parallel([answering("left"), answering("right")]).with_name("both")
        deeper = Pipeline.sequential([inner, answering("last")]).with_name("middle")
        outer = Pipeline.sequential([answering("first"), deeper]).with_name("outer")

        outputs = await outer.run(message="hello")

        assert [result["agent"] for result in outputs["pipeline"]["results"]] == [
            "first",
            "middle/both/left",
            "middle/both/right",
            "middle/last",
        ]
        lines = watch.tree.splitlines()
        assert [*lines[:4], *sorted(lines[4:6]), *lines[6:]] == [
            "invoke_workflow outer",
            "  invoke_agent first",
            "  invoke_workflow middle",
            "    invoke_workflow both",
            "      invoke_agent left",
            "      invoke_agent right",
            "    invoke_agent last",
        ]
        assert watch.one("invoke_workflow both") == {
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": "both",
            "journeygraph.agent.path": "middle/both",
            "journeygraph.pattern": "parallel",
            "journeygraph.pipeline.status": "complete",
            "journeygraph.outcome": "ok",
        }
        assert watch.one("invoke_agent left") == {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "left",
            "journeygraph.agent.path": "middle/both/left",
            "journeygraph.outcome": "ok",
        }

    async def test_metrics_collection(self, watch: Watch) -> None:
        """Runs, agents by how they end, and breakers that open are measured."""
        pipeline = (
            Pipeline.parallel([answering("good"), failing("bad")])
            .with_name("pair")
            .with_limits(breaker_failures=2)
        )

        for _ in range(3):
            assert (await pipeline.run(message="hello"))["pipeline"]["status"] == "partial"

        counted = {
            tuple(labels.values()): count
            for labels, count in watch.points("gen_ai.invoke_agent.duration")
        }
        assert counted == {
            ("good", "ok"): 3,
            ("bad", "failed", "LookupError"): 2,
            ("bad", "failed", "unavailable"): 1,
        }

    async def test_metrics_of_pipelines_and_breakers(self, watch: Watch) -> None:
        now = [0.0]
        mood = ["bad"]

        def moody(payload: dict[str, Any]) -> str:
            if mood[0] == "bad":
                raise LookupError("in a mood")
            return "fine"

        pipeline = (
            Pipeline.sequential([Agent(moody, name="moody")])
            .with_name("one")
            .with_limits(breaker_failures=1, breaker_cooldown=10, clock=lambda: now[0])
        )
        await pipeline.run(message="hello")
        now[0], mood[0] = 20.0, "good"
        await pipeline.run(message="hello")

        assert watch.points("journeygraph.breaker.opened") == [({"gen_ai.agent.name": "moody"}, 1)]
        assert [line["event"] for line in watch.log] == [
            "breaker_opened",
            "part_raised",
            "agent_failed",
            "breaker_closed",
        ]

    async def test_workflows_are_measured_by_whether_they_fail(self, watch: Watch) -> None:
        await Pipeline.sequential([answering("a")]).with_name("fine").run(message="hello")
        failed = await Pipeline.sequential([failing("a")]).with_name("lost").run(message="hello")

        assert failed["pipeline"]["status"] == "failed"
        runs = {
            (labels["gen_ai.workflow.name"], labels.get("error.type")): count
            for labels, count in watch.points("gen_ai.workflow.duration")
        }
        assert runs == {("fine", None): 1, ("lost", "pipeline_failed"): 1}

    async def test_logging_output(self, watch: Watch) -> None:
        """The log names who failed where and how, and nothing that was said."""
        inner = Pipeline.parallel([answering("good"), failing("bad")]).with_name("inner")

        await Pipeline.sequential([inner]).with_name("outer").run(message="user-canary")

        raised, line = watch.log
        assert (raised["event"], raised["name"]) == ("part_raised", "inner/bad")
        assert raised["error"] == "LookupError"
        assert (
            line.items()
            >= {
                "event": "agent_failed",
                "level": "warning",
                "pipeline": "inner",
                "agent": "inner/bad",
                "error": "LookupError",
            }.items()
        )
        (span,) = watch.named("invoke_agent bad")
        assert span.context
        assert line["trace_id"] == f"{span.context.trace_id:032x}"
        assert line["span_id"] == f"{span.context.span_id:016x}"
        assert "canary" not in json.dumps(watch.log)

    @pytest.mark.parametrize("error_handling", ["graceful", "fail-fast"])
    async def test_error_reporting(self, watch: Watch, error_handling: str) -> None:
        """An agent's failure is seen at the agent, and as far up as it failed anything."""
        inner = (
            Pipeline.parallel([answering("good"), failing("bad")])
            .with_name("inner")
            .with_error_handling(error_handling)
        )
        outer = Pipeline.sequential([inner]).with_name("outer").with_error_handling(error_handling)

        if error_handling == "graceful":
            outputs = await outer.run(message="hello")
            assert outputs["pipeline"]["failed"][0]["kind"] == "LookupError"
        else:
            with pytest.raises(PathwayExecutionError):
                await outer.run(message="hello")

        (bad,) = watch.named("invoke_agent bad")
        assert (told(bad)["error.type"], bad.status.is_ok) == ("LookupError", False)
        for name in ("invoke_workflow inner", "invoke_workflow outer"):
            (span,) = watch.named(name)
            if error_handling == "graceful":
                assert told(span)["journeygraph.pipeline.status"] == "partial"
                assert (told(span).get("error.type"), span.status.is_ok) == (None, True)
            else:
                assert told(span)["error.type"] == "PathwayExecutionError"
                assert not span.status.is_ok
        assert "canary" not in watch.everything()


async def test_a_streamed_run_is_seen_and_its_reader_is_not_within_it(watch: Watch) -> None:
    pipeline = Pipeline.sequential([answering("a"), answering("b")]).with_name("pair")
    other = Pipeline.sequential([answering("c")]).with_name("other")

    async for event in pipeline.stream(message="hello"):
        if event["type"] == "agent_finished" and event["agent"] == "a":
            await other.run(message="in between")

    assert watch.tree == dedented("""
        invoke_workflow pair
          invoke_agent a
          invoke_agent b
        invoke_workflow other
          invoke_agent c
    """)


async def test_a_stream_that_nobody_reads_to_its_end_is_cancelled(watch: Watch) -> None:
    pipeline = Pipeline.sequential([answering("a"), answering("b")]).with_name("pair")

    events: Any = pipeline.stream(message="hello")
    await anext(events)
    await events.aclose()

    assert watch.one("invoke_workflow pair")["journeygraph.outcome"] == "cancelled"


async def test_runs_at_once_do_not_mix(watch: Watch) -> None:
    both = asyncio.Barrier(2)
    pipelines = [
        Pipeline.sequential([answering("a", within=both)]).with_name(name)
        for name in ("one", "two")
    ]

    await asyncio.gather(*(pipeline.run(message="hello") for pipeline in pipelines))

    assert watch.tree == dedented("""
        invoke_workflow one
          invoke_agent a
        invoke_workflow two
          invoke_agent a
    """)


class Desk(Journey):
    """Ask two teams."""

    class TalkPath(Pathway):
        __pipeline__ = Pipeline.sequential(
            [
                answering("first"),
                Pipeline.parallel([answering("left")]).with_name("team"),
            ]
        )
        __complete_when__ = NEVER


async def test_in_a_journey_a_pipeline_stands_in_its_pathway(
    talk: Any, memory_url: str, watch: Watch
) -> None:
    chat = await talk(Desk, {}, memory_url)
    await chat.says("hello")

    assert watch.tree == dedented("""
        invoke_workflow desk
          pathway talk
            invoke_agent first
            invoke_workflow team
              invoke_agent left
    """)
    assert watch.one("pathway talk")["journeygraph.pattern"] == "sequential"
    assert watch.one("invoke_agent left")["journeygraph.pathway.id"] == "talk"
    assert watch.one("invoke_agent left")["journeygraph.agent.path"] == "team/left"


async def test_a_model_agent_of_a_pipeline_is_seen_with_its_tokens(watch: Watch) -> None:
    clerk = Agent(ModelAgent(signature=Say), name="clerk")
    async with ScriptedModel({"response": "Hello."}) as model:
        outputs = await (
            Pipeline.sequential([clerk]).with_name("desk").with_model(model).run(message="hello")
        )

    assert watch.tree == dedented("""
        invoke_workflow desk
          invoke_agent clerk
            chat scripted
    """)
    call = watch.one("chat scripted")
    assert call["gen_ai.usage.output_tokens"] == outputs["pipeline"]["usage"]["output_tokens"] > 0
