"""`journeygraph schema`: the JSON Schema of definition files, for editors."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from server.cli.rendering import out


class Kind(StrEnum):
    """What a definition file can hold."""

    JOURNEY = "journey"
    AGENT = "agent"
    CONCIERGE = "concierge"
    GUIDELINES = "guidelines"


def schema(
    kind: Annotated[
        Kind | None, typer.Argument(help="Default: one schema for all of them.")
    ] = None,
) -> None:
    """Print the JSON Schema (draft 2020-12) of journeys in YAML and JSON files.

    With `# yaml-language-server: $schema=FILE` in its first line, a file is completed and checked
    by editors. What only shows in the whole file is found by `journeygraph check`.
    """
    from journeys.files.schema import published  # noqa: PLC0415 - pydantic takes long to import

    text = json.dumps(published(kind and kind.value), indent=2)
    out.print(text, markup=False, highlight=False, soft_wrap=True)
