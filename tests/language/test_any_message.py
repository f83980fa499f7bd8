"""Reading any message never raises, and names only existing fields and options."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, given, settings

from journeygraph.nodes.commands import Choose, Clear, Correct, Deny, Explain, Fill
from journeygraph.nodes.language import Expected, read_message
from tests.language.desks import DESKS, ENGLISH, GERMAN, SPANISH, ear

KINDS = (
    "",
    "field",
    "summary",
    "correction",
    "return",
    "paused",
    "clarify",
    "restart",
    "change",
    "human",
    "unclaimed",
    "more",
    "something new",
)
VALUES: dict[str, Any] = {
    "money": {"amount": "50.00", "currency": "EUR"},
    "integer": 4,
    "number": 2.5,
    "boolean": True,
    "date": "2026-11-04",
    "time": "19:00",
}
WORDS = [
    "no",
    "yes",
    "not",
    "the",
    "first",
    "4",
    "50",
    "euros",
    "on",
    "Friday",
    "at",
    "7",
    "tomorrow,",
    "I",
    "meant",
    "John",
    "it",
    "is",
    "wrong",
    "change",
    "amount",
    "to",
    "date",
    "name",
    "and",
    "but",
    "is",
    "there",
    "a",
    "fee?",
    "stop",
    "forget",
    "everything",
    "why",
    "do",
    "you",
    "need",
    "that",
    "Maya",
    "one",
    "moment",
    "person",
    "please",
    "nicht",
    "sondern",
    "ändere",
    "den",
    "Betrag",
    "auf",
    "ja",
    "nein",
    "sí",
    "mejor",
    "perdón,",
    "cambia",
    "hora",
    "somos",
    "??",
    "👍",
    "-",
    "...",
    "(",
    "+44",
    "ada@example.com",
    "instead",
    "of",
    "12",
    "Main",
    "Street",
    "my",
    "cat",
    "make",
    "for",
    "six",
    "people",
    "\n",
    "3.",
    "½",
    "²",
    "٣",
]


@st.composite
def ears(draw: st.DrawFn) -> Expected:
    desk = list(draw(st.sampled_from(DESKS)))
    kind = draw(st.sampled_from(KINDS))
    at = draw(st.integers(0, len(desk)))
    return ear(
        kind,
        draw(st.sampled_from([*[field.name for field in desk], "nothing_like_it"])),
        fields=desk[at:],
        known={field.name: VALUES.get(field.type, "Lee Miller") for field in desk[:at]},
        options=draw(st.lists(st.text(max_size=12), max_size=4)),
        among=desk,
        setting=draw(st.sampled_from((ENGLISH, GERMAN, SPANISH))),
        tasks=("the transfer",),
    )


messages = st.one_of(
    st.text(max_size=200),
    st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join),
)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(messages, ears())
def test_only_known_fields_and_options_are_spoken_of(message: str, listening: Expected) -> None:
    heard = read_message(message, listening)
    opened = {field.name for field in listening.fields}
    known = {field.name for field in listening.correctable}
    options = {option["id"] for option in listening.options}
    for command in heard.commands:
        match command:
            case Fill():
                assert command.field in opened
                assert command.value.strip()
            case Correct() | Clear():
                assert command.field in known
            case Explain():
                assert command.field in {"", *opened, *known}
            case Choose():
                assert command.option in options
            case Deny():
                assert command.option in {"", *options}
    assert heard.certain or not heard.whole
    assert read_message(message, listening) == heard


def test_a_message_beyond_any_length_is_left_to_others() -> None:
    long = "stop " * 10_000
    heard = read_message(long, ear("field", "amount", fields=DESKS[0], among=DESKS[0]))
    assert heard.commands == []
    assert heard.unread == (long,)


def test_messages_made_to_be_slow_are_not() -> None:
    listening = ear(
        "summary", "x", fields=DESKS[1], known={"party_size": 4}, among=DESKS[1], options=("a b",)
    )
    for piece in ("no ", "not , ", "the ", "i want to ", "please ", "is ", "4 ", "a, ", "so "):
        for size in (10, 100, 4096 // len(piece)):
            assert read_message(piece * size, listening) is not None
