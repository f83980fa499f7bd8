"""What a body declares of collecting: forms, effects, where a pathway may be interrupted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from journeys.effects import Effect
from journeys.errors import did_you_mean, shown
from journeys.escalation import Escalation
from journeys.fields import Field, Form
from journeys.knowledge import read_knowledge
from journeys.locale import LANGUAGES, NOWHERE, Locale
from journeys.personality import Personality
from journeys.spec import PathwaySpec
from journeys.texts import Texts, placeholder_fault

COLLECTING_ATTRIBUTES = (
    "__escalation__",
    "__personality__",
    "__locale__",
    "__texts__",
    "__patterns__",
    "__knowledge__",
    "__migrations__",
)
PATTERNS = (
    "continue",
    "cancel",
    "clarify",
    "off_topic",
    "knowledge",
    "unsupported",
    "explain",
    "repeat",
    "restart",
    "back",
    "status",
    "wait",
    "noise",
    "invalid",
    "blocked",
    "resume",
    "human",
)
"""Repair patterns, each of which a journey may give a pathway of its own."""


def read_form(where: str, declared: Any, faults: list[str]) -> Form | None:
    """Read the fields of a pathway; None where it has none."""
    if isinstance(declared, Form):
        form = declared
    elif isinstance(declared, str) or not isinstance(declared, Sequence):
        faults.append(f"{where}: __fields__ is {shown(declared)}; write a list of Field(...).")
        return None
    elif wrong := [item for item in declared if not isinstance(item, Field)]:
        faults.append(f"{where}: __fields__ holds {shown(wrong[0])}; write Field(...).")
        return None
    else:
        names = [field.name for field in declared]
        if twice := [name for name in names if names.count(name) > 1]:
            faults.append(f"{where}: __fields__ declares '{twice[0]}' twice.")
            return None
        form = Form(declared)
    if not form.fields:
        return None
    return form


def _dependency_faults(pathways: Mapping[str, PathwaySpec]) -> Iterator[str]:
    """Yield the fields that depend on what no pathway collects."""
    fields = [(p, field) for p in pathways.values() if p.form for field in p.form.fields]
    names = list(dict.fromkeys(field.name for _, field in fields))
    for pathway, field in fields:
        for name in field.depends_on:
            if name == field.name or name not in names:
                hint = did_you_mean(name, [other for other in names if other != field.name])
                said = f"field '{field.name}' depends on '{name}', no other field."
                yield f"{pathway.where}: {said}{hint}"


def read_effects(where: str, declared: Any, faults: list[str]) -> tuple[Effect, ...]:
    """Read the effects of a pathway: each an `Effect`, or the name of a tool."""
    if isinstance(declared, str) or not isinstance(declared, Sequence):
        faults.append(f"{where}: __effects__ must be a list of Effect(...) or names of tools.")
        return ()
    effects: list[Effect] = []
    for item in declared:
        if not isinstance(item, (str, Effect)) or not item:
            faults.append(f"{where}: __effects__ holds {shown(item)}; write Effect(...).")
            continue
        effects.append(Effect(item) if isinstance(item, str) else item)
    names = [effect.tool for effect in effects]
    if twice := [name for name in names if names.count(name) > 1]:
        faults.append(f"{where}: __effects__ names the tool '{twice[0]}' twice.")
    return tuple(effects)


def read_interruptible(
    where: str, declared: Any, form: Form | None, faults: list[str]
) -> bool | tuple[str, ...]:
    """Read where a pathway may be interrupted: always, never, or while asking for some fields."""
    if isinstance(declared, bool):
        return declared
    listed = isinstance(declared, Sequence) and not isinstance(declared, str)
    known = [field.name for field in form.fields] if form else []
    if not listed or not all(name in known for name in declared):
        faults.append(
            f"{where}: __interruptible__ is {shown(declared)}; it must be True, False, or names of "
            f"its fields: {', '.join(known) or 'it has none'}."
        )
        return True
    return tuple(declared)


def read_collecting(
    owner: str, cls: Any, pathways: Mapping[str, PathwaySpec], faults: list[str]
) -> dict[str, Any]:
    """Return what a journey says of collecting, by the names of the spec; note every fault."""
    faults += _kind_faults(owner, cls, "__escalation__", Escalation)
    faults += field_faults(owner, pathways)
    faults += _dependency_faults(pathways)
    faults += _effect_faults(pathways)
    manner = read_manner(owner, cls, faults)
    known = {"__patterns__": PATTERNS, "__migrations__": None}
    for name, keys in known.items():
        faults += _mapping_faults(owner, name, getattr(cls, name), keys, pathways)
    return {
        "escalation": cls.__escalation__,
        **manner,
        "patterns": dict(cls.__patterns__),
        "knowledge": read_knowledge(owner, cls.__knowledge__, faults),
        "migrations": dict(cls.__migrations__),
    }


def read_manner(owner: str, cls: Any, faults: list[str]) -> dict[str, Any]:
    """Return how a journey speaks, and what it words itself, by the names of the spec."""
    faults += _kind_faults(owner, cls, "__personality__", Personality)
    texts = read_texts(owner, cls.__texts__, faults)
    locale = _read_locale(owner, cls, faults)
    return {"personality": cls.__personality__ or Personality(), "locale": locale, "texts": texts}


def _read_locale(owner: str, cls: type, faults: list[str]) -> Locale:
    """Return the locale of a class: its own, with the parts of its bases that it leaves out.

    None in a body takes all parts of its bases away.
    """
    read = NOWHERE
    for body in reversed(cls.__mro__):
        declared = vars(body).get("__locale__", NOWHERE)
        if declared is None:
            read = NOWHERE
        elif isinstance(declared, Locale):
            read = declared.over(read)
        else:
            faults.append(f"{owner}: __locale__ is {shown(declared)}; it must be Locale(...).")
    return read


def _kind_faults(owner: str, cls: Any, name: str, kind: type) -> Iterator[str]:
    value = getattr(cls, name)
    if value is not None and not isinstance(value, kind):
        yield f"{owner}: {name} is {shown(value)}; it must be {kind.__name__}(...)."


def read_texts(owner: str, declared: Any, faults: list[str]) -> dict[str, dict[str, str]]:
    """Read the texts that a journey words anew: name -> text, or language -> name -> text."""
    if not isinstance(declared, Mapping):
        faults.append(f"{owner}: __texts__ is {shown(declared)}; write name -> text.")
        return {}
    read: dict[str, dict[str, str]] = {}
    for key, value in declared.items():
        by_language = key in LANGUAGES and isinstance(value, Mapping)
        for name, text in (value if by_language else {key: value}).items():
            if name not in Texts.__dataclass_fields__:
                hint = did_you_mean(str(name), tuple(Texts.__dataclass_fields__))
                faults.append(f"{owner}: __texts__ names '{name}', which nothing says.{hint}")
            elif not isinstance(text, str) or not text.strip():
                faults.append(f"{owner}: __texts__['{name}'] is {shown(text)}; it must be text.")
            elif fault := placeholder_fault(name, text):
                faults.append(f"{owner}: __texts__['{name}'] {fault}")
            else:
                read.setdefault(key if by_language else "", {})[name] = text
    return read


def field_faults(owner: str, pathways: Mapping[str, PathwaySpec]) -> Iterator[str]:
    """Yield the fields of one name that have two types."""
    first: dict[str, tuple[str, Field]] = {}
    for pathway in pathways.values():
        for field in pathway.form.fields if pathway.form else ():
            at, same = first.setdefault(field.name, (pathway.id, field))
            if (field.type, field.items) != (same.type, same.items):
                yield (
                    f"{owner}: the field '{field.name}' is {same.type} in '{at}' and {field.type} "
                    f"in '{pathway.id}'. Fields of one name are one field: rename one of them."
                )


def _effect_faults(pathways: Mapping[str, PathwaySpec]) -> Iterator[str]:
    for pathway in pathways.values():
        for effect in pathway.effects:
            if effect.change and effect.change not in pathways:
                hint = did_you_mean(effect.change, tuple(pathways))
                yield (
                    f"{pathway.where}: the effect '{effect.tool}' is changed in '{effect.change}', "
                    f"which is no pathway.{hint}"
                )


def _mapping_faults(
    owner: str,
    name: str,
    declared: Any,
    keys: Sequence[str] | None,
    pathways: Mapping[str, PathwaySpec],
) -> Iterator[str]:
    if not isinstance(declared, Mapping):
        yield f"{owner}: {name} is {shown(declared)}; write a dict that leads to pathways."
        return
    for key, target in declared.items():
        if keys is not None and key not in keys:
            hint = did_you_mean(str(key), keys)
            yield f"{owner}: {name} names '{key}'.{hint} One of: {', '.join(keys)}."
        if target not in pathways:
            hint = did_you_mean(str(target), tuple(pathways))
            yield f"{owner}: {name}['{key}'] leads to '{target}', which is no pathway.{hint}"
