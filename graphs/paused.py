"""A run that waits: its checkpoints and writes, kept as one text in the state of its session.

So it is written in the transaction of its turn, sealed, rolled back, pruned and removed with the
state that it belongs to, whatever saver keeps that.
"""

from __future__ import annotations

import base64
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple
from langgraph.types import Interrupt

from graphs.asking import INTERRUPT
from graphs.sealing import strict_serializer

ROOT = ""
"""Namespace of the journey's own graph."""
_SERDE = strict_serializer()

Writes = list[tuple[str, Any]]


class NotStorable(ValueError):
    """An agent's graph keeps what cannot be read again as it was written."""


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
        """Return a checkpoint, a copy; None if it is none of this run."""
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
        """Id of the checkpoint from which it goes on."""
        id_: str = self.checkpoints[ROOT][0]["id"]
        return id_

    @property
    def values(self) -> Mapping[str, Any]:
        """The values of the journey's state, as far as it came."""
        values: Mapping[str, Any] = self.checkpoints[ROOT][0]["channel_values"]
        return values

    @property
    def interrupts(self) -> list[Interrupt]:
        """Questions on which the run stopped."""
        tasks = self.writes.get((ROOT, self.id), {})
        given = [value for writes in tasks.values() for name, value in writes if name == INTERRUPT]
        return [asked for value in given for asked in value]

    def continued(self, later: PausedRun) -> PausedRun:
        """Return it as it went on, to wait again."""
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

    def packed(self) -> str:
        """Return it as text.

        Raises:
            NotStorable: It holds objects that could not be read again.
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
            raise NotStorable("objects of its own types")
        return base64.b64encode(data).decode("ascii")

    @classmethod
    def unpacked(cls, text: str) -> PausedRun:
        """Return what was packed."""
        # Of older releases there is no third part.
        checkpoints, listed, *more = _SERDE.loads_typed(("msgpack", base64.b64decode(text)))
        run = cls({name: (checkpoint, about) for name, (checkpoint, about) in checkpoints.items()})
        run.in_place.update(*more)
        for namespace, id_, task, writes in listed:
            kept = [(name, value) for name, value in writes]
            run.writes.setdefault((namespace, id_), {})[task] = kept
        return run
