"""Parts of a definition file that class bodies do not have.

The published JSON Schema is made of these models. What each part means is in docs/files.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from journeys.agents.calls import Call, ToolSpec
from journeys.definitions.definition import Definition, rule
from journeys.definitions.value_types import (
    BY_SHAPE,
    NOT_EMPTY,
    Checked,
    ContextName,
    FieldName,
    Function,
    Listed,
    Name,
    OneOf,
    Phrase,
    Seconds,
    Share,
    Short,
    Text,
    ToolName,
    at_least,
)
from journeys.faults import Fault
from journeys.locale import Locale
from journeys.notions.behaviors import POLICIES
from journeys.notions.context import MergeStrategy
from journeys.notions.effects import Effect
from journeys.notions.escalation import Escalation
from journeys.notions.fields import Field as Asked
from journeys.notions.fields import Form
from journeys.notions.guidelines import Guideline
from journeys.notions.knowledge import Knowledge
from journeys.notions.transitions import AlwaysTrigger, BaseTrigger, ConditionTrigger, IntentTrigger
from journeys.pipelines.shapes import ERROR_HANDLING, SHAPES
from journeys.reading.declared import Declared
from journeys.spec.part_faults import OTHERWISE

Condition = Annotated[Callable[[Mapping[str, Any]], Any], Function("context")]
Tools = Listed[ToolName]
Knows = Annotated[Knowledge, Short("retriever")]
Effects = Listed[Annotated[Effect, Short("tool")]]
Fields = Annotated[Annotated[Listed[Asked], NOT_EMPTY] | Form, BY_SHAPE]


class KnownForm(Definition):
    """A name whose value counts, whenever it was written."""

    model_config = ConfigDict(title="Known name")

    known: ContextName


class WhenForm(Definition):
    """An expression."""

    model_config = ConfigDict(title="Condition")

    when: Condition


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


Pattern = Annotated[str, OneOf(tuple(SHAPES))]


def _with_settings(schema: dict[str, Any]) -> None:
    """Add the settings and roles of the patterns to a schema; the pipeline's reader judges them."""
    known = schema["properties"]
    known["error_handling"] = {"enum": list(ERROR_HANDLING)}
    for name, shape in SHAPES.items():
        for role in shape.roles:
            known[role] = {"type": "string", "description": "Name of the agent in this role."}
        for setting, rule_ in shape.settings.items():
            if rule_.default is not None:  # what is left is a function, which no file has
                known.setdefault(setting, {"description": f"Of pattern {name}."})


class PipelineForm(Definition):
    """How several agents work together, with its settings and who has a role in it."""

    model_config = ConfigDict(title="Pipeline", extra="allow", json_schema_extra=_with_settings)

    pattern: Pattern


class ToolForm(Definition):
    """A tool in the shape of OpenAI's Assistants; its work is done by what is passed as TOOLS."""

    model_config = ConfigDict(title="Tool")

    _: KW_ONLY
    type: Literal["function"] = "function"
    function: ToolSpec


class RuleForm(Definition):
    """What makes a rule hold: words for a model, patterns of messages, or an expression.

    Attributes:
        condition: In words; a model judges it.
        patterns: Phrases of a message, without a model.
        confidence: Least confidence of a model's yes.
    """

    condition: Text = ""
    patterns: Listed[Phrase] = ()
    when: Condition | None = None
    confidence: Share | None = None

    @property
    def ways(self) -> list[str]:
        """The keys that make it hold."""
        known = ("condition", "patterns", "when", "always")
        return [name for name in known if getattr(self, name, None)]

    @property
    def trigger(self) -> BaseTrigger:
        """What makes it hold."""
        if self.when is not None:
            return ConditionTrigger(self.when)
        if "always" in self.ways:
            return AlwaysTrigger()
        return IntentTrigger(
            patterns=tuple(self.patterns),
            description=self.condition,
            confidence_threshold=self.confidence,
        )

    @rule("condition", "patterns", "when", "always")
    def _holds_in_one_way(self) -> Iterator[Fault]:
        if not self.ways:
            yield Fault("it never holds. Give it a condition in words, patterns, or when.")
        clash = [name for name in self.ways if name not in ("condition", "patterns")]
        if clash and len(self.ways) > 1:
            others = " and ".join(name for name in self.ways if name != clash[0])
            said = f"{clash[0]} decides by itself, beside {others}. Make it two rules."
            yield Fault(said, clash[0])


class ConditionForm(RuleForm):
    """What starts a journey: words for a model, patterns of messages, or an expression."""

    model_config = ConfigDict(title="Activation condition")


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
    pipeline: Annotated[Pattern | PipelineForm, BY_SHAPE] = "sequential"
    inputs: Listed[Name] = ()
    outputs: Mapping[Name, OutputForm] = Field(default_factory=dict)
    guidelines: Listed[Guideline] = ()
    calls: Listed[Annotated[Call, Short("tool")]] = ()
    complete_when: Annotated[
        Literal["never"]
        | Annotated[Listed[Annotated[ContextName | KnownForm, BY_SHAPE]], NOT_EMPTY]
        | WhenForm
        | None,
        BY_SHAPE,
    ] = None
    next: Name | None = None
    on_arrival: Annotated[str, OneOf(("run", "wait"))] = "wait"
    timeout: Seconds | None = None


class DetourForm(Definition):
    """How a detour returns.

    Attributes:
        return_to: 'previous', or the id of a state.
        preserve_context: false: its changes are undone.
        max_depth: Most paused states below it.
        policy: What is done with what it interrupted.
    """

    model_config = ConfigDict(title="Detour")

    return_to: Name = "previous"
    preserve_context: bool = True
    max_depth: Annotated[int, at_least(1)] | None = None
    policy: Annotated[str, OneOf(POLICIES)] = "return"


class TransitionForm(RuleForm):
    """A rule that moves the session to another state.

    Attributes:
        to: Id of the state that it leads to.
        from: Where it applies: a state, several, or "*".
        always: Fires when nothing else does.
        priority: Higher ones are asked first.
        update: Name -> 'set:TEXT', 'append:NAME', 'copy:NAME' or 'clear:'.
        detour: Whether the state that it leads to returns, and how.
    """

    model_config = ConfigDict(title="Transition")

    _: KW_ONLY
    to: Name
    from_: Annotated[str | Annotated[Listed[Name], NOT_EMPTY], BY_SHAPE] = Field("*", alias="from")
    always: bool = False
    priority: int = 0
    update: Mapping[ContextName, str] = Field(default_factory=dict)
    detour: Annotated[bool | DetourForm, BY_SHAPE] = False


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
    activation_conditions: Listed[Annotated[ConditionForm, Short("condition")]] = ()
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
    transitions: Listed[TransitionForm] = ()
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


class HandOverForm(RuleForm):
    """A rule that moves the session from one journey to another.

    Attributes:
        from: Id of the journey that it leaves.
        to: Id of the journey that it begins.
        priority: Higher ones are asked first.
        update: As of a transition.
    """

    model_config = ConfigDict(title="Hand-over")

    _: KW_ONLY
    from_: Name = Field(alias="from")
    to: Name
    priority: int = 0
    update: Mapping[ContextName, str] = Field(default_factory=dict)


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
    hand_over: Listed[HandOverForm] = ()


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
