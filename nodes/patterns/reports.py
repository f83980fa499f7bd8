"""What is told of a run: each agent's own outputs, who failed, and how it came about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from nodes.patterns.work import Conclusion, Work, as_they_began
from nodes.state import Output

OWN_NAMES = ("error", "pipeline")
"""Names in the outputs of a pipeline that no agent's outputs can have."""
_NOTES = ("phase", "round", "part", "task")


def leaves(results: Iterable[Output]) -> Iterator[Output]:
    """Yield the results of all who worked, those within pipelines by their paths; no other."""
    for result in results:
        parts = result.get("parts")
        if parts is None:
            yield result
        else:
            yield from parts


def within(name: str, results: Iterable[Output]) -> list[Output]:
    """Return the results of a pipeline's members as those of a member of another one."""
    listed = leaves(as_they_began(list(results)))
    return [{**result, "agent": f"{name}/{result['agent']}"} for result in listed]


def ended_as(output: Output) -> str:
    """Return how a pipeline that is a member of another one ended."""
    if "error" in output:
        return "failed"
    return "partial" if any(part.get("error") for part in output.get("parts", ())) else "complete"


def flags_of(results: Iterable[Output]) -> list[str]:
    """Return the flags of results, and one for each agent that failed."""
    failed = [f"agent_failed:{r['agent']}" for r in leaves(results) if r.get("error")]
    return [*own_flags(results), *failed]


def own_flags(results: Iterable[Output]) -> list[str]:
    """Return the flags that the agents of results gave."""
    return [flag for result in results for flag in result["flags"]]


def outcome_of(work: Work, ended: Conclusion) -> dict[str, Any]:
    """Return what a run of a pipeline gives back: its outputs, and how they came about.

    Args:
        work: The work.
        ended: What it came to, with all outputs as one.
    """
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
    values = {name: value for name, value in ended.values[0].items() if name not in OWN_NAMES}
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


def _result(result: Output) -> dict[str, Any]:
    return {**_head(result), "outputs": result["values"]}


def _failure(result: Output) -> dict[str, Any]:
    error = result["error"]
    return {**_head(result), "error": error["message"], "kind": error["kind"]}


def _head(result: Output) -> dict[str, Any]:
    """Return who it was, and what the pattern noted of it."""
    notes = {name: result[name] for name in _NOTES if name in result}  # type: ignore[literal-required]
    return {"agent": result["agent"], **notes}
