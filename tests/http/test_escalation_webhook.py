"""Calls for a person are posted to a webhook: signed, again until accepted, outside of the turn."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest

from journeygraph import ConfigurationError, JourneyConfig
from journeygraph.graphs.session import webhook
from journeygraph.graphs.session.directory import Directory
from journeygraph.graphs.session.webhook import EscalationSender, Webhook
from journeygraph.graphs.storage.sealing import Seals
from journeygraph.graphs.storage.store import open_store
from tests.support import api as helpers
from tests.support.bike_shop import WEBHOOK_SECRET, Workshop, clerk, workshop
from tests.support.call_receiver import Receiver, receiving
from tests.support.command import run

serve = helpers.serve


def desk(receiver: Receiver) -> dict[str, str]:
    """The settings that send calls to a receiver."""
    return {"escalation_webhook": receiver.url, "escalation_secret": WEBHOOK_SECRET}


async def call(journey: Any) -> None:
    """Begin a session and ask for a person."""
    await journey.start()
    for message in ("city", "a person, please"):
        await journey.process_message(message)


async def delivered(store: str) -> list[bool]:
    """Which calls of a store were taken, newest first."""
    directory = await Directory.open(JourneyConfig(persistence=store))
    found = await directory.escalations()
    await directory.close()
    return [one.entry.delivered_at is not None for one in found]


async def taken(store: str) -> None:
    """Wait until every call of a store was taken."""
    while not all(await delivered(store)):  # noqa: ASYNC110 - another process tells nobody
        await asyncio.sleep(0.01)


async def test_a_call_is_posted_whole_and_signed(
    memory_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # whatever the environment says
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    async with receiving() as receiver:
        async with workshop("s-1", memory_url, **desk(receiver)) as journey:
            await call(journey)
            await receiver.until(1)
            await taken(memory_url)
            [entry] = await journey.manager.escalations()
        headers, body = receiver.posts[0]

    signed = f"{headers['journeygraph-timestamp']}.".encode() + body
    digest = hmac.new(WEBHOOK_SECRET.encode(), signed, hashlib.sha256).hexdigest()
    assert headers["line"] == "POST /calls?desk=1 HTTP/1.1"
    assert headers["journeygraph-signature"] == f"v1={digest}"
    assert headers["idempotency-key"] == entry.id
    sent = json.loads(body)
    assert (sent["id"], sent["session_id"], sent["reason"]) == (entry.id, "s-1", "asked")
    assert sent["position"]["question"] == "How many gears?"
    assert [field["value"] for field in sent["fields"]] == ["city", None, None]
    assert [said["role"] for said in sent["transcript"]] == ["user", "assistant"] * 2
    assert sent["metadata"]["language"] == "en"
    assert WEBHOOK_SECRET not in body.decode()


async def test_a_call_that_is_not_taken_is_posted_again_just_the_same(memory_url: str) -> None:
    answers = ("500 Broken", "302 Found\r\nLocation: /elsewhere", "204 No Content")
    async with receiving(answers) as receiver:
        async with workshop("s-1", memory_url, **desk(receiver)) as journey:
            await call(journey)
            await journey.process_message("and hurry")
            await receiver.until(3)
            await taken(memory_url)
        lines = {headers["line"] for headers, _ in receiver.posts}
        keys = {headers["idempotency-key"] for headers, _ in receiver.posts}
        bodies = {body for _, body in receiver.posts}

    assert len(receiver.posts) == 3
    assert len(lines) == len(keys) == len(bodies) == 1


async def test_a_slow_receiver_holds_nobody_up(memory_url: str) -> None:
    async with receiving(held=True) as receiver:
        async with workshop("s-1", memory_url, **desk(receiver)) as journey:
            await call(journey)  # answered while the receiver keeps still
            assert await delivered(memory_url) == [False]
            await receiver.until(1)
            await journey.manager.operator_says("I have it.", "ann")
            assert (await journey.process_message("hello")).message == ""
            assert await delivered(memory_url) == [False]
            receiver.held.set()
            await taken(memory_url)
        assert len(receiver.posts) == 1


async def test_what_was_left_is_posted_by_the_next_server_that_starts(
    tmp_path: Path, serve: Any
) -> None:
    store = f"sqlite:///{tmp_path / 'bikes.db'}"
    nobody = {"escalation_webhook": "http://127.0.0.1:9/", "escalation_secret": WEBHOOK_SECRET}
    async with workshop("s-1", store, **nobody) as journey:
        await call(journey)
    assert await delivered(store) == [False]

    served = helpers.one(Workshop, clerk=clerk)
    async with receiving() as receiver:
        api = await serve(served, url=store, **desk(receiver))
        await receiver.until(1)
        await taken(store)
        path = await api.begin("workshop", "s-2")
        await api.says(path, "a person, please")
        await receiver.until(2)
        await taken(store)
        assert [receiver.body(n)["session_id"] for n in (0, 1)] == ["s-1", "s-2"]


async def test_two_processes_post_a_call_once(
    kept_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "GRACE_SECONDS", 110.0)
    async with workshop("s-1", kept_url) as journey:
        await call(journey)
    async with receiving() as receiver:
        store = await open_store(kept_url, None)
        senders = [
            EscalationSender(store, Webhook(receiver.url, WEBHOOK_SECRET), Seals(None))
            for _ in range(4)
        ]
        for each in senders:
            each.wake()
        for each in senders:
            await each.end()
        await store.close()
        assert len(receiver.posts) == 1
    assert await delivered(kept_url) == [True]


async def test_a_call_that_was_released_or_deleted_is_not_posted(memory_url: str) -> None:
    async with workshop("s-1", memory_url) as first, workshop("s-2", memory_url) as second:
        await call(first)
        await call(second)
        await first.manager.release("ann")
        await second.delete()
        async with receiving() as receiver:
            store = await open_store(memory_url, None)
            escalation_sender = EscalationSender(
                store, Webhook(receiver.url, WEBHOOK_SECRET), Seals(None)
            )
            assert await escalation_sender.deliver_all() == (0, 0)
            await escalation_sender.end()
            await store.close()
            assert receiver.posts == []


async def test_the_command_posts_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = f"sqlite:///{tmp_path / 'bikes.db'}"
    async with workshop("s-1", store) as journey:
        await call(journey)
    words = ("escalations", "--deliver", "--store", store)
    missing = await asyncio.to_thread(run, *words, code=1)
    assert "JOURNEYGRAPH_ESCALATION_WEBHOOK" in missing.output

    monkeypatch.setenv("JOURNEYGRAPH_ESCALATION_SECRET", WEBHOOK_SECRET)
    async with receiving(("503 Busy", "200 OK")) as receiver:
        monkeypatch.setenv("JOURNEYGRAPH_ESCALATION_WEBHOOK", receiver.url)
        refused = await asyncio.to_thread(run, *words, code=1)
        took = await asyncio.to_thread(run, *words)
        again = await asyncio.to_thread(run, *words)
        assert len(receiver.posts) == 2
    assert "accepted 0 and refused 1" in refused.output
    assert "accepted 1 and refused 0" in took.output
    assert "accepted 0 and refused 0" in again.output


def test_a_webhook_needs_a_plain_url_and_a_secret() -> None:
    url, secret = "https://desk.example/calls?token=canary", "canary-of-the-desk"
    config = JourneyConfig(escalation_webhook=url, escalation_secret=secret)
    assert "canary" not in repr(config)
    for wrong in (
        *("ftp://desk.example", "desk.example", "file:///etc/passwd", "http://", "https://[::1"),
        *("https://user:canary@desk.example/", "https://desk.example/#a", "http://a\n.b", "", 7),
    ):
        with pytest.raises(ConfigurationError, match="escalation_webhook must be") as refused:
            JourneyConfig(escalation_webhook=wrong, escalation_secret=secret)  # type: ignore[arg-type]
        assert "canary" not in str(refused.value)
    for short in (None, "", "canary"):
        with pytest.raises(ConfigurationError, match="16 characters") as refused:
            JourneyConfig(escalation_webhook=url, escalation_secret=short)
        assert "canary" not in str(refused.value)
