"""All agents at once (ADR-018), and perhaps one who makes one of what they gave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nodes.llm.prompts import Ask
from nodes.pipelines.work import Brief, Conclusion, Work, failed, failures, only, shown

AGGREGATOR = "aggregator"
_ASK = Ask("Several agents worked on this at once. Make one answer of their `results`.")


def brief(work: Work, name: str, part: Mapping[str, Any] | None) -> Brief | None:
    """Give the aggregator all results, if there are any; the others need nothing."""
    if name != work.holder(AGGREGATOR):
        return Brief()
    if not work.given:
        return None
    return Brief({"results": shown(work.given), "failed": failures(work.results)}, ask=lambda: _ASK)


def conclude(work: Work) -> Conclusion:
    """Return the aggregator's outputs, else everybody's. It fails without any result."""
    if not work.given and work.results:
        return failed(work.results[0], {})
    if aggregator := work.holder(AGGREGATOR):
        results = work.of(aggregator)
        return only(results[-1] if results else None, {}, aggregator)
    return Conclusion([result["values"] for result in work.given])
