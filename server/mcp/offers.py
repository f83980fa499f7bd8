"""A tool that the MCP server offers: name, schema, function."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from graphs.storage.errors import Unconfirmed
from journeys import PathwayExecutionError, SessionExpiredError
from nodes.telemetry import report
from server.http.problems import problem_of

Tell = Callable[[str, Mapping[str, Any]], None]
"""Told the type of an event and what it says, while the work goes on."""
_Asked = TypeVar("_Asked", bound=BaseModel)


class Refused(Exception):
    """What was asked cannot be done; its text is what the client is told."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the work.

    Attributes:
        texts: For a client, or its model, that reads text.
        structured: The same as data, after the schema of the offer.
        failed: Whether it is the account of a failure.
    """

    texts: Sequence[str]
    structured: Mapping[str, Any]
    failed: bool = False


class Offer(Protocol):
    """A tool.

    Attributes:
        name: Its name.
        description: What it is for, as models read it.
        takes: JSON schema of its arguments.
        gives: JSON schema of its structured result.
        goes_on: Whether the work is done to its end though the client has gone.
    """

    name: str
    description: str
    takes: Mapping[str, Any]
    gives: Mapping[str, Any]
    goes_on: bool

    def begin(self, arguments: Mapping[str, Any], tell: Tell | None) -> asyncio.Task[Outcome]:
        """Begin the work.

        Args:
            arguments: As the client sent them.
            tell: Told what happens, where the client wants to know.

        Raises:
            Refused: They are not as the schema says.
        """
        ...


class Arguments(BaseModel):
    """Arguments of a tool: those, and no other."""

    model_config = ConfigDict(extra="forbid", strict=True)


def read_as(kind: type[_Asked], arguments: Mapping[str, Any]) -> _Asked:
    """Return arguments by their schema.

    Raises:
        Refused: They do not fit; where, and what is wrong there, but never what was sent.
    """
    try:
        return kind.model_validate(dict(arguments))
    except ValidationError as error:
        known = kind.model_fields
        faults = [
            f"{fault['loc'][0]}: {fault['msg']}" if fault["loc"][0] in known else "unknown argument"
            for fault in error.errors()[:5]
        ]
        raise Refused(f"The arguments do not fit: {'; '.join(faults)}.") from None


def words_for(error: Exception, request_id: str) -> str:
    """Return what a client is told of an error; what nobody expected is in the log only."""
    if isinstance(error, Refused):
        return str(error)
    if isinstance(error, SessionExpiredError):
        return "The session has expired. Leave session_id out to begin another one."
    if isinstance(error, PathwayExecutionError):
        report(logging.ERROR, "request_failed", request_id=request_id, exc_info=error)
        return f"The agent '{error.agent}' failed. The log has it under {request_id}."
    if isinstance(error, Unconfirmed):
        report(logging.WARNING, "store_failed", request_id=request_id, reason=str(error))
        return "The store did not answer, so this may have been done, or not."
    problem = problem_of(error, request_id)
    if problem.code == "internal_error":
        return f"Something went wrong here. The log of the server has it under {request_id}."
    return str(problem.detail)
