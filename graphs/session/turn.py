"""Run one turn of a session: run the graph, which commits it, or record the failure."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypeVar

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs, var_child_runnable_config
from langgraph.errors import (
    GraphRecursionError,
    NodeCancelledError,
    NodeTimeoutError,
    is_invalid_resume,
)
from pydantic import ValidationError

from journeygraph.graphs.records import history
from journeygraph.graphs.records.idempotency import HistoryKey, Request, requests_of
from journeygraph.graphs.session.input import event_of, read, unanswerable
from journeygraph.graphs.session.response import response_of, unmoved
from journeygraph.graphs.session.session import StoredSession, already_there
from journeygraph.graphs.session.waiting import (
    WaitingSession,
    abandoned,
    answer_to,
    resumed,
    shown,
    wait_of,
    waiting_turn,
)
from journeygraph.graphs.steps import event_in, serving
from journeygraph.graphs.storage.checkpoints import PausedRun, commit_of
from journeygraph.graphs.storage.errors import AlreadyThere, WriteConflict, raise_translated
from journeygraph.graphs.storage.statements import Row
from journeygraph.graphs.storage.store import Interruption, LeaseRequest
from journeygraph.journeys import (
    ConfigurationError,
    ContextMergeError,
    ContextSizeExceededError,
    InvalidMessageError,
    InvalidPhaseError,
    JourneyConfig,
    JourneyError,
    JourneyEvent,
    JourneyResponse,
    MaxPathwayDepthError,
    ModelError,
    NotWaitingError,
    PathwayExecutionError,
    PathwayNotFoundError,
    TurnInterruptedError,
    WaitingError,
)
from journeygraph.journeys.config import BUSY_RULES, TENANT, WhenBusy, checked_word
from journeygraph.journeys.languages import texts_of
from journeygraph.journeys.locale import NOWHERE, Locale
from journeygraph.journeys.spec.capability_table import part
from journeygraph.nodes.draft import new_turn
from journeygraph.nodes.journal import WAITING, Usage
from journeygraph.nodes.json_data import plain, words_of
from journeygraph.nodes.replies.scope import checks_of, place_of
from journeygraph.nodes.running import Running
from journeygraph.nodes.services import Services, brought_locale
from journeygraph.nodes.state.context import Op
from journeygraph.nodes.state.escalation import WITH_PERSON, takeover_of
from journeygraph.nodes.state.messages import Message
from journeygraph.nodes.state.session import PARTING, OutsideEvent, Timer, Turn
from journeygraph.nodes.telemetry import TurnSpan, no_steps, pseudonym, report
from journeygraph.nodes.turn.understand import matcher_of

if TYPE_CHECKING:
    from journeygraph.nodes.llm.models import Models

_T = TypeVar("_T")
TAKEN_OVER = {"kind": "taken_over", "reason": "the process that began the turn ended"}
"""Audit event of a turn that another process began."""
BYPASSED = "journey_bypassed"
"""Flag of a turn that was answered without the journey."""


class TurnOverdue(RuntimeError):
    """A turn exceeded its timeout."""


OVERDUE = (TurnOverdue, NodeTimeoutError)
"""A turn, a pathway or an agent exceeded its timeout."""
PATHWAY_FAILURES = (
    TurnOverdue,
    PathwayExecutionError,
    ContextMergeError,
    ContextSizeExceededError,
    MaxPathwayDepthError,
    PathwayNotFoundError,
    InvalidPhaseError,
    NodeCancelledError,
    NodeTimeoutError,
    GraphRecursionError,
)
"""Errors that fail a turn; any other is a fault of the runtime or of the store."""


def fails_the_turn(error: Exception, *, fails_fast: bool) -> bool:
    """Return whether an error fails the turn (which still gets a reply), not the store.

    A fault of the runtime also fails the turn; under fail_fast it is raised unchanged.
    """
    if isinstance(error, PATHWAY_FAILURES):
        return True
    return not fails_fast and not isinstance(error, JourneyError)


def failure_of(error: Exception, running: Running) -> JourneyError:
    """Return the failure of a turn as one of our errors, with its pathway and agent."""
    if isinstance(error, JourneyError):
        return error
    if isinstance(error, NodeTimeoutError):
        return _overdue(error, running)
    if isinstance(error, TurnOverdue):
        return _at(running.working(), str(error))
    if isinstance(error, NodeCancelledError):
        return _at(running.working(), "it cancelled itself")
    return _at(running.working(), f"the turn did not end: {words_of(error)}")


def _overdue(error: NodeTimeoutError, running: Running) -> PathwayExecutionError:
    """Return the error for the timeout of an agent, or of a whole pathway."""
    late = running.working(str(error.node), overdue=True)
    if not late[1]:  # the pathway as a whole is late, perhaps by an agent of it
        late = running.working(overdue=True)
    at = late if late[1] else running.working()
    return _at(at, f"ran out of time: it took longer than {error.timeout:g} s")


def _at(working: tuple[str, Sequence[str]], reason: str) -> PathwayExecutionError:
    pathway, agents = working
    return PathwayExecutionError(pathway, ", ".join(agents), reason)


def faults_in(error: Exception) -> str:
    """Return the faults of an answer: place and text, without the value."""
    if not isinstance(error, ValidationError):
        return type(error).__name__
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    return "; ".join(
        f"{'.'.join(map(str, fault['loc'])) or 'it'}: {fault['msg']}" for fault in faults
    )


def failure_event(pathway: str, failure: JourneyError) -> dict[str, Any]:
    """Return the audit event of a failed turn."""
    kind = type(failure).__name__
    return {"kind": "failure", "from": pathway, "trigger": kind, "reason": str(failure)}


def degraded(turn: Turn, reply: str, pathway: str, failure: JourneyError) -> Turn:
    """Return the record of a failed turn: message, reply and audit, without a move."""
    return {
        **turn,
        "kind": "failure",
        "audit": [*turn["audit"], failure_event(pathway, failure)],
        "replies": [reply],
        "flags": ["failed", BYPASSED],
        "error": {"type": type(failure).__name__, "message": str(failure)},
    }


EventSink = Callable[[JourneyEvent], None]
CORRECTION = "correction"
"""Key of the text before the next reply, in the row of a session."""


@contextmanager
def given_to_all(given: RunnableConfig) -> Iterator[None]:
    """Pass the caller's options to all runs of LangChain and LangGraph in this block."""
    known = var_child_runnable_config.get()
    token = var_child_runnable_config.set(merge_configs(known, given))
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


