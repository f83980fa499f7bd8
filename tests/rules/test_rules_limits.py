"""Limits of a context, its values, and the result of concurrent turns and rollbacks.

DESIGN.md section 4, rows Size limit, Rollback, Stores, Function agents.
"""

from __future__ import annotations

import asyncio
import datetime
import json
import math
from typing import Any

import pytest

from journeygraph import (
    NEVER,
    ContextMergeError,
    ContextSizeExceededError,
    Journey,
    JourneyConfig,
    MergeStrategy,
    Pathway,
    ReturnToPrevious,
    SessionNotStartedError,
    Transition,
    VersionNotFoundError,
)
from tests.support.clerks import clerk, gives, said, staff

APOLOGY = "Sorry, something went wrong on our side. Nothing was lost; please try again."


class Library(Journey):
    """Keep a reading list."""

    class ShelfPath(Pathway):
        __agents__ = ["reader"]
        __accumulate__ = {"title": None, "notes": MergeStrategy.APPEND, "extra": None}
        __complete_when__ = NEVER

    class HoursPath(Pathway):
        __agents__ = ["hours"]
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(said("opening hours"), to_pathway="hours")]


def typist(payload: dict[str, Any]) -> dict[str, Any]:
    text = payload["message"]
    return json.loads(text) if text.startswith("{") else {"response": f"heard: {text}"}


async def reading(talk: Any, url: str, **config: Any) -> Any:
    return await talk(Library, {"reader": typist, "hours": clerk("hours")}, url, **config)


def bytes_of(context: Any) -> int:
    return len(json.dumps(context, ensure_ascii=False, separators=(",", ":")).encode())


# --- Size limit ---------------------------------------------------------------------------------


@pytest.mark.parametrize("title", ["x" * 40, "ü" * 40, "猫" * 20, '"\\' * 10])
async def test_the_size_is_counted_in_bytes_of_json_to_the_last_one(talk, memory_url, title):
    """Size limit: UTF-8 bytes of the canonical JSON."""
    exact = bytes_of({"title": title})
    fits = await reading(talk, memory_url, max_context_size_bytes=exact, session_id="fits")
    tight = await reading(talk, memory_url, max_context_size_bytes=exact - 1, session_id="tight")
    message = json.dumps({"title": title, "response": "noted"})

    assert await fits.says(message) == "noted"
    assert await tight.says(message) == APOLOGY
    error = tight.last.metadata["error"]
    assert error["type"] == "ContextSizeExceededError"
    assert str(exact) in error["message"]
    assert str(exact - 1) in error["message"]


async def test_a_context_too_large_changes_nothing_and_spoils_no_later_turn(talk, memory_url):
    """Size limit: checked before anything changes; in others every later turn fails too."""
    chat = await reading(talk, memory_url, max_context_size_bytes=60)
    await chat.says('{"title": "Emma", "response": "noted"}')

    assert await chat.says(json.dumps({"title": "E", "notes": "long" * 20})) == APOLOGY
    assert chat.context == await chat.journey.snapshot() == {"title": "Emma"}
    assert await chat.says('{"title": "Persuasion", "response": "noted"}') == "noted"
    assert chat.context == {"title": "Persuasion"}


async def test_the_error_names_the_largest_fields(talk, memory_url):
    """Size limit, near it: the error names the largest fields."""
    options = {"max_context_size_bytes": 100, "error_recovery": "fail_fast"}
    chat = await reading(talk, memory_url, context={"no": 1}, **options)
    await chat.says('{"title": "Emma", "notes": ["a"]}')

    with pytest.raises(ContextSizeExceededError, match="'extra'") as caught:
        await chat.says(json.dumps({"extra": "x" * 100}))

    assert caught.value.max_size == 100
    assert caught.value.current_size > 100
    assert list(caught.value.largest) == ["extra", "title", "notes"]
    assert await chat.journey.snapshot() == {"no": 1, "title": "Emma", "notes": ["a"]}


async def test_a_first_context_too_large_starts_nothing(talk, memory_url):
    """Size limit: also for the initial context."""
    journey = Library(
        "s-1",
        JourneyConfig(persistence=memory_url, max_context_size_bytes=30),
        agents={"reader": typist, "hours": typist},
    )
    async with journey:
        with pytest.raises(ContextSizeExceededError) as caught:
            await journey.start({"title": "x" * 30})
        with pytest.raises(SessionNotStartedError):
            await journey.process_message("hello")
        await journey.start({"title": "Emma"})

    assert (caught.value.current_size, caught.value.max_size) == (42, 30)


async def test_an_update_that_makes_the_context_too_large_fails_the_turn(talk, memory_url):
    """Size limit, with context_update: checked before anything changes."""

    class Copier(Library):
        __transitions__ = [
            Transition(said("copy"), to_pathway="shelf", context_update={"extra": "copy:title"})
        ]

    chat = await talk(
        Copier,
        {"reader": typist, "hours": typist},
        memory_url,
        context={"title": "x" * 40},
        max_context_size_bytes=80,
    )

    assert await chat.says("copy") == APOLOGY
    assert await chat.journey.snapshot() == {"title": "x" * 40}
    assert await chat.says("hello") == "heard: hello"


