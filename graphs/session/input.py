"""Check and convert input of callers: messages, ids, locales, contexts, run configurations."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.runnables import RunnableConfig

from journeygraph.journeys import (
    ConfigurationError,
    ContextMergeError,
    InvalidMessageError,
    JourneyConfig,
    JourneySpec,
)
from journeygraph.journeys.locale import NOWHERE, Locale
from journeygraph.nodes.json_data import plain
from journeygraph.nodes.state.context import Op, checked
from journeygraph.nodes.state.session import OutsideEvent

MAX_MESSAGE_BYTES = 16 * 1024
"""Maximum size of a message, in bytes of UTF-8."""
MOST_EVENT = 200
"""Maximum length of the name of an event, in characters."""

_BROKEN = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\ud800-\\udfff]")
"""Control characters except tab and line ends, and halves of characters."""


def read(message: Any) -> str:
    """Return a message that is text without broken or control characters.

    Raises:
        InvalidMessageError: It is not text, or contains half a surrogate pair, NUL or another
            control character. The error has the character and its place, not the text.
    """
    if not isinstance(message, str):
        raise InvalidMessageError(f"A message must be text, not {type(message).__name__}.")
    broken = _BROKEN.search(message)
    if broken is None:
        return message
    number = ord(broken[0])
    is_half = number >= 0xD800
    what = "half of a character, the lone surrogate" if is_half else "the control character"
    raise InvalidMessageError(
        f"The message contains {what} U+{number:04X} at position {broken.start()}. Remove it."
    )


def unanswerable(message: str) -> str | None:
    """Return the name of the fixed reply for a message that no pathway gets, or None.

    The name is "empty" without visible characters, and "too_long" over 16 kB.
    """
    if len(message) > MAX_MESSAGE_BYTES or len(message.encode("utf-8")) > MAX_MESSAGE_BYTES:
        return "too_long"
    invisible = all(char.isspace() or unicodedata.category(char) == "Cf" for char in message)
    return "empty" if invisible else None


def run_config_of(metadata: Any, tags: Any, callbacks: Any) -> RunnableConfig:
    """Return the caller's options for the runs of one turn, in LangChain's form.

    Raises:
        ConfigurationError: An option has a type that LangChain does not accept.
    """
    given: RunnableConfig = {}
    if metadata is not None:
        if not isinstance(metadata, Mapping) or not all(isinstance(name, str) for name in metadata):
            raise ConfigurationError(
                f"metadata must be a dict with names of text, not {type(metadata).__name__}."
            )
        given["metadata"] = dict(metadata)
    if tags is not None:
        if isinstance(tags, str) or not all(isinstance(tag, str) for tag in tags):
            raise ConfigurationError("tags must be a list of texts.")
        given["tags"] = list(tags)
    if callbacks is not None:
        is_manager = isinstance(callbacks, BaseCallbackManager)
        given["callbacks"] = callbacks if is_manager else _handlers(callbacks)
    return given


def _handlers(callbacks: Any) -> list[BaseCallbackHandler]:
    listed = list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks]
    for handler in listed:
        if not isinstance(handler, BaseCallbackHandler):
            raise ConfigurationError(
                f"callbacks must be LangChain callback handlers, not {type(handler).__name__}."
            )
    return listed


def initial_ops(
    spec: JourneySpec, config: JourneyConfig, initial: Mapping[str, Any] | None
) -> list[Op]:
    """Return the operations of an initial context.

    Raises:
        ConfigurationError: It is not a dict.
        ContextMergeError: A value is not JSON; the error has its path.
        ContextSizeExceededError: It exceeds the limit.
    """
    if initial is None:
        return []
    if not isinstance(initial, Mapping):
        raise ConfigurationError(f"initial_context must be a dict, not {type(initial).__name__}.")
    ops: list[Op] = [
        ["replace", name, value, spec.entry]
        for name, value in _plain(initial, "initial_context").items()
    ]
    checked({}, ops, config.max_context_size_bytes)
    return ops


def event_of(name: Any, data: Any) -> OutsideEvent:
    """Return an event from outside.

    Args:
        name: Its name, 1 to 200 characters.
        data: Values for the context, by name; None: none.

    Raises:
        InvalidMessageError: The name is no such text, or contains control or broken characters.
        ConfigurationError: The data is not a dict.
        ContextMergeError: A value is not JSON; the error has its path.
    """
    if not isinstance(name, str) or not 0 < len(name) <= MOST_EVENT:
        raise InvalidMessageError(
            f"The name of an event must be 1 to {MOST_EVENT} characters of text, not {name!r:.80}."
        )
    read(name)
    if data is None:
        return OutsideEvent(name=name, data={})
    if not isinstance(data, Mapping):
        raise ConfigurationError(
            f"The data of an event must be a dict of context values, not {type(data).__name__}."
        )
    return OutsideEvent(name=name, data=_plain(data, "data"))


def _plain(values: Mapping[str, Any], what: str) -> dict[str, Any]:
    """Return values for the context as plain JSON.

    Raises:
        ContextMergeError: One is not JSON; the error has its path.
    """
    kept: dict[str, Any] = {}
    for name, value in values.items():
        try:
            kept |= plain({name: value}, what)
        except ValueError as error:
            raise ContextMergeError(str(name), "replace", f"{error}.") from error
    return kept


def checked_locale(locale: Any) -> Locale:
    """Return the checked locale of a session.

    Raises:
        ConfigurationError: It is not a `Locale`.
    """
    if locale is None or isinstance(locale, Locale):
        return locale or NOWHERE
    raise ConfigurationError(
        f"locale is {locale!r:.80}; it must be a Locale, such as "
        "Locale(language='de', region='DE')."
    )


def new_name(session_id: Any) -> str:
    """Return the id of a session that begins.

    Raises:
        ConfigurationError: As of `new_id_of`, or it contains `/`, which comes after the tenant in
            LangGraph's tables.
    """
    if "/" in new_id_of(session_id):
        raise ConfigurationError(
            f"The id of a new session must not contain '/': {session_id!r:.80}. Use another "
            "character, such as '-'."
        )
    return str(session_id)


def is_id(value: Any) -> bool:
    """Return whether a value is 1 to 200 printable characters, as ids of sessions and users."""
    return isinstance(value, str) and 0 < len(value) <= 200 and value.isprintable()


def is_new_id(value: Any) -> bool:
    """Return whether a new session or user can have an id.

    `.` and `..` are removed from the path of a URL by clients and proxies (RFC 3986, section
    5.2.4), also as `%2E`, and so are these parts between `/`. So a request could not name the id,
    or would name another one.
    """
    return is_id(value) and not {".", ".."} & set(value.split("/"))


def checked_id(session_id: Any, name: str = "session_id") -> str:
    """Return the id of a session, or of a user, that can be stored and logged.

    Raises:
        ConfigurationError: It is not 1 to 200 printable characters of text.
    """
    if is_id(session_id):
        return str(session_id)
    raise ConfigurationError(
        f"{name} must be 1 to 200 printable characters of text, not {session_id!r:.80}."
    )


def new_id_of(value: Any, name: str = "session_id") -> str:
    """Return the id of a new session, or of the user of one.

    Raises:
        ConfigurationError: As of `checked_id`, or `is_new_id` is False.
    """
    if is_new_id(checked_id(value, name)):
        return str(value)
    raise ConfigurationError(
        f"{name} must not be '.' or '..', nor have them between '/': {value!r:.80} cannot be named "
        "in a URL. Use another id."
    )
