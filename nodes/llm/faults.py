"""What a model does wrong, as one error: no exception of a client library leaves this folder."""

from __future__ import annotations

import email.utils
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from journeys import ModelError

_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
"""Statuses of which the same request may well succeed a moment later."""
_WHY = {400: "it refused the request", 401: "it refused the key", 403: "it refused the key"}
_FINISHED = frozenset({"stop", "tool_calls", "function_call", "end_turn", "tool_use"})
_CUT_OFF = frozenset({"length", "max_tokens", "MAX_TOKENS"})
_REFUSED = frozenset({"content_filter", "refusal", "safety", "SAFETY"})


def stated(error: Exception) -> ModelError:
    """Return what a client library raised as one of our errors.

    What the other side said stays out of the text: it may repeat a key or a prompt.
    """
    if isinstance(error, ModelError):
        return error
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status >= 400:
        why = _WHY.get(status, "it is overloaded" if status == 429 else "it failed")
        kind = "unavailable" if status in _AGAIN else "rejected"
        return ModelError(kind, f"the model answered {status}: {why}")
    if isinstance(error, TimeoutError) or "Timeout" in type(error).__name__:
        return ModelError("timeout", "the model did not answer in time")
    if "Connection" in type(error).__name__ or isinstance(error, OSError):
        return ModelError("unavailable", "the model cannot be reached, or broke the connection off")
    return ModelError("unreadable", f"the model's answer cannot be read ({type(error).__name__})")


def may_pass(failure: ModelError) -> bool:
    """Say whether the same request may succeed a moment later."""
    return failure.kind in ("unavailable", "unreadable")


def asked_to_wait(error: Exception) -> float | None:
    """Return the seconds that a `Retry-After` asks to wait for; None if nothing does."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    said = headers.get("retry-after") if headers is not None else None
    if said is None:
        return None
    try:
        return max(0.0, float(said))
    except ValueError:
        return _until(said)


def _until(date: str) -> float | None:
    try:
        when = email.utils.parsedate_to_datetime(date)
    except ValueError:
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


def check_finished(message: Any, *, says_so: bool) -> None:
    """Refuse an answer that was cut off or withheld.

    Args:
        message: The model's message.
        says_so: Whether this kind of model always tells why it stopped, so that an answer without
            a reason was cut off on its way.

    Raises:
        ModelError: With kind "cut_off" or "refused".
    """
    metadata: Mapping[str, Any] = message.response_metadata
    reason = metadata.get("finish_reason") or metadata.get("stop_reason")
    if reason in _REFUSED or message.additional_kwargs.get("refusal"):
        raise ModelError("refused", "the model, or a filter before it, refused to answer")
    if reason in _CUT_OFF:
        raise ModelError("cut_off", "the model's answer was longer than it may be, and was cut")
    if says_so and reason not in _FINISHED:
        raise ModelError("cut_off", "the model's answer broke off before its end")
