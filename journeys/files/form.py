"""Parts of a definition file that class bodies do not have, and its published JSON Schema.

The schema is made of these models, for editors and for other programs. What each part means is in
docs/reference/files.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY
from typing import Annotated, Any, Literal

from pydantic import ConfigDict

from journeygraph.journeys.agents.tools import ToolSpec
from journeygraph.journeys.declarations.effects import Effect
from journeygraph.journeys.declarations.guidelines import Guideline
from journeygraph.journeys.declarations.personality import Personality
from journeygraph.journeys.declarations.transitions import (
    Transition,
)
from journeygraph.journeys.definitions.definition import Definition, rule
from journeygraph.journeys.definitions.value_types import (
    BY_SHAPE,
    NOT_EMPTY,
    Listed,
    Name,
    Phrase,
    Short,
    Text,
    ToolName,
)
from journeygraph.journeys.faults import Fault
from journeygraph.journeys.reading.declared import Declared, OfConcierge, OfJourney, OfWholeJourney
from journeygraph.journeys.spec.pathway_values import Fields
from journeygraph.journeys.spec.spec import PathwaySpec, fields_twice, names_twice

DETAILS, COMPLETION = "details", "completion"
"""Ids of the states of an agent."""
Tools = Listed[ToolName]
Effects = Listed[Annotated[Effect, Short("tool")]]


class ToolForm(Definition):
    """A tool in the shape of OpenAI's Assistants; its work is done by what is passed as TOOLS."""

    model_config = ConfigDict(title="Tool")

    _: KW_ONLY
    type: Literal["function"] = "function"
    function: ToolSpec


class DefinitionForm(Declared):
    """Common keys of journeys, agents and concierges.

    Attributes:
        id: Its id: lower-case letters, digits and `_`.
        name: Its name. Default: made from the id.
        instructions: Its purpose; models get it.
        guidelines: Rules of behaviour.
    """

    placeholders = {"id": "unnamed"}

    _: KW_ONLY
    id: Name
    name: Text = ""
    instructions: Text = ""
    guidelines: Listed[Guideline] = ()


class OwnForm(DefinitionForm, OfJourney):
    """Common keys of journeys and agents.

    Attributes:
        tools: Its tools, in the format of OpenAI's Assistants: `{type: function, function: {name,
            description, parameters}}`. The parameters are the JSON Schema of an object.
    """

    tools: Listed[ToolForm] = ()


class JourneyForm(OwnForm, OfWholeJourney):
    """A whole conversation with a goal.

    Attributes:
        states: Id -> state.
        transitions: Rules that move the conversation from one state to another.
    """

    model_config = ConfigDict(title="Journey")

    _: KW_ONLY
    states: Annotated[Mapping[Name, PathwaySpec], NOT_EMPTY]
    transitions: Listed[Transition] = ()


class AgentForm(OwnForm):
    """An agent that collects fields: a journey of one state.

    Attributes:
        title: The name of its task for users. Default: "your details".
        fields: Values that it asks the user for.
        effects: Tools that are called once, when all fields are collected: a name, or an `Effect`.
        completion: The reply when all fields are collected; {name} is replaced by a value of the
            context.
    """

    model_config = ConfigDict(title="Agent")

    _: KW_ONLY
    title: Text = ""
    fields: Fields
    effects: Effects = ()
    completion: Text = ""

    @rule()
    def _names_stand_once(self) -> Iterator[Fault]:
        yield from names_twice(self, "effects")
        yield from fields_twice(self.fields, "fields")
        for number, effect in enumerate(self.effects):
            if effect.change:
                message = "change names a state, and an agent has no other states."
                yield Fault(message, "effects", number, "change", remedy="Remove it.")

    def as_journey(self) -> JourneyForm:
        """Return it as a journey: of a state that collects, and one that ends the conversation."""
        about: Any = {"title": self.title or "your details", "purpose": self.instructions}
        details = PathwaySpec.model_construct(
            kind="collect",
            form=self.fields,
            effects=self.effects,
            next=COMPLETION if self.completion else None,
            **about,
        )
        states = {DETAILS: details}
        if self.completion:
            said: Any = {"say": self.completion, "runs_on_arrival": True}
            states[COMPLETION] = PathwaySpec.model_construct(**said, **about)
        shared = {name: getattr(self, name) for name in OwnForm.names()}
        own = self.personality or Personality()
        shared["personality"] = own.model_copy(update={"name": own.name or self.name})
        return JourneyForm.model_construct(**shared, states=states)


class ConciergeForm(DefinitionForm, OfConcierge):
    """Several journeys, of which messages choose one.

    Attributes:
        journeys: Names of files in the same folder, or journeys.
        cancel: Phrases that cancel the active journey.
    """

    model_config = ConfigDict(title="Concierge")

    _: KW_ONLY
    journeys: Annotated[Listed[Annotated[Phrase | JourneyForm, BY_SHAPE]], NOT_EMPTY]
    cancel: Listed[Phrase] = ()  # type: ignore[assignment]


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
"""Valid content of each kind of file."""


def kind_of(document: Any) -> str:
    """Return what a document is: "journey", "agent", "concierge" or "guidelines"."""
    keys = set(document) if isinstance(document, dict) else set()
    if "journeys" in keys:
        return "concierge"
    if "fields" in keys and "states" not in keys:
        return "agent"
    return "guidelines" if "guidelines" in keys and not keys & {"id", "states"} else "journey"


DIALECT = "https://json-schema.org/draft/2020-12/schema"


def published(kind: str | None = None) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of definition files.

    What only shows when a file is read as a whole, such as a name that is nowhere, it cannot say:
    `journeygraph check` does.

    Args:
        kind: "journey", "agent", "concierge" or "guidelines"; None: whichever a file is.
    """
    if kind is not None:
        return schema_of(FORMS[kind])
    parts: dict[str, Any] = {}
    for name, form in FORMS.items():
        schema = _plain(form.model_json_schema())
        parts |= schema.pop("$defs")
        parts[name] = schema
    return {
        "$schema": DIALECT,
        "title": "A file of JourneyGraph",
        "type": "object",
        "if": {"required": ["journeys"]},
        "then": {"$ref": "#/$defs/concierge"},
        "else": {
            "if": _GUIDELINES_ALONE,
            "then": {"$ref": "#/$defs/guidelines"},
            "else": {
                "if": _AGENT,
                "then": {"$ref": "#/$defs/agent"},
                "else": {"$ref": "#/$defs/journey"},
            },
        },
        "$defs": parts,
    }


def schema_of(form: type[Definition]) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the files that are read into a definition."""
    return {"$schema": DIALECT, **_plain(form.model_json_schema())}


_AGENT = {"required": ["fields"], "not": {"required": ["states"]}}
_GUIDELINES_ALONE = {
    "required": ["guidelines"],
    "not": {"anyOf": [{"required": [key]} for key in ("id", "states", "fields")]},
}


def _plain(schema: Any, *, names: bool = False) -> Any:
    """Return a schema without the titles of single keys, which tell nothing next to their names.

    Args:
        names: True if its keys are names of the file and not words of a schema.
    """
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: _plain(item, names=key in ("properties", "$defs", "patternProperties"))
        for key, item in schema.items()
        if names or key != "title" or "properties" in schema
    }
    if not names and kept.get("type") == "array" and "minLength" in kept:
        kept["minItems"] = kept.pop("minLength")  # a list is read as a value of any kind
    if not names and "patternProperties" in kept:
        kept["additionalProperties"] = False
    return kept
