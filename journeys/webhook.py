"""Address and signature of the webhook for escalations."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from journeys.errors import ConfigurationError

LEAST_SECRET = 16
"""Shortest secret that is taken, in characters."""
_REMEDY = "Make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"


def check_webhook(url: Any, secret: Any) -> None:
    """Refuse a webhook that cannot be posted to or signed for; neither is shown.

    Raises:
        ConfigurationError: The URL is not http(s) with a host and nothing but a path and a query,
            or one of the two is missing, or the secret has fewer than 16 characters.
    """
    if url is None and secret is None:
        return
    if url is None:
        raise ConfigurationError(
            "escalation_secret is set, but escalation_webhook is not. Set both, or none."
        )
    if not isinstance(url, str) or not _is_plain(url):
        raise ConfigurationError(
            "escalation_webhook must be a URL such as https://desk.example/calls, without user, "
            "password or fragment."
        )
    if not isinstance(secret, str) or len(secret) < LEAST_SECRET:
        raise ConfigurationError(
            f"escalation_secret must be text of {LEAST_SECRET} characters or more: it signs the "
            f"requests to escalation_webhook. {_REMEDY}"
        )


def _is_plain(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    is_http = parts.scheme in ("http", "https") and bool(parts.hostname) and port != 0
    return is_http and not parts.username and not parts.fragment and url.isprintable()
