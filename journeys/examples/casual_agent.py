"""An agent that speaks casually, and asks in any order; see `default_agent`."""

from pathlib import Path

from journeygraph import load_journey

CasualAgent = load_journey(Path(__file__).with_name("collecting_agent") / "casual.yaml")

DEMO_MESSAGES = (
    "Hi! My name is Jo, jo@example.com",
    "rather not say",
    "first time",
)
