"""Personas and goals of simulated users, as their file has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import KW_ONLY
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field

from journeygraph.journeys import JourneyDefinitionError, JourneySpec
from journeygraph.journeys.definitions.definition import Definition, rule
from journeygraph.journeys.definitions.sources import wrong
from journeygraph.journeys.definitions.value_types import (
    NOT_EMPTY,
    Checked,
    Listed,
    Name,
    Phrase,
    Share,
    Short,
    Text,
    at_least,
)
from journeygraph.journeys.faults import Fault
from journeygraph.journeys.files.journey_file import refuse
from journeygraph.journeys.files.loading import text_of
from journeygraph.journeys.locale import NOWHERE, Locale
from journeygraph.server.conversations.conversation_files import Names, read_form
from journeygraph.server.conversations.conversation_form import Moment, Stubs
from journeygraph.server.discover.definition_files import placed
from journeygraph.server.discover.errors import CommandError, reworded

_WORDS = {True: "yes", False: "no", None: "no"}


def _typed(value: Any) -> str:
    return _WORDS[value] if value is None or isinstance(value, bool) else str(value)


def _answers(value: Any, _: Any) -> Sequence[str]:
    items = value if isinstance(value, list) else [value]
    if not items or not all(item is None or isinstance(item, (str, int, float)) for item in items):
        raise wrong("it must be what the user says, or a list of it: the next after each refusal.")
    return tuple(map(_typed, items))


_TYPED = {"type": ["string", "number", "boolean", "null"]}
Answers = Annotated[
    Sequence[str],
    Checked(_answers, {"anyOf": [_TYPED, {"type": "array", "items": _TYPED, "minItems": 1}]}),
]
"""Answers of a user to a question: the first one, and the next after each refusal."""


class Persona(Definition):
    """A kind of user. The shares are of the turns, 0 to 1.

    Attributes:
        id: Its name.
        about: The user in words, for a model as the user.
        patience: Turns in a row without progress after which the user gives up.
        tidy: Share of plain answers; others have more words, or a second value.
        corrects: Share of turns that change an earlier value.
        detours: Share of turns that ask for a detour of the journey.
        strays: Share of turns about something else.
        slips: Share of words with a typing slip.
        leaves: Share of turns in which the user leaves without a word.
    """

    model_config = ConfigDict(title="Persona")

    _: KW_ONLY
    id: Name
    about: Text = ""
    patience: Annotated[int, at_least(1)] = 4
    tidy: Share = 1.0
    corrects: Share = 0.0
    detours: Share = 0.0
    strays: Share = 0.0
    slips: Share = 0.0
    leaves: Share = 0.0


class Reached(Definition):
    """The end of a conversation that reaches a goal: all of these hold.

    Attributes:
        complete: True if the journey is complete.
        pathway: Id of the pathway after the last turn.
        effects: Names of effects that were taken, in any turn.
        context: Name -> value; null: it is not there.
        person: True if a person has the conversation.
    """

    model_config = ConfigDict(title="End")

    _: KW_ONLY
    complete: bool | None = None
    pathway: str = ""
    effects: Listed[str] = ()
    context: Mapping[str, Any] = Field(default_factory=dict)
    person: bool = False

    @rule("complete", "pathway", "effects", "context", "person")
    def _says_something(self) -> Iterator[Fault]:
        if not self.model_fields_set:
            fault = "the end of a goal is empty."
            yield Fault(fault, remedy="Write complete, pathway, effects, context or person.")


class Goal(Definition):
    """An aim of a user.

    Attributes:
        id: Its name.
        about: The aim in words, for a model as the user.
        opens: The messages that begin the conversation, one after the other.
        values: Field -> what the user says to its question; in a list, the next after each
            refusal. Other fields get sample values of their types.
        reaches: The end by which it is reached.
    """

    model_config = ConfigDict(title="Goal")

    _: KW_ONLY
    id: Name
    about: Text = ""
    opens: Annotated[Listed[Phrase], NOT_EMPTY]
    values: Mapping[str, Answers] = Field(default_factory=dict)
    reaches: Reached


class Phrases(Definition):
    """Words of simulated users, for journeys in other languages.

    Attributes:
        corrects: Corrections, with {value} and {field}.
        untidy: Answers with more words, with {value}.
        strays: Messages about something else.
        more: Messages to go on with if nothing is asked.
    """

    model_config = ConfigDict(title="Phrases")

    _: KW_ONLY
    corrects: Annotated[Listed[Phrase], NOT_EMPTY] = (
        "sorry, {field} is {value}",
        "wait, I meant {value} for {field}",
        "please change {field} to {value}",
    )
    untidy: Annotated[Listed[Phrase], NOT_EMPTY] = (
        "{value} please",
        "it's {value}",
        "hm, let me think, {value}",
    )
    strays: Annotated[Listed[Phrase], NOT_EMPTY] = (
        "what is the weather like today?",
        "do you like football?",
        "my cat just jumped on the table",
    )
    more: Annotated[Listed[Phrase], NOT_EMPTY] = ("yes", "please go on")


class Personas(Definition):
    """Simulated users: each persona with each goal.

    Attributes:
        personas: The personas.
        goals: The goals.
        clock: The time at which each conversation begins, as in a conversation. Default: now.
        locale: The language, or the locale, of the users. Default: English (US), UTC.
        context: The first values of the context. Default: the sample of the journey's module.
        tools: Results of tools and effects, by name, as in a conversation.
        agents: Results of agents, by name.
        phrases: Words of the users.
    """

    model_config = ConfigDict(title="Personas")
    stand_ins = {"personas": (), "goals": ()}

    _: KW_ONLY
    personas: Annotated[Listed[Persona], NOT_EMPTY]
    goals: Annotated[Listed[Goal], NOT_EMPTY]
    clock: Moment | None = None
    locale: Annotated[Locale, Short("language")] = NOWHERE
    context: Mapping[str, Any] | None = None
    tools: Stubs = Field(default_factory=dict)
    agents: Stubs = Field(default_factory=dict)
    phrases: Phrases = Phrases()

    @rule("personas", "goals")
    def _are_different(self) -> Iterator[Fault]:
        for key, listed in (("personas", self.personas), ("goals", self.goals)):
            ids = [one.id for one in listed]
            for number, id_ in enumerate(ids):
                if id_ in ids[:number]:
                    yield Fault(f"'{id_}' is there twice.", key, number, remedy="Rename one.")


def load_personas(path: Path, spec: JourneySpec, given: Mapping[str, Any]) -> Personas:
    """Return the personas of a file, whose names are those of a journey.

    Args:
        path: The file.
        spec: The journey.
        given: The sample of its first context.

    Raises:
        CommandError: It cannot be read, with every fault.
    """
    try:
        part, form = read_form(Personas, text_of(path), path.name)
        context = given if form.context is None else form.context
        _check(Names(part, context, spec), form)
        refuse(part.faults)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}.", exit_code=2) from None
    except JourneyDefinitionError as error:
        lines = placed(path, [reworded(one, " ".join(one.split())) for one in error.faults])
        raise CommandError(*lines, exit_code=2) from error
    return form


def _check(names: Names, form: Personas) -> None:
    names.check_functions(form.tools, form.agents)
    for number, goal in enumerate(form.goals):
        at, end = ("goals", number), goal.reaches
        names.check("field", [(name, name) for name in goal.values], names.fields, *at, "values")
        where = (*at, "reaches")
        if end.pathway:
            names.check("pathway", [end.pathway], names.pathways, *where, "pathway")
        names.check("effect", enumerate(end.effects), names.effects, *where, "effects")
        found = [(name, name) for name in end.context]
        names.check("context name", found, names.context, *where, "context")
