"""The smallest agent, for trying things out; see `default_agent`."""

from pathlib import Path

from journeygraph import load_journey

MinimalAgent = load_journey(Path(__file__).with_name("collecting_agent") / "minimal.yaml")

DEMO_MESSAGES = ("Hello", "Ana Torres", "ana@example.com")
