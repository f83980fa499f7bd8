"""Run what a model agent may call: typed functions and LangChain's tools, behind one interface."""

from __future__ import annotations

import inspect
import re
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import orjson
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langchain_core.tools import Tool as OneArgumentTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ValidationError
from pydantic_core import to_json

from journeygraph.journeys import Call as PathwayCall
from journeygraph.journeys import ConfigurationError, FromContext, ModelError, Tool, ToolSpec
from journeygraph.nodes.authored import Overdue, contained, in_thread
from journeygraph.nodes.journal import ASKED, CallsOfRun, ToolLog, is_pause
from journeygraph.nodes.json_data import cleaned, copied, digest_of, plain, words_of
from journeygraph.nodes.llm.client import ModelToolCall
from journeygraph.nodes.llm.structured import load_schemas, misfits
from journeygraph.nodes.state.confirmation import Consent
from journeygraph.nodes.telemetry import ToolSpan

KEY = "idempotency_key"
"""Parameter that takes the key of a call: the runtime fills it wherever a function has it."""
MOST_RESULT = 16 * 1024
"""Longest result of a tool that a model is shown, in characters."""


def shortened(result: Any) -> str:
    """Return the result of a tool as the text that a model is shown."""
    text = cleaned(result if isinstance(result, str) else _json(result))
    return text if len(text) <= MOST_RESULT else f"{text[:MOST_RESULT]} ... (cut here)"


def _json(result: Any) -> str:
    """Return any result as JSON: the tool did its work, so this must not fail."""
    try:
        return orjson.dumps(plain(result, "result")).decode()
    except ValueError:  # a date, a set, an object
        pass
    try:
        return to_json(result, by_alias=False, inf_nan_mode="null", fallback=str).decode()
    except Exception:  # it holds itself, or cannot even be shown as text
        return "It is done, but its result cannot be shown."


def told(error: Exception) -> str:
    """Return the text about a failure for a model."""
    if isinstance(error, ValidationError):
        faults = (f"{'.'.join(map(str, f['loc']))}: {f['msg']}" for f in error.errors()[:3])
        return "the arguments do not fit: " + "; ".join(faults)
    # What a function says on purpose. Other errors come from below, with whatever they hold.
    if isinstance(error, (ValueError, LookupError, ToolException)):
        return words_of(error)
    return type(error).__name__


def as_tool(agent: str, given: Any) -> BaseTool:
    """Return a function as a tool: its name, its docstring and its typed parameters.

    Raises:
        ConfigurationError: It is no function, has no docstring, or a parameter without a type.
    """
    if not inspect.isroutine(given):
        raise ConfigurationError(
            f"Agent '{agent}': {given!r:.80} is not a tool. Give typed functions or LangChain "
            f"tools."
        )
    try:
        return _tool(given)
    except Exception as error:  # no docstring, or a parameter whose type says nothing
        raise ConfigurationError(
            f"Agent '{agent}': the function {given.__name__} cannot be a tool: {error} "
            "Give it a docstring and a type for every parameter."
        ) from error


