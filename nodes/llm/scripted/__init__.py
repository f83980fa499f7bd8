"""A model that answers from a script, for tests: what it says, how it fails, what it was asked."""

from nodes.llm.scripted.call import Call
from nodes.llm.scripted.faults import Fault
from nodes.llm.scripted.model import ScriptedModel
from nodes.llm.scripted.saying import (
    ask,
    back,
    cancel,
    choose,
    clear,
    confirm,
    correct,
    deny,
    explain,
    fill,
    go,
    human,
    off_topic,
    repeat,
    restart,
    says,
    skip,
    status,
    wait,
)
from nodes.llm.scripted.script import Answer, Script
from nodes.llm.scripted.slow import Slow
from nodes.llm.scripted.speech import UseTool
from nodes.llm.scripted.verdict import leads_nowhere, leads_to, rules_hold

__all__ = [
    "Answer",
    "Call",
    "Fault",
    "Script",
    "ScriptedModel",
    "Slow",
    "UseTool",
    "ask",
    "back",
    "cancel",
    "choose",
    "clear",
    "confirm",
    "correct",
    "deny",
    "explain",
    "fill",
    "go",
    "human",
    "leads_nowhere",
    "leads_to",
    "off_topic",
    "repeat",
    "restart",
    "rules_hold",
    "says",
    "skip",
    "status",
    "wait",
]
