"""What a session knows, where it stands and since when: what others ask of it between turns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from journeys import JourneySpec


@dataclass(frozen=True, slots=True)
class SessionContext:
    """The runtime context of a session at one version (flow control, context management).

    Attributes:
        call_id: The text under that name in the context; None where there is none.
        customer_id: The same.
        journey_id: Of the journey that is active; in a concierge one of several, or None.
        current_state: Id of the pathway where the session stands.
        variables: The context.
        started_at: When the session began, ISO 8601 in UTC.
        activated_at: When the active journey did.
        version: Of the session.
    """

    session_id: str
    call_id: str | None
    customer_id: str | None
    journey_id: str | None
    current_state: str
    variables: dict[str, Any]
    started_at: str
    activated_at: str
    version: int


OnCommit = Callable[[SessionContext], None]
"""Told of a session that is not sensitive once a version of it is committed; must not wait."""


def context_of(
    spec: JourneySpec, head: Mapping[str, Any], version: int, values: Mapping[str, Any]
) -> SessionContext:
    """Return the context of a session.

    Args:
        spec: Its journey.
        head: Its row, of whichever version.
        version: That of the values.
        values: Its state.
    """
    position, variables = values["position"], values.get("context", {})
    state: str = position["pathway"]
    return SessionContext(
        session_id=head["session_id"],
        call_id=_text(variables.get("call_id")),
        customer_id=_text(variables.get("customer_id")),
        journey_id=spec.active_in(state),
        current_state=state,
        variables=variables,
        started_at=head["created_at"],
        activated_at=position.get("activated_at") or head["created_at"],
        version=version,
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
