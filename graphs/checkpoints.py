"""Checkpoint and ledger in one transaction.

A saver of ours finds the commit of the running turn in the run's configuration. When the
checkpoint that LangGraph hands over shows that very turn as done, both are written together;
that of a run that failed or waits, which does not, is not written at all.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

from graphs.paused import PausedRun
from graphs.statements import Statement
from journeys import StateError
from nodes.state import Position, Turn

COMMIT = "__journey_commit"
"""Key of the commit in `configurable`; the two underscores keep it out of the metadata."""
NO_CHECKPOINT = "00000000-0000-0000-0000-000000000000"
"""Names no checkpoint: a session begins from nothing, never from whatever is the latest."""

_PLACE = ("thread_id", "checkpoint_ns", "checkpoint_id")

Write = Callable[[list[Statement]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Commit:
    """What a turn will write once it is done."""

    number: int
    statements: Callable[[Turn, Position, str], list[Statement]]
    counts: Callable[[Mapping[str, Any]], None] = lambda values: None
    """Told the values of the state once they are written."""
    goes_on: PausedRun | None = None
    """The run that this turn goes on with; None for one that begins anew."""
    head: str | None = None
    """Id of the session's own checkpoint, where the turn goes on with a run that waited."""
    left: PausedRun = field(default_factory=PausedRun)
    """Takes what LangGraph keeps of the run where it does not come to its end."""

    def settles(self, checkpoint: Any) -> bool:
        """Say whether a checkpoint is that of this turn, done."""
        turn = checkpoint["channel_values"].get("turn")
        return bool(turn and turn["done"] and turn["number"] == self.number)

    def new_versions(self, checkpoint: Any, new_versions: Any) -> Any:
        """Return the versions of the values to write: of a run that waited, none is written yet."""
        return checkpoint["channel_versions"] if self.goes_on else new_versions

    def rows(self, checkpoint: Any) -> list[Statement]:
        """Return the statements to write with a checkpoint."""
        values = checkpoint["channel_values"]
        return self.statements(values["turn"], values["position"], checkpoint["id"])

    def written(self, checkpoint: Any) -> None:
        """Take note that a checkpoint and its rows count."""
        self.counts(checkpoint["channel_values"])


def commit_of(config: Any) -> Commit | None:
    """Return the commit of the turn that a configuration runs; None for anybody else's run."""
    commit: Commit | None = config["configurable"].get(COMMIT)
    return commit


def is_aside(config: Any) -> bool:
    """Say whether what a managed turn asks for is none of the saver's: see `of_run`.

    That is a checkpoint of a pathway, of which the saver has none, and the latest of the session,
    which need not be the head; LangGraph asks for it to see whether a run goes back in time. A turn
    that goes on with a run that waited begins from that run's checkpoint.
    """
    commit, place = commit_of(config), config["configurable"]
    if commit is None:
        return False
    latest = not place.get("checkpoint_id")
    return bool(place.get("checkpoint_ns") or latest or commit.goes_on)


def of_run(config: Any) -> CheckpointTuple | None:
    """Return a checkpoint of the run that a managed turn goes on with; None: there is none."""
    commit = commit_of(config)
    return commit.goes_on.get(config) if commit and commit.goes_on else None


def put_aside(config: Any, checkpoint: Any, metadata: Any) -> bool:
    """Keep a checkpoint of a turn that is not done, which is not written; say whether it is one."""
    commit = commit_of(config)
    # A journey that is an agent of this one has turns of its own.
    is_root = not config["configurable"].get("checkpoint_ns")
    if commit is None or (is_root and commit.settles(checkpoint)):
        return False
    commit.left.put(config, checkpoint, metadata)
    return True


def writes_put_aside(config: Any, writes: Any, task_id: str) -> bool:
    """Keep the writes on a checkpoint that is not written; say whether they are of a turn."""
    commit = commit_of(config)
    if commit is not None:
        commit.left.put_writes(config, writes, task_id)
    return commit is not None


def found_or_refused(config: Any, loaded: CheckpointTuple | None) -> CheckpointTuple | None:
    """Refuse to run a turn from a checkpoint that is gone: LangGraph would begin from nothing."""
    asked = config["configurable"].get("checkpoint_id")
    if loaded is None and commit_of(config) and asked != NO_CHECKPOINT:
        raise StateError(
            "The session's state is not in its saver: another saver was handed in, or its "
            "checkpoints were removed."
        )
    return loaded


def skipped(config: Any, checkpoint: Any) -> Any:
    """Return the configuration after a checkpoint that was not written."""
    return {"configurable": {**config["configurable"], "checkpoint_id": checkpoint["id"]}}


class JoinedSaver(BaseCheckpointSaver[Any]):
    """A saver handed in by a user, followed by a commit to our ledger.

    There are two commits, the checkpoint's first: the head is in the ledger, so a checkpoint whose
    ledger row is missing is never looked at.
    """

    def __init__(self, inner: BaseCheckpointSaver[Any], write: Write) -> None:
        super().__init__(serde=inner.serde)
        self._inner = inner
        self._write = write

    def get_next_version(self, current: Any, channel: Any) -> Any:
        """Return the next version of a channel, as the user's saver numbers it."""
        return self._inner.get_next_version(current, channel)

    async def aget_tuple(self, config: Any) -> CheckpointTuple | None:
        """Load a checkpoint; a managed turn is given its head alone."""
        if is_aside(config):
            return of_run(config)
        return found_or_refused(config, await self._inner.aget_tuple(own_place(config)))

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[CheckpointTuple]:
        """List checkpoints; none for a managed turn, which has its head."""
        if config is None or commit_of(config) is None:
            async for found in self._inner.alist(config, **options):
                yield found

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """Write a checkpoint that settles a turn, then the ledger."""
        commit = commit_of(config)
        if put_aside(config, checkpoint, metadata):
            return skipped(config, checkpoint)
        rows = commit.rows(checkpoint) if commit else []
        new_versions = commit.new_versions(checkpoint, new_versions) if commit else new_versions
        stored = await self._inner.aput(own_place(config), checkpoint, metadata, new_versions)
        if commit:
            await self._write(rows)
            commit.written(checkpoint)
        return stored

    async def aput_writes(
        self, config: Any, writes: Any, task_id: str, task_path: str = ""
    ) -> None:
        """Write pending writes; those of a managed turn are kept with its run."""
        if not writes_put_aside(config, writes, task_id):
            await self._inner.aput_writes(config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Remove a session's checkpoints."""
        await self._inner.adelete_thread(thread_id)


def own_place(config: Any) -> Any:
    """Return the place that a managed turn's configuration names, and nothing else of it.

    LangGraph's savers write the metadata of a configuration beside the checkpoint, in the clear:
    what a caller gave its tracers would be kept. The configuration of anybody else stays.
    """
    commit = commit_of(config)
    if commit is None:
        return config
    place = {k: v for k, v in config["configurable"].items() if k in _PLACE}
    if commit.head is not None:
        # The parent of what is written; that of the run that waited is in the state alone.
        place["checkpoint_id"] = commit.head
    return {"configurable": place}
