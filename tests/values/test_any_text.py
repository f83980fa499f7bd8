"""Any text is a plain value or refused; a shown value can be read back."""

import contextlib
import json
from datetime import date, time
from time import thread_time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from journeygraph.journeys.declarations.fields import FIELD_TYPES, Field, Range
from journeygraph.nodes.json_data import plain
from journeygraph.nodes.values.checking import hint_of, shown
from journeygraph.nodes.values.finding import Scan
from journeygraph.nodes.values.reading import load, value_of
from journeygraph.nodes.values.setting import Setting, Unreadable
from tests.values.spellings import DE, ES, FR, GB, US

SETTINGS = (US, GB, DE, ES, FR, Setting(US.at, "IN"), Setting(US.at, "JP", "xx"))
_CHOICES = {"small": ["S", "little"], "large": ["L"]}
FIELDS = [
    *(Field("x", kind, choices=_CHOICES if kind == "enum" else ()) for kind in FIELD_TYPES),
    *(Field("x", "list", items=kind) for kind in FIELD_TYPES if kind not in ("list", "enum")),
    Field("born", "date", validators=[Range(most="today")]),
    Field("x", "time", validators=[Range("18:00", "02:00")]),
    Field("x", "money", currency="KWD", validators=[Range(1, 10)]),
]
_SAID = """
    4 12 3rd 1,234 1.234,5 -5 50% four zwölf dozen tomorrow morgen
    friday Fr. 3. Mai Nov 22. 11/22/2026
    2026-11-22 at um 7 7pm 19:30 halb acht past half to noon in 2 hours vor weeks ago not nicht no
    nein , , sorry and und or $ € EUR 5,- bucks cents lee@example.com +49 30 901820 (415) 555-2671
    my name is Lee van der Baker Street 12 I live small S the second one ?? ( [ \\ ½ ٤ 年 é İ ß ﬁ
    please bitte yes ja point minus a an
"""
_PIECES = st.sampled_from(_SAID.split())
TEXTS = st.one_of(st.text(max_size=60), st.lists(_PIECES, min_size=1, max_size=8).map(" ".join))
FLOODS = ("1,1,1,", "((((", "((1,", " ", "€1", "my name is ", "half past ", "not the ", "einund")


@pytest.fixture(autouse=True, scope="module")
def _loaded() -> None:
    load(FIELD_TYPES)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(text=TEXTS, field=st.sampled_from(FIELDS), setting=st.sampled_from(SETTINGS))
def test_any_text_is_a_plain_value_or_refused(text: str, field: Field, setting: Setting) -> None:
    for span in Scan(text, setting).found(field):
        assert text[span.start : span.end] == span.raw
        assert plain(span.value, "value") == span.value
    try:
        value = value_of(field, text, setting)
    except Unreadable:
        return
    assert json.loads(json.dumps(value)) == value
    assert plain(value, "value") == value
    assert isinstance(shown(field, value, setting), str)


def _round(kind: str, value: Any, setting: Setting) -> None:
    field = Field("x", kind)
    said = shown(field, value, setting)
    assert value_of(field, said, setting) == value, said


_SETTING = st.sampled_from(SETTINGS)
_DATES = st.dates(date(1900, 1, 1), date(2199, 12, 31))
_AMOUNTS = st.decimals(-(10**9), 10**9, places=2)
_NUMBERS = ("+14155552671", "+4930901820", "+442079460958", "+819012345678", "+39066982")


@given(day=_DATES, clock=st.times(), amount=_AMOUNTS, whole=st.integers(), setting=_SETTING)
def test_what_is_shown_is_read_as_the_same_value(
    day: date, clock: time, amount: Any, whole: int, setting: Setting
) -> None:
    hour = clock.replace(microsecond=0, second=clock.second if clock.minute % 2 else 0)
    written = hour.isoformat("seconds" if hour.second else "minutes")
    _round("date", day.isoformat(), setting)
    _round("time", written, setting)
    _round("datetime", f"{day}T{written}", setting)
    amount = amount or abs(amount)  # no amount is -0.00
    _round("money", {"amount": f"{amount:.2f}", "currency": "EUR"}, setting)
    _round("money", {"amount": f"{amount:.2f}", "currency": ""}, setting)
    _round("integer", max(-(2**62), min(2**62, whole)), setting)
    _round("number", float(amount), setting)
    for number in _NUMBERS:
        _round("phone", number, setting)
    _round("boolean", day.day > 15, setting)
    _round("list", ["a", "b"], setting)
    _round("list", [], setting)
    for name in ({"given": "Maria", "family": "Jansen"}, {"given": "Ana", "family": "Paz Luz"}):
        _round("full_name", name, setting)
    for kind, said in (("email", "maria@example.com"), ("name", "Maria Jansen"), ("text", "as is")):
        _round(kind, said, setting)
    _round("address", "12 Baker Street, London", setting)


def _is_read_before_long(field: Field, text: str) -> bool:
    began = thread_time()
    Scan(text, DE).found(field)
    with contextlib.suppress(Unreadable):
        assert plain(value_of(field, text, DE), "value") is not None
    return thread_time() - began < 0.3


def test_a_flood_of_one_kind_is_read_before_long() -> None:
    for flood in (*FLOODS, "und so ", "漢漢漢und so und so EUR "):
        text = (flood * 4096)[:4096]
        for field in FIELDS[: len(FIELD_TYPES)]:
            quick = (_is_read_before_long(field, text) for _ in range(3))
            assert any(quick), (flood, field)  # the first time, something may be loaded


def test_a_text_beyond_the_limit_is_refused_unread() -> None:
    with pytest.raises(Unreadable) as caught:
        value_of(Field("x"), "a" * 4097, US)

    assert (caught.value.text, caught.value.values) == ("too_many_characters", {"most": 4096})
    assert Scan("a@example.com " * 400, US).found(Field("x", "email")) == []


@pytest.mark.parametrize("value", [None, "", "old", 12, 1.5, True, [], ["a", 1], {}, {"a": [1]}])
def test_data_of_another_type_is_shown_too(value: Any) -> None:
    for field in FIELDS:
        for setting in SETTINGS:
            assert isinstance(shown(field, value, setting), str)
            assert isinstance(hint_of(field, setting), str)
