"""Open a turn: its record, and the position that it begins in."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Any

from journeys import JourneySpec, PathwayNotFoundError
from nodes.draft import TurnDraft, draft_of
from nodes.effect_outcome import step_renamed
from nodes.phases import phase_of
from nodes.plain import stamp
from nodes.services import Services
from nodes.state import Frame, Position, SessionState, Turn


def now() -> datetime:
    """Return the time at which a turn begins, in UTC."""
    return datetime.now(UTC)


def check_known(spec: JourneySpec, position: Position) -> None:
    """Refuse a position of another version of the journey, which may have had other pathways."""
    for pathway in (position["pathway"], *(frame["pathway"] for frame in position["stack"])):
        if pathway not in spec.reachable:
            raise PathwayNotFoundError(pathway, sorted(spec.reachable))


def migrated(spec: JourneySpec, position: Position) -> Position:
    """Return a position of an older version with the names that its pathways have now (T27).

    What the journey's `__migrations__` does not name stays as it is.
    """

    def renamed(id_: str) -> str:
        return id_ if id_ in spec.pathways else spec.migrations.get(id_, id_)

    if not spec.migrations:
        return position
    stack = [Frame(**{**f, "pathway": renamed(f["pathway"])}) for f in position["stack"]]
    after: Position = {**position, "pathway": renamed(position["pathway"]), "stack": stack}
    if visits := position.get("visits"):
        after["visits"] = {renamed(id_): visit for id_, visit in visits.items()}
    if talk := position.get("talk"):
        kept: Any = {**talk}
        for name in ("confirmed", "finished"):
            kept[name] = [renamed(id_) for id_ in kept.get(name, [])]
        kept["taken"] = [step_renamed(step, renamed) for step in kept.get("taken", [])]
        done = kept.get("done", {})
        kept["done"] = {step_renamed(step, renamed): keys for step, keys in done.items()}
        if (asked := kept.get("asked")) and asked["kind"] != "field":
            options = [{**option, "id": renamed(option["id"])} for option in asked["options"]]
            kept["asked"] = {**asked, "about": renamed(asked["about"]), "options": options}
        after["talk"] = kept
    return after


def beginning(spec: JourneySpec, turn: Turn | None = None) -> Position:
    """Return the position in which a session begins: at the entry, with an empty stack.

    Each has an id of its own, its birth. What the turn that begins it says of its locale is kept.
    """
    position = Position(
        journey=spec.id,
        version=spec.version,
        pathway=spec.entry,
        stack=[],
        returning=False,
        status="active",
        fired=[],
        failures=0,
        birth=secrets.token_hex(8),
    )
    if turn is not None and (locale := turn.get("locale")):
        position["locale"] = locale
    return position


def new_turn(number: int, *, kind: Any = "turn", message: str | None = None) -> Turn:
    """Return the empty record of a turn."""
    return Turn(
        number=number,
        kind=kind,
        at=stamp(now()),
        message=message,
        begun_in="",
        run=None,
        entered="stay",
        moved=False,
        ran=[],
        replies=[],
        ops=[],
        audit=[],
        transition=None,
        judged=None,
        usage=None,
        flags=[],
        error=None,
        done=False,
    )


def open_draft(state: SessionState, services: Services) -> TurnDraft:
    """Return the draft of the turn that begins, at the position that this version knows."""
    spec = services.spec
    position = migrated(spec, state.get("position") or beginning(spec, state.get("turn")))
    draft = draft_of(services, state, _opened(state, position), position)
    if draft.turn["kind"] == "failure":
        # What the user was asked about may have been done by the turn that failed.
        emptied: Position = {**position, "failures": position["failures"] + 1}
        emptied.pop("pending", None)
        draft.position = emptied
    return draft


def _opened(state: SessionState, position: Position) -> Turn:
    """Return the turn that the manager opened; without a manager, as in Studio, open it here."""
    turn: Turn | None = state.get("turn")
    # One that was begun before is over: done, or left behind by a run that failed.
    if turn is None or turn["begun_in"]:
        turn = new_turn(turn["number"] + 1 if turn else 1, message=_unanswered(state))
        turn["id"] = secrets.token_hex(16)
    # Copies: the record of a failure begins from the same turn.
    opened: Turn = {**turn, "audit": [*turn["audit"]], "flags": [*turn["flags"]]}
    stood = (state.get("position") or position)["pathway"]
    if stood != position["pathway"]:
        event = {"kind": "migrated", "from": stood, "to": position["pathway"]}
        opened["audit"].append(event)
    before = state["messages"]
    if before and before[-1]["role"] == "user":
        before = before[:-1]
    opened["begun_in"] = position["pathway"]
    opened["phase"] = phase_of(position, before).value
    if locale := position.get("locale"):
        opened["locale"] = locale
    return opened


def _unanswered(state: SessionState) -> str | None:
    """Return what the user said last, if nobody answered it yet."""
    messages = state["messages"]
    return messages[-1]["content"] if messages and messages[-1]["role"] == "user" else None
