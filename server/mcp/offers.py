"""Tools that the MCP server offers: a journey, each call a turn; a pipeline, each call a run."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from journeygraph.graphs.session.input import read
from journeygraph.graphs.session.manager import PathwayManager
from journeygraph.graphs.session.turn import TurnRequest, rule_of
from journeygraph.graphs.storage.errors import Unconfirmed, logged_reason
from journeygraph.journeys import (
    InvalidMessageError,
    JourneyEvent,
    JourneyResponse,
    PathwayExecutionError,
    Pipeline,
    SessionExistsError,
    SessionExpiredError,
    StateError,
)
from journeygraph.nodes.json_data import plain
from journeygraph.nodes.llm.mcp.connected import name_for_models
from journeygraph.nodes.state.session import PARTING
from journeygraph.nodes.telemetry import report
from journeygraph.server.access.callers import Caller
from journeygraph.server.http.app_state import AppState
from journeygraph.server.http.problems import problem_of, too_many_turns
from journeygraph.server.http.schemas import SessionId
from journeygraph.server.http.turns import RunningTurns

Notify = Callable[[str, Mapping[str, Any]], None]
"""Callback for events: their type and their text."""
_Asked = TypeVar("_Asked", bound=BaseModel)


class Refused(Exception):
    """A request cannot be carried out; the client gets the text."""


def check_room(turns: RunningTurns) -> None:
    """Refuse a call while as many turns run or wait as may."""
    if turns.is_full:
        raise Refused(str(too_many_turns().detail))


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a tool call.

    Attributes:
        structured: The same as data that matches the schema of the tool.
    """

    texts: Sequence[str]
    structured: Mapping[str, Any]
    failed: bool = False


class Offer(Protocol):
    """A tool.

    Attributes:
        takes: JSON schema of its arguments.
        gives: JSON schema of its structured result.
        goes_on: True if the work continues after the client disconnects.
    """

    name: str
    description: str
    takes: Mapping[str, Any]
    gives: Mapping[str, Any]
    goes_on: bool

    def begin(
        self, arguments: Mapping[str, Any], tell: Notify | None, caller: Caller
    ) -> asyncio.Task[Outcome]:
        """Start the work.

        Args:
            tell: Callback for events; None if the client wants none.
        """
        ...


