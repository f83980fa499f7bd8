"""What a model agent may call: typed functions and LangChain's tools, behind one face."""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson
from langchain_core.tools import BaseTool, StructuredTool, Tool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ValidationError
from pydantic_core import to_json

from journeys import ConfigurationError, ModelError
from nodes.calling import Overdue, in_thread
from nodes.llm.chat import Call
from nodes.plain import cleaned, plain, words_of
from nodes.telemetry import ToolRun

ANSWER = "answer"
"""What the answer itself is called, which models of other providers give by a function's call."""
MOST_RESULT = 16 * 1024
"""Longest result of a tool that a model is shown, in characters."""


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The tools of one agent.

    Attributes:
        agent: Its name.
        tools: Name -> tool.
        overdue: Asked when a turn goes on without the thread of a sync tool.
    """

    agent: str
    tools: Mapping[str, BaseTool]
    overdue: Overdue

    @property
    def shown(self) -> tuple[Mapping[str, Any], ...]:
        """What the model is told of them, as OpenAI writes functions."""
        return tuple(_shown(tool) for tool in self.tools.values())

    async def use(self, call: Call, told: Collection[str], failed: set[str]) -> str:
        """Run a tool that the model called, and return what the model is told of it.

        A failure is told once, for the model to mend its call; the same tool failing again is the
        end of it. What a failed tool did before it failed is not known, and nothing is said of it.

        Args:
            call: The call.
            told: Names of the tools of which the model knows that they failed.
            failed: Takes the name of this one if it fails.

        Raises:
            ModelError: The tool failed a second time.
        """
        if call.name == ANSWER:
            return "Not yet: read what your tools gave back, and answer then."
        try:
            result = await self._result(call)
        except Exception as error:  # whatever an author's function raises
            if call.name in told:
                said = f"the tool '{cleaned(call.name)[:64]}' failed twice: {_told(error)}"
                raise ModelError("tool_failed", said) from error
            failed.add(call.name)
            return f"This failed: {_told(error)}."
        return shortened(result)

    async def _result(self, call: Call) -> Any:
        tool = self.tools.get(call.name)
        if tool is None:
            known = ", ".join(self.tools) or "none"
            raise LookupError(f"there is no such tool; yours are: {known}")
        if call.arguments is None:
            raise ValueError("the arguments are not a JSON object")
        kept_back = _kept_back(tool)
        given = {name: value for name, value in call.arguments.items() if name not in kept_back}
        with ToolRun(tool.name, self.agent):
            if not _is_sync(tool):
                return await tool.ainvoke(given)
            # LangChain would borrow a thread of a pool, and a hanging one keeps it.
            result = await in_thread(self.agent, tool.invoke, given, self.overdue)
            return await result if inspect.isawaitable(result) else result


def toolbox_of(agent: str, given: Sequence[Any], overdue: Overdue) -> Toolbox:
    """Return the tools of an agent.

    Args:
        agent: Its name.
        given: Typed functions and LangChain tools.
        overdue: Asked when a turn goes on without the thread of a sync tool.

    Raises:
        ConfigurationError: One of them is neither, has no description, or a name that is taken.
    """
    tools: dict[str, BaseTool] = {}
    for item in given:
        tool = item if isinstance(item, BaseTool) else _of_function(agent, item)
        if tool.name in tools:
            raise ConfigurationError(f"Agent '{agent}' has two tools named '{tool.name}'.")
        if tool.name == ANSWER:
            raise ConfigurationError(
                f"Agent '{agent}': no tool can be named '{ANSWER}', as what the agent answers is. "
                "Rename it."
            )
        tools[tool.name] = tool
    return Toolbox(agent, tools, overdue)


def _of_function(agent: str, given: Any) -> BaseTool:
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


def _shown(tool: BaseTool) -> Mapping[str, Any]:
    key = id(tool)
    if key not in _told_of:
        _told_of[key] = convert_to_openai_tool(tool)
        weakref.finalize(tool, _told_of.pop, key, None)
    return _told_of[key]


_told_of: dict[int, Mapping[str, Any]] = {}


def _kept_back(tool: BaseTool) -> set[str]:
    """Return the arguments that are not a model's to give, as by `InjectedToolArg`."""
    if isinstance(tool.args_schema, dict):
        return set()
    return set(getattr(tool.get_input_schema(), "model_fields", ())) - set(tool.args)


def _is_sync(tool: BaseTool) -> bool:
    """Whether a tool has no async way of its own."""
    if isinstance(tool, (Tool, StructuredTool)):
        return tool.coroutine is None
    return type(tool)._arun is BaseTool._arun


def shortened(result: Any) -> str:
    """Return the result of a tool as the text that a model is shown."""
    text = cleaned(result if isinstance(result, str) else _json(result))
    return text if len(text) <= MOST_RESULT else f"{text[:MOST_RESULT]} ... (cut here)"


def _json(result: Any) -> str:
    """Return whatever came back as JSON: the tool did its work, so this must not fail."""
    try:
        return orjson.dumps(plain(result, "result")).decode()
    except ValueError:  # a date, a set, an object
        pass
    try:
        return to_json(result, by_alias=False, inf_nan_mode="null", fallback=str).decode()
    except Exception:  # it holds itself, or cannot even be shown as text
        return "It is done; what it gave back cannot be shown."


def _told(error: Exception) -> str:
    if isinstance(error, ValidationError):
        faults = (f"{'.'.join(map(str, f['loc']))}: {f['msg']}" for f in error.errors()[:3])
        return "the arguments do not fit: " + "; ".join(faults)
    # What a function says on purpose. Other errors come from below, with whatever they hold.
    if isinstance(error, (ValueError, LookupError, ToolException)):
        return words_of(error)
    return type(error).__name__
