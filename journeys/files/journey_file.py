"""Text of a definition file in, frozen specs out; every fault of it in one error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from journeygraph.journeys.declarations.guidelines import Guideline, GuidelineSpec
from journeygraph.journeys.definitions.definition import Definition
from journeygraph.journeys.errors import JourneyDefinitionError
from journeygraph.journeys.faults import Fault, TextPosition
from journeygraph.journeys.files.documents import TextFault, Tree, tree_of
from journeygraph.journeys.files.form import (
    DETAILS,
    FORMS,
    AgentForm,
    GuidelinesForm,
    JourneyForm,
    kind_of,
)
from journeygraph.journeys.files.part import FilePart, FileSource, InFile, in_order, unreadable
from journeygraph.journeys.files.rules import check_tools, guidelines_of, returns_of
from journeygraph.journeys.files.states import pathway_of, tools_of
from journeygraph.journeys.reading.builder import JourneyDraft, build
from journeygraph.journeys.reading.rule_reader import read_guidelines, related
from journeygraph.journeys.spec.spec import JourneySpec, PathwaySpec
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
        tree.faults.append(TextFault(TextPosition(1, 1), "the file is empty.", "Write a journey."))
    return tree


def too_large(name: str) -> JourneyDefinitionError:
    """Return the error of a file that is too long."""
    message = f"the file is larger than {MOST_BYTES // 1024} kB."
    return unreadable(name, TextFault(TextPosition(1, 1), message, "Split it."))


def read_document(
    text: str, name: str, wanted: Sequence[str]
) -> tuple[FilePart, Definition | None]:
    """Return a file's content and, as far as it fits, its form; its faults are noted in the part.

    Raises:
        JourneyDefinitionError: It cannot be read, or is of another kind.
    """
    tree = read_tree(text, name)
    part = FilePart(name, tree)
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


def journey_of(part: FilePart, form: JourneyForm) -> JourneySpec | None:
    """Return the journey in a part of a file; None if that or the rest of the file has faults."""
    tools = tools_of(part, form.tools)
    returns = returns_of(part, form)
    pathways = {id_: pathway_of(part, id_, form, tools, returns) for id_ in form.states}
    _say_where_detours_stand(part, form, pathways)
    _check_guideline_tools(part, form, list(tools))
    guidelines = guidelines_of(part, form.guidelines, "guidelines")
    for id_, state in form.states.items():
        path = ("states", id_, "guidelines")
        guidelines += guidelines_of(part, state.guidelines, *path, state=id_)
    draft = JourneyDraft(
        id=form.id,
        name=form.name or form.id.replace("_", " ").capitalize(),
        where=part.where(f"{'agent' if part.only else 'journey'} '{form.id}'"),
        purpose=form.instructions,
        whole=form,
        pathways=pathways,
        transitions=[
            (part.where(f"transition to '{item.to_pathway}'", "transitions", number), item)
            for number, item in enumerate(form.transitions)
            if item.to_pathway  # else its fault is known
        ],
        guidelines=guidelines,
        tools=tools,
        made_of=("file", part.at()),
    )
    spec = build(draft, part.faults)
    return spec and _with_warnings(part, form, spec)


def _with_warnings(part: FilePart, form: JourneyForm, spec: JourneySpec) -> JourneySpec:
    known = kept_names(spec)
    found = [
        (name, said)
        for id_, state in form.states.items()
        for name, said in unset_inputs(spec.pathways[id_].where, state.inputs, known)
    ]
    unset = () if spec.activation else tuple(found)
    warnings = (*spec.warnings, *_over_at_once(spec))
    return replace(spec, judged=(warnings, (*spec.unset, *unset)))


def global_guidelines_of(part: FilePart, form: GuidelinesForm) -> tuple[GuidelineSpec, ...]:
    """Return the guidelines of a file that has nothing else."""
    written = guidelines_of(part, form.guidelines, "guidelines")
    found = read_guidelines(written, part.faults, journey=None)
    return related(found, part.faults, len(written))


def _check_guideline_tools(part: FilePart, form: JourneyForm, known: Sequence[str]) -> None:
    written: list[tuple[tuple[str, ...], Sequence[Guideline]]] = [((), form.guidelines)]
    written += [(("states", id_), state.guidelines) for id_, state in form.states.items()]
    for path, guidelines in written:
        for number, guideline in enumerate(guidelines):
            check_tools(part, guideline.tools, known, *path, "guidelines", number, "tools")


def _say_where_detours_stand(
    part: FilePart, form: JourneyForm, pathways: Mapping[str, PathwaySpec]
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


def agent_of(part: FilePart, form: AgentForm) -> JourneySpec | None:
    """Return the agent in a part of a file as a journey; None if that or the rest has faults."""
    inner = FilePart(part.name, part.tree, part.base, part.faults, DETAILS)
    return journey_of(inner, form.as_journey())
