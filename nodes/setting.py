"""When and where the user speaks, by the turn and the journey that is active."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from journeys import JourneyConfig, JourneySpec
from nodes.state import Turn
from nodes.values import Setting


def setting_of(spec: JourneySpec, config: JourneyConfig, turn: Turn) -> Setting:
    """Return when and where the user speaks."""
    at = datetime.fromisoformat(turn["at"]).astimezone(_zone(config.timezone))
    place = turn["run"] or turn["begun_in"]
    part = spec.part_of(place) if place in spec.pathways else spec
    return Setting(at, config.region, part.personality.language)


@lru_cache(maxsize=64)
def _zone(name: str) -> tzinfo:
    # A machine without a database of zones knows that one all the same.
    return UTC if name == "UTC" else ZoneInfo(name)
