"""Callers by a signed token (JWT) of an identity provider; needs the extra `jwt`."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cachetools import TTLCache

from journeygraph.graphs.session.input import is_new_id
from journeygraph.journeys import ConfigurationError, StateError
from journeygraph.journeys.config import TENANT, is_tenant
from journeygraph.journeys.errors import require_extra
from journeygraph.nodes.telemetry import report
from journeygraph.server.access.callers import Caller, Scope

KNOWN_SECONDS = 5.0
"""Seconds for which a verified token is known."""
LEEWAY_SECONDS = 10.0
"""Difference between the clocks of the provider and of this server that is tolerated."""
FETCH_SECONDS = 5.0
"""Time limit to fetch the keys of the provider."""
AGAIN_SECONDS = 30.0
"""Least seconds between two readings of the keys because of a key that is not among them."""
_MOST_KNOWN, _MOST_CHARACTERS = 10_000, 8_192
_LATEST = 2**63 - 1
"""Latest time in a claim, in seconds since 1970; as in bodies, an integer has 64 bits."""
_UNSAFE = ("none",)
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class Provider:
    """An identity provider, as the settings describe it.

    Attributes:
        keys: Its public keys: the path of a JWKS file, or an "https://..." URL of one.
        algorithms: The algorithms of signatures that are accepted.
        issuer: The value of the claim `iss`.
        audience: The value that the claim `aud` must contain.
        user_claim: The claim with the id of the user.
        tenant_claim: The claim with the tenant; None: all tokens are of `tenant`.
        scope_claim: The claim with scopes, a list or separated by blanks; None: all talk.
        tenant: The tenant of tokens without such a claim.

    Raises:
        ConfigurationError: A value is missing or not safe.
    """

    keys: str
    algorithms: tuple[str, ...]
    issuer: str | None
    audience: str | None
    user_claim: str = "sub"
    tenant_claim: str | None = None
    scope_claim: str | None = None
    tenant: str = TENANT

    def __post_init__(self) -> None:
        """Check it."""
        if not self.issuer or not self.audience:
            raise ConfigurationError(
                "jwt_keys needs jwt_issuer and jwt_audience: else tokens for other programs would "
                "be accepted."
            )
        if not self.algorithms or any(name.lower() in _UNSAFE for name in self.algorithms):
            raise ConfigurationError("jwt_algorithms: name algorithms, such as RS256, not 'none'.")
        url = urlsplit(self.keys)
        if url.scheme == "http" and url.hostname not in _THIS_MACHINE:
            raise ConfigurationError(
                "jwt_keys: an http address can be changed on its way. Write https://..., or the "
                "path of a file."
            )


class SignedTokens:
    """Verifies tokens of one provider.

    A token of a user has the scope `talk`, and reaches the sessions of this user. If the claim of
    scopes has `operate` or `admin`, the token has that scope, and reaches all of its tenant.

    Raises:
        ConfigurationError: PyJWT is not installed, or the file of keys cannot be read.
    """

    def __init__(self, provider: Provider) -> None:
        require_extra("jwt", "Signed tokens (jwt_keys)", "jwt", "cryptography")
        import jwt  # noqa: PLC0415 - the extra `jwt`

        self._jwt = jwt
        self.provider = provider
        self._known: TTLCache[bytes, Caller] = TTLCache(_MOST_KNOWN, KNOWN_SECONDS)
        is_url = "://" in provider.keys
        self._keys: _Fetched | _File
        self._keys = _Fetched(jwt, provider.keys) if is_url else _File(jwt, provider.keys)

    async def caller(self, token: str) -> Caller | None:
        """Return the caller of a token; None if it is not valid.

        Raises:
            StateError: The keys of the provider could not be fetched.
        """
        if token.count(".") != 2 or len(token) > _MOST_CHARACTERS:
            return None
        given = hashlib.sha256(token.encode("utf-8", "replace")).digest()
        caller = self._known.get(given)
        if caller is None:
            claims = await self._verified(token)
            caller = self._caller_of(claims) if claims else None
            if caller is None:
                return None
            self._known[given] = caller
        return caller if time.time() < (caller.ends or 0.0) else None

    async def _verified(self, token: str) -> Mapping[str, Any] | None:
        jwt, provider = self._jwt, self.provider
        try:
            key = await self._keys.of(jwt.get_unverified_header(token).get("kid"))
            if key is None:
                return None
            claims: Mapping[str, Any] = jwt.decode(
                token,
                key,
                algorithms=list(provider.algorithms),
                audience=provider.audience,
                issuer=provider.issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iss", "aud", provider.user_claim]},
            )
        except jwt.PyJWTError:
            return None
        times = [claims[name] for name in ("exp", "nbf", "iat") if name in claims]
        return claims if all(map(_is_time, times)) else None

    def _caller_of(self, claims: Mapping[str, Any]) -> Caller | None:
        provider = self.provider
        user = claims[provider.user_claim]
        tenant = claims.get(provider.tenant_claim) if provider.tenant_claim else provider.tenant
        if not (is_new_id(user) and is_tenant(tenant)):
            return None
        scopes = _scopes_in(claims.get(provider.scope_claim) if provider.scope_claim else None)
        return Caller(
            str(tenant),
            scopes or frozenset({Scope.TALK}),
            None if scopes else user,
            _key_id(claims["iss"], user),
            ends=float(claims["exp"]) + LEEWAY_SECONDS,
            is_signed=True,
        )


def _key_id(issuer: str, subject: str) -> str:
    """Return the id of all tokens of a person, whose limits count together."""
    return f"jwt-{hashlib.sha256(json.dumps([issuer, subject]).encode()).hexdigest()[:12]}"


def _is_time(value: Any) -> bool:
    """Return whether a claim is a NumericDate (RFC 7519, section 2) of at most 64 bits.

    PyJWT takes texts, booleans and numbers of any size too.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value <= _LATEST


