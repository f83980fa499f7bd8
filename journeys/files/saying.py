"""States that say a text which a file gives, instead of what agents would say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Formatter
from typing import Any

from journeys.agent_card import Agent
from journeys.pipelines.pattern import PatternPipeline


@dataclass(frozen=True, slots=True)
class Saying:
    """An agent that says one text; `{name}` stands for a value of the context, else for nothing.

    Attributes:
        text: The text, with doubled braces where braces are meant.
    """

    text: str

    @property
    def reads(self) -> frozenset[str]:
        """The names of the context that it says."""
        return frozenset(name for _, name, _, _ in Formatter().parse(self.text) if name)

    def __call__(self, ask: Mapping[str, Any]) -> str:
        """Return the text."""
        context = ask["context"]
        parts = Formatter().parse(self.text)
        said = (
            before + ("" if name is None else _told(context.get(name)))
            for before, name, _, _ in parts
        )
        return "".join(said)


def saying(id_: str, text: str) -> PatternPipeline:
    """Return the pipeline of a state that says a text."""
    agent = Agent(Saying(text), name=id_)
    return PatternPipeline("sequential", [agent], error_handling="fail-fast", name=id_)


def saying_fault(text: str) -> str:
    """Return what is wrong with a text's braces; empty: nothing."""
    try:
        names = [name for _, name, _, _ in Formatter().parse(text) if name is not None]
    except ValueError:
        names = [""]
    if all(name.isidentifier() for name in names):
        return ""
    return "braces hold the name of a value, such as {email}. Double them where they are meant."


def _told(value: Any) -> str:
    if isinstance(value, Mapping) and value.keys() == {"amount", "currency"}:
        return f"{value['currency']} {value['amount']}".strip()
    if isinstance(value, list):
        return ", ".join(map(_told, value))
    return "" if value is None else str(value)
