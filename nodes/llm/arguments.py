"""What a tool takes: what a model is shown of it and may give, and what the session fills in."""

from __future__ import annotations

import inspect
import re
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from journeys import ConfigurationError, FromContext
from nodes.llm.json_schema import misfits
from nodes.plain import copied


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of a tool.

    Attributes:
        schema: LangChain's: a pydantic model, or a JSON schema as a dict.
        shown: The tool as OpenAI writes functions, without what is not a model's to give.
        session: Parameter -> where the session fills it from.
        kept_back: Names of what is not a model's to give.
        optional: Names of those that have a default.
        declared: JSON schema that a journey declares of what models give; None if it does not.
    """

    schema: Any
    shown: Mapping[str, Any]
    session: Mapping[str, FromContext]
    kept_back: frozenset[str]
    optional: frozenset[str]
    declared: Mapping[str, Any] | None = None

    @property
    def is_json_schema(self) -> bool:
        """Whether the tool came with a JSON schema, which LangChain does not hold it to."""
        return isinstance(self.schema, Mapping)

    @property
    def properties(self) -> tuple[Mapping[str, Any], Sequence[str]]:
        """What a caller gives, by name, and which of it must be given."""
        schema = self.shown["function"].get("parameters", {})
        return schema.get("properties", {}), schema.get("required", ())

    def given(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments of a model that are its to give.

        Raises:
            ValueError: They do not fit what the journey declares.
        """
        given = {name: value for name, value in arguments.items() if name not in self.kept_back}
        if self.declared is not None and (faults := misfits(self.declared, given)):
            raise ValueError(f"the arguments do not fit: {faults}")
        return given

    def filled(self, given: Mapping[str, Any], context: Mapping[str, Any]) -> dict[str, Any]:
        """Return all arguments: the model's, and those that the session fills.

        Raises:
            LookupError: The context lacks one that has no default.
        """
        values = {
            name: copied(source.value_in(context, name)) for name, source in self.session.items()
        }
        missing = [n for n, value in values.items() if value is None and n not in self.optional]
        if missing:
            raise LookupError(
                f"it is not known yet for whom: the conversation has no {', '.join(missing)}, and "
                "you cannot give it"
            )
        known = {name: value for name, value in values.items() if value is not None}
        return {**given, **known}

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Refuse what does not fit.

        Raises:
            ValueError: Something does not fit; the text says what.
        """
        if self.is_json_schema:
            if faults := misfits(self.schema, dict(arguments)):
                raise ValueError(f"the arguments do not fit: {faults}")
        elif hasattr(self.schema, "model_validate"):
            self.schema.model_validate(dict(arguments))


def parameters_of(agent: str, tool: BaseTool) -> Parameters:
    """Return what a tool takes; read once, since that takes longer than calling it.

    Raises:
        ConfigurationError: `FromContext` stands where it would not be seen; or the schema refers to
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
        shown = convert_to_openai_tool(tool)
    except Exception as error:  # a schema that refers to what is not in it
        raise ConfigurationError(
            f"Agent '{agent}': the tool '{tool.name}' cannot be shown to a model: {error}"
        ) from error
    if isinstance(tool.args_schema, dict):
        return Parameters(tool.args_schema, shown, {}, frozenset(), frozenset())
    schema = tool.get_input_schema()
    fields = getattr(schema, "model_fields", {})
    session = {}
    for name, field in fields.items():
        marks = list(_marks(field.metadata))
        if marks and not field.validation_alias:
            session[name] = marks[0]
        elif marks or isinstance(field.default, FromContext) or _hidden_in(field.annotation):
            raise ConfigurationError(
                f"Agent '{agent}': in the tool '{tool.name}' the parameter '{name}' would be shown "
                f"to the model. Write {name}: Annotated[..., FromContext(...)], without an alias."
            )
    injected = set(fields) - set(tool.args)
    optional = frozenset(name for name, field in fields.items() if not field.is_required())
    kept_back = frozenset({*session, *injected})
    return Parameters(schema, _without(shown, session), session, kept_back, optional)


def _marks(metadata: Any) -> Iterator[FromContext]:
    for item in metadata:
        if isinstance(item, FromContext):
            yield item
        elif item is FromContext:
            yield FromContext()


def _hidden_in(annotation: Any, seen: frozenset[Any] = frozenset()) -> bool:
    """Whether the mark is somewhere inside a type, where it would hide nothing."""
    if get_origin(annotation) is Annotated and any(_marks(annotation.__metadata__)):
        return True
    inside = list(get_args(annotation))
    if isinstance(annotation, type) and annotation not in seen:
        seen |= {annotation}
        inside += _members(annotation)
    return any(_hidden_in(inner, seen) for inner in inside)


def _members(kind: type) -> list[Any]:
    """Return the types of what a class of data holds."""
    if kind.__module__ == "builtins":
        return []
    try:
        return list(get_type_hints(kind, include_extras=True).values())
    except (NameError, TypeError):  # what pydantic can make of it, it has made already
        return []


def _without(shown: Mapping[str, Any], names: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a function as it is shown, without some of its parameters."""
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


def _unmentioned(description: str, names: Mapping[str, Any]) -> str:
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