def _scopes_in(claim: Any) -> frozenset[Scope]:
    names = claim.split() if isinstance(claim, str) else claim if isinstance(claim, list) else ()
    return frozenset(scope for scope in (Scope.OPERATE, Scope.ADMIN) if scope.value in names)


class _File:
    """Keys in a file, read again when a token names one that is not among them."""

    def __init__(self, jwt: Any, path: str) -> None:
        self._jwt, self._path = jwt, Path(path)
        self._keys = self._read()
        self._read_at = time.monotonic()

    async def of(self, key_id: str | None) -> Any:
        """Return the key of an id; without one the only key. None: there is no such key."""
        if found := self._among(key_id):
            return found
        if time.monotonic() - self._read_at >= AGAIN_SECONDS:
            self._read_at = time.monotonic()
            try:
                self._keys = await asyncio.to_thread(self._read)
            except ConfigurationError:  # it may be half written: the keys from before still count
                report(logging.WARNING, "jwt_keys_unread")
        return self._among(key_id)

    def _among(self, key_id: str | None) -> Any:
        if key_id is None:
            return self._keys[0] if len(self._keys) == 1 else None
        return next((key for key in self._keys if key.key_id == key_id), None)

    def _read(self) -> list[Any]:
        try:
            return list(self._jwt.PyJWKSet.from_json(self._path.read_text("utf-8")).keys)
        except (OSError, ValueError, self._jwt.PyJWTError) as error:
            raise ConfigurationError(
                f"jwt_keys: {self._path} cannot be read as a JWKS file: {type(error).__name__}."
            ) from None


class _Fetched:
    """Keys at a URL, kept for 5 minutes, and fetched again when a token names another one."""

    def __init__(self, jwt: Any, url: str) -> None:
        self._jwt = jwt
        self._client = jwt.PyJWKClient(url, timeout=FETCH_SECONDS, cooldown_duration=AGAIN_SECONDS)

    async def of(self, key_id: str | None) -> Any:
        """Return the key of an id; None: there is no such key."""
        try:
            if key_id is None:
                keys = await asyncio.to_thread(self._client.get_signing_keys)
                return keys[0] if len(keys) == 1 else None
            return await asyncio.to_thread(self._client.get_signing_key, key_id)
        except self._jwt.exceptions.PyJWKClientConnectionError as error:
            raise StateError(
                f"The keys at jwt_keys could not be fetched: {type(error).__name__}. Try again.",
                retryable=True,
            ) from None
