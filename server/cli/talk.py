"""One session of a journey in the terminal."""

from __future__ import annotations

from journeys import (
    AgentNotRegisteredError,
    Journey,
    JourneyConfig,
    JourneyResponse,
    JourneySession,
    SessionNotStartedError,
)
from server.cli.finding import Found
from server.cli.rendering import firing, movement, out, plain, short


class Talk:
    """A started or restored session, and how its turns are shown.

    Attributes:
        journey: The journey that runs.
        opening: What to tell about the session at the beginning.
        pathway: Where the session stood after the last turn.
        complete: Whether the journey was complete after it.
    """

    def __init__(self, journey: Journey, opening: str, session: JourneySession) -> None:
        self.journey = journey
        self.opening = opening
        self.stand(session)

    def stand(self, session: JourneySession) -> None:
        """Take note of where the session stands."""
        self.pathway = session.current_pathway_id
        self.complete = session.is_journey_complete

    @property
    def session_id(self) -> str:
        """Id of the session."""
        return self.journey.session_id

    @classmethod
    async def open(cls, found: Found, session_id: str, config: JourneyConfig) -> Talk:
        """Take up a session of that id, or begin it.

        Raises:
            CommandError: Agents are missing; with the place where they are looked for.
        """
        try:
            return await cls._restored(found, session_id, config)
        except SessionNotStartedError:
            return await cls._started(found, session_id, config)
        except AgentNotRegisteredError as error:
            raise found.without_agents(error) from None

    @classmethod
    async def _restored(cls, found: Found, session_id: str, config: JourneyConfig) -> Talk:
        journey = await found.journey.restore(session_id, config, agents=found.agents)
        session = await journey.get_session_state()
        if session is None:
            raise SessionNotStartedError(session_id)
        opening = f"Session {session_id} goes on in {session.current_pathway_id}."
        return cls(journey, opening, session)

    @classmethod
    async def _started(cls, found: Found, session_id: str, config: JourneyConfig) -> Talk:
        journey = found.journey(session_id, config, agents=found.agents)
        try:
            session = await journey.start(found.sample_context)
        except BaseException:
            await journey.close()
            raise
        given = f" It begins with {short(found.sample_context)}." if found.sample_context else ""
        opening = f"Session {session_id} begins in {session.current_pathway_id}.{given}"
        return cls(journey, opening, session)

    async def hear(self, line: str) -> None:
        """Run one turn: write the reply as it comes, then where the session went."""
        streamed = False
        try:
            async for event in self.journey.stream_message(line):
                if event.type == "token":
                    streamed = True
                    out.print(plain(event.data["text"]), end="", markup=False, soft_wrap=True)
                elif event.type == "done":
                    self._finish(event.data["response"], streamed=streamed)
                    streamed = False
        finally:
            if streamed:  # and then it failed: what follows must not stick to it
                out.print()

    def _finish(self, reply: JourneyResponse, *, streamed: bool) -> None:
        out.print("" if streamed else plain(reply.message), markup=False, soft_wrap=True)
        self._show_way(reply)

    def _show_way(self, reply: JourneyResponse) -> None:
        before, self.pathway = self.pathway, reply.pathway_id
        ended, self.complete = self.complete, reply.is_journey_complete
        fired = firing(reply)
        if reply.pathway_changed or fired or reply.metadata["error"] or ended != self.complete:
            way = movement(before, reply) + (f" · {fired}" if fired else "")
            out.print(f"  {way}", style="dim", markup=False, soft_wrap=True)

    async def close(self) -> None:
        """Let go of the store; the session stays in it."""
        await self.journey.close()
