"""Answers to the call that understands a message: moves, rules that hold, commands of a form."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Any

from journeygraph.nodes.llm.command_schema import ALL, ASKED, SENTIMENT, UNSUPPORTED
from journeygraph.nodes.llm.scripted.wire import Call, Json


def leads_to(
    pathway: str, *, confidence: float = 0.95, reason: str = "scripted"
) -> Callable[[Call], Json]:
    """Return an answer by which a message leads to a pathway, and no guideline holds.

    Args:
        pathway: Id of the pathway. A call in which no transition leads there, or which asks for
            anything but verdicts, fails the script.
        confidence: The model's confidence, 0 to 1.
        reason: The model's reason.
    """
    return rules_hold(to=pathway, confidence=confidence, reason=reason)


def leads_nowhere(call: Call) -> Json:
    """Answer that a message asks for nothing that could be done, and that no guideline holds.

    A call that asks for anything but verdicts fails the script.
    """
    return rules_hold()(call)


def rules_hold(
    *rules: str, to: str | None = None, confidence: float = 0.95, reason: str = "scripted"
) -> Callable[[Call], Json]:
    """Return an answer by which guidelines hold, and perhaps a message leads to a pathway.

    Args:
        *rules: Ids of the guidelines. A call that does not ask about one of them fails the script.
        to: Id of the pathway, as in `leads_to`; None: nowhere.
        confidence: The model's confidence in all this, 0 to 1.
        reason: The model's reason.
    """

    def answer(call: Call) -> Json:
        asked = asked_in(call)
        moves = questions_in(asked)
        known = {rule["rule"] for rule in asked.get("rules", [])}
        if to is not None and to not in {question["leads_to"] for question in moves}:
            raise AssertionError(f"no transition leads to '{to}' here, only to {moves}")
        if unknown := set(rules) - known:
            raise AssertionError(
                f"there is no question about {sorted(unknown)} here, only about {sorted(known)}"
            )
        sure = {"confidence": confidence, "reason": reason}
        held = [{"rule": rule, **sure} for rule in rules]
        verdicts = [
            {"question": move["question"], "holds": move["leads_to"] == to, **sure}
            for move in moves
        ]
        said: Json = {"verdicts": verdicts, "rules_that_hold": held}
        said |= {"commands": [], "asks": None, "reply": None}
        return {name: said[name] for name in (call.schema or {}).get("properties", {})}

    return answer


def asked_in(call: Call) -> Json:
    """Return what a call that understands a message is given, as data.

    Raises:
        AssertionError: It is a call of another kind.
    """
    if call.schema_name != "understanding":
        raise AssertionError(f"the call asks for '{call.schema_name}', not for verdicts")
    asked: Json = json.loads(call.message)
    return asked


def questions_in(asked: Json) -> list[Json]:
    """Return the questions that a call wants verdicts on; others may be shown as well."""
    wanted = "verdicts" in asked.get("give", ["verdicts"])
    return asked.get("questions", []) if wanted else []


Said = tuple[Json, ...]
"""Commands as `fill` and the others return them."""


def says(
    *commands: Said,
    reply: str | None = None,
    asks: str | None = None,
    to: str | None = None,
    rules: tuple[str, ...] = (),
    confidence: float = 0.95,
) -> Callable[[Call], Json]:
    """Return an answer by which a message asks for something, in this order.

    A call that offers none of it (no such command, field or option now, or no reply) fails the
    script.

    Args:
        *commands: The commands: `fill(amount="40")`, `confirm()`, ...
        reply: The reply in the model's own words; None: no reply.
        asks: Name of the field that the reply asks for.
        to: Id of the pathway that it leads to, as in `leads_to`.
        rules: Ids of the guidelines that hold, as in `rules_hold`.
        confidence: The model's confidence in all this, 0 to 1.
    """
    said = [one for several in commands for one in several]

    def answer(call: Call) -> Json:
        given = rules_hold(*rules, to=to, confidence=confidence)(call)
        asked = asked_in(call)
        if said:
            given["commands"] = [_checked(one, confidence, call) for one in said]
        for name, text in (("reply", reply), ("asks", asks)):
            if text is not None:
                if name not in asked["give"]:
                    raise AssertionError(
                        f"the call does not ask for '{name}', so {text!r} is not valid"
                    )
                given[name] = text
        if asks is not None:
            _check("asks", asks, _fields(asked))
        return given

    return answer


def _checked(command: Json, confidence: float, call: Call) -> Json:
    """Return a command with all that the schema wants of it, and nothing else."""
    asked, schema = asked_in(call), call.schema or {}
    if "commands" not in asked["give"]:
        raise AssertionError(f"the call does not ask for commands, so {command} is not valid")
    properties = schema["properties"]["commands"]["items"]["properties"]
    _check("command", command["command"], asked.get("commands", ["go"]))
    if command.get("field") is not None:
        _check("field", command["field"], _fields(asked))
    if command.get("target") is not None:
        _check("target", command["target"], _targets(call))
    return {name: command.get(name) for name in properties} | {"confidence": confidence}


def _check(name: str, text: str, open_now: Collection[str]) -> None:
    if text not in open_now:
        raise AssertionError(f"'{name}' is {text!r}; here it must be one of {[*open_now]}")


def _fields(asked: Json) -> list[str]:
    now = asked.get("form_now", {})
    return [*now.get("collected", ()), *now.get("open", ()), *now.get("skipped", ())]


def _targets(call: Call) -> list[str]:
    asked = asked_in(call)
    moves = [question["leads_to"] for question in questions_in(asked)]
    if "form_now" not in asked:
        return moves
    last = asked["form_now"].get("asked_last") or {"options": []}
    options = [option["id"] for option in last["options"]]
    paused = [task["id"] for task in asked["form_now"].get("paused_tasks", ())]
    mood = [SENTIMENT] if f"'{SENTIMENT}'" in call.text else []
    return [*options, *paused, ALL, UNSUPPORTED, ASKED, *mood, *moves]


def fill(**values: str) -> Said:
    """Say that the message gives fields their values, in these words: `fill(amount="40")`."""
    return tuple(_command("fill", field=name, value=value) for name, value in values.items())


def correct(**values: str | None) -> Said:
    """Say that the message changes fields; None if it does not say to what."""
    return tuple(_command("correct", field=name, value=value) for name, value in values.items())


def clear(*fields: str) -> Said:
    """Say that the message takes the values of fields back."""
    return tuple(_command("clear", field=name) for name in fields)


def _saying(command: str, meaning: str) -> Callable[[], Said]:
    def said() -> Said:
        return (_command(command),)

    said.__doc__ = f"Say that the message {meaning}."
    return said


confirm = _saying("confirm", "is a yes to what was asked last")
skip = _saying("skip", "leaves the question unanswered")
wait = _saying("wait", "asks for a moment")
repeat = _saying("repeat", "asks to hear the last words again")
restart = _saying("restart", "asks to begin the task again")
back = _saying("back", "asks to go back to the question before")
status = _saying("status", "asks what is known so far")


def deny(option: str | None = None) -> Said:
    """Say that the message is a no to what was asked last, or to one option of it by its id."""
    return (_command("deny", target=option),)


def choose(option: str) -> Said:
    """Say that the message takes an option, by its id."""
    return (_command("choose", target=option),)


def cancel(task: str | None = None, *, everything: bool = False) -> Said:
    """Say that the message gives up the task, one that waits by its id, or all of them."""
    return (_command("cancel", target=ALL if everything else task),)


def explain(field: str | None = None) -> Said:
    """Say that the message asks what a field is for; without a name, the one asked last."""
    return (_command("explain", field=field),)


def off_topic(*, unsupported: bool = False) -> Said:
    """Say that the message leads off, or asks for what cannot be done here."""
    return (_command("off_topic", target=UNSUPPORTED if unsupported else None),)


def ask(question: str) -> Said:
    """Say that the message asks a question that is looked up, in these words."""
    return (_command("ask", value=question),)


def human(reason: str = ASKED) -> Said:
    """Say that the message asks for a person, or calls for one by its "sentiment"."""
    return (_command("human", target=reason),)


def go(pathway: str) -> Said:
    """Say that the message asks to go to a pathway by name."""
    return (_command("go", target=pathway),)


def _command(name: str, **about: Any) -> Json:
    return {"command": name, **about}
