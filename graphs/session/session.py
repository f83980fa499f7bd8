"""One session in its store: its head, its state, its context, its end, and late reports."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import math
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextvars import ContextVar, Token
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

from journeygraph.graphs.compile import RECURSION_LIMIT, build
from journeygraph.graphs.records import idempotency
from journeygraph.graphs.records.history import read_changes
from journeygraph.graphs.records.idempotency import Request
from journeygraph.graphs.records.ledger import LedgerWriter
from journeygraph.graphs.steps import COMMIT, Graph
from journeygraph.graphs.storage import statements
from journeygraph.graphs.storage.checkpoints import NO_CHECKPOINT, Commit, JoinedSaver, PausedRun
from journeygraph.graphs.storage.errors import AlreadyThere, DamagedError, WriteConflict, translated
from journeygraph.graphs.storage.sealing import NoSeal, Seal
from journeygraph.graphs.storage.statements import AUDIT, Row, Statement, now, thread_of
from journeygraph.graphs.storage.store import SessionLock, Store, open_store
from journeygraph.journeys import (
    ConfigurationError,
    JourneyConfig,
    JourneySpec,
    SessionExistsError,
    SessionExpiredError,
    SessionNotStartedError,
    StateError,
    VersionNotFoundError,
)
from journeygraph.journeys.definitions.value_types import time_in_words
from journeygraph.journeys.spec.capability_table import part
from journeygraph.nodes.authored import contained
from journeygraph.nodes.draft import new_turn, position_of_fork
from journeygraph.nodes.journal import WAITING, Journal
from journeygraph.nodes.json_data import stamp, words_of
from journeygraph.nodes.state.context import Context, Op
from journeygraph.nodes.state.escalation import takeover_of
from journeygraph.nodes.state.messages import GIVEN_BACK, mark
from journeygraph.nodes.state.session import Position, Turn
from journeygraph.nodes.telemetry import report


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The runtime context of a session at one version (flow control, context management).

    Attributes:
        call_id: The context value of this name, as text; None if there is none.
        customer_id: The same.
        journey_id: Id of the active journey; in a concierge one of several, or None.
        current_state: Id of the current pathway.
        variables: The context.
        started_at: Start of the session, ISO 8601 in UTC.
        activated_at: Start of the active journey.
        version: Version of the session.
    """

    session_id: str
    call_id: str | None
    customer_id: str | None
    journey_id: str | None
    current_state: str
    variables: dict[str, Any]
    started_at: str
    activated_at: str
    version: int


Answer = Callable[[Mapping[str, Any]], Any]
Answering = Callable[[int, Mapping[str, Any]], list[Statement]]
OnCommit = Callable[[SessionContext], None]
"""Callback after the commit of a version of a session that is not sensitive; it must not wait."""


