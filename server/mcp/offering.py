"""Journeys and pipelines as tools and resources."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from typing import Any

import mcp_types as types
from mcp import MCPError

from journeys import ConfigurationError, Pipeline
from server.http.wiring import Wiring
from server.mcp.journeys import JourneyOffer
from server.mcp.offers import Offer, Outcome, Refused, words_for
from server.mcp.pipelines import PipelineOffer
from server.mcp.progress import ProgressSender
from server.mcp.resources import TRANSCRIPT, Library


def offering(wiring: Wiring, pipelines: Mapping[str, Pipeline]) -> Offering:
    """Return the journeys of a wiring and the pipelines as tools with their names.

    Raises:
        ConfigurationError: Two tools would have the same name.
    """
    offers: list[Offer] = [JourneyOffer(id_, wiring) for id_ in wiring.journeys]
    offers += [PipelineOffer(name, given, wiring.turns) for name, given in pipelines.items()]
    names = [offer.name for offer in offers]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigurationError(
            f"Two tools would have the name '{twice[0]}'. Rename a journey or a pipeline."
        )
    return Offering({offer.name: offer for offer in offers}, Library(wiring))


class Offering:
    """Tools and resources; handles the requests of clients."""

    def __init__(self, offers: Mapping[str, Offer], library: Library) -> None:
        self._offers = offers
        self._library = library

    def tools(self) -> types.ListToolsResult:
        """List the tools."""
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
        """Call a tool."""
        offer = self._offers.get(given.name)
        if offer is None:
            known = ", ".join(self._offers)
            raise MCPError(types.INVALID_PARAMS, f"There is no such tool. Tools: {known}.")
        try:
            outcome = await _done(offer, given.arguments or {}, asked)
        except Exception as error:  # the SDK would send its text to the client
            return _result(Outcome([words_for(error, uuid.uuid4().hex)], {}, failed=True))
        return _result(outcome)

    def resources(self) -> types.ListResourcesResult:
        """List the drawings."""
        listed = [
            types.Resource(uri=uri, name=name, description=said, mime_type="text/vnd.mermaid")
            for uri, name, said in self._library.listed()
        ]
        return types.ListResourcesResult(resources=listed)

    def templates(self) -> types.ListResourceTemplatesResult:
        """List the transcripts, by a template."""
        transcript = types.ResourceTemplate(
            uri_template=TRANSCRIPT,
            name="transcript",
            description="All messages of a session.",
            mime_type="application/json",
        )
        listed = [transcript] if self._library.drawings else []
        return types.ListResourceTemplatesResult(resource_templates=listed)

    async def read(self, given: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Read a drawing or a transcript."""
        try:
            text, kind = await self._library.read(given.uri)
        except Exception as error:  # the SDK would send its text to the client
            code = types.INVALID_PARAMS if isinstance(error, Refused) else types.INTERNAL_ERROR
            raise MCPError(code, words_for(error, uuid.uuid4().hex)) from None
        content = types.TextResourceContents(uri=given.uri, mime_type=kind, text=text)
        return types.ReadResourceResult(contents=[content])


async def _done(offer: Offer, arguments: Mapping[str, Any], asked: Any) -> Outcome:
    wanted = bool(asked.meta and asked.meta.get("progress_token") is not None)
    teller = ProgressSender(asked.session) if wanted else None
    work = offer.begin(arguments, teller.hear if teller else None)
    try:
        if teller:
            await teller.during(work)
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        if work.cancelled():
            raise Refused("The server stops; this call was not stored.") from None
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
