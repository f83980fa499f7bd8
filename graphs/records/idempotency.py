"""Answers to requests with an idempotency key: a request that is sent again is done once.

An answer is a row of the transaction of what was asked, so both are there or neither is. It has no
copy of the context, which the ledger has.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Any, Self

from sqlalchemy import bindparam, delete, select

from journeygraph.graphs.storage.sealing import Seal
from journeygraph.graphs.storage.statements import Row, Sql, Statement, TableMapper, now
from journeygraph.graphs.storage.store import Store
from journeygraph.graphs.storage.tables import answers
from journeygraph.journeys import ConfigurationError, IdempotencyKeyError, JourneyResponse
from journeygraph.nodes.json_data import canonical, plain, stamp
from journeygraph.nodes.state.context import Context

KEPT = timedelta(hours=24)
"""Time for which an answer is kept."""
MOST_KEY = 200
"""Maximum length of a key, in characters."""
KEY_PATTERN = f"^[!-~]{{1,{MOST_KEY}}}$"
"""Pattern of a key: visible ASCII characters."""
_STORED = [
    one.name
    for one in fields(JourneyResponse)
    if one.name not in ("accumulated_context", "replayed")
]
_IDS = uuid.UUID("6f2b8f0e-3f0a-4b52-9a0e-5d0c9d6a2f11")
ANSWERS = TableMapper(answers)
OF_REQUEST = Sql.of(
    select(answers).where(
        ANSWERS.mine,
        answers.c.key == bindparam("of_key"),
        answers.c.at >= bindparam("since"),
    )
)
FORGET_OLD = Sql.of(delete(answers).where(ANSWERS.mine, answers.c.at < bindparam("since")))


@dataclass(frozen=True, slots=True)
class HistoryKey:
    """An idempotency key for a message of a client that sends its whole conversation each time.

    A message with the same conversation before it is the last turn sent again. After another turn
    it is a new message, since a user may repeat the same words.

    Attributes:
        text: Names the conversation with the message, such as a digest.
        is_first: True if there is no message before it. Some clients never send earlier messages,
            so such a message repeats only the first turn, and only right after it.
    """

    text: str
    is_first: bool = False

    def after(self, version: int) -> str | None:
        """Return the key of the message as the turn after a version; None: it cannot be one."""
        if version < 0 or (self.is_first and version):
            return None
        return f"history {version} {self.text}"  # with blanks, which a key of a client cannot have


@dataclass(frozen=True, slots=True)
class Request:
    """A request with an idempotency key.

    Attributes:
        key: Digest of the key.
        digest: Digest of what is asked.
        history: The key, if it is one of a conversation.
    """

    key: str
    digest: str
    history: HistoryKey | None = None

    @classmethod
    def of(cls, key: str | HistoryKey, *asked: Any) -> Self:
        """Return the request with a key.

        Args:
            key: The key, as given.
            asked: Name of the operation, and its arguments.

        Raises:
            ConfigurationError: The key is not 1 to 200 visible ASCII characters, or an argument
                is not JSON.
        """
        try:
            written = canonical(plain(list(asked), "the request"))
        except ValueError as error:
            raise ConfigurationError(f"{error}.") from error
        if isinstance(key, HistoryKey):
            return cls("", _digest(written), key)
        return cls(_digest(checked_key(key).encode()), _digest(written))

    @classmethod
    def of_plain(cls, plain: Sequence[Any]) -> Self:
        """Return the request from its JSON."""
        key, digest, history = plain
        return cls(key, digest, history and HistoryKey(*history))

    def plain(self) -> Sequence[Any]:
        """Return the request as JSON."""
        history = self.history and (self.history.text, self.history.is_first)
        return self.key, self.digest, history

    def is_named_as(self, other: Request) -> bool:
        """Return whether another request has the same key."""
        return (self.key, self.history) == (other.key, other.history)

    def after(self, version: int) -> Self | None:
        """Return the request as the one after a version of its session; None: it cannot be."""
        if self.history is None:
            return self
        key = self.history.after(version)
        return None if key is None else replace(self, key=_digest(key.encode()))


def requests_of(key: str | HistoryKey | None, *asked: Any) -> tuple[Request, ...]:
    """Return the request with an idempotency key; none without a key.

    Args:
        key: The key.
        asked: Name of the operation, and its arguments.

    Raises:
        ConfigurationError: The key is not valid, or an argument is not JSON.
    """
    return () if key is None else (Request.of(key, *asked),)


def requests_after(requests: Collection[Request], version: int) -> list[Request]:
    """Return requests as those after a version of their session, without those that cannot be."""
    return [after for request in requests if (after := request.after(version))]


def checked_key(key: Any) -> str:
    """Return an idempotency key.

    Raises:
        ConfigurationError: It is not 1 to 200 visible ASCII characters.
    """
    if isinstance(key, str) and re.fullmatch(KEY_PATTERN, key):
        return key
    raise ConfigurationError(
        f"An idempotency key must be 1 to {MOST_KEY} visible ASCII characters, such as a UUID."
    )


def new_id(scope: str, key: str | None) -> str:
    """Return a new id of a session; for an idempotency key, always the same one.

    Args:
        scope: Keys are those of a session, or of a client.
        key: The key.
    """
    if key is None:
        return str(uuid.uuid4())
    return str(uuid.uuid5(_IDS, f"default|{scope}|{_digest(key.encode())}"))


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _since() -> str:
    return stamp(now() - KEPT)


def written(
    session_id: str, requests: Collection[Request], version: int, answer: Any, seal: Seal
) -> list[Statement]:
    """Return the statements that keep the answer to requests, and forget old ones.

    Args:
        session_id: The session.
        requests: The requests, several if their messages were one turn.
        version: Version of the session after it.
        answer: The answer, JSON; None if it is the state of the version.
        seal: Encryption of the session.
    """
    row: Row = {
        "session_id": session_id,
        "version": version,
        "at": stamp(now()),
    }
    if answer is not None:
        row["answer"] = answer
    old: Row = {"session": session_id, "since": _since()}
    rows = [
        {**row, "key": request.key, "digest": seal.digest(request.digest)} for request in requests
    ]
    return [Statement(FORGET_OLD, [old]), ANSWERS.adding(rows, seal)]


def of_response(response: JourneyResponse) -> dict[str, Any]:
    """Return the answer that is stored for a response."""
    return {name: getattr(response, name) for name in _STORED}


async def found(store: Store, session_id: str, request: Request, seal: Seal) -> Row | None:
    """Return the row of a request that was answered before; None if it is a new one.

    Args:
        store: The store.
        session_id: The session.
        request: The request.
        seal: Encryption of the session.

    Raises:
        IdempotencyKeyError: Something else was asked with its key.
        StateError: The store failed.
    """
    mine = {"session": session_id, "of_key": request.key, "since": _since()}
    rows = await store.read(OF_REQUEST, **mine)
    if not rows:
        return None
    if rows[0]["digest"] != seal.digest(request.digest):
        raise IdempotencyKeyError(
            "The idempotency key belongs to another request of this session. Use a new key for "
            "each request, and the same one only to send a request again."
        )
    return rows[0]


def answer_in(row: Row, seal: Seal) -> Any:
    """Return the answer in a row."""
    return ANSWERS.value(row, "answer", seal)


def response_again(row: Row, context: Context, seal: Seal) -> JourneyResponse:
    """Return the response in a row, with the context of its version.

    Raises:
        StateError: The row was changed.
    """
    return JourneyResponse(**answer_in(row, seal), accumulated_context=context, replayed=True)
