"""Read forms, effects and interruptibility from a class body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from journeys.errors import did_you_mean, shown
from journeys.faults import Fault
from journeys.locale import LANGUAGES, NOWHERE, Locale
from journeys.notions.fields import Field
from journeys.notions.personality import Personality
from journeys.spec.spec import PathwaySpec
from journeys.texts.catalogue import Texts, placeholder_fault

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


def _dependency_faults(pathways: Mapping[str, PathwaySpec]) -> Iterator[Fault]:
    """Yield the fields that depend on what no pathway collects."""
    names = list(dict.fromkeys(field.name for _, _, field in _fields(pathways)))
    for pathway, number, field in _fields(pathways):
        for at, name in enumerate(field.depends_on):
            if name == field.name or name not in names:
                hint = did_you_mean(name, [other for other in names if other != field.name])
                said = f"field '{field.name}' depends on '{name}', no other field."
                path = ("fields", number, "depends_on", at)
                yield Fault(said, *path, remedy=hint, where=pathway.where)


def collected_faults(pathways: Mapping[str, PathwaySpec]) -> Iterator[Fault]:
    """Yield what only shows when all that is collected is known together."""
    yield from field_faults(pathways)
    yield from _dependency_faults(pathways)
    yield from _effect_faults(pathways)


def _fields(pathways: Mapping[str, PathwaySpec]) -> Iterator[tuple[PathwaySpec, int, Field]]:
    for pathway in pathways.values():
        for number, field in enumerate(pathway.form.fields if pathway.form else ()):
            yield pathway, number, field


def read_collecting(
    owner: str, cls: Any, pathways: Mapping[str, PathwaySpec], faults: list[Fault]
) -> dict[str, Any]:
    """Return what a journey says of collecting, by the names of the spec; note every fault."""
    faults += collected_faults(pathways)
    manner = read_manner(owner, cls, faults)
    known = {"__patterns__": PATTERNS, "__migrations__": None}
    for name, keys in known.items():
        faults += mapping_faults(owner, name, getattr(cls, name), keys, pathways)
    return {
        **manner,
        "patterns": dict(cls.__patterns__),
        "migrations": dict(cls.__migrations__),
    }


def read_manner(owner: str, cls: Any, faults: list[Fault]) -> dict[str, Any]:
    """Return how a journey speaks, and what it words itself, by the names of the spec."""
    texts = read_texts(owner, cls.__texts__, faults)
    locale = _read_locale(owner, cls, faults)
    return {"personality": cls.__personality__ or Personality(), "locale": locale, "texts": texts}


def _read_locale(owner: str, cls: type, faults: list[Fault]) -> Locale:
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
            faults.append(
                Fault(
                    f"__locale__ is {shown(declared)}",
                    "locale",
                    remedy="it must be Locale(...).",
                    where=owner,
                )
            )
    return read


def read_texts(owner: str, declared: Any, faults: list[Fault]) -> dict[str, dict[str, str]]:
    """Read the texts that a journey words anew: name -> text, or language -> name -> text."""
    if not isinstance(declared, Mapping):
        faults.append(
            Fault(
                f"__texts__ is {shown(declared)}",
                "texts",
                remedy="write name -> text.",
                where=owner,
            )
        )
        return {}
    read: dict[str, dict[str, str]] = {}
    for key, value in declared.items():
        by_language = key in LANGUAGES and isinstance(value, Mapping)
        for name, text in (value if by_language else {key: value}).items():
            said, remedy, shown_as = "", "", f"__texts__['{name}']"
            if name not in Texts.__dataclass_fields__:
                remedy = did_you_mean(str(name), tuple(Texts.__dataclass_fields__))
                said = f"{shown_as}: '{name}' is no text of the runtime."
            elif not isinstance(text, str) or not text.strip():
                said, remedy = f"{shown_as} is {shown(text)}", "it must be text."
            elif fault := placeholder_fault(name, text):
                said = f"{shown_as} {fault}"
            else:
                read.setdefault(key if by_language else "", {})[name] = text
            if said:
                path = (key, name) if by_language else (key,)
                faults.append(Fault(said, "texts", *path, remedy=remedy, where=owner))
    return read


def field_faults(pathways: Mapping[str, PathwaySpec]) -> Iterator[Fault]:
    """Yield the fields of one name that have two types."""
    first: dict[str, tuple[str, Field]] = {}
    for pathway, number, field in _fields(pathways):
        if not field.has_sound("type", "items"):
            continue
        at, same = first.setdefault(field.name, (pathway.id, field))
        if (field.type, field.items) != (same.type, same.items) and at != pathway.id:
            said = f"the field '{field.name}' is {same.type} in '{at}' and {field.type} here."
            remedy = "Fields of one name are one field: rename one of them."
            yield Fault(said, "fields", number, remedy=remedy, where=pathway.where)


def _effect_faults(pathways: Mapping[str, PathwaySpec]) -> Iterator[Fault]:
    for pathway in pathways.values():
        for number, effect in enumerate(pathway.effects):
            if effect.change and effect.change not in pathways:
                hint = did_you_mean(effect.change, tuple(pathways))
                said = f"effect '{effect.tool}' is changed in '{effect.change}', no pathway here."
                remedy = f"{hint} Its pathways: {', '.join(pathways)}."
                path = ("effects", number, "change")
                yield Fault(said, *path, remedy=remedy, where=pathway.where)


def mapping_faults(
    owner: str,
    name: str,
    declared: Any,
    keys: Sequence[str] | None,
    pathways: Mapping[str, PathwaySpec],
) -> Iterator[Fault]:
    """Yield what is wrong with names that lead to pathways."""
    if not isinstance(declared, Mapping):
        yield Fault(
            f"{name} is {shown(declared)}",
            remedy="write a dict that leads to pathways.",
            where=owner,
        )
        return
    path = name.strip("_")
    for key, target in declared.items():
        if keys is not None and key not in keys:
            hint = did_you_mean(str(key), keys)
            said, remedy = f"{name}: '{key}' is no repair pattern.", f"One of: {', '.join(keys)}."
            yield Fault(said, path, key, remedy=f"{hint} {remedy}", where=owner)
        if target not in pathways:
            hint = did_you_mean(str(target), tuple(pathways))
            said = f"{name}['{key}'] leads to '{target}', which is no pathway."
            remedy = f"{hint} Its pathways: {', '.join(pathways)}."
            yield Fault(said, path, key, remedy=remedy, where=owner)
