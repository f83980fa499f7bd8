"""Current form: collected values, open fields, next question; pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from journeygraph.journeys import Field, JourneySpec, PathwaySpec
from journeygraph.journeys.declarations.fields import Form
from journeygraph.nodes.authored import FAILURES
from journeygraph.nodes.json_data import copied
from journeygraph.nodes.state.dialogue_state import (
    SETTLING,
    UNREAD,
    Asked,
    Attempted,
    DialogueState,
    FieldAttempt,
    Source,
    Status,
)
from journeygraph.nodes.state.session import Turn

Attempts = Mapping[str, Sequence[FieldAttempt]]


def settled(attempts: Sequence[FieldAttempt]) -> FieldAttempt | None:
    """Return the attempt with a field's value: the last valid one, unless it was cleared."""
    for attempt in reversed(attempts):
        if attempt["validation_status"] in SETTLING:
            return attempt if attempt["validation_status"] == "valid" else None
    return None


def current_value(attempts: Attempts, name: str) -> Any:
    """Return the value of a field; None if it has none."""
    last = settled(attempts.get(name, ()))
    return last["value"] if last else None


def field_named(spec: JourneySpec, name: str) -> Field:
    """Return the field of a name, declared anywhere in the journey."""
    for pathway in spec.pathways.values():
        if pathway.form and name in pathway.form:
            return pathway.form[name]
    raise KeyError(name)


def owners(spec: JourneySpec, name: str) -> tuple[PathwaySpec, ...]:
    """Return the pathways that collect a field."""
    # One that is made for a moment is not held beyond it.
    return _found(spec, name) if spec.is_of_the_moment else _owners(spec, name)


@lru_cache(maxsize=4_000)
def _owners(spec: JourneySpec, name: str) -> tuple[PathwaySpec, ...]:
    return _found(spec, name)


def _found(spec: JourneySpec, name: str) -> tuple[PathwaySpec, ...]:
    return tuple([p for p in spec.pathways.values() if p.form and name in p.form])


def confirms(spec: JourneySpec, pathway: PathwaySpec) -> bool:
    """Return whether guessed values of a pathway are confirmed there, before an effect.

    They are where it has effects, or leads to one that reads nothing back since it has no form.
    """
    seen: set[str] = set()
    place: PathwaySpec | None = pathway
    while place is not None and place.id not in seen:
        if place.effects:
            return place is pathway or place.form is None
        seen.add(place.id)
        place = spec.pathways.get(place.next or "")
    return False


def is_record(spec: JourneySpec, name: str, finished: Collection[str]) -> bool:
    """Return whether a task was completed with a field's value, which then stays as it is."""
    return any(owner.id in finished for owner in owners(spec, name))


