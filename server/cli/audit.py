"""`journeygraph audit`: audits of conversations, and replies to review."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import asdict

from journeygraph.graphs.records.listing import cursor_behind, number_of, paged
from journeygraph.graphs.session.directory import Directory, Review, SessionAudit
from journeygraph.journeys import (
    AuditedTurn,
    AuditEntry,
    Candidate,
    CheckEntry,
    FieldAttemptEntry,
    Page,
    TurnDecision,
    TurnStep,
)
from journeygraph.server.cli.terminal.rendering import (
    listing,
    out,
    plain,
    row,
    short,
    show_next,
    write_json,
)
from journeygraph.server.discover.errors import CommandError
from journeygraph.server.settings import StorePlace

_LABELS = {
    "transition": "moved",
    "guideline": "guideline",
    "guideline_dropped": "dropped",
    "dropped": "dropped",
}


def audit(
    session: str,
    place: StorePlace,
    review: bool,
    limit: int,
    after: str | None,
    *,
    as_json: bool = False,
) -> None:
    """Show a session turn by turn, or the replies to review."""
    if bool(session) is review:
        both = ", not both" if review else ""
        raise CommandError(f"Give the id of a session, or --review{both}.", exit_code=2)
    if review:
        found = asyncio.run(_reviews(place, limit, after))
        if as_json:
            write_json({"reviews": [asdict(one.check) for one in found], "next": found.next})
        else:
            _show_reviews(found)
        return
    read = asyncio.run(_session(session, place, limit, after))
    write_json(asdict(read)) if as_json else _show(read)


async def _session(
    session_id: str, place: StorePlace, limit: int, after: str | None
) -> SessionAudit:
    directory = await _opened(place)
    try:
        read = await directory.audit(session_id, limit, after)
    finally:
        await directory.close()
    if read is None:
        raise CommandError(f"There is no session '{session_id}' in the store.")
    return read


async def _reviews(place: StorePlace, limit: int, after: str | None) -> Page[Review]:
    before = None if after is None else number_of(after)
    directory = await _opened(place)
    try:
        found = await directory.reviews(before=before, limit=limit + 1)
        return paged(found, limit, lambda review: cursor_behind(review.number))
    finally:
        await directory.close()


async def _opened(place: StorePlace) -> Directory:
    return await Directory.open(place.config())


def _show(read: SessionAudit) -> None:
    head = f"Session {read.session_id} of {read.journey_id}, {read.status}"
    out.print(plain(head), style="bold", markup=False)
    for audited in read.turns:
        turn = audited.turn
        title = f"\n{turn.version} · {turn.kind} · {turn.at} · in {turn.pathway_id}"
        out.print(plain(title), style="cyan", markup=False)
        shown = listing("", "")
        for label, text in _lines(audited):
            shown.add_row(*row(label, text))
        if shown.row_count:
            out.print(shown)
    show_next(read.next)


def _lines(audited: AuditedTurn) -> Iterator[tuple[str, str]]:
    turn = audited.turn
    if turn.message is not None:
        yield "user", turn.message
    yield from _decision(audited.decision)
    for event in audited.events:
        yield _LABELS.get(event.kind, event.kind.replace("_", " ")), _event(event)
    for attempt in audited.attempts:
        yield attempt.field, _attempt(attempt)
    for check in audited.checks:
        yield "checked", _check(check)
    if turn.flags:
        yield "flags", ", ".join(turn.flags)
    if turn.reply:
        yield "assistant", turn.reply
    yield from _steps(audited)


def _decision(decision: TurnDecision) -> Iterator[tuple[str, str]]:
    for candidate in decision.candidates:
        yield "considered", _candidate(candidate)
    if decision.commands:
        commands = (f"{one.command} {one.about}".strip() for one in decision.commands)
        yield "understood as", ", ".join(commands)
    if decision.denied:
        yield "rules denied", ", ".join(decision.denied)


def _steps(audited: AuditedTurn) -> Iterator[tuple[str, str]]:
    depths: dict[int | None, int] = {None: 0}
    for step in audited.steps:
        depth = depths[step.number] = depths[step.parent] + 1
        yield "step", f"{_time(step)}{'  ' * depth}{_step(step, audited.turn.reply)}"
    if audited.steps_dropped:
        yield "step", f"{audited.steps_dropped} more steps were not stored"


def _time(step: TurnStep) -> str:
    return f"{step.start_ms:>9.1f} {step.ms:>+9.1f} ms"


def _step(step: TurnStep, reply: str | None) -> str:
    parts = [f"{step.kind} {step.name}".strip()]
    parts += [known for known in (step.pattern, step.status, step.purpose) if known]
    if step.attempt and step.attempt > 1:
        parts.append(f"try {step.attempt}")
    if step.input_tokens is not None or step.output_tokens is not None:
        parts.append(f"{step.input_tokens or 0} + {step.output_tokens or 0} tokens")
    if step.outcome != "ok":
        parts.append(f"{step.outcome}: {step.error}" if step.error else step.outcome)
    if step.words and step.words != reply:
        parts.append(short(step.words, 200))
    return " · ".join(parts)


def _candidate(candidate: Candidate) -> str:
    answer = {None: "not judged", True: "yes", False: "no"}[candidate.holds]
    if candidate.fired:
        answer = "yes, fired"
    is_sure = candidate.confidence is None or candidate.tier not in ("model", "cache", "command")
    sure = "" if is_sure else f"confidence {candidate.confidence:g}"
    parts = (f"{candidate.intent} → {candidate.pathway}", answer, candidate.tier)
    return " · ".join(part for part in (*parts, sure, candidate.reason) if part)


def _event(event: AuditEntry) -> str:
    way = f"{event.from_pathway} → {event.to_pathway}" if event.to_pathway else ""
    sure = "" if event.confidence is None else f"confidence {event.confidence:g}"
    return " · ".join(part for part in (way, event.trigger, event.reason, sure) if part)


def _attempt(attempt: FieldAttemptEntry) -> str:
    said = "not shown" if attempt.hidden else short(attempt.raw, 500)
    parts = (attempt.validation_status, attempt.source.replace("_", " "), said, attempt.reason)
    return " · ".join(part for part in parts if part)


def _check(check: CheckEntry) -> str:
    parts = [check.outcome, "valid" if check.is_valid else "invalid"]
    if check.confidence is not None:
        parts.append(f"confidence {check.confidence:g}")
    if check.bypassed:
        parts.append("no model was able to check it")
    if check.review:
        parts.append("needs review")
    parts.append(f"{check.latency_ms:.0f} ms")
    return " · ".join([*parts, *check.violations])


def _show_reviews(found: Page[Review]) -> None:
    if not found:
        out.print("No reply needs a review.")
        return
    shown = listing("session", "turn", "when", "why")
    for one in found:
        check = one.check
        shown.add_row(*row(check.session_id, check.turn, check.at[:19], short(_check(check), 500)))
    out.print(shown)
    show_next(found.next)
