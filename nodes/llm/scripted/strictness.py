"""What OpenAI refuses with status 400, so that a request a test is happy with is not refused later.

Source: the API reference of chat completions, and the rules of structured outputs in strict mode.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NAMING = "its name may hold letters, digits, _ and -, 64 at most"


def refusals(body: dict[str, Any]) -> list[str]:
    """Return why the real server would refuse a request; nothing if it would take it.

    Args:
        body: The request.
    """
    return [*_of_messages(body["messages"]), *_of_tools(body), *_of_format(body)]


def _of_messages(messages: list[dict[str, Any]]) -> Iterator[str]:
    """A tool's result answers a call of the message before it, and every call is answered."""
    open_calls: set[str] = set()
    for place, message in enumerate(messages):
        where = f"messages[{place}]"
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in open_calls:
                yield f"{where}: a tool's result without a call of that tool before it"
            open_calls.discard(message.get("tool_call_id", ""))
            continue
        if open_calls:
            yield f"{where}: calls of tools before it have no result: {sorted(open_calls)}"
        open_calls = {call["id"] for call in message.get("tool_calls") or ()}
        if message.get("content") is None and not open_calls and not message.get("refusal"):
            yield f"{where}: the content is null"
    if open_calls:
        yield f"calls of tools have no result: {sorted(open_calls)}"


def _of_tools(body: dict[str, Any]) -> Iterator[str]:
    functions = [tool["function"] for tool in body.get("tools") or ()]
    for function in functions:
        name = function["name"]
        if not _NAME.fullmatch(name):
            yield f"tool {name!r}: {_NAMING}"
        if function.get("strict"):
            yield from _of_schema(function["parameters"], f"tool {name!r}")
    if body.get("tools") == []:
        yield "tools is an empty list"


def _of_format(body: dict[str, Any]) -> Iterator[str]:
    wanted = body.get("response_format") or {}
    if wanted.get("type") == "json_object" and "json" not in str(body["messages"]).lower():
        yield "response_format json_object: no message says the word json"
    if wanted.get("type") != "json_schema":
        return
    given = wanted["json_schema"]
    if not _NAME.fullmatch(given.get("name") or ""):
        yield f"schema {given.get('name')!r}: {_NAMING}"
    if given.get("strict"):
        schema = given["schema"]
        if schema.get("type") != "object" or "anyOf" in schema:
            yield "schema: its root is no object"
        yield from _of_schema(schema, "schema")


def _of_schema(schema: Any, where: str) -> Iterator[str]:
    """Strict mode: every object is closed, and all its properties are required."""
    if not isinstance(schema, dict):
        return
    if "properties" in schema or schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            yield f"{where}: additionalProperties has to be false"
        missing = set(schema.get("properties", ())) - set(schema.get("required", ()))
        if missing:
            yield f"{where}: required has to name every property, also {sorted(missing)}"
    for name, part in _parts(schema):
        yield from _of_schema(part, f"{where}.{name}")


def _parts(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the schemas inside a schema."""
    for group in ("properties", "$defs"):
        yield from schema.get(group, {}).items()
    yield from ((f"anyOf[{place}]", part) for place, part in enumerate(schema.get("anyOf", ())))
    yield "items", schema.get("items")
