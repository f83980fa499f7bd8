"""Models that answer the call about a message: right, not at all, or hostile."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from journeygraph.nodes.llm.scripted import Call
from tests.understanding import assistants
from tests.understanding.rows import Row, Want

MODES = ("right", "silent", "hostile")
_WORDS = {
    "en": {True: "yes", False: "no"},
    "de": {True: "ja", False: "nein"},
    "es": {True: "sí", False: "no"},
    "fr": {True: "oui", False: "non"},
}
_TARGETED = {"cancel_all": ("cancel", "everything"), "human": ("human", "asked")}
SILENCES = ("I am not sure about that.", "", "{}", '{"commands": "none"}')
SURE = 0.95


@dataclass
class Answers:
    """Answers one call after the other; until `begin`, all of them with nothing."""

    mode: str
    chance: random.Random
    language: str
    row: Row | None = None
    before: Mapping[str, Any] = field(default_factory=dict)

    def begin(self, row: Row, before: Mapping[str, Any]) -> None:
        """Answer from now on what the message of a row means."""
        self.row, self.before = row, before

    def __call__(self, call: Call) -> Any:
        properties = (call.schema or {}).get("properties", {})
        if "commands" not in properties and "verdicts" not in properties:
            return "I do not know."
        moment = json.loads(call.message)
        if self.row is None:
            return self._answer(call, moment, [], set())
        if self.mode == "silent":
            return self.chance.choice(SILENCES)
        if self.mode == "hostile":
            return self._hostile(call, moment)
        want = self.row.wants[0]
        return self._answer(call, moment, list(self._commands(want, moment)), _goes(want))

    def _answer(
        self, call: Call, moment: Mapping[str, Any], commands: list[dict[str, Any]], goes: set[str]
    ) -> dict[str, Any]:
        questions = moment.get("questions", ())
        judged = {question["leads_to"] for question in questions}
        asks = "verdicts" in moment.get("give", ["verdicts"])
        rest = goes if not asks else goes - judged
        offered = moment.get("commands", ("go",))
        given = commands + [_command("go", target=target) for target in sorted(rest)]
        answers: dict[str, Any] = {
            "verdicts": [
                {
                    "question": question["question"],
                    "holds": question["leads_to"] in goes,
                    "confidence": SURE,
                    "reason": "scripted",
                }
                for question in questions
            ]
            if asks
            else [],
            "commands": [_fit(call, one) for one in given if one["command"] in offered],
            "rules_that_hold": [],
            "reply": None,
            "asks": None,
        }
        wanted = (call.schema or {})["properties"]
        return {name: answers[name] for name in wanted if name in answers}

    def _commands(self, want: Want, moment: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the commands of what is wanted."""
        assert self.row is not None
        for name, value in want.set.items():
            kind = "correct" if self.before.get(name) is not None else "fill"
            yield _command(kind, field=name, value=self._words(name, value))
        for name in want.clear:
            yield _command("clear", field=name)
        asked = moment.get("form_now", {}).get("asked_last") or {"kind": ""}
        for does in want.does:
            if does.startswith("go:") or (does == "confirm" and asked["kind"] == "field"):
                continue
            back = does == "cancel" and asked["kind"] == "return"  # the right word for it there
            name, target = ("deny", None) if back else _TARGETED.get(does, (does, None))
            yield _command(name, target=target)

    def _words(self, name: str, value: Any) -> str:
        """Return a value in words that a user could have used."""
        assert self.row is not None
        if name in self.row.words:
            return self.row.words[name]
        kind = assistants.type_of(self.row.assistant, name)
        if kind == "money":
            amount = f"{float(value):.2f}"
            return f"{amount if self.language == 'en' else amount.replace('.', ',')} EUR"
        if isinstance(value, bool):
            return _WORDS[self.language][value]
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)

    def _hostile(self, call: Call, moment: Mapping[str, Any]) -> dict[str, Any]:
        """Return an answer of the right shape by chance: values, moves, answers."""
        assert self.row is not None
        now, chance = moment.get("form_now", {}), self.chance
        fields = [*now.get("open", ()), *now.get("collected", ())]
        words = self.row.message.split() or ["x"]
        commands = []
        offered = [*moment.get("commands", ())]
        for name in chance.sample(offered, k=min(2, len(offered))):
            value = chance.choice([chance.choice(words), "7", "2031-01-01", "99 EUR", "yes"])
            is_valued = name in ("fill", "correct", "clear") and fields
            commands.append(
                _command(
                    name,
                    field=chance.choice(fields) if is_valued else None,
                    value=value if name in ("fill", "correct") else None,
                    target=chance.choice(["everything", "asked", *_targets(moment)]),
                )
            )
        goes = {target for target in _targets(moment) if chance.random() < 0.3}
        return self._answer(call, moment, commands, goes)


def _goes(want: Want) -> set[str]:
    return {does.removeprefix("go:") for does in want.does if does.startswith("go:")}


def _targets(moment: Mapping[str, Any]) -> list[str]:
    return [question["leads_to"] for question in moment.get("questions", ())]


def _command(name: str, **given: Any) -> dict[str, Any]:
    return {"command": name, "confidence": SURE, **given}


def _fit(call: Call, command: Mapping[str, Any]) -> dict[str, Any]:
    known = (call.schema or {})["properties"]["commands"]["items"]["properties"]
    return {name: command.get(name) for name in known}