_GIVEN_NOTHING = nullcontext()


@dataclass(slots=True)
class ReplyStream:
    """The optional listener of a turn; it records whether any text was sent.

    `first` is sent before the first text.
    """

    tell: EventSink | None
    heard: bool = False
    first: str = ""

    def __call__(self, event: JourneyEvent) -> None:
        """Send an event; before the first text, send `first`."""
        if self.tell:
            if event.type == "token" and not self.heard:
                self.heard = True
                if self.first:
                    self.tell(JourneyEvent("token", {"text": self.first + PARTING}))
            self.tell(event)

    def say(self, text: str) -> None:
        """Send a text of the runtime, separated from the text before."""
        if self.first:
            text = text.removeprefix(self.first + PARTING)
        self(JourneyEvent("token", {"text": PARTING + text if self.heard else text}))


async def begin(session: StoredSession, services: Services, ops: list[Op], locale: Locale) -> None:
    """Write version 0: the entry pathway, with these operations on an empty context.

    Its reply is the greeting of the assistant, if there is one. The locale is the session's.

    Raises:
        SessionExistsError: Another process started the session first.
    """
    turn = new_turn(0, kind="start")
    if locale != NOWHERE:
        turn["locale"] = locale.parts
    try:
        with no_steps():
            await _run(session, services, {"context": ops, "turn": turn}, session.beginning(ops))
    except AlreadyThere as error:
        raise already_there(session.session_id) from error


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """Input of one turn.

    Attributes:
        text: The message; None if there is only an answer, an event or a timer.
        value: The answer to an agent's question, if there is no message.
        run: Metadata, tags and callbacks of the caller, for all runs of the turn.
        tell: Gets the events of the turn.
        event: An event from outside, if there is neither a message nor an answer.
        timer: A timer that is due, if there is nothing else.
        is_timer: True if the timer of the session is to be taken, if it is due then.
        requests: The requests for it that have an idempotency key.
        when_busy: Rule if a turn of the session runs.
        begun: Called with the number of the turn when it begins.
        died: True if another process began the turn, and died.
    """

    text: str | None
    value: Any = None
    run: RunnableConfig = field(default_factory=RunnableConfig)
    tell: EventSink | None = None
    event: OutsideEvent | None = None
    timer: Timer | None = None
    is_timer: bool = False
    requests: tuple[Request, ...] = ()
    when_busy: WhenBusy = "enqueue"
    begun: Callable[[int], None] | None = None
    died: bool = False

    @property
    def is_outside(self) -> bool:
        """Return whether it is not from the user."""
        return self.event is not None or self.timer is not None

    def turn(self, number: int) -> Turn:
        """Return the record of a turn that begins with it."""
        turn = new_turn(number, message=self.text)
        if self.event:
            turn["kind"], turn["event"] = "event", self.event
        elif self.timer:
            turn["kind"], turn["timer"] = "timer", self.timer
        return turn

    @classmethod
    def message(
        cls, text: str, key: str | HistoryKey | None, when_busy: WhenBusy, **more: Any
    ) -> Self:
        """Return the input of a turn with a message.

        Raises:
            InvalidMessageError: It is not text, or contains control or broken characters.
            ConfigurationError: The idempotency key is not valid.
        """
        requests = () if key is None else requests_of(key, "message", text)
        return cls(read(text), requests=requests, when_busy=when_busy, **more)

    @classmethod
    def answer(cls, value: Any, key: str | None, when_busy: WhenBusy, **more: Any) -> Self:
        """Return the input of a turn with the answer to an agent.

        Raises:
            ConfigurationError: The idempotency key is not valid, or the value is not JSON.
        """
        try:
            value = plain(value, "value")
        except ValueError as error:
            raise ConfigurationError(f"An answer must be JSON: {error}.") from error
        requests = requests_of(key, "resume", value)
        return cls(None, value, requests=requests, when_busy=when_busy, **more)

    @classmethod
    def happening(cls, name: Any, data: Any, key: str | None, **more: Any) -> Self:
        """Return the input of a turn with an event from outside, which always waits for its turn.

        Raises:
            InvalidMessageError: Its name is not valid.
            ConfigurationError: The data is not a dict, or the idempotency key is not valid.
            ContextMergeError: A value is not JSON.
        """
        event = event_of(name, data)
        requests = requests_of(key, "event", event["name"], event["data"])
        return cls(None, event=event, requests=requests, **more)

    def arrival(self, journeys: Collection[str]) -> LeaseRequest:
        """Return the request for the turn.

        Args:
            journeys: Ids of the journeys whose messages the store may keep as its seal says.
        """
        kept = None if self.is_timer else self.kept  # a timer stays due
        return LeaseRequest(self.when_busy, kept, journeys)

    def kept(self) -> Mapping[str, Any]:
        """Return what another process needs to take the turn, as JSON.

        Metadata, tags, callbacks and listeners are those of a process, and end with it.
        """
        return {
            "text": self.text,
            "value": self.value,
            "event": self.event,
            "requests": [request.plain() for request in self.requests],
        }


