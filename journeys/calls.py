"""Tools that a journey declares, and calls that a pathway makes before its agents work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that a journey declares by its name; what does the work is handed to the journey.

    Attributes:
        name: As models and pathways call it.
        description: What it is for; models are told it.
        parameters: JSON schema of its arguments, as OpenAI writes functions.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool that a pathway makes by itself, before its agents work.

    An argument that the context lacks keeps the tool from being called, and the agents are told
    which one it was.

    Attributes:
        tool: Name of the tool.
        arguments: Parameter -> name of the context's value that fills it; "message" is what the
            user said unless the context has it. Parameters that are left out are filled by the
            context values of their own names.
        save: Name under which the result is kept in the context; empty: only the agents of this
            turn get it, under the tool's name.

    Source: flow control, state guidance injection.
    """

    tool: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    save: str = ""
