"""Callers of the server, and the scope that each route needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from journeygraph.journeys import ConfigurationError
from journeygraph.journeys.config import TENANT


class Scope(StrEnum):
    """A right of a key; each includes the ones before it.

    Attributes:
        TALK: Start sessions and talk in them.
        OPERATE: Read, list, change and delete all sessions, act as an operator, make tokens.
        ADMIN: All routes.
    """

    TALK = "talk"
    OPERATE = "operate"
    ADMIN = "admin"


_INCLUDED = {
    Scope.TALK: (Scope.TALK, Scope.OPERATE, Scope.ADMIN),
    Scope.OPERATE: (Scope.OPERATE, Scope.ADMIN),
    Scope.ADMIN: (Scope.ADMIN,),
}
"""The scopes that include a scope."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The client of a request.

    Attributes:
        user: The user whose sessions alone it reaches; None: it reaches all of its tenant.
        key_id: Id of its key, which is no secret; empty: no key is required here.
        session: The only session that it reaches; None: any.
        address: Its address; empty where no limit is set.
        ends: The end of its key, in seconds since 1970; None: it has none. A key may end earlier.
        is_signed: True if its key is a signed token of an identity provider.
    """

    tenant: str
    scopes: frozenset[Scope]
    user: str | None = None
    key_id: str = ""
    session: str | None = None
    address: str = ""
    ends: float | None = None
    is_signed: bool = False

    def has(self, scope: Scope) -> bool:
        """Return whether the caller has a scope, or one that includes it."""
        return not self.scopes.isdisjoint(_INCLUDED[scope])

    def reaches(self, session_id: str, owner: str | None) -> bool:
        """Return whether the caller may know of a session."""
        if self.session is not None and self.session != session_id:
            return False
        return self.user is None or self.user == owner


ANYONE = Caller(TENANT, frozenset({Scope.ADMIN}))
"""The caller where no key is required."""


def scopes_of(names: Iterable[str]) -> frozenset[Scope]:
    """Return scopes by their names.

    Raises:
        ConfigurationError: There is no such scope, or no name at all.
    """
    given = list(names)
    unknown = [name for name in given if name not in set(Scope)]
    if unknown or not given:
        what = f"{unknown[0]!r:.80} is not a scope." if unknown else "A key needs a scope."
        raise ConfigurationError(f"{what} Scopes: {', '.join(Scope)}.")
    return frozenset(map(Scope, given))


@dataclass(frozen=True, slots=True)
class AccessRule:
    """The rule of a route.

    Attributes:
        counts: The limit that it counts in, besides `requests`: "turns", "sessions" or "".
    """

    scope: Scope
    counts: str = ""


_TURN, _START = AccessRule(Scope.TALK, "turns"), AccessRule(Scope.TALK, "sessions")
_TALK, _OPERATE = AccessRule(Scope.TALK), AccessRule(Scope.OPERATE)
_OF_SESSION = "/v1/sessions/{session_id}"
_ADMIN = AccessRule(Scope.ADMIN)
_OF_USER = "/v1/users/{user_id:path}"
_OF_ESCALATION = "/v1/escalations/{escalation_id}"
RULES: Mapping[tuple[str, str], AccessRule] = {
    ("POST", "/v1/sessions"): _START,
    ("GET", "/v1/sessions"): _OPERATE,
    ("GET", _OF_SESSION): _TALK,
    ("DELETE", _OF_SESSION): _OPERATE,
    ("POST", f"{_OF_SESSION}/messages"): _TURN,
    ("POST", f"{_OF_SESSION}/resume"): _TURN,
    ("POST", f"{_OF_SESSION}/events"): AccessRule(Scope.OPERATE, "turns"),
    ("GET", f"{_OF_SESSION}/events"): _TALK,
    ("GET", f"{_OF_SESSION}/turns/{{turn}}/events"): _TALK,
    ("GET", f"{_OF_SESSION}/history"): _TALK,
    ("GET", f"{_OF_SESSION}/context"): _OPERATE,
    ("GET", f"{_OF_SESSION}/fields"): _OPERATE,
    ("GET", f"{_OF_SESSION}/fields/{{name}}"): _OPERATE,
    ("GET", f"{_OF_SESSION}/versions"): _OPERATE,
    ("GET", f"{_OF_SESSION}/versions/{{version}}"): _OPERATE,
    ("GET", f"{_OF_SESSION}/audit"): _OPERATE,
    ("POST", f"{_OF_SESSION}/rollback"): _OPERATE,
    ("POST", f"{_OF_SESSION}/fork"): AccessRule(Scope.OPERATE, "sessions"),
    ("POST", f"{_OF_SESSION}/recording"): _OPERATE,
    ("POST", "/v1/tokens"): _OPERATE,
    ("GET", f"{_OF_USER}/export"): _ADMIN,
    ("DELETE", _OF_USER): _ADMIN,
    ("GET", "/v1/journeys"): _TALK,
    ("GET", "/v1/journeys/{journey_id}"): _TALK,
    ("GET", "/v1/journeys/{journey_id}/graph"): _TALK,
    ("GET", "/v1/reviews"): _OPERATE,
    ("GET", "/v1/escalations"): _OPERATE,
    ("GET", _OF_ESCALATION): _OPERATE,
    ("POST", f"{_OF_ESCALATION}/claim"): _OPERATE,
    ("POST", f"{_OF_ESCALATION}/messages"): _OPERATE,
    ("POST", f"{_OF_ESCALATION}/release"): _OPERATE,
    ("GET", "/metrics"): _OPERATE,
    ("POST", "/v1/chat/completions"): _TURN,
    ("POST", "/v1/responses"): _TURN,
    ("POST", "/v1/ag-ui/{model}"): _TURN,
    ("POST", "/v1/ai-sdk/{model}"): _TURN,
    ("GET", "/v1/ai-sdk/{model}/{session_id}/stream"): _TALK,
    ("GET", "/v1/models"): _TALK,
    ("GET", "/v1/models/{model}"): _TALK,
}
"""The rule of each route behind a key, by its method and path."""


def rule_of(methods: Iterable[str], path: str) -> AccessRule:
    """Return the rule of a route."""
    found: list[Any] = [RULES.get((method, path)) for method in sorted(methods)]
    if len(found) == 1 and found[0]:
        rule: AccessRule = found[0]
        return rule
    raise ConfigurationError(
        f"The route {', '.join(sorted(methods))} {path} has no scope. Add it to RULES in "
        "server/access/callers.py."
    )
