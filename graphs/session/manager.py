"""Run a session: start it, run its turns one at a time, restore it, roll it back."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from journeygraph.graphs.agents.models import check_model, is_configured, opened
from journeygraph.graphs.agents.registry import (
    check_agent,
    check_all,
    services_of,
    services_to_read,
)
from journeygraph.graphs.records import idempotency, timers
from journeygraph.graphs.records.effects import EffectsOfSession
from journeygraph.graphs.records.history import (
    ATTEMPTS,
    CHECKS,
    SIZES_OF_ALL,
    attempt_entry,
    audit_entry,
    check_entry,
    names_in,
    read_changes,
    read_turns,
    transcript_of,
)
from journeygraph.graphs.records.idempotency import (
    HistoryKey,
    Request,
    new_id,
    requests_after,
    requests_of,
)
from journeygraph.graphs.records.listing import (
    LIVE,
    MOST_BYTES,
    checked_limit,
    cursor_behind,
    cursor_of,
    page_of_turns,
    paged,
    place_of,
    read_sessions,
    span_after,
)
from journeygraph.graphs.session import orphaned_turns
from journeygraph.graphs.session.input import (
    MAX_MESSAGE_BYTES,
    checked_id,
    checked_locale,
    initial_ops,
    new_id_of,
    new_name,
    read,
    run_config_of,
    unanswerable,
)
from journeygraph.graphs.session.response import form_view, has_ended, response_of, session_of
from journeygraph.graphs.session.session import (
    LateThreadResults,
    OnCommit,
    SessionContext,
    StoredSession,
    already_there,
    call_back,
    expire,
    is_over,
    open_session,
    overdue,
    refuse,
    sweep,
)
from journeygraph.graphs.session.turn import (
    EventSink,
    TurnRequest,
    begin,
    events_of,
    given_to_all,
    operate,
    rule_of,
    settled,
    take,
)
from journeygraph.graphs.storage.errors import Unconfirmed, WriteConflict, unconfirmed
from journeygraph.graphs.storage.sealing import Seal, Seals
from journeygraph.graphs.storage.statements import (
    AUDIT,
    DIED,
    ROW_BYTES,
    TURN,
    TURNS,
    Row,
    TableMapper,
)
from journeygraph.graphs.storage.store import LeaseRequest
from journeygraph.journeys import (
    AuditedTurn,
    AuditEntry,
    CheckEntry,
    ConfigurationError,
    ConversationPhase,
    EscalationCase,
    EscalationEntry,
    FieldAttemptEntry,
    FieldNotFoundError,
    FieldVersion,
    FormView,
    InvalidMessageError,
    JourneyConfig,
    JourneyDefinitionError,
    JourneyEvent,
    JourneyResponse,
    JourneySession,
    Locale,
    Page,
    SessionBusyError,
    SessionExistsError,
    SessionExpiredError,
    SessionNotStartedError,
    StateError,
    TakeoverError,
    TranscriptEntry,
    VersionInfo,
    VersionNotFoundError,
    VersionState,
)
from journeygraph.journeys.config import WhenBusy
from journeygraph.journeys.spec.capability_table import part
from journeygraph.nodes.draft import new_turn
from journeygraph.nodes.json_data import size
from journeygraph.nodes.services import Services
from journeygraph.nodes.state.context import Context
from journeygraph.nodes.state.dialogue_state import OperatorAct, Takeover
from journeygraph.nodes.state.escalation import WITH_PERSON, takeover_of
from journeygraph.nodes.telemetry import report

if TYPE_CHECKING:
    from journeygraph.graphs.session.webhook import EscalationSender
    from journeygraph.journeys import Journey
    from journeygraph.nodes.llm.models import Models

_T = TypeVar("_T")
_Act = Callable[[StoredSession, Row], Awaitable[_T]]
_Again = Callable[[StoredSession, Row, Row], Awaitable[_T]]
_Answered = tuple[StoredSession, Row, JourneyResponse]
_ANSWERED = ("turn", "failure", "waiting")
"""Kinds of turns that answer a message, or an answer to an agent."""
MOST_NAME = 100
"""Maximum length of an operator's name, in characters."""


