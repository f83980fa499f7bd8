"""Read calls for a person: a page of them, or one with all that was said."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphs import escalation_statements as sql
from graphs.escalations import entry, place
from graphs.ledger import now, transcript_of, version_info
from graphs.sealing import seal_of
from graphs.statements import Row, Sql
from graphs.stores import Store
from journeys import EscalationCase, EscalationEntry, TranscriptEntry
from nodes.plain import stamp

MOST_ENTRIES = 200
"""Most entries of a transcript that a person is told: the last ones."""
MOST_CHARACTERS = 256 * 1024
"""Most characters of them."""
HIDDEN = "[hidden]"
"""Stands for what the user said where it brought a sensitive value."""
WAITING = ""
"""Status of a page of what waits for a person, or has one."""
_HELD = ("open", "claimed")
_LAST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Numbered:
    """A call for a person, and its place among all there were."""

    number: int
    entry: EscalationEntry


async def read_page(
    store: Store,
    journeys: Iterable[str] | None = None,
    *,
    status: str = WAITING,
    before: int | None = None,
    limit: int = 50,
) -> list[Numbered]:
    """Return calls for a person, newest first.

    Args:
        store: Where they are.
        journeys: Ids of journeys; None for all there are.
        status: open, claimed, released or expired; otherwise those that wait for a person or have
            one.
        before: Number of the last one of the page before.
        limit: Most of them.

    Raises:
        StateError: The store failed.
    """
    last = _LAST if before is None else before
    wanted = {"status_is": status, "now": stamp(now()), "before": last, "most": limit}
    if journeys is None:
        rows = await store.read(sql.OF_ALL, **wanted)
    else:
        rows = [
            row
            for journey in journeys
            for row in await store.read(sql.OF_JOURNEY, journey=journey, **wanted)
        ]
    newest = sorted(rows, key=lambda row: -row["number"])[:limit]
    return [Numbered(row["number"], entry(row)) for row in newest]


async def read_entry(store: Store, id_: str) -> EscalationEntry | None:
    """Return one call for a person, of a session that has not expired; None if there is none."""
    rows = await store.read(sql.ONE, id_is=id_, now=stamp(now()))
    return entry(rows[0]) if rows else None


async def read_case(store: Store, id_: str, key: bytes | None) -> EscalationCase | None:
    """Return one call with all that the person is told; None if there is none of this id.

    Raises:
        ConfigurationError: Its journey is sensitive, and there is no key.
        StateError: The store failed, or the key is another one.
    """
    rows = await store.read(sql.ONE, id_is=id_, now=stamp(now()))
    if not rows:
        return None
    [row] = rows
    found = entry(row)
    sealed = row["payload"]
    payload = json.loads(seal_of(sealed, key).open(sealed, place(found.session_id, found.id)))
    hidden = await _told_in(store, found.session_id, payload)
    until = await _said(store, sql.SAID_UNTIL, found, key, hidden)
    since = await _said(store, sql.SAID_SINCE, found, key, hidden)
    if found.status not in _HELD:
        since = [said for said in since if said.timestamp <= found.updated_at]
    return EscalationCase(found, payload, until, since)


async def _told_in(store: Store, session: str, payload: Mapping[str, Any]) -> frozenset[int]:
    """Return the turns in which the user spoke of what nobody else is shown."""
    told: set[int] = set()
    for field in payload["fields"]:
        if field["sensitive"]:
            rows = await store.read(sql.TOLD_IN, session=session, field_is=field["name"])
            told |= {row["turn"] for row in rows}
            told |= {attempt["turn"] for attempt in field["attempts"]}
    return frozenset(told)


async def _said(
    store: Store, query: Sql, found: EscalationEntry, key: bytes | None, hidden: frozenset[int]
) -> list[TranscriptEntry]:
    rows = await store.read(query, session=found.session_id, turn_is=found.turn, most=MOST_ENTRIES)
    versions = [_opened(row, key) for row in reversed(rows)]
    entries = [
        replace(said, content=HIDDEN) if said.role == "user" and said.turn in hidden else said
        for said in transcript_of(versions)
    ]
    return _last(entries)


def _opened(row: Row, key: bytes | None) -> Any:
    return version_info(row, seal_of(row["operations"], key), None)


def _last(entries: Sequence[TranscriptEntry]) -> list[TranscriptEntry]:
    """Return the last entries, as many as a person is told."""
    kept: list[TranscriptEntry] = []
    left = MOST_CHARACTERS
    for said in reversed(entries[-MOST_ENTRIES:]):
        left -= len(said.content)
        if left < 0:
            break
        kept.insert(0, said)
    return kept
