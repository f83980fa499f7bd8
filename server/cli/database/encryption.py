"""`journeygraph encryption`: the keys of sensitive sessions, and a new key for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from journeygraph.graphs.records.data_keys import (
    KeyState,
    KeyUse,
    drop_sessions,
    keys_in_use,
    rotate,
    sessions_by_key,
)
from journeygraph.graphs.storage.store import Store, open_store
from journeygraph.journeys.config import EncryptionKeys
from journeygraph.server.cli.terminal.rendering import listing, out, progress, row, write_json
from journeygraph.server.discover.errors import CommandError
from journeygraph.server.settings import Settings

_STATES = {
    KeyState.FIRST: "set, for new sessions",
    KeyState.SET: "set",
    KeyState.MISSING: "not set",
    KeyState.WRONG: "another key has this id",
}


def encryption(action: str, key: str | None, store: str | None, *, as_json: bool = False) -> None:
    """Show the keys of stored sessions, rotate them, or drop the sessions of a lost key."""
    asyncio.run(_done(action, key, store, as_json=as_json))


async def _done(action: str, key: str | None, url: str | None, *, as_json: bool) -> None:
    config = Settings().config(url)
    keys = config.encryption_keys
    if keys is None and action == "rotate":
        raise CommandError("JOURNEYGRAPH_ENCRYPTION_KEY is not set.", exit_code=2)
    store = await open_store(config.persistence, keys, config.database_pool_size)
    try:
        if action == "rotate":
            await _rotate(store, keys, quiet=as_json)
        elif key is not None:
            await _drop(store, key)
        uses, counts = await keys_in_use(store, store.seals), await sessions_by_key(store)
    finally:
        await store.close()
    (_write if as_json else _show)(_states(uses), counts)
    if faults := [use.fault for use in uses if use.fault]:
        raise CommandError("\n".join(faults))


async def _rotate(store: Store, keys: EncryptionKeys | None, *, quiet: bool) -> None:
    counts = await sessions_by_key(store)
    total = sum(counts.values()) - counts.get(keys.first[0] if keys else "", 0)
    with progress("Rotating", total, quiet=quiet) as step:
        faults = await rotate(store, lambda done: step(done=done))
    if faults:
        raise CommandError("\n".join(["Some sessions were left as they are.", *faults]))


async def _drop(store: Store, key: str) -> None:
    uses = await keys_in_use(store, store.seals)
    if key not in {use.key_id for use in uses}:
        raise CommandError(f"No stored session needs the key '{key}'.", exit_code=2)
    if not all(use.fault for use in uses if use.key_id == key):
        raise CommandError(
            f"The key '{key}' is set, so its sessions can be read. Remove it from "
            "JOURNEYGRAPH_ENCRYPTION_KEY first.",
            exit_code=2,
        )
    await drop_sessions(store, key)


def _states(uses: list[KeyUse]) -> dict[str, KeyState]:
    """Return the state of each key; the worst of it, if it differs between journeys."""
    order = list(KeyState)
    states: dict[str, KeyState] = {}
    for use in uses:
        states[use.key_id] = max(states.get(use.key_id, use.state), use.state, key=order.index)
    return states


def _show(states: Mapping[str, KeyState], counts: Mapping[str, int]) -> None:
    if not states:
        out.print("No stored session is encrypted.")
        return
    shown = listing("key", "sessions", "")
    for id_, state in states.items():
        shown.add_row(*row(id_, counts.get(id_, 0), _STATES[state]))
    out.print(shown)


def _write(states: Mapping[str, KeyState], counts: Mapping[str, int]) -> None:
    keys = [
        {"id": id_, "sessions": counts.get(id_, 0), "state": state.value}
        for id_, state in states.items()
    ]
    write_json({"keys": keys})
