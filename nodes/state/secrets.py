"""Redact values of sensitive fields from later copies of a conversation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from journeygraph.journeys import JourneySpec
from journeygraph.nodes.state.form_state import Attempts
from journeygraph.nodes.state.messages import Message

HIDDEN = "[hidden]"
"""Replaces a sensitive value in the user's messages."""
_SIGNS = re.compile(r"[\W_]+")
_BETWEEN = r"[\W_]*"


def secrets_in(spec: JourneySpec, fields: Attempts) -> Iterator[str]:
    """Yield words about sensitive fields, taken or not: the words, and the values in text."""
    forms = [pathway.form for pathway in spec.pathways.values() if pathway.form]
    for name in {field.name for form in forms for field in form.fields if field.sensitive}:
        for attempt in fields.get(name, ()):
            yield from filter(None, (attempt["raw"], str(attempt["value"] or "")))


def without_secrets(spec: JourneySpec, state: Mapping[str, Any]) -> list[Message]:
    """Return the messages of a state without the sensitive values that the user gave before.

    A value is found with any spaces and signs in it. The last message is not changed: it may
    bring one, and is judged as such.
    """
    messages: Sequence[Message] = state["messages"]
    fields = state.get("fields")
    said = sorted(set(secrets_in(spec, fields)), key=len, reverse=True) if fields else ()
    found = "|".join(filter(None, map(_pattern, said)))
    if not found:
        return list(messages)
    pattern = re.compile(rf"(?<!\w)(?:{found})(?!\w)", re.IGNORECASE)
    return [*(_covered(message, pattern) for message in messages[:-1]), *messages[-1:]]


def _pattern(secret: str) -> str:
    return _BETWEEN.join(map(re.escape, _SIGNS.sub("", secret)))


def _covered(message: Message, pattern: re.Pattern[str]) -> Message:
    if message["role"] != "user":
        return message
    return {**message, "content": pattern.sub(HIDDEN, message["content"])}
