"""All agents at once, each with the same inputs.

      .-> first --.
START --> second ---> aggregator, if there is one -> END
      '-> ... ----'
"""

from __future__ import annotations

from graphs.patterns.base import Stage
from nodes.patterns.parallel import AGGREGATOR


def parallel(stage: Stage) -> None:
    """Run the agents concurrently, as many at a time as `max_workers` allows."""
    has_aggregator = AGGREGATOR in stage.pipeline.roles
    after_all = stage.role(AGGREGATOR) if has_aggregator else stage.end

    stage.start(*stage.peers)
    for name in stage.peers:
        stage.add(name, after_all)
    if has_aggregator:
        stage.add(after_all, stage.end, has_word=True)
