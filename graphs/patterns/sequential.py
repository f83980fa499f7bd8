"""One agent after the other; each sees the outputs of those before.

START -> first -> second -> ... -> END
"""

from __future__ import annotations

from graphs.patterns.base import Stage


def sequential(stage: Stage) -> None:
    """Run the agents in declared order; after one that failed nobody is asked."""
    last = stage.peers[-1]
    stage.start(stage.peers[0])
    for name, following in zip(stage.peers, [*stage.peers[1:], stage.end], strict=True):
        stage.add(name, following, has_word=name == last)
