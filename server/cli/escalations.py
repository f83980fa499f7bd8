"""`journeygraph escalations`: conversations that need a person, and the acts of an operator."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import typer

from journeygraph.graphs.records.listing import cursor_behind, number_of, paged
from journeygraph.graphs.session.directory import Directory
from journeygraph.graphs.session.manager import PathwayManager
from journeygraph.graphs.session.webhook import port_of
from journeygraph.journeys import (
    EscalationCase,
    EscalationEntry,
    Journey,
    JourneyConfig,
    Page,
    TranscriptEntry,
    taken_back,
)
from journeygraph.journeys.concierge import journey_class
from journeygraph.journeys.files.loading import read_journey_text
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
from journeygraph.server.discover.journeys import Found, example_ids, find
from journeygraph.server.settings import StorePlace

_HELD = "with_person"
_STATUSES = ("open", "claimed", "released", "expired")


@dataclass(frozen=True, slots=True)
class Acts:
    """Acts of an operator, in this order: claim, say, release."""

    by: str
    claim: bool
    say: str
    release: bool

    def __bool__(self) -> bool:
        return self.claim or bool(self.say) or self.release


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


def act(call: str, acts: Acts, journey: str, place: StorePlace, *, as_json: bool = False) -> None:
    """Run the acts of an operator in a conversation, and show it."""
    if not call:
        raise CommandError("Give the id of the escalation or of its session.", exit_code=2)
    config = place.config()
    case = asyncio.run(_acted(config, call, acts, journey) if acts else _one(config, call))
    write_json(asdict(case)) if as_json else _show(case)


def deliver(place: StorePlace, *, alone: bool = True, as_json: bool = False) -> None:
    """Send all undelivered events to the webhook."""
    if not alone:
        said = "--deliver sends the events of all escalations. Run it without an id or an act."
        raise CommandError(said, exit_code=2)
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


async def _acted(config: JourneyConfig, call: str, acts: Acts, journey: str) -> EscalationCase:
    entry = (await _one(config, call)).entry
    found = _named(journey, entry) if acts.release else None
    if acts.claim or acts.say or found is None:
        async with _operating(
            await _stand_in(config, entry), entry, config, agents={_HELD: _is_silent}
        ) as manager:
            if acts.claim:
                await manager.claim(acts.by, entry.id)
            if acts.say:
                await manager.operator_says(acts.say, acts.by, entry.id)
            if acts.release and found is None:
                await manager.release(acts.by, entry.id)
    if found:
        agents, tools = found.agents_for(config), found.checked_tools()
        async with _operating(
            found.journey, entry, config, agents=agents, tools=tools, model=found.model
        ) as manager:
            await manager.release(acts.by, entry.id)
    return await _one(config, entry.id)


@asynccontextmanager
async def _operating(
    journey: type[Journey],
    entry: EscalationEntry,
    config: JourneyConfig,
    *,
    agents: Mapping[str, Any],
    tools: Mapping[str, Any] | None = None,
    model: Any = None,
) -> AsyncIterator[PathwayManager]:
    manager = PathwayManager(
        journey, entry.session_id, config, agents=agents, tools=tools, model=model
    )
    try:
        yield manager
    finally:
        await manager.close()


def _named(journey: str, entry: EscalationEntry) -> Found | None:
    """Return the journey to continue: the one that was named, or the example of that id, if any.

    An id from a store is never imported as a module.
    """
    if journey or entry.journey_id in example_ids():
        return find(journey or entry.journey_id)
    return None


def _is_silent(_: Mapping[str, Any]) -> str:
    return ""


async def _stand_in(config: JourneyConfig, entry: EscalationEntry) -> type[Journey]:
    """Return a placeholder journey for actions that do not move the conversation.

    Released by it, the assistant asks what is open only after the user's next message. It has the
    id and the version of the session's own, and is sealed as that is.
    """
    directory = await Directory.open(config)
    try:
        version, is_sealed = await directory.journey_of(entry)
    finally:
        await directory.close()
    declared = {
        "id": entry.journey_id,
        "name": entry.journey_id,
        "version": version,
        "sensitive": is_sealed,
        "escalation": {"failures": 1},
        "states": {_HELD: {"kind": "chat", "action": "Wait for the operator."}},
    }
    spec = read_journey_text(json.dumps(declared), "escalation.json")
    return journey_class(spec)


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
