"""Convert results of an MCP server to text for a model or outputs of an agent."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

from langchain_core.tools import ToolException

from nodes.json_data import cleaned, plain, size
from nodes.llm.mcp.connection import MOST_SAID
from nodes.llm.tools import shortened

MOST_BYTES = 1_000_000
"""Largest structured result and largest resource that are taken, in bytes of UTF-8."""


def text_of(result: Any) -> str:
    """Return the result of a tool as text, cut to what a model is shown.

    Raises:
        ToolException: The tool failed; in its own words.
    """
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

    Raises:
        ToolException: The tool failed, or gave back more than is taken.
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
    """Return a resource as text.

    Raises:
        ToolException: It is no text, or more than is taken.
    """
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
    """Return a block of a result as text; of what is no text, what it is."""
    if block.type == "text":
        return str(block.text)
    if block.type == "resource":
        inner = block.resource
        return str(inner.text) if hasattr(inner, "text") else f"({inner.uri}: no text)"
    if block.type == "resource_link":
        return f"({block.uri})"
    return f"({block.type}: {block.mime_type})"
