"""The shape: spec to LangGraph graph, the patterns, the manager of a session, the stores."""

from graphs.compile import build
from graphs.manager import PathwayManager

__all__ = ["PathwayManager", "build"]
