"""An agent in a file: it greets, asks four things, takes corrections, and hands over to a person.

The file to read is `collecting_agent/default.yaml`; `casual_agent` and `minimal_agent` are others
of its kind. `journeygraph demo default_agent` shows it, without a model.
"""

from pathlib import Path

from journeygraph import load_journey

DefaultAgent = load_journey(Path(__file__).with_name("collecting_agent") / "default.yaml")

DEMO_MESSAGES = (
    "Hi, my name is Ana Torres",
    "ana.torres@home",
    "it's ana.torres@",
    "ana.torres@example.com",
    "My cat has just knocked over the coffee, sorry!",
    "Why do you need my phone number?",
    "+34 912 345 678",
    "Sorry, my email is ana@example.org",
    "14 Harbour Street, Springfield 62704",
)
