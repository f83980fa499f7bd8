"""What a file says of its journey as a whole: who takes over, how it speaks, what stands for what.

And what only shows when all its states are known together, of what they collect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from journeys.collecting_reader import PATTERNS, read_texts
from journeys.errors import did_you_mean
from journeys.escalation import Escalation
from journeys.files.collecting import fields_in
from journeys.files.form import JourneyForm
from journeys.files.form_collecting import (
    EscalationForm,
    KnowledgeForm,
    LocaleForm,
    PersonalityForm,
)
from journeys.files.part import Part
from journeys.files.rules import context_condition
from journeys.knowledge import Knowledge
from journeys.locale import LANGUAGES, NOWHERE, Locale, locale_of, part_fault
from journeys.personality import Personality
from journeys.texts import Texts, placeholder_fault


def declared_of(part: Part, form: JourneyForm) -> dict[str, Any]:
    """Return what a journey says as a whole, by the names of the spec, noting every fault."""
    _check_shared_fields(part, form)
    _check_changes(part, form)
    for name in form.patterns:
        if name not in PATTERNS:
            known = f"One of: {', '.join(PATTERNS)}."
            hint = did_you_mean(name, PATTERNS)
            part.note(f"'{name}' is no repair pattern.{hint} {known}", "patterns", name)
    for key in ("patterns", "migrations"):
        for name, target in getattr(form, key).items():
            if target not in form.states:
                part.unknown("state", target, list(form.states), key, name)
    return {
        "escalation": escalation_of(part, form.escalation),
        "personality": personality_of(form.personality),
        "locale": locale_in(part, form.locale),
        "texts": texts_of(part, form.texts),
        "patterns": dict(form.patterns),
        "knowledge": knowledge_of(form.knowledge),
        "migrations": dict(form.migrations),
    }


def escalation_of(part: Part, form: EscalationForm | None) -> Escalation | None:
    """Return when a person takes over, as it is written."""
    if form is None:
        return None
    given = form.model_dump(exclude_unset=True)
    if form.when:
        given["when"] = context_condition(part, form.when, "escalation", "when")
    return Escalation(**given)


def knowledge_of(form: KnowledgeForm | str | None) -> Knowledge | None:
    """Return where questions are looked up, as it is written."""
    if form is None or isinstance(form, str):
        return Knowledge(form) if form else None
    given = form.model_dump(exclude_unset=True)
    return Knowledge(**given) if "retriever" in given else None


def personality_of(form: PersonalityForm | None, name: str = "") -> Personality:
    """Return how the assistant speaks; it calls itself by `name` where it has no other."""
    given = {} if form is None else form.model_dump(exclude_unset=True)
    return Personality(**({"name": name} | given))


def locale_in(part: Part, form: LocaleForm | None) -> Locale:
    """Return the locale that is written, noting every part of it that is unknown."""
    given = {} if form is None else form.model_dump(exclude_unset=True)
    faults = {name: part_fault(name, value) for name, value in given.items()}
    for name, fault in faults.items():
        if fault:
            part.note(f"{name} {fault}", "locale", name)
    return NOWHERE if any(faults.values()) else locale_of(given)


def texts_of(part: Part, written: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the texts that are worded anew, by language, noting what nothing says."""
    for name, text, path in _named(written):
        if name not in Texts.__dataclass_fields__:
            hint = did_you_mean(name, list(Texts.__dataclass_fields__))
            part.note(f"'{name}' is no text of the runtime.{hint}", "texts", *path)
        elif fault := placeholder_fault(name, text):
            part.note(f"it {fault}", "texts", *path)
    return read_texts("texts", written, [])


def _named(written: Mapping[str, Any]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for key, value in written.items():
        if key in LANGUAGES and isinstance(value, Mapping):
            yield from ((name, text, (key, name)) for name, text in value.items())
        elif isinstance(value, Mapping):
            yield key, "", (key,)
        else:
            yield key, value, (key,)


def _check_shared_fields(part: Part, form: JourneyForm) -> None:
    """Note fields of one name and two types: they would be one field."""
    first: dict[str, tuple[str, str, str]] = {}
    for id_, state in form.states.items():
        within = ("fields",) if isinstance(state.fields, list) else ("fields", "fields")
        for number, field in enumerate(fields_in(state.fields)):
            path = ("states", id_, *within, number)
            if not part.is_whole(field, *path):
                continue
            at, *kind = first.setdefault(field.name, (id_, field.type, field.items))
            if kind != [field.type, field.items] and at != id_:
                part.note(
                    f"the field '{field.name}' is {kind[0]} in '{at}' and {field.type} here. "
                    "Fields of one name are one field: rename one of them.",
                    *path,
                )


def _check_changes(part: Part, form: JourneyForm) -> None:
    """Note effects that are changed in a state that is not there."""
    for id_, state in form.states.items():
        for number, effect in enumerate(state.effects):
            change = "" if isinstance(effect, str) else effect.change
            if change and change not in form.states:
                path = ("states", id_, "effects", number, "change")
                part.unknown("state", change, list(form.states), *path)
