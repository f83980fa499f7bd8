"""Hold the fields and effects of a file against its tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from journeys.calls import ToolSpec
from journeys.effects import Effect
from journeys.fields import Field, Form
from journeys.files.part import Part
from journeys.files.rules import check_arguments
from journeys.tool_checks import ToolCheck
from journeys.validators import Check

Tools = Mapping[str, ToolSpec]


def form_of(
    part: Part, declared: Sequence[Field] | Form | None, tools: Tools, *path: str | int
) -> Form | None:
    """Return the fields at a place of a file, noting what is not there; None where there are none.

    Args:
        part: Of the file.
        declared: A list of fields, or a form.
        tools: What validators may ask.
        path: Where it is written.
    """
    if declared is None:
        return None
    if isinstance(declared, Form):
        path = (*path, "fields")
    form = declared if isinstance(declared, Form) else Form.model_construct(fields=declared)
    first: dict[str, int] = {}
    for number, field in enumerate(form.fields):
        before = first.setdefault(field.name, number)
        if before != number:
            line = part.line(*path, before)
            said = f"there is a field '{field.name}' in line {line} already. Rename one of them."
            part.note(said, *path, number, "name")
        _check_validators(part, field, tools, *path, number, "validators")
    return form


def _check_validators(part: Part, field: Field, tools: Tools, *path: str | int) -> None:
    for number, validator in enumerate(field.validators):
        function = validator.function if isinstance(validator, Check) else None
        if isinstance(function, ToolCheck) and function.tool not in tools:
            part.unknown("tool", function.tool, list(tools), *path, number, "check")


def check_effects(
    part: Part, declared: Sequence[Effect], tools: Tools, *path: str | int
) -> tuple[Effect, ...]:
    """Return the effects at a place of a file, each once, noting what is not there."""
    effects: list[Effect] = []
    for number, effect in enumerate(declared):
        at = (*path, number)
        place = (*at, "tool") if part.has(*at, "tool") else at
        if effect.tool in [other.tool for other in effects]:
            part.note(f"effects names '{effect.tool}' twice. Take one of them away.", *place)
            continue
        if effect.tool not in tools:
            part.unknown("tool", effect.tool, list(tools), *place)
        else:
            check_arguments(part, effect.arguments, tools[effect.tool], *at, "arguments")
        effects.append(effect)
    return tuple(effects)


def interruptible_of(
    part: Part, declared: bool | Sequence[str], form: Form | None, *path: str | int
) -> bool | tuple[str, ...]:
    """Return where a state may be interrupted, noting names that are no fields of it."""
    if isinstance(declared, bool):
        return declared
    known = [field.name for field in form.fields] if form else []
    for number, name in enumerate(declared):
        if name not in known:
            part.unknown("field", name, known, *path, number)
    return tuple(dict.fromkeys(declared))
