"""What a scripted model says: text, JSON, tool calls, and how it falls into pieces."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self, TypeAlias

from pydantic import BaseModel

_WORDS = re.compile(r"\s*\S{1,8}|\s+")
_ARGUMENT_PIECE = 5  # characters of a tool's arguments in one piece of a stream


@dataclass(frozen=True, slots=True, init=False)
class UseTool:
    """A call of a tool: `UseTool("find_order", number="P-17")`.

    Attributes:
        name: Name of the tool; it is not checked against the tools that were offered.
        arguments: Its arguments as JSON text.
    """

    name: str
    arguments: str

    def __init__(self, name: str, /, **arguments: Any) -> None:
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "arguments", json.dumps(arguments, ensure_ascii=False))

    @classmethod
    def raw(cls, name: str, arguments: str) -> Self:
        """Return a call with arguments that are any text, also no JSON at all."""
        call = cls(name)
        object.__setattr__(call, "arguments", arguments)
        return call


Spoken: TypeAlias = str | Mapping[str, Any] | BaseModel | UseTool | Sequence[str | UseTool]
"""What a model may say: text, JSON, a tool call, or several (text before them if it says both)."""


@dataclass(frozen=True, slots=True)
class Speech:
    """One message of the assistant.

    Attributes:
        text: Its content; None is sent as null.
        tools: The tools it calls.
        refusal: Why the model declines, instead of a text.
        finish: The finish reason; None is sent as null, and not at all in a stream.
        tokens: Into how many pieces the text falls; None divides it into words.
    """

    text: str | None
    tools: tuple[UseTool, ...] = ()
    refusal: str | None = None
    finish: str | None = "stop"
    tokens: int | None = None

    @classmethod
    def of(cls, said: Spoken) -> Self:
        """Return what is said as a message.

        Raises:
            TypeError: It is nothing that can be said.
        """
        if isinstance(said, str):
            return cls(said)
        if isinstance(said, BaseModel):
            return cls(_json(said.model_dump(mode="json")))
        if isinstance(said, Mapping):
            return cls(_json(dict(said)))
        parts = [said] if isinstance(said, UseTool) else said
        if not isinstance(parts, (list, tuple)) or not parts:
            raise TypeError(f"{said!r} is no answer of a model")
        return cls._of_parts(parts)

    @classmethod
    def _of_parts(cls, parts: Sequence[str | UseTool]) -> Self:
        tools = tuple(part for part in parts if isinstance(part, UseTool))
        texts = [part for part in parts if isinstance(part, str)]
        if len(tools) + len(texts) != len(parts):
            raise TypeError(f"{parts!r} holds more than texts and calls of tools")
        text = "".join(texts) if texts else None
        return cls(text, tools, finish="tool_calls" if tools else "stop")

    def first(self, pieces: int) -> Self:
        """Return this message broken off after some pieces of its text."""
        return replace(self, text="".join(self.pieces()[:pieces]))

    def pieces(self) -> list[str]:
        """Return the text as the pieces of a stream; joined they are the text again."""
        text = self.text or ""
        if self.tokens is None:
            return _WORDS.findall(text)
        count = min(max(self.tokens, 1), len(text))
        edges = [len(text) * part // count for part in range(count + 1)] if count else []
        return [text[start:end] for start, end in pairwise(edges)]

    def words(self) -> int:
        """Return the number of words, which is what a scripted model counts as tokens."""
        said = (self.text, self.refusal, *(tool.arguments for tool in self.tools))
        return sum(len(text.split()) for text in said if text) + len(self.tools)


def argument_pieces(call: UseTool) -> Iterator[str]:
    """Yield the arguments of a tool call in the pieces of a stream."""
    for start in range(0, len(call.arguments), _ARGUMENT_PIECE):
        yield call.arguments[start : start + _ARGUMENT_PIECE]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
