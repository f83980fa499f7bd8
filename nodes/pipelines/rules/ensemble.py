"""The best agents for a task answer at once; a synthesizer makes one of it (ADR-018 section 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nodes.llm.prompts import Ask
from nodes.pipelines.work import Brief, Conclusion, Work, failed, failures, only, shown

SYNTHESIZER = "synthesizer"
_ASK = Ask("Several agents gave their view of this. Weigh their `perspectives` into one answer.")


def brief(work: Work, name: str, part: Mapping[str, Any] | None) -> Brief | None:
    """Give the synthesizer every perspective, if there is any; the others need nothing."""
    if name != work.holder(SYNTHESIZER):
        return Brief()
    if not work.given:
        return None
    perspectives = shown(work.given)
    return Brief({"perspectives": perspectives, "failed": failures(work.results)}, ask=lambda: _ASK)


def conclude(work: Work) -> Conclusion:
    """Return the synthesizer's outputs. It fails without them, or if there was no perspective."""
    report = {
        "selected": work.progress.get("selected", []),
        "flags": work.progress.get("flags", []),
    }
    synthesizer = work.holder(SYNTHESIZER)
    results = work.of(synthesizer)
    if not results and work.results and not work.given:
        return failed(work.results[0], report)
    return only(results[-1] if results else None, report, synthesizer)
