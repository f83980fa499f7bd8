"""Servers of the Model Context Protocol: their tools for agents, their resources to be read."""

from journeygraph.nodes.llm.mcp.connected import Connected, Resource, open_mcp

__all__ = ["Connected", "Resource", "open_mcp"]
