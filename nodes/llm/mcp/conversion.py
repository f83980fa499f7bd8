"""Convert what an agent has to the arguments of an MCP tool, and results back for it."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.tools import ToolException

from journeygraph.nodes.json_data import cleaned, plain, size
from journeygraph.nodes.llm.mcp.connection import MOST_SAID
from journeygraph.nodes.llm.structured import misfits
from journeygraph.nodes.llm.tools import shortened

KEPT_BACK = frozenset({"context", "history"})
"""Inputs that no server gets only because its schema has them: the transcript and the whole
context.
"""


def arguments_of(schema: Mapping[str, Any], payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a tool is given of what an agent is given.

    Args:
        payload: The payload of the agent. Its message goes to the first text that the tool
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
    """Return arguments that fit the schema of a tool."""
    if faults := misfits(schema, dict(given)):
        raise ToolException(f"The arguments of '{tool}' are not valid: {faults}"[:500])
    return given


MOST_BYTES = 1_000_000
"""Largest structured result and largest resource that are taken, in bytes of UTF-8."""


def text_of(result: Any) -> str:
    """Return the result of a tool as text, cut to what a model is shown."""
    said = "\n".join(_words(block) for block in result.content)
    if result.is_error:
        raise ToolException(cleaned(said)[:MOST_SAID] or "The tool failed without an error text.")
    if not said and result.structured_content is not None:
        return shortened(result.structured_content)
    return shortened(said)


def outputs_of(name: str, result: Any) -> dict[str, Any]:
    """Return the result of a tool as the outputs of an agent.

    A structured result is the outputs; text, and a lone value that a server wrapped as `result`,
    is the `response`.
    """
    text = text_of(result)
    structured = result.structured_content
    if not isinstance(structured, Mapping):
        return {"response": text}
    try:
        outputs: dict[str, Any] = plain(structured, name)
    except ValueError as error:
        raise ToolException(
            f"The tool '{name}' returned data that cannot be stored: {error}."
        ) from error
    if size(outputs) > MOST_BYTES:
        raise ToolException(f"The tool '{name}' returned more than {MOST_BYTES} bytes.")
    lone = set(outputs) == {"result"} and not isinstance(outputs["result"], dict)
    return {**outputs, "response": text} if lone else outputs


def read_of(uri: str, contents: Iterable[Any]) -> str:
    """Return a resource as text."""
    text = "\n".join(_written(uri, content) for content in contents)
    if len(text) > MOST_BYTES or len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise ToolException(f"The resource {uri} is larger than {MOST_BYTES} bytes.")
    return cleaned(text)


def _written(uri: str, content: Any) -> str:
    if hasattr(content, "text"):
        return str(content.text)
    kind = content.mime_type or "no known type"
    if not kind.startswith("text/"):
        raise ToolException(f"The resource {uri} is {kind}, not text.")
    try:
        return base64.b64decode(content.blob, validate=True).decode("utf-8", "replace")
    except ValueError:
        raise ToolException(f"The resource {uri} is not valid base64.") from None


def _words(block: Any) -> str:
    if block.type == "text":
        return str(block.text)
    if block.type == "resource":
        inner = block.resource
        return str(inner.text) if hasattr(inner, "text") else f"({inner.uri}: no text)"
    if block.type == "resource_link":
        return f"({block.uri})"
    return f"({block.type}: {block.mime_type})"