def rule_of(config: JourneyConfig, when_busy: WhenBusy | None = None) -> WhenBusy:
    """Return the rule of a request for a busy session, or that of the config.

    Raises:
        ConfigurationError: It is not one of the known rules.
    """
    if when_busy is None:
        return config.when_busy
    checked_word("when_busy", when_busy, BUSY_RULES)
    return when_busy


def died_in(kept: Mapping[str, Any]) -> TurnRequest:
    """Return the input of a turn whose process died, as `TurnRequest.kept` wrote it."""
    requests = tuple(Request.of_plain(one) for one in kept["requests"])
    return TurnRequest(
        kept["text"], kept["value"], event=kept["event"], requests=requests, died=True
    )


async def take(
    session: StoredSession, head: Row, given: TurnRequest, services: Services
) -> JourneyResponse:
    """Process a message or an answer, from the session's head on.

    Raises:
        JourneyError: Under fail_fast, the failure of a pathway; only its audit is stored.
        NotWaitingError: There is an answer, but no agent waits for it.
        WaitingError: There is an event, but an agent waits for an answer.
        StateError: The turn could not be committed.
    """
    spec, key = services.spec, services.config.secret
    wait = await wait_of(session, head) if WAITING in (head["flags"] or "") else None
    if given.is_outside and wait:
        raise WaitingError(wait.first["pathway"])
    if given.text is None and not given.is_outside and wait is None:
        raise NotWaitingError("No agent of this session waits for an answer. Send a message.")
    tenant = "" if session.store.tenant == TENANT else session.store.tenant
    who, number = pseudonym(session.thread, key), head["version"] + 1
    run = TurnSpan(spec.id, spec.version, who, number, tenant, sensitive=spec.sensitive)
    with run as seen:
        if services.running.journal:
            services.running.journal.trail = seen.trail
        with given_to_all(given.run) if given.run else _GIVEN_NOTHING:
            response = await _answered(session, head, given, services, wait)
        seen.answered(response.pathway_id, response.metadata)
        return response


