"""The closed form of an agent file: one who collects, and how it speaks, in one document."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from journeys.files.form import Activation, DefinitionForm, ToolForm
from journeys.files.form_basics import Text
from journeys.files.form_collecting import Effects, EscalationForm, Fields, Knows


class AgentForm(DefinitionForm):
    """An agent that collects fields: a journey of one state."""

    model_config = ConfigDict(title="Agent")
    sensitive: bool = Field(False, description="true: everything stored is encrypted.")
    title: Text = Field("", description="What users are told its task is called.")
    fields: Fields = Field(description="What it asks the user for.")
    effects: Effects = Field([], description="Tools called once, when the fields are collected.")
    completion: Text = Field(
        "", description="What is said when all is collected; {name} is a value of the context."
    )
    escalation: EscalationForm | None = None
    tools: list[ToolForm] = []
    knowledge: Knows | None = Field(
        None, description="Where questions of users are looked up: the name of a retriever."
    )
    activation_conditions: list[Activation] = Field(
        [], description="What starts it among other journeys."
    )
