"""The rules of patterns without rounds: sequential, parallel, router and ensemble (ADR-018)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from journeygraph.journeys.agents.signature import Ask
from journeygraph.nodes.json_data import copied
from journeygraph.nodes.pipelines.work import Brief, Conclusion, Work, failed, failures, only, shown
from journeygraph.nodes.state.session import AgentOutput

AGGREGATOR = "aggregator"
SYNTHESIZER = "synthesizer"
_NOTHING_BEFORE = Brief()
_AGGREGATE = Ask("Several agents worked on this at once. Make one answer of their `results`.")
_SYNTHESIZE = Ask(
    "Several agents gave their view of this. Weigh their `perspectives` into one answer."
)


class Sequential:
    """One agent after the other: each is given what those before gave."""

    def brief(self, work: Work, name: str, part: Mapping[str, Any] | None) -> Brief | None:
        """Give an agent the outputs of all before it, by name; a failure ends the run."""
        if not work.results:
            return _NOTHING_BEFORE
        given = work.given
        if len(given) < len(work.results):
            return None
        return Brief(extra=_outputs(given))

    def conclude(self, work: Work) -> Conclusion:
        """Return all outputs as one; the last of a name counts. The first failure fails it."""
        wrong = next((result for result in work.results if result.get("error")), None)
        given = work.given
        values = (_outputs(given),) if given else ()
        if wrong:
            return failed(wrong, {}, values)
        return Conclusion(values)


class Parallel:
    """All agents at once, and perhaps one who makes one of what they gave."""

    def brief(self, work: Work, name: str, part: Mapping[str, Any] | None) -> Brief | None:
        """Give the aggregator all results, if there are any; the others need nothing."""
        if name != work.holder(AGGREGATOR):
            return Brief()
        if not work.given:
            return None
        return Brief(
            {"results": shown(work.given), "failed": failures(work.results)}, ask=lambda: _AGGREGATE
        )

    def conclude(self, work: Work) -> Conclusion:
        """Return the aggregator's outputs, else everybody's. It fails without any result."""
        if not work.given and work.results:
            return failed(work.results[0], {})
        if aggregator := work.holder(AGGREGATOR):
            results = work.of(aggregator)
            return only(results[-1] if results else None, {}, aggregator)
        return Conclusion([result["values"] for result in work.given])


class Router:
    """One agent is chosen, and answers."""

    def brief(self, work: Work, name: str, part: Mapping[str, Any] | None) -> Brief:
        """Give the chosen agent the inputs, and nothing else."""
        return Brief()

    def conclude(self, work: Work) -> Conclusion:
        """Return what the chosen agent gave."""
        selected = work.progress.get("selected", [])
        name = selected[0]["agent"] if selected else ""
        results = work.of(name)
        return only(
            results[-1] if results else None,
            {"selected": selected, "flags": work.progress.get("flags", [])},
            name,
        )


class Ensemble:
    """The best agents for a task answer at once; a synthesizer makes one of it."""

    def brief(self, work: Work, name: str, part: Mapping[str, Any] | None) -> Brief | None:
        """Give the synthesizer every perspective, if there is any; the others need nothing."""
        if name != work.holder(SYNTHESIZER):
            return Brief()
        if not work.given:
            return None
        perspectives = shown(work.given)
        return Brief(
            {"perspectives": perspectives, "failed": failures(work.results)},
            ask=lambda: _SYNTHESIZE,
        )

    def conclude(self, work: Work) -> Conclusion:
        """Return the synthesizer's outputs. It fails without them or without a perspective."""
        report = {
            "selected": work.progress.get("selected", []),
            "flags": work.progress.get("flags", []),
        }
        synthesizer = work.holder(SYNTHESIZER)
        results = work.of(synthesizer)
        if not results and work.results and not work.given:
            return failed(work.results[0], report)
        return only(results[-1] if results else None, report, synthesizer)


def _outputs(given: Sequence[AgentOutput]) -> dict[str, Any]:
    outputs: dict[str, Any] = {}
    for result in given:
        outputs.update(copied(result["values"]))
    return outputs
