"""What was asked of a scripted model: one request of the chat completions API, read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to a model, as a test wants to look at it.

    Attributes:
        number: 1 for the first call of a script.
        model: The model that was asked for.
        messages: The messages as they came: dicts with `role` and `content`.
        tools: Names of the tools offered.
        schema: The JSON schema that the answer has to follow, None for free text.
        schema_name: Its name, "" without one.
        stream: Whether the answer is wanted piece by piece.
        temperature: As given, None if not.
        authorized: Whether a key came along; the key itself is not kept.
        body: The whole request, for what has no attribute here.
    """

    number: int
    model: str
    messages: list[Json]
    tools: list[str]
    schema: Json | None
    schema_name: str
    stream: bool
    temperature: float | None
    authorized: bool
    body: Json = field(repr=False)

    @classmethod
    def read(cls, raw: bytes, *, number: int, authorized: bool) -> Self:
        """Read the body of a request.

        Raises:
            ValueError: It is no request for a chat completion.
        """
        body = json.loads(raw)
        if not isinstance(body, dict) or not isinstance(body.get("model"), str):
            raise ValueError("the request names no model")
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            raise ValueError("the request holds no messages")
        if not all(isinstance(message, dict) for message in messages):
            raise ValueError("a message of the request is no object")
        wanted = _schema(body)
        return cls(
            number=number,
            model=body["model"],
            messages=messages,
            tools=[tool["function"]["name"] for tool in body.get("tools") or ()],
            schema=wanted.get("schema"),
            schema_name=wanted.get("name", ""),
            stream=bool(body.get("stream")),
            temperature=body.get("temperature"),
            authorized=authorized,
            body=body,
        )

    @property
    def text(self) -> str:
        """All that the messages say, in one text, a line break between two."""
        return "\n".join(_said(message) for message in self.messages)

    @property
    def message(self) -> str:
        """What the last message of the user says, "" if there is none."""
        users = [message for message in self.messages if message.get("role") == "user"]
        return _said(users[-1]) if users else ""

    @property
    def wants_usage(self) -> bool:
        """Whether a stream has to end with the number of tokens."""
        options = self.body.get("stream_options")
        return isinstance(options, Mapping) and bool(options.get("include_usage"))


def _schema(body: Json) -> Json:
    wanted = body.get("response_format") or {}
    if wanted.get("type") != "json_schema":
        return {}
    schema: Json = wanted["json_schema"]
    return schema


def _said(message: Json) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
