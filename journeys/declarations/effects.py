"""Steps that change the world: a booking, a payment, a ticket. Each is taken once."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from typing import Annotated, Any

from pydantic import Field

from journeygraph.journeys.definitions.definition import Definition
from journeygraph.journeys.definitions.value_types import (
    AS_GIVEN,
    ContextName,
    InCode,
    Text,
    ToolName,
)


class Effect(Definition):
    """A tool that is called once, when the pathway's fields are collected and confirmed.

    A tool with a parameter `idempotency_key` is given the key of the step, which is the same
    however often the turn is tried. One without it is never called again after a call with an
    unknown outcome; a person is offered then.

    A tool that raises has done nothing. The user receives the text of a `ValueError`, a
    `LookupError` or LangChain's `ToolException`. A tool that runs out of time
    (`TimeoutError`) or loses its connection may have done it. What it returns counts as done.

    Attributes:
        tool: Name of the tool, or a function, which then is a tool with its own name: it need not
            be passed, and no agent can call it.
        arguments: Parameter -> name of the context value for it, as of `Call`.
        save: Name of the result in the context. Default: the name of the tool.
        done: Reply when it is done; `{name}` is replaced by a value of the context, or of the
            result if that is a dict.
        change: Id of the pathway that changes its result. Default: only a person can.
        function: The function that was given as `tool`, if one was.

    Raises:
        ConfigurationError: A value is no text.

    Source: docs/about/promises.md (P4).
    """

    unwritten = frozenset({"function"})

    tool: Annotated[Any, InCode(ToolName, wanted="text, or the function that does it")]
    arguments: Mapping[str, ContextName] = Field(default_factory=dict)
    save: Text = ""
    done: Text = ""
    change: Text = ""
    _: KW_ONLY
    function: Annotated[Callable[..., Any] | None, AS_GIVEN] = Field(
        default=None, init=False, repr=False
    )

    def model_post_init(self, _: Any) -> None:
        """Take a function as a tool of its own name."""
        if callable(self.tool):
            self.__dict__["function"] = self.tool
            self.__dict__["tool"] = getattr(self.tool, "__name__", "")
