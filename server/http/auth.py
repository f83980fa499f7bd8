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
"""Shortest key that is taken."""
KEY_REMEDY = "Make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
"""How to come by a key."""


class Keys:
    """The API keys, as SHA-256 digests.

    Args:
        keys: The keys themselves; they are not kept.

    Raises:
        ConfigurationError: A key is too short or holds blanks; it is not shown.
    """

    def __init__(self, keys: Iterable[str] = ()) -> None:
        given = list(keys)
        if any(len(key) < LEAST_CHARACTERS or not _writable(key) for key in given):
            raise ConfigurationError(
                "Every key in JOURNEYGRAPH_API_KEYS must be at least "
                f"{LEAST_CHARACTERS} visible ASCII characters; commas part them. {KEY_REMEDY}"
            )
        self._digests = tuple(_digest(key) for key in given)

    def __bool__(self) -> bool:
        """Say whether there are any."""
        return bool(self._digests)

    def admit(self, authorization: str) -> None:
        """Let a request in by its header `Authorization: Bearer KEY`; anyone where no key is set.

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
                "This needs an API key: send the header 'Authorization: Bearer KEY'.",
                headers={"WWW-Authenticate": "Bearer"},
            )

    def admit_from(self, scope: Scope) -> None:
        """Where no key is set, answer this machine alone, and only by its own names.

        A page in a browser on this machine could otherwise reach the server by a name of its own
        that leads here.

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
                "No API key is set here, so only this machine is answered, by the names "
                "localhost and 127.0.0.1.",
            )


@lru_cache(maxsize=64)
def is_loopback(host: str) -> bool:
    """Say whether a name or an address means this machine."""
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
