"""One session of a journey in the terminal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from journeygraph.graphs.agents.registry import check_all
from journeygraph.graphs.session.jobs import pass_time
from journeygraph.journeys import (
    AgentNotRegisteredError,
    Journey,
    JourneyConfig,
    JourneyDefinitionError,
    JourneyEvent,
    JourneyResponse,
    JourneySession,
)
from journeygraph.nodes.llm.cassette import Cassette
from journeygraph.nodes.state.escalation import WITH_PERSON
from journeygraph.server.cli.terminal.rendering import (
    firing,
    mishaps,
    movement,
    out,
    plain,
    short,
    troubles,
)
from journeygraph.server.discover.journeys import FoundJourney
from journeygraph.server.logs import ErrorLog, Raised, is_debugged


class ClockAhead:
    """The clock of the machine, put forward by what a user of the terminal lets pass."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def __call__(self) -> datetime:
        """Return the time."""
        return datetime.now(UTC) + self._ahead

    def put(self, time: datetime) -> None:
        """Set the clock."""
        self._ahead = time - datetime.now(UTC)


class TerminalConversation:
    """A session that is continued or started, and the display of its turns.

    Attributes:
        cassette: The answers of the model in this conversation; None without a model.
        pathway: The pathway after the last turn.

    Raises:
        CommandError: Agents are missing; the text has the place where they are searched.
        JourneyDefinitionError: The journey is abstract.
    """

    def __init__(self, found: FoundJourney, session_id: str, config: JourneyConfig) -> None:
        spec, agents = found.journey.spec, found.agents_for(config)
        self.cassette: Cassette | None = None
        if not spec.entry:
            raise JourneyDefinitionError([spec.why_abstract])
        try:
            has_model = found.has_model(config)
            check_all(spec, agents, has_model=has_model)
            if has_model:
                self.cassette = Cassette(model=found.model, records=True, in_order=False)
            self.journey: Journey = found.journey(
                session_id,
                config,
                agents=agents,
                tools=found.checked_tools(),
                model=self.cassette or found.model,
            )
        except AgentNotRegisteredError as error:
            raise found.without_agents(error) from None
        self.clock = ClockAhead()
        self.begun = self.heard = self.complete = False
        self.pathway, self.version, self.greeting = spec.entry, 0, ""
        self.found = found
        self._given = found.sample_context
        self.errors, self._is_debugged = ErrorLog(), is_debugged()
        self._said = ""

    def stand(self, session: JourneySession) -> None:
        """Record the position of the session."""
        self.begun = True
        self.pathway = session.current_pathway_id
        self.complete = session.is_journey_complete
        self.version = session.version

    @property
    def session_id(self) -> str:
        """Id of the session."""
        return self.journey.session_id

    @property
    def expected(self) -> str:
        """The first context of a session, as text."""
        given = f" Its first context is {short(self._given)}." if self._given else ""
        return f"Your first message starts a session in {self.pathway}.{given}"

    async def open(self) -> str:
        """Continue or start the session; return the lines to show."""
        if session := await self.journey.get_session_state():
            self.stand(session)
            asks = [f" {_asker(ask)} asks: {short(ask['value'])}" for ask in session.waiting]
            return f"Session {self.session_id} continues in {self.pathway}.{''.join(asks)}"
        begun = await self.journey.start(self._given)
        self.stand(begun)
        self.greeting = begun.greeting
        given = f" Its first context is {short(self._given)}." if self._given else ""
        return f"Session {self.session_id} starts in {self.pathway}.{given}"

    async def hear(self, line: str) -> None:
        """Run one turn: write the reply while it streams, then the moves."""
        if not self.begun:
            await self.open()
        self.heard = True
        await self._show(self.journey.stream_message(line))

    async def resume(self, value: Any) -> None:
        """Continue with the answer to an agent's question, as `hear` does with a message."""
        await self._show(self.journey.stream_resume(value))

    async def happen(self, name: str, data: Mapping[str, Any]) -> None:
        """Take an event from outside, and show its reply."""
        await self._finish(await self.journey.process_event(name, data), streamed=False)

    async def wait(self, seconds: int) -> bool:
        """Let time pass, and show the replies of timers; return whether one was due."""
        before, until = self.version, self.clock() + timedelta(seconds=seconds)
        async for response in pass_time(self.journey, until, self.clock.put):
            await self._finish(response, streamed=False)
        return self.version > before

    async def _show(self, events: AsyncIterator[JourneyEvent]) -> None:
        streamed = False
        try:
            async for event in events:
                if event.type == "token":
                    streamed = True
                    out.raw(plain(event.data["text"]), end="")
                elif event.type == "done":
                    if streamed:
                        out.raw("")
                    await self._finish(event.data["response"], streamed=streamed)
                    streamed = False
        finally:
            if streamed:  # and then it failed: what follows must not stick to it
                out.raw("")

    async def _finish(self, reply: JourneyResponse, *, streamed: bool) -> None:
        self._said = reply.message
        if not streamed:
            out.print(plain(reply.message), markup=False)
        for ask in reply.metadata["waiting"]:
            line = f"  ({_asker(ask)} waits for your answer)"
            out.print(plain(line), style="dim", markup=False)
        turn = reply.metadata["version"]
        rows = await self.journey.audit() if turn > self.version else []
        rows, raised = [row for row in rows if row.turn == turn], self.errors.taken()
        self._show_way(reply, [*mishaps(rows, raised)])
        if not self._is_debugged:  # the log has them
            _show_raised(raised)
        await self._show_meanwhile(turn)
        if WITH_PERSON in reply.metadata["flags"]:
            out.print("  (a person has the conversation; the assistant is silent)", style="dim")
        self.version = turn
        for trouble in troubles(reply, rows):
            out.print(f"  ! {trouble}", style="yellow", markup=False)

    async def _show_meanwhile(self, turn: int) -> None:
        if turn <= self.version + 1:
            return
        for said in await self.journey.transcript():
            if self.version < said.turn < turn and said.role != "user":
                line = f"  {said.role} > {plain(said.content)}"
                out.print(line, style="green", markup=False)

    async def kept_anyway(self) -> bool:
        """Return whether an interrupted turn was committed before the interrupt."""
        session = await self.journey.get_session_state()
        before = self.version
        if session:
            self.stand(session)
        return session is not None and session.version > before

    def _show_way(self, reply: JourneyResponse, failed: Sequence[str]) -> None:
        before, self.pathway = self.pathway, reply.pathway_id
        ended, self.complete = self.complete, reply.is_journey_complete
        fired = firing(reply)
        error, ended = reply.metadata["error"], ended != self.complete
        if reply.pathway_changed or fired or failed or error or ended:
            way = " · ".join(filter(None, [movement(before, reply), fired, *failed]))
            out.print(f"  {way}", style="dim", markup=False)

    async def state(self) -> dict[str, Any] | None:
        """Return the state of the session as JSON; None if none was started."""
        session = await self.journey.get_session_state() if self.begun else None
        if session is None:
            return None
        return {
            "session_id": session.session_id,
            "journey_id": session.journey_id,
            "pathway_id": session.current_pathway_id,
            "pathway_stack": session.pathway_stack,
            "is_journey_complete": session.is_journey_complete,
            "phase": session.phase,
            "version": session.version,
            "waiting": session.waiting,
            "message": self._said,
            "context": session.accumulated_context,
        }

    async def close(self) -> None:
        """Close the store; the session stays in it."""
        await self.journey.close()


def _show_raised(raised: Iterable[Raised]) -> None:
    for one in raised:
        lines = "\n    ".join(one.traceback.splitlines())
        out.print(plain(f"    {lines}"), style="dim", markup=False)


def _asker(ask: Mapping[str, Any]) -> str:
    return f"{ask['agent'] or 'a tool'} in {ask['pathway']}"
