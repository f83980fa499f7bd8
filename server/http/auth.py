"""Authenticate requests: by key, or, without keys, from this machine only."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING

from cachetools import LRUCache, TTLCache
from starlette.datastructures import Headers
from starlette.types import Scope as Connection

from journeygraph.journeys import ConfigurationError
from journeygraph.journeys.config import TENANT
from journeygraph.server.access.callers import ANYONE, Caller, Scope
from journeygraph.server.access.held_keys import HeldKey, HeldKeys
from journeygraph.server.access.keys import ApiKey, StoredKeys, is_key
from journeygraph.server.http.problems import Problem, out_of_scope, too_many, unauthorized

if TYPE_CHECKING:
    from journeygraph.server.access.limits import RateLimited, RateLimits
    from journeygraph.server.access.signed_tokens import SignedTokens

LEAST_CHARACTERS = 16
"""Least length of a key."""
KEY_REMEDY = "Make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
"""Remedy for a missing key."""


KNOWN_SECONDS = 5.0
"""Seconds for which a key of the database is known without another query.

A key that is revoked is refused by every process after this time at the latest.
"""
_MOST_KNOWN = 10_000


class Keys:
    """The keys that clients may send: those of the settings, and those of the database.

    Attributes:
        stored: The keys of the database, while the app runs; None: the app has no store.
        anyone: The client where no key is required.

    Args:
        keys: The keys of the settings in plain text; only their digests are stored.
        uses_stored: True: a key is required, also if there are none in the settings. Keys of the
            database count wherever a key is required.
        signed: Verifies tokens of an identity provider, which are keys too; a key is required then.
        timer: Clock for the time for which keys are known, in seconds.
        tenant: The tenant of clients with a key of the settings, and of those without a key.

    Raises:
        ConfigurationError: A key is too short or contains blanks; the text does not show it.
    """

    def __init__(
        self,
        keys: Iterable[str] = (),
        *,
        uses_stored: bool = False,
        signed: SignedTokens | None = None,
        timer: Callable[[], float] = time.monotonic,
        limits: RateLimits | None = None,
        tenant: str = TENANT,
    ) -> None:
        given = list(keys)
        if any(len(key) < LEAST_CHARACTERS or not _writable(key) for key in given):
            raise ConfigurationError(
                "Every key in JOURNEYGRAPH_API_KEYS must be at least "
                f"{LEAST_CHARACTERS} visible ASCII characters; separate keys by commas. "
                f"{KEY_REMEDY}"
            )
        self._digests = tuple(_digest(key) for key in given)
        self._callers = tuple(
            Caller(tenant, frozenset({Scope.ADMIN}), key_id=f"settings-{number}")
            for number in range(1, len(given) + 1)
        )
        self._uses_stored = uses_stored
        self._signed = signed
        self._known: TTLCache[bytes, ApiKey] = TTLCache(_MOST_KNOWN, KNOWN_SECONDS, timer)
        self._seen: LRUCache[bytes, bool] = LRUCache(_MOST_KNOWN)
        self._limits = limits
        self._held = HeldKeys()
        self.anyone = replace(ANYONE, tenant=tenant)
        self.stored: StoredKeys | None = None

    @property
    def in_settings(self) -> bool:
        """True if the settings have keys."""
        return bool(self._digests)

    @property
    def is_signed(self) -> bool:
        """True if signed tokens are accepted."""
        return self._signed is not None

    def __bool__(self) -> bool:
        """Return whether a key is required."""
        return bool(self._digests) or self._uses_stored or self._signed is not None

    async def admit(
        self, connection: Connection, authorization: str, scope: Scope, counts: str = ""
    ) -> Caller:
        """Return the caller by the header `Authorization: Bearer KEY` of a request.

        Args:
            counts: As for `RateLimits.admit`.

        Raises:
            Problem: 401 `unauthorized`, the same for no key and a wrong one; 403 `out_of_scope`;
                429 `too_many_requests`.
        """
        unknown = self.anyone
        if self._limits is not None:
            client = connection.get("client")
            unknown = replace(self.anyone, address=client[0] if client else "")
        caller = await self._admitted(authorization, unknown) if self else unknown
        may = not self or caller.has(scope)
        if self._limits is not None and self._limits.has_requests:
            caller = replace(caller, address=unknown.address)
            _raise(await self._limits.admit(caller, counts if may else ""))
        if not may:
            raise out_of_scope(scope)
        return caller

    async def count(self, caller: Caller, counts: str) -> None:
        """Count what an admitted request does besides, as `RateLimits.count`.

        Raises:
            Problem: 429 `too_many_requests`.
        """
        if self._limits is not None:
            _raise(await self._limits.count(caller, counts))

    def held(self, caller: Caller) -> AbstractContextManager[HeldKey]:
        """Return a block for an open stream of a client, with the key that it ends with."""
        return self._held.hold(caller, self.stored)

    async def _admitted(self, authorization: str, unknown: Caller) -> Caller:
        if caller := await self._caller(_key_in(authorization), unknown):
            return caller
        if self._limits and authorization:
            _raise(await self._limits.suspect(unknown))
        raise unauthorized()

    async def _caller(self, key: str, unknown: Caller) -> Caller | None:
        given = _digest(key)
        # All are compared, so that the time says nothing of which one it was.
        fits = [hmac.compare_digest(given, digest) for digest in self._digests]
        if any(fits):
            return self._callers[fits.index(True)]
        found = self._known.get(given)
        if found is not None:  # it may have ended since it was read
            return found.caller() if found.state == "valid" else None
        # An address with many wrong keys is served with keys only that were right before.
        if self._limits and key and given not in self._seen:
            _raise(await self._limits.suspected(unknown))
        caller = await self._looked_up(key, given)
        if caller:
            self._seen[given] = True
        else:
            self._seen.pop(given, None)
        return caller

    async def _looked_up(self, key: str, given: bytes) -> Caller | None:
        if not is_key(key):
            return await self._signed.caller(key) if self._signed else None
        found = await self.stored.find(key) if self.stored else None
        if found is None:
            return None
        self._known[given] = found
        return found.caller()

    def admit_from(self, scope: Connection) -> None:
        """Without a key, accept only requests from this machine to its own names.

        Otherwise a page in a browser on this machine could reach the server by a foreign name that
        resolves to it.

        Raises:
            Problem: 403 `this_machine_only`.
        """
        if self:
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


def _key_in(authorization: str) -> str:
    scheme, _, key = authorization.partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


def _raise(refused: RateLimited | None) -> None:
    if refused:
        raise too_many(
            refused.limit.counted, refused.limit.who, refused.limit.text, refused.seconds
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
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _writable(key: str) -> bool:
    return key.isascii() and all("!" <= char <= "~" for char in key)


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()
