"""Values of a context as users read them, for the sentences of authors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from journeys import JourneySpec
from nodes.state.form_state import field_named
from nodes.values import Setting, shown


def spoken(
    spec: JourneySpec, context: Mapping[str, Any], setting: Setting, hidden: str
) -> dict[str, Any]:
    """Return what is known: values of fields as users read them, all others as they are.

    Args:
        spec: The journey.
        context: What is known.
        setting: In which language, and by the habits of which country.
        hidden: Stands for a sensitive value.
    """
    return {
        name: _said(spec, name, value, setting, hidden)
        for name, value in context.items()
        if value is not None
    }


def _said(spec: JourneySpec, name: str, value: Any, setting: Setting, hidden: str) -> Any:
    try:
        field = field_named(spec, name)
    except KeyError:
        return value
    return hidden if field.sensitive else shown(field, value, setting)