async def _answered(
    session: StoredSession,
    head: Row,
    given: TurnRequest,
    services: Services,
    wait: WaitingSession | None,
) -> JourneyResponse:
    audience, text = ReplyStream(given.tell), given.text
    if text is not None and (fixed := unanswerable(text)):
        return await _fixed(session, head, fixed, services, audience)
    turn = _turn_of(given, head, services.spec.version)
    if correction := head.get(CORRECTION):
        turn["correction"] = correction
        # Where a reply is held back, it comes as a whole.
        audience.first = "" if services.holds else correction
    going = RunningTurn(session, head, services, turn, wait)
    inputs, config = await going.begun(given)
    until = asyncio.get_running_loop().time() + services.config.turn_timeout_seconds
    try:
        running = _run(session, services, inputs, config, audience)
        values = await _in_time(running, going, until, given.requests)
        if not values:
            values = await going.waits(config, audience)
    except Exception as error:
        if is_invalid_resume(error) and going.wait:
            return going.refused(error, audience)
        values = await _ended_badly(going, error, audience, until)
    return response_of(services, values)


def _turn_of(given: TurnRequest, head: Row, version: str) -> Turn:
    """Return the record of a turn at its start."""
    turn = given.turn(head["version"] + 1)
    if head["journey_version"] != version:
        turn["audit"] = [{"kind": "version_changed", "reason": f"now {version}"}]
    if given.died:
        turn["audit"] = [*turn["audit"], TAKEN_OVER]
    return turn


async def _ended_badly(
    going: RunningTurn, error: Exception, audience: ReplyStream, until: float
) -> Mapping[str, Any]:
    """Return the values after a failed turn, which is still committed with a reply."""
    session, turn = going.session, going.turn
    if not fails_the_turn(error, fails_fast=going.fails_fast):
        raise error
    overdue = isinstance(error, TurnOverdue)
    if overdue and (done := await _committed(session, turn)):
        return done
    failed = await _failed(going, error, until)
    try:
        values = await going.committed(going.still_waiting(failed))
    except WriteConflict:
        if overdue and (done := await _committed(session, turn)):
            return done
        raise
    audience.say(PARTING.join(values["turn"]["replies"]))
    return values


