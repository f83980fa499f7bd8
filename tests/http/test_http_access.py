"""Access over HTTP, and the headers of every answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from journeygraph import ConfigurationError
from journeygraph.server.http.auth import Keys, is_loopback
from journeygraph.server.http.problems import Problem
from tests.support import api as helpers
from tests.support.api import KEY, Api

serve, api = helpers.serve, helpers.api

ROUTES = [
    ("GET", "/v1/journeys"),
    ("GET", "/v1/journeys/parcel"),
    ("GET", "/v1/journeys/parcel/graph"),
    ("GET", "/v1/sessions"),
    ("POST", "/v1/sessions"),
    ("GET", "/v1/sessions/s-1"),
    ("DELETE", "/v1/sessions/s-1"),
    ("GET", "/v1/sessions/s-1/history"),
    ("GET", "/v1/sessions/s-1/context"),
    ("GET", "/v1/sessions/s-1/versions"),
    ("GET", "/v1/sessions/s-1/versions/1"),
    ("POST", "/v1/sessions/s-1/rollback"),
    ("POST", "/v1/sessions/s-1/fork"),
    ("POST", "/v1/sessions/s-1/recording"),
    ("POST", "/v1/sessions/s-1/messages"),
    ("POST", "/v1/sessions/s-1/resume"),
    ("GET", "/v1/sessions/s-1/turns/1/events"),
    ("GET", "/v1/sessions/s-1/events"),
    ("POST", "/v1/sessions/s-1/events"),
    ("GET", "/v1/sessions/s-1/audit"),
    ("GET", "/v1/sessions/s-1/fields"),
    ("GET", "/v1/sessions/s-1/fields/street"),
    ("POST", "/v1/tokens"),
    ("GET", "/v1/users/u-1/export"),
    ("DELETE", "/v1/users/u-1"),
    ("GET", "/v1/reviews"),
    ("GET", "/v1/escalations"),
    ("GET", "/v1/escalations/e-1"),
    ("POST", "/v1/escalations/e-1/claim"),
    ("POST", "/v1/escalations/e-1/messages"),
    ("POST", "/v1/escalations/e-1/release"),
    ("POST", "/v1/chat/completions"),
    ("POST", "/v1/responses"),
    ("POST", "/v1/ag-ui/parcel"),
    ("POST", "/v1/ai-sdk/parcel"),
    ("GET", "/v1/ai-sdk/parcel/s-1/stream"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/parcel"),
    ("GET", "/metrics"),
]
"""Every route that is behind the key."""


def with_key(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


async def test_the_routes_named_here_are_all_there_are(api: Api) -> None:
    description = (await api.client.get("/openapi.json")).json()

    described = {
        (
            method.upper(),
            path.replace("{session_id}", "s-1")
            .replace("{journey_id}", "parcel")
            .replace("{name}", "street")
            .replace("{escalation_id}", "e-1")
            .replace("{version}", "1")
            .replace("{turn}", "1")
            .replace("{model}", "parcel")
            .replace("{user_id}", "u-1"),
        )
        for path, methods in description["paths"].items()
        for method in methods
        if path not in ("/healthz", "/readyz")
    }

    assert described == set(ROUTES)


NO_KEYS = (
    *("", f"Bearer {KEY}x", "Bearer", f"Basic {KEY}", KEY, "Bearer \xe9"),
    "Bearer " + "x" * 9_000,
)


async def test_without_the_key_nothing_is_answered_nor_read(serve: Callable[..., Any]) -> None:
    api = await serve(keys=(KEY,))

    for method, path in ROUTES:
        for given in NO_KEYS:
            status, headers, answer = await api.raw(
                b"{ this is not even JSON", f"Authorization: {given}", line=f"{method} {path}"
            )
            assert (method, path, given, status) == (method, path, given, 401)
            assert headers["www-authenticate"] == "Bearer"
            problem = json.loads(answer)
            assert problem.get("error", problem)["code"] == "unauthorized"


async def test_each_of_several_keys_opens_every_route(serve: Callable[..., Any]) -> None:
    keys = (KEY, "another-key-0123456789")
    api = await serve(keys=keys)

    for number, key in enumerate(keys):
        begun = await api.client.post(
            "/v1/sessions",
            json={"journey_id": "parcel", "session_id": f"s-{number}"},
            headers=with_key(key),
        )
        assert begun.status_code == 201
        said = await api.client.post(
            f"/v1/sessions/s-{number}/messages",
            json={"message": "how much?"},
            headers={**with_key(key), **helpers.EVENTS},
        )
        assert "event: done" in said.text
    refused = await api.client.post(
        "/v1/sessions/s-0/messages", json={"message": "hi"}, headers=helpers.EVENTS
    )
    assert refused.status_code == 401


async def test_health_needs_no_key(serve: Callable[..., Any]) -> None:
    api = await serve(keys=(KEY,))

    assert (await api.client.get("/healthz")).status_code == 200
    assert (await api.client.get("/readyz")).status_code == 200


async def test_the_description_is_shown_where_no_key_is_needed(serve: Callable[..., Any]) -> None:
    shut, free = await serve(keys=(KEY,)), await serve()

    for path in ("/docs", "/openapi.json"):
        assert (await shut.client.get(path, headers=with_key(KEY))).status_code == 404
        assert (await free.client.get(path)).status_code == 200
    assert (await free.client.get("/redoc")).status_code == 404


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost.evil", ""])
async def test_without_a_key_only_names_of_this_machine_are_answered(api: Api, host: str) -> None:
    answer = await api.client.get("/v1/sessions", headers={"Host": host})

    assert (answer.status_code, answer.json()["code"]) == (403, "this_machine_only")
    assert "x-request-id" in answer.headers


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "[::1]:8000", "LOCALHOST"])
async def test_names_of_this_machine_are_answered(api: Api, host: str) -> None:
    assert (await api.client.get("/healthz", headers={"Host": host})).status_code == 200


async def test_a_host_of_any_name_is_answered_where_keys_are_set(
    serve: Callable[..., Any],
) -> None:
    api = await serve(keys=(KEY,))
    headers = {**with_key(KEY), "Host": "evil.example/v1?"}

    assert (await api.client.get("/v1/sessions", headers=headers)).status_code == 200
    assert (await api.client.get("/v1/nowhere", headers=headers)).status_code == 404
    assert (await api.client.get("/v1/sessions", headers={"Host": "x/healthz?"})).status_code == 401


@pytest.mark.parametrize(
    ("client", "host", "refused"),
    [
        (("127.0.0.1", 1), "localhost", False),
        (("::1", 1), "[::1]:80", False),
        (None, "localhost", False),
        (("10.1.2.3", 1), "localhost", True),
        (("172.17.0.1", 1), "127.0.0.1", True),
        (("127.0.0.1", 1), "10.1.2.3", True),
    ],
)
def test_without_a_key_only_this_machine_is_let_in(client: Any, host: str, refused: bool) -> None:
    scope = {"type": "http", "client": client, "headers": [(b"host", host.encode())]}

    Keys([KEY]).admit_from(scope)
    if refused:
        with pytest.raises(Problem):
            Keys().admit_from(scope)
    else:
        Keys().admit_from(scope)


def test_what_is_this_machine() -> None:
    assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.9.9.9", "::1", "a.localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.org", "", "localhos")))


@pytest.mark.parametrize(
    "key", ["short", "with blank 0123456789", "ключ-0123456789-0123", "x" * 15]
)
def test_a_key_that_is_none_is_refused_and_not_shown(key: str) -> None:
    with pytest.raises(ConfigurationError, match="token_urlsafe") as raised:
        Keys([KEY, key])

    assert key not in str(raised.value)
    assert KEY not in str(raised.value)
    assert KEY not in repr(vars(Keys([KEY])))


ANSWERS = [
    ("GET", "/healthz", 200),
    ("GET", "/v1/journeys", 200),
    ("GET", "/v1/journeys/parcel/graph?format=svg", 200),
    ("GET", "/v1/sessions/absent", 404),
    ("GET", "/nowhere", 404),
    ("PUT", "/v1/sessions", 405),
    ("GET", "/v1/sessions/s-1/messages", 405),
    ("PATCH", "/v1/sessions/s-1", 405),
    ("POST", "/v1/sessions", 422),
]


async def test_the_description_says_how_problems_and_events_look(api: Api) -> None:
    described = (await api.client.get("/openapi.json")).json()

    answers = described["paths"]["/v1/sessions/{session_id}/messages"]["post"]["responses"]
    assert set(answers["200"]["content"]) == {"application/json", "text/event-stream"}
    assert set(answers["4XX"]["content"]) == {"application/problem+json"}
    assert "code" in described["components"]["schemas"]["ProblemBody"]["properties"]
    assert described["components"]["schemas"]["NewSession"]["examples"]


@pytest.mark.parametrize(("method", "path", "status"), ANSWERS)
async def test_every_answer_carries_its_request_id_and_is_kept_by_nobody(
    api: Api, method: str, path: str, status: int
) -> None:
    answer = await api.client.request(method, path)

    assert answer.status_code == status
    assert len(answer.headers["x-request-id"]) == 32
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "server" not in answer.headers
    if status >= 400:
        problem = answer.json()
        assert answer.headers["content-type"] == "application/problem+json"
        assert {"type", "title", "status", "detail", "code", "request_id"} <= problem.keys()
        assert problem["request_id"] == answer.headers["x-request-id"]
        assert problem["status"] == status
    if status == 405:
        assert answer.headers["allow"]


async def test_a_stream_carries_them_too(api: Api) -> None:
    parcel = await api.begin()

    told = await api.client.post(
        f"{parcel}/messages",
        json={"message": "hi"},
        headers={**helpers.EVENTS, "X-Request-Id": "a"},
    )

    assert told.headers["x-request-id"] == "a"
    assert told.headers.get_list("cache-control") == ["no-store"]
    assert told.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("given", ["trace-7.b_9", "x" * 64])
async def test_a_sane_request_id_is_taken_over(api: Api, given: str) -> None:
    answer = await api.client.get("/nowhere", headers={"X-Request-Id": given})

    assert answer.headers["x-request-id"] == answer.json()["request_id"] == given


@pytest.mark.parametrize("given", ["", "x" * 65, "a b", "<script>", "a%0d%0ab", "é"])
async def test_any_other_request_id_is_replaced(api: Api, given: str) -> None:
    answer = await api.client.get("/nowhere", headers=[(b"X-Request-Id", given.encode("utf-8"))])

    assert len(answer.headers["x-request-id"]) == 32
    assert given not in (answer.headers["x-request-id"], answer.json()["request_id"])


async def test_nothing_is_shared_with_pages_of_other_places(api: Api) -> None:
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}

    answers = [
        await api.client.options("/v1/sessions", headers=asked),
        await api.client.get("/v1/sessions", headers=asked),
    ]

    assert [
        name for each in answers for name in each.headers if name.startswith("access-control")
    ] == []


async def test_requests_at_once_keep_their_own_ids(api: Api) -> None:
    await api.begin()

    async def ask(number: int) -> tuple[str, str]:
        answer = await api.client.get(
            "/v1/sessions/absent", headers={"X-Request-Id": f"r-{number}"}
        )
        return answer.headers["x-request-id"], answer.json()["request_id"]

    assert await asyncio.gather(*(ask(number) for number in range(30))) == [
        (f"r-{number}",) * 2 for number in range(30)
    ]
