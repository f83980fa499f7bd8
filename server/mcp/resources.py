"""Resources of the MCP server: drawings of journeys, transcripts of sessions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property

from mcp import UriTemplate
from pydantic import TypeAdapter, ValidationError

from graphs.drawing.mermaid import mermaid
from server.http.schemas.sessions import SessionId
from server.http.wiring import Wiring
from server.mcp.offers import Refused

TRANSCRIPT = "session://{session_id}/transcript"
"""URI template of transcripts."""
_SESSION_ID: TypeAdapter[str] = TypeAdapter(SessionId)
_NOTHING = "There is no resource with this name."


@dataclass(frozen=True)
class Library:
    """The resources of a server's journeys."""

    wiring: Wiring

    @cached_property
    def drawings(self) -> dict[str, str]:
        """URI -> id of the drawn journey."""
        return {f"journey://{id_}/graph": id_ for id_ in self.wiring.journeys}

    def listed(self) -> Iterator[tuple[str, str, str]]:
        """Yield the URI, name and description of each drawing."""
        for uri, id_ in self.drawings.items():
            yield uri, f"{id_} graph", f"Pathways and transitions of {id_}, as a Mermaid flowchart."

    async def read(self, uri: str) -> tuple[str, str]:
        """Return the content and the media type of a URI.

        Raises:
            Refused: There is no such resource; the text is the same for missing and foreign
                sessions.
        """
        if id_ := self.drawings.get(uri):
            return mermaid(self.wiring.journeys[id_].journey.spec), "text/vnd.mermaid"
        found = _TRANSCRIPTS.match(uri)
        if found is None:
            raise Refused(_NOTHING)
        return await self._transcript(found["session_id"]), "application/json"

    async def _transcript(self, given: str | list[str]) -> str:
        try:
            session_id = _SESSION_ID.validate_python(given, strict=True)
        except ValidationError:
            raise Refused(_NOTHING) from None
        listed = await self.wiring.directory.find(session_id) if self.wiring.journeys else None
        if listed is None or listed.journey_id not in self.wiring.journeys:
            raise Refused(_NOTHING)
        async with self.wiring.session(listed.journey_id, session_id) as session:
            entries = [asdict(entry) for entry in await session.transcript()]
        return json.dumps({"session_id": session_id, "entries": entries}, ensure_ascii=False)


_TRANSCRIPTS = UriTemplate.parse(TRANSCRIPT)
