"""Definitions in the database: versions, loads that are whole or nothing, and who sees them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import pytest

from journeygraph import JourneyConfig, StateError
from journeygraph.graphs.records.definitions import (
    LARGEST,
    DefinitionDraft,
    Definitions,
    UnknownDefinitionError,
)
from journeygraph.graphs.storage.store import open_store

CLAIM = DefinitionDraft("journey", "claim", "claim.yaml", "id: claim\n")
HOURS = DefinitionDraft("journey", "hours", "hours.yaml", "id: hours\n", {"a.yaml": "id: a\n"})
MANNERS = DefinitionDraft("guidelines", "manners", "manners.yaml", "guidelines: []\n")
Opener = Callable[..., Any]


@pytest.fixture
async def handle(kept_url: str) -> AsyncIterator[Opener]:
    """Open handles on one database: `await handle(number)`; each has connections of its own."""
    async with AsyncExitStack() as stack:

        async def opened(number: int = 1, tenant: str = "default") -> Definitions:
            config = JourneyConfig(persistence=kept_url, database_pool_size=number)
            definitions = await Definitions.open(replace(config, tenant=tenant))
            stack.push_async_callback(definitions.close)
            return definitions

        yield opened


async def test_what_is_loaded_is_active_and_reads_back_as_it_was(handle: Opener) -> None:
    store = await handle()
    loaded = await store.load([HOURS, MANNERS, CLAIM])
    assert [(one.definition.id, one.definition.version, one.is_new) for one in loaded] == [
        ("hours", 1, True),
        ("manners", 1, True),
        ("claim", 1, True),
    ]
    active = await store.active()
    assert [one.id for one in active] == ["claim", "hours", "manners"]
    bodies = [DefinitionDraft.of(one, await store.body(one)) for one in active]
    assert bodies == [CLAIM, HOURS, MANNERS]


async def test_the_same_again_makes_no_version_and_no_epoch(handle: Opener) -> None:
    store = await handle()
    first = await store.load([CLAIM, HOURS])
    before = await store.epoch()
    again = await store.load([CLAIM, HOURS])
    assert [one.definition for one in again] == [one.definition for one in first]
    assert not any(one.is_new for one in again)
    assert await store.epoch() == before


async def test_a_change_of_one_is_a_version_of_that_one(handle: Opener) -> None:
    store = await handle()
    await store.load([CLAIM, HOURS])
    before = await store.epoch()
    changed = replace(CLAIM, text="id: claim\nname: New\n")
    loaded = await store.load([changed, HOURS])
    assert [(one.definition.version, one.is_new) for one in loaded] == [(2, True), (1, False)]
    assert (await store.epoch()).epoch == before.epoch + 1
    history = await store.history("claim")
    assert [(one.version, one.active) for one in history] == [(1, False), (2, True)]
    assert DefinitionDraft.of(history[0], await store.body(history[0])) == CLAIM
    assert DefinitionDraft.of(history[1], await store.body(history[1])) == changed


async def test_a_change_beside_a_file_is_a_change(handle: Opener) -> None:
    store = await handle()
    await store.load([HOURS])
    [loaded] = await store.load([replace(HOURS, beside={"a.yaml": "id: a\nname: New\n"})])
    assert (loaded.definition.version, loaded.is_new) == (2, True)


@pytest.mark.parametrize(
    ("second", "says"),
    [
        pytest.param(replace(HOURS, kind="guidelines"), "hours.yaml: 'hours' is a", id="kind"),
        pytest.param(replace(CLAIM, name="b.yaml"), "b.yaml and claim.yaml both", id="twice"),
        pytest.param(replace(MANNERS, text="x" * LARGEST), "manners.yaml has", id="too large"),
    ],
)
async def test_nothing_is_stored_if_one_of_several_cannot_be(
    handle: Opener, second: DefinitionDraft, says: str
) -> None:
    store = await handle()
    await store.load([HOURS])
    before = await store.epoch()
    with pytest.raises(StateError, match=says):
        await store.load([CLAIM, second])
    assert [one.id for one in await store.active()] == ["hours"]
    assert await store.history("claim") == []
    assert await store.epoch() == before


@pytest.mark.parametrize("kept_url", ["postgres"], indirect=True)
async def test_nothing_is_stored_if_the_database_refuses_one(handle: Opener) -> None:
    store = await handle()
    with pytest.raises(StateError, match="value too long"):
        await store.load([CLAIM, replace(MANNERS, id="m" * 201)])
    assert await store.active() == []
    assert await store.epoch() == (0, 0)


async def test_another_handle_sees_the_epoch_move(handle: Opener) -> None:
    one, other = await handle(1), await handle(2)
    assert await other.epoch() == (0, 0)
    await one.load([CLAIM])
    assert await other.epoch() == (1, 0)
    await one.invalidate()
    assert await other.epoch() == (2, 1)
    assert [definition.id for definition in await other.active()] == ["claim"]


async def test_loads_at_the_same_time_both_count(handle: Opener) -> None:
    handles = [await handle(number) for number in (1, 2, 3)]
    texts = [replace(CLAIM, text=f"id: claim\nname: N{number}\n") for number in range(3)]
    own = [replace(HOURS, id=f"hours_{number}") for number in range(3)]
    done = await asyncio.gather(
        *(store.load([text, one]) for store, text, one in zip(handles, texts, own, strict=True))
    )
    assert sorted(first.definition.version for first, _ in done) == [1, 2, 3]
    history = await handles[0].history("claim")
    assert [one.version for one in history] == [1, 2, 3]
    assert [one.active for one in history] == [False, False, True]
    assert [one.id for one in await handles[0].active()] == ["claim", *(o.id for o in own)]
    assert (await handles[0].epoch()).epoch == 3


async def test_what_is_retired_is_served_no_more_until_it_is_loaded_again(handle: Opener) -> None:
    store = await handle()
    await store.load([CLAIM, HOURS])
    await store.retire("claim")
    assert [one.id for one in await store.active()] == ["hours"]
    with pytest.raises(UnknownDefinitionError, match=r"'claim' is active\. Active: hours"):
        await store.retire("claim")
    [back] = await store.load([CLAIM])
    assert (back.definition.version, back.is_new, back.definition.active) == (2, True, True)


async def test_copies_of_one_are_made_void_by_hand(handle: Opener) -> None:
    store = await handle()
    await store.load([CLAIM, HOURS])
    await store.invalidate("hours")
    assert [(one.id, one.dropped) for one in await store.active()] == [("claim", 0), ("hours", 1)]
    assert await store.epoch() == (2, 0)
    with pytest.raises(UnknownDefinitionError, match="Did you mean 'hours'"):
        await store.invalidate("hour")


async def test_tenants_do_not_see_each_other(handle: Opener) -> None:
    ours, theirs = await handle(), await handle(tenant="acme")
    await ours.load([CLAIM])
    assert await theirs.active() == []
    assert await theirs.epoch() == (0, 0)
    [loaded] = await theirs.load([replace(CLAIM, text="id: claim\nname: Theirs\n")])
    assert loaded.definition.version == 1
    [kept] = await ours.active()
    assert DefinitionDraft.of(kept, await ours.body(kept)) == CLAIM


async def test_a_body_that_was_changed_by_hand_is_refused(handle: Opener, kept_url: str) -> None:
    store = await handle()
    [loaded] = await store.load([CLAIM])
    database = await open_store(kept_url, None, 1)
    saver: Any = database.saver
    change = "UPDATE definitions SET body = 'x'"
    if kept_url.startswith("sqlite"):
        saver.conn.execute(change)
        saver.conn.commit()
    else:
        async with saver._connections.connection() as connection:
            await connection.execute(change)
    await database.close()
    with pytest.raises(StateError, match="Version 1 of 'claim' was removed from the store or"):
        await store.body(loaded.definition)
