"""Checkpoint and ledger in one transaction; the checkpoints of a run that waits.

Our savers find the commit of the running turn in the run's configuration. If a checkpoint contains
that turn as done, both are written together. Checkpoints of a failed or waiting run are not
written. A waiting run is stored as one text in the state of its session, with any saver: it is
written in the transaction of its turn, and sealed, rolled back, pruned and deleted with that state.
"""

from __future__ import annotations

import base64
import copy
from abc import abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any, Self

from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.types import Interrupt

from journeygraph.graphs.steps import COMMIT, INTERRUPT
from journeygraph.graphs.storage import statements
from journeygraph.graphs.storage.errors import DamagedError
from journeygraph.graphs.storage.sealing import (
    RefusedError,
    Seal,
    state_of,
    strict_serializer,
)
from journeygraph.graphs.storage.statements import Row, Sql, Statement, thread_of
from journeygraph.journeys.config import TENANT
from journeygraph.nodes.json_data import LARGE, uncollected
from journeygraph.nodes.state.session import Position

ROOT = ""
"""Namespace of the journey's own graph."""
_SERDE = strict_serializer()

_WHOSE = ("journey", "birth")
"""Names in a position that tell whose it is; sessions of older releases have no birth."""

Writes = list[tuple[str, Any]]


class NotStorable(ValueError):
    """The state of an agent's graph cannot be serialized without loss."""


