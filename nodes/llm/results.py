"""What a model is told of a tool that ran: its result, or why it failed."""

from __future__ import annotations

from typing import Any

import orjson
from langchain_core.tools import ToolException
from pydantic import ValidationError
from pydantic_core import to_json

from nodes.plain import cleaned, plain, words_of

MOST_RESULT = 16 * 1024
"""Longest result of a tool that a model is shown, in characters."""


def shortened(result: Any) -> str:
    """Return the result of a tool as the text that a model is shown."""
    text = cleaned(result if isinstance(result, str) else _json(result))
    return text if len(text) <= MOST_RESULT else f"{text[:MOST_RESULT]} ... (cut here)"


def _json(result: Any) -> str:
    """Return whatever came back as JSON: the tool did its work, so this must not fail."""
    try:
        return orjson.dumps(plain(result, "result")).decode()
    except ValueError:  # a date, a set, an object
        pass
    try:
        return to_json(result, by_alias=False, inf_nan_mode="null", fallback=str).decode()
    except Exception:  # it holds itself, or cannot even be shown as text
        return "It is done; what it gave back cannot be shown."


def told(error: Exception) -> str:
    """Return what a model is told of a failure."""
    if isinstance(error, ValidationError):
        faults = (f"{'.'.join(map(str, f['loc']))}: {f['msg']}" for f in error.errors()[:3])
        return "the arguments do not fit: " + "; ".join(faults)
    # What a function says on purpose. Other errors come from below, with whatever they hold.
    if isinstance(error, (ValueError, LookupError, ToolException)):
        return words_of(error)
    return type(error).__name__
