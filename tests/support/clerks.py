"""Agents and triggers that say plainly what happened to them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

# Otherwise the first test of a cold run imports LangGraph on its own five seconds.
import journeygraph.graphs.session.manager  # noqa: F401
from journeygraph import IntentTrigger, Journey

Agent = Callable[[dict[str, Any]], Any]

_NOTE = re.compile(r"(\w+)=([\w.-]+)")


def said(*patterns: str) -> IntentTrigger:
    """A trigger for these phrases alone, which no model is asked about."""
    return IntentTrigger(patterns=patterns, use_llm_fallback=False)


def clerk(place: str) -> Agent:
    """An agent that answers "place: message", and notes every name=value that it hears."""

    def answer(payload: dict[str, Any]) -> dict[str, Any]:
        noted = dict(_NOTE.findall(payload["message"]))
        return {**noted, "response": f"{place}: {payload['message']}"}

    return answer


def staff(journey: type[Journey], **others: Any) -> dict[str, Any]:
    """A clerk for every agent of a journey; others take the place of theirs."""
    return {**{name: clerk(name) for name in journey.spec.agents}, **others}


def gives(**outputs: Any) -> Agent:
    """An agent that always gives the same outputs, with a reply."""
    return lambda payload: {"response": "noted", **outputs}
