"""Spans of requests to models, and reports of breakers."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar

from journeygraph.nodes.telemetry.otel import measure, report
from journeygraph.nodes.telemetry.span import AGENT, OPERATION, Span, pathway_here

_MODEL, _PROVIDER = "gen_ai.request.model", "gen_ai.provider.name"
_PURPOSE, _TRY = "journeygraph.purpose", "journeygraph.try"
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


def breaker_changed(*, opened: bool, agent: str = "", model: str = "") -> None:
    """Report that an agent or a model failed so often that it is not called, or answers again.

    Args:
        opened: False: it answers again.
    """
    labels = {AGENT: agent.rpartition("/")[2], **pathway_here()} if agent else {_MODEL: model}
    who = {"agent": agent} if agent else {"model": model}
    measure("journeygraph.breaker.open", labels, int(opened))
    if not opened:
        report(logging.INFO, "breaker_closed", **who)
        return
    measure("journeygraph.breaker.opened", labels)
    report(logging.WARNING, "breaker_opened", **who)


class ModelSpan(Span):
    """One request to a model; trying again is another one."""

    is_client = True
    metric, labels = "gen_ai.client.operation.duration", (OPERATION, _PROVIDER, _MODEL)
    shown: ClassVar[Mapping[str, str]] = {
        _PURPOSE: "purpose",
        _TRY: "attempt",
        "gen_ai.usage.input_tokens": "input_tokens",
        "gen_ai.usage.output_tokens": "output_tokens",
        "gen_ai.usage.cache_read.input_tokens": "cached_tokens",
        "gen_ai.usage.reasoning.output_tokens": "reasoning_tokens",
    }

    def __init__(self, model: Any, name: str | None, *, purpose: str, number: int) -> None:
        """Make the span of a request.

        Args:
            model: The LangChain chat model.
            name: The model's name where it is not asked by its own.
            purpose: The purpose of the call, such as "understanding" or "answer".
            number: 1 for the first try.
        """
        asked = name or _own_name(model)
        attributes = {
            OPERATION: "chat",
            _PROVIDER: provider_of(model.__class__),
            **({_MODEL: asked} if asked else {}),
            "gen_ai.output.type": "json",
            _PURPOSE: purpose,
            _TRY: number,
        }
        super().__init__("model", f"chat {asked}".strip(), attributes)

    def answered(self, message: Any) -> None:
        """Record what came with an answer: its tokens, and why it ended."""
        usage: Mapping[str, Any] = message.usage_metadata or {}
        for kind in ("input", "output"):
            if isinstance(count := usage.get(f"{kind}_tokens"), int):
                self.attributes[f"gen_ai.usage.{kind}_tokens"] = count
        if cached := (usage.get("input_token_details") or {}).get("cache_read"):
            self.attributes["gen_ai.usage.cache_read.input_tokens"] = cached
        if thought := (usage.get("output_token_details") or {}).get("reasoning"):
            self.attributes["gen_ai.usage.reasoning.output_tokens"] = thought
        of_itself = message.response_metadata
        for attribute, key in (("response.model", "model_name"), ("response.id", "id")):
            if found := _name_in(of_itself.get(key)):
                self.attributes[f"gen_ai.{attribute}"] = found
        reason = _name_in(of_itself.get("finish_reason") or of_itself.get("stop_reason"))
        if reason:
            self.attributes["gen_ai.response.finish_reasons"] = [reason]

    def measure(self) -> None:
        """Take its time, and its tokens where they were counted."""
        super().measure()
        for kind in ("input", "output"):
            if (count := self.attributes.get(f"gen_ai.usage.{kind}_tokens")) is not None:
                labels = {**self.labelled(), "gen_ai.token.type": kind}
                measure("gen_ai.client.token.usage", labels, count)


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
