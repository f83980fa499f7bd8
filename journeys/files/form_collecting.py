"""The closed form of what a file says of collecting: fields, effects, escalation, personality.

The keys are those of the classes that they become: `Field`, `Form`, `Effect`, `Escalation`,
`Personality`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, FiniteFloat, StringConstraints, Tag
from pydantic import WithJsonSchema as Shown

from journeys.files.form_basics import (
    Cel,
    ContextName,
    Form,
    Name,
    Text,
    ToolName,
    list_or_mapping,
    mapping_or_text,
)
from journeys.locale import LANGUAGES

FieldName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=64)]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
Seconds = Annotated[FiniteFloat, Field(gt=0)]
Bound = Annotated[Any, Shown({"type": ["number", "string"]})]

FieldType = Literal[
    "text", "integer", "number", "boolean", "date", "time", "datetime", "money", "email", "phone",
    "name", "full_name", "address", "enum", "list",
]  # fmt: skip
ItemType = Literal[
    "text", "integer", "number", "boolean", "date", "time", "datetime", "money", "email", "phone",
    "name", "full_name", "address", "enum",
]  # fmt: skip


class RangeForm(Form):
    """Bounds of a value, both included."""

    model_config = ConfigDict(title="Range")
    least: Bound = Field(None, description="A number, an ISO date or time, 'today' or 'now'.")
    most: Bound = Field(None, description="As `least`.")


class LengthForm(Form):
    """How many characters a text has, or items a list."""

    model_config = ConfigDict(title="Length")
    least: Annotated[int, Field(ge=0)] = 0
    most: Annotated[int, Field(ge=0)] | None = None


class ValidatorForm(Form):
    """What a value must be beyond its type: one of regex, range, length and check."""

    model_config = ConfigDict(title="Validator")
    regex: Text = Field("", description="A regular expression of Python for the whole value.")
    range: RangeForm | None = Field(None, description="Bounds of numbers, amounts, dates, times.")
    length: LengthForm | None = Field(None, description="Of a text or a list.")
    check: ToolName = Field("", description="A tool that judges the value.")
    message: Text = Field("", description="What the user is told otherwise.")


class FieldForm(Form):
    """One value to collect."""

    model_config = ConfigDict(title="Field")
    name: FieldName = Field(description="Its name in the context.")
    type: FieldType = "text"
    ask: Text = Field("", description="The question, as the user hears it.")
    description: Text = Field("", description="What it is needed for, as users may ask.")
    label: Text = Field("", description="What users are told it is called. Default: its name.")
    required: bool = Field(True, description="false: the user may leave it open.")
    asked: bool = Field(True, description="false: never asked for; taken where the user says it.")
    choices: Annotated[
        Annotated[list[Text], Tag("<list>")] | Annotated[dict[Text, list[Text]], Tag("<mapping>")],
        Discriminator(list_or_mapping),
    ] = Field([], description="Values of an enum: a list, or value -> further ways to say it.")
    items: ItemType = Field("text", description="Of a list: the type of what is on it.")
    currency: Currency = Field("", description="ISO code of money that names none.")
    validators: list[ValidatorForm] = Field([], description="What it must be, judged in order.")
    extract: list[Text] = Field([], description="Patterns that find it in a message: group one.")
    depends_on: list[FieldName] = Field([], description="Fields at whose change it is rechecked.")
    when: Cel = ""
    confirm: bool = Field(False, description="true: it is read back, and must be confirmed.")
    sensitive: bool = Field(False, description="true: never shown, logged, or given to a model.")
    ttl: Seconds | None = Field(None, description="Seconds after which it is asked for again.")
    retry_texts: list[Text] = Field([], description="Said after the first, second, ... refusal.")
    max_attempts: Annotated[int, Field(ge=1, le=100)] = Field(
        3, description="Values not taken in a row before the talk is escalated."
    )


class FieldsForm(Form):
    """Fields, and how they are collected."""

    model_config = ConfigDict(title="Form")
    fields: list[FieldForm] = Field(min_length=1)
    order: Literal["declared", "flexible"] = Field(
        "declared", description="flexible: what the message was about is asked for first."
    )
    confirm_corrections: bool = Field(
        False, description="true: a value replaces another one once the user says yes."
    )


Fields = Annotated[
    Annotated[list[FieldForm], Field(min_length=1), Tag("<list>")]
    | Annotated[FieldsForm, Tag("<mapping>")],
    Discriminator(list_or_mapping),
]


class EffectForm(Form):
    """A tool that is called once, when all fields are collected and confirmed."""

    model_config = ConfigDict(title="Effect")
    tool: ToolName
    arguments: dict[str, ContextName] = Field({}, description="Parameter -> name in the context.")
    save: Name = Field("", description="Name in the context for the result.")
    done: Text = Field("", description="What is said then; {name} is a value of the context.")
    change: Name = Field("", description="Id of the state that changes it later.")


Effects = list[
    Annotated[
        Annotated[ToolName, Tag("<text>")] | Annotated[EffectForm, Tag("<mapping>")],
        Discriminator(mapping_or_text),
    ]
]


class KnowledgeForm(Form):
    """Where questions of users are looked up, and how much of what is found is used."""

    model_config = ConfigDict(title="Knowledge")
    retriever: ToolName = Field(description="Name of a retriever; it is passed among TOOLS.")
    timeout: Seconds = Field(5.0, description="Most seconds for it.")
    passages: Annotated[int, Field(ge=1, le=50)] = Field(5, description="Most passages used.")
    characters: Annotated[int, Field(ge=1, le=20_000)] = Field(
        2000, description="Most characters of a passage."
    )


Knows = Annotated[
    Annotated[ToolName, Tag("<text>")] | Annotated[KnowledgeForm, Tag("<mapping>")],
    Discriminator(mapping_or_text),
]


class EscalationForm(Form):
    """When the conversation is handed to a person."""

    model_config = ConfigDict(title="Escalation")
    on_request: bool = Field(True, description="The user asks for a person.")
    when_collected: bool = Field(False, description="All fields are collected.")
    attempts_exhausted: bool = Field(True, description="A field's max_attempts are used up.")
    failures: Annotated[int, Field(ge=1)] | None = Field(
        None, description="So many turns in a row failed or were not understood."
    )
    keywords: list[Text] = Field([], description="Words of the user that are enough.")
    sentiment: Text = Field("", description="What a model judges the message by, in words.")
    when: Cel = ""
    after_seconds: Seconds | None = Field(None, description="The conversation lasts that long.")
    unclaimed_seconds: Seconds = Field(
        600.0, description="After that, nobody having taken it, the assistant offers to go on."
    )


class PersonalityForm(Form):
    """How the assistant speaks."""

    model_config = ConfigDict(title="Personality")
    name: Text = Field("", description="What it calls itself.")
    tone: Text = Field("", description="How it sounds, in words for a model.")
    formality: Literal["formal", "neutral", "casual"] = "neutral"
    emojis: bool = False
    greeting: Text = Field("", description="What it says when a session starts.")
    reword: bool = Field(False, description="Whether a model words what the runtime says itself.")


Language = Literal[LANGUAGES]  # type: ignore[valid-type]


class LocaleForm(Form):
    """Where users are at home. What is left out is the session's, else of whoever runs it."""

    model_config = ConfigDict(title="Locale")
    language: Language = Field("en", description="Of the runtime's own texts.")
    region: Text = Field("US", description="Country, as two capitals: DE.")
    timezone: Text = Field("UTC", description="IANA name: Europe/Berlin.")
    first_day: Literal[
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"
    ] = Field("monday", description="First day of the week. Default: as in the region.")
    date_order: Literal["dmy", "mdy"] = Field(
        "mdy", description="Of dates in digits. Default: as in the region."
    )
    decimal_sign: Literal[".", ","] = Field(".", description="Default: as in the region.")
    clock: Literal["12h", "24h"] = Field(
        "12h", description="Of times that are shown. Default: as in the language."
    )


Wordings = dict[
    Name,
    Annotated[
        Annotated[Text, Tag("<text>")] | Annotated[dict[Name, Text], Tag("<mapping>")],
        Discriminator(mapping_or_text),
    ],
]
"""Name of a text -> text; or language -> name of a text -> text."""
