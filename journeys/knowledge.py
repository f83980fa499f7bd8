"""Where the answers to questions of users are looked up: a retriever, and its limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from journeys import door
from journeys.errors import ConfigurationError, shown
from journeys.validators import is_number, is_whole


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text that may answer a question.

    Attributes:
        text: The text.
        source: Where it stands, as users are told it; empty: the name of the retriever.
        about: Words of questions that it answers, such as its heading. Only `select_passages` reads
            them; they count more than those of the text.
    """

    text: str
    source: str = ""
    about: str = ""


def select_passages(
    question: str, passages: Sequence[Passage], k: int = 3, least: float = 0.3
) -> list[Passage]:
    """Return the passages that fit a question best, best first; no model is asked.

    They are compared by their words, as the cards of agents are: forms of a word are one, rare
    words count more, and a synonym or a typing error counts in part. Of equals, the one that says
    those words more often comes first.

    Args:
        question: The question.
        passages: All passages. The same ones are read once.
        k: How many are returned, at most.
        least: The least share of the question's words, from 0 to 1, that a passage must have.

    Raises:
        ConfigurationError: The question is no text, there is something else among the passages, or
            `k` is below 1.

    Example:
        >>> rules = [Passage("Breakfast is from seven to ten."), Passage("Dogs sleep outside.")]
        >>> select_passages("when can we have breakfast?", rules)[0].text
        'Breakfast is from seven to ten.'
    """
    if not isinstance(question, str):
        raise ConfigurationError(f"The question is {shown(question)}; it must be text.")
    if wrong := [one for one in passages if not isinstance(one, Passage)]:
        raise ConfigurationError(f"{shown(wrong[0])} is no Passage. Write Passage('text').")
    if not is_whole(k) or k < 1:
        raise ConfigurationError(f"k is {shown(k)}; it must be a whole number from 1 on.")
    scores = door.passage_scores(question, passages) if passages else []
    places = [place for place, score in enumerate(scores) if score and score >= least]
    return [passages[place] for place in sorted(places, key=lambda place: -scores[place])[:k]]


@dataclass(frozen=True, slots=True)
class Knowledge:
    """A retriever, and how much of what it finds is used.

    Attributes:
        retriever: A function, sync or async, of the question; an object with LangChain's `ainvoke`;
            or the name under which one of these is passed as one of `tools`. It gives passages, the
            best one first: each a `Passage`, a text, a document of LangChain, or a mapping with
            `text` and `source`.
        timeout: Most seconds for it.
        passages: Most passages that are used.
        characters: Most characters of a passage; a longer one is cut.

    Raises:
        ConfigurationError: It is no retriever, or a limit is none.

    Example:
        >>> def handbook(question: str) -> list[Passage]:
        ...     return [Passage("Breakfast is from seven to ten.", "house rules")]
        >>> Knowledge(handbook, timeout=2).name
        'handbook'
    """

    retriever: Callable[[str], Any] | Any
    timeout: float = 5.0
    passages: int = 5
    characters: int = 2000

    def __post_init__(self) -> None:
        if fault := retriever_fault(self.retriever):
            raise ConfigurationError(f"Knowledge: retriever is {shown(self.retriever)}; {fault}.")
        if not is_number(self.timeout) or not 0 < self.timeout < math.inf:
            self._fault("timeout", self.timeout, "a number of seconds above 0")
        for name, most in (("passages", 50), ("characters", 20_000)):
            value = getattr(self, name)
            if not is_whole(value) or not 1 <= value <= most:
                self._fault(name, value, f"a whole number from 1 to {most}")

    @property
    def name(self) -> str:
        """What the retriever is called in records: its name, or that of its class."""
        if isinstance(self.retriever, str):
            return self.retriever
        named = getattr(self.retriever, "__name__", None)
        return named if isinstance(named, str) else type(self.retriever).__name__

    def _fault(self, name: str, value: Any, wanted: str) -> None:
        raise ConfigurationError(f"Knowledge: {name} is {shown(value)}; it must be {wanted}.")


def retriever_fault(given: Any, *, named: bool = True) -> str:
    """Return why something is no retriever; empty if it is one.

    Args:
        given: What an author gives.
        named: Whether a name stands for one.
    """
    if isinstance(given, str) and named:
        return "" if given.strip() else "the name must not be empty"
    is_class = isinstance(given, type)
    if not is_class and (callable(getattr(given, "ainvoke", None)) or callable(given)):
        return ""
    hint = f"give an instance of {given.__name__}" if is_class else "give a function of a question"
    return f"{hint}, or an object with LangChain's ainvoke"


def read_knowledge(where: str, declared: Any, faults: list[str]) -> Knowledge | None:
    """Read the `__knowledge__` of a class; None where it has none."""
    if declared is None or isinstance(declared, Knowledge):
        return declared
    if fault := retriever_fault(declared):
        faults.append(f"{where}: __knowledge__ is {shown(declared)}; {fault}.")
        return None
    return Knowledge(declared)


def retriever_names(known: Sequence[Knowledge | None]) -> list[str]:
    """Return the names of retrievers that are passed when a journey is opened."""
    names = [one.retriever for one in known if one and isinstance(one.retriever, str)]
    return list(dict.fromkeys(names))
