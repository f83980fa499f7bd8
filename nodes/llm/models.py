"""Which model answers which step: those of the environment, or the one that was handed in."""

from __future__ import annotations

import asyncio
import os
import time
import weakref
from dataclasses import dataclass, field
from typing import Any

from cachetools import TLRUCache

from journeys import ConfigurationError
from nodes.llm.chat import Chat
from nodes.llm.limits import client_of

KEY, SERVER = "OPENAI_API_KEY", "OPENAI_BASE_URL"
MOST_CACHED = 2_000
"""Verdicts that are kept for messages that come again."""

Cache = TLRUCache[bytes, Any]


def new_cache() -> Cache:
    """Return an empty cache of verdicts; each entry `(seconds, value)` lives that long."""
    return TLRUCache(MOST_CACHED, ttu=lambda _, entry, now: now + entry[0], timer=time.monotonic)


@dataclass(eq=False, slots=True)
class Models:
    """The models of a process's journeys, as one event loop uses them.

    Attributes:
        handed: The chat model that was handed in; None makes OpenAI's by their names.
        cache: What was understood lately.
        in_one_loop: Whether one event loop asks them, which alone can use a connection again.
        users: Who has them open; the last one closes the connections.
    """

    handed: Any = field(default=None, repr=False)
    name: str | None = None
    cache: Cache = field(default_factory=new_cache, repr=False)
    in_one_loop: bool = True
    users: int = 0
    _client: Any = field(default=None, repr=False)
    _chats: dict[str, Chat] = field(default_factory=dict, repr=False)

    def step(self, configured: str) -> Chat:
        """Return the model of a step that the settings name; one handed in serves every step."""
        if self.handed is not None:
            return chat_of(self.handed)
        return self.named(self.name or configured)

    def named(self, name: str) -> Chat:
        """Return the model of a name that an author wrote at a trigger or an agent."""
        if self.handed is not None:
            return chat_of(self.handed, name)
        if name not in self._chats:
            self._chats[name] = chat_of(self._made(name))
        return self._chats[name]

    def _made(self, name: str) -> Any:
        from nodes.llm.openai_chat import QuickChatOpenAI  # noqa: PLC0415 - a second to import

        if self._client is None:
            self._client = client_of(keeps_alive=self.in_one_loop)
        # One deadline, ours: a second one around each chunk swallows the end of the first. A proxy
        # is the client's affair.
        model = QuickChatOpenAI(
            model=name,
            max_retries=0,
            stream_chunk_timeout=None,
            http_async_client=self._client,
            openai_proxy=None,
        )
        if model.use_responses_api is None:  # or it would depend on whether there are tools
            model.use_responses_api = False
        return model

    async def close(self) -> None:
        """Let go of the models; the last who does closes their connections, the cache stays."""
        self.users -= 1
        if self.users <= 0 and self._client is not None:
            client, self._client = self._client, None
            self._chats.clear()
            await client.aclose()


_open: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Any, Models]]
_open = weakref.WeakKeyDictionary()
# By identity: LangChain's models compare by value, and what one of them said is not another's.
_caches: dict[int, Cache] = {}


def open_models(given: Any) -> Models | None:
    """Return the models that a journey is given; None if there is none.

    Args:
        given: None takes OpenAI's where the environment has a key (`OPENAI_API_KEY`; the server at
            `OPENAI_BASE_URL`), False takes none, text is the name of an OpenAI model for every
            step, and a LangChain chat model serves every step itself.

    Raises:
        ConfigurationError: It is none of these, or a name without a key.
    """
    check_model(given)
    if not is_configured(given):
        return None
    if given is None or isinstance(given, str):
        models = _of_environment(given)
    else:
        models = Models(handed=given, cache=_cache_of(given))
    models.users += 1
    return models


def is_configured(given: Any) -> bool:
    """Say whether a journey that is given this has a model."""
    return given is not False and (given is not None or bool(os.environ.get(KEY)))


def check_model(given: Any) -> None:
    """Refuse what no journey can be given as its model; load the library that it needs.

    Raises:
        ConfigurationError: As `open_models`.
    """
    if not is_configured(given):
        return
    if given is not None and not isinstance(given, str):
        _check_handed(given)
        return
    if not os.environ.get(KEY):
        raise ConfigurationError(f"model='{given}' is a model of OpenAI's API: set {KEY}.")
    # Here, and not in the first turn, where it would hold up all others for a second.
    import nodes.llm.openai_chat  # noqa: F401, PLC0415


def _of_environment(name: str | None) -> Models:
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:  # compiled for a graph server, which runs it in a loop of its own
        return Models(name=name, in_one_loop=False)
    key = (name, os.environ.get(KEY), os.environ.get(SERVER))
    opened = _open.setdefault(loop, {})
    if key not in opened:
        opened[key] = Models(name=name)
    return opened[key]


def _check_handed(model: Any) -> None:
    from langchain_core.language_models import BaseChatModel  # noqa: PLC0415

    if not isinstance(model, BaseChatModel):
        raise ConfigurationError(
            f"model is {model!r:.80}; give a LangChain chat model (such as ChatOpenAI(...)), the "
            "name of an OpenAI model, or False for none."
        )
    if type(model).bind_tools is BaseChatModel.bind_tools:
        raise ConfigurationError(
            f"model is a {type(model).__name__}, which cannot be given tools (bind_tools), and so "
            "cannot be asked for an answer in a schema. Give another chat model."
        )


def _cache_of(model: Any) -> Cache:
    key = id(model)
    if key not in _caches:
        _caches[key] = new_cache()
        weakref.finalize(model, _caches.pop, key, None)
    return _caches[key]


def chat_of(model: Any, name: str | None = None) -> Chat:
    """Return a chat model that was handed in, by its own or another name.

    Raises:
        ConfigurationError: It is none of LangChain's chat models.
    """
    _check_handed(model)
    own_retries = getattr(model, "max_retries", 0) != 0
    return Chat(model, name, _is_openai(model), own_retries)


def _is_openai(model: Any) -> bool:
    """Whether a model speaks OpenAI's chat completions; a subclass of another provider may not."""
    kinds = {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(model).__mro__}
    speaks = kinds & {"langchain_openai.ChatOpenAI", "langchain_openai.AzureChatOpenAI"}
    # Some models leave chat completions as soon as there are tools.
    return bool(speaks) and not model._use_responses_api({"tools": [{"type": "function"}]})
