"""Turns, the pathways that run in them, and pipelines."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from nodes.telemetry.logs import report, running
from nodes.telemetry.activity import CANCELLED, FAILED, OK, Activity

_OPERATION, _WORKFLOW = "gen_ai.operation.name", "gen_ai.workflow.name"
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
        )
        self._journey = journey
        self._details = {
            "journey": journey,
            "journey_version": version[:_DIGITS],
            "session": session,
        }
        self._summary: dict[str, Any] = {}
        self._token: Any = None

    def __enter__(self) -> Self:
        self._token = running.set(self._details)
        return super().__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            super().__exit__(kind, error, traceback)
        finally:
            running.reset(self._token)

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
            "model_calls": usage["model_calls"],
            "input_tokens": usage["input_tokens"],
            "output_tokens": usage["output_tokens"],
        }
        if metadata["error"]:
            self.outcome, self.fault = FAILED, metadata["error"]["type"]
        known = {name: value for name, value in self._summary.items() if value not in (None, [])}
        self.found = {_attribute(name): value for name, value in known.items()}

    def told(self) -> None:
        """Say of every turn how it ended; one that failed is a warning."""
        error = {"error": self.fault} if self.fault else {}
        seconds = round(self.seconds, 4)
        event = f"turn_{_ENDED.get(self.outcome, 'failed')}"
        level = _LEVELS.get(self.outcome, logging.WARNING)
        report(level, event, **self._summary, seconds=seconds, **error)

    def measured(self) -> None:
        """Take it as a workflow of the conventions, and as a turn of ours."""
        self.took("gen_ai.workflow.duration", {_WORKFLOW: self._journey})
        tier = self._summary.get("tier")
        labels = {"journeygraph.journey.id": self._journey, "journeygraph.outcome": self.outcome}
        if tier:
            labels["journeygraph.turn.tier"] = tier
        self.took("journeygraph.turn.duration", labels)


_ENDED = {OK: "finished", CANCELLED: "cancelled"}


def _attribute(name: str) -> str:
    if name == "pathway":
        return "journeygraph.pathway.id"
    return "journeygraph.turn.number" if name == "turn" else f"journeygraph.turn.{name}"


class PathwayRun(Activity):
    """One run of a pathway within a turn, all tries of its agents included."""

    def __init__(self, pathway: str, pattern: str) -> None:
        super().__init__(
            f"pathway {pathway}",
            {"journeygraph.pathway.id": pathway, "journeygraph.pattern": pattern},
        )


class PipelineRun(Activity):
    """One run of a pipeline, on its own or inside another one."""

    def __init__(self, name: str, pattern: str) -> None:
        super().__init__(
            f"invoke_workflow {name}",
            {_OPERATION: "invoke_workflow", _WORKFLOW: name, "journeygraph.pattern": pattern},
        )
        self._name = name

    def ended(self, status: str, fault: str | None = None) -> None:
        """Take note of how it ended, where it does not raise.

        Args:
            status: "complete", "partial" or "failed".
            fault: The kind of the error, where it failed as a whole.
        """
        self.found["journeygraph.pipeline.status"] = status
        if status == "failed":
            self.outcome, self.fault = FAILED, fault or "pipeline_failed"

    def measured(self) -> None:
        """Take it as a workflow of the conventions."""
        self.took("gen_ai.workflow.duration", {_WORKFLOW: self._name})