@dataclass(slots=True)
class PausedRun:
    """The checkpoints of a run, the newest of each graph in it, and the writes on them.

    Attributes:
        checkpoints: Namespace -> checkpoint and metadata.
        writes: Namespace and id of a checkpoint -> task -> writes.
        in_place: Tasks of pathways whose agent ran without a run of the pathway's subgraph.
    """

    checkpoints: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    writes: dict[tuple[str, str], dict[str, Writes]] = field(default_factory=dict)
    in_place: set[str] = field(default_factory=set)

    def put(self, config: Any, checkpoint: Any, metadata: Any) -> None:
        """Keep a checkpoint."""
        namespace = config["configurable"].get("checkpoint_ns", ROOT)
        self.checkpoints[namespace] = (checkpoint, metadata)

    def put_writes(self, config: Any, writes: Sequence[tuple[str, Any]], task_id: str) -> None:
        """Keep the writes of a task, all of them at once."""
        place = config["configurable"]
        on = (place.get("checkpoint_ns", ROOT), place["checkpoint_id"])
        self.writes.setdefault(on, {})[task_id] = list(writes)

    def get(self, config: Any) -> CheckpointTuple | None:
        """Return a copy of a checkpoint; None if it is not of this run."""
        place = config["configurable"]
        namespace, wanted = place.get("checkpoint_ns", ROOT), place.get("checkpoint_id")
        if namespace not in self.checkpoints:
            return None
        checkpoint, metadata = copy.deepcopy(self.checkpoints[namespace])
        if wanted not in (None, "", checkpoint["id"]):
            return None
        tasks = copy.deepcopy(self.writes.get((namespace, checkpoint["id"]), {}))
        pending = [(task, *write) for task, writes in tasks.items() for write in writes]
        where = {"thread_id": place["thread_id"], "checkpoint_ns": namespace}
        config = {"configurable": {**where, "checkpoint_id": checkpoint["id"]}}
        return CheckpointTuple(config, checkpoint, metadata, None, pending)

    @property
    def id(self) -> str:
        """Id of the checkpoint from which it resumes."""
        id_: str = self.checkpoints[ROOT][0]["id"]
        return id_

    @property
    def values(self) -> Mapping[str, Any]:
        """The values of the journey's state at that point."""
        values: Mapping[str, Any] = self.checkpoints[ROOT][0]["channel_values"]
        return values

    @property
    def interrupts(self) -> list[Interrupt]:
        """Questions on which the run stopped."""
        tasks = self.writes.get((ROOT, self.id), {})
        given = [value for writes in tasks.values() for name, value in writes if name == INTERRUPT]
        return [asked for value in given for asked in value]

    def continued(self, later: PausedRun) -> PausedRun:
        """Return the resumed run, to wait again."""
        checkpoints = {**self.checkpoints, **later.checkpoints}
        both = {
            on: {**self.writes.get(on, {}), **later.writes.get(on, {})}
            for on in self.writes.keys() | later.writes.keys()
            if on[0] in checkpoints and checkpoints[on[0]][0]["id"] == on[1]
        }
        return PausedRun(checkpoints, both, self.in_place | later.in_place)

    def going_on(self, values: Mapping[str, Any]) -> PausedRun:
        """Return it with other values in the journey's state."""
        checkpoint, metadata = self.checkpoints[ROOT]
        held = {**checkpoint["channel_values"], **values}
        root = ({**checkpoint, "channel_values": held}, metadata)
        return PausedRun({**self.checkpoints, ROOT: root}, self.writes, self.in_place)

    def with_position(self, position: Position) -> PausedRun:
        """Return it for a fork of its session, which has another position."""
        before = self.values["position"]
        changed: dict[str, tuple[Any, Any]] = {}
        for namespace, (checkpoint, metadata) in self.checkpoints.items():
            held = checkpoint["channel_values"]
            # A journey that is an agent of this one has a position of its own.
            known = held.get("position", {})
            if [known.get(name) for name in _WHOSE] == [before.get(name) for name in _WHOSE]:
                checkpoint = {**checkpoint, "channel_values": {**held, "position": position}}
            changed[namespace] = (checkpoint, metadata)
        return PausedRun(changed, self.writes, self.in_place)

    def packed(self) -> str:
        """Return it as text.

        Raises:
            NotStorable: It contains objects that cannot be deserialized.
        """
        listed = [
            [*on, task, writes]
            for on, tasks in self.writes.items()
            for task, writes in tasks.items()
        ]
        try:
            kind, data = _SERDE.dumps_typed([self.checkpoints, listed, sorted(self.in_place)])
            # A type that is not known to be safe would come back as something else, silently.
            faithful = _SERDE.dumps_typed(_SERDE.loads_typed((kind, data)))[1] == data
        except Exception as error:  # of whatever the objects in it raise
            raise NotStorable(str(error)) from error
        if not faithful:
            raise NotStorable("objects of types that cannot be stored")
        return base64.b64encode(data).decode("ascii")

    @classmethod
    def unpacked(cls, text: str) -> PausedRun:
        """Return what was packed."""
        checkpoints, listed, in_place = _SERDE.loads_typed(("msgpack", base64.b64decode(text)))
        run = cls({name: (checkpoint, about) for name, (checkpoint, about) in checkpoints.items()})
        run.in_place.update(in_place)
        for namespace, id_, task, writes in listed:
            kept = [(name, value) for name, value in writes]
            run.writes.setdefault((namespace, id_), {})[task] = kept
        return run


NO_CHECKPOINT = "00000000-0000-0000-0000-000000000000"
"""Id of no checkpoint: a session starts empty, never from the latest checkpoint."""

PLACE = ("thread_id", "checkpoint_ns", "checkpoint_id")

Write = Callable[[list[Statement]], Awaitable[None]]


