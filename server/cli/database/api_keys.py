"""`journeygraph keys`: the API keys of the database."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any

from journeygraph.graphs.storage.store import open_store
from journeygraph.journeys import ConfigurationError, JourneyConfig, Page
from journeygraph.server.access.keys import ApiKey, KeyRequest, NewKey, StoredKeys
from journeygraph.server.cli.terminal.rendering import err, listing, out, row, show_next, write_json
from journeygraph.server.settings import StorePlace

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_LIFE = re.compile(r"(\d{1,9})([smhd])")


def seconds_of(life: str) -> int:
    """Return a time such as "90d", "12h", "15m" or "30s" in seconds."""
    if match := _LIFE.fullmatch(life):
        return int(match[1]) * _SECONDS[match[2]]
    raise ConfigurationError(f"{life!r:.40} is not a time. Write a number and s, m, h or d: 90d.")


def create(wanted: KeyRequest, place: StorePlace, *, as_json: bool) -> None:
    """Make a key, and show it once."""
    _show_new(_done(place, lambda keys, tenant: keys.create(wanted, tenant)), as_json=as_json)


def rotate(key_id: str, overlap: str, place: StorePlace, *, as_json: bool) -> None:
    """Make a key like another one, which ends after a time, and show the new one once."""
    seconds = seconds_of(overlap)
    new = _done(place, lambda keys, tenant: keys.rotate(key_id, seconds, tenant))
    _show_new(new, as_json=as_json)
    if not as_json:
        _note(f"The key '{key_id}' ends in {overlap}.")


def revoke(key_id: str, place: StorePlace, *, as_json: bool) -> None:
    """End a key and its tokens, or a token."""
    key = _done(place, lambda keys, tenant: keys.revoke(key_id, tenant))
    if as_json:
        write_json({"key": _data(key)})
    else:
        what = "key" if key.made_by is None else "token"
        _say(f"The {what} '{key.shown}' is revoked. Servers refuse it within 5 seconds.")


def listed(place: StorePlace, limit: int, after: str, *, tokens: bool, as_json: bool) -> None:
    """List the keys of a tenant, and its tokens if they are asked for, without their secrets."""
    found: Page[ApiKey] = _done(
        place, lambda keys, tenant: keys.page(limit, after, tenant, tokens=tokens)
    )
    if as_json:
        write_json({"keys": [_data(key) for key in found], "next": found.next})
        return
    if not found:
        _say("There are no keys. Make one with: journeygraph keys create --scope talk")
        return
    of_tokens = ("session", "token of") if tokens else ()
    shown = listing("key", "name", "scopes", "user", "state", "ends at", *of_tokens)
    for key in found:
        ends = f"{key.expires_at[:19]}Z" if key.expires_at else None
        more = (key.session_id, key.maker) if tokens else ()
        shown.add_row(*row(key.shown, key.name, key.scopes, key.user_id, key.state, ends, *more))
    out.print(shown)
    show_next(found.next)


def _done(place: StorePlace, act: Callable[[StoredKeys, str], Awaitable[Any]]) -> Any:
    async def done() -> Any:
        config = place.config()
        async with _opened(config) as keys:
            return await act(keys, config.tenant)

    return asyncio.run(done())


@asynccontextmanager
async def _opened(config: JourneyConfig) -> AsyncIterator[StoredKeys]:
    if config.persistence.startswith("memory:"):
        raise ConfigurationError(
            "A store in memory ends with this command, and its keys with it. Name another store "
            "with --store."
        )
    store = await open_store(config.persistence, None, config.database_pool_size)
    try:
        yield StoredKeys(store)
    finally:
        await store.close()


def _show_new(new: NewKey, *, as_json: bool) -> None:
    """Write the secret to standard output, and all else to standard error."""
    if as_json:
        write_json({"secret": new.secret, "key": _data(new.key)})
        return
    out.raw(new.secret)
    ends = f", ends at {new.key.expires_at[:19]}Z" if new.key.expires_at else ""
    _note(f"Key {new.key.shown}: {new.key.scopes}{ends}. It is shown only now.")


def _data(key: ApiKey) -> dict[str, Any]:
    shown = {**asdict(key), "key": key.shown, "state": key.state, "made_by": key.maker}
    return {name: value for name, value in shown.items() if name != "digest"}


def _say(text: str) -> None:
    out.print(text, markup=False)


def _note(text: str) -> None:
    err.print(text, markup=False)
