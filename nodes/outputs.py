"""What an agent gave back, as plain values of the declared types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from journeys.io_fields import SignatureSpec
from nodes.authored import FAILURES
from nodes.messages import text_of
from nodes.plain import plain


def outputs_of(result: Any) -> dict[str, Any]:
    """Return what an agent gave back as named values; None values are skipped.

    Raises:
        TypeError: It is neither a dict, text, a message, nor a model with fields.
        ValueError: Something in it is not JSON; the text names the path to it.
    """
    kept = {name: value for name, value in named(result).items() if value is not None}
    if not isinstance(kept.get("response", ""), (str, int, float)):
        kept["response"] = text_in(kept["response"])
    clean: dict[str, Any] = plain(kept, "outputs")
    return clean


def named(result: Any) -> Mapping[str, Any]:
    """Return what an agent gave back as a mapping; text and messages are its `response`."""
    if result is None:
        return {}
    if isinstance(result, str) or is_message(result):
        return {"response": text_in(result)}
    if hasattr(result, "model_dump"):
        result = result.model_dump(mode="json")
    if not isinstance(result, Mapping):
        raise TypeError(
            f"it returned {type(result).__name__}; return a dict, text or a message instead"
        )
    if result.get("messages") and "response" not in result:
        return {**result, "response": _reply_in(result["messages"]), "messages": None}
    return result


def is_message(value: Any) -> bool:
    """Say whether a value is a message of LangChain, or the plain dict of one."""
    if isinstance(value, Mapping):
        return {"role", "content"} <= value.keys() <= {"role", "content", "id", "name"}
    return hasattr(value, "content") and hasattr(value, "type")


def text_in(value: Any) -> str:
    """Return what a reply says: text, a message, or the content of one, which may be blocks."""
    if is_message(value):
        value = value["content"] if isinstance(value, Mapping) else value.content
    if isinstance(value, (str, list)):
        return text_of(value)
    raise TypeError(f"its response is of type {type(value).__name__}; give text or a message")


def _reply_in(messages: Sequence[Any]) -> str | None:
    """Return what was said last in answer to the user; None if nothing was."""
    for message in reversed(messages):
        given = message if isinstance(message, Mapping) else getattr(message, "__dict__", {})
        if "content" not in given:
            raise TypeError(f"its messages hold {type(message).__name__}; give messages or text")
        role = given.get("role") or given.get("type")
        if role in ("user", "human"):
            break
        if role in ("assistant", "ai", "AIMessageChunk") and (said := text_of(given["content"])):
            return said
    return None


def typed(signature: SignatureSpec | None, values: dict[str, Any]) -> dict[str, Any]:
    """Bring declared outputs into their types; what is not declared stays as it is.

    Raises:
        TypeError: An output is not of its type, or its type makes something of it that is not JSON.
    """
    declared = signature.outputs if signature else ()
    checked = dict(values)
    for field in declared:
        if field.name not in values:
            continue
        try:
            checked[field.name] = plain(field.validated(values[field.name]), field.name)
        except FAILURES as error:  # a type may bring validators of its own
            kind = getattr(field.annotation, "__name__", str(field.annotation))
            got = type(values[field.name]).__name__
            raise TypeError(f"output '{field.name}' must be {kind}, not {got}") from error
    return checked
