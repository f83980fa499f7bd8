"""Tools of a model agent: confirmation of effects, arguments filled from the session."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import iscoroutinefunction
from typing import Any

from journeys.errors import ConfigurationError, shown


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of a `ModelAgent`, with how it may be used.

    Attributes:
        call: A typed function, or a tool of LangChain.
        confirm: True if the user is asked first. The first call in a turn is not run: the model is
            told to ask. It is run in the next turn of the session, once, and only if it is called
            with the same arguments again.

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
    """Marks a parameter of a tool that the session fills, and no model.

    It is not shown to the model; what a model gives for it all the same is ignored. A value that
    the context lacks leaves the parameter's default; without one the call is refused.

    Attributes:
        source: Name of the context's value, or a function of the context that returns the value,
            None for none. Unset: the parameter's own name.

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
