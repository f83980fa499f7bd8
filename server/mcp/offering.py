"""Journeys and pipelines as tools and resources, with progress for a waiting client."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import mcp_types as types
from mcp import MCPError, UriTemplate
from pydantic import TypeAdapter, ValidationError

from journeygraph.graphs.drawing.mermaid import mermaid
from journeygraph.journeys import ConfigurationError, Pipeline
from journeygraph.server.access.callers import Caller
from journeygraph.server.http.app_state import AppState
from journeygraph.server.http.auth import Keys
from journeygraph.server.http.deps import served_of
from journeygraph.server.http.schemas import SessionId
from journeygraph.server.mcp.offers import (
    JourneyOffer,
    Offer,
    Outcome,
    PipelineOffer,
    Refused,
    words_for,
)
from journeygraph.server.mcp.transports import caller_of

_TRANSCRIPT = "session://{session_id}/transcript"
"""URI template of transcripts."""
_SESSION_ID: TypeAdapter[str] = TypeAdapter(SessionId)
_NOTHING = "There is no resource with this name."


@dataclass(frozen=True)
class Library:
    """The resources of a server's journeys."""

    app_state: AppState

    @cached_property
    def drawings(self) -> dict[str, str]:
        """URI -> id of the drawn journey."""
        return {f"journey://{id_}/graph": id_ for id_ in self.app_state.journeys}

    def listed(self) -> Iterator[tuple[str, str, str]]:
        """Yield the URI, name and description of each drawing."""
        for uri, id_ in self.drawings.items():
            yield uri, f"{id_} graph", f"Pathways and transitions of {id_}, as a Mermaid flowchart."

    async def read(self, uri: str, caller: Caller) -> tuple[str, str]:
        """Return the content and the media type of a URI, for a client.

        Raises:
            Refused: There is no such resource; the text is the same for missing and foreign
                sessions.
        """
        if id_ := self.drawings.get(uri):
            return mermaid(self.app_state.journeys[id_].journey.spec), "text/vnd.mermaid"
        found = _TRANSCRIPTS.match(uri)
        if found is None:
            raise Refused(_NOTHING)
        return await self._transcript(found["session_id"], caller), "application/json"

    async def _transcript(self, given: str | list[str], caller: Caller) -> str:
        try:
            session_id = _SESSION_ID.validate_python(given, strict=True)
        except ValidationError:
            raise Refused(_NOTHING) from None
        if not self.app_state.journeys:
            raise Refused(_NOTHING)
        mine = self.app_state.of(caller.tenant)
        listed = await mine.directory.find(session_id)
        if listed is None or listed.journey_id not in mine.journeys:
            raise Refused(_NOTHING)
        async with mine.session(await served_of(listed, mine), session_id) as session:
            entries = [asdict(entry) for entry in await session.transcript()]
        return json.dumps({"session_id": session_id, "entries": entries}, ensure_ascii=False)


_TRANSCRIPTS = UriTemplate.parse(_TRANSCRIPT)


def offering(app_state: AppState, pipelines: Mapping[str, Pipeline]) -> Offering:
    """Return the journeys of an app and the pipelines as tools with their names.

    Raises:
        ConfigurationError: Two tools would have the same name.
    """
    offers: list[Offer] = [JourneyOffer(id_, app_state) for id_ in app_state.journeys]
    offers += [PipelineOffer(name, given, app_state.turns) for name, given in pipelines.items()]
    names = [offer.name for offer in offers]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigurationError(
            f"Two tools would have the name '{twice[0]}'. Rename a journey or a pipeline."
        )
    return Offering({offer.name: offer for offer in offers}, Library(app_state))


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

    @property
    def _keys(self) -> Keys:
        return self._library.app_state.keys

    async def call(self, asked: Any, given: types.CallToolRequestParams) -> types.CallToolResult:
        """Call a tool, which counts as a turn of its client."""
        offer = self._offers.get(given.name)
        if offer is None:
            known = ", ".join(self._offers)
            raise MCPError(types.INVALID_PARAMS, f"There is no such tool. Tools: {known}.")
        try:
            caller = caller_of(asked) or self._keys.anyone
            await self._keys.count(caller, "turns")
            outcome = await _done(offer, given.arguments or {}, asked, caller)
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
            uri_template=_TRANSCRIPT,
            name="transcript",
            description="All messages of a session.",
            mime_type="application/json",
        )
        listed = [transcript] if self._library.drawings else []
        return types.ListResourceTemplatesResult(resource_templates=listed)

    async def read(
        self, asked: Any, given: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Read a drawing or a transcript."""
        try:
            caller = caller_of(asked) or self._keys.anyone
            text, kind = await self._library.read(given.uri, caller)
        except Exception as error:  # the SDK would send its text to the client
            code = types.INVALID_PARAMS if isinstance(error, Refused) else types.INTERNAL_ERROR
            raise MCPError(code, words_for(error, uuid.uuid4().hex)) from None
        content = types.TextResourceContents(uri=given.uri, mime_type=kind, text=text)
        return types.ReadResourceResult(contents=[content])


async def _done(offer: Offer, arguments: Mapping[str, Any], asked: Any, caller: Caller) -> Outcome:
    wanted = bool(asked.meta and asked.meta.get("progress_token") is not None)
    teller = _ProgressSender(asked.session) if wanted else None
    work = offer.begin(arguments, teller.hear if teller else None, caller)
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


MOST_WAITING = 64
"""Size of the buffer of events for a slow client; later events are dropped."""
# What an event says of the work, and not of what was said: words come with the result.
_SHOWN = {
    "transition": ("from", "to"),
    "pathway": ("pathway",),
    "agent_started": ("agent",),
    "agent_finished": ("agent",),
    "agent_failed": ("agent", "kind"),
    "selected": ("agents",),
    "voted": ("agent", "vote"),
}


class _ProgressSender:
    """Sender of progress notifications; the work never waits for it."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._waiting: asyncio.Queue[str | None] = asyncio.Queue(MOST_WAITING + 1)

    def hear(self, kind: str, event: Mapping[str, Any]) -> None:
        if kind in _SHOWN and self._waiting.qsize() < MOST_WAITING:
            said = " ".join(_words(event.get(name)) for name in _SHOWN[kind])
            self._waiting.put_nowait(f"{kind} {said}".strip())

    async def during(self, work: asyncio.Task[Any]) -> None:
        work.add_done_callback(lambda _: self._waiting.put_nowait(None))
        sent = 0
        while (said := await self._waiting.get()) is not None:
            sent += 1
            await self._session.report_progress(sent, message=said)


def _words(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_words, value))
    return str(value)
