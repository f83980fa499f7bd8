"""Checkpoint and ledger in one transaction.

A saver of ours finds the commit of the running turn in the run's configuration. When the
checkpoint that LangGraph hands over shows that very turn as done, both are written together;
a failed run's checkpoint, which still shows the turn before, is not written at all.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple

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

    def settles(self, checkpoint: Any) -> bool:
        """Say whether a checkpoint is that of this turn, done."""
        turn = checkpoint["channel_values"].get("turn")
        return bool(turn and turn["done"] and turn["number"] == self.number)

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
    """Say whether a managed turn is asked about what it must not look at.

    That is a checkpoint of a pathway, of which there is none, and the latest of the session,
    which need not be the head; LangGraph asks for it to see whether a run goes back in time.
    """
    place = config["configurable"]
    latest = not place.get("checkpoint_id")
    return commit_of(config) is not None and bool(place.get("checkpoint_ns") or latest)


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
            return None
        return found_or_refused(config, await self._inner.aget_tuple(own_place(config)))

    async def alist(self, config: Any, **options: Any) -> AsyncIterator[CheckpointTuple]:
        """List checkpoints; none for a managed turn, which has its head."""
        if config is None or commit_of(config) is None:
            async for found in self._inner.alist(config, **options):
                yield found

    async def aput(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
        """Write a checkpoint that settles a turn, then the ledger."""
        commit = commit_of(config)
        if commit and not commit.settles(checkpoint):
            return skipped(config, checkpoint)
        rows = commit.rows(checkpoint) if commit else []
        stored = await self._inner.aput(own_place(config), checkpoint, metadata, new_versions)
        if commit:
            await self._write(rows)
            commit.written(checkpoint)
        return stored

    async def aput_writes(self, config: Any, *args: Any, **kwargs: Any) -> None:
        """Write pending writes, which a managed turn does not have."""
        if commit_of(config) is None:
            await self._inner.aput_writes(config, *args, **kwargs)

    async def adelete_thread(self, thread_id: str) -> None:
        """Remove a session's checkpoints."""
        await self._inner.adelete_thread(thread_id)


def own_place(config: Any) -> Any:
    """Return the place that a managed turn's configuration names, and nothing else of it.

    LangGraph's savers write the metadata of a configuration beside the checkpoint, in the clear:
    what a caller gave its tracers would be kept. The configuration of anybody else stays.
    """
    if commit_of(config) is None:
        return config
    place = config["configurable"]
    return {"configurable": {name: place[name] for name in _PLACE if name in place}}
