"""A journey as a tool: each call is one turn of a session."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from graphs.session.input import read
from graphs.session.manager import PathwayManager
from journeys import InvalidMessageError, JourneyResponse, SessionExistsError, StateError
from nodes.llm.mcp.connected import name_for_models
from nodes.state.session import PARTING
from server.http.schemas.sessions import SessionId
from server.http.wiring import Wiring
from server.mcp.offers import Arguments, Outcome, Refused, Tell, read_as


class Said(Arguments):
    """A message and its session."""

    message: str = Field(description="The message of the user, in their own words.")
    session_id: SessionId | None = Field(
        default=None,
        description="Id of the session to continue, from the previous response. Omit it to "
        "start a new session.",
    )


class Reply(BaseModel):
    """The result of a committed turn."""

    message: str = Field(description="The reply to show to the user.")
    session_id: str = Field(description="Send it with the next message of this conversation.")
    pathway_id: str = Field(description="The pathway of the conversation.")
    is_journey_complete: bool = Field(description="True if the goal is reached.")


class JourneyOffer:
    """One journey of this server; `journeygraph serve` has the same sessions."""

    takes: Mapping[str, Any] = Said.model_json_schema()
    gives: Mapping[str, Any] = Reply.model_json_schema()
    goes_on = True  # as over HTTP: a turn is whole, and who comes back finds it

    def __init__(self, journey_id: str, wiring: Wiring) -> None:
        spec = wiring.journeys[journey_id].journey.spec
        self.journey_id = journey_id
        self.name = name_for_models(journey_id)
        purpose = " ".join((spec.purpose or spec.name).split())
        self.description = (
            f"{purpose} A conversation with a goal: send the user's message, show the reply to "
            f"the user, and send the session_id of the reply with the user's next message."
        )
        self._wiring = wiring

    def begin(self, arguments: Mapping[str, Any], tell: Tell | None) -> asyncio.Task[Outcome]:
        """Start a turn; it continues if the client disconnects."""
        said = read_as(Said, arguments)
        try:
            message = read(said.message)
        except InvalidMessageError as error:
            raise Refused(str(error)) from None
        session_id = said.session_id or str(uuid.uuid4())
        return self._wiring.turns.begin(self._turn(session_id, message, tell))

    async def _turn(self, session_id: str, message: str, tell: Tell | None) -> Outcome:
        session, greeting = await self._session(session_id)
        try:
            if tell is None:
                response = await session.process_message(message)
            else:
                response = await _told(session, message, tell)
        finally:
            await self._wiring.turns.let_go(session)
        return _outcome(session_id, greeting, response)

    async def _session(self, session_id: str) -> tuple[PathwayManager, str]:
        """Return the session with that id, and the first reply if the session is new."""
        listed = await self._wiring.directory.find(session_id)
        if listed is not None and listed.journey_id != self.journey_id:
            raise Refused("This session_id belongs to another conversation. Omit it.")
        session, greeting = self._wiring.manager(self.journey_id, session_id), ""
        if listed is None:
            try:
                greeting = (await session.start_session(None)).greeting
            except SessionExistsError:  # somebody else was faster: go on with it
                pass
            except BaseException:
                await session.close()
                raise
        return session, greeting


async def _told(session: PathwayManager, message: str, tell: Tell) -> JourneyResponse:
    response: JourneyResponse | None = None
    async for event in session.stream_message(message):
        if event.type == "done":
            response = event.data["response"]
        else:
            tell(event.type, event.data)
    if response is None:
        raise StateError("The turn ended without a reply.")
    return response


def _outcome(session_id: str, greeting: str, response: JourneyResponse) -> Outcome:
    # Here a session begins with a message: what is said first is heard with the answer to it.
    message = PARTING.join(filter(None, [greeting, response.message]))
    reply = Reply(
        message=message,
        session_id=session_id,
        pathway_id=response.pathway_id,
        is_journey_complete=response.is_journey_complete,
    )
    # Some clients show their model the texts alone, and it must know how to go on.
    return Outcome([message, f"session_id: {session_id}"], reply.model_dump())
