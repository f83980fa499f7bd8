"""Validators that are tools: named where a field is declared, handed over when the journey runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from journeys.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class ToolCheck:
    """Stands in a `Check` for a tool of the journey, which judges the value.

    The tool is given what the context has by the names of its parameters, the value under the
    field's name and as `value`. While something that it needs is not known yet, it is not asked:
    let the field depend on that, and it is asked then.

    Attributes:
        tool: Name of the tool. What it gives counts as of `Check`.
    """

    tool: str

    def __call__(self, value: Any, context: Mapping[str, Any]) -> Any:
        """Refuse to judge: the tool takes its place where the journey runs.

        Raises:
            ConfigurationError: Always.
        """
        raise ConfigurationError(f"The tool '{self.tool}' was not handed over to check a value.")
