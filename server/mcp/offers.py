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
"""Callback for events: their type and their text."""
_Asked = TypeVar("_Asked", bound=BaseModel)


class Refused(Exception):
    """A request cannot be carried out; the client gets the text."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a tool call.

    Attributes:
        texts: Texts for clients or models.
        structured: The same as data that matches the schema of the tool.
        failed: True if the call failed.
    """

    texts: Sequence[str]
    structured: Mapping[str, Any]
    failed: bool = False


class Offer(Protocol):
    """A tool.

    Attributes:
        name: Its name.
        description: Its purpose, for models.
        takes: JSON schema of its arguments.
        gives: JSON schema of its structured result.
        goes_on: True if the work continues after the client disconnects.
    """

    name: str
    description: str
    takes: Mapping[str, Any]
    gives: Mapping[str, Any]
    goes_on: bool

    def begin(self, arguments: Mapping[str, Any], tell: Tell | None) -> asyncio.Task[Outcome]:
        """Start the work.

        Args:
            arguments: The arguments of the client.
            tell: Callback for events; None if the client wants none.

        Raises:
            Refused: They do not match the schema.
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
        report(logging.WARNING, "store_failed", request_id=request_id, reason=str(error))
        return "The store did not answer: the call may or may not have taken effect."
    problem = problem_of(error, request_id)
    if problem.code == "internal_error":
        return f"Internal error. The log of the server has the details under {request_id}."
    return str(problem.detail)
