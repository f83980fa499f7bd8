"""Details of the HTTP server that clients rely on."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from journeygraph import StateError
from journeygraph.graphs.session.session import StoredSession
from journeygraph.graphs.storage import connections
from journeygraph.graphs.storage.errors import Unconfirmed
from journeygraph.server.http import readiness
from tests.support import api as helpers
from tests.support.api import Api
from tests.support.proxy import Proxy

serve, api = helpers.serve, helpers.api


async def test_a_store_that_falls_silent_is_not_ready_within_the_limit(
    serve: Callable[..., Any], postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "READY_SECONDS", 0.3)
    monkeypatch.setattr(readiness, "AGAIN_SECONDS", 0.0)
    monkeypatch.setattr(connections, "DEADLINE", 1.0)
    monkeypatch.setattr(connections, "ANSWER", 1.3)
    async with Proxy.to(postgres_url) as network:
        api = await serve(url=network.url)
        assert (await api.client.get("/readyz")).status_code == 200
        network.silent = True
        assert (await api.client.get("/readyz")).status_code == 503


async def test_what_may_have_been_kept_is_not_said_to_be_undone(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    parcel = await api.begin()

    async def unknown(*_: Any) -> Any:
        raise Unconfirmed("the connection was cut")

    monkeypatch.setattr(StoredSession, "rolled_back", unknown)
    refused = await api.client.post(f"{parcel}/rollback", json={"version": 0})

    assert (refused.status_code, refused.json()["code"]) == (503, "outcome_unknown")
    assert "nothing of it was kept" not in refused.text


@pytest.mark.parametrize(
    ("reason", "logged"),
    [
        (sqlite3.OperationalError("disk full"), '"disk full"'),
        (psycopg.OperationalError("disk full"), '"disk full"'),
        (psycopg.DataError("not a number: s-1"), "DataError"),
        (None, "StateError"),
    ],
)
async def test_why_a_store_did_not_answer_is_logged_without_ids(
    api: Api,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    reason: Exception | None,
    logged: str,
) -> None:
    parcel = await api.begin()

    async def full(*_: Any) -> Any:
        raise StateError("Of s-1 nothing was written.", retryable=True) from reason

    monkeypatch.setattr(StoredSession, "rolled_back", full)
    with caplog.at_level(logging.WARNING, "journeygraph.http"):
        refused = await api.client.post(f"{parcel}/rollback", json={"version": 0})

    assert f"reason={logged}" in caplog.text
    assert refused.json()["request_id"] in caplog.text
    assert "disk full" not in refused.text
    assert "s-1" not in caplog.text


@pytest.mark.parametrize(
    ("asked", "status"),
    [("journey_id=", 404), ("cursor=", 422), ("status=", 422), ("journey_id=letter", 200)],
)
async def test_an_empty_filter_is_no_filter_that_is_ignored(
    api: Api, asked: str, status: int
) -> None:
    await api.begin()
    assert (await api.client.get(f"/v1/sessions?{asked}")).status_code == status


async def test_several_accept_headers_are_one_list(api: Api) -> None:
    parcel = await api.begin()
    body = json.dumps({"message": "hello"}).encode()
    accepts = ("Accept: application/xml", "Accept: text/event-stream")

    _, headers, _ = await api.raw(body, *accepts, line=f"POST {parcel}/messages")

    assert headers["content-type"].startswith("text/event-stream")
