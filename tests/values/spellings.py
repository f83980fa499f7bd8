"""Tables of spellings: what each is read as, or that it is refused."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from journeygraph.journeys.declarations.fields import Field
from journeygraph.nodes.values.reading import value_of
from journeygraph.nodes.values.setting import Setting, Unreadable

REFUSED = "(refused)"
AT = datetime(2026, 11, 24, 13, 30, tzinfo=ZoneInfo("Europe/Berlin"))  # a Tuesday
US = Setting(AT)
GB = Setting(AT, "GB")
DE = Setting(AT, "DE", "de")
ES = Setting(AT, "ES", "es")
FR = Setting(AT, "FR", "fr")


def read(field: Field, raw: str, setting: Setting = US) -> Any:
    """Return what a text is read as."""
    try:
        return value_of(field, raw, setting)
    except Unreadable as refusal:
        return REFUSED if refusal.text == f"not_{field.type}" else refusal


def assert_read(field: Field, table: Mapping[str, Any], setting: Setting = US) -> None:
    """Fail with all rows of a table that are read otherwise."""
    read_as = {raw: read(field, raw, setting) for raw in table}
    wrong = [
        f"{raw!r}: {read_as[raw]!r}, not {expected!r}"
        for raw, expected in table.items()
        if read_as[raw] != expected or type(read_as[raw]) is not type(expected)
    ]
    assert not wrong, "\n".join(wrong)


def assert_refused(field: Field, texts: str, setting: Setting = US) -> None:
    """Fail with all texts, separated by bars, that are read."""
    assert_read(field, dict.fromkeys([text.strip() for text in texts.split("|")], REFUSED), setting)
