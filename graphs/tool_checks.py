"""Validators that are tools take their places in a journey that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from journeys import Call, Field, JourneySpec, PathwaySpec
from journeys.spec import frozen
from journeys.tool_checks import ToolCheck
from journeys.validators import Check, Validator
from nodes.llm.tools import Occasion, Toolbox


def checking_tools(spec: JourneySpec) -> list[str]:
    """Return the names of the tools that check values."""
    return [check.tool for pathway in spec.pathways.values() for check in _checks(pathway)]


def with_tools(spec: JourneySpec, toolbox: Toolbox) -> JourneySpec:
    """Return a journey whose validators ask the tools that they name."""
    if not checking_tools(spec):
        return spec
    pathways = {id_: _bound(pathway, toolbox) for id_, pathway in spec.pathways.items()}
    parts = {id_: with_tools(part, toolbox) for id_, part in spec.parts.items()}
    return replace(spec, pathways=frozen(pathways), parts=frozen(parts))


def _checks(pathway: PathwaySpec) -> list[ToolCheck]:
    fields = pathway.form.fields if pathway.form else ()
    functions = [v.function for field in fields for v in field.validators if isinstance(v, Check)]
    return [function for function in functions if isinstance(function, ToolCheck)]


def _bound(pathway: PathwaySpec, toolbox: Toolbox) -> PathwaySpec:
    if pathway.form is None or not _checks(pathway):
        return pathway
    fields = [_bound_field(field, toolbox) for field in pathway.form.fields]
    return replace(pathway, form=replace(pathway.form, fields=fields))


def _bound_field(field: Field, toolbox: Toolbox) -> Field:
    return replace(field, validators=[_asking(item, toolbox) for item in field.validators])


def _asking(
    validator: Validator | Callable[..., Any], toolbox: Toolbox
) -> Validator | Callable[..., Any]:
    if isinstance(validator, Check) and isinstance(validator.function, ToolCheck):
        return replace(validator, function=_Asked(validator.function, toolbox))
    return validator


@dataclass(frozen=True, slots=True)
class _Asked:
    """A tool as a function that checks values; see `ToolCheck`."""

    check: ToolCheck
    toolbox: Toolbox

    async def __call__(self, value: Any, context: Mapping[str, Any]) -> Any:
        known = {"value": value, **context, self.check.field: value}
        arguments, missing = self.toolbox.arguments_of(Call(self.check.tool), known)
        if missing:
            return None
        return await self.toolbox.call(self.check.tool, arguments, Occasion(context))
