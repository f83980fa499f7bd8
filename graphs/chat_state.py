"""The state of a graph that programs of LangGraph and chat clients such as Studio use directly.

It is the session's state. Its window of messages has plain dicts, which the steps of a turn read.
Callers of the graph get LangChain messages.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langchain_core.messages import convert_to_messages as converted
from langgraph.channels.binop import BinaryOperatorAggregate
from langgraph.channels.ephemeral_value import EphemeralValue
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Overwrite
from pydantic import Field
from pydantic_core import to_jsonable_python
from typing_extensions import TypedDict

from journeygraph.nodes.state.context import apply_ops
from journeygraph.nodes.state.dialogue_state import FieldAttempt, add_attempts
from journeygraph.nodes.state.messages import MARK, OPERATOR, Message, merged, text_of
from journeygraph.nodes.state.session import AgentOutput, Position, Turn, Update

_ROLES = {"human": "user", "user": "user", "ai": "assistant", "assistant": "assistant"}
_REMOVE = "remove"
_NOT_SAID = ("system", "developer", "tool", "function")
"""Roles of a graph's internal messages, which no speaker wrote."""
_SIMPLE = {"role", "type", "content", "id"}
_BESIDES = ("additional_kwargs", "response_metadata", "usage_metadata")
FOR_CHATS = {"langgraph_type": "messages"}
"""Mark in the schema of messages; without it, Studio offers no chat with a graph."""
_MESSAGES = Field(
    description="The conversation: messages of the user, and replies. The state has the last 40.",
    json_schema_extra={**FOR_CHATS},
)
_OVERWRITE = "__overwrite__"


class Transcript(list[Message]):
    """Messages of the outer graph, which has the transcript of the conversation."""


def plain_messages(new: Any) -> list[Message]:
    """Return messages as plain dicts, each with an id, including removals.

    Args:
        new: One message or a list of them, in any form that LangGraph takes for one.

    Raises:
        ValueError: An object is not a message.
    """
    listed = new if isinstance(new, list) else [new]
    kept: list[Message] = []
    batch = ""
    for given in listed:
        message = _simple(given) or _plain(given)
        if message is None or (message["role"] == "assistant" and not message["content"]):
            continue
        if "id" not in message:
            # An id, as what is only sent back must replace itself, not be said twice.
            batch = batch or uuid.uuid4().hex
            message["id"] = f"{batch}-{len(kept)}"
        kept.append(message)
    return kept


def _simple(given: Any) -> Message | None:
    """Return a message that is already a plain dict, as most are; else None."""
    if type(given) is not dict or not _SIMPLE.issuperset(given):
        return None
    role, content = given.get("role"), given.get("content")
    if type(role) is not str or type(content) is not str or role not in _ROLES:
        return None
    if id_ := given.get("id"):
        return {"role": _ROLES[role], "content": content, "id": str(id_)}
    return {"role": _ROLES[role], "content": content}


def _role_of(given: Any) -> str:
    if isinstance(given, BaseMessage):
        return given.type
    if isinstance(given, Mapping):
        return str(given.get("role") or given.get("type"))
    return str(given[0]) if isinstance(given, (tuple, list)) and given else "user"


def _plain(given: Any) -> Message | None:
    """Return a message as a plain dict; None if it is internal to a graph."""
    role = _role_of(given)
    if role == _REMOVE:
        id_ = given.get("id") if isinstance(given, Mapping) else given.id
        return Message(role=_REMOVE, content="", id=str(id_))
    if role in _NOT_SAID:
        return None
    if isinstance(given, Mapping):
        given = _as_read(given, role)
    message = given if isinstance(given, BaseMessage) else converted([given])[0]
    # Calls of tools are the graph's own too, whatever is said beside them.
    calls = getattr(message, "tool_calls", ()) or getattr(message, "invalid_tool_calls", ())
    role = _ROLES.get(message.type.removesuffix("MessageChunk").lower(), "")
    return _kept(role, message) if role and not calls else None