class Arguments(BaseModel):
    """Arguments of a tool; others are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


def read_as(kind: type[_Asked], arguments: Mapping[str, Any]) -> _Asked:
    """Return arguments by their schema.

    Raises:
        Refused: They do not match; the text has place and fault, but not the value.
    """
    try:
        return kind.model_validate(dict(arguments))
    except ValidationError as error:
        known = kind.model_fields
        faults = [
            f"{fault['loc'][0]}: {fault['msg']}" if fault["loc"][0] in known else "unknown argument"
            for fault in error.errors()[:5]
        ]
        raise Refused(f"The arguments are not valid: {'; '.join(faults)}.") from None


def words_for(error: Exception, request_id: str) -> str:
    """Return the text of an error for clients; only the log has details of unexpected errors."""
    if isinstance(error, Refused):
        return str(error)
    if isinstance(error, SessionExpiredError):
        return "The session has expired. Omit session_id to start another one."
    if isinstance(error, PathwayExecutionError):
        report(logging.ERROR, "request_failed", request_id=request_id, exc_info=error)
        return f"The agent '{error.agent}' failed. The log has the details under {request_id}."
    if isinstance(error, Unconfirmed):
        report(logging.WARNING, "store_failed", request_id=request_id, reason=logged_reason(error))
        return "The store did not answer: the call may or may not have taken effect."
    problem = problem_of(error, request_id)
    if problem.code == "internal_error":
        return f"Internal error. The log of the server has the details under {request_id}."
    return str(problem.detail)


class Said(Arguments):
    """A message and its session."""

    message: str = Field(description="The message of the user, in their own words.")
    session_id: SessionId | None = Field(
        default=None,
        description="Id of the session to continue, from the previous response. Omit it to "
        "start a new session.",
    )


class Reply(BaseModel):
    """The result of a committed turn."""

    message: str = Field(description="The reply to show to the user.")
    session_id: str = Field(description="Send it with the next message of this conversation.")
    pathway_id: str = Field(description="The pathway of the conversation.")
    is_journey_complete: bool = Field(description="True if the goal is reached.")


class JourneyOffer:
    """One journey of this server; `journeygraph serve` has the same sessions."""

    takes: Mapping[str, Any] = Said.model_json_schema()
    gives: Mapping[str, Any] = Reply.model_json_schema()
    goes_on = True  # as over HTTP: a turn is whole, and who comes back finds it

    def __init__(self, journey_id: str, app_state: AppState) -> None:
        spec = app_state.journeys[journey_id].journey.spec
        self.journey_id = journey_id
        self.name = name_for_models(journey_id)
        purpose = " ".join((spec.purpose or spec.name).split())
        self.description = (
            f"{purpose} A conversation with a goal: send the user's message, show the reply to "
            f"the user, and send the session_id of the reply with the user's next message."
        )
        self._app_state = app_state

    def begin(
        self, arguments: Mapping[str, Any], tell: Notify | None, caller: Caller
    ) -> asyncio.Task[Outcome]:
        """Start a turn; it continues if the client disconnects."""
        said = read_as(Said, arguments)
        try:
            message = read(said.message)
        except InvalidMessageError as error:
            raise Refused(str(error)) from None
        session_id = said.session_id or str(uuid.uuid4())
        mine = self._app_state.of(caller.tenant)
        check_room(mine.turns)
        given = TurnRequest.message(message, None, rule_of(mine.config))
        return mine.turns.begin(self._turn(mine, caller, session_id, given, tell))

    async def _turn(
        self,
        app_state: AppState,
        caller: Caller,
        session_id: str,
        given: TurnRequest,
        tell: Notify | None,
    ) -> Outcome:
        greeting = await self._begun(app_state, caller, session_id)

        async def act(session: PathwayManager) -> JourneyResponse:
            self._check(session.spec.id)
            if tell is None:
                return await session.answer(given)
            return await _told(session.events(given), tell)

        response = await app_state.in_turn(caller, session_id, act, given)
        return _outcome(session_id, greeting, response)

    async def _begun(self, app_state: AppState, caller: Caller, session_id: str) -> str:
        if listed := await app_state.directory.find(session_id):
            self._check(listed.journey_id)
            return ""
        await app_state.keys.count(caller, "sessions")
        async with app_state.session(app_state.journeys[self.journey_id], session_id) as session:
            with suppress(SessionExistsError):  # somebody else was faster: go on with it
                return (await session.start_session(None)).greeting
        return ""

    def _check(self, journey_id: str) -> None:
        if journey_id != self.journey_id:
            raise Refused("This session_id belongs to another conversation. Omit it.")


async def _told(events: AsyncIterator[JourneyEvent], tell: Notify) -> JourneyResponse:
    response: JourneyResponse | None = None
    async for event in events:
        if event.type == "done":
            response = event.data["response"]
        else:
            tell(event.type, event.data)
    if response is None:
        raise StateError("The turn ended without a reply.")
    return response


def _outcome(session_id: str, greeting: str, response: JourneyResponse) -> Outcome:
    # Here a session begins with a message: what is said first is heard with the answer to it.
    message = PARTING.join(filter(None, [greeting, response.message]))
    reply = Reply(
        message=message,
        session_id=session_id,
        pathway_id=response.pathway_id,
        is_journey_complete=response.is_journey_complete,
    )
    # Some clients show their model the texts alone, and it must know how to go on.
    return Outcome([message, f"session_id: {session_id}"], reply.model_dump())


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

    def __init__(self, name: str, pipeline: Pipeline, turns: RunningTurns) -> None:
        self.name = name_for_models(name)
        purpose = pipeline.description or f"Run the pipeline {name}: several agents on one task."
        self.description = " ".join(purpose.split())
        self._pipeline = pipeline
        self._turns = turns

    def begin(
        self, arguments: Mapping[str, Any], tell: Notify | None, caller: Caller
    ) -> asyncio.Task[Outcome]:
        """Start a run, which is the same for every client."""
        task = read_as(Task, arguments)
        try:
            message = read(task.message)
            inputs: dict[str, Any] = plain(task.inputs, "inputs")
        except (InvalidMessageError, ValueError) as error:
            raise Refused(str(error)) from None
        _check(inputs)
        check_room(self._turns)
        return self._turns.begin(self._run({**inputs, "message": message}, tell))

    async def _run(self, inputs: dict[str, Any], tell: Notify | None) -> Outcome:
        if tell is None:
            return _run_outcome(await self._pipeline.run(**inputs))
        outputs: Any = {}
        async for event in self._pipeline.stream(**inputs):
            if event["type"] == "outputs":
                outputs = event["outputs"]
            else:
                tell(event["type"], event)
        return _run_outcome(outputs)


def _check(inputs: Mapping[str, Any]) -> None:
    if taken := _OWN & inputs.keys():
        raise Refused(f"inputs: the name '{min(taken)}' is reserved. Remove it.")
    for name, kind, called in (("context", dict, "an object"), ("history", list, "a list")):
        if not isinstance(inputs.get(name, kind()), kind):
            raise Refused(f"inputs.{name} must be {called}.")


def _run_outcome(given: Any) -> Outcome:
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
