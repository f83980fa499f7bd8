"""Texts of authors, said with values as users read them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from journeys import JourneyConfig, JourneySpec
from journeys.saying import Saying
from nodes.forms.spoken import spoken
from nodes.speech import texts_of, worded
from nodes.values import Setting


def speaking(
    saying: Saying, spec: JourneySpec, config: JourneyConfig, pathway: str
) -> Callable[[Mapping[str, Any]], Awaitable[str]]:
    """Return an agent that says a text in a pathway."""
    part = spec.part_of(pathway)
    hidden = texts_of(part, config).hidden

    async def said(ask: Mapping[str, Any]) -> str:
        at = datetime.now(ZoneInfo(config.timezone))
        setting = Setting(at, config.region, part.personality.language)
        unknown = dict.fromkeys(saying.reads, "")
        return worded(saying.text, **unknown | spoken(part, ask["context"], setting, hidden))

    return said
