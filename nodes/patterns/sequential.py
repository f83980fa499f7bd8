"""One agent after the other (ADR-018): each is given what those before gave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nodes.patterns.work import Brief, Conclusion, Work, failed
from nodes.plain import copied


def brief(work: Work, name: str, part: Mapping[str, Any] | None) -> Brief | None:
    """Give an agent the outputs of all before it, by name; nobody is asked after a failure."""
    if len(work.given) < len(work.results):
        return None
    return Brief(extra=_outputs(work))


def conclude(work: Work) -> Conclusion:
    """Return all outputs as one; the last of a name counts. It fails with the first that fails."""
    wrong = next((result for result in work.results if result.get("error")), None)
    values = (_outputs(work),) if work.given else ()
    if wrong:
        return failed(wrong, {}, values)
    return Conclusion(values)


def _outputs(work: Work) -> dict[str, Any]:
    outputs: dict[str, Any] = {}
    for result in work.given:
        outputs.update(copied(result["values"]))
    return outputs
