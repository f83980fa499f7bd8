"""Knowledge of a journey: a retriever that answers questions of users, and its limits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from journeygraph.journeys import door
from journeygraph.journeys.definitions.definition import Definition
from journeygraph.journeys.definitions.sources import wrong
from journeygraph.journeys.definitions.value_types import (
    InCode,
    Seconds,
    ToolName,
    at_least,
    is_whole,
)
from journeygraph.journeys.errors import ConfigurationError, shown


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text that may answer a question.

    Attributes:
        text: The text.
        source: Its source, as users see it. Default: the name of the retriever.
        about: Words of questions that it answers, such as its heading. Only `select_passages` reads
            them; they have more weight than those of the text.
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
        k: Most passages that are returned.
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
    if strange := [one for one in passages if not isinstance(one, Passage)]:
        raise ConfigurationError(f"{shown(strange[0])} is not a Passage. Write Passage('text').")
    if not is_whole(k) or k < 1:
        raise ConfigurationError(f"k is {shown(k)}; it must be a whole number from 1 on.")
    scores = door.passage_scores(question, passages) if passages else []
    places = [place for place, score in enumerate(scores) if score and score >= least]
    return [passages[place] for place in sorted(places, key=lambda place: -scores[place])[:k]]


def _retriever(given: Any) -> Any:
    if fault := retriever_fault(given):
        raise wrong(f"{fault}.")
    return given


class Knowledge(Definition):
    """A retriever, and the limits of its results.

    Attributes:
        retriever: A function of the question, sync or async; an object with LangChain's `ainvoke`;
            or the name under which one of these is passed as one of `tools`. It returns passages,
            the best one first: each a `Passage`, a text, a document of LangChain, or a mapping with
            `text` and `source`.
        timeout: Longest call in seconds.
        passages: Largest number of passages that are used.
        characters: Largest number of characters of a passage; a longer one is cut.

    Raises:
        ConfigurationError: It is not a retriever, or a limit is not valid.

    Example:
        >>> def handbook(question: str) -> list[Passage]:
        ...     return [Passage("Breakfast is from seven to ten.", "house rules")]
        >>> Knowledge(handbook, timeout=2).name
        'handbook'
    """

    retriever: Annotated[Callable[[str], Any] | Any, InCode(ToolName, _retriever)]
    timeout: Seconds = 5.0
    passages: Annotated[int, at_least(1, 50)] = 5
    characters: Annotated[int, at_least(1, 20_000)] = 2000

    @property
    def name(self) -> str:
        """Return the name of the retriever in records: its own, or that of its class."""
        if isinstance(self.retriever, str):
            return self.retriever
        named = getattr(self.retriever, "__name__", None)
        return named if isinstance(named, str) else type(self.retriever).__name__


def retriever_fault(given: Any, *, named: bool = True) -> str:
    """Return why something is no retriever; empty if it is one.

    Args:
        named: True if the name of a retriever is valid too.
    """
    if isinstance(given, str) and named:
        return "" if given.strip() else "the name must not be empty"
    is_class = isinstance(given, type)
    if not is_class and (callable(getattr(given, "ainvoke", None)) or callable(given)):
        return ""
    hint = f"give an instance of {given.__name__}" if is_class else "give a function of a question"
    return f"{hint}, or an object with LangChain's ainvoke"


def retriever_names(known: Sequence[Knowledge | None]) -> list[str]:
    """Return the names of retrievers that are passed when a journey is opened."""
    names = [one.retriever for one in known if one and isinstance(one.retriever, str)]
    return list(dict.fromkeys(names))
