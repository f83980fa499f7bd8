"""Find the sessions that another version of a journey would not leave where they stand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphs.listing import LIVE, Place, read_sessions
from graphs.stores import Store, open_store
from journeys import JourneyConfig, JourneySpec
from nodes.draft import migrated
from nodes.moves import Standing
from nodes.upgrading import misfits, safe_place

_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class Stranding:
    """The effect of a version of a journey on a session of another version.

    Attributes:
        session_id: The session.
        gone: Ids of the pathways in which it stands or has paused, and that are gone: the present
            one first.
        goes_to: Where it would go on.
        misfits: Names of fields whose values are of another type now.
    """

    session_id: str
    gone: Sequence[str]
    goes_to: str
    misfits: Sequence[str]


async def strandings(spec: JourneySpec, config: JourneyConfig) -> AsyncIterator[Stranding]:
    """Yield what a journey would do to each session of its own that is not over.

    Args:
        spec: The journey, in the version that shall be served.
        config: Names the store, and the key of a sensitive journey.

    Raises:
        ConfigurationError: The store's address is none.
        StateError: The store cannot be read, or was sealed with another key.
    """
    key = config.encryption_key if spec.sensitive else None
    store = await open_store(config.persistence, key, config.database_pool_size)
    try:
        after: Place | None = None
        while listed := await read_sessions(store, [spec.id], LIVE, after, _AT_ONCE):
            for session in listed:
                values = await _state(store, session.session_id)
                if values:
                    yield _stranding(spec, session.session_id, values)
            after = listed[-1].place
    finally:
        await store.close()


async def _state(store: Store, session_id: str) -> Mapping[str, Any] | None:
    """Return the state of a session; None if it was deleted since it was listed."""
    head = await store.head(session_id)
    found = await store.saver.state_in(head) if head else None
    return found.checkpoint["channel_values"] if found else None


def _stranding(spec: JourneySpec, session_id: str, values: Mapping[str, Any]) -> Stranding:
    position = migrated(spec, values["position"])
    moved = safe_place(spec, Standing(position, values.get("context", {})))
    place = moved.position if moved else position
    gone = [event["from"] for event in moved.audit] if moved else []
    finished = (position.get("talk") or {}).get("finished", [])
    fields = misfits(spec, values.get("fields", {}), finished)
    return Stranding(session_id, gone, place["pathway"], [field.name for field in fields])
