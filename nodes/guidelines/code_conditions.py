"""Guidelines that code decides: asked all at once, each within its time; what is late rests."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from journeys import GuidelineSpec, JourneyConfig, JourneySpec
from nodes.authored import contained
from nodes.breaker import breaker_of
from nodes.json_data import copied

Answers = dict[str, tuple[GuidelineSpec, bool | Exception]]
"""By id, the guidelines with what their matchers said, or why they said nothing."""


async def evaluate_conditions(
    spec: JourneySpec,
    config: JourneyConfig,
    guidelines: Sequence[GuidelineSpec],
    message: str,
    context: Mapping[str, Any],
) -> Answers:
    """Ask the matchers of guidelines; one that is late counts as one that raised.

    One that is late again and again would cost every turn its time. What raises costs none, and
    may not raise for the next message: it is asked every time.

    Source: flow control, guideline timeout.
    """
    if not guidelines:
        return {}

    async def ask(guideline: GuidelineSpec) -> bool | Exception:
        what = ("matcher", spec.id, spec.version, guideline.id)
        breaker = breaker_of(what, config.breaker_failures, config.breaker_seconds)
        seconds = config.guideline_timeout_seconds
        try:
            with breaker.guarding(_was_late):
                # A copy each: what one does to it, no other one sees.
                return await _answer(guideline, message, copied(context), seconds)
        except Exception as error:
            return error

    answers = await asyncio.gather(*map(ask, guidelines))
    pairs = zip(guidelines, answers, strict=True)
    return {guideline.id: (guideline, answer) for guideline, answer in pairs}


def _was_late(error: BaseException) -> bool | None:
    return True if isinstance(error, TimeoutError) else None


async def _answer(
    guideline: GuidelineSpec, message: str, context: Mapping[str, Any], seconds: float
) -> bool:
    assert guideline.when is not None
    async with asyncio.timeout(seconds):
        with contained():
            result = guideline.when(message, context)
            return bool(await result if inspect.isawaitable(result) else result)
