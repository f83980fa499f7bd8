"""When and where the user speaks, by the turn, the session and the journey that is active."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from journeys.locale import Locale
from nodes.services import Services
from nodes.state import Turn
from nodes.values import Setting


def setting_of(services: Services, turn: Turn) -> Setting:
    """Return when and where the user speaks."""
    at = datetime.fromisoformat(turn["at"])
    return setting_at(at, services.locale_in(turn["run"] or turn["begun_in"]))


def setting_at(at: datetime, locale: Locale) -> Setting:
    """Return the setting of a moment, in a locale of which all is decided."""
    return Setting(
        at.astimezone(_zone(locale.timezone or "UTC")),
        locale.region or "US",
        locale.language or "en",
        locale.first_day or "",
        locale.date_order or "",
        locale.decimal_sign or "",
        locale.clock or "",
    )


@lru_cache(maxsize=64)
def _zone(name: str) -> tzinfo:
    # A machine without a database of zones knows that one all the same.
    return UTC if name == "UTC" else ZoneInfo(name)
