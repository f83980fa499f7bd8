"""`journeygraph escalations`: conversations that a person was called into, and what to do there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from journeys import EscalationCase, EscalationEntry, JourneyConfig, Page, TranscriptEntry
from server.cli.edge import CommandError
from server.cli.finding import find
from server.cli.rendering import out, plain, row, short, show_next, table
from server.cli.talk import Talk
from server.settings import Settings

if TYPE_CHECKING:
    from graphs.directory import Directory

_STATUSES = ("open", "claimed", "released", "expired")


@dataclass(frozen=True, slots=True)
class _Acts:
    """What an operator does, in this order: claim, say, release."""

    by: str
    claim: bool
    say: str
    release: bool

    def __bool__(self) -> bool:
        return self.claim or bool(self.say) or self.release


class _Sent(NamedTuple):
    taken: int
    refused: int


def escalations(
    call: Annotated[
        str, typer.Argument(help="Id of an escalation, or of its session.", show_default=False)
    ] = "",
    claim: Annotated[bool, typer.Option("--claim", help="Take the conversation.")] = False,
    say: Annotated[str, typer.Option(help="Say this to the user, as an operator.")] = "",
    release: Annotated[
        bool, typer.Option("--release", help="Give it back to the assistant.")
    ] = False,
    by: Annotated[str, typer.Option(help="Who you are, to other operators.")] = "operator",
    journey: Annotated[
        str, typer.Option(help="The journey, to act in it. Default: the example of that id.")
    ] = "",
    status: Annotated[
        str, typer.Option(help="open, claimed, released or expired. Default: open or claimed.")
    ] = "",
    deliver: Annotated[
        bool, typer.Option("--deliver", help="Send to the webhook what it has not taken yet.")
    ] = False,
    store: Annotated[
        str | None,
        typer.Option(help="Where they are: postgresql://... or sqlite:///FILE. Default: settings."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Write it as JSON.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Most of them in a list.")] = 200,
    after: Annotated[
        str | None, typer.Option(help="Go on where the list before ended.", show_default=False)
    ] = None,
) -> None:
    """List conversations that a person was called into; look into one, or answer in it.

    Without a name, list them, newest first. While a person has a conversation the assistant is
    silent in it. Of sensitive journeys the key must be set.
    """
    acts = _Acts(by, claim, say, release)
    if status and status not in _STATUSES:
        raise CommandError(f"--status is one of: {', '.join(_STATUSES)}.", exit_code=2)
    if acts and not call:
        raise CommandError("Name the escalation or its session to act in it.", exit_code=2)
    config = Settings().config(store)
    if deliver:
        _tell_sent(asyncio.run(_delivered(config)))
    elif not call:
        found = asyncio.run(_listed(config, status, limit, after))
        _write([asdict(entry) for entry in found]) if as_json else _show_list(found)
    else:
        case = asyncio.run(_acted(config, call, acts, journey) if acts else _one(config, call))
        _write(asdict(case)) if as_json else _show(case)


async def _opened(config: JourneyConfig) -> Directory:
    # The other commands start quicker without what is only needed here.
    from graphs.directory import Directory  # noqa: PLC0415

    return await Directory.open(config)


async def _listed(
    config: JourneyConfig, status: str, limit: int, after: str | None
) -> Page[EscalationEntry]:
    from graphs.listing import cursor_behind, number_of, paged  # noqa: PLC0415

    before = None if after is None else number_of(after)
    directory = await _opened(config)
    try:
        found = await directory.escalations(status=status, before=before, limit=limit + 1)
    finally:
        await directory.close()
    page = paged(found, limit, lambda one: cursor_behind(one.number))
    return Page([one.entry for one in page], page.next)


async def _one(config: JourneyConfig, call: str) -> EscalationCase:
    directory = await _opened(config)
    try:
        case = await directory.escalation(call)
        if case is None and (id_ := await directory.last_escalation_of(call)):
            case = await directory.escalation(id_)
    finally:
        await directory.close()
    if case is None:
        raise CommandError(f"Nobody was called into '{call}': there is no such escalation.")
    return case


async def _acted(config: JourneyConfig, call: str, acts: _Acts, journey: str) -> EscalationCase:
    entry = (await _one(config, call)).entry
    talk = Talk(find(journey or entry.journey_id), entry.session_id, config)
    manager = talk.journey.manager
    try:
        if acts.claim:
            await manager.claim(acts.by, entry.id)
        if acts.say:
            await manager.operator_says(acts.say, acts.by, entry.id)
        if acts.release:
            await manager.release(acts.by, entry.id)
    finally:
        await talk.close()
    return await _one(config, entry.id)


async def _delivered(config: JourneyConfig) -> _Sent:
    from graphs.webhook import port_of  # noqa: PLC0415

    port = port_of(config)
    if port is None:
        raise CommandError(
            "There is no webhook to send to: set JOURNEYGRAPH_ESCALATION_WEBHOOK and "
            "JOURNEYGRAPH_ESCALATION_SECRET."
        )
    directory = await _opened(config)
    try:
        return _Sent(*await directory.courier(port).deliver_all())
    finally:
        await port.close()
        await directory.close()


def _tell_sent(sent: _Sent) -> None:
    out.print(f"The webhook took {sent.taken}, and did not take {sent.refused}.")
    if sent.refused:
        raise typer.Exit(1)


def _write(value: Any) -> None:
    out.print(json.dumps(value, ensure_ascii=True, indent=2), markup=False, soft_wrap=True)


def _show_list(found: Page[EscalationEntry]) -> None:
    if not found:
        out.print("Nobody is called for.")
        return
    shown = table("escalation", "session", "status", "by", "why", "since")
    for one in found:
        cells = (one.id, one.session_id, one.status, one.claimed_by or "", one.reason, one.at[:19])
        shown.add_row(*row(*cells))
    out.print(shown)
    show_next(found.next)


def _show(case: EscalationCase) -> None:
    entry, payload = case.entry, case.payload
    by = f" by {entry.claimed_by}" if entry.claimed_by else ""
    head = f"{entry.id} · session {entry.session_id} · {entry.status}{by} · {entry.reason}"
    out.print(plain(head), style="bold", markup=False, soft_wrap=True)
    out.print(plain(payload["summary"]), markup=False, soft_wrap=True)
    shown = table("field", "value", "validity", "attempts")
    for field in payload["fields"]:
        value = "" if field["value"] is None else short(field["value"])
        cells = (field["label"], value, field["validity"], str(len(field["attempts"])))
        shown.add_row(*row(*cells))
    if shown.row_count:
        out.print(shown)
    paused = [frame["title"] for frame in payload["stack"]]
    place = " < ".join([payload["position"]["title"], *reversed(paused)])
    out.print(plain(f"It stands in {place}."), markup=False, soft_wrap=True)
    _show_talk(case.transcript)
    if case.since:
        out.print("Since then:", style="dim")
        _show_talk(case.since)


def _show_talk(entries: Iterable[TranscriptEntry]) -> None:
    shown = table("", "")
    for said in entries:
        shown.add_row(*row(said.role, said.content))
    if shown.row_count:
        out.print(shown)
