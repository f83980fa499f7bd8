"""The closed form of a definition file: what may stand in it, and of what kind each part is.

The published JSON Schema is made of these models. What each part means is in docs/files.md.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Discriminator, Field, FiniteFloat, Tag

from journeys.files.form_basics import (
    PATTERNS,
    Cel,
    ContextName,
    Form,
    Json,
    KnownForm,
    Name,
    OutputForm,
    PipelineForm,
    Share,
    Text,
    ToolName,
    ValidationForm,
    WhenForm,
    list_mapping_or_text,
    list_or_text,
    mapping_or_text,
)
from journeys.files.form_collecting import (
    Effects,
    EscalationForm,
    FieldName,
    Fields,
    Knows,
    LocaleForm,
    PersonalityForm,
    Wordings,
)


class ToolFunction(Form):
    """A function that a model or a state can call."""

    model_config = ConfigDict(title="Function")
    name: ToolName = Field(description="As models and states call it.")
    description: Text = Field("", description="What it is for; models are told it.")
    parameters: dict[str, Json] = Field(
        default_factory=lambda: {"type": "object", "properties": {}},
        description="JSON Schema of its arguments: an object with properties.",
    )


class ToolForm(Form):
    """A tool in the shape of OpenAI's Assistants; its work is done by what is passed as TOOLS."""

    model_config = ConfigDict(title="Tool")
    type: Literal["function"] = "function"
    function: ToolFunction


class ConditionForm(Form):
    """What starts a journey: words for a model, patterns of messages, or an expression."""

    model_config = ConfigDict(title="Activation condition")
    condition: Text = Field("", description="In words; a model judges it.")
    patterns: list[Text] = Field([], description="Phrases of a message, without a model.")
    when: Cel = ""
    confidence: Share | None = Field(None, description="Least confidence of a model's yes.")


class GuidelineForm(Form):
    """A rule of behaviour: when something holds, do something."""

    model_config = ConfigDict(title="Guideline")
    id: ContextName = Field("", description="Unique in the journey.")
    condition: Text = Field("", description="When it holds, in words; a model judges it.")
    action: Text = Field("", description="What the agents are told then.")
    scope: Literal["state", "journey", "global"] | None = None
    when: Cel = ""
    keywords: list[Text] = Field([], description="Words of messages that it may hold for.")
    tools: list[ToolName] = Field([], description="Tools that agents may use when it holds.")
    priority: int = Field(0, description="Within a scope, the higher one comes first.")
    always: bool = Field(False, description="Considered in every turn, whatever is said.")
    critical: bool = Field(False, description="Replies are held against forbids and requires.")
    enabled: bool = True
    excludes: list[ContextName] = Field([], description="Ids of guidelines that this one drops.")
    depends_on: list[ContextName] = Field([], description="Ids of guidelines that must hold too.")
    forbids: list[Text] = Field([], description="Phrases that no reply may contain.")
    requires: list[Text] = Field([], description="Phrases of which a reply must contain one.")


class CallForm(Form):
    """A call of a tool before the agents work."""

    model_config = ConfigDict(title="Call")
    tool: ToolName
    arguments: dict[str, ContextName] = Field({}, description="Parameter -> name in the context.")
    save: Name = Field("", description="Name in the context under which the result is kept.")


Awaited = Annotated[
    Annotated[ContextName, Tag("<text>")] | Annotated[KnownForm, Tag("<mapping>")],
    Discriminator(mapping_or_text),
]


class StateForm(Form):
    """A stretch of the conversation."""

    model_config = ConfigDict(title="State")
    kind: Literal["chat", "tool", "collect"] = Field(
        "chat", description="tool: `calls` are made first. collect: stays until it has `outputs`."
    )
    title: Text = Field("", description="What users are told it is called. Default: its id.")
    purpose: Text = Field("", description="What it is for.")
    fields: Fields | None = Field(None, description="What it asks the user for, by itself.")
    effects: Effects = Field([], description="Tools called once, when the fields are collected.")
    interruptible: Annotated[
        Annotated[bool, Tag("<text>")] | Annotated[list[FieldName], Tag("<list>")],
        Discriminator(list_or_text),
    ] = Field(True, description="Whether detours may start meanwhile, or fields at which.")
    knowledge: Knows | None = Field(
        None, description="Where questions are looked up meanwhile. Default: the journey's."
    )
    action: Text = Field("", description="What its agents are told to do.")
    say: Text = Field(
        "", description="What is said here, without agents; {name} is a value of the context."
    )
    tools: list[ToolName] = Field([], description="What model agents may use here.")
    agents: list[ContextName] | None = Field(
        None,
        description="Names of registered agents. Default: one, named as the state; none where it "
        "has fields.",
    )
    pipeline: Annotated[
        Annotated[PATTERNS, Tag("<text>")] | Annotated[PipelineForm, Tag("<mapping>")],
        Discriminator(mapping_or_text),
    ] = "sequential"
    inputs: list[Name] = Field(
        [], description="Names in the context that its agents are given beside the message."
    )
    outputs: dict[Name, OutputForm] = Field({}, description="What is kept in the context.")
    guidelines: list[GuidelineForm] = []
    calls: list[
        Annotated[
            Annotated[ToolName, Tag("<text>")] | Annotated[CallForm, Tag("<mapping>")],
            Discriminator(mapping_or_text),
        ]
    ] = Field([], description="Tools that are called before the agents work.")
    complete_when: (
        Annotated[
            Annotated[Literal["never"], Tag("<text>")]
            | Annotated[list[Awaited], Field(min_length=1), Tag("<list>")]
            | Annotated[WhenForm, Tag("<mapping>")],
            Discriminator(list_mapping_or_text),
        ]
        | None
    ) = Field(
        None,
        description="Names that the context must have, an expression, or never. A "
        "`known` name counts also by what the state wrote on an earlier visit.",
    )
    next: Name | None = Field(None, description="Where it leads when it is complete.")
    on_arrival: Literal["run", "wait"] = Field(
        "wait", description="Whether it runs in the turn in which another state leads here."
    )
    timeout: Annotated[FiniteFloat, Field(gt=0)] | None = Field(
        None, description="Most seconds for a run."
    )


