"""The patterns in which the agents of a pathway work together; one file each.

All have one signature: a pathway and a way to add its agents in, a graph out.
"""

from graphs.patterns.base import Builder
from graphs.patterns.parallel import parallel
from graphs.patterns.sequential import sequential

PATTERNS: dict[str, Builder] = {"sequential": sequential, "parallel": parallel}

__all__ = ["PATTERNS", "Builder", "parallel", "sequential"]
