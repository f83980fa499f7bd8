"""Free verdicts: conditions, patterns, and triggers of an author's own, judged without a model."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from journeys import (
    AlwaysTrigger,
    BaseTrigger,
    ConditionTrigger,
    IntentTrigger,
    JourneySpec,
    TransitionSpec,
)
from journeys.phrases.patterns import Matcher
from nodes.authored import contained
from nodes.commands import Verdict
from nodes.json_data import copied, words_of
from nodes.language import ready_to_read, refused_in
from nodes.state.session import Position
from nodes.steer import legal

if TYPE_CHECKING:
    from nodes.draft import TurnDraft
    from nodes.services import Services


async def free_verdicts(
    services: Services, position: Position, message: str, context: Mapping[str, Any]
) -> list[Verdict]:
    """Answer every question that needs no model.

    Conditions are judged wherever the session stands, so that being seen false arms them again.
    """
    answered = services.matcher.match(message)
    open_now = legal(services.spec, position)
    conditions = services.spec.conditions
    others = [t for t in open_now if _judges_itself(t.trigger)]
    intents = [t for t in open_now if t.id in answered and not _judges_itself(t.trigger)]
    # A judge gets a copy: what it does to the context must change nothing.
    context = copied(context) if conditions or others else {}
    verdicts = [await _evaluated(services, t, "condition", message, context) for t in conditions]
    verdicts = [
        _told(services.spec, position, *each) for each in zip(conditions, verdicts, strict=True)
    ]
    verdicts += [Verdict(t.id, True, "pattern", reason=f"said '{answered[t.id]}'") for t in intents]
    for transition in others:
        tier = "always" if isinstance(transition.trigger, AlwaysTrigger) else "own"
        verdicts.append(await _evaluated(services, transition, tier, message, context))
    return verdicts


async def wanted(
    verdicts: list[Verdict], message: str, services: Services, draft: TurnDraft
) -> list[Verdict]:
    """Return verdicts without patterns in a clause that says that their task is not wanted.

    Nothing is read where no pattern has matched.
    """
    said = {v.question for v in verdicts if v.tier == "pattern"}
    if not said:
        return verdicts
    language = draft.setting.language
    await ready_to_read(language)
    patterns = [
        (pattern, transition.id)
        for transition in services.spec.transitions
        if transition.id in said and isinstance(transition.trigger, IntentTrigger)
        for pattern in transition.trigger.patterns
    ]
    refused = refused_in(message, patterns, language)
    return [v for v in verdicts if v.tier != "pattern" or v.question not in refused]


def _told(
    spec: JourneySpec, position: Position, transition: TransitionSpec, verdict: Verdict
) -> Verdict:
    """Return a verdict; that another journey's condition raised, whose names are gone, is none."""
    active = spec.pathways[position["pathway"]].journey
    sources = [spec.pathways[id_].journey for id_ in transition.sources if id_ != "*"]
    return verdict if active in sources or not sources else replace(verdict, error="")


def _judges_itself(trigger: BaseTrigger) -> bool:
    """Whether it is an author's own, perhaps on the ground of an intent, or holds always."""
    by_pattern = type(trigger).evaluate is IntentTrigger.evaluate
    return not by_pattern and not isinstance(trigger, ConditionTrigger)


async def _evaluated(
    services: Services,
    transition: TransitionSpec,
    tier: str,
    message: str,
    context: Mapping[str, Any],
) -> Verdict:
    """Ask a trigger; one that raises, or takes longer than a pathway may, is false and says so."""
    try:
        async with asyncio.timeout(services.config.pathway_timeout_seconds):
            with contained():
                result = transition.trigger.evaluate(message, context)
                holds = bool(await result if inspect.isawaitable(result) else result)
    except Exception as error:
        return Verdict(transition.id, False, tier, error=words_of(error))
    reason = "became true" if isinstance(transition.trigger, ConditionTrigger) else tier
    return Verdict(transition.id, holds, tier, reason=reason)


def matcher_of(spec: JourneySpec) -> Matcher:
    """Return the matcher of a journey: every pattern of every intent."""
    return _matcher(
        tuple(
            (pattern, transition.id)
            for transition in spec.transitions
            if isinstance(transition.trigger, IntentTrigger)
            for pattern in transition.trigger.patterns
        )
    )


# By the patterns alone: a spec holds its pipelines, and these their agents.
@lru_cache(maxsize=256)
def _matcher(patterns: tuple[tuple[str, str], ...]) -> Matcher:
    return Matcher(patterns)