class DetourForm(Form):
    """How a detour returns."""

    model_config = ConfigDict(title="Detour")
    return_to: Name = Field("previous", description="'previous', or the id of a state.")
    preserve_context: bool = Field(True, description="false: its changes are undone.")
    max_depth: Annotated[int, Field(ge=1)] | None = Field(
        None, description="Most paused states below it."
    )
    policy: Literal["return", "ask", "choose", "end"] = Field(
        "return", description="What is done with what it interrupted."
    )


class TransitionForm(Form):
    """A rule that moves the session."""

    model_config = ConfigDict(title="Transition")
    to: Name = Field(description="Id of the state that it leads to.")
    from_: Annotated[
        Annotated[str, Tag("<text>")] | Annotated[list[Name], Field(min_length=1), Tag("<list>")],
        Discriminator(list_or_text),
    ] = Field("*", alias="from", description='Where it applies: a state, several, or "*".')
    condition: Text = Field("", description="What the user wants, in words; a model judges it.")
    patterns: list[Text] = Field([], description="Phrases of a message, without a model.")
    when: Cel = ""
    always: bool = Field(False, description="Fires when nothing else does.")
    confidence: Share | None = Field(None, description="Least confidence of a model's yes.")
    priority: int = Field(0, description="Higher ones are asked first.")
    update: dict[ContextName, str] = Field(
        {}, description="Name -> 'set:TEXT', 'append:NAME', 'copy:NAME' or 'clear:'."
    )
    detour: Annotated[
        Annotated[bool, Tag("<text>")] | Annotated[DetourForm, Tag("<mapping>")],
        Discriminator(mapping_or_text),
    ] = Field(False, description="Whether the state that it leads to returns, and how.")


Activation = Annotated[
    Annotated[Text, Tag("<text>")] | Annotated[ConditionForm, Tag("<mapping>")],
    Discriminator(mapping_or_text),
]


class DefinitionForm(Form):
    """What journeys and concierges share."""

    id: Name = Field(description="Names it for sessions and for other journeys.")
    version: Text | None = Field(None, description="Default: a hash of the definition.")
    name: Text = Field("", description="For people. Default: made of the id.")
    instructions: Text = Field("", description="Its purpose; models are told it.")
    model: Text | None = Field(None, description="Name of an OpenAI model for its agents.")
    personality: PersonalityForm | None = None
    locale: LocaleForm | None = None
    texts: Wordings = Field({}, description="The runtime's own texts, worded anew.")
    guidelines: list[GuidelineForm] = []
    validation: ValidationForm | None = None
    safe_reply: Text = Field("", description="Said in place of a reply that breaks a rule.")
    degrade: Literal["canned", "freeform", "refuse"] = Field(
        "canned", description="What is done when the journey itself fails."
    )
    shared: list[ContextName] = Field([], description="What it leaves to other journeys.")


class JourneyForm(DefinitionForm):
    """A whole conversation with a goal."""

    model_config = ConfigDict(title="Journey")
    sensitive: bool = Field(False, description="true: everything stored is encrypted.")
    tools: list[ToolForm] = []
    activation_conditions: list[Activation] = Field(
        [], description="What starts it among other journeys."
    )
    initial_state: Name | None = Field(None, description="Default: the first state.")
    states: dict[Name, StateForm] = Field(min_length=1)
    transitions: list[TransitionForm] = []
    escalation: EscalationForm | None = None
    patterns: dict[Name, Name] = Field(
        {}, description="Repair pattern -> id of the state that answers in its place."
    )
    knowledge: Knows | None = Field(
        None, description="Where questions of users are looked up: the name of a retriever."
    )
    migrations: dict[Name, Name] = Field(
        {}, description="Id of a state of an older version -> id of the state in its place."
    )


class HandOverForm(Form):
    """A rule that moves the session from one journey to another."""

    model_config = ConfigDict(title="Hand-over")
    from_: Name = Field(alias="from", description="Id of the journey that it leaves.")
    to: Name = Field(description="Id of the journey that it begins.")
    condition: Text = ""
    patterns: list[Text] = []
    when: Cel = ""
    confidence: Share | None = None
    priority: int = Field(0, description="Higher ones are asked first.")
    update: dict[ContextName, str] = Field({}, description="As of a transition.")


class ConciergeForm(DefinitionForm):
    """Several journeys, of which messages choose one."""

    model_config = ConfigDict(title="Concierge")
    sensitive: bool = Field(False, description="true: everything stored is encrypted.")
    journeys: list[
        Annotated[
            Annotated[Text, Tag("<text>")] | Annotated[JourneyForm, Tag("<mapping>")],
            Discriminator(mapping_or_text),
        ]
    ] = Field(min_length=1, description="Names of files beside this one, or journeys.")
    otherwise: Literal["ask", "canned", "freeform"] = Field(
        "ask", description="What is done when no journey starts."
    )
    cancel: list[Text] = Field([], description="Phrases that end the active journey.")
    hand_over: list[HandOverForm] = []


class GuidelinesForm(Form):
    """Global guidelines, for all journeys."""

    model_config = ConfigDict(title="Guidelines")
    guidelines: list[GuidelineForm] = Field(min_length=1)
