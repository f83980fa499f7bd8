"""Where calls for a person are sent on to, besides the table that keeps them."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from dataclasses import asdict
from typing import Any, Protocol

from journeys import EscalationCase, JourneyConfig

SECONDS = 10.0
"""Longest that a delivery may take."""
SIGNATURE, TIMESTAMP = "JourneyGraph-Signature", "JourneyGraph-Timestamp"
"""Headers of a delivery: `v1=` and the HMAC-SHA256 of "timestamp.body"; seconds since 1970."""
IDEMPOTENCY = "Idempotency-Key"
"""Header that names the call, so that a receiver can tell a repetition."""


class DeliveryError(Exception):
    """A call could not be handed over; the text says why, and nothing of what was sent."""


class EscalationPort(Protocol):
    """Takes calls for a person; may be given one twice, with the same id and the same content."""

    async def deliver(self, case: EscalationCase) -> None:
        """Hand a call over.

        Raises:
            DeliveryError: It was not taken; it is given again later.
        """

    async def close(self) -> None:
        """Let go of what it holds open."""


class Webhook:
    """Posts calls as JSON to one URL, signed; follows no redirect and no proxy.

    Args:
        url: Where to; from the settings of the server alone.
        secret: What the signature is made with.

    Source: collecting agent, escalation payload.
    """

    def __init__(self, url: str, secret: str) -> None:
        self._url = url
        self._secret = secret.encode()
        self._client: Any = None

    async def deliver(self, case: EscalationCase) -> None:
        """Post a call; any answer of 200 to 299 says that it was taken.

        Raises:
            DeliveryError: There was another answer, or none within 10 seconds.
        """
        from httpx2 import HTTPError  # noqa: PLC0415 - heavy, and most journeys have no webhook

        body = body_of(case)
        try:
            async with (
                asyncio.timeout(SECONDS),
                self._opened().stream(
                    "POST", self._url, content=body, headers=self._headers(case, body)
                ) as answer,
            ):
                status: int = answer.status_code
        except (HTTPError, OSError, TimeoutError) as error:
            raise DeliveryError(f"the webhook did not answer: {type(error).__name__}") from None
        if not 200 <= status < 300:
            raise DeliveryError(f"the webhook answered {status}")

    async def close(self) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client:
            await client.aclose()

    def _opened(self) -> Any:
        if self._client is None:
            from httpx2 import AsyncClient  # noqa: PLC0415

            self._client = AsyncClient(follow_redirects=False, trust_env=False, timeout=SECONDS)
        return self._client

    def _headers(self, case: EscalationCase, body: bytes) -> dict[str, str]:
        at = str(int(time.time()))
        return {
            "Content-Type": "application/json",
            "User-Agent": "journeygraph",
            IDEMPOTENCY: case.entry.id,
            TIMESTAMP: at,
            SIGNATURE: signature_of(self._secret, at, body),
        }


def signature_of(secret: bytes, timestamp: str, body: bytes) -> str:
    """Return the signature of a delivery; a receiver makes it too, and compares.

    Example:
        >>> signature_of(b"0123456789abcdef", "1700000000", b"{}")[:11]
        'v1=e4f8e2ec'
    """
    signed = timestamp.encode() + b"." + body
    return "v1=" + hmac.new(secret, signed, hashlib.sha256).hexdigest()


def body_of(case: EscalationCase) -> bytes:
    """Return what is sent of a call: that which does not change, so that it is the same again."""
    entry = case.entry
    sent = {
        "id": entry.id,
        "session_id": entry.session_id,
        "journey_id": entry.journey_id,
        "turn": entry.turn,
        "at": entry.at,
        **case.payload,
        "transcript": [asdict(said) for said in case.transcript],
    }
    return json.dumps(sent, ensure_ascii=False).encode()


def port_of(config: JourneyConfig) -> EscalationPort | None:
    """Return where calls are sent on to; None: they are in the table alone."""
    if config.escalation_webhook is None or config.escalation_secret is None:
        return None
    return Webhook(config.escalation_webhook, config.escalation_secret)
