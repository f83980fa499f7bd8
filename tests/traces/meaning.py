"""Scripted model of a trace: it answers with the commands that the trace names."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from journeygraph.nodes.commands import (
    Back,
    Cancel,
    Choose,
    Clear,
    Command,
    Confirm,
    Correct,
    Deny,
    Explain,
    Fill,
    Go,
    Human,
    OffTopic,
    Repeat,
    Restart,
    Skip,
    Status,
    Wait,
)
from journeygraph.nodes.llm.scripted import Call

NAMES: Mapping[type, str] = {
    Cancel: "cancel",
    Choose: "choose",
    Clear: "clear",
    Confirm: "confirm",
    Correct: "correct",
    Deny: "deny",
    Explain: "explain",
    Fill: "fill",
    Go: "go",
    Human: "human",
    OffTopic: "off_topic",
    Back: "back",
    Repeat: "repeat",
    Restart: "restart",
    Status: "status",
    Skip: "skip",
    Wait: "wait",
}


@dataclass
class Meant:
    """Answers a call about a message with what the trace says that it means."""

    message: str = ""
    means: Sequence[Command] = ()
    asked: list[Mapping[str, Any]] = field(default_factory=list)

    def said(self, message: str, means: Sequence[Command]) -> None:
        self.message, self.means = message, means

    def __call__(self, call: Call) -> dict[str, Any]:
        moment = json.loads(call.message)
        assert moment["user_message"] == self.message
        self.asked.append(moment)
        questions = moment.get("questions", ())
        goes = {command.target for command in self.means if isinstance(command, Go)}
        open_now = {question["leads_to"] for question in questions}
        commands = [
            command
            for command in self.means
            if not (isinstance(command, Go) and command.target in open_now)
        ]
        answers: dict[str, Any] = {
            "verdicts": [_verdict(question, goes) for question in questions],
            "commands": [_as_json(call, command) for command in commands],
            "rules_that_hold": [],
            "reply": None,
            "asks": None,
        }
        wanted = call.schema["properties"] if call.schema else {}
        return {name: answers[name] for name in wanted}


def _verdict(question: Mapping[str, Any], goes: set[str]) -> dict[str, Any]:
    holds = question["leads_to"] in goes
    return {
        "question": question["question"],
        "holds": holds,
        "confidence": 0.95,
        "reason": "scripted",
    }


def _as_json(call: Call, command: Command) -> dict[str, Any]:
    known = (call.schema or {})["properties"]["commands"]["items"]["properties"]
    given = {
        "command": NAMES[type(command)],
        "field": getattr(command, "field", "") or None,
        "value": getattr(command, "value", "") or None,
        "target": _target(command),
        "confidence": getattr(command, "confidence", 0.95),
    }
    return {name: given[name] for name in known}


def _target(command: Command) -> str | None:
    if isinstance(command, Cancel) and command.everything:
        return "everything"
    if isinstance(command, OffTopic) and command.unsupported:
        return "unsupported"
    if isinstance(command, Human):
        return command.reason
    target: str = (
        getattr(command, "option", "")
        or getattr(command, "target", "")
        or getattr(command, "task", "")
    )
    return target or None
