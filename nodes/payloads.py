"""The data of an agent: its inputs, filled from the state, and its outputs, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from journeygraph.journeys import ConfigurationError
from journeygraph.journeys.agents.signature import FieldSpec, SignatureSpec
from journeygraph.nodes.authored import FAILURES
from journeygraph.nodes.json_data import copied, copied_and_sized, plain
from journeygraph.nodes.state.messages import text_of, told

if TYPE_CHECKING:
    from journeygraph.nodes.pipelines.work import Brief
    from journeygraph.nodes.services import Services

RESERVED = ("message", "context", "history")
"""Names that every payload has; a signature's input of that name is filled by it."""
GUIDELINES, TOOL_RESULTS = "guidelines", "tool_results"
"""Names of what a payload has of a turn, where there is any: rules that hold, results of tools."""


def inputs_of(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs of a run as plain data, with a message, a context and a history.

    Raises:
        ConfigurationError: One is not JSON; or `message`, `context` or `history` is no text, dict
            or list of messages.
    """
    try:
        given: dict[str, Any] = plain(dict(inputs), "inputs")
    except ValueError as error:
        raise ConfigurationError(f"{error}. A pipeline's inputs are plain JSON data.") from error
    task = given.get("task")
    for name, default in (
        ("message", task if isinstance(task, str) else ""),
        ("context", {}),
        ("history", []),
    ):
        if given.get(name) is None:
            given[name] = default
        if not isinstance(given[name], type(default)):
            kind = type(default).__name__
            raise ConfigurationError(f"inputs.{name} is {given[name]!r:.80}; it must be {kind}.")
    return given


def base_of(state: Mapping[str, Any], services: Services) -> dict[str, Any]:
    """Return what all agents of a run are given: message, context, history, a pipeline's inputs.

    It is a copy: changes by an agent have no effect on others. Earlier messages of the user with
    sensitive fields is omitted of the history, which models read.
    """
    if "inputs" in state:
        given: dict[str, Any] = copied(state["inputs"])
        return given
    history = told(_messages_in(state, services)[:-1])
    context, size = copied_and_sized(state["context"])
    services.running.sized = (state["context"], size)
    return {"message": state["turn"]["message"] or "", "context": context, "history": history}


def _messages_in(state: Mapping[str, Any], services: Services) -> Sequence[Any]:
    if not state.get("fields"):
        return state["messages"]  # type: ignore[no-any-return]
    from journeygraph.nodes.state.secrets import without_secrets  # noqa: PLC0415 - of forms alone

    return without_secrets(services.spec, state)


def given_in_turn(state: Mapping[str, Any], pathway: str) -> dict[str, Any]:
    """Return what agents are given in this turn alone: the guidelines that hold where they work.

    Args:
        state: The state; without a turn, as of a pipeline by itself, nothing is given.
    """
    turn, progress = state.get("turn") or {}, state.get("progress") or {}
    held_now = turn.get("guidelines")
    if not held_now and not progress:
        return {}
    rules = [
        {"id": held["id"], "action": held["action"], "tools": list(held["tools"])}
        for held in held_now or ()
        if pathway in held["pathways"]
    ]
    given: dict[str, Any] = {GUIDELINES: rules} if rules else {}
    if TOOL_RESULTS in progress:
        given[TOOL_RESULTS] = copied(progress[TOOL_RESULTS])
    return given


def rules_in(state: Mapping[str, Any], told: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the rules that a model agent is held to: never what another agent gave by that name.

    Args:
        state: The state; a pipeline by itself has no turn, and is handed rules as an input.
    """
    given = told.get(GUIDELINES) if "turn" in state else state["inputs"].get(GUIDELINES)
    listed = given if isinstance(given, list) else []
    return [
        rule for rule in listed if isinstance(rule, dict) and {"action", "tools"} <= rule.keys()
    ]


def payload_of(
    signature: SignatureSpec | None, base: Mapping[str, Any], brief: Brief
) -> tuple[dict[str, Any], list[str]]:
    """Return what an agent is given, and a flag for each required input that nothing filled.

    Args:
        base: The inputs of all agents of the run.
        brief: Further inputs from its pattern, such as the outputs of earlier agents.
    """
    inputs, flags = _inputs(signature, base)
    given = {name: base[name] for name in RESERVED}
    if brief.history is not None:
        given["history"] = given["history"][-brief.history :] if brief.history else []
    return {**base, **inputs, **brief.extra, **given}, flags


def name_of_turn(state: Mapping[str, Any]) -> str:
    """Return the name of a turn, which no other turn has, also in other sessions.

    It is the same in each run of the turn, unless the session is older than its `birth`.
    """
    turn, birth = state["turn"], state.get("position", {}).get("birth")
    return f"{birth or turn['at'] + turn.get('id', '')}/{turn['number']}"


def task_of(state: Mapping[str, Any]) -> str:
    """Return what a run is about in words: its `task`, the message, or any text it is given."""
    if "inputs" not in state:
        return state["turn"]["message"] or ""
    base = state["inputs"]
    for name in ("task", "message"):
        if isinstance(base.get(name), str) and base[name].strip():
            return str(base[name])
    return " ".join(value for value in base.values() if isinstance(value, str))


def _inputs(
    signature: SignatureSpec | None, base: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    if signature is None:
        return {}, []
    inputs: dict[str, Any] = {}
    flags: list[str] = []
    for field in signature.inputs:
        value = _value(field, base, signature)
        if value is None and field.required:
            value = field.empty()
            flags.append(f"empty_input:{field.name}")
        inputs[field.name] = value
    return inputs, flags


def _value(field: FieldSpec, base: Mapping[str, Any], signature: SignatureSpec) -> Any:
    if field.source or field.name in RESERVED:
        return base[field.source or field.name]
    if (given := base.get(field.name)) is not None:
        return given
    if (known := base["context"].get(field.name)) is not None:
        return known
    if field is signature.listener:
        return base["message"]
    return None if field.required else copied(field.default)


def outputs_of(result: Any) -> dict[str, Any]:
    """Return what an agent gave back as named values; None values are skipped.

    Raises:
        TypeError: It is neither a dict, text, a message, nor a model with fields.
    """
    kept = {name: value for name, value in named(result).items() if value is not None}
    if not isinstance(kept.get("response", ""), (str, int, float)):
        kept["response"] = text_in(kept["response"])
    clean: dict[str, Any] = plain(kept, "outputs")
    return clean


def named(result: Any) -> Mapping[str, Any]:
    """Return what an agent gave back as a mapping; text and messages are its `response`."""
    if result is None:
        return {}
    if isinstance(result, str) or is_message(result):
        return {"response": text_in(result)}
    if hasattr(result, "model_dump"):
        result = result.model_dump(mode="json")
    if not isinstance(result, Mapping):
        raise TypeError(
            f"it returned {type(result).__name__}; return a dict, text or a message instead"
        )
    if result.get("messages") and "response" not in result:
        return {**result, "response": _reply_in(result["messages"]), "messages": None}
    return result


def is_message(value: Any) -> bool:
    """Return whether a value is a message of LangChain, or the plain dict of one."""
    if isinstance(value, Mapping):
        return {"role", "content"} <= value.keys() <= {"role", "content", "id", "name"}
    return hasattr(value, "content") and hasattr(value, "type")


def text_in(value: Any) -> str:
    """Return what a reply says: text, a message, or the content of one, which may be blocks."""
    if is_message(value):
        value = value["content"] if isinstance(value, Mapping) else value.content
    if isinstance(value, (str, list)):
        return text_of(value)
    raise TypeError(f"its response is of type {type(value).__name__}; give text or a message")


def _reply_in(messages: Sequence[Any]) -> str | None:
    for message in reversed(messages):
        given = message if isinstance(message, Mapping) else getattr(message, "__dict__", {})
        if "content" not in given:
            raise TypeError(f"its messages contain {type(message).__name__}; give messages or text")
        role = given.get("role") or given.get("type")
        if role in ("user", "human"):
            break
        if role in ("assistant", "ai", "AIMessageChunk") and (said := text_of(given["content"])):
            return said
    return None


def typed(signature: SignatureSpec | None, values: dict[str, Any]) -> dict[str, Any]:
    """Bring declared outputs into their types; what is not declared stays as it is.

    Raises:
        TypeError: An output is not of its type, or its type makes something of it that is not JSON.
    """
    declared = signature.outputs if signature else ()
    checked = dict(values)
    for field in declared:
        if field.name not in values:
            continue
        try:
            checked[field.name] = plain(field.validated(values[field.name]), field.name)
        except FAILURES as error:  # a type may bring validators of its own
            kind = getattr(field.annotation, "__name__", str(field.annotation))
            got = type(values[field.name]).__name__
            raise TypeError(f"output '{field.name}' must be {kind}, not {got}") from error
    return checked
