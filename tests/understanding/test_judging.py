"""The judge of the tables itself: what is right, asked, or wrong, shown and in silence."""

from __future__ import annotations

from typing import Any

import pytest

from tests.understanding.judging import ASKED, RIGHT, SHOWN, SILENT, Came, judged
from tests.understanding.rows import Row, same, want_of

FIELD, SUMMARY = ("field", "name"), ("summary", "book_table")
KNOWN = {"party_size": 4, "date": "2026-11-27"}


def outcome(want: Any, *, asked: str = "time", now: tuple[str, str] = FIELD, **came: Any) -> str:
    wants = [want_of(each) for each in (want, *want.get("or", ()))]
    row = Row(1, "restaurant", KNOWN, asked, "...", wants, "", {})
    after = {**KNOWN, **came.pop("after", {})}
    after = {name: value for name, value in after.items() if value is not None}
    does = {*came.pop("does", ())}
    return judged(
        row, Came(KNOWN, after, does, now, came.pop("reply", "In which name?"), **came)
    ).outcome


def test_what_was_wanted_is_right() -> None:
    wanted = {"set": {"time": "19:30"}}

    assert outcome(wanted, after={"time": "19:30"}) == RIGHT
    assert outcome({"does": ["cancel"]}, after=dict.fromkeys(KNOWN), does={"cancel"}) == RIGHT
    assert outcome({"ask": True}) == RIGHT
    assert outcome({"ask": True, "or": [wanted]}, after={"time": "19:30"}) == RIGHT


def test_what_is_asked_for_later_is_asked() -> None:
    wanted = {"set": {"time": "19:30", "name": "Lee"}}

    assert outcome(wanted, after={"time": "19:30"}) == ASKED
    assert outcome(wanted) == ASKED
    assert outcome({"does": ["human"]}) == ASKED


def test_a_value_that_nobody_gave_is_wrong_and_shown_only_where_the_reply_has_it() -> None:
    wanted = {"set": {"time": "19:30"}}
    shown = {"time": "8:00 pm"}

    assert outcome(wanted, after={"time": "20:00"}, shown=shown) == SILENT
    assert (
        outcome(wanted, after={"time": "20:00"}, shown=shown, reply="At 8:00 pm. The name?")
        == SHOWN
    )
    assert outcome({"ask": True}, after={"party_size": 5}) == SILENT
    assert outcome({"ask": True}, after={"party_size": None}) == SHOWN


def test_a_correction_that_goes_away_beside_an_answer_is_wrong_in_silence() -> None:
    wanted = {"set": {"time": "19:30", "party_size": 5}}

    assert outcome(wanted, after={"time": "19:30"}) == SILENT
    said = "I did not get five. In which name?"
    assert outcome(wanted, after={"time": "19:30"}, reply=said, unread=["five"]) == ASKED


def test_an_effect_that_nobody_wanted_is_wrong_whatever_is_shown() -> None:
    assert outcome({"ask": True}, asked="summary", does={"confirm"}, now=("", "")) == SILENT
    assert outcome({"ask": True}, asked="summary", does={"cancel"}, now=("more", "")) == SHOWN
    assert outcome({"ask": True}, asked="return", does={"confirm"}) == RIGHT


@pytest.mark.parametrize(
    ("kind", "wanted", "got"),
    [
        ("name", "Mr Graham Foster", "Graham Foster"),
        ("name", "Inés Cabrera", "ines cabrera"),
        ("phone", "07400 900512", "+447400900512"),
        ("money", "55.00", {"amount": "55", "currency": "EUR"}),
        ("list", ["nuts", "latex"], ["latex", "all nuts"]),
        ("text", "KL-40812", "kl40812"),
        ("text", "rear bumper dented", "The rear bumper is dented."),
        ("address", "14 Station Road, Leeds", "14 station road in Leeds"),
    ],
)
def test_values_compare_as_their_types_allow(kind: str, wanted: Any, got: Any) -> None:
    assert same(kind, wanted, got)


@pytest.mark.parametrize(
    ("kind", "wanted", "got"),
    [
        ("name", "Beth Wilson", "Beth"),
        ("phone", "07400 900512", "+447400900513"),
        ("money", "55.00", {"amount": "55", "currency": "CHF"}),
        ("list", ["nuts"], ["nuts", "latex"]),
        ("text", "KL-40812", "KL-40813"),
        ("text", "window table", "window table if possible, and actually make that seven people"),
        ("integer", 1, True),
    ],
)
def test_other_values_are_others(kind: str, wanted: Any, got: Any) -> None:
    assert not same(kind, wanted, got)
