"""The compiler from spec to LangGraph graph, the patterns, sessions and their stores, drawings."""