def _as_read(given: Mapping[str, Any], role: str) -> dict[str, Any]:
    """Return a message in LangChain's form: with content and role."""
    if given.get("type") == "constructor":  # its own JSON
        return dict(given)
    data = given.get("data")
    if isinstance(data, Mapping) and "content" not in given:  # as `message_to_dict` writes it
        given = data
    besides = {name: value for name, value in given.items() if name not in ("role", "type")}
    return {"content": "", **besides, "role": role}


def _kept(role: str, message: BaseMessage) -> Message:
    plain = Message(role=role, content=text_of(message.content))
    if message.id:
        plain["id"] = str(message.id)
    extras = {name: value for name in _BESIDES if (value := getattr(message, name, None))}
    if not isinstance(message.content, str):
        extras["content"] = message.content
    if role == "assistant" and message.name in (OPERATOR, MARK):
        plain["name"] = message.name
    elif message.name:
        extras["name"] = message.name
    if extras:
        plain["extras"] = to_jsonable_python(extras, fallback=str, bytes_mode="base64")
    return plain


_set = object.__setattr__
_AI, _HUMAN = vars(AIMessage("")), vars(HumanMessage(""))


def message_of(plain: Message) -> BaseMessage:
    """Return a message of the window as a LangChain message."""
    content, id_ = plain["content"], plain.get("id")
    if "extras" in plain:
        kind = AIMessage if plain["role"] == "assistant" else HumanMessage
        return kind(**{"content": content, "id": id_, **plain["extras"]})
    # As pydantic reads one from a pickle: to make one takes far longer, and there are forty.
    message: BaseMessage
    if plain["role"] == "user":
        message, own = HumanMessage.__new__(HumanMessage), _HUMAN.copy()
    else:
        message, own = AIMessage.__new__(AIMessage), _AI.copy()
        own["tool_calls"], own["invalid_tool_calls"] = [], []
    own["content"], own["id"] = content, id_
    own["additional_kwargs"], own["response_metadata"] = {}, {}
    _set(message, "__dict__", own)
    _set(message, "__pydantic_fields_set__", {"content", "id"})
    _set(message, "__pydantic_extra__", {})
    _set(message, "__pydantic_private__", None)
    if "name" in plain:
        message.name = plain["name"]
    return message


def shown(update: Update) -> Update:
    """Return the update of a step with LangChain messages."""
    if not update.get("messages"):
        return update
    return {
        **update,
        # LangGraph streams the messages of LangChain that a node returns, and a mark is no reply.
        "messages": [
            plain if plain.get("name") == MARK else message_of(plain)
            for plain in plain_messages(update["messages"])
        ],
    }


def add_chat_messages(window: list[Message], new: Any) -> list[Message]:
    """Add messages to the window as LangGraph's `add_messages` does; the oldest fall out.

    An outer graph sends its whole transcript: from the first known message on, its version replaces
    the window, because it may have changed later messages.
    """
    if isinstance(new, Transcript):
        known = {message.get("id") for message in new}
        first = next((n for n, message in enumerate(window) if message.get("id") in known), None)
        if first is None:
            return merged(window, new[_repeated(window, new) :])
        return merged(window[:first], new)
    said = plain_messages(new)
    if not any(message["role"] == _REMOVE for message in said):
        return merged(window, said)
    added: list[Message] = []
    for message in said:
        if message["role"] != _REMOVE:
            added.append(message)
        elif message["id"] == REMOVE_ALL_MESSAGES:
            window, added = [], []
        else:
            window, added = (
                [m for m in kept if m.get("id") != message["id"]] for kept in (window, added)
            )
    return merged(window, added)


def _repeated(window: Sequence[Message], new: Sequence[Message]) -> int:
    """Return the number of messages that repeat the window, if their ids were lost."""
    before, given = ([(m["role"], m["content"]) for m in listed] for listed in (window, new))
    for end in range(len(given), 0, -1):
        length = min(end, len(before))
        is_answered = any(role == "assistant" for role, _ in given[:end])
        if length and is_answered and given[end - length : end] == before[-length:]:
            return end
    return 0


class _Shown(list[BaseMessage]):
    """The window as LangChain messages and as plain dicts."""

    plain: Sequence[Message] = ()