# --- Size limit: what is not JSON ---------------------------------------------------------------


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "path", "what"),
    [
        ({"when": datetime.date(2026, 5, 1)}, "title.when", "date"),
        ({"tags": [1, {2, 3}]}, "title.tags[1]", "set"),
        (b"bytes", "title", "bytes"),
        (object(), "title", "object"),
        (math.nan, "title", "nan"),
        ([math.inf], "title[0]", "inf"),
        ({1: "one"}, "title", "1"),
        (2**70, "title", "64 bits"),
        (nested(100), "title", "deeper"),
    ],
)
async def test_what_is_not_json_is_refused_with_the_path_to_it(talk, memory_url, value, path, what):
    """Size limit: non-JSON values (agents' outputs too) are refused with the path to them."""
    chat = await reading(talk, memory_url)
    chat.journey.register_agent("reader", gives(title=value))

    assert await chat.says("hello") == APOLOGY
    message = chat.last.metadata["error"]["message"]
    assert f"outputs.{path}" in message
    assert what in message
    assert await chat.journey.snapshot() == {}

    other = Library("s-2", JourneyConfig(persistence=memory_url), agents=chat.agents)
    async with other:
        with pytest.raises(ContextMergeError) as caught:
            await other.start({"title": value})
    assert f"initial_context.{path}" in str(caught.value)
    assert what in str(caught.value)


async def test_tuples_become_lists_and_text_is_kept_as_it_is(talk, memory_url):
    """Size limit: plain JSON."""
    chat = await reading(talk, memory_url)
    words = 'ä "quoted" \u2028 猫 🐈 \t\n'
    chat.journey.register_agent("reader", gives(title=words, extra=(1, (2.5, None), True)))
    await chat.says("hello")
    chat = await chat.restored()

    assert await chat.journey.snapshot() == {"title": words, "extra": [1, [2.5, None], True]}


# --- Function agents: nothing is shared ---------------------------------------------------------


async def test_agents_in_parallel_do_not_share_what_they_are_given(talk, memory_url):
    """Function agents, in parallel."""

    class Pair(Journey):
        class BothPath(Pathway):
            __agents__ = ["one", "two"]
            __pipeline__ = "parallel"

    async def adds(payload: dict[str, Any]) -> str:
        payload["context"]["list"].append("more")
        await asyncio.sleep(0.01)
        return str(len(payload["context"]["list"]))

    chat = await talk(Pair, {"one": adds, "two": adds}, memory_url, context={"list": []})

    assert await chat.says("go") == "1\n\n1"


async def test_what_is_given_and_what_is_shown_are_copies(talk, memory_url):
    """Function agents; the first context, replies, snapshots and sessions are not shared."""
    first = {"extra": {"tags": ["new"]}}
    kept = {"tags": ["kept"]}
    chat = await reading(talk, memory_url, context=first)
    first["extra"]["tags"].append("changed")
    chat.journey.register_agent("reader", lambda payload: {"title": kept})
    await chat.says("hello")
    kept["tags"].append("changed")
    chat.last.accumulated_context["extra"]["tags"].append("changed")
    session = await chat.journey.get_session_state()
    session.accumulated_context["extra"]["tags"].append("changed")

    assert await chat.journey.snapshot() == {
        "extra": {"tags": ["new"]},
        "title": {"tags": ["kept"]},
    }


# --- Rollback -----------------------------------------------------------------------------------


async def test_after_a_rollback_the_history_an_agent_sees_is_that_of_the_old_version(
    talk, memory_url
):
    """Rollback: the state equals version n's, the window of the talk with it."""
    seen = []

    def reader(payload: dict[str, Any]) -> str:
        seen.append([entry["content"] for entry in payload["history"]])
        return "yes"

    chat = await talk(Library, staff(Library, reader=reader), memory_url)
    await chat.says("one")
    await chat.says("two")
    await chat.journey.rollback(1)
    await chat.says("three")

    assert seen == [[], ["one", "yes"], ["one", "yes"]]
    transcript = await chat.journey.transcript()
    said_so_far = [entry.content for entry in transcript if entry.role != "rollback"]
    assert said_so_far == ["one", "yes", "two", "yes", "three", "yes"]


async def test_at_least_a_hundred_versions_can_be_gone_back_to(talk, memory_url):
    """Rollback: at least 100 versions are kept, and a pruned one is an error."""
    chat = await reading(talk, memory_url)
    for number in range(130):
        await chat.says(json.dumps({"title": str(number)}))

    with pytest.raises(VersionNotFoundError):
        await chat.journey.rollback(1)
    session = await chat.journey.rollback(31)
    assert session.accumulated_context == {"title": "30"}
    assert len(await chat.journey.versions()) == 132


# --- Stores: the turn lock ----------------------------------------------------------------------


async def test_the_talk_an_agent_sees_is_bounded_and_a_huge_message_is_refused(talk, memory_url):
    """Section 3: a window of forty messages; others carry and store the whole history."""
    seen = []

    def reader(payload: dict[str, Any]) -> str:
        seen.append(len(payload["history"]))
        return "yes"

    chat = await talk(Library, staff(Library, reader=reader), memory_url)
    for number in range(30):
        await chat.says(f"message {number}")
    assert max(seen) == 39
    assert len((await chat.journey.get_session_state()).conversation_history) == 40
    assert len(await chat.journey.transcript()) == 60

    assert "briefly" in await chat.says("x" * 5_000_000)
    assert len(seen) == 30
    assert len(await chat.journey.transcript()) == 60
