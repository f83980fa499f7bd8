"""What operators do with a conversation that a person was called into."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from graphs.courier import Courier
from graphs.desk import port_of
from graphs.escalations import OF_SESSION, entry, read_case
from graphs.inbox import MAX_MESSAGE_BYTES, read, unanswerable
from graphs.responses import session_of
from graphs.session import Session
from graphs.statements import Row
from graphs.turns import operate
from journeys import (
    ConfigurationError,
    EscalationCase,
    EscalationEntry,
    InvalidMessageError,
    JourneyConfig,
    JourneyResponse,
    JourneySession,
    TakeoverError,
)
from nodes.draft import new_turn
from nodes.escalating import takeover_of
from nodes.services import Services
from nodes.talk import OperatorAct, Takeover
from nodes.with_person import WITH_PERSON

MOST_NAME = 100
"""Longest name of an operator, in characters."""


class Operators(ABC):
    """Lets operators take, hold and give back one session; each act is a version of it.

    Every act raises `TakeoverError` if nobody was called into the session, or somebody else has it,
    and `ConfigurationError` for a name that is not 1 to 100 printable characters.
    """

    session_id: str
    config: JourneyConfig
    on_escalation: Callable[[], None] | None = None
    """Told once a call for a person is committed; without it, the manager sends calls on itself."""
    _courier: Courier | None = None

    @abstractmethod
    async def _known(self) -> tuple[Session, Row]:
        """Open the session, which must be in the store and not over."""

    @abstractmethod
    def _turn(self) -> AbstractAsyncContextManager[tuple[Session, Row]]:
        """Wait for the session's turn, and give its head if it may go on."""

    @abstractmethod
    def _served(self) -> Services:
        """Return what a turn works with."""

    async def claim(self, by: str, escalation: str | None = None) -> JourneySession:
        """Take the conversation, so that nobody else does; again by the same person, a no-op.

        Args:
            by: Who acts: 1 to 100 printable characters.
            escalation: Id of the call that is meant; default: the one at hand.
        """
        return await self._act(OperatorAct(act="claim", by=by, text=""), escalation)

    async def operator_says(
        self, text: str, by: str, escalation: str | None = None
    ) -> JourneySession:
        """Say something to the user, and take the conversation if nobody has it yet.

        Raises:
            InvalidMessageError: The text is empty, over 16 kB, or holds control characters.
        """
        act = OperatorAct(act="say", by=by, text=read_words(text))
        return await self._act(act, escalation)

    async def release(self, by: str, escalation: str | None = None) -> JourneySession:
        """Give the conversation back to the assistant, which goes on where it was paused.

        Whoever has it, anybody may give it back: an operator who has gone home cannot.
        """
        return await self._act(OperatorAct(act="release", by=by, text=""), escalation)

    async def escalations(self) -> list[EscalationEntry]:
        """Return every call for a person in this session, oldest first."""
        session, _ = await self._known()
        rows = await session.store.read(OF_SESSION, session=self.session_id)
        return [entry(row) for row in rows]

    async def escalation(self) -> EscalationCase | None:
        """Return the last call for a person with all that they are told; None if there is none."""
        session, _ = await self._known()
        calls = await self.escalations()
        key = self.config.encryption_key
        return await read_case(session.store, calls[-1].id, key) if calls else None

    def _sent_on(self, session: Session, response: JourneyResponse) -> None:
        """See to it that a call which the turn made is sent on; that is not waited for."""
        if WITH_PERSON in response.metadata["flags"]:
            return
        if self.on_escalation:
            self.on_escalation()
        elif port := port_of(self.config):
            key = self.config.encryption_key
            self._courier = self._courier or Courier(session.store, port, key)
            self._courier.wake()

    async def _send_no_more(self) -> None:
        courier, self._courier = self._courier, None
        if courier:
            await courier.end()

    async def _act(self, act: OperatorAct, escalation: str | None) -> JourneySession:
        """Commit what an operator does as a turn of its own."""
        _check_name(act["by"])
        async with self._turn() as (session, head):
            values = await session.values(head)
            takeover = takeover_of(values["position"])
            if _held(takeover, act, escalation)["by"] == act["by"] and act["act"] == "claim":
                return session_of(head, values)
            values = await operate(session, head, self._served(), _turn_of(head, act))
            moved = {"version": head["version"] + 1, "updated_at": values["turn"]["at"]}
            return session_of({**head, **moved}, values)


def read_words(text: Any) -> str:
    """Return what an operator says, as a user's message is read, but not empty.

    Raises:
        InvalidMessageError: It is empty, over 16 kB, or holds control characters.
    """
    words = read(text)
    if fixed := unanswerable(words):
        what = "empty" if fixed == "empty" else f"over {MAX_MESSAGE_BYTES} bytes"
        raise InvalidMessageError(f"What an operator says may not be {what}.")
    return words


def _turn_of(head: Row, act: OperatorAct) -> Any:
    kind = "release" if act["act"] == "release" else "operator"
    return {**new_turn(head["version"] + 1, kind=kind), "operator": act}


def _held(takeover: Takeover | None, act: OperatorAct, escalation: str | None) -> Takeover:
    if takeover is None or escalation not in (None, takeover["id"]):
        raise TakeoverError(
            "The assistant has this conversation: nobody was called into it, or it was released."
        )
    if act["act"] != "release" and takeover["by"] not in (None, act["by"]):
        raise TakeoverError(
            "Somebody else has this conversation. Release it first, then it can be taken again."
        )
    return takeover


def _check_name(by: Any) -> None:
    if not isinstance(by, str) or not 0 < len(by) <= MOST_NAME or not by.isprintable():
        raise ConfigurationError(
            f"An operator's name must be 1 to {MOST_NAME} printable characters."
        )
