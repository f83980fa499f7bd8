"""The arguments of an MCP tool: what an agent has of them, and whether they fit the schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.tools import ToolException

from nodes.llm.structured import misfits

KEPT_BACK = frozenset({"context", "history"})
"""Inputs that no server gets only because its schema has them: the transcript and the whole
context.
"""


def arguments_of(schema: Mapping[str, Any], payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a tool is given of what an agent is given.

    Args:
        schema: JSON schema of the tool's arguments.
        payload: What the agent was given. Its message goes to the first text that the tool
            requires and the payload lacks.
    """
    known: Mapping[str, Any] = schema.get("properties") or {}
    given = {
        name: payload[name]
        for name in known
        if name in payload and name not in KEPT_BACK and payload[name] is not None
    }
    for name in schema.get("required") or ():
        if name not in given and _is_text(known.get(name)):
            return {**given, name: payload.get("message", "")}
    return given


def _is_text(schema: Any) -> bool:
    return isinstance(schema, Mapping) and schema.get("type") == "string" and "enum" not in schema


def checked(tool: str, schema: Mapping[str, Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return arguments that fit the schema of a tool.

    Raises:
        ToolException: They do not fit; says where.
    """
    if faults := misfits(schema, dict(given)):
        raise ToolException(f"The arguments of '{tool}' are not valid: {faults}"[:500])
    return given
