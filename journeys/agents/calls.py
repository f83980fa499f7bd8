"""Tools that a journey declares, and calls that a pathway makes before its agents work."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ConfigDict, Field

from journeys.definitions.definition import Definition, rule
from journeys.definitions.value_types import ContextName, Text, ToolName
from journeys.errors import did_you_mean
from journeys.faults import Fault


class ToolSpec(Definition):
    """A tool that a journey declares by its name; what does the work is handed to the journey.

    Attributes:
        name: As models and pathways call it.
        description: What it is for; models are told it.
        parameters: JSON schema of its arguments, as OpenAI writes functions.
    """

    model_config = ConfigDict(title="Function")

    name: ToolName
    description: Text = ""
    parameters: Mapping[str, Any] = Field(
        default_factory=lambda: {"type": "object", "properties": {}}
    )

    @rule("parameters")
    def _parameters_are_a_schema(self) -> Iterator[Fault]:
        known, required = self.parameters.get("properties", {}), self.parameters.get("required", [])
        if self.parameters.get("type") != "object":
            yield Fault("the schema of a tool's arguments must have type: object.", "parameters")
        elif not isinstance(known, dict) or not all(
            isinstance(one, dict) for one in known.values()
        ):
            said = "properties must be a mapping of names to schemas."
            yield Fault(said, "parameters", "properties")
        elif not isinstance(required, list) or not all(isinstance(name, str) for name in required):
            yield Fault("required must be a list of names.", "parameters", "required")
        else:
            for name in required:
                if name not in known:
                    hint = did_you_mean(name, list(known))
                    said = f"required names '{name}', which is not one of the properties."
                    yield Fault(said, "parameters", "required", remedy=hint)


class Call(Definition):
    """A call of a tool that a pathway makes by itself, before its agents work.

    An argument that the context lacks keeps the tool from being called, and the agents are told
    which one it was.

    Attributes:
        tool: Name of the tool.
        arguments: Parameter -> name of the context's value that fills it; "message" is what the
            user said unless the context has it. Parameters that are omitted are filled by the
            context values of their own names.
        save: Name under which the result is kept in the context; empty: only the agents of this
            turn get it, under the tool's name.

    Source: flow control, state guidance injection.
    """

    waits = True
    stand_ins = {"tool": "?"}

    tool: ToolName
    arguments: Mapping[str, ContextName] = Field(default_factory=dict)
    save: Text = ""
