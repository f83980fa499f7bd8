"""Texts of authors, said with values as users read them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from journeys import JourneyConfig, JourneySpec
from journeys.locale import Locale, in_force
from journeys.saying import Saying
from nodes.forms.spoken import spoken
from nodes.services import setting_at
from nodes.speech import texts_of, worded


def speaking(
    saying: Saying, spec: JourneySpec, config: JourneyConfig, pathway: str, session: Locale
) -> Callable[[Mapping[str, Any]], Awaitable[str]]:
    """Return an agent that says a text in a pathway, to a session that brought a locale."""
    part = spec.part_of(pathway)
    hidden = texts_of(part, config, session).hidden

    async def said(ask: Mapping[str, Any]) -> str:
        locale = in_force(part.locale, session, config.locale)
        setting = setting_at(datetime.now(UTC), locale)
        unknown = dict.fromkeys(saying.reads, "")
        return worded(saying.text, **unknown | spoken(part, ask["context"], setting, hidden))

    return said
