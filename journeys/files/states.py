"""The states of a file: each becomes a pathway."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from journeys.behaviors import NEVER
from journeys.calls import Call, ToolSpec
from journeys.errors import did_you_mean
from journeys.files.form import CallForm, JourneyForm, StateForm, ToolForm
from journeys.files.form_basics import WhenForm
from journeys.files.outputs import accumulated, signature_of
from journeys.files.part import Part
from journeys.files.rules import Returns, check_tools, context_condition
from journeys.flow_reader import read_calls
from journeys.pipeline_reader import read_pipeline, registered
from journeys.spec import Completion, PathwaySpec, frozen


def tools_of(part: Part, forms: Sequence[ToolForm]) -> dict[str, ToolSpec]:
    """Return the tools that a journey declares, by name."""
    tools: dict[str, ToolSpec] = {}
    for number, form in enumerate(forms):
        function, path = form.function, ("tools", number, "function")
        if function.name in tools:
            part.note(f"there are two tools '{function.name}'. Rename one.", *path, "name")
        faults = _parameter_faults(function.parameters)
        for said, *at in faults:
            part.note(said, *path, "parameters", *at)
        parameters = {} if faults else function.parameters
        tools[function.name] = ToolSpec(function.name, function.description, parameters)
    return tools


def _parameter_faults(schema: Mapping[str, Any]) -> list[tuple[str, *tuple[str, ...]]]:
    known = schema.get("properties", {})
    if schema.get("type") != "object":
        return [("the schema of a tool's arguments has type: object.",)]
    if not isinstance(known, dict) or not all(isinstance(item, dict) for item in known.values()):
        return [("properties must be a mapping of names to schemas.", "properties")]
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        return [("required must be a list of names.", "required")]
    return [
        (
            f"required names '{name}', which is no property.{did_you_mean(name, list(known))}",
            "required",
        )
        for name in required
        if name not in known
    ]


def pathway_of(
    part: Part,
    id_: str,
    form: JourneyForm,
    tools: Mapping[str, ToolSpec],
    returns: Mapping[str, Returns],
) -> PathwaySpec:
    """Return a state as a pathway, noting its faults."""
    state, path = form.states[id_], ("states", id_)
    where = part.where(f"state '{id_}'", *path)
    _check_kind(part, state, path)
    check_tools(part, state.tools, list(tools), *path, "tools")
    named = (id_,) if state.agents is None else tuple(state.agents)
    _check_agents(part, named, path)
    faults: list[str] = []
    pipeline = read_pipeline(_pipeline(state), id_, where, named, faults)
    calls = read_calls(where, _calls(part, state, tools, path), faults)
    part.note_read(faults)
    return PathwaySpec(
        id=id_,
        where=where,
        purpose=state.purpose,
        signature=signature_of(part, id_, form) if named else None,
        agents=registered(pipeline, named),
        tools=tuple(dict.fromkeys(state.tools)),
        pipeline=pipeline,
        accumulate=frozen(accumulated(state)),
        next=state.next,
        returns=returns.get(id_),
        complete_when=_completion(part, state, path),
        runs_on_arrival=state.on_arrival == "run",
        timeout=None if state.timeout is None else float(state.timeout),
        action=state.action,
        calls=calls,
    )


def _check_kind(part: Part, state: StateForm, path: tuple[str, str]) -> None:
    if state.kind == "collect" and not part.has(*path, "outputs"):
        said = "a state of kind collect needs outputs: what is to be collected."
        part.note(said, *path, "kind")
    if state.kind == "tool" and not part.has(*path, "calls"):
        part.note("a state of kind tool needs calls: the tools it calls.", *path, "kind")


def _check_agents(part: Part, named: Sequence[str], path: tuple[str, str]) -> None:
    for number, name in enumerate(named):
        if name in named[:number]:
            part.note(f"agents names '{name}' twice.", *path, "agents", number)


def _pipeline(state: StateForm) -> tuple[str, dict[str, Any]]:
    """Return the name of a pattern, and its settings."""
    if isinstance(state.pipeline, str):
        return state.pipeline, {}
    return state.pipeline.pattern, dict(state.pipeline.model_extra or {})


def _calls(
    part: Part, state: StateForm, tools: Mapping[str, ToolSpec], path: tuple[str, str]
) -> list[Call]:
    calls = []
    for number, item in enumerate(state.calls):
        at = (*path, "calls", number)
        form = item if isinstance(item, CallForm) else CallForm.model_validate({"tool": item})
        if form.tool not in tools:
            place = (*at, "tool") if isinstance(item, CallForm) else at
            part.unknown("tool", form.tool, list(tools), *place)
        else:
            _check_arguments(part, form, tools[form.tool], *at, "arguments")
        calls.append(Call(form.tool, dict(form.arguments), form.save))
    return calls


def _check_arguments(part: Part, form: CallForm, tool: ToolSpec, *path: str | int) -> None:
    known = list(tool.parameters.get("properties", form.arguments))
    for name in form.arguments:
        if name not in known:
            hint = did_you_mean(name, known)
            takes = ", ".join(known) or "nothing"
            said = f"'{name}' is no parameter of {form.tool}.{hint} It takes: {takes}."
            part.note(said, *path, name)


def _completion(part: Part, state: StateForm, path: tuple[str, str]) -> Completion:
    """Return when a state is complete; a collecting one: when it has all that it collects."""
    written = state.complete_when
    if written == "never":
        return NEVER
    if isinstance(written, WhenForm):
        return context_condition(part, written.when, *path, "complete_when", "when")
    if isinstance(written, list):
        return tuple(dict.fromkeys(written))
    return tuple(state.outputs) if state.kind == "collect" else None
