"""Report of a pipeline's run: its outputs, and how they came about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from journeygraph.nodes.pipelines.work import (
    Conclusion,
    Work,
    as_they_began,
    leaves,
    own_flags,
)
from journeygraph.nodes.state.session import AgentOutput

_OWN_NAMES = ("error", "pipeline")
"""Names in the outputs of a pipeline that no agent's outputs can have."""
_NOTES = ("phase", "round", "part", "task")


def outcome_of(work: Work, ended: Conclusion) -> dict[str, Any]:
    """Return what a run of a pipeline gives back: its outputs, and how they came about."""
    worked = list(leaves(as_they_began(work.results)))
    failed = [_failure(result) for result in worked if result.get("error")]
    flags = own_flags(work.results)
    story = {
        "pattern": work.pipeline.pattern,
        "status": _status(ended, failed),
        "results": [_result(result) for result in worked if not result.get("error")],
        "failed": failed,
        **ended.report,
        "flags": list(dict.fromkeys([*flags, *ended.report.get("flags", ())])),
    }
    wrong = {"error": f"{ended.blame}: {ended.error}"} if ended.blame is not None else {}
    values = {name: value for name, value in ended.values[0].items() if name not in _OWN_NAMES}
    return {**values, **wrong, "pipeline": story}


def waiting_of(work: Work, asks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what a run gives back that waits: who asks what, and what the others gave so far."""
    worked = list(leaves(as_they_began(work.results)))
    story = {
        "pattern": work.pipeline.pattern,
        "status": "waiting",
        "waiting": list(asks),
        "results": [_result(result) for result in worked if not result.get("error")],
        "failed": [_failure(result) for result in worked if result.get("error")],
        "flags": list(dict.fromkeys(own_flags(work.results))),
    }
    return {"pipeline": story}


def _status(ended: Conclusion, failed: Sequence[Mapping[str, Any]]) -> str:
    if ended.blame is not None:
        return "failed"
    return "partial" if failed else "complete"


def _result(result: AgentOutput) -> dict[str, Any]:
    return {**_head(result), "outputs": result["values"]}


def _failure(result: AgentOutput) -> dict[str, Any]:
    error = result["error"]
    return {**_head(result), "error": error["message"], "kind": error["kind"]}


def _head(result: AgentOutput) -> dict[str, Any]:
    notes = {name: result[name] for name in _NOTES if name in result}  # type: ignore[literal-required]
    return {"agent": result["agent"], **notes}
