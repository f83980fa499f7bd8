"""Every value of a message is in an attempt at a field, or in the audit: none goes away unseen.

`STATE_MACHINE_EXAMPLES=500` hunts for longer, with new seeds.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from tests.support.properties import examples
from tests.understanding import assistants
from tests.understanding.assistants import SIX
from tests.understanding.rows import Row, Want, folded
from tests.understanding.session import Session, a_store

HUNTING = int(os.environ.get("STATE_MACHINE_EXAMPLES", "0"))
OPENERS = ("sorry,", "oh,", "actually", "wait,", "by the way,", "also", "I mean", "and then")
UNKNOWN = ("blorp", "zimbly quax", "the frumious one", "grobbling", "as he would")
JOINTS = (" ", ", ", ". ", " and ", " - ")
VALUES: Mapping[str, Sequence[tuple[str, str]]] = {
    "restaurant": [
        ("five people", "five"),
        ("for 8 guests", "8"),
        ("at 19:30", "19 30"),
        ("on 4 December", "4 december"),
        ("Monday", "monday"),
        ("on the terrace", "terrace"),
        ("Laura Bennett", "laura bennett"),
    ],
    "bank": [
        ("120 euros", "120"),
        ("85,50 EUR", "85 50"),
        ("to Megan Cole", "megan cole"),
        ("rent of May", "rent"),
    ],
    "clinic": [
        ("Helen Marsh", "helen marsh"),
        ("12 March 1984", "12 1984"),
        ("0113 496 0188", "0113 496 0188"),
        ("this week", "week"),
        ("a bad cough", "cough"),
    ],
    "hotel": [
        ("11 December", "11"),
        ("until 14 December", "14"),
        ("two rooms", "two"),
        ("three guests", "three"),
        ("tom@example.org", "tom example org"),
    ],
    "claim": [
        ("18 November 2026", "18"),
        ("14 Station Road, Leeds", "station road"),
        ("850 euros", "850"),
        ("KL-40812", "kl 40812"),
        ("a broken window", "window"),
    ],
    "telecom": [
        ("unlimited", "unlimited"),
        ("07400 900123", "07400 900123"),
        ("from 1 December", "1 december"),
    ],
}
"""Values of each assistant as users write them, each with the words that must not go away."""
KNOWN: Mapping[str, Mapping[str, Any]] = {
    "restaurant": {"party_size": 4, "date": "2026-11-27", "time": "20:00", "name": "Lee"},
    "bank": {"recipient": "Maya Lee", "amount": "40.00"},
    "clinic": {
        "full_name": "Ada Fox",
        "date_of_birth": "1999-11-05",
        "phone": "020 7946 0321",
        "reason": "knee pain",
        "urgency": "today",
    },
    "hotel": {
        "check_in": "2026-12-04",
        "check_out": "2026-12-07",
        "rooms": 1,
        "guests": 2,
        "breakfast": True,
        "email": "a@example.org",
    },
    "claim": {
        "accident_date": "2026-11-14",
        "place": "3 Mill Lane, Cambridge",
        "damage": "a dent",
        "injured": False,
        "amount": "300.00",
        "policy_number": "AB-12345",
    },
    "telecom": {"plan": "family", "phone": "020 7946 0321", "start": "2026-12-15"},
}


@st.composite
def messages(draw: st.DrawFn, assistant: str) -> tuple[str, str, list[str]]:
    """Draw what is asked, a message, and the words of its values."""
    asked = draw(st.sampled_from([*assistants.field_names(assistant), "summary"]))
    values = draw(st.lists(st.sampled_from(VALUES[assistant]), min_size=1, max_size=3, unique=True))
    parts: list[str] = []
    for text, _ in values:
        parts += draw(st.lists(st.sampled_from((*OPENERS, *UNKNOWN)), max_size=2))
        parts.append(text)
    message = parts[0]
    for part in parts[1:]:
        message += (" " if message.endswith(",") else draw(st.sampled_from(JOINTS))) + part
    return asked, message, [word for _, words in values for word in words.split()]


@pytest.fixture(scope="module")
def store() -> Iterator[tuple[asyncio.Runner, str]]:
    """A store, and the loop that it belongs to."""
    with asyncio.Runner() as runner:
        opened = a_store()
        url = runner.run(opened.__aenter__())
        yield runner, url
        runner.run(opened.__aexit__(None, None, None))


@pytest.mark.parametrize("assistant", SIX)
@given(data=st.data())
@settings(
    max_examples=HUNTING or examples(25),
    derandomize=not HUNTING,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
def test_no_value_goes_away_unseen(
    store: tuple[asyncio.Runner, str], assistant: str, data: st.DataObject
) -> None:
    runner, url = store
    asked, message, words = data.draw(messages(assistant))

    seen = runner.run(words_seen(url, assistant, asked, message))

    assert set(words) <= seen, f"of {message!r} at {asked}: {sorted(set(words) - seen)}"


async def words_seen(url: str, assistant: str, asked: str, message: str) -> set[str]:
    """Return the words of a message that are in attempts at fields, or in the audit."""
    names = assistants.field_names(assistant)
    before = names[: names.index(asked)] if asked in names else names
    known = {name: value for name, value in KNOWN[assistant].items() if name in before}
    row = Row(1, assistant, known, asked, message, [Want(asks=True)], "", {})
    session = Session(row, "en", url)
    async with session.opened() as journey:
        assert not await session.reach(journey)
        turn = (await journey.process_message(message)).metadata["version"]
        attempts = [one for one in await journey.manager.attempts() if one.turn == turn]
        audit = [entry for entry in await journey.audit() if entry.turn == turn]
    texts = [one.raw for one in attempts] + [str(one.value) for one in attempts]
    return {word for text in [*texts, *(e.reason or "" for e in audit)] for word in folded(text)}
