"""Validators of values, and the texts for refused values."""

import asyncio
import logging
import threading
from typing import Any

import pytest

from journeygraph.journeys.declarations.fields import Check, Field, Length, Range, Regex
from journeygraph.nodes.values.checking import hint_of, refusal_of, shown
from journeygraph.nodes.values.reading import value_of
from tests.values.spellings import DE, US


async def _refusal(field: Field, value: Any, context: dict[str, Any] | None = None) -> Any:
    """Return the text's name or the sentence, and the values in it."""
    refusal = await refusal_of(field, value, context or {}, US, seconds=0.1)
    return refusal and (refusal.text or refusal.sentence, refusal.values)


def _of(kind: str, *validators: Any, **more: Any) -> Field:
    return Field("x", kind, validators=validators, **more)


async def test_numbers_lie_in_their_range_with_both_ends() -> None:
    party = _of("integer", Range(1, 20))
    both = {"least": "1", "most": "20"}

    assert [await _refusal(party, n) for n in (1, 4, 20)] == [None, None, None]
    assert await _refusal(party, 0) == ("out_of_range", both)
    assert await _refusal(party, 1000) == ("out_of_range", both)
    assert await _refusal(_of("number", Range(0.5)), 0.4) == ("too_low", {"least": "0.5"})
    assert await _refusal(_of("integer", Range(most=5)), 6) == ("too_high", {"most": "5"})
    assert await _refusal(_of("integer", Range(1, message="One at least.")), 0) == (
        "One at least.",
        {"least": "1"},
    )


async def test_days_and_times_lie_in_their_range() -> None:
    coming = _of("date", Range("today", "2026-12-31"))
    dinner = _of("time", Range("18:00", "22:00"))
    night = _of("time", Range("20:00", "02:00"))
    moment = _of("datetime", Range("now", "today"))

    assert await _refusal(coming, "2026-11-24") is None
    assert await _refusal(coming, "2026-11-23") == (
        "out_of_range",
        {"least": "Tuesday, 24 November 2026", "most": "Thursday, 31 December 2026"},
    )
    assert await _refusal(dinner, "22:00") is None
    assert await _refusal(dinner, "22:01") == (
        "out_of_range",
        {"least": "6:00 pm", "most": "10:00 pm"},
    )
    assert [await _refusal(night, hour) for hour in ("23:00", "01:00")] == [None, None]
    assert (await _refusal(night, "12:00"))[0] == "out_of_range"
    assert await _refusal(moment, "2026-11-24T13:30") is None
    assert await _refusal(moment, "2026-11-24T23:59") is None
    assert (await _refusal(moment, "2026-11-24T13:29"))[0] == "out_of_range"
    assert (await _refusal(moment, "2026-11-25T00:00"))[0] == "out_of_range"


async def test_money_lies_in_its_range_by_the_amount() -> None:
    amount = _of("money", Range(1, 500), currency="EUR")

    assert await _refusal(amount, {"amount": "500.00", "currency": "USD"}) is None
    assert await _refusal(amount, {"amount": "500.01", "currency": "EUR"}) == (
        "out_of_range",
        {"least": "EUR 1.00", "most": "EUR 500.00"},
    )


async def test_a_pattern_matches_all_of_a_value() -> None:
    order = _of("text", Regex(r"[A-Z]{2}-\d{4}"))

    assert await _refusal(order, "AB-1234") is None
    assert await _refusal(order, "AB-12345") == ("not_matching", {})
    assert await _refusal(_of("text", Regex("a+", "Only a.")), "b") == ("Only a.", {})
    assert await _refusal(_of("integer", Regex(r"\d{4}")), 123) == ("not_matching", {})
    assert await _refusal(_of("list", Regex("a+")), ["a", "b"]) == ("not_matching", {})


async def test_texts_and_lists_have_their_length() -> None:
    bounds = {"least": 2, "most": 3}

    assert await _refusal(_of("text", Length(2, 3)), "ab") is None
    assert await _refusal(_of("text", Length(2, 3)), "a") == ("too_short", bounds)
    assert await _refusal(_of("text", Length(2, 3)), "abcd") == ("too_many_characters", bounds)
    assert await _refusal(_of("list", Length(2, 3)), ["a"]) == ("too_few", bounds)
    assert await _refusal(_of("list", Length(2, 3)), list("abcd")) == ("too_many_items", bounds)


async def test_the_first_validator_that_refuses_is_heard() -> None:
    asked = []
    field = _of("integer", Range(1), lambda value, context: asked.append(value), Range(most=5))

    assert await _refusal(field, 0) == ("too_low", {"least": "1"})
    assert asked == []
    assert await _refusal(field, 6) == ("too_high", {"most": "5"})
    assert asked == [6]


