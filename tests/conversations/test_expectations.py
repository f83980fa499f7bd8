"""Each expectation of a conversation holds where it should, and differs where it should not."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from journeygraph.server.conversations.conversation_files import load_conversation
from journeygraph.server.conversations.player import Played, play

MESSAGES = {
    "asked": ["I want to send money to Maya"],
    "refused": ["I want to send money to Maya", "2000"],
    "paused": ["I want to send money to Maya", "How much do I have?"],
    "summary": ["I want to send money to Maya", "40"],
    "coded": ["I want to send money to Maya", "40", "yes"],
    "sent": ["I want to send money to Maya", "40", "yes", "246810"],
}
"""Conversations with the example bank_transfer, up to where an expectation is compared."""


async def played(folder: Path, turns: list[object], **header: object) -> Played:
    about = {"conversation": "tried", "journey": "bank_transfer", "clock": "2026-11-24T12:00"}
    file = folder / "tried.conversation.yaml"
    file.write_text(yaml.safe_dump({**about, **header, "turns": turns}, allow_unicode=True))
    return await play(load_conversation(file))


NOTED = "For the recipient I have noted: Maya.\n\nHow much do you want to send?"

CASES = [
    ("asked", "says", "How much do you want", "How many do you want"),
    ("asked", "says", "/HOW .* send/i", "/^how much$/"),
    ("asked", "says", {"equals": NOTED}, {"equals": "How much"}),
    ("asked", "says", {"contains": ["How", "/send\\?$/"]}, {"contains": ["How", "receive"]}),
    ("asked", "says", {"not": "Sorry"}, {"not": ["Sorry", "/s[e]nd/"]}),
    ("asked", "asks", "amount", "recipient"),
    ("asked", "asks", {"field": "amount", "kind": "money"}, {"field": "amount", "kind": "text"}),
    ("asked", "asks", "amount", None),
    ("sent", "asks", None, "amount"),
    ("summary", "asks", "summary", "correction"),
    ("summary", "options", ["yes", "no"], ["yes"]),
    ("asked", "pathway", "transfer", "desk"),
    ("asked", "path", ["desk", "transfer"], ["transfer"]),
    ("paused", "stack", ["transfer"], []),
    ("asked", "transition", "transfer", None),
    ("refused", "transition", None, "transfer"),
    ("asked", "transition", {"to": "transfer", "tier": "pattern"}, {"tier": "model"}),
    ("asked", "transition", {"intent": "send money"}, {"intent": "/balance/"}),
    ("refused", "why", "/field_refused: amount/", ["field_refused", "field_corrected"]),
    ("summary", "fields", {"recipient": "Maya"}, {"recipient": "Mia"}),
    ("summary", "fields", {"amount": {"amount": 40}}, {"amount": {"amount": 41}}),
    ("refused", "fields", {"amount": None}, {"amount": {"amount": "2000"}}),
    ("sent", "fields", {"code": True}, {"code": None}),
    ("refused", "attempts", {"amount": ["invalid"]}, {"amount": ["valid"]}),
    ("summary", "attempts", {"amount": 1, "recipient": 1}, {"amount": 2}),
    ("summary", "context", {"amount": {"currency": "EUR"}}, {"amount": {"currency": "USD"}}),
    ("summary", "context", {"send_money": None}, {"recipient": None}),
    ("asked", "flags", [], ["no_reply"]),
    ("sent", "effects", ["send_money"], []),
    ("coded", "effects", [], ["send_money"]),
    ("asked", "model_calls", 0, 1),
    ("sent", "complete", False, True),
]


@pytest.mark.parametrize(("begun", "key", "right", "wrong"), CASES)
async def test_an_expectation_holds_and_differs(tmp_path, begun, key, right, wrong):
    said = [{"user": message} for message in MESSAGES[begun]]

    good = await played(tmp_path, [*said, {"bot": {key: right}}])
    assert (good.passed, good.turns) == (True, len(said)), good.differences

    bad = await played(tmp_path, [*said, {"bot": {key: wrong}}])
    assert {one.what.partition(".")[0] for one in bad.differences} == {key}
