"""Text of a definition file in, frozen specs out; every fault of it in one error.

An agent file becomes a journey of one state that collects, and one that takes leave.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from journeygraph.journeys.agents.tools import ToolSpec
from journeygraph.journeys.definitions.definition import Definition
from journeygraph.journeys.errors import JourneyDefinitionError
from journeygraph.journeys.faults import Fault, Place, Where
from journeygraph.journeys.files.documents import TextFault, Tree, tree_of
from journeygraph.journeys.files.form import FORMS, AgentForm, GuidelinesForm, JourneyForm, kind_of
from journeygraph.journeys.files.part import FileSource, InFile, Part, in_order, unreadable
from journeygraph.journeys.files.rules import (
    check_tools,
    guidelines_of,
    related,
    returns_of,
    transitions_of,
)
from journeygraph.journeys.files.states import (
    check_effects,
    check_form,
    pathway_of,
    saying,
    tools_of,
)
from journeygraph.journeys.notions.guidelines import GuidelineSpec
from journeygraph.journeys.notions.personality import Personality
from journeygraph.journeys.reading.reader import joined
from journeygraph.journeys.spec.checks import collected_faults, reference_faults, target_faults
from journeygraph.journeys.spec.hashing import content_hash
from journeygraph.journeys.spec.spec import JourneySpec, PathwaySpec, TransitionSpec
from journeygraph.journeys.spec.warning_signs import kept_names, unset_inputs

MOST_BYTES = 256 * 1024
"""Longest file, in bytes."""


def read_tree(text: str, name: str) -> Tree:
    """Return the text of a file, YAML or JSON, as data with places.

    Raises:
        JourneyDefinitionError: It is too long, empty, or no such text; with what else was found.
    """
    text = text.removeprefix("\ufeff")
    if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
        raise too_large(name)
    tree = tree_of(text)
    if tree.value is None and not tree.faults:
        tree.faults.append(TextFault(Place(1, 1), "the file is empty.", "Write a journey."))
    return tree


def too_large(name: str) -> JourneyDefinitionError:
    """Return the error of a file that is too long."""
    message = f"the file is larger than {MOST_BYTES // 1024} kB."
    return unreadable(name, TextFault(Place(1, 1), message, "Split it."))


def read_document(text: str, name: str, wanted: Sequence[str]) -> tuple[Part, Definition | None]:
    """Return a file's content and, as far as it fits, its form; its faults are noted in the part.

    Args:
        text: The text of the file.
        name: Its name, for messages.
        wanted: Kinds of documents that it may be.

    Raises:
        JourneyDefinitionError: It cannot be read, or is of another kind.
    """
    tree = read_tree(text, name)
    part = Part(name, tree)
    kind = kind_of(tree.value)
    broken = tree.broken or tree.value is None or kind not in wanted
    if not broken:
        form = FORMS[kind].read(tree.value, FileSource(part))
        told = {fault.place for fault in tree.faults}
        part.faults[:] = [fault for fault in part.faults if fault.place not in told]
    elif not tree.faults:
        listed = " or ".join(wanted)
        part.note(f"this is a file of kind {kind}", remedy=f"it must be of kind {listed}.")
    part.note_text(tree.faults)
    if broken:
        raise JourneyDefinitionError(in_order(part.faults))
    return part, form


def refuse(faults: Sequence[Fault]) -> None:
    """Raise what was found, if anything.

    Raises:
        JourneyDefinitionError: With all faults in the order of their places.
    """
    if faults:
        raise JourneyDefinitionError(in_order(faults))


def journey_of(part: Part, form: JourneyForm) -> JourneySpec | None:
    """Return the journey in a part of a file; None if that or the rest of the file has faults."""
    owner = part.where(f"journey '{form.id}'")
    tools = tools_of(part, form.tools)
    returns = returns_of(part, form)
    pathways = {id_: pathway_of(part, id_, form, tools, returns) for id_ in form.states}
    _say_where_detours_stand(part, form, pathways)
    transitions = transitions_of(part, form)
    part.faults += reference_faults(owner, form.entry_pathway, pathways, transitions)
    part.faults += collected_faults(pathways)
    part.faults += target_faults(owner, "__patterns__", form.patterns, pathways)
    part.faults += target_faults(owner, "__migrations__", form.migrations, pathways)
    guidelines = _guidelines(part, form)
    _check_guideline_tools(part, form, list(tools))
    entry = form.entry_pathway or next(iter(pathways))
    spec = whole(part, form, owner, entry, pathways, transitions, guidelines, tools=tools)
    return spec and _with_inputs(part, form, spec)


def _with_inputs(part: Part, form: JourneyForm, spec: JourneySpec) -> JourneySpec:
    """Return a journey that knows which inputs of its states nothing sets."""
    if spec.activation:
        return spec
    known = kept_names(spec)
    found = [
        (name, said)
        for id_, state in form.states.items()
        for name, said in unset_inputs(spec.pathways[id_].where, state.inputs, known)
    ]
    return replace(spec, unset=(*spec.unset, *found))


def whole(
    part: Part,
    form: JourneyForm | AgentForm,
    owner: Where,
    entry: str,
    pathways: Mapping[str, PathwaySpec],
    transitions: Sequence[TransitionSpec],
    guidelines: tuple[GuidelineSpec, ...],
    **known: Any,
) -> JourneySpec | None:
    """Return a journey out of its parts; None if that or the rest of the file has faults."""
    if part.faults:
        return None
    spec = joined(
        entry,
        pathways,
        transitions,
        id=form.id,
        where=owner,
        name=form.name or form.id.replace("_", " ").capitalize(),
        purpose=form.instructions,
        sensitive=form.sensitive,
        version=form.version or content_hash("file", part.at()),
        **{**form.flow(guidelines), **form.manner(), **known},
    )
    return replace(spec, warnings=(*spec.warnings, *_over_at_once(spec)))


def global_guidelines_of(part: Part, form: GuidelinesForm) -> tuple[GuidelineSpec, ...]:
    """Return the guidelines of a file that has nothing else."""
    specs = guidelines_of(part, form.guidelines, "guidelines", journey=None)
    return related(part, specs, len(form.guidelines))


def _guidelines(part: Part, form: JourneyForm) -> tuple[GuidelineSpec, ...]:
    specs = guidelines_of(part, form.guidelines, "guidelines", journey=form.id)
    for id_, state in form.states.items():
        path = ("states", id_, "guidelines")
        specs += guidelines_of(part, state.guidelines, *path, journey=form.id, state=id_)
    written = [form.guidelines, *(state.guidelines for state in form.states.values())]
    return related(part, specs, sum(map(len, written)))


def _check_guideline_tools(part: Part, form: JourneyForm, known: Sequence[str]) -> None:
    written: list[tuple[Any, ...]] = [((), form.guidelines)]
    written += [(("states", id_), state.guidelines) for id_, state in form.states.items()]
    for path, guidelines in written:
        for number, guideline in enumerate(guidelines):
            check_tools(part, guideline.tools, known, *path, "guidelines", number, "tools")


def _say_where_detours_stand(
    part: Part, form: JourneyForm, pathways: Mapping[str, PathwaySpec]
) -> None:
    for number, item in enumerate(form.transitions):
        if item.to_pathway in pathways:
            where = cast("InFile", pathways[item.to_pathway].where)
            where.elsewhere["detour"] = part.path("transitions", number, "detour", "return_to")


def _over_at_once(spec: JourneySpec) -> Iterator[Fault]:
    """Warn of a journey that a first reply completes; one among others may want just that."""
    entry = spec.pathways[spec.entry]
    at_once = entry.complete_when is None and entry.form is None and entry.next is None
    if at_once and not spec.activation:
        yield Fault(
            "its first reply completes the journey, unless the message leads elsewhere.",
            remedy="If the conversation continues, write next, or 'complete_when: never'.",
            where=entry.where,
        )


DETAILS, COMPLETION = "details", "completion"
"""Ids of the states of an agent."""


def agent_of(part: Part, form: AgentForm) -> JourneySpec | None:
    """Return the agent in a part of a file as a journey; None if that or the rest has faults."""
    tools = tools_of(part, form.tools)
    owner = part.where(f"agent '{form.id}'")
    return whole(
        part,
        form,
        owner,
        DETAILS,
        {pathway.id: pathway for pathway in _pathways(part, form, tools, owner)},
        [],
        _agent_guidelines(part, form, list(tools)),
        tools=tools,
        personality=_personality(form),
    )


def _personality(form: AgentForm) -> Personality:
    """Return the personality of an agent; without a name it has the name of the agent."""
    given = form.personality or Personality()
    return given if given.name else given.model_copy(update={"name": form.name})


def _pathways(
    part: Part, form: AgentForm, tools: Mapping[str, ToolSpec], where: Where
) -> Iterator[PathwaySpec]:
    title = form.title or "your details"
    check_form(part, form.fields, tools, "fields")
    check_effects(part, form.effects, tools, "effects")
    details = PathwaySpec(
        id=DETAILS,
        where=where,
        purpose=form.instructions,
        title=title,
        next=COMPLETION if form.completion else None,
        tools=(),
        runs_on_arrival=True,
    )
    # Both are judged by their places in the file.
    yield details.model_copy(update={"form": form.fields, "effects": form.effects})
    for number, effect in enumerate(form.effects):
        if effect.change:
            message = "change names a state, and an agent has no other states."
            part.note(message, "effects", number, "change", remedy="Remove it.")
    if form.completion:
        leave = saying(COMPLETION, form.completion)
        yield PathwaySpec(
            id=COMPLETION,
            where=where,
            purpose=form.instructions,
            title=title,
            pipeline=leave,
            runs_on_arrival=True,
            tools=(),
        )


def _agent_guidelines(
    part: Part, form: AgentForm, tools: Sequence[str]
) -> tuple[GuidelineSpec, ...]:
    for number, guideline in enumerate(form.guidelines):
        check_tools(part, guideline.tools, tools, "guidelines", number, "tools")
    specs = guidelines_of(part, form.guidelines, "guidelines", journey=form.id)
    return related(part, specs, len(form.guidelines))
