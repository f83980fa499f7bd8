"""Send escalations to a webhook in the background, with retries until they are accepted.

The table is the outbox: the turn writes the escalation, and a delivery marks it. A process records
the try before it sends, so that only one of several processes sends; if it dies, another one takes
over later. The receiver detects repetitions by the escalation's id.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import time
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from journeygraph.graphs.records.escalations import DELIVERED, DUE, NEXT_DUE, TRY, read_case
from journeygraph.graphs.storage.errors import WriteConflict, logged_reason
from journeygraph.graphs.storage.sealing import Seals
from journeygraph.graphs.storage.statements import Row, Statement, now
from journeygraph.graphs.storage.store import Store
from journeygraph.journeys import EscalationCase, JourneyConfig, JourneyError
from journeygraph.nodes.json_data import stamp
from journeygraph.nodes.telemetry import JOURNEY, measure, report

SECONDS = 10.0
"""Timeout of a delivery, in seconds."""
SIGNATURE, TIMESTAMP = "JourneyGraph-Signature", "JourneyGraph-Timestamp"
"""Headers of a delivery: `v1=` and the HMAC-SHA256 of "timestamp.body"; seconds since 1970."""
IDEMPOTENCY = "Idempotency-Key"
"""Header with the escalation's id, by which a receiver detects a repetition."""


class DeliveryError(Exception):
    """A delivery failed; the text has the reason, but no data of the escalation."""


class EscalationPort(Protocol):
    """Receiver of escalations; it may get one twice, with the same id and content."""

    async def deliver(self, case: EscalationCase) -> None:
        """Deliver an escalation.

        Raises:
            DeliveryError: It was not accepted; it is sent again later.
        """

    async def close(self) -> None:
        """Close its connections."""


