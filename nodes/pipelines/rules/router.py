"""One agent is chosen, and answers (ADR-018 section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nodes.pipelines.work import Brief, Conclusion, Work, only


def brief(work: Work, name: str, part: Mapping[str, Any] | None) -> Brief:
    """Give the chosen agent the inputs, and nothing else."""
    return Brief()


def conclude(work: Work) -> Conclusion:
    """Return what the chosen agent gave."""
    selected = work.progress.get("selected", [])
    name = selected[0]["agent"] if selected else ""
    results = work.of(name)
    return only(
        results[-1] if results else None,
        {"selected": selected, "flags": work.progress.get("flags", [])},
        name,
    )
