"""The state of a graph that chat clients of LangGraph talk to themselves, as Studio does.

It is the session's state with messages as those clients read them: each has an id, and the type
that LangChain gives its speaker beside the role that our steps read.
"""

from __future__ import annotations

import uuid
from typing import Annotated, Any

from langgraph.channels.ephemeral_value import EphemeralValue
from pydantic import Field
from typing_extensions import TypedDict

from nodes.context import apply_ops
from nodes.messages import Message, add_messages
from nodes.state import Output, Position, Turn
from nodes.talk import FieldAttempt, add_attempts

_TYPES = {"user": "human", "assistant": "ai"}


class ChatMessage(Message):
    """A message as chat clients read it."""

    type: str


def add_chat_messages(window: list[Any], new: Any) -> list[ChatMessage]:
    """Add messages to the window as `add_messages` does.

    Each gets an id: a client that edits a state sends all of it back, and what it only sends
    back must replace itself, not be said twice.
    """
    batch = uuid.uuid4().hex
    merged: list[Any] = add_messages(window, new)
    readable: list[Any] = [
        message
        if "type" in message
        else {"id": f"{batch}-{place}", **message, "type": _TYPES[message["role"]]}
        for place, message in enumerate(merged)
    ]
    return readable


def add_new_attempts(
    old: dict[str, list[FieldAttempt]], new: dict[str, list[FieldAttempt]]
) -> dict[str, list[FieldAttempt]]:
    """Add attempts at fields as `add_attempts` does, but for those that a client sends back."""
    fresh = {name: [a for a in given if a not in old.get(name, ())] for name, given in new.items()}
    return add_attempts(old, fresh)


# Without this word in the schema of its messages, Studio offers no chat with a graph.
ChatMessages = Annotated[
    list[ChatMessage],
    Field(json_schema_extra={"langgraph_type": "messages"}),
    add_chat_messages,
]


class ChatInput(TypedDict, total=False):
    """What starts a turn: messages; and values for the context, where a client knows some."""

    messages: ChatMessages
    context: Annotated[dict[str, Any], apply_ops]


class ChatState(TypedDict):
    """The channels of a graph without a manager."""

    messages: ChatMessages
    context: Annotated[dict[str, Any], apply_ops]
    fields: Annotated[dict[str, list[FieldAttempt]], add_new_attempts]
    position: Position
    turn: Turn
    results: Annotated[list[Output], EphemeralValue]
    progress: Annotated[dict[str, Any], EphemeralValue]
