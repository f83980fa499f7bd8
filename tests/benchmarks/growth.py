"""Costs of a long session: its late turns against its early ones, in time and in bytes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.material import Referral, questions, session
from tests.benchmarks.measure import Figure, Pairs, Steps, amount, duration, scratch, timed

LATE, TURNS, SESSIONS = 950, 50, 3
_WRITTEN = (
    "SELECT checkpoints.* FROM checkpoints JOIN turns USING (checkpoint_id) WHERE version = ?",
    "SELECT b.* FROM checkpoints AS c JOIN turns USING (checkpoint_id) "
    "JOIN json_each(CAST(c.metadata AS TEXT), '$.__values') AS v "
    "JOIN checkpoint_blobs AS b ON b.channel = v.key AND b.version = v.value "
    "WHERE turns.version = ?1 AND NOT EXISTS (SELECT * FROM checkpoints AS p "
    "JOIN json_each(CAST(p.metadata AS TEXT), '$.__values') AS w "
    "WHERE p.checkpoint_id = c.parent_checkpoint_id AND w.value = v.value)",
    "SELECT * FROM turns WHERE version = ?",
    "SELECT * FROM audit WHERE turn = ?",
)
_AGAINST = f"its turns 1-{TURNS}"


async def growth(steps: Steps) -> list[Figure]:
    """Turns 951-1000 of a session, in alternation with turns 1-50 of its twin."""
    time, stored, sums, files = Pairs(), Pairs(), Pairs(), Pairs()
    for number in range(SESSIONS):
        with scratch() as folder:
            old = await Talker.begin(folder / "old.db", number)
            for _ in steps(f"session {number + 1} of {SESSIONS}, up to turn {LATE}", LATE):
                await old.turn()
            young = await Talker.begin(folder / "young.db", number)
            for _ in steps(f"turns {LATE + 1}-{LATE + TURNS} beside turns 1-{TURNS}", TURNS):
                time.add_times(await timed(old.turn), await timed(young.turn))
            late, early = old.stored(young.turns), young.stored(young.turns)
            for pair in zip(late, early, strict=True):
                stored.add(*pair)
            sums.add(sum(late), sum(early))
            files.add(old.file_size(), young.file_size())
            await old.journey.close()
            await young.journey.close()
    what = f"turns {LATE + 1}-{LATE + TURNS}, SQLite"
    return [
        time.figure(f"{what}: time", _AGAINST, 1.15, duration),
        stored.figure(f"{what}: bytes stored by a turn", _AGAINST, 1.15, amount),
        sums.shown(f"the same, all {TURNS}; the window fills up to turn 20", _AGAINST, amount),
        files.shown(f"file after turn {LATE + TURNS}", f"after turn {TURNS}", amount),
    ]


@dataclass(slots=True)
class Talker:
    """A session that is talked to: every fifth message asks for a detour, every tenth moves."""

    journey: Referral
    file: Path
    said: Iterator[str]
    turns: int = 0

    @classmethod
    async def begin(cls, file: Path, seed: int) -> Talker:
        return cls(await session(f"sqlite:///{file}"), file, questions(seed))

    async def turn(self) -> None:
        self.turns += 1
        asked = {0: " copay", 5: " invoice" if self.turns % 20 == 5 else " slot"}
        await self.journey.process_message(next(self.said) + asked.get(self.turns % 10, ""))

    def stored(self, turns: int) -> list[int]:
        """Bytes that each of the last turns added; so many checkpoints are never pruned."""
        with closing(sqlite3.connect(self.file)) as database:
            last = range(self.turns - turns + 1, self.turns + 1)
            return [sum(_bytes_of(database, turn)) for turn in last]

    def file_size(self) -> int:
        with closing(sqlite3.connect(self.file)) as database:
            pages, page = (
                database.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "page_size")
            )
        return int(pages * page)


def _bytes_of(database: sqlite3.Connection, turn: int) -> Iterator[int]:
    """The length of every value in a turn's checkpoint, row of the ledger, and audit."""
    for query in _WRITTEN:
        for row in database.execute(query, (turn,)):
            for value in row:
                yield len(value) if isinstance(value, bytes) else len(str(value).encode())