class Window(BinaryOperatorAggregate[Any]):
    """The channel of the messages: keeps plain dicts, and gives LangChain messages."""

    __slots__ = ("made",)

    def __init__(self, typ: Any, operator: Any = add_chat_messages) -> None:
        super().__init__(typ, operator)
        self.made: tuple[list[Message], list[BaseMessage], list[Message]] = ([], [], [])

    @property
    def UpdateType(self) -> Any:
        """Type of the channel's updates, for schemas of the state."""
        return Annotated[self.typ, _MESSAGES]

    def copy(self) -> Self:
        """Return a copy that shares the converted messages."""
        same = super().copy()
        same.made = self.made
        return same

    def update(self, values: Sequence[Any]) -> bool:
        """Add messages; a value that replaces all of them is converted the same way."""
        changed = super().update(values)
        if any(map(_overwrites, values)):
            self.value = add_chat_messages([], self.value)
        return changed

    def get(self) -> list[BaseMessage]:
        """Return the LangChain messages, each converted once per run."""
        window = super().get()
        known, messages, bare = self.made
        if window is not known:
            before = {id(plain): message for plain, message in zip(known, messages, strict=True)}
            messages = [before.get(id(plain)) or message_of(plain) for plain in window]
            bare = [plain if "extras" not in plain else _bare(plain) for plain in window]
            self.made = (window, messages, bare)
        shown = _Shown(messages)
        shown.plain = bare
        return shown


def _overwrites(value: Any) -> bool:
    """Return whether a value replaces all messages, in LangGraph's form or its JSON."""
    if isinstance(value, dict):
        return _OVERWRITE in value or value.get("type") == _OVERWRITE
    return isinstance(value, Overwrite)


def add_new_attempts(
    old: dict[str, list[FieldAttempt]], new: dict[str, list[FieldAttempt]]
) -> dict[str, list[FieldAttempt]]:
    """Add attempts at fields as `add_attempts` does, without those that a client sends back."""
    fresh = {name: [a for a in given if a not in old.get(name, ())] for name, given in new.items()}
    return add_attempts(old, fresh)


_CONTEXT = "Values that the pathways share, by name. As an input: values that are already known."
ChatMessages = Annotated[list[AnyMessage], _MESSAGES, Window]
ChatContext = Annotated[dict[str, Any], Field(description=_CONTEXT), apply_ops]


class ChatInput(TypedDict, total=False):
    """Input of a turn: a message of the user, and optional first values for the context."""

    messages: ChatMessages
    context: ChatContext


class ChatState(TypedDict):
    """State of a conversation: its messages, values, fields and place."""

    messages: ChatMessages
    context: ChatContext
    fields: Annotated[
        dict[str, list[FieldAttempt]],
        Field(description="The last attempts at each field of a form, valid or not, oldest first."),
        add_new_attempts,
    ]
    position: Annotated[
        Position,
        Field(
            description="Place of the conversation: the pathway, the stack of paused ones, and the "
            "status, active or complete."
        ),
    ]
    turn: Annotated[
        Turn,
        Field(
            description="Record of the last turn: its number, the pathways that ran, the "
            "transition, the guidelines that held, flags and audit."
        ),
    ]
    results: Annotated[
        list[AgentOutput],
        Field(
            description="Within a turn only: results of the agents of the pathway that just ran."
        ),
        EphemeralValue,
    ]
    progress: Annotated[
        dict[str, Any],
        Field(description="Within a turn only: notes of the pathway that just ran."),
        EphemeralValue,
    ]


@dataclass(init=False, eq=False)
class StepState:
    """The same channels as nodes and edges read them: LangGraph calls this with their values.

    It returns a dict with the plain messages.
    """

    messages: ChatMessages
    context: ChatContext
    fields: Annotated[dict[str, list[FieldAttempt]], add_new_attempts]
    position: Position
    turn: Turn
    results: Annotated[list[AgentOutput], EphemeralValue]
    progress: Annotated[dict[str, Any], EphemeralValue]

    def __new__(cls, **channels: Any) -> Any:
        """Return the values of the channels for the steps of a turn."""
        return {**channels, "messages": channels["messages"].plain}


def _bare(message: Message) -> Message:
    bare = message.copy()
    del bare["extras"]
    return bare
