"""Runs that an agent pauses by LangGraph's `interrupt()`: that is no failure."""

from __future__ import annotations

WAITING = "waiting"
"""Flag of a turn that waits for an answer to what an agent asked by `interrupt()`."""
ASKED = "it asked, and waits for the answer"
"""How a call ended that paused the run."""
# By their names: the steps of a turn do not know LangGraph.
_PAUSES = {("langgraph.errors", "GraphInterrupt"), ("langgraph.errors", "GraphDrained")}


def is_pause(error: BaseException) -> bool:
    """Say whether an error only ends a run of LangGraph's early, and nobody failed."""
    return any((kind.__module__, kind.__name__) in _PAUSES for kind in type(error).__mro__)
