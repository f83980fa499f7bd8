"""The server of the official SDK, made of what is offered."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.server import Server

from server.app import installed_version
from server.mcp.offers import Offer, Outcome, Refused, words_for
from server.mcp.progress import Teller
from server.mcp.resources import TRANSCRIPT, Library

_ABOUT = (
    "Each tool is a conversation with a goal, or a group of agents for a task. A conversation goes "
    "on for as long as you send the session_id that it answered with."
)


def server_of(offers: Sequence[Offer], library: Library) -> Server[Any]:
    """Return a server of these tools, and of what may be read.

    What a client is told of an error is made of our own words; the rest is in the log.
    """
    desk = _Desk({offer.name: offer for offer in offers}, library)
    return Server(
        "journeygraph",
        version=installed_version(),
        instructions=_ABOUT,
        on_list_tools=desk.tools,
        on_call_tool=desk.call,
        on_list_resources=desk.resources,
        on_list_resource_templates=desk.templates,
        on_read_resource=desk.read,
    )


class _Desk:
    """Answers what clients ask."""

    def __init__(self, offers: Mapping[str, Offer], library: Library) -> None:
        self._offers = offers
        self._library = library

    async def tools(self, _: Any, __: Any) -> types.ListToolsResult:
        tools = [
            types.Tool(
                name=offer.name,
                description=offer.description,
                input_schema=dict(offer.takes),
                output_schema=dict(offer.gives),
            )
            for offer in self._offers.values()
        ]
        return types.ListToolsResult(tools=tools)

    async def call(self, asked: Any, given: types.CallToolRequestParams) -> types.CallToolResult:
        offer = self._offers.get(given.name)
        if offer is None:
            known = ", ".join(self._offers)
            raise MCPError(types.INVALID_PARAMS, f"There is no such tool. There are: {known}.")
        try:
            outcome = await _done(offer, given.arguments or {}, asked)
        except Exception as error:  # the SDK would send its text to the client
            return _result(Outcome([words_for(error, uuid.uuid4().hex)], {}, failed=True))
        return _result(outcome)

    async def resources(self, _: Any, __: Any) -> types.ListResourcesResult:
        listed = [
            types.Resource(uri=uri, name=name, description=said, mime_type="text/vnd.mermaid")
            for uri, name, said in self._library.listed()
        ]
        return types.ListResourcesResult(resources=listed)

    async def templates(self, _: Any, __: Any) -> types.ListResourceTemplatesResult:
        transcript = types.ResourceTemplate(
            uri_template=TRANSCRIPT,
            name="transcript",
            description="All that was said in a session.",
            mime_type="application/json",
        )
        listed = [transcript] if self._library.drawings else []
        return types.ListResourceTemplatesResult(resource_templates=listed)

    async def read(
        self, _: Any, given: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        try:
            text, kind = await self._library.read(given.uri)
        except Exception as error:  # the SDK would send its text to the client
            code = types.INVALID_PARAMS if isinstance(error, Refused) else types.INTERNAL_ERROR
            raise MCPError(code, words_for(error, uuid.uuid4().hex)) from None
        content = types.TextResourceContents(uri=given.uri, mime_type=kind, text=text)
        return types.ReadResourceResult(contents=[content])


async def _done(offer: Offer, arguments: Mapping[str, Any], asked: Any) -> Outcome:
    wanted = bool(asked.meta and asked.meta.get("progress_token") is not None)
    teller = Teller(asked.session) if wanted else None
    work = offer.begin(arguments, teller.hear if teller else None)
    try:
        if teller:
            await teller.during(work)
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        if work.cancelled():
            raise Refused("The server stops; nothing of this was kept.") from None
        raise
    finally:
        if not offer.goes_on:
            work.cancel()


def _result(outcome: Outcome) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(text=text) for text in outcome.texts],
        structured_content=None if outcome.failed else dict(outcome.structured),
        is_error=outcome.failed,
    )
