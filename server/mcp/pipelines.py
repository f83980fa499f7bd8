"""A pipeline as a tool: each call is one run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from pydantic import Field

from graphs.session.input import read
from journeys import InvalidMessageError, Pipeline
from nodes.json_data import plain
from nodes.llm.mcp.connected import name_for_models
from server.http.turns import Turns
from server.mcp.offers import Arguments, Outcome, Refused, Tell, read_as

_OWN = frozenset({"message", "self"})


class Task(Arguments):
    """The task of a pipeline."""

    message: str = Field(description="The task, in words.")
    inputs: dict[str, Any] = Field(
        default_factory=dict, description="Further inputs of the pipeline's agents, by name."
    )


class PipelineOffer:
    """One pipeline of this server. A run ends when its client disconnects."""

    takes: Mapping[str, Any] = Task.model_json_schema()
    gives: Mapping[str, Any] = {
        "type": "object",
        "description": "The outputs; `pipeline` has the status and the agents that failed.",
        "additionalProperties": True,
    }
    goes_on = False

    def __init__(self, name: str, pipeline: Pipeline, turns: Turns) -> None:
        self.name = name_for_models(name)
        purpose = pipeline.description or f"Run the pipeline {name}: several agents on one task."
        self.description = " ".join(purpose.split())
        self._pipeline = pipeline
        self._turns = turns

    def begin(self, arguments: Mapping[str, Any], tell: Tell | None) -> asyncio.Task[Outcome]:
        """Start a run."""
        task = read_as(Task, arguments)
        try:
            message = read(task.message)
            inputs: dict[str, Any] = plain(task.inputs, "inputs")
        except (InvalidMessageError, ValueError) as error:
            raise Refused(str(error)) from None
        _check(inputs)
        return self._turns.begin(self._run({**inputs, "message": message}, tell))

    async def _run(self, inputs: dict[str, Any], tell: Tell | None) -> Outcome:
        if tell is None:
            return _outcome(await self._pipeline.run(**inputs))
        outputs: Any = {}
        async for event in self._pipeline.stream(**inputs):
            if event["type"] == "outputs":
                outputs = event["outputs"]
            else:
                tell(event["type"], event)
        return _outcome(outputs)


def _check(inputs: Mapping[str, Any]) -> None:
    if taken := _OWN & inputs.keys():
        raise Refused(f"inputs: the name '{min(taken)}' is reserved. Remove it.")
    for name, kind, called in (("context", dict, "an object"), ("history", list, "a list")):
        if not isinstance(inputs.get(name, kind()), kind):
            raise Refused(f"inputs.{name} must be {called}.")


def _outcome(given: Any) -> Outcome:
    """Return the outputs for clients: failed agents are named, their errors are not."""
    outputs = dict(given) if isinstance(given, Mapping) else {"response": given}
    account = outputs.pop("pipeline", None)
    failed = outputs.pop("error", None) is not None
    kept: dict[str, Any] = plain(outputs, "outputs")
    if isinstance(account, Mapping):
        kept["pipeline"] = {
            "status": account.get("status"),
            "failed": [
                {"agent": one["agent"], "kind": one["kind"]} for one in account.get("failed", ())
            ],
        }
        if asks := account.get("waiting"):
            asked = [{"agent": ask["agent"], "value": ask["value"]} for ask in asks]
            kept["pipeline"]["waiting"] = plain(asked, "waiting")
    said = kept.get("response")
    text = said if isinstance(said, str) and said else json.dumps(kept, ensure_ascii=False)
    return Outcome(["The pipeline failed.", text] if failed else [text], kept, failed)