def context_of(
    spec: JourneySpec, head: Mapping[str, Any], version: int, values: Mapping[str, Any]
) -> SessionContext:
    """Return the context of a session.

    Args:
        spec: Its journey.
        head: Its row, of any version.
        version: Version of the values.
        values: Its state.
    """
    position, variables = values["position"], values.get("context", {})
    state: str = position["pathway"]
    return SessionContext(
        session_id=head["session_id"],
        call_id=_text(variables.get("call_id")),
        customer_id=_text(variables.get("customer_id")),
        journey_id=spec.active_in(state),
        current_state=state,
        variables=variables,
        started_at=head["created_at"],
        activated_at=position.get("activated_at") or head["created_at"],
        version=version,
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session of one journey in an open store; the lock of its turns lasts as long as it does."""

    session_id: str
    spec: JourneySpec
    store: Store
    saver: Any
    graph: Graph
    ledger_writer: LedgerWriter
    lock: SessionLock
    on_commit: OnCommit | None = None
    answering: Answering | None = None
    """Makes the rows of the answer to a request, which is stored with its version."""
    timer: Row | None = None
    """Row of its timer before an event or a timer."""

    @property
    def thread(self) -> str:
        """Its name in LangGraph's tables, and for agents."""
        return thread_of(self.store.tenant, self.session_id)

    async def head(self) -> Row:
        """Return the session's row.

        Raises:
            SessionNotStartedError: There is none.
            StateError: It belongs to another journey.
        """
        return self.checked(await self.store.head(self.session_id))

    def checked(self, head: Row | None) -> Row:
        """Return the row of this session.

        Raises:
            SessionNotStartedError: There is none.
            StateError: It belongs to another journey, or its version is missing.
        """
        if head is None:
            raise SessionNotStartedError(
                f"Session not started: '{self.session_id}' is not in the store. "
                "Call start() (start_session()) first."
            )
        if head["checkpoint_id"] is None and head["status"] != "expired":
            raise DamagedError(
                f"Session '{self.session_id}' is at version {head['version']}, which is not in "
                "its ledger: rows of the store were removed."
            )
        if head["journey_id"] != self.spec.id:
            raise StateError(
                f"Session '{self.session_id}' belongs to the journey '{head['journey_id']}', "
                f"not to '{self.spec.id}'. Use another session id."
            )
        return head

    def begun(self, user: str | None) -> StoredSession:
        """Return the session as it begins, with its owner; if sensitive, with a new data key."""
        owned = replace(self, ledger_writer=replace(self.ledger_writer, user=user))
        if not self.spec.sensitive:
            return owned
        return owned._sealed_by(self.store.seals.new(self.session_id))

    def at(self, head: Row) -> StoredSession:
        """Return the session with the encryption of its row.

        Raises:
            StateError: The key of the session is not set, or its journey is not sensitive any more.
        """
        if self.spec.sensitive:
            return self._sealed_by(self.store.seals.of(head))
        if head["key_id"] is not None:
            raise StateError(
                f"Session '{self.session_id}' is encrypted, and {self.spec.name} is not marked "
                "__sensitive__ any more. Mark it again; new sessions of another journey are plain."
            )
        return self

    def _sealed_by(self, seal: Seal) -> StoredSession:
        return replace(self, ledger_writer=replace(self.ledger_writer, seal=seal))

    async def found(self, request: Request) -> Row | None:
        """Return the row of a request that was answered before; None if it is a new one."""
        return await idempotency.found(
            self.store, self.session_id, request, self.ledger_writer.seal
        )

    async def values(self, row: Row) -> Mapping[str, Any]:
        """Return the state of a version by its row, or of the head by the session's row.

        Raises:
            VersionNotFoundError: The state does not exist any more.
        """
        values: Mapping[str, Any] = (await self._state(row)).checkpoint["channel_values"]
        return values

    async def context_at(self, row: Row) -> Context:
        """Return the context of a version by its row.

        It is in the state of the version. If that was pruned, or is in the session from which this
        one was forked, it is made from the operations of all turns up to there.
        """
        if found := await self._found_state(row):
            context: Context = found.checkpoint["channel_values"].get("context", {})
            return context
        changes = read_changes(self.store, self.session_id, row["version"])
        return await self.ledger_writer.context_after(changes)

    async def _found_state(self, row: Row) -> CheckpointTuple | None:
        found: CheckpointTuple | None = await self.saver.state_in(row, self.ledger_writer.seal)
        return found

    async def _state(self, row: Row) -> CheckpointTuple:
        if found := await self._found_state(row):
            return found
        seal = self.ledger_writer.seal
        where = f"The state of version {row['version']} of session '{self.session_id}'"
        if other := await part("forks").origin(self.store, seal, self.session_id, row["version"]):
            raise VersionNotFoundError(
                f"{where} is in session '{other}', from which this one was forked later. Fork "
                "that one at this version, or roll it back."
            )
        raise VersionNotFoundError(
            f"{where} is not in its saver: it was pruned, or another saver was given."
        )

    def storing(self, requests: Collection[Request], answer: Answer | None = None) -> StoredSession:
        """Return the session as it takes requests whose answer is stored with its next version.

        Args:
            requests: Those with an idempotency key.
            answer: Makes the answer, JSON, from the values of the state; None if it is the state
                itself.
        """
        if not requests:
            return self
        seal = self.ledger_writer.seal

        def answering(version: int, values: Mapping[str, Any]) -> list[Statement]:
            stored = answer(values) if answer else None
            return idempotency.written(self.session_id, requests, version, stored, seal)

        return replace(self, answering=answering)

    def answered(self, version: int, values: Mapping[str, Any]) -> list[Statement]:
        """Return the rows of the answer, if one is stored."""
        return self.answering(version, values) if self.answering else []

    def run_config(self, checkpoint_id: str, commit: Commit) -> Any:
        """Return LangGraph's configuration with an explicit checkpoint, never the latest."""
        place = {
            "thread_id": self.thread,
            "checkpoint_ns": "",
            "checkpoint_id": checkpoint_id,
        }
        return {
            "configurable": {**place, COMMIT: commit},
            "recursion_limit": RECURSION_LIMIT,
        }

    def beginning(self, ops: list[Op]) -> Any:
        """Return the configuration of the first run of the session.

        The first context may be large: the ledger has its operations, and the state its values.
        """
        begun: Row = {}

        def statements_of(values: Mapping[str, Any], checkpoint: str) -> list[Statement]:
            turn: Any = {**values["turn"], "ops": ops}
            written = self.ledger_writer.begun(turn, values["position"], checkpoint)
            begun.update(written[0].rows[0])
            return [*written, *self.answered(0, values)]

        seal = self.ledger_writer.seal
        told = Commit(0, statements_of, seal, lambda values: self._tell(begun, 0, values))
        return self.run_config(NO_CHECKPOINT, told)

    def turn_after(
        self, head: Row, goes_on: PausedRun | None = None, journal: Journal | None = None
    ) -> Any:
        """Return the configuration of the next turn.

        Args:
            head: The session's row.
            goes_on: A waiting run that the turn resumes.
            journal: The journal of the turn, whose steps are stored with it.
        """

        def statements_of(values: Mapping[str, Any], checkpoint: str) -> list[Statement]:
            self.lock.settle()
            turn, position = values["turn"], values["position"]
            advanced = self.ledger_writer.advanced
            timer = self.timer
            written = advanced(turn, position, checkpoint, head, journal=journal, timer=timer)
            return [*written, *self.answered(number, values)]

        def counts(values: Mapping[str, Any]) -> None:
            self._tell(head, number, values)

        number = head["version"] + 1
        commit = Commit(number, statements_of, self.ledger_writer.seal, counts, head, goes_on)
        return self.run_config(goes_on.id if goes_on else head["checkpoint_id"], commit)

    async def context(self, head: Row) -> SessionContext:
        """Return the context of the session at its head."""
        values = await self.values(head)
        return context_of(self.spec, head, head["version"], values)

    def _tell(self, head: Row, version: int, values: Mapping[str, Any]) -> None:
        if self.on_commit and not self.spec.sensitive:
            self.on_commit(context_of(self.spec, head, version, values))

    async def version(self, head: Row, version: Any) -> Row:
        """Return the row of a version with its state.

        Raises:
            VersionNotFoundError: There is no such version.
        """
        number = self.number(head, version)
        found = await self.store.version(statements.TURN, session=self.session_id, number=number)
        if found is None:
            raise self._no_version(head, version)
        return found

    def number(self, head: Row, version: Any) -> int:
        """Return the number of a version.

        Raises:
            VersionNotFoundError: There is no such version.
        """
        known = range(head["version"] + 1)
        if type(version) is int and version in known:
            return version
        raise self._no_version(head, version)

    def _no_version(self, head: Row, version: Any) -> VersionNotFoundError:
        return VersionNotFoundError(
            f"Session '{self.session_id}' has no version {version!r}; "
            f"it has 0 to {head['version']}."
        )

    async def forked(
        self, head: Row, version: Any, session_id: str
    ) -> tuple[Row, Mapping[str, Any]]:
        """Begin another session with the state of a version of this one; return its row and state.

        Raises:
            VersionNotFoundError: There is no such version, or its state was pruned.
            SessionExistsError: There is a session with the id of the fork.
            SessionExpiredError: The same, and it has expired.
            StateError: The session has moved on, or the store failed.
        """
        state = await self._state(await self.version(head, version))
        if there := await self.store.head(session_id):
            raise _expired(session_id) if is_over(there) else already_there(session_id)
        values = state.checkpoint["channel_values"]
        position, released = position_of_fork(values["position"])
        values = {**values, "position": position, "turn": _turn_of_fork(values["turn"], position)}
        if released:
            values["messages"] = [*values["messages"], mark(GIVEN_BACK, values["turn"])]
        writer = replace(
            self.ledger_writer,
            session_id=session_id,
            seal=self._seal_of_fork(session_id),
            user=head["user_id"],
        )
        begun = writer.first_head(position, version, now())
        written = await part("forks").statements_of_fork(
            self.store, self.ledger_writer, writer, head, begun, released
        )
        written += self.answered(version, values)
        commit = Commit(
            version,
            lambda *_: written,
            writer.seal,
            lambda values: self._tell(begun, version, values),
        )
        fork = state._replace(checkpoint={**state.checkpoint, "channel_values": values})
        try:
            with translated():
                await self.saver.fork(thread_of(self.store.tenant, session_id), fork, commit)
        except AlreadyThere as error:
            raise already_there(session_id) from error
        return begun, values

    def _seal_of_fork(self, session_id: str) -> Seal:
        seal = self.ledger_writer.seal
        return self.store.seals.new(session_id, like=seal) if seal.hides else seal

    async def rolled_back(self, head: Row, version: Any) -> tuple[Row, Mapping[str, Any]]:
        """Move the head to the state of an older version, and return both.

        They are not read again, because another process may change the session in the meantime.

        Raises:
            VersionNotFoundError: There is no such version, or its state was pruned.
        """
        target = await self.version(head, version)
        values = await self.values(target)
        event = {
            "kind": "rollback",
            "from": head["pathway_id"],
            "to": target["pathway_id"],
            "reason": f"back to version {version}",
        }
        turn: Turn = {**new_turn(head["version"] + 1), "audit": [event]}
        if "waiting" in values["turn"]:  # and waits there again
            turn["flags"] = [WAITING]
        written = self.ledger_writer.advanced(
            turn, values["position"], target["checkpoint_id"], head, version
        )
        takeover = takeover_of(values["position"])
        at = written[0].rows[0]["now"]
        written += self.answered(turn["number"], values)
        await self.store.write(
            *written, *part("escalations").rolled_back(self.session_id, takeover, at)
        )
        self._tell(head, turn["number"], values)
        moved = {"version": turn["number"], "updated_at": at}
        return {**head, **moved}, values

    async def audited(self, turn: int, *events: Mapping[str, Any]) -> None:
        """Write audit events that belong to no turn."""
        rows = self.ledger_writer.audit_rows(turn, events)
        await self.store.write(AUDIT.adding(rows, self.ledger_writer.seal))

    async def forget(self, session_id: str, *, expired_at: str | None = None) -> None:
        """Delete a session; of an expired one the row stays."""
        await self.store.forget(session_id, expired_at=expired_at)
        if self.saver is not self.store.saver:
            await self.saver.adelete_thread(thread_of(self.store.tenant, session_id))


def _turn_of_fork(turn: Turn, position: Position) -> Turn:
    """Return the last turn of a fork; a waiting run has the position of the fork."""
    if "waiting" not in turn:
        return turn
    run = PausedRun.unpacked(turn["waiting"]["run"]).with_position(position)
    return {**turn, "waiting": {**turn["waiting"], "run": run.packed()}}


def already_there(session_id: str) -> SessionExistsError:
    """Return the error for a second start of a session."""
    return SessionExistsError(
        f"Session '{session_id}' exists. Continue it with restore(), or delete() it first."
    )


async def open_session(
    session_id: str,
    spec: JourneySpec,
    config: JourneyConfig,
    saver: Any,
    on_commit: OnCommit | None = None,
) -> StoredSession:
    """Open a session's store and compile its journey, each once.

    Raises:
        ConfigurationError: The journey is sensitive, and no key is set or the saver does not
            encrypt. Or it has a timer that is longer than the time to live of its sessions.
        StateError: The store cannot be opened.
    """
    if spec.longest_timer >= config.session_ttl_seconds:
        raise ConfigurationError(
            f"{spec.name} has a timer after {time_in_words(spec.longest_timer)}, but its sessions "
            f"expire after {config.session_ttl_seconds:g} seconds without a message, so it is "
            "never due. Raise session_ttl_seconds, or shorten the time."
        )
    if spec.sensitive and config.encryption_key is None:
        raise ConfigurationError(
            f"{spec.name} is marked __sensitive__: give an encryption_key of 32 bytes."
        )
    if spec.sensitive and saver and not isinstance(saver.serde, EncryptedSerializer):
        raise ConfigurationError(
            f"{spec.name} is marked __sensitive__, and the given saver does not encrypt. Give "
            f"it an EncryptedSerializer, or omit it."
        )
    keys = config.encryption_keys if spec.sensitive else None
    store = await open_store(config.persistence, keys, config.database_pool_size, config.tenant)
    used = JoinedSaver(saver, store.saver.write) if saver is not None else store.saver
    graph = copy(_compiled(spec, config))
    graph.checkpointer = used
    ttl, keep = config.session_ttl_seconds, config.keep_versions
    seal = (NoSeal if spec.sensitive else Seal)(store.tenant)
    ledger_writer = LedgerWriter(spec, session_id, seal, ttl, keep)
    lock = store.lock(session_id)
    return StoredSession(session_id, spec, store, used, graph, ledger_writer, lock, on_commit)


async def prepare(spec: JourneySpec, config: JourneyConfig) -> None:
    """Compile a journey in a thread, before its first session asks for it.

    Raises:
        JourneyDefinitionError: It cannot be compiled.
    """
    await asyncio.to_thread(_compiled, spec, config)


def _compiled(spec: JourneySpec, config: JourneyConfig) -> Graph:
    """Return the graph of a journey, which all stores share: a session gives it a saver."""
    built_in = (config.pathway_timeout_seconds, *_retrying(config))
    graph: Graph | None = spec.compiled.get(built_in)
    if graph is None:
        graph = spec.compiled[built_in] = build(spec, config).compile(name=spec.id)
    return graph


def _retrying(config: JourneyConfig) -> tuple[Any, ...]:
    if config.error_recovery != "retry":
        return (0, 0.0)
    return (config.max_retries, config.retry_backoff_seconds)


SWEEP = 20
"""Maximum number of expired sessions that are deleted after one start."""

_PAUSE = 9
Callback = Callable[[Any], Any]


def is_over(head: Row) -> bool:
    """Return whether a session has expired."""
    return bool(head["status"] == "expired" or head["expires_at"] < stamp(now()))


async def refuse(session: StoredSession, head: Row, on_expire: Callback | None) -> NoReturn:
    """Clean up an expired session and raise the error.

    Raises:
        SessionExpiredError: Always.
    """
    if head["status"] != "expired":
        await expire(session, head, on_expire)
    raise _expired(session.session_id)


def _expired(session_id: str) -> SessionExpiredError:
    return SessionExpiredError(
        f"Session '{session_id}' has expired. Start another one, or delete() it to use its id "
        "again."
    )


async def sweep(store: Store, journey: str, expire: Callable[[Row], Awaitable[None]]) -> float:
    """Delete some expired sessions of a journey, oldest first.

    After deletions there is a pause of nine times their duration, so that they take a tenth of the
    time at most, however many sessions have expired.

    Args:
        store: The store.
        journey: Id of the journey.
        expire: Deletes one session.

    Returns:
        The seconds after which more can be deleted; infinite if all are deleted.
    """
    clock = asyncio.get_running_loop().time
    until, begun = store.swept_until, clock()
    if begun < until.get(journey, 0.0):
        return until[journey] - begun
    until[journey], rows = math.inf, []
    try:
        wanted = {"now": stamp(now()), "journey": journey, "most": SWEEP}
        rows = await store.read(statements.EXPIRED, **wanted)
        for row in rows:
            await expire(row)
    except Exception as error:  # no caller waits for this; the next one tries again
        report(logging.WARNING, "expired_not_deleted", exc_info=error)
    finally:
        pause = _PAUSE * (clock() - begun) if rows else 0.0
        until[journey] = clock() + pause
    return pause if len(rows) == SWEEP else math.inf


async def expire(session: StoredSession, row: Row, on_expire: Callback | None) -> None:
    """Delete the data of a session; its row stays, so that its id does not look new."""
    with contextlib.suppress(WriteConflict):
        await session.forget(row["session_id"], expired_at=stamp(now()))
        await call_back(session, row["version"], on_expire, row["session_id"])


async def call_back(
    session: StoredSession, version: int, callback: Callback | None, argument: Any
) -> None:
    """Call a callback; an error in it is audited, because its event is already committed."""
    try:
        with contained():
            result = callback(argument) if callback else None
            if inspect.isawaitable(result):
                await result
    except Exception as error:
        event = {"kind": "callback_failed", "reason": words_of(error)}
        # The turn stands, so its caller must not be told that it failed.
        with contextlib.suppress(StateError):
            await session.audited(version, event)


_REASON = "its thread ended after the turn; the result was discarded"
_Report = Callable[[str], None]
_reporting: ContextVar[_Report | None] = ContextVar("late results of the turn", default=None)


def overdue(agent: str) -> Callable[[], None]:
    """Return the callback for the end of an agent's thread that its turn did not wait for."""
    report = _reporting.get()
    return lambda: report(agent) if report else None


class LateThreadResults:
    """Audits each thread that ends after its turn, while the session is open."""

    def __init__(self) -> None:
        self._opened = object()
        self._reports: set[asyncio.Task[Any]] = set()

    def of_turn(self, session: StoredSession, turn: int) -> Token[_Report | None]:
        """Take the reports of the threads that this turn leaves behind, until `turn_over`."""
        opened = self._opened

        def report(agent: str) -> None:
            if opened is self._opened:
                event = {"kind": "late_result", "trigger": agent, "reason": _REASON}
                self._reports.add(asyncio.ensure_future(session.audited(turn, event)))

        return _reporting.set(report)

    def turn_over(self, taking: Token[_Report | None]) -> None:
        """Leave the turn; what it left behind is reported all the same."""
        _reporting.reset(taking)

    async def written(self) -> None:
        """Wait for pending writes; a failure of the store is ignored here."""
        reports, self._reports = self._reports, set()
        await asyncio.gather(*reports, return_exceptions=True)

    async def end(self) -> None:
        """Write the reports so far, and stop."""
        self._opened = object()
        await self.written()
