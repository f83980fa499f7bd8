"""The next release of the diaries, in which a pathway has another name."""

from __future__ import annotations

from journeygraph import NEVER, Journey, MergeStrategy, Pathway, ReturnToPrevious, Transition
from tests.faults import desk
from tests.support.clerks import said

NOTED, HOME = "noted again", "log"


class Diary(Journey):
    """Tell the day, and hear it twice."""

    __version__ = "2"
    __stranded__ = "refuse"

    class LogPath(Pathway):
        __agents__ = ["listener", "writer"]
        __accumulate__ = {"heard": MergeStrategy.APPEND, "count": MergeStrategy.SUM}
        __complete_when__ = NEVER

    class AsidePath(Pathway):
        __agents__ = ["writer"]
        __accumulate__ = {"heard": MergeStrategy.APPEND, "count": MergeStrategy.SUM}
        __return_behavior__ = ReturnToPrevious()

    __transitions__ = [Transition(said("by the way"), to_pathway="aside")]


class SecretDiary(Diary):
    """Tell the day in secret."""

    __sensitive__ = True


AGENTS = {**desk.AGENTS, "writer": desk.writer(NOTED)}
