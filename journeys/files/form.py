"""Parts of a definition file that class bodies do not have.

The published JSON Schema is made of these models. What each part means is in docs/files.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from journeys.agents.calls import Call, ToolSpec
from journeys.definitions.definition import Definition
from journeys.definitions.value_types import (
    BY_SHAPE,
    NOT_EMPTY,
    Checked,
    ContextName,
    FieldName,
    Listed,
    Name,
    OneOf,
    Phrase,
    Seconds,
    Short,
    Text,
    ToolName,
)
from journeys.locale import Locale
from journeys.notions.behaviors import Known
from journeys.notions.context import MergeStrategy
from journeys.notions.effects import Effect
from journeys.notions.escalation import Escalation
from journeys.notions.fields import Field as Asked
from journeys.notions.fields import Form
from journeys.notions.guidelines import Guideline
from journeys.notions.knowledge import Knowledge
from journeys.notions.transitions import (
    BaseTrigger,
    ConditionTrigger,
    HandOver,
    Transition,
    Triggered,
)
from journeys.pipelines.shapes import BY_PATTERN, InPathway, Pattern
from journeys.reading.declared import Declared
from journeys.spec.part_faults import OTHERWISE

Tools = Listed[ToolName]
Knows = Annotated[Knowledge, Short("retriever")]
Effects = Listed[Annotated[Effect, Short("tool")]]
Fields = Annotated[Annotated[Listed[Asked], NOT_EMPTY] | Form, BY_SHAPE]


KINDS = ("string", "integer", "number", "boolean", "array", "object", "null")
Kind = Annotated[str, OneOf(KINDS)]


def _scalar(value: Any, _: Any) -> Any:
    return value


Scalar = Annotated[Any, Checked(_scalar, {"type": ["string", "integer", "boolean", "null"]})]


class ValueForm(Definition):
    """JSON Schema of a value; of its words, these are read.

    Attributes:
        type: A kind of value, or a list of one and "null".
        description: What it holds; models are told it.
        enum: The only values that it has.
        items: Of an array: what is in it.
        properties: Of an object: its keys.
        required: Of an object: keys that must be there.
    """

    model_config = ConfigDict(title="Schema of a value")

    type: Annotated[Kind | Annotated[Listed[Kind], NOT_EMPTY] | None, BY_SHAPE] = None
    description: Text = ""
    enum: Listed[Scalar] = ()
    items: ValueForm | None = None
    properties: Mapping[str, ValueForm] | None = None
    required: Listed[str] = ()


class OutputForm(ValueForm):
    """What an agent gives, and the context keeps: a JSON Schema, and how it is merged.

    Attributes:
        merge: How a new value joins the old one.
    """

    model_config = ConfigDict(title="Output")

    merge: Annotated[str, OneOf([one.value for one in MergeStrategy])] | None = None


class ToolForm(Definition):
    """A tool in the shape of OpenAI's Assistants; its work is done by what is passed as TOOLS."""

    model_config = ConfigDict(title="Tool")

    _: KW_ONLY
    type: Literal["function"] = "function"
    function: ToolSpec


class StateForm(Definition):
    """A stretch of the conversation.

    Attributes:
        kind: tool: `calls` are made first. collect: stays until it has `outputs`.
        title: What users are told it is called. Default: its id.
        purpose: What it is for.
        fields: What it asks the user for, by itself.
        effects: Tools called once, when the fields are collected.
        interruptible: Whether detours may start meanwhile, or fields at which.
        knowledge: Where questions are looked up meanwhile. Default: the journey's.
        action: What its agents are told to do.
        say: What is said here, without agents; {name} is a value of the context.
        tools: What model agents may use here.
        agents: Names of registered agents. Default: one, named as the state; none where it has
            fields.
        inputs: Names in the context that its agents are given beside the message.
        outputs: What is kept in the context.
        calls: Tools that are called before the agents work.
        complete_when: Names that the context must have, an expression, or never. A `known` name
            counts also by what the state wrote on an earlier visit.
        next: Where it leads when it is complete.
        on_arrival: Whether it runs in the turn in which another state leads here.
        timeout: Most seconds for a run.
    """

    model_config = ConfigDict(title="State")

    kind: Annotated[str, OneOf(("chat", "tool", "collect"))] = "chat"
    title: Text = ""
    purpose: Text = ""
    fields: Fields | None = None
    effects: Effects = ()
    interruptible: Annotated[bool | Listed[FieldName], BY_SHAPE] = True
    knowledge: Knows | None = None
    action: Text = ""
    say: Text = ""
    tools: Tools = ()
    agents: Listed[ContextName] | None = None
    pipeline: Annotated[Pattern | Annotated[InPathway, BY_PATTERN], BY_SHAPE] = "sequential"
    inputs: Listed[Name] = ()
    outputs: Mapping[Name, OutputForm] = Field(default_factory=dict)
    guidelines: Listed[Guideline] = ()
    calls: Listed[Annotated[Call, Short("tool")]] = ()
    complete_when: Annotated[
        Literal["never"]
        | Annotated[Listed[Annotated[ContextName | Known, BY_SHAPE]], NOT_EMPTY]
        | ConditionTrigger
        | None,
        BY_SHAPE,
    ] = None
    next: Name | None = None
    on_arrival: Annotated[str, OneOf(("run", "wait"))] = "wait"
    timeout: Seconds | None = None


