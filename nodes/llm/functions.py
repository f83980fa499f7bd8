"""A typed function as a tool of LangChain."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from journeys import ConfigurationError


def as_tool(agent: str, given: Any) -> BaseTool:
    """Return a function as a tool: its name, its docstring and its typed parameters.

    Raises:
        ConfigurationError: It is no function, has no docstring, or a parameter without a type.
    """
    if not inspect.isroutine(given):
        raise ConfigurationError(
            f"Agent '{agent}': {given!r:.80} is no tool. Give typed functions or LangChain tools."
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
