"""Definition files that tests load and serve, and what does their work."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from journeygraph.graphs.records.definitions import DefinitionDraft
from journeygraph.journeys.files.loading import document_kind

CLAIM = """
id: claim
name: Claim
instructions: Settle a claim.
tools:
  - type: function
    function:
      name: find_policy
      description: Look a policy up.
      parameters: {type: object, properties: {number: {type: string}}, required: [number]}
states:
  report:
    kind: collect
    agents: [clerk]
    outputs: {number: {type: string, description: Number of the policy}}
    next: assess
  assess:
    kind: tool
    on_arrival: run
    calls: [find_policy]
    agents: [assessor]
transitions:
  - {to: report, from: "*", patterns: [start over]}
"""
HOURS = """
id: hours
instructions: Tell when we are open.
states:
  answer: {agents: [teller]}
"""
MANNERS = """
guidelines:
  - {id: angry, condition: the customer is angry, action: apologise, when: "message.contains('!')"}
"""
DESK = """
id: desk
instructions: Help with claims.
journeys: [claim.yaml, hours.yaml]
"""
FILES = {"claim.yaml": CLAIM, "hours.yaml": HOURS, "manners.yaml": MANNERS}

WORK = '''
def clerk(ask):
    """Ask for the number of a policy."""
    found = [word for word in ask["message"].split() if word.startswith("P-")]
    return {"response": "Noted.", "number": found[0]} if found else {"response": "Which policy?"}


def assessor(ask):
    """Say whose policy it is."""
    holder = ask["tool_results"]["find_policy"]["holder"]
    told = [rule["action"] for rule in ask.get("guidelines", ())]
    return {"response": " ".join([f"It is the policy of {holder}.", *told])}


def teller(ask):
    """Tell the hours."""
    return {"response": "From nine to five."}


def find_policy(number: str) -> dict:
    """Look a policy up."""
    return {"holder": "Ada", "number": number}


AGENTS = {"clerk": clerk, "assessor": assessor, "teller": teller}
TOOLS = {"find_policy": find_policy}
'''


def work() -> Mapping[str, Any]:
    """What the module of the claim desk offers."""
    space: dict[str, Any] = {}
    exec(WORK, space)
    return space


def written(folder: Path, files: Mapping[str, str] = FILES) -> Path:
    """A folder with the files in it, and the module `work.py`."""
    for name, text in {**files, "work.py": WORK}.items():
        (folder / name).write_text(text)
    return folder


def draft(name: str, text: str, **beside: str) -> DefinitionDraft:
    """A definition as `load` makes it."""
    return DefinitionDraft(document_kind(text, name), name.partition(".")[0], name, text, beside)
