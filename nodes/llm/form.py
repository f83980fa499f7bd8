"""What a model is told of a form: what is collected, what was asked, what may be asked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from journeys.fields import Field
from journeys.personality import Personality
from nodes.talk import Asked, Option

MOST_SHOWN = 200
"""Characters of a value that a model is shown; the rest of a long text tells it nothing."""

Status = Literal["collected", "open", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """A field as a model sees it.

    Attributes:
        name: Its name, which commands use.
        title: What users are told it is called.
        type: What kind of value it takes.
        question: How the runtime asks for it.
        about: What it is needed for.
        choices: What it takes, where that is a closed list.
        status: collected, open, or skipped.
        value: Its value as users read it; empty where there is none to be seen.
        required: Whether it may not be left open.
        hint: What is taken, in words.
    """

    name: str
    title: str
    type: str = "text"
    question: str = ""
    about: str = ""
    choices: tuple[str, ...] = ()
    status: Status = "open"
    value: str = ""
    required: bool = True
    hint: str = ""

    def data(self) -> dict[str, Any]:
        """Return it as data; what says nothing is left out."""
        given = {
            "field": self.name,
            "called": self.title if self.title != self.name else "",
            "type": self.type,
            "question": self.question,
            "about": self.about,
            "takes": list(self.choices) or self.hint,
            "status": self.status,
            "value": self.value,
        }
        optional = {} if self.required else {"optional": True}
        return {**{name: told for name, told in given.items() if told}, **optional}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """What a model is told of the form that is open, and what it may make of a message.

    Attributes:
        task: What users are told the form is for.
        fields: Its fields that count now.
        asked: What the user was asked last.
        correctable: Fields of other tasks whose values may be changed.
        paused: The tasks that wait, the last one first.
        tasks: What can be done here, as users are told.
        person: Whether there is a person to hand the conversation to.
        sentiment: What calls for a person unasked, in words; empty: nothing.
        personality: How a reply sounds.
        worded: Whether the model words the reply; it does where no agent is declared.
    """

    task: str
    fields: Sequence[FormField]
    asked: Asked | None = None
    correctable: Sequence[FormField] = ()
    paused: Sequence[Option] = ()
    tasks: Sequence[str] = ()
    person: bool = False
    sentiment: str = ""
    personality: Personality = field(default_factory=Personality)
    worded: bool = True

    @property
    def options(self) -> list[Option]:
        """What was offered with the last question."""
        return self.asked["options"] if self.asked else []

    @property
    def names(self) -> list[str]:
        """The names of all fields that a command may be about."""
        return list(dict.fromkeys(f.name for f in (*self.fields, *self.correctable)))

    @property
    def known(self) -> list[str]:
        """The names of the fields that have a value."""
        return [f.name for f in (*self.fields, *self.correctable) if f.status == "collected"]

    def data(self) -> dict[str, Any]:
        """Return what a model is given, as data; what says nothing is left out."""
        given = {
            "task": self.task,
            "fields": [field.data() for field in self.fields],
            "asked_last": dict(self.asked) if self.asked else None,
            "fields_of_other_tasks": [field.data() for field in self.correctable],
            "paused_tasks": [dict(task) for task in self.paused],
            "what_can_be_done_here": list(self.tasks),
            "a_person_is_there": self.person,
        }
        return {name: told for name, told in given.items() if told or told is False}


def asking_of(
    task: str,
    fields: Sequence[Field],
    shown: Mapping[str, str],
    *,
    skipped: Collection[str] = (),
    correctable: Sequence[Field] = (),
    questions: Mapping[str, str] | None = None,
    hints: Mapping[str, str] | None = None,
    **moment: Any,
) -> Asking:
    """Return what a model is told of a form. A sensitive value is never among it.

    Args:
        task: What users are told the form is for.
        fields: The fields of the form that count now, in order.
        shown: Name -> value as users read it, of every field that has one.
        skipped: Names of the fields that the user left open.
        correctable: Fields of other tasks whose values may be changed; without a value in
            `shown`, none is.
        questions: Name -> how the runtime asks for it; otherwise the field's own words.
        hints: Name -> what is taken, in words.
        **moment: The other attributes of `Asking`.
    """
    asked_as, taken = questions or {}, hints or {}

    def seen(one: Field) -> FormField:
        return FormField(
            name=one.name,
            title=one.title,
            type=one.type if one.type != "list" else f"list of {one.items}",
            question=asked_as.get(one.name, one.ask),
            about=one.description,
            choices=tuple(one.ways),
            status=_status(one.name, shown, skipped),
            value="" if one.sensitive else shown.get(one.name, "")[:MOST_SHOWN],
            required=one.required,
            hint=taken.get(one.name, ""),
        )

    here = {one.name for one in fields}
    others = [one for one in correctable if one.name not in here and one.name in shown]
    return Asking(
        task=task,
        fields=[seen(one) for one in fields],
        correctable=[seen(one) for one in others],
        **moment,
    )


def _status(name: str, shown: Mapping[str, str], skipped: Collection[str]) -> Status:
    if name in shown:
        return "collected"
    return "skipped" if name in skipped else "open"