@dataclass(slots=True)
class RunningTurn:
    """A running turn: from its message on, or from a waiting run on.

    Attributes:
        session: The session.
        head: Its row.
        services: Services of the turn.
        turn: Its record at the start.
        wait: The waiting run that it resumes, or None.
    """

    session: StoredSession
    head: Row
    services: Services
    turn: Turn
    wait: WaitingSession | None

    @property
    def fails_fast(self) -> bool:
        """Return whether an error is raised: for an event or a timer too, which is repeated."""
        return self.services.fails_fast or self.is_outside

    @property
    def is_outside(self) -> bool:
        """Return whether the turn is not of the user."""
        return self.turn["kind"] in ("event", "timer")

    @property
    def messages(self) -> list[Message]:
        """Message of the user for the window."""
        text = self.turn["message"]
        return [] if text is None else [Message(role="user", content=text)]

    async def begun(self, given: TurnRequest) -> tuple[Any, Any]:
        """Return the input of the graph, and its configuration."""
        wait, turn = self.wait, self.turn
        if wait is None:
            return self._anew()
        if given.text is None:
            if not wait.is_known(self.services):
                raise NotWaitingError(
                    "The journey has changed: the agent that asked does not exist any more."
                )
            answers = wait.answers(given.value)
        elif reason := await wait.given_up(self.services, turn):
            self.wait = None
            turn["audit"] = [*turn["audit"], *abandoned(wait, reason)]
            return self._anew()
        else:
            answers = {wait.first["id"]: given.text}
        events = resumed(wait, answers, by_message=given.text is not None)
        turn["audit"] = [*turn["audit"], *events]
        self.services.running.calls.restore(wait.waiting.get("calls", {}))
        goes_on = wait.going_on(turn, self.messages)
        return answer_to(answers), self._config(goes_on)

    def _anew(self) -> tuple[Any, Any]:
        inputs = {"messages": self.messages, "turn": self.turn}
        return inputs, self._config()

    def _config(self, goes_on: PausedRun | None = None) -> Any:
        return self.session.turn_after(self.head, goes_on, self.services.running.journal)

    async def committed(self, turn: Turn) -> Mapping[str, Any]:
        """Commit a record without a move, and return the values of the state."""
        inputs = {"messages": self.messages, "turn": turn}
        return await _run(self.session, self.services, inputs, self._config())

    async def waits(self, config: Any, audience: ReplyStream) -> Mapping[str, Any]:
        """Commit a turn whose run waits.

        Raises:
            PathwayExecutionError: There is no open question, or it cannot be stored.
        """
        commit = commit_of(config)
        assert commit is not None
        run = commit.goes_on.continued(commit.left) if commit.goes_on else commit.left
        if commit.goes_on and not (commit.left.checkpoints or commit.left.writes):
            self.wait = None
            reason = "it waited, but the journey has changed: its pathway does not exist any more"
            raise PathwayExecutionError(self.turn["run"] or "", "", reason)
        record = waiting_turn(self.services, self.turn, run)
        values = await self.committed(record)
        asks = record["waiting"]["asks"]
        audience(JourneyEvent("waiting", {"waiting": [dict(ask) for ask in asks]}))
        said = values["turn"]["replies"]
        news = [text for text in map(shown, asks) if text]
        made = record["replies"]
        heard_before = audience.heard and said[len(said) - len(made) :] == made
        audience.say(PARTING.join(news if heard_before else said))
        return values

    def still_waiting(self, failed: Turn) -> Turn:
        """Return the record of a failed turn; a run that it resumed still waits."""
        if self.wait is None:
            return failed
        return {**failed, "flags": [*failed["flags"], WAITING], "waiting": self.wait.waiting}

    def refused(self, error: Exception, audience: ReplyStream) -> JourneyResponse:
        """Ask again if the answer is not valid for the agent; nothing is recorded.

        Raises:
            InvalidMessageError: The answer came from `resume()`.
        """
        assert self.wait is not None
        if self.turn["message"] is None:
            raise InvalidMessageError(
                f"The answer is not valid for the question: {faults_in(error)}."
            ) from error
        say = PARTING.join(filter(None, map(shown, self.wait.asks)))
        audience.first = ""  # it comes with a reply that is kept
        audience.say(say)
        version = self.head["version"]
        return unmoved(self.services, self.wait.values, version, say, "invalid_answer")


async def _fixed(
    session: StoredSession, head: Row, fixed: str, services: Services, audience: ReplyStream
) -> JourneyResponse:
    """Reply to a message that no pathway gets; an operator does not see empty ones."""
    values = await session.values(head)
    if fixed == "empty" and takeover_of(values["position"]):
        return unmoved(services, values, head["version"], "", WITH_PERSON)
    services = services.localized(brought_locale(values))
    say = getattr(services.texts_in(head["pathway_id"]), fixed)
    audience.say(say)
    return unmoved(services, values, head["version"], say, f"{fixed}_message")


