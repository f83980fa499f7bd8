"""`journeygraph escalations`: conversations that need a person."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import asdict
from typing import NamedTuple

import typer

from journeygraph.graphs.records.listing import cursor_behind, number_of, paged
from journeygraph.graphs.session.directory import Directory
from journeygraph.graphs.session.webhook import port_of
from journeygraph.journeys import (
    EscalationCase,
    EscalationEntry,
    JourneyConfig,
    Page,
    TranscriptEntry,
    taken_back,
)
from journeygraph.server.cli.terminal.rendering import (
    listing,
    out,
    plain,
    row,
    short,
    show_next,
    talk_row,
    write_json,
)
from journeygraph.server.discover.errors import CommandError
from journeygraph.server.settings import StorePlace

_STATUSES = ("open", "claimed", "released", "expired")


class _Sent(NamedTuple):
    accepted: int
    refused: int


def show_page(
    place: StorePlace, status: str, limit: int, after: str | None, *, as_json: bool = False
) -> None:
    """List escalations, newest first."""
    if status and status not in _STATUSES:
        raise CommandError(f"--status must be one of: {', '.join(_STATUSES)}.", exit_code=2)
    found = asyncio.run(_listed(place.config(), status, limit, after))
    if as_json:
        write_json({"escalations": [asdict(entry) for entry in found], "next": found.next})
    else:
        _show_list(found)


def show(call: str, place: StorePlace, *, as_json: bool = False) -> None:
    """Show one escalation, by its id or that of its session."""
    case = asyncio.run(_one(place.config(), call))
    write_json(asdict(case)) if as_json else _show(case)


def deliver(place: StorePlace, *, as_json: bool = False) -> None:
    """Send all undelivered events to the webhook."""
    sent = asyncio.run(_delivered(place.config()))
    if as_json:
        write_json(sent._asdict())
    else:
        out.print(f"The webhook accepted {sent.accepted} and refused {sent.refused}.")
    if sent.refused:
        raise typer.Exit(1)


async def _listed(
    config: JourneyConfig, status: str, limit: int, after: str | None
) -> Page[EscalationEntry]:
    before = None if after is None else number_of(after)
    directory = await Directory.open(config)
    try:
        found = await directory.escalations(status=status, before=before, limit=limit + 1)
    finally:
        await directory.close()
    page = paged(found, limit, lambda one: cursor_behind(one.number))
    return Page([one.entry for one in page], page.next)


async def _one(config: JourneyConfig, call: str) -> EscalationCase:
    directory = await Directory.open(config)
    try:
        case = await directory.escalation(call)
        if case is None and (id_ := await directory.last_escalation_of(call)):
            case = await directory.escalation(id_)
    finally:
        await directory.close()
    if case is None:
        raise CommandError(f"There is no escalation '{call}', and no session of this id has one.")
    return case


async def _delivered(config: JourneyConfig) -> _Sent:
    port = port_of(config)
    if port is None:
        raise CommandError(
            "No webhook is configured: set JOURNEYGRAPH_ESCALATION_WEBHOOK and "
            "JOURNEYGRAPH_ESCALATION_SECRET."
        )
    directory = await Directory.open(config)
    try:
        return _Sent(*await directory.escalation_sender(port).deliver_all())
    finally:
        await port.close()
        await directory.close()


def _show_list(found: Page[EscalationEntry]) -> None:
    if not found:
        out.print("There are no escalations.")
        return
    shown = listing("escalation", "session", "status", "by", "why", "since")
    for one in found:
        cells = (one.id, one.session_id, one.status, one.claimed_by or "", one.reason, one.at[:19])
        shown.add_row(*row(*cells))
    out.print(shown)
    show_next(found.next)


def _show(case: EscalationCase) -> None:
    entry, payload = case.entry, case.payload
    by = f" by {entry.claimed_by}" if entry.claimed_by else ""
    head = f"{entry.id} · session {entry.session_id} · {entry.status}{by} · {entry.reason}"
    out.print(plain(head), style="bold", markup=False)
    out.print(plain(payload["summary"]), markup=False)
    shown = listing("field", "value", "validity", "attempts")
    for field in payload["fields"]:
        value = "" if field["value"] is None else short(field["value"])
        cells = (field["label"], value, field["validity"], str(len(field["attempts"])))
        shown.add_row(*row(*cells))
    if shown.row_count:
        out.print(shown)
    paused = [frame["title"] for frame in payload["stack"]]
    place = " < ".join([payload["position"]["title"], *reversed(paused)])
    out.print(plain(f"Position: {place}."), markup=False)
    gone = taken_back([*case.transcript, *case.since])
    _show_talk(case.transcript, gone)
    if case.since:
        out.print("Since then:", style="dim")
        _show_talk(case.since, gone)


def _show_talk(entries: Iterable[TranscriptEntry], gone: Collection[int]) -> None:
    shown = listing("", "")
    for said in entries:
        shown.add_row(*talk_row("", said, gone)[1:])
    if shown.row_count:
        out.print(shown)
