"""Journeys in YAML and JSON files. What reads them is imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from journeygraph.journeys.journey import Journey
    from journeygraph.journeys.notions.guidelines import GuidelineSpec
    from journeygraph.journeys.spec.spec import JourneySpec

__all__ = [
    "document_kind",
    "load_journey",
    "read_guidelines_text",
    "read_journey_text",
]


def load_journey(path: str | PathLike[str]) -> type[Journey]:
    """Return the journey, the agent or the concierge of a YAML or JSON file as a class.

    A file says what the journey is; agents and what does the work of its tools are passed when it
    is opened, as for any class. It can name no code.

    Args:
        path: The file; one that ends in .json is read as JSON, every other one as YAML 1.2.

    Raises:
        JourneyDefinitionError: With every fault: file, line, column and the way out.
        OSError: There is no such file, or it cannot be read.

    Source: flow control, journey definition loading; the format is in docs/reference/files.md.
    """
    from journeygraph.journeys.files.loading import load  # noqa: PLC0415 - pydantic and ruamel take long

    return load(path)


def read_journey_text(
    text: str, name: str, beside: Callable[[str], str] | None = None
) -> JourneySpec:
    """Return the spec of a journey, or of a concierge, that is kept as text.

    Args:
        text: Content of the file.
        name: Of the file, for messages; one that ends in .json is read as JSON.
        beside: Returns the text of a file that a concierge names, or raises OSError. None: a
            concierge must hold its journeys itself.

    Raises:
        JourneyDefinitionError: With every fault.
    """
    from journeygraph.journeys.files.loading import journey_in  # noqa: PLC0415

    return journey_in(text, name, beside)


def read_guidelines_text(text: str, name: str) -> tuple[GuidelineSpec, ...]:
    """Return the global guidelines of a file that has nothing else, kept as text.

    Raises:
        JourneyDefinitionError: With every fault.
    """
    from journeygraph.journeys.files.loading import guidelines_in  # noqa: PLC0415

    return guidelines_in(text, name)


def document_kind(text: str, name: str) -> str:
    """Return what a text defines: "journey", "agent", "concierge" or "guidelines".

    Raises:
        JourneyDefinitionError: It cannot be read at all.
    """
    from journeygraph.journeys.files.loading import kind_in  # noqa: PLC0415

    return kind_in(text, name)
