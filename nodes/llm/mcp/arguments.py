"""The arguments of an MCP tool: what an agent has of them, and whether they fit the schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.tools import ToolException

KEPT_BACK = frozenset({"context", "history"})
"""What no server is given because its schema asks for it: the talk, and all that is known."""


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

    Nothing is fetched for it: a reference that leads out of the schema is a fault of the schema.

    Raises:
        ToolException: They do not fit; says where.
    """
    from jsonschema.exceptions import best_match  # type: ignore[import-untyped] # noqa: PLC0415
    from jsonschema.validators import (  # type: ignore[import-untyped] # noqa: PLC0415
        Draft202012Validator,
        validator_for,
    )
    from referencing import Registry  # noqa: PLC0415

    try:
        kind = validator_for(schema, default=Draft202012Validator)
        fault = best_match(kind(schema, registry=Registry()).iter_errors(dict(given)))
    except Exception as error:  # a server may send any schema
        raise ToolException(f"The schema of the tool '{tool}' cannot be used.") from error
    if fault is not None:
        place = f"{fault.json_path.removeprefix('$').lstrip('.')}: ".removeprefix(": ")
        raise ToolException(f"The arguments of '{tool}' do not fit: {place}{fault.message}"[:500])
    return given
