"""One agent after the other (ADR-018): each is given what those before gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nodes.json_data import copied
from nodes.pipelines.work import Brief, Conclusion, Work, failed
from nodes.state.session import Output

_NOTHING_BEFORE = Brief()


def brief(work: Work, name: str, part: Mapping[str, Any] | None) -> Brief | None:
    """Give an agent the outputs of all before it, by name; a failure ends the run."""
    if not work.results:
        return _NOTHING_BEFORE
    given = work.given
    if len(given) < len(work.results):
        return None
    return Brief(extra=_outputs(given))


def conclude(work: Work) -> Conclusion:
    """Return all outputs as one; the last of a name counts. It fails with the first that fails."""
    wrong = next((result for result in work.results if result.get("error")), None)
    given = work.given
    values = (_outputs(given),) if given else ()
    if wrong:
        return failed(wrong, {}, values)
    return Conclusion(values)


def _outputs(given: Sequence[Output]) -> dict[str, Any]:
    outputs: dict[str, Any] = {}
    for result in given:
        outputs.update(copied(result["values"]))
    return outputs