@dataclass(frozen=True)
class FormState:
    """The form of one pathway, as far as it is filled in.

    Attributes:
        pathway: The pathway; one without a form has an empty sheet.
        confirms: True if guessed values are confirmed here, before an effect.
        carried: Gives the guessed fields of other pathways that its effects use.
    """

    pathway: PathwaySpec
    attempts: Attempts
    context: Mapping[str, Any]
    dialogue: DialogueState
    confirms: bool = False
    carried: Callable[[], Sequence[Field]] = tuple

    @classmethod
    def of(
        cls,
        spec: JourneySpec,
        pathway: PathwaySpec,
        attempts: Attempts,
        context: Mapping[str, Any],
        dialogue: DialogueState,
        carried: Callable[[], Sequence[Field]] = tuple,
    ) -> FormState:
        """Return the form of a pathway of a journey."""
        return cls(pathway, attempts, context, dialogue, confirms(spec, pathway), carried)

    @property
    def live(self) -> list[Field]:
        """The fields that count now: those whose `when` holds, in order."""
        return [field for field, _ in self._walked]

    @property
    def values(self) -> dict[str, Any]:
        """The payload: the values of live fields, by name."""
        return {field.name: value for field, value in self._walked if value is not None}

    @property
    def open(self) -> list[Field]:
        """The live fields to ask for: without a value, and not left open by the user, in order."""
        return [field for field in self.unset if field.asked]

    @property
    def unset(self) -> list[Field]:
        """The live fields that a message may give a value: the open ones, and those never asked."""
        skipped = self.dialogue.skipped
        return [f for f, value in self._walked if value is None and f.name not in skipped]

    @cached_property
    def _walked(self) -> list[tuple[Field, Any]]:
        """Return the live fields with their values; `when` gets the fields before it."""
        form = self.pathway.form
        if form is None:
            return []
        seen: dict[str, Any] | None = None
        walked: list[tuple[Field, Any]] = []
        for field in form.fields:
            if field.when is not None:
                if seen is None:
                    seen = self._seen(form, walked)
                if not _holds(field, seen):
                    continue
            given = self.attempts.get(field.name)
            last = settled(given) if given else None
            value = last["value"] if last else None
            walked.append((field, value))
            if seen is not None and value is not None:
                seen[field.name] = value
        return walked

    def _seen(self, form: Form, walked: Sequence[tuple[Field, Any]]) -> dict[str, Any]:
        """Return the context as the first `when` of a form sees it."""
        names = {field.name for field in form.fields}
        seen = {name: value for name, value in self.context.items() if name not in names}
        return seen | {field.name: value for field, value in walked if value is not None}

    @property
    def wants_summary(self) -> bool:
        """Return whether the collected values need a confirmation that the user has not given.

        Those that are read back do, and before an effect those that were guessed.
        """
        if self.carried():
            return True
        if self.pathway.id in self.dialogue.confirmed:
            return False
        given = [field for field, value in self._walked if value is not None]
        if any(field.confirm for field in given):
            return True
        guessed = {*self.dialogue.guessed}
        return self.confirms and any(f.name in guessed or UNREAD in guessed for f in given)

    @property
    def read_back(self) -> list[tuple[Field, Any]]:
        """The values of a summary: those of the form, and those that are carried into it."""
        own = [(field, value) for field, value in self._walked if value is not None]
        names = {field.name for field, _ in own}
        carried = [field for field in self.carried() if field.name not in names]
        return [*own, *((field, current_value(self.attempts, field.name)) for field in carried)]

    def asked(self) -> Asked | None:
        """Return the next question; None if everything is collected and confirmed."""
        for name in self.dialogue.corrections:
            return Asked(kind="correction", about=name, options=[])
        for name in filter(self._may_ask, self.dialogue.reopened):
            return Asked(kind="field", about=name, options=[])
        if still := self.open:
            return Asked(kind="field", about=still[0].name, options=[])
        if self.wants_summary:
            return Asked(kind="summary", about=self.pathway.id, options=[])
        return None

    def _may_ask(self, name: str) -> bool:
        """Return whether a reopened field is asked for here.

        One of this form is if it still counts. One of another pathway is, where it has no value, by
        what follows that pathway; a detour leaves it to what it interrupted, unless its own effects
        may use it.
        """
        if self.pathway.form and name in self.pathway.form:
            return any(field.name == name for field in self.live)
        is_used = not self.pathway.is_detour or bool(self.pathway.effects)
        return is_used and current_value(self.attempts, name) is None

    @property
    def is_closed(self) -> bool:
        """Return whether nothing is left to ask."""
        return self.asked() is None

    @property
    def is_begun(self) -> bool:
        """Return whether anything of it is collected."""
        return any(value is not None for _, value in self._walked)


def _holds(field: Field, seen: Mapping[str, Any]) -> bool:
    assert field.when is not None
    try:
        return bool(field.when(copied(seen)))
    except FAILURES:  # whatever an author's function raises: what it reads is not known yet
        return False


MOST_RAW = 1_000
"""Longest words of a user that an attempt keeps, in characters."""


def attempt(
    turn: Turn,
    name: str,
    status: Status,
    *,
    value: Any = None,
    raw: str = "",
    source: Source = "user_provided",
    confidence: float = 1.0,
    reason: str = "",
) -> Attempted:
    """Return an attempt at a field in this turn."""
    return Attempted(
        field=name,
        value=value,
        raw=raw[:MOST_RAW],
        turn=turn["number"],
        timestamp=turn["at"],
        confidence=confidence,
        validation_status=status,
        source=source,
        reason=reason[:MOST_RAW],
    )


def by_field(attempts: list[Attempted]) -> dict[str, list[Any]]:
    """Return attempts as the state's channel takes them: field -> attempts."""
    channel: dict[str, list[Any]] = {}
    for given in attempts:
        kept = {key: value for key, value in given.items() if key != "field"}
        channel.setdefault(given["field"], []).append(kept)
    return channel


FORM = "form"
"""Name of what a pathway's progress has of its form."""


def is_collected(progress: Any) -> bool:
    """Return whether a pathway's form has nothing left to ask."""
    return FORM not in progress or progress[FORM]["asked"] is None
