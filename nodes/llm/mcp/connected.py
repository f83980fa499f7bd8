"""An MCP server as agents know it: tools to call, resources to read, a tool as an agent."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.tools import StructuredTool

from journeys import ConfigurationError
from journeys.errors import did_you_mean, shown
from nodes.llm.mcp.arguments import arguments_of, checked
from nodes.llm.mcp.connection import Connection
from nodes.llm.mcp.results import outputs_of, read_of

MOST_TOLD = 100
"""Most resources that a model is told of."""
_NAME = re.compile(r"[^A-Za-z0-9_-]")
ToolAgent = Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Resource:
    """Something that a server offers to be read."""

    uri: str
    name: str
    description: str = ""
    mime_type: str = ""


@dataclass(frozen=True)
class Connected:
    """A server that is connected; what it offers is what it listed when it was opened.

    Attributes:
        name: What the server calls itself.
        tools: Its tools, as LangChain's: for `ModelAgent(tools=[...])`.
        resources: What it offers to be read.
    """

    name: str
    tools: Sequence[StructuredTool]
    resources: Sequence[Resource]
    _connection: Connection = field(repr=False)
    _schemas: Mapping[str, Any] = field(repr=False)
    _templates: Sequence[Any] = field(repr=False)

    async def read(self, uri: str) -> str:
        """Return a resource as text.

        Args:
            uri: One that the server listed, or that fits one of its templates; other resources are
                refused.

        Raises:
            LookupError: It is neither.
            ToolException: The server cannot give it, or it is no text, or over 1 MB.
        """
        known = [resource.uri for resource in self.resources]
        if not (uri in known or self._fits(uri)):
            raise LookupError(
                f"The MCP server '{self.name}' has no resource {shown(uri)}."
                f"{did_you_mean(str(uri), known)}"
            )
        got = await self._connection.ask(lambda client: client.read_resource(uri))
        return read_of(uri, got.contents)

    def _fits(self, uri: str) -> bool:
        if not isinstance(uri, str):
            return False
        return any(template.match(uri) is not None for template in self._templates)

    def reader(self) -> StructuredTool:
        """Return a tool `read_resource`, by which a model reads what the server listed.

        Raises:
            ConfigurationError: The server listed nothing.
        """
        if not self.resources:
            raise ConfigurationError(f"The MCP server '{self.name}' has no resources.")
        told = self.resources[:MOST_TOLD]
        lines = [f"{r.uri}: {r.name}. {r.description}".strip()[:200] for r in told]
        uri = {"type": "string", "enum": [resource.uri for resource in told]}
        schema = {"type": "object", "properties": {"uri": uri}, "required": ["uri"]}

        async def read_resource(uri: str) -> str:
            return await self.read(uri)

        return StructuredTool(
            name="read_resource",
            description="Read one of these:\n" + "\n".join(lines),
            args_schema={**schema, "additionalProperties": False},
            coroutine=read_resource,
        )

    def agent(self, tool: str) -> ToolAgent:
        """Return a tool as an agent, for a pathway or a pipeline.

        Of what the agent is given, it passes on what the tool's schema names, but never the
        history and the whole context. The message goes to the first text that is required and not
        given. A structured result is the agent's outputs; text is its `response`.

        Args:
            tool: Its name, as the server lists it.

        Raises:
            ConfigurationError: There is no such tool.
        """
        if tool not in self._schemas:
            hint = did_you_mean(tool, list(self._schemas))
            raise ConfigurationError(f"The MCP server '{self.name}' has no tool '{tool}'.{hint}")
        schema = self._schemas[tool].input_schema

        async def call(payload: Mapping[str, Any]) -> dict[str, Any]:
            given = checked(tool, schema, arguments_of(schema, payload))
            return outputs_of(tool, await called(self._connection, tool, given))

        call.__name__ = call.__qualname__ = name_for_models(tool)
        call.__doc__ = self._schemas[tool].description
        return call


async def called(connection: Connection, tool: str, arguments: Mapping[str, Any]) -> Any:
    """Call a tool and return its result as the SDK gives it; see `Connection.ask`."""
    return await connection.ask(lambda client: client.call_tool(tool, dict(arguments)))


def name_for_models(tool: str) -> str:
    """Return a tool's name in the letters that models' providers take, at most 64 of them."""
    return _NAME.sub("_", tool)[:64] or "_"
