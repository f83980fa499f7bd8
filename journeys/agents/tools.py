"""Tools: declared by a journey, called by a pathway, given to a model agent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from typing import Any

from pydantic import ConfigDict, Field

from journeygraph.journeys.definitions.definition import Definition, rule
from journeygraph.journeys.definitions.value_types import ContextName, Text, ToolName
from journeygraph.journeys.errors import ConfigurationError, did_you_mean, shown
from journeygraph.journeys.faults import Fault


class ToolSpec(Definition):
    """A tool that a journey declares by its name; its function is passed to the journey.

    Attributes:
        name: Its name for models and pathways.
        description: Its purpose, for models.
        parameters: JSON Schema of its arguments, as OpenAI writes functions. Default: no arguments.
    """

    model_config = ConfigDict(title="Function")

    name: ToolName
    description: Text = ""
    parameters: Mapping[str, Any] = Field(
        default_factory=lambda: {"type": "object", "properties": {}}
    )

    @rule("parameters")
    def _parameters_are_a_schema(self) -> Iterator[Fault]:
        known, required = self.parameters.get("properties", {}), self.parameters.get("required", [])
        if self.parameters.get("type") != "object":
            said = "the schema of a tool's arguments is of another type."
            yield Fault(said, "parameters", remedy="Write type: object.")
        elif not isinstance(known, dict) or not all(
            isinstance(one, dict) for one in known.values()
        ):
            remedy = "it must be a mapping of names to schemas."
            yield Fault(f"properties is {shown(known)}", "parameters", "properties", remedy=remedy)
        elif not isinstance(required, list) or not all(isinstance(name, str) for name in required):
            said, remedy = f"required is {shown(required)}", "it must be a list of names."
            yield Fault(said, "parameters", "required", remedy=remedy)
        else:
            for name in required:
                if name not in known:
                    hint = did_you_mean(name, list(known))
                    said = f"required names '{name}', which is not one of the properties."
                    yield Fault(said, "parameters", "required", remedy=hint)


class Call(Definition):
    """A call of a tool that a pathway makes by itself, before its agents work.

    If the context lacks an argument, the tool is not called, and the agents get the name of this
    argument.

    Attributes:
        tool: Name of the tool.
        arguments: Parameter -> name of the context value for it; "message" is the user's message
            unless the context has that name. Other parameters are filled by context values of the
            same name.
        save: Name of the result in the context. Default: only the agents of this turn get it, under
            the name of the tool.

    Source: flow control, state guidance injection.
    """

    defers_errors = True
    placeholders = {"tool": "?"}

    tool: ToolName
    arguments: Mapping[str, ContextName] = Field(default_factory=dict)
    save: Text = ""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of a `ModelAgent`, with the rules of its use.

    Attributes:
        call: A typed function, or a LangChain tool.
        confirm: True: the user is asked first. The first call in a turn does not run; the model
            gets the instruction to ask. It runs in the next turn of the session, once, and only if
            it is called with the same arguments again.

    Raises:
        ConfigurationError: `confirm` is neither True nor False, or `call` is a Tool itself.

    Example:
        >>> def cancel_visit(number: str) -> str:
        ...     "Cancel a visit."
        ...     return "done"
        >>> Tool(cancel_visit, confirm=True).confirm
        True
    """

    call: Any
    confirm: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.call, Tool):
            raise ConfigurationError(
                "A Tool contains a function or a LangChain tool, not another Tool."
            )
        if not isinstance(self.confirm, bool):
            raise ConfigurationError(
                f"Tool: confirm is {shown(self.confirm)}; it must be True or False."
            )


@dataclass(frozen=True, slots=True)
class FromContext:
    """Marks a parameter of a tool that the session fills; a model cannot set it.

    It is not shown to the model; what a model gives for it all the same is ignored. A value that
    the context lacks leaves the parameter's default; without one the call is refused.

    Attributes:
        source: Name of the context value, or a function of the context that returns the value, None
            for none. Default: the name of the parameter.

    Raises:
        ConfigurationError: `source` is neither text nor a plain function.

    Example:
        >>> from typing import Annotated
        >>> def visits(patient: Annotated[str, FromContext("patient_id")]) -> list[str]:
        ...     "List the patient's visits."
        ...     return []
    """

    source: str | Callable[[Mapping[str, Any]], Any] = ""

    def __post_init__(self) -> None:
        is_plain = callable(self.source) and not iscoroutinefunction(self.source)
        if not isinstance(self.source, str) and not is_plain:
            raise ConfigurationError(
                f"FromContext({shown(self.source)}): give the name of a context value, or a "
                "plain function of the context."
            )

    def value_in(self, context: Mapping[str, Any], parameter: str) -> Any:
        """Return what fills a parameter; None if the context has nothing for it."""
        if callable(self.source):
            return self.source(context)
        return context.get(self.source or parameter)
