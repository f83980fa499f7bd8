"""Declare an agent that is a model: its tools and its signature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from journeys.agents.signature import Signature


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAgent:
    """An agent that is a language model; registered under a name like any other agent.

    A pathway with a signature needs none where a model is configured: an agent that is not
    registered becomes one. This is for what such an agent lacks: tools, or a model of its own.

    Attributes:
        tools: What the model may call: typed functions (their name, docstring and parameters are
            shown to it; a sync one runs in a thread), tools of LangChain, or a `Tool` of either
            for an effect that the user confirms. Parameters marked `FromContext` are filled from
            the context. A pathway's `__tools__` may allow a part of them.
        model: Name of the model, or a LangChain chat model; None takes the journey's.
        signature: Its contract; None takes the pathway's.

    Source: ADR-025 sections 4 and 6.1.
    """

    tools: Sequence[Any] = ()
    model: Any = None
    signature: type[Signature] | Signature | None = None
