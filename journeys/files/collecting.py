"""What a file says of collecting: its fields, and what is done with them, as a class has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from journeys.calls import ToolSpec
from journeys.effects import Effect
from journeys.errors import ConfigurationError, did_you_mean
from journeys.fields import Field, Form
from journeys.files.bounds import bound_fault
from journeys.files.form_collecting import EffectForm, FieldForm, FieldsForm, ValidatorForm
from journeys.files.part import Part
from journeys.files.rules import check_arguments, context_condition
from journeys.regexes import checked_pattern
from journeys.tool_checks import ToolCheck
from journeys.validators import Check, Length, Range, Regex, Validator

Made = TypeVar("Made")
Tools = Mapping[str, ToolSpec]


def form_of(
    part: Part, declared: Sequence[FieldForm] | FieldsForm | None, tools: Tools, *path: str | int
) -> Form | None:
    """Return the fields at a place of a file, noting their faults; None where there are none.

    Args:
        part: Of the file.
        declared: A list of fields, or a mapping that says how they are collected.
        tools: What validators may ask.
        path: Where it is written.
    """
    if declared is None:
        return None
    how: dict[str, Any] = {}
    if isinstance(declared, FieldsForm):
        how = {"order": declared.order, "confirm_corrections": declared.confirm_corrections}
        path = (*path, "fields")
    first: dict[str, int] = {}
    fields: list[Field] = []
    for number, item in enumerate(fields_in(declared)):
        before = first.setdefault(item.name, number)
        field = _field(part, item, tools, *path, number)
        if before == number:
            fields.append(field)
            continue
        line = part.tree.place(part.tree.written((*part.base, *path, before))).line
        said = f"there is a field '{item.name}' in line {line} already. Rename one of them."
        part.note(said, *path, number, "name")
    _check_dependencies(part, fields_in(declared), *path)
    return Form(fields, **how) if fields else None


def fields_in(declared: Sequence[FieldForm] | FieldsForm | None) -> Sequence[FieldForm]:
    """Return fields, however they are written."""
    return declared.fields if isinstance(declared, FieldsForm) else declared or ()


def _field(part: Part, form: FieldForm, tools: Tools, *path: str | int) -> Field:
    """Return a field; of one with faults, which are noted, only its name."""
    before = len(part.faults)
    when = context_condition(part, form.when, *path, "when") if form.when else None
    for number, pattern in enumerate(form.extract):
        _made(part, partial(checked_pattern, "extract", pattern), *path, "extract", number)
    validators = [
        _validator(part, form, item, tools, *path, "validators", number)
        for number, item in enumerate(form.validators)
    ]
    if len(part.faults) > before or not part.is_whole(form, *path):
        return Field(form.name)
    given = form.model_dump(exclude_unset=True)
    given |= {"when": when, "validators": [item for item in validators if item]}
    return _made(part, lambda: Field(**given), *path, at=_FAULTS_OF_FIELDS) or Field(form.name)


_FAULTS_OF_FIELDS = ("choices", "items", "ttl", "max_attempts")
"""Keys of a field by which its own faults begin."""


def _check_dependencies(part: Part, fields: Sequence[FieldForm], *path: str | int) -> None:
    for number, field in enumerate(fields):
        others = [other.name for other in fields if other.name != field.name]
        for at, name in enumerate(field.depends_on):
            if name not in others:
                hint = did_you_mean(name, others)
                known = f" Those: {', '.join(others)}." if others else ""
                said = f"'{name}' is no other field of this state.{hint}{known}"
                part.note(said, *path, number, "depends_on", at)


def _validator(
    part: Part, field: FieldForm, form: ValidatorForm, tools: Tools, *path: str | int
) -> Validator | None:
    if not part.is_whole(form, *path):
        return None
    ways = [name for name in ("regex", "range", "length", "check") if getattr(form, name)]
    if len(ways) != 1:
        both = f"it has {' and '.join(ways)}" if ways else "it says nothing of a value"
        part.note(f"{both}. Write one of regex, range, length and check.", *path)
        return None
    if form.check:
        if form.check not in tools:
            part.unknown("tool", form.check, list(tools), *path, "check")
        return Check(ToolCheck(form.check, field.name), form.message)
    if form.regex:
        return _made(part, lambda: Regex(form.regex, form.message), *path, "regex")
    if form.length is not None:
        length = form.length
        return _made(part, lambda: Length(length.least, length.most, form.message), *path, "length")
    return _range(part, field, form, *path, "range")


def _range(part: Part, field: FieldForm, form: ValidatorForm, *path: str | int) -> Validator | None:
    assert form.range is not None
    if not part.is_whole(form.range, *path) or not part.is_whole(field, *path[:-3]):
        return None
    bounds = {"least": form.range.least, "most": form.range.most}
    found = {
        name: fault
        for name, bound in bounds.items()
        if bound is not None and (fault := bound_fault(field.type, bound))
    }
    for name, fault in found.items():
        part.note(f"{name} is {bounds[name]!r}; {fault}", *path, name)
    if found:
        return None
    return _made(part, lambda: Range(**bounds, message=form.message), *path)


def _made(
    part: Part, make: Callable[[], Made], *path: str | int, at: Sequence[str] = ()
) -> Made | None:
    """Return what is made, noting why it cannot be: in the words of its class, at its key."""
    try:
        return make()
    except ConfigurationError as error:
        said = str(error).partition(": ")[2]
        key = said.partition(" ")[0]
        part.note(said, *path, *([key] if key in at and part.has(*path, key) else []))
        return None


def effects_of(
    part: Part, declared: Sequence[str | EffectForm], tools: Tools, *path: str | int
) -> tuple[Effect, ...]:
    """Return the effects at a place of a file, noting their faults."""
    effects: list[Effect] = []
    for number, item in enumerate(declared):
        form = item if isinstance(item, EffectForm) else EffectForm.model_validate({"tool": item})
        at = (*path, number)
        place = (*at, "tool") if isinstance(item, EffectForm) else at
        if form.tool in [effect.tool for effect in effects]:
            part.note(f"effects names '{form.tool}' twice. Take one of them away.", *place)
            continue
        if form.tool not in tools:
            part.unknown("tool", form.tool, list(tools), *place)
        else:
            check_arguments(part, form.arguments, tools[form.tool], *at, "arguments")
        effects.append(Effect(**form.model_dump()))
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
