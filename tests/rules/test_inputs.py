"""Inputs of a session: messages of people, and values that fit the context."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from journeygraph import (
    ConfigurationError,
    ContextMergeError,
    ContextSizeExceededError,
    InvalidMessageError,
    Journey,
    JourneyConfig,
    MergeStrategy,
    Pathway,
)
from journeygraph.graphs.session.input import read, unanswerable
from journeygraph.journeys.texts import Texts
from tests.support.post_office import AGENTS, Parcel, echo, opened

Talk = Callable[..., Any]
LIMIT = 16 * 1024
TEXTS = Texts()


class Notes(Journey):
    """Keep notes."""

    class WritePath(Pathway):
        __agents__ = ["writer"]
        __accumulate__ = {
            "notes": MergeStrategy.APPEND,
            "other": MergeStrategy.APPEND,
            "blob": MergeStrategy.REPLACE,
        }
        __complete_when__ = ["never_given"]


def writes(**values: Any) -> dict[str, Any]:
    return {"writer": lambda payload: {"response": "noted", **values}}


def size(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


# ------------------------------------------------------------------ messages


@pytest.mark.parametrize("message", [None, 7, b"hello", ["hello"], {"text": "hello"}, True])
async def test_a_message_is_text(talk: Talk, memory_url: str, message: Any) -> None:
    call = await talk(Parcel, AGENTS, memory_url)

    with pytest.raises(InvalidMessageError, match=f"not {type(message).__name__}"):
        await call.says(message)
    stream = call.journey.stream_message(message)
    assert (await anext(stream)).type == "error"
    with pytest.raises(InvalidMessageError):
        await anext(stream)
    assert len(await call.journey.versions()) == 1


CONTROLS = [*range(9), 11, 12, *range(14, 32), *range(127, 160), 0xD800, 0xDBFF, 0xDC00, 0xDFFF]


@pytest.mark.parametrize("code", CONTROLS, ids=hex)
def test_a_broken_character_is_named_with_its_place(code: int) -> None:
    with pytest.raises(InvalidMessageError, match=rf"U\+{code:04X} at position 6") as error:
        read(f"secret{chr(code)}secret")
    assert "secret" not in str(error.value)


async def test_a_broken_message_reaches_nothing(talk: Talk, memory_url: str) -> None:
    heard: list[Any] = []

    async def listens(payload: dict[str, Any]) -> str:
        heard.append(payload)
        return "heard"

    agents = {**AGENTS, "address": listens}
    call = await talk(Parcel, agents, memory_url)
    for message in ("a\x00b", "\ud83d", "\udc00 how much", "\x1b[2J"):
        with pytest.raises(InvalidMessageError):
            await call.says(message)

    assert heard == []
    assert len(await call.journey.versions()) == 1
    assert await call.journey.audit() == []


WRITTEN = [
    "naïve 😀 👩‍👩‍👧",
    "\u202egnp.exe",
    "a\u200bb",
    "tab\tnew\nline\r\n",
    "e\u0301",
    "\ufeffbom",
    "𐀀\U0010ffff",
]


async def test_what_people_write_is_kept_as_it_is(talk: Talk, store_url: str) -> None:
    call = await talk(Parcel, {**AGENTS, "address": echo}, store_url)
    for message in WRITTEN:
        assert await call.says(message) == f"heard {message}"
    await call.restored()
    transcript = await call.journey.transcript()
    assert [entry.content for entry in transcript if entry.role == "user"] == WRITTEN
    assert await call.journey.snapshot() == {"heard": WRITTEN}


@settings(derandomize=True)
@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=30))
def test_any_text_is_read_as_it_is_or_refused(message: str) -> None:
    try:
        kept = read(message)
    except InvalidMessageError as error:
        refused = str(error)
        assert "U+" in refused
    else:
        assert kept == message
        kept.encode("utf-8")


@pytest.mark.parametrize("message", ["", " ", "\n\t ", "\u200b", "\u2060\ufeff\u00ad", "\u3000"])
async def test_nothing_to_read_is_asked_for_again(
    talk: Talk, memory_url: str, message: str
) -> None:
    call = await talk(Parcel, AGENTS, memory_url)
    await call.says("street=Main")
    before = await call.journey.get_session_state()

    assert await call.says(message) == TEXTS.empty

    assert call.last.pathway_id == "payment"
    assert not call.last.pathway_changed
    assert call.ran == []
    assert call.last.metadata["flags"] == ["empty_message"]
    assert call.last.metadata["version"] == 1
    assert await call.journey.get_session_state() == before


@pytest.mark.parametrize("char", ["a", "ü", "€", "😀"])
async def test_a_message_of_16_kb_is_read_and_one_byte_more_is_not(
    talk: Talk, store_url: str, char: str
) -> None:
    call = await talk(Parcel, {**AGENTS, "address": echo}, store_url)
    count, rest = divmod(LIMIT, len(char.encode()))
    longest = char * count + "b" * rest

    assert await call.says(longest) == f"heard {longest}"
    assert await call.says(longest + "b") == TEXTS.too_long
    assert call.last.metadata["flags"] == ["too_long_message"]
    assert await call.says(" " * (LIMIT + 1)) == TEXTS.too_long
    assert len(await call.journey.versions()) == 2
    assert unanswerable(char * (LIMIT + 1)) == "too_long"


# ------------------------------------------------------------------ the first context


@pytest.mark.parametrize("value", [[], "text", 7, [("a", 1)]])
async def test_a_first_context_is_a_dict(memory_url: str, value: Any) -> None:
    async with opened(memory_url) as parcel:
        with pytest.raises(ConfigurationError, match="initial_context must be a dict"):
            await parcel.start(value)


HOLDS_ITSELF: list[Any] = []
HOLDS_ITSELF.append(HOLDS_ITSELF)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"deep": HOLDS_ITSELF}, "nested deeper than 64"),
        ({7: "x"}, "initial_context has the key 7"),
        ({"a": {1: "x"}}, r"initial_context\.a has the key 1, which is not text"),
        ({"a": 2**63}, r"initial_context\.a is an integer of more than 64 bits"),
    ],
    ids=["holds itself", "a number as a name", "a number as a key", "65 bits"],
)
async def test_a_first_context_that_is_no_json_is_refused_with_the_path(
    memory_url: str, value: Any, said: str
) -> None:
    async with opened(memory_url) as parcel:
        with pytest.raises(ContextMergeError, match=said):
            await parcel.start(value)
        assert await parcel.get_session_state() is None


async def test_a_first_context_is_copied_and_made_plain(talk: Talk, memory_url: str) -> None:
    given_ = {"pair": (1, 2), "broken": "a\ud800b\x00c", "big": 2**63 - 1, "none": None}
    call = await talk(Parcel, AGENTS, memory_url, context=given_)
    given_["pair"] = ()
    await call.restored()

    context = await call.journey.snapshot()
    assert context["pair"] == [1, 2]
    assert context["broken"] == "a\ufffdb\ufffdc"
    assert context["big"] == 2**63 - 1


# ------------------------------------------------------------------ the size of the context


@pytest.mark.parametrize("char", ["a", "ü", "😀", '"'])
async def test_the_first_context_may_fill_the_limit_and_no_more(memory_url: str, char: str) -> None:
    """Counted in bytes of UTF-8 JSON, where a quote needs two."""
    each = size(char) - 2
    fixed = size({"blob": ""})
    limit = fixed + 300 * each
    fits = {"blob": char * 300}
    for more, allowed in ((-1, False), (0, True), (1, True)):
        async with opened(memory_url, f"s{more}", max_context_size_bytes=limit + more) as parcel:
            if allowed:
                await parcel.start(fits)
                assert await parcel.snapshot() == fits
                continue
            with pytest.raises(ContextSizeExceededError, match="'blob'") as error:
                await parcel.start(fits)
            assert (error.value.current_size, error.value.max_size) == (limit, limit - 1)
            assert await parcel.get_session_state() is None


@pytest.mark.parametrize(("more", "kept"), [(-1, True), (0, True), (1, False)])
async def test_a_turn_may_fill_one_megabyte_and_no_more(
    talk: Talk, store_url: str, more: int, kept: bool
) -> None:
    limit = 1024 * 1024
    blob = "x" * (limit + more - size({"known": "ä", "blob": ""}))
    call = await talk(Notes, writes(blob=blob), store_url, context={"known": "ä"})
    await call.says("hello")

    context = await call.journey.snapshot()
    if kept:
        assert size(context) == limit + more
        await call.restored()
        assert await call.journey.snapshot() == context
    else:
        assert context == {"known": "ä"}
        assert call.last.metadata["error"]["type"] == "ContextSizeExceededError"
        assert "'blob' (10485" in call.last.metadata["error"]["message"]
        assert call.last.message == TEXTS.apology
        assert [row.kind for row in await call.journey.versions()] == ["start", "failure"]


async def test_over_the_limit_fail_fast_raises_and_keeps_nothing(
    talk: Talk, memory_url: str
) -> None:
    options = {"max_context_size_bytes": 1000, "error_recovery": "fail_fast"}
    call = await talk(Notes, writes(blob="x" * 2000), memory_url, context={"a": 1}, **options)

    with pytest.raises(ContextSizeExceededError, match=r"limit of 1000 bytes.*'blob'.*prunable"):
        await call.says("hello")
    assert await call.journey.snapshot() == {"a": 1}
    assert len(await call.journey.versions()) == 1
    assert [row.trigger for row in await call.journey.audit()] == ["ContextSizeExceededError"]


async def test_prunable_lists_lose_their_oldest_entries_near_the_limit(
    talk: Talk, memory_url: str
) -> None:
    numbers = iter(range(1000))

    def note(payload: dict[str, Any]) -> dict[str, Any]:
        number = next(numbers)
        return {"response": "noted", "notes": [{"n": number, "text": "x" * 50}], "other": [number]}

    options = {"max_context_size_bytes": 2000, "prunable": ["notes"]}
    call = await talk(Notes, {"writer": note}, memory_url, **options)
    for number in range(60):
        await call.says("hello")
        notes = [item["n"] for item in call.context["notes"]]
        assert notes == list(range(number - len(notes) + 1, number + 1))
        assert size(call.context) <= 1800
        assert call.last.metadata["error"] is None

    assert call.context["other"] == list(range(60))
    assert 10 < len(call.context["notes"]) < 30
    pruned = [row for row in await call.journey.audit() if row.kind == "pruned"]
    assert pruned[0].reason == "oldest entries dropped: notes"
    history = await call.journey.context_history("notes")
    assert history[-1].value == call.context["notes"]
    assert {entry.pathway_id for entry in history} == {"write"}
    await call.restored()
    assert await call.journey.snapshot() == call.context


async def test_what_is_not_prunable_is_never_pruned(talk: Talk, memory_url: str) -> None:
    options = {"max_context_size_bytes": 1000, "prunable": ["notes", "missing", "blob"]}
    context = {"notes": ["x" * 100], "other": ["y" * 700], "blob": "z" * 50}
    call = await talk(Notes, writes(other=["y" * 300]), memory_url, context=context, **options)
    await call.says("hello")

    assert call.last.metadata["error"]["type"] == "ContextSizeExceededError"
    assert await call.journey.snapshot() == context


def test_the_limits_of_a_config_are_checked() -> None:
    wrong: list[dict[str, Any]] = [
        {"max_context_size_bytes": 0},
        {"max_context_size_bytes": 1.5},
        {"session_ttl_seconds": 0},
        {"session_ttl_seconds": float("nan")},
        {"keep_versions": 99},
        {"keep_versions": True},
        {"prunable": "notes"},
    ]
    for options in wrong:
        with pytest.raises(ConfigurationError, match=next(iter(options))):
            JourneyConfig(persistence="memory://", **options)
