"""Reword the runtime's own texts in the journey's tone, never with another meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from journeygraph.journeys import GuidelineSpec, JourneySpec, ModelError
from journeygraph.nodes.capability import Capability
from journeygraph.nodes.journal import Usage
from journeygraph.nodes.json_data import now
from journeygraph.nodes.llm.call import limited, seconds_for, spent
from journeygraph.nodes.llm.prompts import manner
from journeygraph.nodes.llm.replies import worded_anew
from journeygraph.nodes.replies.scope import place_of
from journeygraph.nodes.replies.wording import broken, changed
from journeygraph.nodes.services import Services, setting_of
from journeygraph.nodes.state.form_state import current_value
from journeygraph.nodes.state.session import SessionState, Turn
from journeygraph.nodes.values.checking import shown

SECONDS = 5.0
"""Longest wait for other words; half of what is left of the turn's time, where that is less."""


class Rewording(Capability):
    """The texts of the runtime in the tone of a personality."""

    async def reword(self, state: SessionState, services: Services, turn: Turn) -> Turn:
        """Return the turn with its own texts in other words, as far as they say the same.

        It costs one call, and none where the runtime itself says nothing or its journey did not ask
        for it. Replies of an agent, of a model in the place of a text, and a greeting are not
        changed.
        """
        places, models = turn.get("worded", []), services.models
        if not places or models is None or turn["kind"] not in ("turn", "timer"):
            return turn
        place = place_of(turn)
        part = services.spec.part_of(place)
        if not part.personality.reword:
            return turn
        chat = models.named(part.model) if part.model else models.step(services.config.agent_model)
        texts = [turn["replies"][place] for place in places]
        begun = asyncio.get_running_loop().time()
        until = begun + _seconds(services, turn)
        chat = limited(chat, services.config, services.config.wording_max_tokens)
        try:
            said = await worded_anew(
                chat,
                manner(part.personality, services.locale_in(place).language),
                turn["message"] or "",
                texts,
                until,
                services.usage or Usage(),
            )
        except ModelError as failure:
            turn = {**turn, "flags": [*turn["flags"], f"rewording_failed:{failure.kind}"]}
            return spent(turn, begun)
        return _said(state, services, spent(turn, begun), dict(zip(places, said, strict=True)))


def _seconds(services: Services, turn: Turn) -> float:
    passed = (now() - datetime.fromisoformat(turn["at"])).total_seconds()
    left = services.config.turn_timeout_seconds - passed
    seconds = min(SECONDS, services.config.model_timeout_seconds, left / 2)
    return max(0.0, seconds_for(turn, services.config, seconds))


def _said(state: SessionState, services: Services, turn: Turn, said: Mapping[int, str]) -> Turn:
    """Put the new words where they say the same, and break no rule of the turn."""
    names = list(_names(state, services, turn))
    rules = list(_rules(services.spec, place_of(turn)))
    replies, flags = list(turn["replies"]), list(turn["flags"])
    for place, text in said.items():
        lost = changed(replies[place], text, names)
        if not lost and set(broken(text, rules)) - set(broken(replies[place], rules)):
            lost = "rules"
        if lost:
            flags.append(f"rewording_refused:{lost}")
        else:
            replies[place] = text
    return {**turn, "replies": replies, "flags": list(dict.fromkeys(flags))}


def _rules(spec: JourneySpec, pathway: str) -> Iterator[GuidelineSpec]:
    """Yield the guidelines that forbid words here, whether or not they hold in this turn."""
    journey = spec.part_of(pathway).id
    for rule in spec.guidelines:
        if rule.enabled and rule.forbids and rule.applies_in(pathway, journey):
            yield rule


def _names(state: SessionState, services: Services, turn: Turn) -> Iterator[str]:
    spec, setting = services.spec, setting_of(services, turn)
    yield spec.personality.name
    asked = state["position"].get("talk", {}).get("asked")
    for option in asked["options"] if asked else ():
        yield option["label"]
    for pathway in spec.pathways.values():
        yield pathway.title
        for field in pathway.form.fields if pathway.form else ():
            yield field.title
            yield from field.ways
            value: Any = current_value(state.get("fields", {}), field.name)
            if value is not None:
                yield shown(field, value, setting)