class PathwayManager:
    """Runs one session of a journey (REQ-PM-001).

    Turns of a session run one at a time, in the order of their messages. Each is committed as a
    whole or not at all. The arguments are those of `Journey`, and `services`, which returns the
    services that a server shares between all sessions of a journey. Everything that needs a session
    raises `SessionNotStartedError` if the store has none, `SessionExpiredError` after its time to
    live, and `StateError` if the store fails. What changes a session
    raises `NeedsMigrationError` if `__stranded__` refuses it in this version.

    Raises:
        AgentNotRegisteredError: No pathway uses a given agent.
        ConfigurationError: The session id is not 1 to 200 printable characters.
    """

    def __init__(
        self,
        journey: Journey | type[Journey],
        session_id: str,
        config: JourneyConfig | None = None,
        *,
        agents: Mapping[str, Any] | None = None,
        model: Any = None,
        tools: Mapping[str, Any] | None = None,
        saver: Any = None,
        on_end: Callable[[JourneyResponse], Any] | None = None,
        on_expire: Callable[[str], Any] | None = None,
        services: Callable[[], Services] | None = None,
    ) -> None:
        self.spec = journey.spec
        self.session_id = checked_id(session_id)
        self.config = config or JourneyConfig()
        self._model = model
        self._tools = tools or {}
        self._models: Models | None = None
        self._saver = saver
        self._on_end = on_end
        self._on_expire = on_expire
        self.on_commit: OnCommit | None = None
        self.on_escalation: Callable[[], None] | None = None
        """Callback after the commit of an escalation; without it, the manager sends them itself."""
        self.on_turn: Callable[[int], None] | None = None
        """Callback with the number of a message's turn, as soon as the session is free for it."""
        self.on_answer: Callable[[JourneyResponse], None] | None = None
        """Callback with the response of each turn that was taken, and not answered again."""
        self.on_change: Callable[[str], None] | None = None
        """Callback with the id of a session that may have changed."""
        self._escalation_sender: EscalationSender | None = None
        self._agents = agents or {}
        self._services: Services | None = None
        self._shared = services
        self._opening: asyncio.Task[StoredSession] | None = None
        self._late = LateThreadResults()
        self._held: Row | None = None
        self._pending: set[asyncio.Task[Any]] = set()
        """Work that no caller waits for: checks of sent replies, deletion of expired sessions."""
        if services is None:
            self._check()

    def register_agent(self, agent_id: str, agent: Any) -> None:
        """Register the agent of a name; a second one replaces the first.

        Raises:
            AgentNotRegisteredError: No pathway uses that name; with did-you-mean.
            ConfigurationError: The agent cannot be called.
        """
        check_agent(self.spec, agent_id, agent, overdue)
        self._agents = {**self._agents, agent_id: agent}
        self._services = self._shared = None

    def get_agent(self, agent_id: str) -> Any:
        """Return the agent registered under a name; None if there is none."""
        return self._agents.get(agent_id)

    def hold(self, head: Row) -> None:
        """Start the next turn at this row; the caller holds the turn of the session."""
        self._held = head

    async def start_session(
        self,
        initial_context: Mapping[str, Any] | None = None,
        *,
        locale: Locale | None = None,
        user: str | None = None,
        idempotency_key: str | None = None,
    ) -> JourneySession:
        """Start the session at the entry pathway, as version 0.

        Args:
            initial_context: First values of the context; plain JSON, copied.
            locale: Locale of the user, stored with the session. A part is used if the journey does
                not set it itself.
            user: Id of the user who owns the session, 1 to 200 printable characters; None: it has
                no owner. A server gives keys of a user access to these sessions only.
            idempotency_key: As for `process_message`.

        Raises:
            ConfigurationError: The locale is not a `Locale`, or the user is not such a text.
            JourneyDefinitionError: The journey has no pathways.
            AgentNotRegisteredError: Agents are missing; all are named.
            SessionExistsError: The session exists; nothing is changed.
            SessionExpiredError: The session exists and has expired; delete() it to use its id
                again.
            ContextSizeExceededError: The context is over its limit.
            ContextMergeError: A value in it is not JSON; the error has its path.
        """
        if not self.spec.entry:
            raise JourneyDefinitionError([self.spec.why_abstract])
        services = self._served()
        ops = initial_ops(self.spec, self.config, initial_context)
        brought = checked_locale(locale)
        owner = None if user is None else new_id_of(user, "user")
        asked = (self.spec.id, [op[:3] for op in ops], brought.parts, *([owner] if owner else []))
        requests = requests_of(idempotency_key, "start", *asked)
        session = await self._session()
        async with session.lock:
            there = await session.store.head(self.session_id)
            if not there:
                new_name(self.session_id)
                try:
                    await begin(session.begun(owner).storing(requests), services, ops, brought)
                except SessionExistsError:  # another process was quicker, maybe for this request
                    there = await session.store.head(self.session_id)
        if there and is_over(there) and there["journey_id"] == self.spec.id:
            await refuse(session, there, self._on_expire)
        if there:
            if requests:
                session = session.at(session.checked(there))
                if row := await self._done_before(session, requests):
                    return await self._shown_again(session, there, row)
            raise already_there(self.session_id)
        self._sweep(session)
        with unconfirmed():
            return await self.restore()

    start = start_session

    async def process_message(
        self,
        message: str,
        *,
        metadata: Any = None,
        tags: Any = None,
        callbacks: Any = None,
        idempotency_key: str | HistoryKey | None = None,
        when_busy: WhenBusy | None = None,
    ) -> JourneyResponse:
        """Run one turn.

        An empty message or one over 16 kB gets a fixed reply and changes nothing.

        Args:
            message: The message of the user.
            metadata: Metadata of LangChain's run configuration, a dict for all models, tools and
                agents of the turn and for callbacks. It is not stored.
            tags: The same, a list of texts.
            callbacks: The same, a list of LangChain's callback handlers, as of a tracer.
            idempotency_key: The caller's name for this request, such as a UUID; 1 to 200 visible
                ASCII characters. The request is done once: if it is sent again with its key within
                24 hours, from any process, the response is the same, with `replayed`. A turn that
                was not committed is taken again. A `HistoryKey` only repeats the last turn.
            when_busy: Rule if a turn of the session runs; default: that of the config. "enqueue":
                wait, with at most 7 other requests. "reject": raise an error. "interrupt": give up
                the running turn if it has not begun an effect, then as "enqueue"; the turn of
                another process is given up within two seconds.

        Raises:
            SessionBusyError: Under "reject", a turn of the session runs.
            TooManyWaitingError: 8 requests wait in this process.
            TurnInterruptedError: A newer message interrupted the turn; it changed nothing.
            IdempotencyKeyError: The key belongs to another request of this session.
            InvalidMessageError: It is not text, or contains control or broken characters.
            ConfigurationError: metadata, tags or callbacks have a wrong type.
            AgentNotRegisteredError: Agents are missing; all are named.
            JourneyError: Under fail_fast, the failure of a pathway.
        """
        run = run_config_of(metadata, tags, callbacks)
        rule = rule_of(self.config, when_busy)
        return await self.answer(TurnRequest.message(message, idempotency_key, rule, run=run))

    def stream_message(
        self,
        message: str,
        *,
        metadata: Any = None,
        tags: Any = None,
        callbacks: Any = None,
        idempotency_key: str | HistoryKey | None = None,
        when_busy: WhenBusy | None = None,
    ) -> AsyncIterator[JourneyEvent]:
        """Run one turn and yield its events; see `process_message` for the arguments.

        Tokens are provisional until `done`, which comes when the turn is committed. Closing the
        iterator before that cancels the turn. An error of `process_message` comes as an event
        `error`, and is then raised.
        """
        run = run_config_of(metadata, tags, callbacks)
        rule = rule_of(self.config, when_busy)

        async def answer(tell: EventSink) -> JourneyResponse:
            given = TurnRequest.message(message, idempotency_key, rule, run=run, tell=tell)
            return await self.answer(given)

        return events_of(answer)

    async def resume(
        self,
        value: Any,
        *,
        metadata: Any = None,
        tags: Any = None,
        callbacks: Any = None,
        idempotency_key: str | None = None,
        when_busy: WhenBusy | None = None,
    ) -> JourneyResponse:
        """Continue where an agent called LangGraph's `interrupt()`, which then returns the value.

        A message does the same with its text, unless the whole message asks to stop or for a
        person. If several questions are open, a message answers the first.

        Args:
            value: The answer, JSON. A dict of the ids in `metadata["waiting"]` answers several.
            metadata: As for `process_message`.
            tags: As for `process_message`.
            callbacks: As for `process_message`.
            idempotency_key: As for `process_message`.
            when_busy: As for `process_message`.

        Raises:
            SessionBusyError: As for `process_message`, as are the next two.
            TooManyWaitingError: 8 requests wait.
            TurnInterruptedError: A newer message interrupted the turn.
            IdempotencyKeyError: The key belongs to another request of this session.
            NotWaitingError: No agent waits, or the value does not name one of several questions.
            InvalidMessageError: It does not match the `response_schema` of the question.
            ConfigurationError: It is not JSON.
            JourneyError: Under fail_fast, the failure of a pathway; the session still waits.
        """
        run = run_config_of(metadata, tags, callbacks)
        rule = rule_of(self.config, when_busy)
        return await self.answer(TurnRequest.answer(value, idempotency_key, rule, run=run))

    def stream_resume(
        self,
        value: Any,
        *,
        metadata: Any = None,
        tags: Any = None,
        callbacks: Any = None,
        idempotency_key: str | None = None,
        when_busy: WhenBusy | None = None,
    ) -> AsyncIterator[JourneyEvent]:
        """Continue as `resume` does, and yield the events of the turn."""
        run = run_config_of(metadata, tags, callbacks)
        rule = rule_of(self.config, when_busy)
        return self.events(TurnRequest.answer(value, idempotency_key, rule, run=run))

    async def answer(self, given: TurnRequest) -> JourneyResponse:
        """Run one turn with its input, as `process_message`, `resume` and `process_event` do."""
        if self.on_turn:
            given = replace(given, begun=self.on_turn)

        async def again(session: StoredSession, head: Row, row: Row) -> _Answered:
            return session, head, await self._response_again(session, row)

        take = partial(self._take, given)
        answered = partial(self._in_turn, take, given.requests, again)
        arrival = given.arrival([self.spec.id])
        if given.requests:
            done = await self._unless_sent_again(given, arrival, answered)
        else:
            done = await answered(arrival)
        if isinstance(done, JourneyResponse):
            return done
        session, head, response = done
        await self._follow_up(session, head, given, response)
        return response

    async def _unless_sent_again(
        self,
        given: TurnRequest,
        arrival: LeaseRequest,
        answered: Callable[[LeaseRequest], Awaitable[_Answered]],
    ) -> _Answered | JourneyResponse:
        """Take a turn, or return the stored response if the session is busy and it is sent again.

        A request that is sent again gives up no turn: neither a newer one nor its own, which may
        run in another process.
        """
        interrupts = given.when_busy == "interrupt"
        try:
            return await answered(replace(arrival, when_busy="reject") if interrupts else arrival)
        except SessionBusyError:
            session, head = await self._known()
            sent = requests_after(given.requests, head["version"] - 1)
            if row := await self._done_before(session, sent):
                return await self._response_again(session, row)
            if not interrupts:
                raise
        is_own = await orphaned_turns.is_running(session, given.requests)
        rule: WhenBusy = "enqueue" if is_own else "interrupt"
        # A turn that another process begins from now on may be its own.
        return await answered(replace(arrival, when_busy=rule, gives_up=head["fence"]))

    def events(self, given: TurnRequest) -> AsyncIterator[JourneyEvent]:
        """Run one turn with its input, and yield its events."""
        return events_of(lambda tell: self.answer(replace(given, tell=tell)))

    async def process_event(
        self,
        name: str,
        data: Mapping[str, Any] | None = None,
        *,
        metadata: Any = None,
        tags: Any = None,
        callbacks: Any = None,
        idempotency_key: str | None = None,
    ) -> JourneyResponse:
        """Take an event from outside the conversation, such as a payment, as a turn.

        Its data replaces context values. Then the `EventTrigger` of its name fires, or a
        `ConditionTrigger` that became true. Without a transition nothing runs and the response has
        no message. No model is asked where the event leads. While a person has the conversation,
        only the context changes. An event waits for the turns before it, and no message interrupts
        its turn.

        Args:
            name: Its name, 1 to 200 characters.
            data: Context values by name; plain JSON, copied. None removes a name.
            metadata: As for `process_message`.
            tags: As for `process_message`.
            callbacks: As for `process_message`.
            idempotency_key: As for `process_message`. Give the sender's id of the event, since a
                sender may repeat it.

        Raises:
            TooManyWaitingError: 8 requests wait in this process.
            IdempotencyKeyError: The key belongs to another request of this session.
            WaitingError: An agent waits for an answer; send the event again later.
            InvalidMessageError: The name is no such text, or contains control characters.
            ConfigurationError: The data is not a dict.
            ContextMergeError: A value is not JSON; the error has its path.
            ContextSizeExceededError: The context would be over its limit.
            JourneyError: A pathway failed; only its audit is stored. Send the event again.
        """
        run = run_config_of(metadata, tags, callbacks)
        return await self.answer(TurnRequest.happening(name, data, idempotency_key, run=run))

    async def take_timer(self) -> JourneyResponse | None:
        """Take the timer of the session that is due, as a turn; None if none is due.

        A server does this by itself. A program calls it when `next_timer` says so; of several
        processes, one takes it.

        Raises:
            JourneyError: A pathway failed; only its audit is stored, and the timer is still due.
        """
        try:
            return await self.answer(TurnRequest(None, is_timer=True))
        except timers.NothingDueError:
            return None

    async def next_timer(self) -> datetime | None:
        """Return the time at which the next timer of the session is due; None: no timer runs."""
        session, _ = await self._known()
        row = await timers.timer_of(session.store, self.session_id)
        is_set = row is not None and row["due_at"] != timers.NEVER
        return datetime.fromisoformat(row["due_at"]) if row and is_set else None

    async def restore(self, agents: Mapping[str, Any] | None = None) -> JourneySession:
        """Restore the session in any process.

        Args:
            agents: All agents of the journey; without them the first message raises an error.

        Raises:
            AgentNotRegisteredError: `agents` lacks a name, or has an unknown one.
        """
        for name, agent in (agents or {}).items():
            self.register_agent(name, agent)
        if agents is not None:
            check_all(
                self.spec,
                self._agents,
                has_model=is_configured(self._model, self.config, self.spec),
            )
        session, head = await self._known()
        return self._shown(head, await session.values(head))

    async def restore_session(self, session_id: str | None = None) -> JourneySession | None:
        """Restore a session by its id (default: this manager's); None if it does not exist."""
        if session_id is not None and session_id != self.session_id:
            await self.close()
            self.session_id = checked_id(session_id)
        return await self.get_session_state()

    async def get_session_state(self) -> JourneySession | None:
        """Return the state of the session; None before it is started."""
        try:
            return await self.restore()
        except SessionNotStartedError:
            return None

    async def snapshot(self) -> dict[str, Any]:
        """Return a copy of the context."""
        return (await self.restore()).accumulated_context

    async def session_context(self) -> SessionContext:
        """Return the context with the position and the times of the session."""
        session, head = await self._known()
        return await session.context(head)

    async def rollback(self, version: int, *, idempotency_key: str | None = None) -> JourneySession:
        """Create a new version with the state of an older one; the versions between remain.

        Args:
            version: The older one.
            idempotency_key: As for `process_message`.

        Raises:
            VersionNotFoundError: There is no such version, or its state was pruned.
        """

        async def back(session: StoredSession, head: Row) -> JourneySession:
            return self._shown(*await session.rolled_back(head, version))

        return await self._done_once(back, requests_of(idempotency_key, "rollback", version))

    async def fork(
        self, version: int, session_id: str | None = None, *, idempotency_key: str | None = None
    ) -> JourneySession:
        """Begin another session in the state of a version of this one, which stays as it is.

        The fork has the turns up to this version, with their audit; a rollback in it goes back to
        this version at most. The assistant has the conversation there. Each effect that this
        session has taken counts as taken in the fork, also where a later turn took it; what either
        takes from now on does not count in the other.

        Args:
            version: The version.
            session_id: Id of the fork; default: a new UUID.
            idempotency_key: As for `process_message`.

        Raises:
            VersionNotFoundError: There is no such version, its state was pruned, or it is from
                before this session was forked itself.
            SessionExistsError: There is a session with the id of the fork.
            ConfigurationError: That id is not 1 to 200 printable characters.
        """
        requests = requests_of(idempotency_key, "fork", version, session_id)
        if session_id is None:
            fork_id = new_id(self.session_id, idempotency_key)
        else:
            fork_id = new_name(session_id)

        async def forked(session: StoredSession, head: Row) -> JourneySession:
            return self._shown(*await session.forked(head, version, fork_id))

        async def again(session: StoredSession, head: Row, row: Row) -> JourneySession:
            fork = replace(session, session_id=fork_id)
            begun = await fork.head()
            shown = await self._shown_again(fork.at(begun), begun, row)
            return replace(shown, updated_at=shown.created_at)  # its turns are older

        return await self._done_once(forked, requests, again)

    async def list(self, limit: int = 100, after: str | None = None) -> Page[str]:
        """Return the ids of this journey's sessions in the store, newest activity first.

        Args:
            limit: Maximum number, 1 to 1000.
            after: `next` of the previous page; None for the first page.

        Raises:
            ConfigurationError: The limit is not from 1 to 1000.
            InvalidCursorError: `after` is not a cursor of a page.
        """
        most, place = checked_limit(limit), None if after is None else place_of(after)
        store = (await self._session()).store
        found = await read_sessions(store, [self.spec.id], LIVE, place, most + 1)
        page = paged(found, most, lambda listed: cursor_of(listed.place))
        return Page([listed.session_id for listed in page], page.next)

    async def versions(
        self, limit: int | None = None, after: str | None = None
    ) -> Page[VersionInfo]:
        """Return versions of the session, oldest first.

        Args:
            limit: Most of them, 1 to 1000; None: all. With a limit, a page also ends after 1 MB of
                stored text; one turn may have more.
            after: `next` of the previous page; None for the first page.

        Raises:
            ConfigurationError: The limit is not from 1 to 1000.
            InvalidCursorError: `after` is not a cursor of a page.
        """
        session, head = await self._known()
        span, more = await page_of_turns(
            session.store, self.session_id, head["version"], after, limit, TURNS.fitting
        )
        rows = await session.store.read(TURNS.of_turns, session=self.session_id, **span)
        return Page(map(session.ledger_writer.version, rows), more)

    async def state_at(self, version: int) -> VersionState:
        """Return the context at a version, and its difference to the version before.

        If the state of a version was pruned, or a fork has it from before, they are made from the
        ledger, which has all versions.

        Raises:
            VersionNotFoundError: There is no such version.
        """
        session, head = await self._known()
        row = await session.version(head, version)
        before = await self._context_at(session, head, version - 1) if version else {}
        back = row["rolled_back_to"]
        held = before if back is None else await self._context_at(session, head, back)
        return session.ledger_writer.state_of(row, before, held)

    async def _context_at(self, session: StoredSession, head: Row, version: int) -> Context:
        return await session.context_at(await session.version(head, version))

    async def transcript(
        self, limit: int | None = None, after: str | None = None
    ) -> Page[TranscriptEntry]:
        """Return the messages and rollbacks of these turns, oldest first.

        Messages that a rollback took back are included; `taken_back` finds them.

        The arguments are those of `versions`.
        """
        page = await self.versions(limit, after)
        return Page(transcript_of(page), page.next)

    async def context_history(
        self, name: str, limit: int | None = None, after: str | None = None
    ) -> Page[FieldVersion]:
        """Return the values of a context name in a number of turns, oldest first.

        None means a value that was removed. The other arguments are those of `versions`; here the
        values themselves have 1 MB.
        """
        session, head = await self._known()
        span, more = span_after(after, limit, head["version"])
        last = min(span["high"], head["version"])
        # A value may be from any earlier turn.
        rows = read_changes(session.store, self.session_id, last)
        found, left = Page[FieldVersion](next=more), math.inf if limit is None else MOST_BYTES
        async for one in session.ledger_writer.history_of(name, rows):
            if one.version <= span["low"]:
                continue
            left -= size(one.value) + ROW_BYTES
            if found and left < 0:
                found.next = cursor_behind(one.version)
                break
            found.append(one)
        return found

    async def audit(self, limit: int | None = None, after: str | None = None) -> Page[AuditEntry]:
        """Return the audit of a number of turns, oldest first; arguments as for `versions`."""
        await self._late.written()
        rows, seal, more = await self._rows(AUDIT, limit, after)
        return Page((audit_entry(row, seal) for row in rows), more)

    async def turns(self, limit: int | None = None, after: str | None = None) -> Page[AuditedTurn]:
        """Return all records of a number of turns, oldest first; arguments as for `versions`."""
        await self._late.written()
        session, head = await self._known()
        span, more = await page_of_turns(
            session.store, self.session_id, head["version"], after, limit, SIZES_OF_ALL
        )
        seal, active_in = session.ledger_writer.seal, session.spec.active_in
        found = await read_turns(session.store, self.session_id, span, seal, active_in)
        return Page(found, more)

    async def checks(self, limit: int | None = None, after: str | None = None) -> Page[CheckEntry]:
        """Return the reply checks of a number of turns; arguments as for `versions`."""
        rows, seal, more = await self._rows(CHECKS, limit, after)
        return Page((check_entry(row, seal) for row in rows), more)

    async def fields(self) -> FormView:
        """Return the current fields of the session and the open question."""
        session, head = await self._known()
        values = await session.values(head)
        return form_view(session.spec, self.session_id, values)

    async def attempts(
        self, name: str | None = None, limit: int | None = None, after: str | None = None
    ) -> Page[FieldAttemptEntry]:
        """Return the attempts at a field, oldest first, including those before a rollback.

        Args:
            name: Name of the field; None: all fields.
            limit: Maximum number of turns, as for `versions`.
            after: As for `versions`.

        Raises:
            InvalidCursorError: As of `versions`.
            FieldNotFoundError: The journey has no field with that name, and had none earlier in
                this session.
        """
        rows, seal, more = await self._rows(ATTEMPTS, limit, after)
        wanted = [row for row in rows if name in (None, row["field"])]
        known = names_in(self.spec)
        is_all = after is None and more is None
        if is_all and name is not None and not wanted and name not in known:
            raise FieldNotFoundError(name, known)
        return Page((attempt_entry(row, seal) for row in wanted), more)

    async def claim(
        self,
        by: str,
        escalation: str | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> JourneySession:
        """Claim the conversation for one operator; a repeated claim by the same one does nothing.

        Args:
            by: Name of the operator: 1 to 100 printable characters.
            escalation: Id of the escalation; default: the current one.
            idempotency_key: As for `process_message`.
        """
        act = OperatorAct(act="claim", by=by, text="")
        return await self._act(act, escalation, idempotency_key)

    async def operator_says(
        self,
        text: str,
        by: str,
        escalation: str | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> JourneySession:
        """Send a text to the user; this claims a conversation that is not claimed yet.

        Raises:
            InvalidMessageError: The text is empty, over 16 kB, or contains control characters.
        """
        act = OperatorAct(act="say", by=by, text=read_words(text))
        return await self._act(act, escalation, idempotency_key)

    async def release(
        self,
        by: str,
        escalation: str | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> JourneySession:
        """Give the conversation back to the assistant, which continues where it was paused.

        Any operator can do this, because the one who claimed it may be away.
        """
        act = OperatorAct(act="release", by=by, text="")
        return await self._act(act, escalation, idempotency_key)

    async def answer_once(
        self, make: Callable[[], Awaitable[_T]], idempotency_key: str | None, *asked: Any
    ) -> tuple[_T, bool]:
        """Answer a request that changes nothing; return the answer, and whether it was stored.

        Args:
            make: Makes the answer, which is JSON. It is stored for 24 hours, and sealed in a
                sensitive journey.
            idempotency_key: As for `process_message`; without one, nothing is stored.
            asked: Name of the operation, and its arguments.

        Raises:
            IdempotencyKeyError: The key belongs to another request of this session.
        """
        requests = requests_of(idempotency_key, *asked)
        session, _ = await self._known()
        if not requests:
            return await make(), False
        if row := await self._done_before(session, requests):
            return idempotency.answer_in(row, session.ledger_writer.seal), True
        answer = await make()

        async def stored(session: StoredSession, head: Row) -> tuple[_T, bool]:
            seal = session.ledger_writer.seal
            written = idempotency.written(self.session_id, requests, head["version"], answer, seal)
            await session.store.write(*written)
            return answer, False

        async def again(session: StoredSession, head: Row, row: Row) -> tuple[_T, bool]:
            return idempotency.answer_in(row, session.ledger_writer.seal), True

        return await self._in_turn(stored, requests, again)

    async def escalations(
        self, limit: int | None = None, after: str | None = None
    ) -> Page[EscalationEntry]:
        """Return the escalations of a number of turns; arguments as for `versions`."""
        session, head = await self._known()
        span, more = span_after(after, limit, head["version"])
        records = part("escalations")
        rows = await session.store.read(records.OF_SESSION, session=self.session_id, **span)
        return Page(map(records.entry, rows), more)

    async def escalation(self) -> EscalationCase | None:
        """Return the last escalation with its payload; None if there is none."""
        session, _ = await self._known()
        calls = await self.escalations()
        seals = Seals(self.config.encryption_keys, self.config.tenant)
        return (
            await part("escalations").read_case(session.store, calls[-1].id, seals)
            if calls
            else None
        )

    async def delete(self) -> None:
        """Delete the session with its history and its audit; refused while a turn runs."""
        session = await self._session()
        await session.head()
        await session.forget(self.session_id)
        self._changed()

    async def close(self) -> None:
        """Close the store; the session stays in it.

        A pending check of a sent reply is done first; if this is cancelled, the next turn does it.
        So is the deletion of expired sessions that a start has begun, 20 at most.
        """
        try:
            # A callback of the work itself may close the session.
            if pending := self._pending - {asyncio.current_task()}:
                await asyncio.gather(*pending)
        finally:
            await self._let_go()

    def _sweep(self, session: StoredSession) -> None:
        """Delete some expired sessions, without waiting; a server does this in the background."""
        if self._shared is None:
            gone = partial(expire, session, on_expire=self._on_expire)
            self._later(sweep(session.store, self.spec.id, gone))

    @property
    def is_busy(self) -> bool:
        """Return whether work is pending that `close` waits for."""
        return bool(self._pending)

    def _later(self, work: Coroutine[Any, Any, Any]) -> None:
        """Do something without waiting for it; `close` does."""
        self._pending.add(task := asyncio.ensure_future(work))
        task.add_done_callback(self._pending.discard)

    async def _let_go(self) -> None:
        await self._late.end()
        await self._send_no_more()
        models, self._models, self._services = self._models, None, None
        if models:
            await models.close()
        opening, self._opening = self._opening, None
        if opening:
            if not opening.done():
                await asyncio.wait([opening])
            if not opening.exception():
                await opening.result().store.close()

    async def _rows(
        self, records: TableMapper, limit: int | None, after: str | None
    ) -> tuple[Sequence[Row], Seal, str | None]:
        """Return rows of a page of turns, their seal, and the start of the next page."""
        session, head = await self._known()
        span, more = await page_of_turns(
            session.store, self.session_id, head["version"], after, limit, records.fitting
        )
        rows = await session.store.read(records.of_turns, session=self.session_id, **span)
        return rows, session.ledger_writer.seal, more

    def _sent_on(self, session: StoredSession, response: JourneyResponse) -> None:
        """Start the delivery of the turn's escalation, without waiting for it."""
        if WITH_PERSON in response.metadata["flags"]:
            return
        if self.on_escalation:
            self.on_escalation()
        elif port := part("webhook").port_of(self.config):
            seals = Seals(self.config.encryption_keys, self.config.tenant)
            made = part("webhook").EscalationSender
            self._escalation_sender = self._escalation_sender or made(session.store, port, seals)
            self._escalation_sender.wake()

    async def _send_no_more(self) -> None:
        escalation_sender, self._escalation_sender = self._escalation_sender, None
        if escalation_sender:
            await escalation_sender.end()

    async def _act(
        self, act: OperatorAct, escalation: str | None, idempotency_key: str | None
    ) -> JourneySession:
        """Commit the act of an operator as its own turn."""
        _check_name(act["by"])

        async def acted(session: StoredSession, head: Row) -> JourneySession:
            values = await session.values(head)
            takeover = takeover_of(values["position"])
            held = _held(takeover, act, escalation)
            before = await part("escalations").read_entry(session.store, held["id"])
            if held["by"] == act["by"] and act["act"] == "claim":
                return replace(self._shown(head, values), escalation=before)
            storing = session.storing(
                requests_after(requests, head["version"]),
                lambda values: asdict(part("escalations").changed(before, values["turn"])),
            )
            values = await operate(storing, head, self._served(), _turn_of(head, act))
            moved = {"version": head["version"] + 1, "updated_at": values["turn"]["at"]}
            after = part("escalations").changed(before, values["turn"])
            return replace(self._shown({**head, **moved}, values), escalation=after)

        async def again(session: StoredSession, head: Row, row: Row) -> JourneySession:
            after = EscalationEntry(**idempotency.answer_in(row, session.ledger_writer.seal))
            return replace(await self._shown_again(session, head, row), escalation=after)

        requests = requests_of(idempotency_key, *act.values(), escalation)
        return await self._in_turn(acted, requests, again)

    async def _take(self, given: TurnRequest, session: StoredSession, head: Row) -> _Answered:
        """Take the turn of a message, an answer, an event or a timer."""
        session, timed = await self._timed(session, given)
        effects = EffectsOfSession(
            session.store, session.ledger_writer.seal, head, session.lock.settle
        )
        services = self._served().for_turn(effects, listening=given.tell is not None)
        number = head["version"] + 1
        if given.begun:
            given.begun(number)
        taking = self._late.of_turn(session, number)
        storing = session.storing(
            given.requests and requests_after(given.requests, head["version"]),
            lambda values: idempotency.of_response(response_of(services, values)),
        )
        try:
            return session, head, await take(storing, head, timed, services)
        except WriteConflict:
            await self._check_overtaken(session, head, given)
            raise
        finally:
            self._late.turn_over(taking)

    async def _check_overtaken(self, session: StoredSession, head: Row, given: TurnRequest) -> None:
        """Raise an error if another process has taken the turn that this late one has lost.

        Raises:
            Unconfirmed: The next version is that turn.
        """
        kinds = () if given.is_timer else ("event",) if given.event else _ANSWERED
        following = {"session": self.session_id, "number": head["version"] + 1}
        row = await session.store.version(TURN, **following)
        if row is None or row["kind"] not in kinds:
            return
        if given.text == TURNS.value(row, "message", session.ledger_writer.seal):
            raise Unconfirmed("this process was late, and another one took the turn")

    async def _take_once(self, session: StoredSession, head: Row, given: TurnRequest) -> None:
        """Take the turn of a process that died, unless its request was answered meanwhile.

        Raises:
            IdempotencyKeyError: Its key belongs to another request.
        """
        if await self._done_before(session, requests_after(given.requests, head["version"] - 1)):
            return
        session, head, response = await self._take(given, session, head)
        # After the turn: what is called back may well talk to the session.
        self._later(self._follow_up(session, head, given, response))

    async def _done_before(self, session: StoredSession, requests: Sequence[Request]) -> Row | None:
        """Return the row of a request that was answered before; None if it is a new one."""
        for request in requests:
            if row := await session.found(request):
                return row
        return None

    async def _response_again(self, session: StoredSession, row: Row) -> JourneyResponse:
        # The head may have been read before the row was there.
        version = await session.version(row, row["version"])
        context = await session.context_at(version)
        return idempotency.response_again(row, context, session.ledger_writer.seal)

    async def _follow_up(
        self, session: StoredSession, head: Row, given: TurnRequest, response: JourneyResponse
    ) -> None:
        """Begin what follows a turn: the check of its reply, a call for a person, a callback."""
        if response.replayed:
            return
        self._passed_on(session, given, response)
        # Not in the turn: what is called back may well talk to the session.
        if has_ended(self.spec, head, response):
            await call_back(session, head["version"] + 1, self._on_end, response)

    def _passed_on(
        self, session: StoredSession, given: TurnRequest, response: JourneyResponse
    ) -> None:
        """Begin the work that a turn leaves, for which no caller waits."""
        if self.on_answer:
            self.on_answer(response)
        if any(check.get("pending") for check in response.metadata["checks"]):
            with given_to_all(given.run):
                self._later(self._judge_last())
        if response.metadata["phase"] == ConversationPhase.ESCALATED:
            self._sent_on(session, response)

    async def _timed(
        self, session: StoredSession, given: TurnRequest
    ) -> tuple[StoredSession, TurnRequest]:
        """Read the timer of a session before an event or a timer, which do not end its silence.

        Raises:
            NothingDueError: A timer is to be taken, and none is due.
        """
        if not given.is_timer and not (given.event and self.spec.has_timers):
            return session, given
        row = await timers.timer_of(session.store, self.session_id)
        if given.is_timer:
            given = replace(given, timer=timers.due_in(row))
        return replace(session, timer=row), given

    async def finish(self) -> None:
        """Take the turn of a process that died, if the session has one.

        Raises:
            StateError: The store failed.
        """
        await self._in_turn(_nothing)

    async def go_on(self) -> None:
        """Take the turn of a process that died, from the row given to `hold`.

        Raises:
            StateError: The store failed.
        """
        session = await self._session()
        held, self._held = self._held, None
        await self._go_on(session, session.checked(held))

    async def _go_on(self, session: StoredSession, head: Row) -> None:
        died = orphaned_turns.OrphanedTurn.of(head)
        session = session.at(head)
        head = await self._continued(session, head)
        try:
            if given := await orphaned_turns.given_of(session, head, died):
                await self._take_once(session, head, given)
        except Exception as error:
            if isinstance(error, StateError) and error.retryable:
                raise
            # As its caller would have been informed of the error; nothing is left of the turn.
            await orphaned_turns.drop(session, head, died, error)
        else:
            await orphaned_turns.forget(session, died)
        finally:
            self._changed()

    async def _judge_last(self) -> None:
        """Check the last sent reply, unless another process was faster."""
        try:
            await self._in_turn(_nothing)
        except (SessionNotStartedError, SessionExpiredError):
            pass  # nobody is left to be corrected
        except Exception as error:  # nobody waits for this; the next turn tries again
            report(logging.WARNING, "reply_unchecked", exc_info=error)

    async def _session(self) -> StoredSession:
        """Open the session's store, once."""
        if self._opening is None:
            opening = open_session(
                self.session_id, self.spec, self.config, self._saver, self.on_commit
            )
            self._opening = asyncio.ensure_future(opening)
        opened = self._opening
        if opened.done() and not opened.cancelled() and not opened.exception():
            return opened.result()
        try:
            return await asyncio.shield(opened)
        except Exception:
            if self._opening is opened:  # and not one that tries again already
                self._opening = None
            raise

    async def _known(self) -> tuple[StoredSession, Row]:
        """Open the session, which must exist and be live; a turn may be running."""
        session = await self._session()
        head = await session.head()
        if is_over(head):
            await refuse(session, head, self._on_expire)
        return session.at(head), head

    async def _done_once(
        self,
        act: _Act[JourneySession],
        requests: Sequence[Request],
        again: _Again[JourneySession] | None = None,
    ) -> JourneySession:
        """Change the session in its turn; for a request that is sent again, show what it did."""

        async def storing(session: StoredSession, head: Row) -> JourneySession:
            return await act(session.storing(requests), head)

        return await self._in_turn(storing, requests, again or self._shown_again)

    async def response_at(self, version: int) -> JourneyResponse:
        """Return the response of a turn that was committed, for a message or an answer.

        Raises:
            VersionNotFoundError: There is no such version, it is not one of a message or an answer
                but of another change, or its state was pruned.
        """
        session, head = await self._known()
        row = await session.version(head, version)
        if row["kind"] not in _ANSWERED:
            raise VersionNotFoundError(
                f"Version {version} of session '{self.session_id}' is no turn of the user "
                f"(kind: {row['kind']})."
            )
        return response_of(self._reading(), await session.values(row))

    async def _shown_again(self, session: StoredSession, head: Row, row: Row) -> JourneySession:
        """Return the state after a request that was done before."""
        version = await session.version(head, row["version"])
        known = {"version": row["version"], "updated_at": version["at"]}
        shown = self._shown({**head, **known}, await session.values(version))
        return replace(shown, replayed=True)

    async def _in_turn(
        self,
        act: _Act[_T],
        requests: Sequence[Request] = (),
        again: _Again[_T] | None = None,
        arrival: LeaseRequest | None = None,
    ) -> _T:
        """Wait for the session's turn, and do something in it with its head.

        If replies are checked after they are sent, the last one is checked before. A turn whose
        process died is taken first.

        Args:
            act: Does it.
            requests: The request, if it has an idempotency key.
            again: Is called instead if the request was done before, with its row.
            arrival: The request for the turn.
        """
        session = await self._session()
        held, self._held = self._held, None
        while True:
            turn = nullcontext(held) if held else session.store.turn(self.session_id, arrival)
            async with turn as row:
                head = session.checked(row)
                if is_over(head):
                    break
                if head.get(DIED) is None:
                    return await self._acted(session, head, act, requests, again)
                await self._go_on(session, head)
        return await refuse(session, head, self._on_expire)

    async def _acted(
        self,
        session: StoredSession,
        head: Row,
        act: _Act[_T],
        requests: Sequence[Request],
        again: _Again[_T] | None,
    ) -> _T:
        """Do something in the turn of the session; see `_in_turn`."""
        session = session.at(head)
        sent = requests and requests_after(requests, head["version"] - 1)
        if again and (done := await self._done_before(session, sent)):
            return await again(session, head, done)
        head = await self._continued(session, head)
        try:
            return await act(session, head)
        finally:
            self._changed()

    async def _continued(self, session: StoredSession, head: Row) -> Row:
        """Return the row from which the next turn continues."""
        if head["journey_version"] != self.spec.version:
            await part("version_migration").refuse_without_migration(session, head)
        if self.spec.is_judged_later:
            head = await settled(session, head, self.config, self._opened_models())
        return head

    def _changed(self) -> None:
        if self.on_change:
            self.on_change(self.session_id)

    def _check(self) -> None:
        """Refuse a model, tools or agents that are not valid for the journey."""
        check_model(self._model, self.config, self.spec)
        self._tools = dict(self._tools)
        if self._tools:
            part("tools").check_tools(self.spec, self._tools)
        self._agents = dict(self._agents)
        for name, agent in self._agents.items():
            check_agent(self.spec, name, agent, overdue)

    def _opened_models(self) -> Models | None:
        if self._shared:
            return self._shared().models
        self._models = self._models or opened(self._model, self.config, self.spec)
        return self._models

    def _shown(self, head: Row, values: Mapping[str, Any]) -> JourneySession:
        """Return the public state of the session."""
        return session_of(self._reading(), head, values)

    def _reading(self) -> Services:
        """Return services to read a session; no agents are needed for it."""
        services = self._shared() if self._shared else self._services
        return services or services_to_read(self.spec, self.config)

    def _served(self) -> Services:
        if self._shared:
            return self._shared()
        if self._services is None:
            self._services = services_of(
                self.spec,
                self.config,
                self._agents,
                self._opened_models(),
                overdue,
                tools=self._tools,
            )
        return self._services


async def _nothing(session: StoredSession, head: Row) -> None:
    """Do nothing in the turn of a session; what must be done before it is done then."""


def read_words(text: Any) -> str:
    """Return the checked text of an operator, with the rules of a user's message, and not empty.

    Raises:
        InvalidMessageError: It is empty, over 16 kB, or contains control characters.
    """
    words = read(text)
    if fixed := unanswerable(words):
        what = "empty" if fixed == "empty" else f"over {MAX_MESSAGE_BYTES} bytes"
        raise InvalidMessageError(f"The text of an operator must not be {what}.")
    return words


def _turn_of(head: Row, act: OperatorAct) -> Any:
    kind = "release" if act["act"] == "release" else "operator"
    return {**new_turn(head["version"] + 1, kind=kind), "operator": act}


def _held(takeover: Takeover | None, act: OperatorAct, escalation: str | None) -> Takeover:
    if takeover is None or escalation not in (None, takeover["id"]):
        raise TakeoverError(
            "The assistant has this conversation: it has no escalation, or it was released."
        )
    if act["act"] != "release" and takeover["by"] not in (None, act["by"]):
        raise TakeoverError(
            "Another operator has this conversation. Release it first, then claim it."
        )
    return takeover


def _check_name(by: Any) -> None:
    if not isinstance(by, str) or not 0 < len(by) <= MOST_NAME or not by.isprintable():
        raise ConfigurationError(
            f"An operator's name must be 1 to {MOST_NAME} printable characters."
        )
