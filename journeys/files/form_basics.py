"""What the forms of definition files are made of: names, texts, schemas of values, settings."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    FiniteFloat,
    StringConstraints,
    Tag,
    WithJsonSchema,
)

from journeys.pipelines.shapes import ERROR_HANDLING, SHAPES

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=100)]
"""Names that are ids: snake_case, ASCII."""
Text = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"\S", max_length=20_000)]
ToolName = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]
"""Names of functions as OpenAI takes them."""
ContextName = Annotated[str, StringConstraints(pattern=r"\S", max_length=200)]
Cel = Annotated[Text, Field(description="A CEL expression that is true or false.")]
Share = Annotated[FiniteFloat, Field(ge=0, le=1)]
Json = Any


def mapping_or_text(value: Any) -> str:
    """Tell a mapping from a single value."""
    return "<mapping>" if isinstance(value, (dict, Form)) else "<text>"


def list_mapping_or_text(value: Any) -> str:
    """Tell a list, a mapping and a single value apart."""
    return "<list>" if isinstance(value, list) else mapping_or_text(value)


def list_or_mapping(value: Any) -> str:
    """Tell a mapping from a list."""
    return "<mapping>" if isinstance(value, (dict, Form)) else "<list>"


def list_or_text(value: Any) -> str:
    """Tell a list from a single value."""
    return "<list>" if isinstance(value, list) else "<text>"


class Form(BaseModel):
    """A part of a file. Keys that nothing reads are refused, and no kind is made into another."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class KnownForm(Form):
    """A name whose value counts, whenever it was written."""

    model_config = ConfigDict(title="Known name")
    known: ContextName


class WhenForm(Form):
    """An expression."""

    model_config = ConfigDict(title="Condition")
    when: Cel


Scalar = Annotated[Any, WithJsonSchema({"type": ["string", "integer", "boolean", "null"]})]
SchemaType = Literal["string", "integer", "number", "boolean", "array", "object", "null"]


class ValueForm(Form):
    """JSON Schema of a value; of its words, these are read."""

    model_config = ConfigDict(title="Schema of a value")
    type: (
        Annotated[
            Annotated[SchemaType, Tag("<text>")]
            | Annotated[list[SchemaType], Field(min_length=1), Tag("<list>")],
            Discriminator(list_or_text),
        ]
        | None
    ) = Field(None, description='A kind of value, or a list of one and "null".')
    description: Text = Field("", description="What it holds; models are told it.")
    enum: list[Scalar] = Field([], description="The only values that it has.")
    items: ValueForm | None = Field(None, description="Of an array: what is in it.")
    properties: dict[str, ValueForm] | None = Field(None, description="Of an object: its keys.")
    required: list[str] = Field([], description="Of an object: keys that must be there.")


class OutputForm(ValueForm):
    """What an agent gives, and the context keeps: a JSON Schema, and how it is merged."""

    model_config = ConfigDict(title="Output")
    merge: Literal["replace", "append", "merge", "max", "min", "sum", "union"] | None = Field(
        None, description="How a new value joins the old one."
    )


PATTERNS = Literal[
    "sequential", "supervisor_worker", "router", "ensemble", "blackboard", "consensus", "debate",
    "handoff", "parallel",
]  # fmt: skip


def _with_settings(schema: dict[str, Any]) -> None:
    """Add the settings and roles of the patterns to a schema; the pipeline's reader judges them."""
    known = schema["properties"]
    known["error_handling"] = {"enum": list(ERROR_HANDLING)}
    for name, shape in SHAPES.items():
        for role in shape.roles:
            known[role] = {"type": "string", "description": "Name of the agent in this role."}
        for setting, rule in shape.settings.items():
            if rule.default is not None:  # what is left is a function, which no file has
                known.setdefault(setting, {"description": f"Of pattern {name}."})


class PipelineForm(BaseModel):
    """How several agents work together, with its settings and who has a role in it."""

    model_config = ConfigDict(
        title="Pipeline",
        extra="allow",
        strict=True,
        frozen=True,
        json_schema_extra=_with_settings,
    )
    pattern: PATTERNS


class ValidationForm(Form):
    """How replies are checked."""

    model_config = ConfigDict(title="Validation")
    mode: Literal["before_send", "after_send"] = "before_send"
    confidence: Share = 0.8
    timeout_seconds: Annotated[FiniteFloat, Field(ge=0)] = 10.0
    pii: list[Literal["card", "iban", "email", "phone", "national_id"]] = Field(
        ["card", "iban", "email", "phone", "national_id"],
        description="Personal data that no reply gives away.",
    )
    allow: list[Text] = Field([], description="Texts that look like it, and may be said.")