class DefinitionForm(Declared):
    """What journeys, agents and concierges share.

    Attributes:
        id: Names it for sessions and for other journeys.
        name: For people. Default: made of the id.
        instructions: Its purpose; models are told it.
        texts: The runtime's own texts, worded anew.
    """

    stand_ins = {"id": "unnamed"}

    _: KW_ONLY
    id: Name
    name: Text = ""
    instructions: Text = ""
    locale: Locale = Locale.model_construct()
    texts: Mapping[Name, Annotated[Text | Mapping[Name, Text], BY_SHAPE]] = Field(
        default_factory=dict
    )
    guidelines: Listed[Guideline] = ()


class OwnForm(DefinitionForm):
    """What journeys and agents share.

    Attributes:
        activation_conditions: What starts it among other journeys.
        knowledge: Where questions of users are looked up: the name of a retriever.
    """

    tools: Listed[ToolForm] = ()
    activation_conditions: Listed[Annotated[BaseTrigger, Triggered(in_words=True)]] = ()
    escalation: Escalation | None = None
    knowledge: Knows | None = None


class JourneyForm(OwnForm):
    """A whole conversation with a goal.

    Attributes:
        initial_state: Default: the first state.
        patterns: Repair pattern -> id of the state that answers in its place.
        migrations: Id of a state of an older version -> id of the state in its place.
    """

    model_config = ConfigDict(title="Journey")

    _: KW_ONLY
    initial_state: Name | None = None
    states: Annotated[Mapping[Name, StateForm], NOT_EMPTY]
    transitions: Listed[Transition] = ()
    patterns: Mapping[Name, Name] = Field(default_factory=dict)
    migrations: Mapping[Name, Name] = Field(default_factory=dict)


class AgentForm(OwnForm):
    """An agent that collects fields: a journey of one state.

    Attributes:
        title: What users are told its task is called.
        fields: What it asks the user for.
        effects: Tools called once, when the fields are collected.
        completion: What is said when all is collected; {name} is a value of the context.
    """

    model_config = ConfigDict(title="Agent")

    _: KW_ONLY
    title: Text = ""
    fields: Fields
    effects: Effects = ()
    completion: Text = ""


class ConciergeForm(DefinitionForm):
    """Several journeys, of which messages choose one.

    Attributes:
        journeys: Names of files beside this one, or journeys.
        otherwise: What is done when no journey starts.
        cancel: Phrases that end the active journey.
    """

    model_config = ConfigDict(title="Concierge")

    _: KW_ONLY
    journeys: Annotated[Listed[Annotated[Phrase | JourneyForm, BY_SHAPE]], NOT_EMPTY]
    otherwise: Annotated[str, OneOf(OTHERWISE)] = "ask"
    cancel: Listed[Phrase] = ()
    hand_over: Listed[HandOver] = ()


class GuidelinesForm(Definition):
    """Global guidelines, for all journeys."""

    model_config = ConfigDict(title="Guidelines")

    guidelines: Annotated[Listed[Guideline], NOT_EMPTY]


FORMS: dict[str, type[Definition]] = {
    "journey": JourneyForm,
    "agent": AgentForm,
    "concierge": ConciergeForm,
    "guidelines": GuidelinesForm,
}
"""What may stand in a file of each kind."""


def kind_of(document: Any) -> str:
    """Return what a document is: "journey", "agent", "concierge" or "guidelines"."""
    keys = set(document) if isinstance(document, dict) else set()
    if "journeys" in keys:
        return "concierge"
    if "fields" in keys and "states" not in keys:
        return "agent"
    return "guidelines" if "guidelines" in keys and not keys & {"id", "states"} else "journey"
