"""An agent file in, a journey out: one state that collects, and one that takes leave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from journeys.agents.tools import ToolSpec
from journeys.faults import Where
from journeys.files.form import AgentForm
from journeys.files.journey_file import whole
from journeys.files.part import Part
from journeys.files.rules import check_tools, guidelines_of, related
from journeys.files.states import check_effects, check_form, saying, tools_of
from journeys.notions.guidelines import GuidelineSpec
from journeys.notions.personality import Personality
from journeys.spec.spec import JourneySpec, PathwaySpec

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
        _guidelines(part, form, list(tools)),
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


def _guidelines(part: Part, form: AgentForm, tools: Sequence[str]) -> tuple[GuidelineSpec, ...]:
    for number, guideline in enumerate(form.guidelines):
        check_tools(part, guideline.tools, tools, "guidelines", number, "tools")
    specs = guidelines_of(part, form.guidelines, "guidelines", journey=form.id)
    return related(part, specs, len(form.guidelines))
