"""What a long session costs: its late turns against its early ones, in time and in bytes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.material import Referral, questions, session
from tests.benchmarks.measure import Figure, Pairs, Steps, amount, duration, scratch, timed

LATE, TURNS, SESSIONS = 950, 50, 3
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
            late, early = await _side_by_side(old, young, time, stored, steps)
            sums.add(late, early)
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


async def _side_by_side(
    old: Talker, young: Talker, time: Pairs, stored: Pairs, steps: Steps
) -> tuple[int, int]:
    late = early = 0
    for _ in steps(f"turns {LATE + 1}-{LATE + TURNS} beside turns 1-{TURNS}", TURNS):
        time.add_times(await timed(old.turn), await timed(young.turn))
        sizes = old.stored(), young.stored()
        stored.add(*sizes)
        late, early = late + sizes[0], early + sizes[1]
    return late, early


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

    def stored(self) -> int:
        """Bytes that the last turn added: its checkpoint, its row of the ledger, its audit."""
        queries = {
            "SELECT * FROM checkpoints ORDER BY checkpoint_id DESC LIMIT 1": (),
            "SELECT * FROM turns WHERE version = ?": (self.turns,),
            "SELECT * FROM audit WHERE turn = ?": (self.turns,),
        }
        with closing(sqlite3.connect(self.file)) as database:
            found = [database.execute(sql, values).fetchall() for sql, values in queries.items()]
        return sum(_length(value) for rows in found for row in rows for value in row)

    def file_size(self) -> int:
        with closing(sqlite3.connect(self.file)) as database:
            pages, page = (
                database.execute(f"PRAGMA {name}").fetchone()[0]
                for name in ("page_count", "page_size")
            )
        return int(pages * page)


def _length(value: Any) -> int:
    return len(value) if isinstance(value, bytes) else len(str(value).encode())
