"""Compare agent cards with a task by embeddings from a function of the author."""

from __future__ import annotations

import asyncio
import inspect
from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Callable, Sequence
from math import hypot, isfinite
from operator import mul
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from cachetools import LRUCache

from journeys import AgentCard
from nodes.authored import contained, in_thread

Vectors = Sequence[Sequence[float]]
Embed = Callable[[Sequence[str]], Vectors | Awaitable[Vectors]]
LONGEST = 10.0
"""Seconds after which embeddings are no longer waited for."""

_Key = tuple[int, int, int]
# Each entry holds the card and the function, so that no other one can have their identity.
_vectors: LRUCache[_Key, tuple[Any, Any, list[float]]] = LRUCache(4096)
_turns: WeakKeyDictionary[AbstractEventLoop, Any] = WeakKeyDictionary()
_at_work = Lock()


class EmbeddingsFailed(Exception):
    """The author's function failed, took too long, or gave what are no vectors; `kind` says it."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(kind)


async def closeness(embed: Embed, task: str, cards: Sequence[AgentCard]) -> list[float]:
    """Return how close each card is to a task: the cosine of their vectors, at least 0.

    Cards are embedded once for each function.

    Args:
        embed: Given texts, returns or awaits a vector for each. One that is not async runs in a
            thread.
        task: What is to be done.
        cards: Who could do it.

    Raises:
        EmbeddingsFailed: There are no vectors to go by.
    """
    try:
        async with asyncio.timeout(LONGEST):
            known = await _of_cards(embed, cards)
            asked = (await _embedded(embed, [task]))[0]
    except EmbeddingsFailed:
        raise
    except Exception as error:
        raise EmbeddingsFailed(type(error).__name__) from error
    if any(len(vector) != len(asked) for vector in known):
        raise EmbeddingsFailed("malformed")
    return [min(1.0, max(0.0, sum(map(mul, asked, vector)))) for vector in known]


async def _of_cards(embed: Embed, cards: Sequence[AgentCard]) -> list[list[float]]:
    found = _kept(embed, cards)
    if None in found:
        async with _turn_of(embed):  # or many first requests at once would each embed all cards
            found = _kept(embed, cards)
            new = [card for card, vector in zip(cards, found, strict=True) if vector is None]
            made = iter(await _embedded(embed, [_text(card) for card in new]) if new else ())
            found = [next(made) if vector is None else vector for vector in found]
            _keep(embed, cards, found)
    return [vector for vector in found if vector is not None]


def _kept(embed: Embed, cards: Sequence[AgentCard]) -> list[list[float] | None]:
    with _at_work:
        entries = [_vectors.get(_key(embed, card)) for card in cards]
    return [entry[2] if entry else None for entry in entries]


def _keep(embed: Embed, cards: Sequence[AgentCard], vectors: Sequence[Any]) -> None:
    with _at_work:
        for card, vector in zip(cards, vectors, strict=True):
            _vectors[_key(embed, card)] = (card, embed, vector)


def _turn_of(embed: Embed) -> asyncio.Lock:
    turns = _turns.setdefault(asyncio.get_running_loop(), LRUCache(256))
    turn: asyncio.Lock = turns.setdefault(_identity(embed), asyncio.Lock())
    return turn


async def _embedded(embed: Embed, texts: list[str]) -> list[list[float]]:
    """Return the vectors of some texts, each of length 1."""
    with contained():
        if inspect.iscoroutinefunction(embed):
            given = await embed(texts)
        else:
            given = await in_thread("embed", lambda _: embed(texts), {}, lambda name: lambda: None)
            given = await given if inspect.isawaitable(given) else given
    vectors = [[float(number) for number in vector] for vector in given]
    lengths = [hypot(*vector) for vector in vectors]
    if len(vectors) != len(texts) or not all(length and isfinite(length) for length in lengths):
        raise EmbeddingsFailed("malformed")
    return [
        [number / length for number in vector]
        for vector, length in zip(vectors, lengths, strict=True)
    ]


def _key(embed: Embed, card: AgentCard) -> _Key:
    return *_identity(embed), id(card)


def _identity(embed: Embed) -> tuple[int, int]:
    # A bound method is made anew each time it is named; what it is bound to is not.
    owner, function = getattr(embed, "__self__", embed), getattr(embed, "__func__", embed)
    return id(owner), id(function)


def _text(card: AgentCard) -> str:
    skills = (
        ". ".join([skill.name, skill.description, *skill.synonyms, *skill.examples])
        for skill in card.skills
    )
    return "\n".join([card.name, card.description, *skills])
