"""Calls of language models: one try each, with what they cost in tokens."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from nodes.telemetry.activity import Activity
from nodes.telemetry.otel import measure

_OPERATION, _MODEL, _PROVIDER = (
    "gen_ai.operation.name",
    "gen_ai.request.model",
    "gen_ai.provider.name",
)
# LangChain's packages, and what the conventions call the providers that they talk to.
_PROVIDERS = {
    "anthropic": "anthropic",
    "aws": "aws.bedrock",
    "cohere": "cohere",
    "deepseek": "deepseek",
    "google_genai": "gcp.gemini",
    "google_vertexai": "gcp.vertex_ai",
    "groq": "groq",
    "ibm": "ibm.watsonx.ai",
    "mistralai": "mistral_ai",
    "openai": "openai",
    "perplexity": "perplexity",
    "xai": "x_ai",
}
# What a server says of itself is taken only where it can be nothing but a name.
_NAME = re.compile(r"[\w.:/@-]{1,128}", re.ASCII)


class ModelCall(Activity):
    """One request to a model; trying again is another one."""

    is_client = True

    def __init__(self, model: Any, name: str | None, *, purpose: str, number: int) -> None:
        """Open a call.

        Args:
            model: The LangChain chat model.
            name: The model's name where it is not asked by its own.
            purpose: What it is asked for, as "understanding" or "answer".
            number: 1 for the first try.
        """
        asked = name or _own_name(model)
        labels = {_OPERATION: "chat", _PROVIDER: provider_of(model.__class__)}
        self._labels = {**labels, _MODEL: asked} if asked else labels
        super().__init__(
            f"chat {asked}".strip(),
            {
                **self._labels,
                "gen_ai.output.type": "json",
                "journeygraph.purpose": purpose,
                "journeygraph.try": number,
            },
        )
        self._tokens: dict[str, int] = {}

    def streams(self) -> None:
        """Take note that the answer is asked for piece by piece."""
        self.found["gen_ai.request.stream"] = True

    def answered(self, message: Any) -> None:
        """Take note of what came with an answer: its tokens, and why it ended."""
        usage: Mapping[str, Any] = message.usage_metadata or {}
        self._tokens = {
            kind: count
            for kind in ("input", "output")
            if isinstance(count := usage.get(f"{kind}_tokens"), int)
        }
        told = {f"gen_ai.usage.{kind}_tokens": count for kind, count in self._tokens.items()}
        cached = (usage.get("input_token_details") or {}).get("cache_read")
        thought = (usage.get("output_token_details") or {}).get("reasoning")
        if cached:
            told["gen_ai.usage.cache_read.input_tokens"] = cached
        if thought:
            told["gen_ai.usage.reasoning.output_tokens"] = thought
        self.found.update(told)
        self._said_of_itself(message.response_metadata)

    def measured(self) -> None:
        """Take its time, and its tokens where they were counted."""
        self.took("gen_ai.client.operation.duration", self._labels)
        for kind, count in self._tokens.items():
            labels = {**self._labels, "gen_ai.token.type": kind}
            measure("gen_ai.client.token.usage", count, labels)

    def _said_of_itself(self, said: Mapping[str, Any]) -> None:
        for attribute, key in (("response.model", "model_name"), ("response.id", "id")):
            if name := _name_in(said.get(key)):
                self.found[f"gen_ai.{attribute}"] = name
        reason = _name_in(said.get("finish_reason") or said.get("stop_reason"))
        if reason:
            self.found["gen_ai.response.finish_reasons"] = [reason]


def _own_name(model: Any) -> str:
    name = getattr(model, "model_name", None) or getattr(model, "model", None)
    return name if isinstance(name, str) else ""


def _name_in(value: Any) -> str | None:
    return value if isinstance(value, str) and _NAME.fullmatch(value) else None


@lru_cache(maxsize=256)
def provider_of(kind: type) -> str:
    """Return the provider that a class of chat models talks to, as the conventions name it."""
    for base in kind.__mro__:
        package = base.__module__.partition(".")[0].removeprefix("langchain_")
        if package in _PROVIDERS and base.__module__.startswith("langchain_"):
            is_azure = package == "openai" and base.__name__.startswith("Azure")
            return "azure.ai.openai" if is_azure else _PROVIDERS[package]
    return kind.__module__.partition(".")[0]
