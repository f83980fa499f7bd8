"""Effects wait for the user: what was asked about in one turn may be done in the next, once."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from typing import Any

from cachetools import LRUCache

from journeygraph.nodes.json_data import canonical, copied, digest_of, plain
from journeygraph.nodes.state.session import AgentOutput, Pending, Position, Turn

MOST_PENDING = 8
"""Most calls of one agent that wait for the user together."""
MOST_ARGUMENTS = 16 * 1024
"""Longest arguments of a call that waits, as bytes of JSON."""

# What was run is not run again in the same turn, by an agent that is tried again or comes to its
# word again: the state does not know of it before the turn ends.
_spent: LRUCache[tuple[str, int], bool] = LRUCache(4096)


class Consent:
    """Confirmations of an agent in this turn: calls that may run, and calls that it proposes.

    Args:
        turn: The turn; its `asked` are the calls of the turn before.

    Attributes:
        asked: The calls that the user was asked about.
        pending: The calls that the agent asks about now.
    """

    def __init__(self, pathway: str, agent: str, turn: Turn) -> None:
        self._place = (pathway, agent)
        self.turn = turn["number"]
        asked = turn.get("asked", [])
        self.asked = [call for call in asked if (call["pathway"], call["agent"]) == self._place]
        self.pending: list[Pending] = []

    def permits(self, tool: str, given: Mapping[str, Any], filled: Mapping[str, Any]) -> bool:
        """Return whether a call may be run now, and use that up; otherwise it waits for the user.

        Any other call than those that the user was asked about takes these back.

        Args:
            given: The arguments as the model gave them.
            filled: All that the tool would be run with.

        Raises:
            ValueError: The arguments are not JSON, or it was run already, or more
                would wait than a user can be asked about.
        """
        digest = digest_of(filled)
        for call in self.asked:
            if (call["tool"], call["digest"]) == (tool, digest):
                self.asked.remove(call)
                self._spend(call)
                return True
        self.asked.clear()
        self._wait(tool, given, digest)
        return False

    def _spend(self, call: Pending) -> None:
        once = (call["ticket"], self.turn)
        if once in _spent:
            raise ValueError("this call was already run and is not repeated")
        _spent[once] = True

    def _wait(self, tool: str, given: Mapping[str, Any], digest: str) -> None:
        if any((call["tool"], call["digest"]) == (tool, digest) for call in self.pending):
            return
        if len(self.pending) >= MOST_PENDING:
            raise ValueError(f"{MOST_PENDING} calls already wait for the user; ask about those")
        arguments = plain(given, "arguments")
        if len(canonical(arguments)) > MOST_ARGUMENTS:
            raise ValueError("the arguments are too long for a confirmation")
        pathway, agent = self._place
        self.pending.append(
            Pending(
                pathway=pathway,
                agent=agent,
                tool=tool,
                arguments=arguments,
                digest=digest,
                ticket=uuid.uuid4().hex,
            )
        )


def waiting(position: Position, outputs: Iterable[AgentOutput], at: str) -> Position:
    """Return a position in which what the agents of a pathway ask about waits for the user."""
    asked = (call for output in outputs for call in output.get("pending", []))
    new: list[Any] = [{**copied(call), "at": at} for call in asked]
    return {**position, "pending": [*position.get("pending", []), *new]} if new else position