@dataclass(slots=True)
class Commit:
    """Commit of a turn: the statements to write once it is done."""

    number: int
    statements: Callable[[Mapping[str, Any], str], list[Statement]]
    """Return them for the values of the state and the id of its checkpoint."""
    seal: Seal
    """Encryption of the session's state."""
    counts: Callable[[Mapping[str, Any]], None] = lambda values: None
    """Callback for the values of the state after the write."""
    head: Row | None = None
    """Row of the version from which the turn starts, with its state; None: the session starts."""
    goes_on: PausedRun | None = None
    """The run that this turn resumes; None for a new run."""
    left: PausedRun = field(default_factory=PausedRun)
    """Collects LangGraph's checkpoints of an unfinished run."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """The values of the state after the write."""

    def settles(self, checkpoint: Any) -> bool:
        """Return whether a checkpoint contains this turn as done."""
        turn = checkpoint["channel_values"].get("turn")
        return bool(turn and turn["done"] and turn["number"] == self.number)

    def defers(self, config: Any, checkpoint: Any, metadata: Any) -> bool:
        """Collect the checkpoint of an unfinished turn, unwritten; return whether it is one."""
        # A journey that is an agent of this one has turns of its own.
        if not config["configurable"].get("checkpoint_ns") and self.settles(checkpoint):
            return False
        self.left.put(config, checkpoint, metadata)
        return True

    def new_versions(self, checkpoint: Any, new_versions: Any) -> Any:
        """Return the versions of the values to write; after a waiting run, all are new."""
        return checkpoint["channel_versions"] if self.goes_on else new_versions

    def rows(self, checkpoint: Any) -> list[Statement]:
        """Return the statements to write with a checkpoint."""
        return self.statements(checkpoint["channel_values"], checkpoint["id"])

    def written(self, checkpoint: Any) -> None:
        """Record that a checkpoint and its rows are committed."""
        self.values = checkpoint["channel_values"]
        self.counts(self.values)


def commit_of(config: Any) -> Commit | None:
    """Return the commit of the turn that a configuration runs; None for other runs."""
    commit: Commit | None = config["configurable"].get(COMMIT)
    return commit


class TurnSaver(BaseCheckpointSaver[Any]):
    """A saver that loads a managed turn's head and writes its checkpoint with its ledger.

    Every other checkpoint of a managed turn stays with its run. Runs without a commit are loaded
    and saved as usual.
    """

    async def aget_tuple(self, config: Any) -> CheckpointTuple | None:
        """Load a checkpoint; a managed turn gets only its head.

        Raises:
            DamagedError: The head is missing. LangGraph would start with an empty state.
        """
        commit = commit_of(config)
        if commit is None:
            return await self._load(config)
        if commit.goes_on or _is_aside(config):
            return commit.goes_on.get(config) if commit.goes_on else None
        if commit.head is None:
            return None
        if found := await self.state_in(commit.head, commit.seal):
            return found
        raise DamagedError(
            "The session's state is not in its saver: another saver was given, or its "
            "checkpoints were removed."
        )

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[CheckpointTuple]:
        """List checkpoints; none for a managed turn, which has its head."""
        if config is None or commit_of(config) is None:
            async for found in self._listed(config, **options):
                yield found

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """Write a checkpoint, with the ledger of its turn if it completes one."""
        commit = commit_of(config)
        if commit is None:
            return await self._save(config, checkpoint, metadata, new_versions)
        if commit.defers(config, checkpoint, metadata):
            return {"configurable": {**config["configurable"], "checkpoint_id": checkpoint["id"]}}
        new_versions = commit.new_versions(checkpoint, new_versions)
        place = _own_place(config, commit)
        stored = await self._save(place, checkpoint, metadata, new_versions, commit)
        commit.written(checkpoint)
        return stored

    async def aput_writes(
        self, config: Any, writes: Any, task_id: str, task_path: str = ""
    ) -> None:
        """Write pending writes; those of a managed turn stay with its run."""
        if commit := commit_of(config):
            commit.left.put_writes(config, writes, task_id)
        else:
            await self._save_writes(config, writes, task_id, task_path)

    # LangGraph reads it for every run, and Python would make it anew.
    aput_writes.__signature__ = signature(aput_writes)  # type: ignore[attr-defined]

    async def fork(self, thread: str, state: CheckpointTuple, commit: Commit) -> None:
        """Write a state as the first one of another session, with the rows of its commit."""
        checkpoint: Any = state.checkpoint
        place = {"configurable": {"thread_id": thread, "checkpoint_ns": ROOT}}
        versions = checkpoint["channel_versions"]
        await self._save(place, checkpoint, state.metadata, versions, commit)
        commit.written(checkpoint)

    @abstractmethod
    async def state_in(self, row: Row, seal: Seal) -> CheckpointTuple | None:
        """Return the state of a version from its row; None if it was removed."""

    @abstractmethod
    async def _load(self, config: Any) -> CheckpointTuple | None: ...

    @abstractmethod
    def _listed(self, config: Any, **options: Any) -> AsyncIterator[CheckpointTuple]: ...

    @abstractmethod
    async def _save(
        self,
        config: Any,
        checkpoint: Any,
        metadata: Any,
        new_versions: Any,
        commit: Commit | None = None,
    ) -> Any: ...

    @abstractmethod
    async def _save_writes(
        self, config: Any, writes: Any, task_id: str, task_path: str
    ) -> None: ...


class StoreSaver(TurnSaver):
    """A saver of our stores, whose checkpoints share equal values.

    A value is stored by the version of its channel, and sealed for that place.

    Attributes:
        seal: Encryption of threads that are no sessions.
        tenant: The tenant of its sessions.
    """

    seal: Seal
    tenant = TENANT

    def of(self, tenant: str) -> Self:
        """Return the saver of another tenant, on the same connections."""
        saver = copy.copy(self)
        saver.tenant = tenant
        return saver

    def bound(self, row: Mapping[str, Any]) -> Row:
        """Return the parameters of a statement for the tenant, whatever tenant they name."""
        given: Row = {**row, "tenant": self.tenant}
        if "session" in row:
            given["thread"] = thread_of(self.tenant, row["session"])
        return given

    def all_bound(self, written: Iterable[Statement]) -> list[Statement]:
        """Return statements with the parameters of `bound`."""
        return [replace(one, rows=[*map(self.bound, one.rows)]) for one in written]

    async def is_replaced(self) -> bool:
        """Return whether another file than the opened one is in its place now."""
        return False

    @property
    def is_full(self) -> bool:
        """Return whether the disk was full at a write of the last seconds."""
        return False

    async def compact(self) -> None:
        """Remove deleted data from the file of the database; a server does this itself."""

    @abstractmethod
    async def read(self, query: Sql, **parameters: Any) -> list[Row]:
        """Return the rows of a query as dicts."""

    def _packed(self, value: Any, seal: Seal, session: str, place: str) -> tuple[str, bytes]:
        """Return a value as it is stored; what is sealed is bound to its place."""
        if not seal.hides:
            return self.serde.dumps_typed(value)
        with state_of(session, place):
            packed: tuple[str, bytes] = seal.serializer().dumps_typed(value)
        return packed

    def _unpacked(self, kind: str, blob: bytes, seal: Seal, session: str, place: str) -> Any:
        """Return a value that was stored in a place.

        Raises:
            RefusedError: It is not encrypted, or cannot be decrypted.
        """
        load = seal.serializer().loads_typed if seal.hides else self.serde.loads_typed
        try:
            with state_of(session, place) if seal.hides else nullcontext():
                return load((kind, blob)) if len(blob) < LARGE else uncollected(load, (kind, blob))
        except RefusedError as error:
            raise error.of(f"The state of session '{session}' at '{place}'") from error

    def _values(
        self, place: Row, checkpoint: Any, new_versions: Iterable[str], seal: Seal
    ) -> Statement:
        """Return the statement that writes the new values."""
        session, rows = place["thread_id"], []
        values = checkpoint["channel_values"]
        for channel in values.keys() & new_versions:
            version = checkpoint["channel_versions"][channel]
            kind, blob = self._packed(values[channel], seal, session, f"{channel}|{version}")
            row: Row = {"thread": session, "namespace": place.get("checkpoint_ns", "")}
            rows.append({**row, "channel": channel, "version": version, "type": kind, "blob": blob})
        return Statement(statements.SAVE_VALUE, rows)

    def _opened_values(
        self, session: str, checkpoint: Any, stored: Iterable[tuple[str, str, bytes]], seal: Seal
    ) -> dict[str, Any]:
        """Return the values of a state, each opened for its own place."""
        versions = checkpoint["channel_versions"]
        return {
            channel: self._unpacked(kind, blob, seal, session, f"{channel}|{versions.get(channel)}")
            for channel, kind, blob in stored
        }


def found_at(row: Row, checkpoint: Any, metadata: Any, writes: Any) -> CheckpointTuple:
    """Return a checkpoint from its row."""
    id_, parent = row["checkpoint_id"], row["parent_checkpoint_id"]
    return CheckpointTuple(
        config_at(row, id_),
        checkpoint,
        metadata,
        config_at(row, parent) if parent else None,
        writes,
    )


def config_at(place: Row, checkpoint_id: str) -> Any:
    """Return the configuration that names a checkpoint."""
    values = (place["thread_id"], place.get("checkpoint_ns", ""), checkpoint_id)
    return {"configurable": dict(zip(PLACE, values, strict=True))}


class JoinedSaver(TurnSaver):
    """A saver of the user, followed by a commit to our ledger.

    There are two commits, the checkpoint's first. The head is in the ledger, so a checkpoint
    without a ledger row is never read.
    """

    def __init__(self, inner: BaseCheckpointSaver[Any], write: Write) -> None:
        super().__init__(serde=inner.serde)
        self._inner = inner
        self._write = write

    def get_next_version(self, current: Any, channel: Any) -> Any:
        """Return the next version of a channel, as the user's saver numbers it."""
        return self._inner.get_next_version(current, channel)

    async def adelete_thread(self, thread_id: str) -> None:
        """Remove a session's checkpoints."""
        await self._inner.adelete_thread(thread_id)

    async def state_in(self, row: Row, seal: Seal) -> CheckpointTuple | None:
        """Return the state of a version from the user's saver, which encrypts it itself."""
        place: Row = {"thread_id": thread_of(row["tenant"], row["session_id"])}
        return await self._inner.aget_tuple(config_at(place, row["checkpoint_id"]))

    async def _load(self, config: Any) -> CheckpointTuple | None:
        return await self._inner.aget_tuple(config)

    def _listed(self, config: Any, **options: Any) -> AsyncIterator[CheckpointTuple]:
        return self._inner.alist(config, **options)

    async def _save(
        self,
        config: Any,
        checkpoint: Any,
        metadata: Any,
        new_versions: Any,
        commit: Commit | None = None,
    ) -> Any:
        stored = await self._inner.aput(config, checkpoint, metadata, new_versions)
        if commit:
            await self._write(commit.rows(checkpoint))
        return stored

    async def _save_writes(self, config: Any, writes: Any, task_id: str, task_path: str) -> None:
        await self._inner.aput_writes(config, writes, task_id, task_path)


def _is_aside(config: Any) -> bool:
    """Return whether a managed turn requests another checkpoint than its head.

    That is a checkpoint of a pathway, which the saver does not have, or the latest of the session,
    which may differ from the head. LangGraph requests it to detect a run from an older checkpoint.
    """
    place = config["configurable"]
    return bool(place.get("checkpoint_ns") or not place.get("checkpoint_id"))


def _own_place(config: Any, commit: Commit) -> Any:
    """Return only the place from a managed turn's configuration.

    LangGraph's savers write the metadata of a configuration next to the checkpoint, unencrypted:
    data of the caller for tracers would be stored.
    """
    place = {k: v for k, v in config["configurable"].items() if k in PLACE}
    if commit.head is not None:
        # The parent of what is written; a run that waited has another one, in the state alone.
        place["checkpoint_id"] = commit.head["checkpoint_id"]
    return {"configurable": place}