@lru_cache(maxsize=1024)
def _tool(function: Callable[..., Any]) -> BaseTool:
    """Return a function as a tool, once: reading its types takes longer than calling it."""
    if inspect.iscoroutinefunction(function):
        return StructuredTool.from_function(coroutine=function)
    return StructuredTool.from_function(func=function)


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a tool.

    Attributes:
        schema: LangChain's: a pydantic model, or a JSON schema as a dict.
        shown: The tool as OpenAI writes functions, without what is not a model's to give.
        session: Parameter -> where the session fills it from.
        kept_back: Names of what is not a model's to give.
        declared: JSON schema that a journey declares of what models give; None if it does not.
        takes_key: True if the tool takes the key of the call as `idempotency_key`.
    """

    schema: Any
    shown: Mapping[str, Any]
    session: Mapping[str, FromContext]
    kept_back: frozenset[str]
    optional: frozenset[str]
    declared: Mapping[str, Any] | None = None
    takes_key: bool = False

    @property
    def is_json_schema(self) -> bool:
        """Return whether the tool came with a JSON schema, which LangChain does not hold it to."""
        return isinstance(self.schema, Mapping)

    @property
    def properties(self) -> tuple[Mapping[str, Any], Sequence[str]]:
        """Return the parameters by name, and the names of required ones."""
        schema = self.shown["function"].get("parameters", {})
        return schema.get("properties", {}), schema.get("required", ())

    def given(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a model that are its to give."""
        given = {name: value for name, value in arguments.items() if name not in self.kept_back}
        if self.declared is not None and (faults := misfits(self.declared, given)):
            raise ValueError(f"the arguments do not fit: {faults}")
        return given

    def filled(self, given: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
        """Return all arguments: the model's, and those that the session fills."""
        values = {
            name: copied(source.value_in(context, name)) for name, source in self.session.items()
        }
        missing = [n for n, value in values.items() if value is None and n not in self.optional]
        if missing:
            raise LookupError(
                f"the conversation has no {', '.join(missing)} yet, and you cannot set it"
            )
        known = {name: value for name, value in values.items() if value is not None}
        return {**given, **known}

    def keyed(self, arguments: Mapping[str, Any], key: str) -> dict[str, Any]:
        """Return the arguments with the key of the call, if the tool takes it."""
        return {**arguments, KEY: key} if self.takes_key else {**arguments}

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Refuse what does not fit."""
        if self.is_json_schema:
            if faults := misfits(self.schema, dict(arguments)):
                raise ValueError(f"the arguments do not fit: {faults}")
        elif hasattr(self.schema, "model_validate"):
            self.schema.model_validate(dict(arguments))


def parameters_of(agent: str, tool: BaseTool) -> Parameters:
    """Return what a tool takes; read once, since that takes longer than calling it.

    Raises:
        ConfigurationError: `FromContext` has no effect at its place; or the schema refers to
            something outside of it.
    """
    key = id(tool)
    if key not in _known:
        _known[key] = _read(agent, tool)
        weakref.finalize(tool, _known.pop, key, None)
    return _known[key]


_known: dict[int, Parameters] = {}


def _read(agent: str, tool: BaseTool) -> Parameters:
    try:
        shown: Mapping[str, Any] = convert_to_openai_tool(tool)
    except Exception as error:  # a schema that refers to what is not in it
        raise ConfigurationError(
            f"Agent '{agent}': the tool '{tool.name}' cannot be shown to a model: {error}"
        ) from error
    if isinstance(tool.args_schema, dict):
        load_schemas()
        keyed = KEY in tool.args_schema.get("properties", {})
        kept = frozenset({KEY} if keyed else ())
        shown = _without(shown, kept)
        return Parameters(tool.args_schema, shown, {}, kept, frozenset(), takes_key=keyed)
    schema = tool.get_input_schema()
    fields = getattr(schema, "model_fields", {})
    session = {}
    for name, declared in fields.items():
        marks = list(_marks(declared.metadata))
        if marks and not declared.validation_alias:
            session[name] = marks[0]
        elif marks or isinstance(declared.default, FromContext) or _hidden_in(declared.annotation):
            raise ConfigurationError(
                f"Agent '{agent}': in the tool '{tool.name}' the parameter '{name}' would be shown "
                f"to the model. Write {name}: Annotated[..., FromContext(...)], without an alias."
            )
    own = session.get(KEY)
    keyed = KEY in fields and (own is None or own.source in ("", KEY))
    if keyed:
        session.pop(KEY, None)
    hidden = {*session, *({KEY} if keyed else ())}
    injected = set(fields) - set(tool.args)
    optional = frozenset(name for name, declared in fields.items() if not declared.is_required())
    kept_back = frozenset({*hidden, *injected})
    shown = _without(shown, hidden)
    return Parameters(schema, shown, session, kept_back, optional, takes_key=keyed)


def _marks(metadata: Any) -> Iterator[FromContext]:
    for item in metadata:
        if isinstance(item, FromContext):
            yield item
        elif item is FromContext:
            yield FromContext()


def _hidden_in(annotation: Any, seen: frozenset[Any] = frozenset()) -> bool:
    """Return whether the mark is somewhere inside a type, where it would hide nothing."""
    if get_origin(annotation) is Annotated and any(_marks(annotation.__metadata__)):
        return True
    inside = list(get_args(annotation))
    if isinstance(annotation, type) and annotation not in seen:
        seen |= {annotation}
        inside += _members(annotation)
    return any(_hidden_in(inner, seen) for inner in inside)


def _members(kind: type) -> list[Any]:
    if kind.__module__ == "builtins":
        return []
    try:
        return list(get_type_hints(kind, include_extras=True).values())
    except (NameError, TypeError):  # what pydantic can make of it, it has made already
        return []


def _without(shown: Mapping[str, Any], names: Collection[str]) -> Mapping[str, Any]:
    if not names:
        return shown
    function = shown["function"]
    parameters = dict(function["parameters"])
    properties = parameters.get("properties", {})
    parameters["properties"] = {n: value for n, value in properties.items() if n not in names}
    parameters["required"] = [n for n in parameters.get("required", []) if n not in names]
    description = _unmentioned(function.get("description", ""), names)
    told = {**function, "description": description, "parameters": parameters}
    return {**shown, "function": told}


def _unmentioned(description: str, names: Collection[str]) -> str:
    """Return a docstring without what its list of arguments says of some of them."""
    entry = re.compile(rf"(\s+)({'|'.join(map(re.escape, names))})\s*(\(.*\))?:")
    kept: list[str] = []
    inside: int | None = None
    for line in inspect.cleandoc(description).splitlines():
        if inside is not None and line.strip() and _indent(line) > inside:
            continue
        found = entry.match(line)
        inside = len(found[1]) if found else None
        if not found:
            kept.append(line)
    return re.sub(r"\n\s*Args:\s*(?=\n\S|\Z)", "", "\n".join(kept))


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


ANSWER = "answer"
"""Name of the answer's function, for models of other providers."""
NOT_YET = (
    "Not run: this needs the user's consent first. Ask for it in your answer, and say in words "
    "what exactly is to be done. If the user agrees in the next message, call it again then, with "
    "these same arguments."
)
"""Result for the model of a call that waits for the user."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """For whom tools are run.

    Attributes:
        consent: The confirmations of the user; None if there is no user.
        log: Takes how calls ended; None if it is not recorded.
        calls: The results of tools before the agent asked; None if no tool runs again.
        run: Name of the turn or of the run, from which the keys of calls are made.
        key: The key of the call, if it is known already.
    """

    context: Mapping[str, Any]
    consent: Consent | None = None
    log: ToolLog | None = None
    calls: CallsOfRun | None = None
    run: str = ""
    key: str = ""

    def key_of(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Return the key of a call: the same if it is made again in this turn."""
        return self.key or digest_of({"run": self.run, "tool": tool, "arguments": arguments})

    def note(self, end: str, tool: str, reason: str = "") -> None:
        """Note how the call of a tool ended: `done`, `failed` or `not_called`."""
        if self.log:
            self.log(end, cleaned(tool)[:64], reason)


@dataclass(frozen=True, slots=True)
class Usable:
    """A tool as an agent has it: LangChain's, what it takes, and whether the user confirms it."""

    tool: BaseTool
    parameters: Parameters
    confirm: bool


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools of one agent.

    Attributes:
        overdue: Called when a turn continues without the thread of a sync tool.
        reserve: Name -> tool that a guideline gives the agent in the turns in which it holds.
    """

    agent: str
    tools: Mapping[str, Usable]
    overdue: Overdue
    reserve: Mapping[str, Usable] = field(default_factory=dict)

    def opened(self, names: Collection[str]) -> Toolbox:
        """Return it with tools of the reserve."""
        given = {name: usable for name, usable in self.reserve.items() if name in names}
        return replace(self, tools={**self.tools, **given}) if given else self

    @property
    def shown(self) -> tuple[Mapping[str, Any], ...]:
        """Return their descriptions in OpenAI's format of functions."""
        return tuple(usable.parameters.shown for usable in self.tools.values())

    @property
    def confirmed(self) -> tuple[str, ...]:
        """Names of those that are run only after the user was asked."""
        return tuple(name for name, usable in self.tools.items() if usable.confirm)

    def arguments_of(
        self, call: PathwayCall, known: Mapping[str, Any]
    ) -> tuple[dict[str, Any], list[str]]:
        """Return the arguments of a call that a pathway makes, and the parameters left without one.

        Args:
            call: The call; a parameter that it does not name is filled by the value of its name.
            known: The known values: the context, and the message.
        """
        parameters = self.tools[call.tool].parameters
        properties, required = parameters.properties
        sources = {name: name for name in properties} | dict(call.arguments)
        found = {name: known.get(source) for name, source in sources.items()}
        arguments = {name: copied(value) for name, value in found.items() if value is not None}
        return arguments, [name for name in required if name not in arguments]

    async def call(self, name: str, arguments: Mapping[str, Any], occasion: Occasion) -> Any:
        """Run a tool that a pathway calls by itself, and return what it gave.

        Raises:
            Exception: Whatever the tool raises.
        """
        usable = self.tools[name]
        with contained():
            filled = usable.parameters.filled(usable.parameters.given(arguments), occasion.context)
            keyed = usable.parameters.keyed(filled, occasion.key_of(name, filled))
            usable.parameters.check(keyed)
            return await self._run(usable.tool, keyed)

    async def use(
        self, call: ModelToolCall, occasion: Occasion, told_of: Collection[str], failed: set[str]
    ) -> str:
        """Run a tool that the model called, and return the result for the model.

        The model gets a failure once, to correct its call; the same tool failing again is the
        end of it. It is not known what a failed tool did before it failed, so no text mentions it.

        Args:
            told_of: Names of tools whose failure the model knows.
            failed: Takes the name of this one if it fails.

        Raises:
            ModelError: The tool failed a second time, or there is no user to confirm it.
        """
        if call.name == ANSWER:
            return "Not yet: read what your tools gave back, and answer then."
        try:
            with contained():
                return await self._result(call, occasion)
        except ModelError:
            raise
        except Exception as error:  # whatever an author's function raises
            if is_pause(error):
                raise
            if call.name in told_of:
                said = f"the tool '{cleaned(call.name)[:64]}' failed twice: {told(error)}"
                raise ModelError("tool_failed", said) from error
            failed.add(call.name)
            return f"This failed: {told(error)}."

    async def _result(self, call: ModelToolCall, occasion: Occasion) -> str:
        try:
            usable, given, filled = self._prepared(call, occasion)
            known = occasion.calls.given(call.name, filled) if occasion.calls else None
            if known is not None:  # before the user's consent is used up, which it was then
                return known
            is_run = not usable.confirm or _permitted(call.name, given, filled, occasion.consent)
        except Exception as error:
            occasion.note("not_called", call.name, told(error))
            raise
        if not is_run:
            occasion.note("not_called", call.name, "it waits for the user's consent")
            return NOT_YET
        try:
            keyed = usable.parameters.keyed(filled, occasion.key_of(call.name, filled))
            result = await self._run(usable.tool, keyed)
        except Exception as error:  # whatever an author's function raises
            end, why = ("not_called", ASKED) if is_pause(error) else ("failed", told(error))
            occasion.note(end, call.name, why)
            raise
        occasion.note("done", call.name)
        shown = shortened(result)
        if occasion.calls:
            occasion.calls.keep(call.name, filled, shown)
        return shown

    def _prepared(
        self, call: ModelToolCall, occasion: Occasion
    ) -> tuple[Usable, dict[str, Any], dict[str, Any]]:
        usable = self.tools.get(call.name)
        if usable is None:
            known = ", ".join(self.tools) or "none"
            raise LookupError(f"there is no such tool; yours are: {known}")
        if call.arguments is None:
            raise ValueError("the arguments are not a JSON object")
        given = usable.parameters.given(call.arguments)
        filled = usable.parameters.filled(given, occasion.context)
        if usable.confirm or usable.parameters.is_json_schema:
            # Others are held to their types when they are run.
            usable.parameters.check(usable.parameters.keyed(filled, KEY))
        return usable, given, filled

    async def _run(self, tool: BaseTool, arguments: dict[str, Any]) -> Any:
        with ToolSpan(tool.name, self.agent):
            if not _is_sync(tool):
                return await tool.ainvoke(arguments)
            # LangChain would borrow a thread of a pool, and a hanging one keeps it.
            result = await in_thread(self.agent, tool.invoke, arguments, self.overdue)
            return await result if inspect.isawaitable(result) else result


def _permitted(
    name: str, given: Mapping[str, Any], filled: Mapping[str, Any], consent: Consent | None
) -> bool:
    if consent is None:
        raise ModelError(
            "tool_failed",
            f"the tool '{name}' needs a confirmation by the user, which is not possible here: it "
            "runs in the agents of a journey's pathway, also in its __pipeline__",
        )
    return consent.permits(name, given, filled)


def toolbox_of(
    agent: str,
    given: Sequence[Any],
    overdue: Overdue,
    allowed: Collection[str] | None = None,
    *,
    shared: Mapping[str, Usable] | None = None,
    reserved: Collection[str] = (),
) -> Toolbox:
    """Return the tools of an agent.

    Args:
        given: Typed functions, LangChain tools, and `Tool`s of either.
        allowed: Names of those that it may use; None for all that are not reserved.
        shared: Tools of the journey, by name; one that the agent brings itself comes first.

    Raises:
        ConfigurationError: One of them is not one of these, has no description, or a name that is
            taken.
    """
    tools: dict[str, Usable] = {}
    for item in given:
        usable = _usable(agent, item if isinstance(item, Tool) else Tool(item))
        name = usable.tool.name
        if name in tools:
            raise ConfigurationError(
                f"Agent '{agent}' has two tools named '{name}'. Rename one of them."
            )
        if name == ANSWER:
            raise ConfigurationError(
                f"Agent '{agent}': no tool can be named '{ANSWER}', as what the agent answers is. "
                "Rename it."
            )
        tools[name] = usable
    tools = {**(shared or {}), **tools}
    kept = {
        name: usable
        for name, usable in tools.items()
        if (name not in reserved if allowed is None else name in allowed)
    }
    reserve = {name: tools[name] for name in tools if name in reserved}
    return Toolbox(agent, kept, overdue, reserve)


def shared_tool(name: str, given: Any, declared: ToolSpec | None = None) -> Usable:
    """Return a tool of the journey under its name there, and as the journey declares it."""
    usable = _usable(name, given if isinstance(given, Tool) else Tool(given))
    if usable.tool.name != name:
        usable = replace(usable, tool=usable.tool.model_copy(update={"name": name}))
    function = dict(usable.parameters.shown["function"]) | {"name": name}
    if declared is None:
        return _shown_as(usable, function, None)
    load_schemas()
    function["description"] = declared.description or function.get("description", "")
    function["parameters"] = dict(declared.parameters)
    return _shown_as(usable, function, declared.parameters)


def _shown_as(
    usable: Usable, function: Mapping[str, Any], declared: Mapping[str, Any] | None
) -> Usable:
    shown: Mapping[str, Any] = {"type": "function", "function": function}
    known = usable.parameters
    if declared is not None and KEY in declared.get("properties", {}):
        shown = _without(shown, {KEY})
        declared = shown["function"]["parameters"]
        known = replace(known, takes_key=True, kept_back=known.kept_back | {KEY})
    return replace(usable, parameters=replace(known, shown=shown, declared=declared))


def tool_name(given: Any) -> str:
    """Return the name of a tool, as a model calls it."""
    call = given.call if isinstance(given, Tool) else given
    return str(call.name if isinstance(call, BaseTool) else call.__name__)


def _usable(agent: str, given: Tool) -> Usable:
    tool = given.call if isinstance(given.call, BaseTool) else as_tool(agent, given.call)
    return Usable(tool, parameters_of(agent, tool), given.confirm)


def _is_sync(tool: BaseTool) -> bool:
    if isinstance(tool, (OneArgumentTool, StructuredTool)):
        return tool.coroutine is None
    return type(tool)._arun is BaseTool._arun
