"""Messages of a session: a bounded window of plain dicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired

from typing_extensions import TypedDict

WINDOW = 40
"""Messages kept in the state: the last twenty turns."""

OPERATOR, MARK = "operator", "mark"
"""Names of the messages of a person in place of the assistant, and of their begin and end."""
TAKEN = "[A person took over the conversation here.]"
GIVEN_BACK = "[The person left here, and the assistant has the conversation again.]"
"""Marks of where a person spoke in place of the assistant."""
_OURS = {"role", "content"}
_SPEAKERS = ("user", "assistant")
_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}


class Message(TypedDict):
    """One message of the window.

    `name` is there for what the assistant did not say itself. `extras` are there where a message
    came with more than its text, as an image: data for its sender, not read here.
    """

    role: str
    content: str
    id: NotRequired[str]
    name: NotRequired[str]
    extras: NotRequired[dict[str, Any]]


def _normal(message: Any) -> Message:
    ours = type(message) is dict and message.keys() == _OURS
    if ours and message["role"] in _SPEAKERS and type(message["content"]) is str:
        return message  # type: ignore[no-any-return]  # as nearly all are
    if isinstance(message, str):
        given: Mapping[str, Any] = {"role": "user", "content": message}
    elif isinstance(message, tuple):
        given = dict(zip(("role", "content"), message, strict=True))
    elif not isinstance(message, Mapping):
        given = {name: getattr(message, name, None) for name in ("content", "id", "name")}
        given["role"] = message.type
    else:
        given = {**message, "role": message.get("role") or message.get("type", "user")}
    role = _ROLES.get(given["role"], given["role"])
    kept = Message(role=role, content=text_of(given.get("content") or ""))
    if given.get("id"):
        kept["id"] = str(given["id"])
    if role == "assistant" and given.get("name") in (OPERATOR, MARK):
        kept["name"] = given["name"]
    return kept


def _is_said(message: Message) -> bool:
    said = message["role"] == "assistant" and bool(message["content"])
    return said or message["role"] == "user"


def text_of(content: Any) -> str:
    """Return the text of a message's content, which LangChain may hold as a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, Sequence):
        blocks = (block if isinstance(block, str) else block.get("text", "") for block in content)
        return "".join(blocks)
    return str(content)


def _said_in(given: Sequence[Any]) -> list[Message]:
    return [message for message in map(_normal, given) if _is_said(message)]


def said(messages: Sequence[Any]) -> list[Message]:
    """Return the messages of user and assistant in LangChain's format, without their ids."""
    return [Message(role=m["role"], content=m["content"]) for m in _said_in(messages)]


def add_messages(window: list[Message], new: Any) -> list[Message]:
    """Add messages to the window, as `merged` does. The oldest are removed.

    A graph around ours may hand over its instructions, calls of tools and their results too. They
    are its own: they have no speaker, and are not valid without the parts that `Message` omits.
    """
    return merged(window, _said_in(new if isinstance(new, list) else [new]))


def merged(window: Sequence[Message], new: Sequence[Message]) -> list[Message]:
    """Return the window with messages added: one with a known id replaces it, at its place.

    New ones before a known one are older than it: the sender of a whole conversation may
    have more of it than the window.
    """
    if not [1 for message in new if "id" in message]:
        return [*window, *new][-WINDOW:]
    fresh = {m.get("id") or place: m for place, m in enumerate(new)}
    known = {message["id"] for message in window if "id" in message}
    if known.isdisjoint(fresh):  # as nearly always
        return [*window, *fresh.values()][-WINDOW:]
    before: dict[str, list[Message]] = {}
    after: list[Message] = []
    for message in fresh.values():
        after.append(message)
        if (id_ := message.get("id", "")) in known:
            before[id_], after = after, []
    stood = [one for message in window for one in before.get(message.get("id", ""), [message])]
    return [*stood, *after][-WINDOW:]


def last_said(messages: Sequence[Message]) -> str:
    """Return the last words of the assistant; empty if there are none yet."""
    return next((m["content"] for m in reversed(messages) if _is_own(m)), "")


def _is_own(message: Message) -> bool:
    return message["role"] == "assistant" and "name" not in message


def mark(content: str, turn: Mapping[str, Any]) -> Message:
    """Return a mark of where a person begins to speak in place of the assistant, or ends."""
    marked = Message(role="assistant", content=content, name=MARK)
    if "id" in turn:
        marked["id"] = f"{'taken' if content == TAKEN else 'given-back'}-{turn['id']}"
    return marked


def told(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Return messages for agents and models: only role and content.

    Messages of a person are among them, between marks.
    """
    listed = [{"role": m["role"], "content": m["content"]} for m in messages]
    first = next((m for m in messages if "name" in m), None)
    if first is not None and first["content"] != TAKEN:
        # Where it began has fallen out of the window.
        listed.insert(0, {"role": "assistant", "content": TAKEN})
    return listed
