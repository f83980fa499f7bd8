"""The commands that a model may give: which make sense now, their schema, their reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from journeygraph.nodes.commands import (
    Ask,
    Back,
    Cancel,
    Choose,
    Clear,
    Command,
    Confirm,
    Correct,
    Deny,
    Explain,
    Fill,
    Go,
    Human,
    OffTopic,
    Repeat,
    Restart,
    Skip,
    Status,
    Wait,
)
from journeygraph.nodes.json_data import MOST_WORDS, cleaned
from journeygraph.nodes.llm.form_prompt import Asking
from journeygraph.nodes.llm.structured import SchemaMisfit

MOST_VALUE = 4097
"""Characters of a value that are kept: one more than is taken, so that a longer one is refused."""
SHARE: Mapping[str, Any] = {"type": "number", "description": "From 0 (no) to 1 (certain)."}
ALL, UNSUPPORTED, ASKED, SENTIMENT = "everything", "unsupported", "asked", "sentiment"
"""Targets that are no id of anything: of cancel, off_topic, and human."""

Names = Sequence[str] | None
"""The names that a model can choose from by a schema; None: any text."""
_Given = Mapping[str, Any]


def offered(form: Asking | None, targets: Sequence[str]) -> list[str]:
    """Return the names of the commands that make sense now.

    Args:
        form: The form as a model gets it; None if nothing is collected.
    """
    if form is None or not form.is_asked:
        return ["go"] if targets else []
    if not form.collects:
        return ["human", *(["go"] if targets else [])]
    asked, options = form.asked, form.options
    for_field = asked is not None and asked["kind"] == "field"
    makes_sense = {
        "fill": bool(form.names),
        "correct": bool(form.known),
        "clear": bool(form.known),
        "confirm": asked is not None and not for_field,
        "deny": bool(options) or form.is_changing or (asked is not None and not for_field),
        "choose": bool(options),
        "cancel": True,
        "skip": for_field,
        "wait": True,
        "repeat": True,
        "restart": True,
        "back": True,
        "status": True,
        "explain": True,
        "off_topic": True,
        "ask": form.knows,
        "human": True,
        "go": bool(targets),
    }
    return [name for name, does in makes_sense.items() if does]


def targets_of(form: Asking | None, targets: Sequence[str]) -> list[str]:
    """Return what a command may be about now, other than a field."""
    if form is None or not form.is_asked:
        return list(targets)
    options = [option["id"] for option in form.options]
    person = [ASKED, *([SENTIMENT] if form.sentiment and form.person else [])]
    return list(dict.fromkeys([*options, ALL, UNSUPPORTED, *person, *targets]))


def command_list(commands: Sequence[str], fields: Names, targets: Names) -> dict[str, Any]:
    """Return the schema of the commands: a list of flat objects.

    Args:
        targets: The pathways that a message may lead to in it. Where it collects, a command may
            also be about an option, and those are made in each turn: then it is any text.
    """
    properties: dict[str, Any] = {"command": name_of(commands)}
    if [*commands] == ["go"]:
        properties["target"] = name_of(targets)
    else:
        properties["field"] = nullable(fields, "The field, where the command names one.")
        properties["value"] = nullable(None, "Of fill and correct: the user's own words.")
        properties["target"] = nullable(None, "What else the command is about.")
    properties["confidence"] = SHARE
    item = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"type": "array", "items": item}


def name_of(names: Names, **more: Any) -> dict[str, Any]:
    """Return the schema of one of several names."""
    return {"type": "string", **({} if names is None else {"enum": list(names)}), **more}


def nullable(names: Names, description: str) -> dict[str, Any]:
    """Return the schema of one of several names, or null."""
    known = [] if names is not None and not names else [name_of(names)]
    return {"anyOf": [*known, {"type": "null"}], "description": description}


def command_in(item: Any) -> Command:
    """Return one command of a model's answer.

    It may name a field or an option that is not there: the consumer of commands drops and audits
    it.
    """
    if not isinstance(item, dict):
        raise SchemaMisfit("a command must be an object")
    name = item.get("command")
    reading = READ.get(name) if isinstance(name, str) else None
    if reading is None:
        raise SchemaMisfit(f"a command must be one of: {', '.join(READ)}")
    return reading(item)


def text_in(given: _Given, name: str, most: int = MOST_WORDS) -> str:
    """Return a text of an answer, "" for null."""
    value = given.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise SchemaMisfit(f"'{name}' must be text or null")
    return cleaned(value[:most])


def confidence_in(given: _Given) -> float:
    """Return a confidence; one outside of 0 to 1 is left for the steps to refuse and audit."""
    value = given.get("confidence")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SchemaMisfit("a confidence must be a number from 0 to 1")
    return float(min(max(value, -1), 2))


def _value(given: _Given) -> str:
    if given.get("value") is None:
        raise SchemaMisfit("a fill or ask must have a value")
    return text_in(given, "value", MOST_VALUE)


def _correct(given: _Given) -> Command:
    """Read a correction; one that does not say what is right takes the value back."""
    name, sure = text_in(given, "field"), confidence_in(given)
    value = text_in(given, "value", MOST_VALUE)
    return Correct(name, value, sure) if value.strip() else Clear(name, sure)


def _cancel(given: _Given) -> Command:
    about = text_in(given, "target")
    return Cancel(about == ALL, confidence_in(given), "" if about == ALL else about)


def _human(given: _Given) -> Command:
    reason = text_in(given, "target") or ASKED
    if reason not in (ASKED, SENTIMENT):
        raise SchemaMisfit(f"the reason of a call for a person must be '{ASKED}' or '{SENTIMENT}'")
    return Human(reason, confidence_in(given))


READ: Mapping[str, Callable[[_Given], Command]] = {
    "fill": lambda given: Fill(text_in(given, "field"), _value(given), confidence_in(given)),
    "correct": _correct,
    "clear": lambda given: Clear(text_in(given, "field"), confidence_in(given)),
    "confirm": lambda given: Confirm(confidence_in(given)),
    "deny": lambda given: Deny(text_in(given, "target"), confidence_in(given)),
    "choose": lambda given: Choose(text_in(given, "target"), confidence_in(given)),
    "cancel": _cancel,
    "skip": lambda given: Skip(confidence_in(given)),
    "wait": lambda given: Wait(confidence_in(given)),
    "repeat": lambda given: Repeat(confidence_in(given)),
    "restart": lambda given: Restart(confidence_in(given)),
    "back": lambda given: Back(confidence_in(given)),
    "status": lambda given: Status(confidence_in(given)),
    "explain": lambda given: Explain(text_in(given, "field"), confidence_in(given)),
    "off_topic": lambda given: OffTopic(
        text_in(given, "target") == UNSUPPORTED, confidence_in(given)
    ),
    "ask": lambda given: Ask(_value(given), confidence_in(given)),
    "human": _human,
    "go": lambda given: Go(text_in(given, "target"), confidence_in(given)),
}
"""All commands by name, each with how it is read."""
