"""Public results: responses, sessions and forms.

The values belong to one run or one load, so they are returned without a copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from journeygraph.graphs.records.history import sensitive_in
from journeygraph.journeys import (
    Field,
    FieldAttemptEntry,
    FieldState,
    FormView,
    JourneyResponse,
    JourneySession,
    JourneySpec,
    PathwaySpec,
)
from journeygraph.journeys.spec.capability_table import part
from journeygraph.nodes.draft import new_turn, talked_about
from journeygraph.nodes.journal import Usage
from journeygraph.nodes.json_data import copied
from journeygraph.nodes.replies.scope import counting
from journeygraph.nodes.services import Services, brought_locale
from journeygraph.nodes.state.dialogue_state import Asked, DialogueState, FieldAttempt
from journeygraph.nodes.state.form_state import FormState, settled
from journeygraph.nodes.state.phases import phase_of
from journeygraph.nodes.state.session import PARTING, Completed, Position, Turn


def response_of(services: Services, values: Mapping[str, Any]) -> JourneyResponse:
    """Return the response of a turn from the values of its state."""
    position, turn = values["position"], values["turn"]
    fired = turn["transition"]
    return JourneyResponse(
        message=PARTING.join(turn["replies"]),
        pathway_id=position["pathway"],
        pathway_changed=turn["moved"],
        transition_to=fired["target"] if fired else None,
        accumulated_context=values.get("context", {}),
        is_journey_complete=position["status"] == "complete" or bool(turn.get("completed")),
        metadata={
            **_metadata(services, values),
            **_journey(services.spec, position, turn.get("completed")),
        },
    )


def _journey(
    spec: JourneySpec, position: Position, completed: Completed | None = None
) -> dict[str, Any]:
    """Return the active journey, and in a concierge the journey that this turn completed."""
    if not spec.parts:
        return {"journey_id": spec.id}
    return {
        "journey_id": spec.active_in(position["pathway"]),
        "activated_at": position.get("activated_at"),
        "journey_completed": completed["journey"] if completed else None,
        "journey_result": dict(completed["values"]) if completed else {},
    }


def _metadata(services: Services, values: Mapping[str, Any]) -> dict[str, Any]:
    position: Position = values["position"]
    turn: Turn = values["turn"]
    fired = turn["transition"]
    decided: Mapping[str, Any] = fired or turn.get("judged") or {}
    return {
        "version": turn["number"],
        "pathway_stack": [frame["pathway"] for frame in position["stack"]],
        "returning": position["returning"],
        "phase": phase_of(position, values.get("messages", ())).value,
        "transition_triggered": fired is not None,
        "transition_intent": fired["intent"] if fired else None,
        "tier": decided.get("tier"),
        "confidence": decided.get("confidence"),
        "reasoning": decided.get("reason"),
        "ran": list(turn["ran"]),
        "replies": list(turn["replies"]),
        "error": dict(turn["error"]) if turn["error"] else None,
        "flags": list(turn["flags"]),
        "waiting": waiting_in(turn),
        "sources": list(turn.get("sources", ())),
        "asked": _asked(services, values),
        "guidelines": _guidelines(turn),
        "checks": [dict(check) for check in turn.get("checks", ())],
        "usage": dict(turn.get("usage") or Usage().counted()),
    }


def _asked(services: Services, values: Mapping[str, Any]) -> dict[str, Any] | None:
    if "talk" not in values["position"]:
        return None
    asked: dict[str, Any] | None = part("forms").asked_after(services, values)
    return asked


def _guidelines(turn: Turn) -> list[str]:
    """Return the ids of the guidelines that applied in a turn."""
    held = turn.get("guidelines")
    return [guided["id"] for guided in counting(turn, held)] if held else []


def waiting_in(turn: Turn) -> list[dict[str, Any]]:
    """Return the open questions of agents in a waiting turn."""
    waiting = turn.get("waiting")
    return [dict(ask) for ask in waiting["asks"]] if waiting else []


def unmoved(
    services: Services, values: Mapping[str, Any], version: int, say: str, flag: str
) -> JourneyResponse:
    """Return the response to a message that changed nothing and was not recorded."""
    turn: Turn = {**new_turn(version), "replies": [say] if say else [], "flags": [flag]}
    if "waiting" in values["turn"]:
        turn["waiting"] = values["turn"]["waiting"]
    return response_of(services, {**values, "turn": turn})


def session_of(
    services: Services, head: Mapping[str, Any], values: Mapping[str, Any]
) -> JourneySession:
    """Return the public state of a session."""
    position = values["position"]
    return JourneySession(
        session_id=head["session_id"],
        journey_id=head["journey_id"],
        journey_version=position["version"],
        current_pathway_id=position["pathway"],
        pathway_stack=[frame["pathway"] for frame in position["stack"]],
        accumulated_context=values.get("context", {}),
        conversation_history=values.get("messages", []),
        returning=position["returning"],
        phase=phase_of(position, values.get("messages", ())),
        is_journey_complete=position["status"] == "complete",
        version=head["version"],
        created_at=head["created_at"],
        updated_at=head["updated_at"],
        waiting=waiting_in(values["turn"]),
        asked=_asked(services, values),
        locale=brought_locale(values),
        is_closed=position["status"] == "closed",
    )


def has_ended(spec: JourneySpec, head: Mapping[str, Any], response: JourneyResponse) -> bool:
    """Return whether the journey ended in this turn, for the first time or again."""
    at = response.pathway_id
    again = at in response.metadata["ran"] and not spec.pathways[at].is_detour
    return response.is_journey_complete and (head["status"] != "complete" or again)


def form_view(spec: JourneySpec, session_id: str, values: Mapping[str, Any]) -> FormView:
    """Return the public form of a session from the values of its state."""
    position = values["position"]
    # A session that an older version began may stand where this version has no pathway.
    is_known = position["pathway"] in spec.pathways
    here = spec.pathways[talked_about(spec, position)] if is_known else None
    reader = _Reader(spec, session_id, values)
    form_state = reader.form_state(here) if here else None
    asked = reader.dialogue.asked
    return FormView(
        session_id=session_id,
        pathway_id=here.id if here else position["pathway"],
        current_field=_current(asked, form_state),
        asked=copied(asked),
        is_complete=form_state is None or form_state.is_closed,
        fields={field.name: reader.state(field, owner) for field, owner in _fields(spec, here)},
    )


class _Reader:
    """Reads the fields of a state."""

    def __init__(self, spec: JourneySpec, session_id: str, values: Mapping[str, Any]) -> None:
        self.dialogue = DialogueState.of(values["position"])
        self._session_id = session_id
        self._spec, self._secret = spec, sensitive_in(spec)
        self._attempts: Mapping[str, list[FieldAttempt]] = values.get("fields", {})
        self._context: Mapping[str, Any] = values.get("context", {})

    def form_state(self, pathway: PathwaySpec) -> FormState:
        """Return the current form of a pathway."""
        return FormState.of(self._spec, pathway, self._attempts, self._context, self.dialogue)

    def state(self, field: Field, owner: PathwaySpec) -> FieldState:
        """Return the current state of a field."""
        attempts = self._attempts.get(field.name, [])
        last, hidden = settled(attempts), field.name in self._secret
        return FieldState(
            field_name=field.name,
            title=field.title,
            type=field.type,
            value=copied(last["value"]) if last and not hidden else None,
            is_collected=last is not None,
            required=field.required,
            live=any(field.name == live.name for live in self.form_state(owner).live),
            skipped=field.name in self.dialogue.skipped,
            hidden=hidden,
            validity=attempts[-1]["validation_status"] if attempts else "",
            attempts=[self._entry(field.name, attempt, hidden=hidden) for attempt in attempts],
            pathway_id=owner.id,
        )

    def _entry(self, name: str, attempt: FieldAttempt, *, hidden: bool) -> FieldAttemptEntry:
        return FieldAttemptEntry(
            session_id=self._session_id,
            turn=attempt["turn"],
            field=name,
            value=None if hidden else copied(attempt["value"]),
            raw="" if hidden else attempt["raw"],
            timestamp=attempt["timestamp"],
            confidence=attempt["confidence"],
            validation_status=attempt["validation_status"],
            source=attempt["source"],
            reason=attempt["reason"],
            hidden=hidden,
        )


def _current(asked: Asked | None, form_state: FormState | None) -> str | None:
    """Return the field of the next question, now or after the return to this pathway."""
    wanted = asked if asked and asked["kind"] == "field" else form_state and form_state.asked()
    return wanted["about"] if wanted and wanted["kind"] == "field" else None


def _fields(spec: JourneySpec, here: PathwaySpec | None) -> Iterator[tuple[Field, PathwaySpec]]:
    """Yield every field of a journey once, with its pathway: those of the current one first."""
    seen: set[str] = set()
    for pathway in [*([here] if here else []), *spec.pathways.values()]:
        for field in pathway.form.fields if pathway.form else ():
            if field.name not in seen:
                seen.add(field.name)
                yield field, pathway
