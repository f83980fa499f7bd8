"""What a session has collected, as its reader sees it: read from the state, pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graphs.fields import sensitive_in
from journeys import Field, FieldAttemptEntry, FieldState, FormView, JourneySpec, PathwaySpec
from nodes.draft import talked_about
from nodes.forms.sheet import Sheet, settled
from nodes.plain import copied
from nodes.talk import Asked, DialogueState, FieldAttempt


def form_view(spec: JourneySpec, session_id: str, values: Mapping[str, Any]) -> FormView:
    """Return what a session has collected, from the values of its state."""
    position = values["position"]
    # A session that an older version began may stand where this version has no pathway.
    is_known = position["pathway"] in spec.pathways
    here = spec.pathways[talked_about(spec, position)] if is_known else None
    reader = _Reader(spec, session_id, values)
    sheet = reader.sheet(here) if here else None
    asked = reader.dialogue.asked
    return FormView(
        session_id=session_id,
        pathway_id=here.id if here else position["pathway"],
        current_field=_current(asked, sheet),
        asked=copied(asked),
        is_complete=sheet is None or sheet.is_closed,
        fields={field.name: reader.state(field, owner) for field, owner in _fields(spec, here)},
    )


class _Reader:
    """Reads the fields of a state."""

    def __init__(self, spec: JourneySpec, session_id: str, values: Mapping[str, Any]) -> None:
        self.dialogue = DialogueState.of(values["position"])
        self._session_id = session_id
        self._secret = sensitive_in(spec)
        self._attempts: Mapping[str, list[FieldAttempt]] = values.get("fields", {})
        self._context: Mapping[str, Any] = values.get("context", {})

    def sheet(self, pathway: PathwaySpec) -> Sheet:
        """Return the form of a pathway as it stands."""
        return Sheet(pathway, self._attempts, self._context, self.dialogue)

    def state(self, field: Field, owner: PathwaySpec) -> FieldState:
        """Return a field as it stands."""
        attempts = self._attempts.get(field.name, [])
        last, hidden = settled(attempts), field.name in self._secret
        return FieldState(
            field_name=field.name,
            title=field.title,
            type=field.type,
            value=copied(last["value"]) if last and not hidden else None,
            is_collected=last is not None,
            required=field.required,
            live=any(field.name == live.name for live in self.sheet(owner).live),
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


def _current(asked: Asked | None, sheet: Sheet | None) -> str | None:
    """Return the field that is asked for, or is asked for as soon as the talk is back here."""
    wanted = asked if asked and asked["kind"] == "field" else sheet and sheet.asked()
    return wanted["about"] if wanted and wanted["kind"] == "field" else None


def _fields(spec: JourneySpec, here: PathwaySpec | None) -> Iterator[tuple[Field, PathwaySpec]]:
    """Yield every field of a journey once, with its pathway: those of the present one first."""
    seen: set[str] = set()
    for pathway in [*([here] if here else []), *spec.pathways.values()]:
        for field in pathway.form.fields if pathway.form else ():
            if field.name not in seen:
                seen.add(field.name)
                yield field, pathway
