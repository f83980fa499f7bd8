"""The published JSON Schema of definition files, for editors and for other programs."""

from __future__ import annotations

from typing import Any

from journeys.files.form import FORMS

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def published(kind: str | None = None) -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of definition files.

    What only shows when a file is read as a whole, such as a name that is nowhere, it cannot say:
    `journeygraph check` does.

    Args:
        kind: "journey", "agent", "concierge" or "guidelines"; None: whichever a file is.
    """
    if kind is not None:
        return {"$schema": DIALECT, **_plain(FORMS[kind].model_json_schema())}
    parts: dict[str, Any] = {}
    for name, form in FORMS.items():
        schema = _plain(form.model_json_schema())
        parts |= schema.pop("$defs")
        parts[name] = schema
    return {
        "$schema": DIALECT,
        "title": "A file of JourneyGraph",
        "type": "object",
        "if": {"required": ["journeys"]},
        "then": {"$ref": "#/$defs/concierge"},
        "else": {
            "if": _GUIDELINES_ALONE,
            "then": {"$ref": "#/$defs/guidelines"},
            "else": {
                "if": _AGENT,
                "then": {"$ref": "#/$defs/agent"},
                "else": {"$ref": "#/$defs/journey"},
            },
        },
        "$defs": parts,
    }


_AGENT = {"required": ["fields"], "not": {"required": ["states"]}}
_GUIDELINES_ALONE = {
    "required": ["guidelines"],
    "not": {"anyOf": [{"required": [key]} for key in ("id", "states", "fields")]},
}


def _plain(schema: Any, *, names: bool = False) -> Any:
    """Return a schema without the titles of single keys, which tell nothing next to their names.

    Args:
        schema: A schema, or a part of one.
        names: True if its keys are names of the file and not words of a schema.
    """
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {
        key: _plain(item, names=key in ("properties", "$defs", "patternProperties"))
        for key, item in schema.items()
        if names or key != "title" or "properties" in schema
    }
    if not names and "patternProperties" in kept:
        kept["additionalProperties"] = False
    return kept
