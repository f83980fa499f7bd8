"""Steps that change the world: a booking, a payment, a ticket. Each is taken once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from journeys.errors import ConfigurationError, shown


@dataclass(frozen=True, slots=True)
class Effect:
    """A tool that is called once, when the pathway's fields are collected and confirmed.

    A tool with a parameter `idempotency_key` is given the key of the step, which is the same
    however often the turn is tried. One without it is never called again after a call of which
    nobody knows how it ended; a person is offered then.

    A tool that raises has done nothing; what a `ValueError`, a `LookupError` or LangChain's
    `ToolException` says, the user is told. One that runs out of time (`TimeoutError`) or loses its
    connection may have done it. What it returns counts as done.

    Attributes:
        tool: Name of the tool, or the function that does it, which is then a tool of its own name:
            it is there without being handed over, and no agent is offered it.
        arguments: Parameter -> name of the context's value that fills it, as of `Call`.
        save: Name under which the result is kept in the context; empty: the tool's name.
        done: What the user is told then; `{name}` stands for a value of the context, or of the
            result where that is a dict. Empty: nothing but what agents say.
        change: Id of the pathway that changes what was done; empty: only a person can.

    Raises:
        ConfigurationError: A value is no text.

    Source: docs/promises.md (P4).
    """

    tool: Any
    arguments: Mapping[str, str] = field(default_factory=dict)
    save: str = ""
    done: str = ""
    change: str = ""
    function: Callable[..., Any] | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        if callable(self.tool):
            object.__setattr__(self, "function", self.tool)
            object.__setattr__(self, "tool", getattr(self.tool, "__name__", ""))
        for name in ("tool", "save", "done", "change"):
            value: Any = getattr(self, name)
            if not isinstance(value, str) or (name == "tool" and not value):
                raise ConfigurationError(f"Effect: {name} is {shown(value)}; it must be text.")
        if not isinstance(self.arguments, Mapping) or not all(
            isinstance(item, str) and item for pair in self.arguments.items() for item in pair
        ):
            raise ConfigurationError(
                f"Effect: arguments is {shown(self.arguments)}; "
                "write parameter -> name in the context."
            )
