"""Write the conversation of a stored session as a test, which passes at once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from journeygraph.graphs.records.effects import EFFECTS, OF_STEP
from journeygraph.graphs.session.directory import Directory, SessionAudit
from journeygraph.graphs.storage.sealing import Seal
from journeygraph.graphs.storage.statements import ALL_TURNS, TURNS, Row
from journeygraph.journeys import (
    AuditedTurn,
    AuditEntry,
    Journey,
    JourneyConfig,
    JourneySession,
    VersionInfo,
)
from journeygraph.journeys.definitions.value_types import time_in_words
from journeygraph.journeys.files.documents import plain_value
from journeygraph.nodes.llm.cassette import Cassette
from journeygraph.nodes.state.context import apply_ops
from journeygraph.nodes.state.session import PARTING
from journeygraph.server.conversations.conversation_files import (
    LoadedConversation,
    loaded_from,
    recording_of,
    write_recording,
)
from journeygraph.server.conversations.conversation_form import Turn
from journeygraph.server.conversations.expectations import ObservedState
from journeygraph.server.conversations.player import Game, play
from journeygraph.server.conversations.stubs import RecordedModel
from journeygraph.server.discover.errors import CommandError
from journeygraph.server.discover.journeys import FoundJourney

_STEP = timedelta(seconds=1)
_KEPT = ("turn", "event", "timer", "waiting", "operator", "release")
"""Kinds of turns that a conversation repeats."""
_ENDED = ("effect_done", "effect_failed", "effect_late")


@dataclass(frozen=True)
class Recorded:
    """A recorded conversation.

    Attributes:
        turns: Number of messages.
        notes: Values that the file does not compare, with the reasons.
        answers: The answers of the model, for a recording next to the file; None: it has none.
    """

    text: str
    turns: int
    notes: Sequence[str]
    answers: Sequence[Mapping[str, Any]] | None = None


def default_file(session_id: str) -> Path:
    """Return the file of a session in the current folder, whatever characters its id has."""
    return Path(re.sub(r"[^\w.@+-]", "_", session_id).lstrip(".") + ".conversation.yaml")


def write_recorded(recorded: Recorded, file: Path) -> None:
    """Write a recorded conversation to a file that is not there yet, and its recording.

    Raises:
        CommandError: It is there, or a key is among the answers.
    """
    if recorded.answers is not None and not file.exists():
        write_recording(recording_of(file), recorded.answers)
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(recorded.text)
    except FileExistsError:
        said = f"{file} exists already. Choose another file, or remove it."
        raise CommandError(said, exit_code=2) from None


async def record(
    found: FoundJourney,
    session_id: str,
    config: JourneyConfig,
    file: Path,
    cassette: Cassette | None = None,
) -> Recorded:
    """Return the conversation of a session as the text of a file.

    It is played on the journey: what comes of each turn is what the file expects. So nothing is
    expected that a test could not find again.

    Args:
        file: Path of the file, which need not exist.
        cassette: Has the answers of the model in this session, or records new ones; None: there
            are none, for a session stores no answers of models.

    Raises:
        CommandError: There is no such session, it belongs to another journey, a model took part
            and its answers are not known, or the journey leads elsewhere now.
    """
    session, stored, given, results = await _read(found, session_id, config)
    turns = _joined(_timeline(stored))
    called = _calls_of_models(turns)
    if called and cassette is None:
        raise CommandError(
            f"A model took part in turn {called[0]} of '{session_id}', and its answers are not "
            "stored. Add --live to ask the model again for the same messages, or use /save in a "
            "chat, which has its answers."
        )
    cassette = cassette if called else None
    document = _document(found, session, turns, given[0], results, file)
    if cassette:
        document["model"] = "recorded"
    steps = [*_said(turns, given)]
    said = as_yaml({**document, "turns": steps})
    seen = await _seen(loaded_from(said, file), cassette)
    notes = [*_changes(turns, seen)]
    expected = [*_expected(turns[0].turn.reply, steps, seen, found.journey)]
    text = as_yaml({**document, "turns": expected})
    await _check(loaded_from(text, file), cassette)
    messages = sum("user" in turn for turn in expected)
    return Recorded(text, messages, notes, cassette.answers if cassette else None)


_Result = dict[str, Any]


async def _read(
    found: FoundJourney, session_id: str, config: JourneyConfig
) -> tuple[JourneySession, SessionAudit, dict[int, dict[str, Any]], dict[str, list[_Result]]]:
    directory = await Directory.open(config)
    try:
        stored = await directory.audit(session_id)
        if stored is None:
            raise CommandError(f"There is no session '{session_id}' in the store.")
        if stored.journey_id != found.journey.spec.id:
            raise CommandError(
                f"Session '{session_id}' is one of {stored.journey_id}, and not of "
                f"{found.journey.spec.id}. Name its journey: --journey NAME.",
                exit_code=2,
            )
        seal = await directory.seal_of(session_id)
        rows = await directory.store.read(TURNS.of_turns, session=session_id, **ALL_TURNS)
        given = _given_in(rows, seal)
        results: dict[str, list[_Result]] = {}
        for row, reply in _effect_rows(stored):
            step = f"{row.from_pathway}.{row.trigger}"
            of_step = await directory.store.read(OF_STEP, session=session_id, of_step=step)
            values = [
                EFFECTS.value(one, "result", seal) for one in of_step if one["state"] == "done"
            ]
            of_tool = results.setdefault(str(row.trigger), [])
            before = sum(one["step"] == step and "gives" in one for one in of_tool)
            of_tool.append({**_result(row, reply, values[before:]), "step": step})
    finally:
        await directory.close()
    async with found.journey(session_id, config) as journey:
        session = await journey.get_session_state()
    assert session is not None
    return session, stored, given, results


def _given_in(rows: Sequence[Row], seal: Seal) -> dict[int, dict[str, Any]]:
    """Return the context values from outside, by version: those of the start and of events."""
    given = {0: apply_ops({}, TURNS.value(rows[0], "operations", seal))}
    for before, row in pairwise(rows):
        if row["kind"] == "event":
            # What its pathways wrote comes after, under their own ids.
            given[row["version"]] = {
                name: value
                for how, name, value, place in TURNS.value(row, "operations", seal)
                if how in ("replace", "clear") and place == before["pathway_id"]
            }
    return given


def _effect_rows(stored: SessionAudit) -> Iterator[tuple[AuditEntry, str]]:
    for one in _timeline(stored):
        yield from ((row, one.turn.reply or "") for row in one.events if row.kind in _ENDED)


def _result(row: AuditEntry, reply: str, done: Sequence[Any]) -> _Result:
    if row.kind == "effect_done":
        return {"gives": done[0] if done else None}
    if row.kind == "effect_late":
        return {"times_out": True}
    return {"fails" if row.reason.lower() in reply.lower() else "breaks": row.reason or "failed"}


def _timeline(stored: SessionAudit) -> list[AuditedTurn]:
    """Return the turns that led to the last state, without those that were rolled back."""
    led_to: dict[int, list[AuditedTurn]] = {}
    turns: list[AuditedTurn] = []
    for one in stored.turns:
        back = one.turn.rolled_back_to
        if back is not None:
            turns = led_to.get(back, [])
        elif one.turn.kind in _KEPT or one.turn.version == 0:
            turns = [*turns, one]
        led_to[one.turn.version] = turns
    for one in turns:
        if one.turn.kind == "waiting" and one.turn.message is None:
            raise CommandError(
                f"Turn {one.turn.version} of session '{stored.session_id}' answers an agent by a "
                "value and not by a message, which a file cannot do."
            )
    return turns


def _joined(turns: Sequence[AuditedTurn]) -> list[AuditedTurn]:
    """Return the turns; timers without a message between them are one, as a wait takes them."""
    made: list[AuditedTurn] = []
    for one in turns:
        if made and made[-1].turn.kind == one.turn.kind == "timer":
            reply = PARTING.join(filter(None, (made.pop().turn.reply, one.turn.reply)))
            one = replace(one, turn=replace(one.turn, reply=reply))
        made.append(one)
    return made


def _calls_of_models(turns: Sequence[AuditedTurn]) -> list[int]:
    return [one.turn.version for one in turns if one.turn.usage.get("model_calls")]


def _document(
    found: FoundJourney,
    session: JourneySession,
    turns: Sequence[AuditedTurn],
    begun: Mapping[str, Any],
    results: Mapping[str, Sequence[_Result]],
    file: Path,
) -> dict[str, Any]:
    messages = [one.turn.message for one in turns if one.turn.message]
    first = " ".join(messages[0].split())[:60] if messages else "no message"
    document: dict[str, Any] = {
        "conversation": first,
        "journey": journey_name(found, file),
        "clock": _moment(turns[0].turn.at),
    }
    if session.locale.parts:
        document["locale"] = dict(session.locale.parts)
    if begun:
        document["context"] = dict(begun)
    tools = {name: _several(one) for name, one in results.items()}
    return {**document, "tools": tools} if tools else document


def _several(results: Sequence[_Result]) -> Any:
    plain = [{key: value for key, value in one.items() if key != "step"} for one in results]
    return plain[0] if len(plain) == 1 else plain


def journey_name(found: FoundJourney, file: Path) -> str:
    """Return the name of the journey, as the file can give it from its own folder."""
    name, colon, inside = found.name.partition(":")
    path = Path(name)
    if not path.suffix or not path.is_file():
        return found.name
    return f"{os.path.relpath(path.resolve(), file.resolve().parent)}{colon}{inside}"


def _moment(at: str) -> str:
    return datetime.fromisoformat(at).isoformat(timespec="seconds")


def _said(
    turns: Sequence[AuditedTurn], given: Mapping[int, Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    before, time = turns[0].turn, datetime.fromisoformat(turns[0].turn.at)
    for one in turns[1:]:
        turn = one.turn
        if turn.kind == "operator" and not turn.reply:
            continue  # the conversation was claimed, as what is said next does too
        step: dict[str, Any] = {"user": turn.message}
        if turn.kind == "event":
            name = next(str(event.trigger) for event in one.events if event.kind == "event")
            data = given[turn.version]
            step = {"event": name, "data": dict(data)} if data else {"event": name}
        elif turn.kind == "timer":
            step = {"wait": time_in_words(_silence(before, turn))}
        elif turn.kind == "operator":
            step = {"operator": turn.reply}
        elif turn.kind == "release":
            step = {"release": "operator"}
        begun = datetime.fromisoformat(turn.begun_at)
        if begun - time >= _STEP and turn.kind != "timer":
            step["at"] = _moment(turn.begun_at)
        before, time = turn, datetime.fromisoformat(turn.at)
        yield step


def _silence(before: VersionInfo, timer: VersionInfo) -> int:
    """Return the seconds from the beginning of a turn until a timer is due, at least one.

    The times of a file are whole seconds. Behind an event, what they lose is added.
    """
    passed = datetime.fromisoformat(timer.begun_at) - datetime.fromisoformat(before.begun_at)
    lost = 0 if before.message is not None or before.version == 0 else 2
    return max(1, int(passed.total_seconds()) + lost)


class _Watching(Game):
    """A game that keeps all that comes of each step."""

    async def step(self, turn: Turn) -> None:
        await super().step(turn)
        await self.read_all()
        self.played.seen.append(self.seen)


async def _seen(loaded: LoadedConversation, cassette: Cassette | None) -> list[ObservedState]:
    """Return what comes of each step of a conversation."""
    model = RecordedModel(cassette) if cassette else None
    played = await play(loaded, game=_Watching, model=model)
    why = cassette.failed if cassette else ""
    if why or played.differences:
        said = f"The conversation cannot be played again: {why or played.differences[0]}."
        if cassette and cassette.is_offline:
            said += " What the model answered before this chat is not known; use record --live."
        raise CommandError(said)
    return played.seen


def _changes(turns: Sequence[AuditedTurn], seen: Sequence[ObservedState]) -> Iterator[str]:
    steps = [one.turn for one in turns[1:] if one.turn.kind != "operator" or one.turn.reply]
    for turn, now in zip(steps, seen, strict=True):
        if turn.pathway_id != now.pathway:
            raise CommandError(
                f"Turn {turn.version} led to '{turn.pathway_id}', and now to '{now.pathway}': "
                "the journey, or the data of its functions, has changed. Nothing is written."
            )
        if turn.kind == "turn" and " ".join((turn.reply or "").split()) != " ".join(
            now.reply.split()
        ):
            yield f"The reply of turn {turn.version} was another one when it was recorded."


def _expected(
    greeting: str | None,
    steps: Sequence[Mapping[str, Any]],
    seen: Sequence[ObservedState],
    journey: type[Journey],
) -> Iterator[dict[str, Any]]:
    has_effects = any(pathway.effects for pathway in journey.spec.pathways.values())
    before: ObservedState | None = None
    if greeting:
        yield {"bot": {"says": {"equals": _flat(greeting)}}}
    for step, now in zip(steps, seen, strict=True):
        yield dict(step)
        if "operator" not in step:
            yield {"bot": dict(_of_turn(before, now, has_effects))}
        before = now


def _flat(text: str) -> str:
    return " ".join(text.split())


def _of_turn(
    before: ObservedState | None, now: ObservedState, has_effects: bool
) -> Iterator[tuple[str, Any]]:
    yield "says", {"equals": _flat(now.reply)} if now.reply else ""
    yield from _of_place(before, now)
    yield from _of_fields(before, now)
    if now.response:
        yield from _of_response(now, has_effects)
    if now.complete or (before and before.complete):
        yield "complete", now.complete


def _of_place(before: ObservedState | None, now: ObservedState) -> Iterator[tuple[str, Any]]:
    yield "pathway", now.pathway
    if len(now.path) > 1:
        yield "path", now.path
    if now.stack or (before and before.stack):
        yield "stack", now.stack


def _of_response(now: ObservedState, has_effects: bool) -> Iterator[tuple[str, Any]]:
    asked = now.asked
    yield "asks", (asked["field"] or asked["kind"]) if asked else None
    if asked and asked["options"]:
        yield "options", [option["label"] for option in asked["options"]]
    if now.response and now.response.transition_to:
        yield "transition", {"to": now.response.transition_to, "tier": now.metadata["tier"]}
    if has_effects:
        yield "effects", now.effects
    for key, name in (("rules", "guidelines"), ("flags", "flags")):
        if now.metadata[name]:
            yield key, list(now.metadata[name])


def _of_fields(before: ObservedState | None, now: ObservedState) -> Iterator[tuple[str, Any]]:
    states = now.form.fields if now.form else {}
    known = before.form.fields if before and before.form else {}
    made = len(before.attempts) if before else 0
    tried = dict.fromkeys(attempt.field for attempt in now.attempts[made:])
    changed = [
        name
        for name, state in states.items()
        if name in tried or (name in known and known[name].value != state.value)
    ]
    values = {n: states[n].is_collected if states[n].hidden else states[n].value for n in changed}
    if values:
        yield "fields", values
    if tried:
        every = {
            name: [one.validation_status for one in now.attempts if one.field == name]
            for name in tried
        }
        yield "attempts", every
    was = before.context if before else {}
    others = {
        name: value
        for name, value in now.context.items()
        if name not in states and was.get(name) != value
    }
    others |= {name: None for name in was if name not in now.context and name not in states}
    if others:
        yield "context", others


async def _check(loaded: LoadedConversation, cassette: Cassette | None) -> None:
    model = RecordedModel(cassette.replayed()) if cassette else None
    played = await play(loaded, model=model)
    if not played.passed:
        raise CommandError(
            f"The conversation differs each time that it is played: {played.differences[0]}. Give "
            "the function that decides it a fixed result in the journey, and record again."
        )


class _Dumper(yaml.SafeDumper):
    """Writes text so that YAML 1.1 and 1.2 read it as text."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None if _is_plain(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _is_plain(text: str) -> bool:
    try:
        return bool(plain_value(text) == text)
    except ValueError:
        return False


_Dumper.add_representer(str, _text)
_Dumper.ignore_aliases = lambda *_: True  # type: ignore[method-assign]


def as_yaml(document: Mapping[str, Any]) -> str:
    """Return a conversation as YAML."""
    return yaml.dump(
        document,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=100,
        default_flow_style=None,
    )