async def operate(
    session: StoredSession, head: Row, services: Services, turn: Turn
) -> Mapping[str, Any]:
    """Commit the act of an operator, and return the values of the state.

    Raises:
        StateError: It could not be committed.
    """
    with no_steps():
        return await _run(session, services, {"turn": turn}, session.turn_after(head))


async def _in_time(
    running: Awaitable[Mapping[str, Any]],
    going: RunningTurn,
    until: float,
    requests: Collection[Request],
) -> Mapping[str, Any]:
    """Run a turn within its timeout.

    Raises:
        TurnOverdue: The turn exceeds it.
        TurnInterruptedError: A newer message interrupts the turn.
    """
    session, deadline = going.session, asyncio.timeout_at(until)
    interruption = Interruption(deadline, requests)
    if not going.is_outside:  # the sender of an event may not send it again
        session.lock.running = interruption
    try:
        async with deadline:
            return await running
    except TimeoutError as error:
        if interruption.asked and deadline.expired():
            raise TurnInterruptedError(session.session_id) from error
        if deadline.expired():
            seconds = going.services.config.turn_timeout_seconds
            raise TurnOverdue(f"the turn took longer than {seconds:g} s") from error
        raise
    finally:
        session.lock.settle()


async def _committed(session: StoredSession, turn: Turn) -> Mapping[str, Any] | None:
    """Return the values of a turn that was committed just before its timeout, if it was.

    A commit that is still running may finish later; then the next commit fails against it.
    """
    head = await session.head()
    if head["version"] != turn["number"]:
        return None
    values = await session.values(head)
    return values if values["turn"]["at"] == turn["at"] else None


async def _failed(going: RunningTurn, error: Exception, until: float) -> Turn:
    """Return the record of the reply; if it fails fast, audit the failure and raise it."""
    session, head, services, turn = going.session, going.head, going.services, going.turn
    failure = failure_of(error, services.running)
    _tell(error, failure, services.running)
    done = services.running.journal.events if services.running.journal else []
    if going.fails_fast:
        event = failure_event(head["pathway_id"], failure)
        await session.audited(turn["number"], *done, event)
        if failure is error:
            raise error  # raised from itself, it would lose what caused it
        raise failure from error
    at = getattr(failure, "pathway_id", "")  # of several journeys, the one that failed has a say
    place = at if at in services.spec.pathways else head["pathway_id"]
    services = services.localized(await _locale(session, head))
    reply, is_worded = await _without_journey(services, place, turn, until)
    turn = {**turn, "audit": [*turn["audit"], *done]}
    failed = degraded(turn, reply, head["pathway_id"], failure)
    return {**failed, "worded": [0]} if is_worded else failed


def _tell(error: Exception, failure: JourneyError, running: Running) -> None:
    """Report a timeout once; the timeout of a single agent is reported when the agent ends."""
    if failure is error or (isinstance(error, NodeTimeoutError) and running.reports_itself):
        return
    if isinstance(error, OVERDUE) and isinstance(failure, PathwayExecutionError):
        place = {"pathway": failure.pathway_id, "agent": failure.agent}
        known = {name: value for name, value in place.items() if value}
        report(logging.WARNING, "turn_overdue", **known, reason=failure.reason)
    else:
        report(logging.ERROR, "journey_failed", exc_info=error)


async def _locale(session: StoredSession, head: Row) -> Locale:
    """Return the locale of a session; None if its state cannot be read now."""
    try:
        return brought_locale(await session.values(head))
    except Exception:  # the answer to a failure does not fail for it
        return NOWHERE


