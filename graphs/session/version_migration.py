"""Sessions of a version of a journey that is not used: where they would go on, or a refusal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from journeygraph.graphs.records.listing import LIVE, PageEnd, read_sessions
from journeygraph.graphs.session.session import StoredSession
from journeygraph.graphs.storage.sealing import Seal
from journeygraph.graphs.storage.statements import Row, thread_of
from journeygraph.graphs.storage.store import Store, open_store
from journeygraph.journeys import JourneyConfig, JourneySpec, NeedsMigrationError
from journeygraph.journeys.spec.capability_table import part
from journeygraph.journeys.spec.spec import REFUSED
from journeygraph.nodes.draft import migrated
from journeygraph.nodes.state.session import Position
from journeygraph.nodes.state.stack import Situation

_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class MigratedSession:
    """The effect of a version of a journey on a session of another version.

    Attributes:
        session_id: The session; of another tenant than `default` as TENANT/SESSION.
        version: The version of the journey that the session belongs to.
        gone: Ids of its current and paused pathways that do not exist any more, the current one
            first.
        goes_to: The pathway in which it would continue.
        misfits: Names of fields with a new type.
    """

    session_id: str
    version: str
    gone: Sequence[str]
    goes_to: str
    misfits: Sequence[str]


async def migrated_sessions(
    spec: JourneySpec, config: JourneyConfig
) -> AsyncIterator[MigratedSession]:
    """Yield the effect of a journey on each of its live sessions, of all tenants.

    Args:
        spec: The journey, in the new version.
        config: Settings with the store, and the keys of a sensitive journey.

    Raises:
        ConfigurationError: The address of the store is not valid.
        StateError: The store cannot be read, or was sealed with another key.
    """
    keys = config.encryption_keys if spec.sensitive else None
    whole = await open_store(config.persistence, keys, config.database_pool_size)
    try:
        for store in await whole.tenants():
            after: PageEnd | None = None
            while listed := await read_sessions(store, [spec.id], LIVE, after, _AT_ONCE):
                for session in listed:
                    if values := await _state(store, spec, session.session_id):
                        name = thread_of(store.tenant, session.session_id)
                        yield _migrated_session(spec, name, session.journey_version, values)
                after = listed[-1].place
    finally:
        await whole.close()


async def _state(store: Store, spec: JourneySpec, session_id: str) -> Mapping[str, Any] | None:
    """Return the state of a session; None if it was deleted in the meantime."""
    head = await store.head(session_id)
    if head is None:
        return None
    seal = store.seals.of(head) if spec.sensitive else Seal()
    found = await store.saver.state_in(head, seal)
    return found.checkpoint["channel_values"] if found else None


def _migrated_session(
    spec: JourneySpec, name: str, version: str, values: Mapping[str, Any]
) -> MigratedSession:
    position = migrated(spec, values["position"])
    gone, place = _gone(spec, position, values)
    finished = (position.get("talk") or {}).get("finished", [])
    found = part("upgrade").misfits(spec, values.get("fields", {}), finished)
    fields = [field.name for field in found]
    return MigratedSession(name, version, gone, place, fields)


def _gone(
    spec: JourneySpec, position: Position, values: Mapping[str, Any]
) -> tuple[list[str], str]:
    """Return the pathways of a position that a version does not have, and its pathway there."""
    moved = part("upgrade").safe_place(spec, Situation(position, values.get("context", {})))
    gone = [event["from"] for event in moved.audit] if moved else []
    return gone, (moved.position if moved else position)["pathway"]


async def refuse_without_migration(session: StoredSession, head: Row) -> None:
    """Refuse a session of another version, if this one would have to move it.

    Args:
        session: The session, opened with the version that is used.
        head: Its row.

    Raises:
        NeedsMigrationError: The journey has `__stranded__ = "refuse"`, and a pathway of the session
            does not exist in this version.
    """
    spec = session.spec
    if spec.stranded != REFUSED:
        return
    values = await session.values(head)
    gone, _ = _gone(spec, migrated(spec, values["position"]), values)
    if gone:
        raise NeedsMigrationError(
            f"Session '{session.session_id}' belongs to version '{head['journey_version']}' of the "
            f"journey '{spec.id}'. Version '{spec.version}' has no pathway "
            f"{' and no pathway '.join(map(repr, gone))} and refuses such sessions. Serve the "
            "version of the session too, or name the new pathway in `__migrations__`."
        )
