"""One breaker a model: what does not answer is not waited for, whatever it is asked for."""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from journeys import JourneyConfig, ModelError
from nodes.breaker import RestsError, breaker_of
from nodes.llm.chat import Chat
from nodes.telemetry import model_rests

_SILENT = frozenset({"timeout", "unavailable", "unreadable"})
"""Failures of a model that does not answer. One that answers wrongly costs nobody any time."""
_PLACES = ("openai_api_base", "azure_endpoint", "base_url", "anthropic_api_url", "endpoint")
"""Where the classes of providers keep the address of their server; None is the provider's own."""
# By identity: LangChain's models compare by value. Not the identity itself, which is used again.
_own: dict[int, object] = {}


def resting(chat: Chat, config: JourneyConfig) -> Chat:
    """Return a model that rests after failures in a row, in all sessions of the process."""
    limits = config.breaker_failures, config.breaker_seconds
    return replace(chat, breaker=breaker_of(identity_of(chat), *limits, in_a_row=True))


def identity_of(chat: Chat) -> Hashable:
    """Return what tells a model from others: its provider, its name and its server's address.

    A model of a class that has no address, as those of tests, is itself alone.
    """
    model = chat.model
    client = getattr(model, "root_async_client", None)  # knows the address of the environment
    places = [str(place) for name in _PLACES if (place := getattr(model, name, None))]
    if not places and client is None and not any(hasattr(model, name) for name in _PLACES):
        return _own_of(model), chat.name
    if client is not None:
        places = [str(client.base_url)]
    name = chat.name or getattr(model, "model_name", None) or getattr(model, "model", None)
    return "model", _provider_of(model), name, *places


def _provider_of(model: Any) -> str:
    """Return the package that a model's class comes from, or that the class is derived from."""
    packages = [kind.__module__.partition(".")[0] for kind in type(model).__mro__]
    theirs = [
        name for name in packages if name.startswith("langchain_") and name != "langchain_core"
    ]
    return theirs[0] if theirs else packages[0]


def _own_of(model: Any) -> object:
    key = id(model)
    if key not in _own:
        _own[key] = object()
        weakref.finalize(model, _own.pop, key, None)
    return _own[key]


@contextmanager
def rested(chat: Chat) -> Iterator[None]:
    """Ask a model unless it rests, and take note of whether it answers.

    Raises:
        ModelError: It rests; with kind "unavailable".
    """
    if chat.breaker is None:
        yield
        return
    name = str(chat.name or getattr(chat.model, "model_name", "") or "")
    try:
        with chat.breaker.guarding(_is_silent, lambda opened: model_rests(name, opened=opened)):
            yield
    except RestsError as rests:
        raise ModelError("unavailable", f"the model is not asked: {rests}") from rests


def _is_silent(error: BaseException) -> bool | None:
    return error.kind in _SILENT if isinstance(error, ModelError) else None
