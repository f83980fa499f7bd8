"""The states of a file: each becomes a pathway."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from journeys.behaviors import NEVER, known
from journeys.calls import Call, ToolSpec
from journeys.errors import did_you_mean
from journeys.files.collecting import effects_of, fields_in, form_of, interruptible_of
from journeys.files.declared import knowledge_of
from journeys.files.form import CallForm, JourneyForm, StateForm, ToolForm
from journeys.files.form_agent import AgentForm
from journeys.files.form_basics import KnownForm, WhenForm
from journeys.files.outputs import accumulated, signature_of
from journeys.files.part import Part
from journeys.files.rules import Returns, check_arguments, check_tools, context_condition
from journeys.files.saying import saying
from journeys.flow_reader import read_calls
from journeys.pipeline_reader import read_pipeline, registered
from journeys.pipelines.pattern import PatternPipeline
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
    named = _agents(part, id_, state)
    collected = form_of(part, state.fields, tools, *path, "fields")
    say_where_it_collects(part, state, where, *path)
    faults: list[str] = []
    pipeline = read_pipeline(_pipeline(state), id_, where, named, faults)
    if state.say:
        pipeline, named = _saying(part, id_, state), ()
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
        runs_on_arrival=state.on_arrival == "run" or collected is not None,
        timeout=None if state.timeout is None else float(state.timeout),
        action=state.action,
        calls=calls,
        title=state.title or id_.replace("_", " "),
        form=collected,
        effects=effects_of(part, state.effects, tools, *path, "effects"),
        interruptible=interruptible_of(
            part, state.interruptible, collected, *path, "interruptible"
        ),
        knowledge=knowledge_of(state.knowledge),
    )


def _check_kind(part: Part, state: StateForm, path: tuple[str, str]) -> None:
    collects = part.has(*path, "outputs") or part.has(*path, "fields")
    if state.kind == "collect" and not collects:
        said = "a state of kind collect needs fields that it asks for, or outputs of its agents."
        part.note(said, *path, "kind")
    if state.kind == "tool" and not part.has(*path, "calls"):
        part.note("a state of kind tool needs calls: the tools it calls.", *path, "kind")
    if part.has(*path, "fields") and "on_arrival" in state.model_fields_set:
        said = (
            "a state with fields asks for them as soon as another state leads here. Take it away."
        )
        part.note(f"on_arrival: {said}", *path, "on_arrival")


def say_where_it_collects(
    part: Part, form: StateForm | AgentForm, where: str, *path: str | int
) -> None:
    """Say where the fields and effects of a state stand, which warnings name."""
    within = ("fields",) if isinstance(form.fields, list) else ("fields", "fields")
    for number, field in enumerate(fields_in(form.fields)):
        part.stands(where, f"field '{field.name}'", *path, *within, number)
    for number, effect in enumerate(form.effects):
        tool = effect if isinstance(effect, str) else effect.tool
        part.stands(where, f"effect '{tool}'", *path, "effects", number)


_OF_AGENTS = ("outputs", "inputs", "pipeline", "tools")
"""Keys of a state that say nothing where nobody works in it."""


def _agents(part: Part, id_: str, state: StateForm) -> tuple[str, ...]:
    """Return the names of a state's agents; one with fields has none of its own accord."""
    path = ("states", id_)
    if state.agents is None and not part.has(*path, "fields") and not state.say:
        return (id_,)
    named = tuple(state.agents or ())
    for number, name in enumerate(named):
        if name in named[:number]:
            part.note(f"agents names '{name}' twice.", *path, "agents", number)
    stray = [key for key in _OF_AGENTS if key in state.model_fields_set]
    if stray and state.agents is None and not state.say:
        said = f"{stray[0]} is for agents, and a state with fields has none of its own accord."
        part.note(f"{said} Name them in agents, or take it away.", *path, stray[0])
    return named


def _saying(part: Part, id_: str, state: StateForm) -> PatternPipeline:
    path = ("states", id_)
    for key in ("agents", "action", *_OF_AGENTS):
        if key in state.model_fields_set:
            said = f"{key} is for agents, and `say` speaks in their place. Take one of them away."
            part.note(said, *path, key)
    return saying(id_, state.say)


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
            check_arguments(part, form.arguments, tools[form.tool], *at, "arguments")
        calls.append(Call(form.tool, dict(form.arguments), form.save))
    return calls


def _check_awaited(part: Part, written: Sequence[str | KnownForm], *path: str) -> None:
    names = [item.known for item in written if isinstance(item, KnownForm)]
    for number, item in enumerate(written):
        if item in names:
            part.note(f"'{item}' is known as well. Take one of the two out.", *path, number)


def _completion(part: Part, state: StateForm, path: tuple[str, str]) -> Completion:
    """Return when a state is complete; a collecting one: when it has all that it collects."""
    written = state.complete_when
    if written == "never":
        return NEVER
    if isinstance(written, WhenForm):
        return context_condition(part, written.when, *path, "complete_when", "when")
    if isinstance(written, list):
        _check_awaited(part, written, *path, "complete_when")
        items = (known(item.known) if isinstance(item, KnownForm) else item for item in written)
        return tuple(dict.fromkeys(items))
    return (tuple(state.outputs) or None) if state.kind == "collect" else None
