"""Conversations as text: a line is a message, and what holds after it.

    send it -> transfer; to transfer; ran transfer
    thanks -> counter; paused; says counter: thanks

After the arrow stands the pathway of the session, then what else is held of the turn: a name of
`FACTS` with its values; `says`, the whole reply, stands last. `(restart)` and `(rollback 3)` are
lines of their own. A short conversation may stand in one line, with ` | ` between its turns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.support.talk import Talk

PART = "\n\n"
FACTS: dict[str, tuple[Callable[[Talk], Any], Callable[[str], Any]]] = {
    "paused": (lambda chat: chat.stack, str.split),
    "ran": (lambda chat: chat.ran, str.split),
    "flags": (lambda chat: chat.last.metadata["flags"], str.split),
    "to": (lambda chat: chat.last.transition_to or "", str),
    "tier": (lambda chat: chat.last.metadata["tier"], str),
    "says": (lambda chat: chat.last.message, lambda text: text.replace(" / ", PART)),
    "ended": (lambda chat: chat.last.is_journey_complete, lambda _: True),
    "open": (lambda chat: chat.last.is_journey_complete, lambda _: False),
    "moved": (lambda chat: chat.last.pathway_changed, lambda _: True),
    "unmoved": (lambda chat: chat.last.pathway_changed, lambda _: False),
    "returning": (lambda chat: chat.last.metadata["returning"], lambda _: True),
    "staying": (lambda chat: chat.last.metadata["returning"], lambda _: False),
    "knows": (
        lambda chat: {name: str(value) for name, value in chat.context.items()},
        lambda words: dict(word.split("=") for word in words.split()),
    ),
}
"""Name -> what the turn has, and what the words after the name mean; ` / ` parts replies.

`knows` has the whole context."""


async def follow(chat: Talk, script: str) -> Talk:
    """Hold a conversation as its script has it, and return it."""
    for line in map(str.strip, script.strip().replace(" | ", "\n").splitlines()):
        if line == "(restart)":
            await chat.restored()
        elif line.startswith("(rollback "):
            await chat.journey.rollback(int(line[len("(rollback ") : -1]))
        else:
            await _turn(chat, line)
    return chat


async def _turn(chat: Talk, line: str) -> None:
    message, arrow, rest = line.partition(" -> ")
    assert arrow, f"no place is expected: {line}"
    before, says, reply = rest.partition("; says ")
    place, *facts = before.split("; ")
    if says:
        facts.append(f"says {reply}")
    await chat.says(message)
    assert chat.last.pathway_id == place, line
    for fact in facts:
        name, _, words = fact.partition(" ")
        seen, expected = FACTS[name]
        assert seen(chat) == expected(words), f"{line}: {fact}"
