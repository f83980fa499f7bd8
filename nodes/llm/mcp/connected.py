"""Open an MCP server as agents know it: tools to call, resources to read, a tool as an agent."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from langchain_core.tools import StructuredTool, ToolException

from journeygraph.journeys import ConfigurationError
from journeygraph.journeys.errors import did_you_mean, require_extra, shown
from journeygraph.nodes.llm.mcp.connection import Connection, over_http, over_stdio
from journeygraph.nodes.llm.mcp.conversion import (
    arguments_of,
    checked,
    outputs_of,
    read_of,
    text_of,
)

MOST_TOLD = 100
"""Most resources that are listed for a model."""
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
        name: The server's own name.
        tools: Its tools, as LangChain's: for `ModelAgent(tools=[...])`.
        resources: The resources that it offers.
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


TIMEOUT = 30.0
"""Seconds that a server has to start, and to answer each question."""
MOST_LISTED = 1000
"""Most tools, resources or templates that are taken from one server."""


@asynccontextmanager
async def open_mcp(
    command: Sequence[str] | None = None,
    *,
    url: str | None = None,
    env: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    tools: Sequence[str] | None = None,
    timeout: float = TIMEOUT,  # noqa: ASYNC109 - of each answer, not of the call
) -> AsyncIterator[Connected]:
    """Connect to an MCP server, and keep it connected.

    Any task of the event loop may use the result until the block ends; the process of
    a server that was started here ends with it. A server at a URL that was lost is looked for again
    when it is next asked, but what it was asked when it was lost is not asked again. What a server
    says of its tools is read by your models: connect to those you trust, and name the tools.

    Write `async with open_mcp(["python", "-m", "library"], tools=["search"]) as library:`, and in
    it `ModelAgent(tools=[*library.tools, library.reader()])`.
    """
    require_extra("mcp", "MCP", "mcp")
    connection, opening = _to(command, url, env, headers, timeout)
    async with connection.opened(opening):
        try:
            connected = await _listed(connection, tools)
        except ToolException as error:
            raise ConnectionError(str(error)) from error
        yield connected


def _to(
    command: Sequence[str] | None,
    url: str | None,
    env: Mapping[str, str] | None,
    headers: Mapping[str, str] | None,
    timeout: float,
) -> tuple[Connection, Any]:
    if (command is None) == (url is None):
        raise ConfigurationError("open_mcp needs a command or a url, but not both.")
    if not 0 < timeout < float("inf"):
        raise ConfigurationError(f"open_mcp: timeout is {timeout!r}; it must be above 0 seconds.")
    if url is not None:
        if env is not None or not url.startswith(("http://", "https://")):
            raise ConfigurationError("open_mcp: a url must start with http:// and cannot have env.")
        place = url.partition("?")[0].rpartition("@")[2]
        connection = Connection(place, timeout, lasting=True)
        return connection, over_http(connection, url, headers)
    if not command or isinstance(command, str) or headers is not None:
        raise ConfigurationError(
            "open_mcp: command must be a list such as ['python', '-m', 'x'], and cannot have "
            "headers."
        )
    words = command[:3] if command[1:2] == ["-m"] else command[:1]
    return Connection(" ".join(words), timeout, lasting=False), over_stdio(command, env)


async def _listed(connection: Connection, wanted: Sequence[str] | None) -> Connected:
    offers = await connection.ask(_capabilities)
    found = await _all(connection, "tools") if offers.tools else []
    listed = await _all(connection, "resources") if offers.resources else []
    patterns = await _all(connection, "resource_templates") if offers.resources else []
    schemas = _wanted(connection.name, {tool.name: tool for tool in found}, wanted)
    return Connected(
        connection.name,
        _as_tools(connection, schemas),
        [Resource(r.uri, r.name, r.description or "", r.mime_type or "") for r in listed],
        connection,
        schemas,
        list(_templates(patterns)),
    )


async def _page(what: str, cursor: str | None, client: Any) -> Any:
    return await getattr(client, f"list_{what}")(cursor=cursor)


async def _capabilities(client: Any) -> Any:
    return client.server_capabilities


async def _all(connection: Connection, what: str) -> list[Any]:
    found: list[Any] = []
    cursor: str | None = None
    while len(found) < MOST_LISTED:
        page = await connection.ask(partial(_page, what, cursor))
        items = getattr(page, what)
        found += items
        cursor = page.next_cursor
        if cursor is None or not items:
            break
    return found[:MOST_LISTED]


def _wanted(name: str, found: Mapping[str, Any], wanted: Sequence[str] | None) -> Mapping[str, Any]:
    if wanted is None:
        return found
    for tool in wanted:
        if tool not in found:
            hint = did_you_mean(tool, list(found)) or f" It has: {', '.join(found) or 'none'}."
            raise ConfigurationError(f"The MCP server '{name}' has no tool '{tool}'.{hint}")
    return {tool: found[tool] for tool in wanted}


def _templates(listed: Sequence[Any]) -> Iterator[Any]:
    from mcp import InvalidUriTemplate, UriTemplate  # noqa: PLC0415

    for item in listed:
        try:
            yield UriTemplate.parse(item.uri_template)
        except InvalidUriTemplate:  # what cannot be read matches nothing
            continue


def _as_tools(connection: Connection, schemas: Mapping[str, Any]) -> list[StructuredTool]:
    names = [name_for_models(name) for name in schemas]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigurationError(
            f"The MCP server '{connection.name}' has several tools with the name '{twice[0]}' "
            f"for models. Select the tools: open_mcp(tools=[...])."
        )
    return [_as_tool(connection, name, tool) for name, tool in schemas.items()]


def _as_tool(connection: Connection, name: str, tool: Any) -> StructuredTool:
    async def call(**given: Any) -> str:
        arguments = checked(name, tool.input_schema, given)
        return text_of(await called(connection, name, arguments))

    schema = {"properties": {}, **tool.input_schema, "type": "object"}
    said = tool.description or tool.title or name
    return StructuredTool(
        name=name_for_models(name), description=said, args_schema=schema, coroutine=call
    )
