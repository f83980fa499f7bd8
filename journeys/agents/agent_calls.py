"""Say how an agent that is a function, or an object with `run`, wants to be given its inputs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from journeys.errors import ConfigurationError, shown

_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_METHODS = ("arun", "run")


@dataclass(frozen=True, slots=True)
class AgentCall:
    """Callable of an agent with its parameters.

    Attributes:
        function: The function, or the object's `arun` or `run`.
        names: Names that it takes by keyword; None takes the whole payload as its one argument.
        open: True if it takes all other names as well.
        required: Those of the names that it cannot do without.
        first: Name of an only argument that may be the payload or an input: an input where the
            payload has one of that name.
    """

    function: Callable[..., Any]
    names: tuple[str, ...] | None = None
    open: bool = False
    required: tuple[str, ...] = ()
    first: str = ""

    def __call__(self, payload: Mapping[str, Any]) -> Any:
        """Call it with its inputs.

        Raises:
            TypeError: It takes an input that nothing gives.
        """
        if self.names is None or (self.first and self.first not in payload):
            return self.function(payload)
        if missing := [name for name in self.required if name not in payload]:
            raise TypeError(
                f"it takes {', '.join(missing)}, which have no values here; it was given: "
                f"{', '.join(payload)}"
            )
        taken = payload if self.open else [name for name in self.names if name in payload]
        return self.function(**{name: payload[name] for name in taken})


def call_of(name: str, given: Any) -> AgentCall:
    """Return how an agent is called.

    A function takes one dict, the payload, or inputs by keyword only. The `run` of an object takes
    the payload, or the names of inputs, or `**inputs`.

    Args:
        name: Its name.
        given: A function, an object that can be called, or one with `arun` or `run`.

    Raises:
        ConfigurationError: It cannot be called so.
    """
    for method in _METHODS:
        if callable(run := getattr(given, method, None)):
            return _method(name, given, method, run)
    return _function(name, given)


def _function(name: str, function: Callable[..., Any]) -> AgentCall:
    signature = _signature(function)
    if signature is None or _binds(signature, {}):
        return AgentCall(function)
    if all(p.kind not in _BY_PLACE for p in signature.parameters.values()) and (
        by_name := _by_name(function, signature)
    ):
        return by_name
    called = getattr(function, "__name__", type(function).__name__)
    called = "agent" if called == "<lambda>" else called
    raise ConfigurationError(
        f"Agent '{name}' is {shown(function)}, which takes {signature}; an agent is called with "
        f"one dict. Write {called}(payload), with payload['message'], payload['context'], "
        f"payload['history'] and its inputs; or {called}(**inputs)."
    )


def _method(name: str, given: Any, method: str, run: Callable[..., Any]) -> AgentCall:
    signature = _signature(run)
    by_name = _by_name(run, signature) if signature else None
    if signature is None or (by_name is None and _binds(signature, {})):
        return AgentCall(run)
    if by_name is not None:
        return by_name
    raise ConfigurationError(
        f"Agent '{name}' is a {type(given).__name__}, whose {method} takes {signature}. Write "
        f"{method}(self, payload), {method}(self, **inputs), or {method}(self, message, context) "
        "with the names of inputs."
    )


def _by_name(function: Callable[..., Any], signature: inspect.Signature) -> AgentCall | None:
    """Return how it is called by keywords; None if it takes none, or some by place alone."""
    parameters = signature.parameters.values()
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    is_open = any(p.kind is p.VAR_KEYWORD for p in parameters)
    is_args = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    by_place_alone = any(p.kind is p.POSITIONAL_ONLY for p in named)
    if by_place_alone or is_args or not (named or is_open):
        return None
    required = tuple(p.name for p in named if p.default is p.empty)
    first = named[0].name if _binds(signature, {}) else ""
    return AgentCall(function, tuple(p.name for p in named), is_open, required, first)


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (ValueError, TypeError):  # some built-in callables do not say what they take
        return None


def _binds(signature: inspect.Signature, *arguments: Any) -> bool:
    try:
        signature.bind(*arguments)
    except TypeError:
        return False
    return True
