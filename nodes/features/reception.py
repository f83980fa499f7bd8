"""Answer a message that starts no journey of a concierge: ask which one, say so, or talk freely."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from journeys import JourneySpec, ModelError
from journeys.reading.reader import journey_id
from nodes.journal import Usage
from nodes.llm.prompts import manner
from nodes.llm.replies import freeform
from nodes.payloads import GUIDELINES, given_in_turn
from nodes.services import Services
from nodes.state.secrets import without_secrets
from nodes.state.session import Output, PathwayState, Update
from nodes.texts import worded

_SENTENCE = re.compile(r"(?<=[.!?])\s")


async def receive(state: PathwayState, services: Services) -> Update:
    """Answer as the concierge is configured to."""
    outcome, texts = services.spec.otherwise, services.texts
    said, flags = texts.unsure, list[str]()
    if outcome == "ask":
        listed = offered(services.spec, state["turn"].get("near", []))
        said = worded(texts.which, journeys=listed)
    elif outcome == "freeform":
        said, flags = await _freely(state, services, said)
    given: dict[str, Any] = {"response": said}
    answer = Output(agent=outcome, place=0, wave=0, values=given, flags=flags, streamed=False)
    return {"results": [answer]}


def offered(spec: JourneySpec, near: Sequence[str]) -> str:
    """Return the journeys that a message can start, one a line; those that it is near to first."""
    started = [id_ for id_, part in spec.parts.items() if part.activation]
    ids = dict.fromkeys([*near, *started])
    return "".join(f"\n- {_offer(spec.parts[id_])}" for id_ in ids)


def _offer(part: JourneySpec) -> str:
    """Return a journey as users are told of it: its name, and the first sentence on what it is for.

    A class is named for its author; what its id says in words is for anybody.
    """
    is_class = journey_id(part.name) == part.id
    name = part.id.replace("_", " ").capitalize() if is_class else part.name
    purpose = _SENTENCE.split(" ".join(part.purpose.split()), maxsplit=1)[0]
    return f"{name}: {purpose}" if purpose else name


async def _freely(state: PathwayState, services: Services, otherwise: str) -> tuple[str, list[str]]:
    """Let a model answer; without one, or if it fails, say what is always said."""
    if services.models is None:
        return otherwise, ["model_not_configured"]
    usage = services.usage or Usage()
    spec, config = services.spec, services.config
    rules = given_in_turn(state, spec.entry).get(GUIDELINES, [])
    messages = without_secrets(spec, state)
    speaks = manner(spec.personality, services.locale_in(spec.entry).language)
    try:
        said = await freeform(
            config, services.models, usage, messages, spec, rules=rules, manner=speaks
        )
    except ModelError as failure:
        return otherwise, [f"freeform_failed:{failure.kind}"]
    return said, []