class Webhook:
    """Posts escalations as signed JSON to one URL, without redirects and proxies.

    Args:
        url: The target, only from the settings of the server.
        secret: Key of the signature.

    Source: collecting agent, escalation payload.
    """

    def __init__(self, url: str, secret: str) -> None:
        self._url = url
        self._secret = secret.encode()
        self._client: Any = None

    async def deliver(self, case: EscalationCase) -> None:
        """Post an escalation; a status from 200 to 299 means that it was accepted.

        Raises:
            DeliveryError: The status was another one, or there was no response within 10 seconds.
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
    """Return the signature of a delivery; a receiver computes and compares it.

    Example:
        >>> signature_of(b"0123456789abcdef", "1700000000", b"{}")[:11]
        'v1=e4f8e2ec'
    """
    signed = timestamp.encode() + b"." + body
    return "v1=" + hmac.new(secret, signed, hashlib.sha256).hexdigest()


def body_of(case: EscalationCase) -> bytes:
    """Return the payload of an escalation: only constant parts, so that a repetition is equal."""
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
    """Return the receiver of escalations; None: they stay in the table."""
    if config.escalation_webhook is None or config.escalation_secret is None:
        return None
    return Webhook(config.escalation_webhook, config.escalation_secret)


MOST_TRIES = 20
"""Number of tries; afterwards only `journeygraph escalations --deliver` sends it."""
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 3_600.0
"""Seconds until the second try; they double with every try."""
LOOK_SECONDS = 30.0
"""Seconds between two searches for undelivered escalations of other processes."""
GRACE_SECONDS = 2.0
"""Seconds for running deliveries at the end."""
_BATCH = 20
_LEAST_PAUSE = 0.05
_IN_FLIGHT = SECONDS + 20
_EVER = "9999"


class EscalationSender:
    """Sends the escalations of one store.

    Args:
        store: Their store; it must stay open until `end()`.
        port: The receiver.
        seals: Decrypts sensitive journeys.
    """

    def __init__(self, store: Store, port: EscalationPort, seals: Seals) -> None:
        self._store = store
        self._port = port
        self._seals = seals
        self._running: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self._idle = asyncio.Event()

    def wake(self) -> None:
        """Start a search for escalations; return at once."""
        self._idle.clear()
        self._woken.set()
        if self._running is None:
            self._running = asyncio.get_running_loop().create_task(self._run())

    async def end(self) -> None:
        """Stop after a moment for running deliveries; undelivered escalations stay in the table."""
        running, self._running = self._running, None
        if running:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._idle.wait(), GRACE_SECONDS)
            running.cancel()
            await asyncio.wait([running])
        await self._port.close()

    async def deliver_all(self) -> tuple[int, int]:
        """Send all undelivered escalations, due or not; return the accepted and refused numbers."""
        taken, refused, seen = 0, 0, -1
        while rows := await self._due(until=_EVER, after=seen, most_tries=_ANY):
            for row in rows:
                seen = row["number"]
                if await self._delivered(row):
                    taken += 1
                else:
                    refused += 1
        return taken, refused

    async def _run(self) -> None:
        while True:
            self._woken.clear()
            pause = await self._round()
            if not self._woken.is_set():
                self._idle.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._woken.wait()

    async def _round(self) -> float:
        """Send the due escalations; return the seconds until the next one."""
        try:
            for row in await self._due(until=stamp(now()), after=-1, most_tries=MOST_TRIES):
                await self._delivered(row)
            left = {"now": stamp(now()), "most_tries": MOST_TRIES}
            [found] = await self._store.read(NEXT_DUE, **left)
        except JourneyError as error:
            report(logging.WARNING, "escalation_store_failed", reason=logged_reason(error))
            return LOOK_SECONDS
        if found["at"] is None:
            return LOOK_SECONDS
        due = (datetime.fromisoformat(found["at"]) - now()).total_seconds()
        return min(max(due, _LEAST_PAUSE), LOOK_SECONDS)

    async def _due(self, *, until: str, after: int, most_tries: int) -> list[Row]:
        return await self._store.read(
            DUE,
            now=stamp(now()),
            until=until,
            after=after,
            most_tries=most_tries,
            most=_BATCH,
        )

    async def _delivered(self, row: Row) -> bool:
        """Try to deliver one escalation; return whether it is done."""
        tries = row["tries"] + 1
        store = self._store.of(row["tenant"])
        mine = {"id_is": row["id"], "tried": row["tries"], "tries_now": tries}
        try:
            await _counted(store, mine, _IN_FLIGHT)
        except WriteConflict:
            return True  # somebody else sends it, or its session was deleted
        try:
            case = await read_case(store, row["id"], replace(self._seals, tenant=store.tenant))
            if case is not None:
                await self._port.deliver(case)
        except (DeliveryError, JourneyError) as error:
            reason = str(error) if isinstance(error, DeliveryError) else logged_reason(error)
            report(logging.WARNING, "escalation_not_sent", id=row["id"], reason=reason, tries=tries)
            _measured(row, "failed")
            with suppress(WriteConflict):
                await _counted(store, {**mine, "tried": tries}, _pause_after(tries))
            return False
        done: Row = {"id_is": row["id"], "now": stamp(now())}
        await store.write(Statement(DELIVERED, [done]))
        _measured(row, "taken")
        return True


def _measured(row: Row, result: str) -> None:
    labels = {JOURNEY: row["journey_id"], "journeygraph.escalation.result": result}
    measure("journeygraph.escalation.sent", labels)


async def _counted(store: Store, mine: Row, seconds: float) -> None:
    """Record a try and the time of the next one; fails if another process recorded it."""
    next_at = stamp(now() + timedelta(seconds=seconds))
    row: Row = {**mine, "next_at": next_at}
    await store.write(Statement(TRY, [row], exactly_one=True))


_ANY = 2**63 - 1


def _pause_after(tries: int) -> float:
    return float(min(FIRST_PAUSE * 2 ** (tries - 1), LONGEST_PAUSE))
