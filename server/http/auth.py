"""Authenticate requests: by key, or, without keys, from this machine only."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Iterable
from functools import lru_cache
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.types import Scope

from journeys import ConfigurationError
from server.http.problems import Problem

LEAST_CHARACTERS = 16
"""Least length of a key."""
KEY_REMEDY = "Make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
"""Remedy for a missing key."""


class Keys:
    """The API keys, as SHA-256 digests.

    Args:
        keys: The keys in plain text; only their digests are stored.

    Raises:
        ConfigurationError: A key is too short or contains blanks; the text does not show it.
    """

    def __init__(self, keys: Iterable[str] = ()) -> None:
        given = list(keys)
        if any(len(key) < LEAST_CHARACTERS or not _writable(key) for key in given):
            raise ConfigurationError(
                "Every key in JOURNEYGRAPH_API_KEYS must be at least "
                f"{LEAST_CHARACTERS} visible ASCII characters; separate keys by commas. "
                f"{KEY_REMEDY}"
            )
        self._digests = tuple(_digest(key) for key in given)

    def __bool__(self) -> bool:
        """Return whether there are any keys."""
        return bool(self._digests)

    def admit(self, authorization: str) -> None:
        """Check the header `Authorization: Bearer KEY` of a request, if a key is set.

        Raises:
            Problem: 401 `unauthorized`; the same for no key and a wrong one.
        """
        scheme, _, key = authorization.partition(" ")
        given = _digest(key.strip()) if scheme.lower() == "bearer" else b""
        # All are compared, so that the time says nothing of which one it was.
        fits = [hmac.compare_digest(given, digest) for digest in self._digests]
        if self._digests and not any(fits):
            raise Problem(
                HTTPStatus.UNAUTHORIZED,
                "unauthorized",
                "An API key is required: send the header 'Authorization: Bearer KEY'.",
                headers={"WWW-Authenticate": "Bearer"},
            )

    def admit_from(self, scope: Scope) -> None:
        """Without a key, accept only requests from this machine to its own names.

        Otherwise a page in a browser on this machine could reach the server by a foreign name that
        resolves to it.

        Raises:
            Problem: 403 `this_machine_only`.
        """
        if self._digests:
            return
        client = scope.get("client")
        host = _hostname(Headers(raw=scope["headers"]).get("host", ""))
        if (client and not is_loopback(client[0])) or not is_loopback(host):
            raise Problem(
                HTTPStatus.FORBIDDEN,
                "this_machine_only",
                "No API key is set here: only requests from this machine are served, to "
                "localhost or 127.0.0.1.",
            )


@lru_cache(maxsize=64)
def is_loopback(host: str) -> bool:
    """Return whether a name or an address is this machine's."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _hostname(host: str) -> str:
    """Return a Host header without its port."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _writable(key: str) -> bool:
    return key.isascii() and all("!" <= char <= "~" for char in key)


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()
