"""Turns, the pathways that run in them, and pipelines."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from nodes.telemetry.activity import CANCELLED, FAILED, OK, PAUSED, Activity
from nodes.telemetry.flow import JOURNEY, turn_flagged
from nodes.telemetry.logs import report

_OPERATION, _WORKFLOW = "gen_ai.operation.name", "gen_ai.workflow.name"
PATHWAY = "journeygraph.pathway.id"
_DIGITS = 12
"""Digits of a journey's version in the log, which is a hash."""
_LEVELS = {OK: logging.INFO, FAILED: logging.WARNING, CANCELLED: logging.INFO}


def pseudonym(session_id: str, key: bytes | None = None) -> str:
    """Return what stands for a session's id in traces and logs: the same one in every process.

    An id may be a person's own, such as a number of theirs. Without a key, who guesses an id can
    find it again; with the encryption key of the configuration, nobody without it can.
    """
    told = hashlib.blake2b(
        session_id.encode("utf-8", "surrogatepass"),
        digest_size=8,
        key=key or b"",
        person=b"journeygraph",
    )
    return told.hexdigest()


class TurnRun(Activity):
    """A turn: what a message causes, up to its commit."""

    def __init__(self, journey: str, version: str, session: str) -> None:
        super().__init__(
            f"invoke_workflow {journey}",
            {
                _OPERATION: "invoke_workflow",
                _WORKFLOW: journey,
                "gen_ai.conversation.id": session,
                "journeygraph.journey.version": version,
            },
            journey=journey,
            journey_version=version[:_DIGITS],
            session=session,
        )
        self._journey = journey
        self._summary: dict[str, Any] = {}

    def answered(self, pathway: str, metadata: Mapping[str, Any]) -> None:
        """Take note of the response: where the session stands, and what is known of the turn."""
        usage = metadata["usage"]
        self._summary = {
            "turn": metadata["version"],
            "pathway": pathway,
            "ran": list(metadata["ran"]),
            "tier": metadata["tier"],
            # What stands behind a colon may be a name that is not an author's.
            "flags": [flag.partition(":")[0] for flag in metadata["flags"]],
            "guidelines": list(metadata.get("guidelines", ())),
            "model_calls": usage["model_calls"],
            "input_tokens": usage["input_tokens"],
            "output_tokens": usage["output_tokens"],
        }
        if metadata["error"]:
            self.outcome, self.fault = FAILED, metadata["error"]["type"]
        known = {name: value for name, value in self._summary.items() if value not in (None, [])}
        self.found = {_attribute(name): value for name, value in known.items()}

    def told(self) -> None:
        """Say of every turn how it ended; one that failed, or did without a part, is a warning."""
        error = {"error": self.fault} if self.fault else {}
        seconds = round(self.seconds, 4)
        event = f"turn_{_ENDED.get(self.outcome, 'failed')}"
        level = _LEVELS.get(self.outcome, logging.WARNING)
        if self.outcome == OK and any(flag.endswith(_BYPASSED) for flag in self._flags):
            event, level = "turn_degraded", logging.WARNING
        report(level, event, **self._summary, seconds=seconds, **error)

    def measured(self) -> None:
        """Take it as a workflow of the conventions, and as a turn of ours."""
        self.took("gen_ai.workflow.duration", {_WORKFLOW: self._journey})
        tier = self._summary.get("tier")
        labels = {JOURNEY: self._journey, "journeygraph.outcome": self.outcome}
        if tier:
            labels["journeygraph.turn.tier"] = tier
        self.took("journeygraph.turn.duration", labels)
        turn_flagged(self._journey, self._flags)

    @property
    def _flags(self) -> Sequence[str]:
        flags: Sequence[str] = self._summary.get("flags", ())
        return flags


_BYPASSED = "_bypassed"
"""What flags of turns end in that were answered without one of the parts."""
_ENDED = {OK: "finished", CANCELLED: "cancelled"}


def _pattern(pattern: str) -> dict[str, str]:
    return {"journeygraph.pattern": pattern} if pattern else {}


def _attribute(name: str) -> str:
    if name == "pathway":
        return PATHWAY
    return "journeygraph.turn.number" if name == "turn" else f"journeygraph.turn.{name}"


class PathwayRun(Activity):
    """One run of a pathway within a turn, all tries of its agents included."""

    def __init__(self, pathway: str, pattern: str) -> None:
        super().__init__(
            f"pathway {pathway}",
            {PATHWAY: pathway, **_pattern(pattern)},
            pathway=pathway,
        )


class PipelineRun(Activity):
    """One run of a pipeline, on its own or inside another one."""

    def __init__(self, path: str, pattern: str) -> None:
        name = path.rpartition("/")[2]
        super().__init__(
            f"invoke_workflow {name}",
            {
                _OPERATION: "invoke_workflow",
                _WORKFLOW: name,
                "journeygraph.agent.path": path,
                **_pattern(pattern),
            },
            pipeline=path,
        )
        self._workflow = name

    def ended(self, status: str) -> None:
        """Take note of how it ended without raising: complete, partial, waiting or failed."""
        self.found["journeygraph.pipeline.status"] = status
        if status == "failed":
            self.outcome, self.fault = FAILED, "pipeline_failed"
        elif status == "waiting":
            self.outcome = PAUSED

    def measured(self) -> None:
        """Take it as a workflow of the conventions."""
        self.took("gen_ai.workflow.duration", {_WORKFLOW: self._workflow})