async def test_a_function_accepts_refuses_or_says_why() -> None:
    async def closed(value: Any, context: Any) -> Any:
        await asyncio.sleep(0)
        return None if value in context["open"] else f"We are closed on {value}."

    context = {"open": ["friday"]}
    assert await _refusal(_of("text", closed), "friday", context) is None
    assert await _refusal(_of("text", closed), "monday", context) == (
        "We are closed on monday.",
        {},
    )
    assert await _refusal(_of("text", lambda value, known: True), "x") is None
    assert await _refusal(_of("text", lambda value, known: False), "x") == ("refused_value", {})
    assert await _refusal(_of("text", Check(lambda value, known: False, "No.")), "x") == ("No.", {})


async def test_a_function_changes_neither_value_nor_context_and_holds_nobody_up() -> None:
    def meddle(value: Any, context: Any) -> None:
        value.append("b")
        context["known"]["x"] = threading.current_thread()

    value, context = ["a"], {"known": {"x": 1}}

    assert await _refusal(_of("list", meddle), value, context) is None
    assert (value, context) == (["a"], {"known": {"x": 1}})


@pytest.mark.parametrize("kind", ["late", "late in a thread", "raising"])
async def test_a_validator_that_fails_refuses_and_is_reported(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    released = threading.Event()

    async def late(value: Any, context: Any) -> None:
        await asyncio.sleep(60)

    def raising(value: Any, context: Any) -> None:
        raise ValueError(f"secret {value}")

    validators = {
        "late": late,
        "late in a thread": lambda value, context: released.wait(60),
        "raising": raising,
    }
    with caplog.at_level(logging.WARNING):
        refusal = await _refusal(_of("text", validators[kind]), "4711")
    released.set()

    assert refusal == ("refused_value", {})
    assert "check_failed" in caplog.text
    assert "4711" not in caplog.text


def test_hints_name_the_range_and_an_example_within_it() -> None:
    hints = [
        (_of("integer", Range(1, 20)), "1 to 20, for example 4"),
        (_of("integer", Range(50)), "50 or more, for example 100"),
        (_of("integer", Range(7000, 7001)), "7000 to 7001"),
        (_of("time", Range("18:00", "22:00")), "6:00 pm to 10:00 pm, for example 7:00 pm"),
        (_of("enum", choices=["small", "large"]), "small, large"),
        (_of("boolean"), "yes or no"),
        (
            _of("money", Range(1, 50), currency="EUR"),
            "EUR 1.00 to EUR 50.00, for example EUR 40.00",
        ),
    ]
    for field, expected in hints:
        assert hint_of(field, US) == expected
    assert hint_of(_of("text", Regex(r"\d{6}")), US) == ""  # "a few words" would be wrong
    assert hint_of(_of("integer", Range(1, 20)), DE) == "1 bis 20, zum Beispiel 4"
    assert hint_of(_of("date", Range("today")), DE) == (
        "ab Dienstag, 24. November 2026, zum Beispiel Mittwoch, 25. November 2026"
    )


def test_the_example_of_a_hint_is_a_value_of_the_field() -> None:
    for kind in (
        "integer",
        "number",
        "date",
        "time",
        "datetime",
        "money",
        "phone",
        "email",
        "name",
    ):
        for setting in (US, DE):
            field = Field("x", kind)
            example = hint_of(field, setting).removeprefix("for example ")
            example = example.removeprefix("zum Beispiel ")
            assert value_of(field, example, setting)


def test_values_are_shown_in_the_language_and_as_the_region_has_it() -> None:
    shown_so = [
        ("date", "2026-11-22", "Sunday, 22 November 2026", "Sonntag, 22. November 2026"),
        ("time", "19:00", "7:00 pm", "19:00 Uhr"),
        ("time", "00:30", "12:30 am", "00:30 Uhr"),
        ("datetime", "2026-11-22T19:00", "Sunday, 22 November 2026, 7:00 pm",
         "Sonntag, 22. November 2026, 19:00 Uhr"),
        ("money", {"amount": "40.00", "currency": "EUR"}, "EUR 40.00", "40,00 EUR"),
        ("money", {"amount": "1234.50", "currency": ""}, "1,234.50", "1.234,50"),
        ("phone", "+14155552671", "+1 415-555-2671", "+1 415-555-2671"),
        ("boolean", False, "no", "nein"),
        ("number", 1.5, "1.5", "1,5"),
        ("number", 4.0, "4", "4"),
        ("integer", 12345, "12345", "12345"),
        ("list", ["a", "b", "c"], "a, b and c", "a, b und c"),
        ("list", [], "none", "nichts"),
        ("text", "as it is", "as it is", "as it is"),
    ]  # fmt: skip
    for kind, value, english, german in shown_so:
        assert shown(Field("x", kind), value, US) == english
        assert shown(Field("x", kind), value, DE) == german
    nights = Field("x", "list", items="date")
    assert shown(nights, ["2026-11-22", "2026-11-23"], US) == (
        "Sunday, 22 November 2026; Monday, 23 November 2026"
    )
