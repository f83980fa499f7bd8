"""Show the collected fields as a table: `/fields`."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from journeys import FieldAttemptEntry, FieldState, Journey
from journeys.locale import in_force
from nodes.services import setting_at
from nodes.state.form_state import field_named
from nodes.values import Setting
from nodes.values import shown as as_read
from server.cli.terminal.rendering import Listing, out, row, short

_HIDDEN = "(not shown)"
_OPEN = {"": "open", "invalid": "refused", "pending": "waits", "cleared": "emptied"}
"""Text for a field without a value, by its last attempt."""


async def show_fields(journey: Journey, name: str = "") -> None:
    """Show the current state of every field, or every attempt at one field.

    Raises:
        FieldNotFoundError: The journey collects no field of that name.
    """
    if name:
        await _show_attempts(journey, name)
        return
    view = await journey.fields()
    if not view.fields:
        out.print("This journey collects no fields.")
        return
    everything, setting = await journey.manager.attempts(), await _setting(journey)
    shown = Listing("", "field", "value", "status", "attempts", "refused values, and the reason")
    for field_name, state in view.fields.items():
        attempts = [attempt for attempt in everything if attempt.field == field_name]
        mark = "▸" if field_name == view.current_field else ""
        value = _readable(journey, setting, field_name, state.value)
        cells = (state.title, _value(value, hidden=state.hidden and state.is_collected))
        shown.add_row(*row(mark, *cells, _status(state), len(attempts), _refused(attempts)))
    out.print(shown)


async def _show_attempts(journey: Journey, name: str) -> None:
    attempts = await journey.attempts(name)
    if not attempts:
        out.print(f"{name} has no value yet.", markup=False)
        return
    shown = Listing("turn", "text of the user", "value", "status", "by", "why")
    setting = await _setting(journey)
    for attempt in attempts:
        said = _value(attempt.raw or None, hidden=attempt.hidden)
        value = _value(_readable(journey, setting, name, attempt.value), hidden=attempt.hidden)
        status, by = attempt.validation_status, attempt.source.replace("_", " ")
        shown.add_row(*row(attempt.turn, said, value, status, by, attempt.reason))
    out.print(shown)


async def _setting(journey: Journey) -> Setting:
    """Return the locale of a session, as far as it changes the display of values."""
    session = await journey.manager.restore()
    spec, place = journey.spec, session.current_pathway_id
    own = (spec.part_of(place) if place in spec.pathways else spec).locale
    return setting_at(datetime.now(UTC), in_force(own, session.locale, journey.config.locale))


def _readable(journey: Journey, setting: Setting, name: str, value: Any) -> str | None:
    """Return a value as users read it, which is shorter than the stored data."""
    if value is None:
        return None
    return as_read(field_named(journey.spec, name), value, setting)


def _value(value: Any, *, hidden: bool) -> str:
    if hidden:
        return _HIDDEN
    return "" if value is None else short(value)


def _status(state: FieldState) -> str:
    if not state.live:
        return "not used now"
    if state.is_collected:
        return "collected"
    if state.skipped:
        return "left open"
    return _OPEN[state.validity] if state.required else f"{_OPEN[state.validity]}, optional"


def _refused(attempts: list[FieldAttemptEntry]) -> str:
    refused = [attempt for attempt in attempts if attempt.validation_status == "invalid"]
    return "; ".join(
        attempt.reason if attempt.hidden else f"{short(attempt.raw)}: {attempt.reason}"
        for attempt in refused
    )
