"""Guidelines that code decides: asked all at once, each within its time; what is late rests."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from journeys import GuidelineSpec, JourneyConfig, JourneySpec
from nodes.authored import contained
from nodes.guideline_breakers import breaker_of
from nodes.plain import copied

Answers = dict[str, tuple[GuidelineSpec, bool | Exception]]
"""By id, the guidelines with what their matchers said, or why they said nothing."""


class MatcherRestsError(RuntimeError):
    """A matcher was late too often of late, and is not asked for a while."""


async def by_code(
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
        breaker = breaker_of(spec, config, guideline.id)
        if not breaker.allows():
            return MatcherRestsError("it was late too often of late, and is not asked for a while")
        try:
            # A copy each: what one does to it, no other one sees.
            seconds = config.guideline_timeout_seconds
            holds = await _answer(guideline, message, copied(context), seconds)
        except TimeoutError as error:
            breaker.failed()
            return error
        except BaseException as error:
            breaker.abandoned()
            if isinstance(error, Exception):
                return error
            raise
        breaker.succeeded()
        return holds

    answers = await asyncio.gather(*map(ask, guidelines))
    pairs = zip(guidelines, answers, strict=True)
    return {guideline.id: (guideline, answer) for guideline, answer in pairs}


async def _answer(
    guideline: GuidelineSpec, message: str, context: Mapping[str, Any], seconds: float
) -> bool:
    assert guideline.when is not None
    async with asyncio.timeout(seconds):
        with contained():
            result = guideline.when(message, context)
            return bool(await result if inspect.isawaitable(result) else result)