async def _without_journey(
    services: Services, pathway: str, turn: Turn, until: float
) -> tuple[str, bool]:
    """Return the reply to the user when the journey fails, and whether it is from the catalogue.

    The journey's author chooses it (DESIGN section 4).
    """
    texts, spec = services.texts_in(pathway), services.spec
    own = spec.part_of(pathway) if pathway in spec.pathways else spec
    if own.degrade == "refuse":
        return texts.refused, True
    in_time = asyncio.get_running_loop().time() < until
    if own.degrade == "canned" or services.models is None or not in_time:
        return texts.apology, True
    message = Message(role="user", content=turn["message"] or "")
    usage, language = services.usage or Usage(), services.locale_in(pathway).language
    try:
        said: str = await part("model_replies").freeform(
            services.config,
            services.models,
            usage,
            [message],
            until=until,
            personality=own.personality,
            language=language,
        )
    except ModelError:
        return texts.apology, True
    return said, False


async def _run(
    session: StoredSession,
    services: Services,
    inputs: Any,
    config: Any,
    audience: ReplyStream | None = None,
) -> Mapping[str, Any]:
    """Run the graph, whose saver commits the turn; return the values of the state.

    None if the run waits and nothing was committed.
    """
    # Of the values nothing is streamed: the commit has those that count.
    options: dict[str, Any] = {"durability": "exit", "stream_mode": []}
    try:
        if audience is None or audience.tell is None:
            await session.graph.ainvoke(inputs, serving(services, config), **options)
        else:
            options |= {"stream_mode": ["custom"], "subgraphs": True}
            run = session.graph.astream(inputs, serving(services, config), **options)
            async for _, mode, data in run:
                if event := event_in(mode, data):
                    details = {name: value for name, value in event.items() if name != "type"}
                    audience(JourneyEvent(event["type"], details))
    except Exception as error:
        raise_translated(error)
    finally:
        if services.running.speculation:
            await services.running.ended(services.usage)
    commit = commit_of(config)
    assert commit is not None
    return commit.values


async def settled(
    session: StoredSession, head: Row, config: JourneyConfig, models: Models | None
) -> Row:
    """Check the last reply if that is pending, and return the session's head with a due correction.

    The caller holds the turn of the session. So each reply is checked once, whichever process comes
    first.

    Raises:
        StateError: The store failed.
    """
    store, seal = session.store, session.ledger_writer.seal
    of_turn = {"session": session.session_id, "number": head["version"]}
    rows = await store.read(history.CHECKS_OF_TURN, **of_turn)
    if not rows or (rows[-1]["is_valid"] and rows[-1]["outcome"] != history.PENDING):
        return head
    checks, spec, values = part("checks"), session.spec, await session.values(head)
    turn: Turn = values["turn"]
    found = history.check_entry(rows[-1], seal)
    violations, confidence = found.violations, found.confidence
    matcher, texts, usage = matcher_of(spec), texts_of(spec, config), Usage()
    scope = checks_of(spec)
    known = Services(
        spec, config, {}, matcher, models=models, usage=usage, checks=scope, texts=texts
    )
    services = known.localized(brought_locale(values))
    if found.outcome == history.PENDING:
        check = await checks.judged(services, turn)
        violations, confidence = check["violations"], check["confidence"]
        await history.judge(store, session.session_id, head["version"], check, usage, seal)
    if not checks.is_refused(spec, turn, violations, confidence):
        return head
    return {**head, CORRECTION: services.texts_in(place_of(turn)).wrong_before}


async def events_of(
    answer: Callable[[EventSink], Coroutine[Any, Any, JourneyResponse]],
) -> AsyncIterator[JourneyEvent]:
    """Run a turn and yield its events, the last of them `done`, or `error` before an error.

    Closing the iterator cancels the turn.

    Args:
        answer: Runs the turn; gets the listener for its events.
    """
    heard: asyncio.Queue[JourneyEvent | None] = asyncio.Queue()
    task = asyncio.ensure_future(answer(heard.put_nowait))
    task.add_done_callback(lambda _: heard.put_nowait(None))
    try:
        while (event := await heard.get()) is not None:
            yield event
        if error := task.exception():
            yield JourneyEvent("error", {"type": type(error).__name__, "message": str(error)})
            raise error
        yield JourneyEvent("done", {"response": task.result()})
    finally:
        task.cancel()
        await asyncio.wait([task])
